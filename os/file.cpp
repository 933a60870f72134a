// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "os/fd.hpp"

namespace lldp {

namespace {

auto unreadable(const std::string& path, int code) {
  return fail(Error{code, path, "cannot be read: " + std::string(std::strerror(code))});
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t most) {
  std::string text;
  // A string that grows holds its octets twice for a moment: of the kernel's types that is 8 MB.
  struct stat is {};
  if (::fstat(fd, &is) == 0 && S_ISREG(is.st_mode))
    text.reserve(std::min(static_cast<std::size_t>(is.st_size), most));
  char buffer[1 << 14];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(path, errno);
    if (n == 0) return text;
    const auto size = static_cast<std::size_t>(n);
    if (text.size() + size > most) return unreadable(path, EFBIG);
    text.append(buffer, size);
  }
}

}  // namespace

// Not by a stream, be it C++'s, which does not say why it cannot open a file, or C's, which asks
// of a device whether it is a terminal: a question that ends a filtered daemon.
Result<std::string> read_file(const std::string& path, std::size_t most) {
  if (path == "-") return read_all(STDIN_FILENO, path, most);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_all(fd.get(), path, most) : unreadable(path, errno);
}

Result<std::string> read_lasting_file(const std::string& path, std::size_t most) {
  const auto once = [&] {
    return fail(Error{0, path, "is a pipe, which gives what it has once: name a file"});
  };
  if (path == "-") return once();
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return unreadable(path, errno);
  struct stat is {};
  if (::fstat(fd.get(), &is) != 0) return unreadable(path, errno);
  if (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode)) return once();
  return read_all(fd.get(), path, most);
}

void hold_standard_streams(const char* path, int flags) {
  int fd = STDIN_FILENO;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open(path, flags);
  if (fd >= 0) ::close(fd);
}

int flush_output(const char* program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  std::fprintf(stderr, "%s: standard output: cannot be written\n", program);
  return 1;
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const auto failed = [&](int code) {
    return fail(Error{code, path, "cannot be written: " + std::string(std::strerror(code))});
  };
  if (text.empty()) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(errno);
    return {};
  }
  const std::string fresh = path + ".new";
  const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return failed(errno);
  const ssize_t written = ::write(fd.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) return failed(written < 0 ? errno : ENOSPC);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return failed(errno);
  return {};
}

}  // namespace lldp
