// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "os/fd.hpp"

namespace lldp {

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const auto failed = [&](int code) {
    return fail(Error{code, path, "cannot be read: " + std::string(std::strerror(code))});
  };
  // Not by a stream: on a directory it throws, and it does not say why it cannot open a file.
  const bool standard_input = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      standard_input ? stdin : std::fopen(path.c_str(), "rbe"),
      [](auto* f) { return f == stdin ? 0 : std::fclose(f); });
  if (!file) return failed(errno);
  std::string text;
  char buffer[1 << 14];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > most) return failed(EFBIG);
    text.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) return failed(errno);
  return text;
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
