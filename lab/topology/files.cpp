// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lab/topology/from_drawing.hpp"
#include "os/file.hpp"

namespace lldp::lab {
namespace {

/// No fabric that the lab can hold is longer.
constexpr std::size_t kMaxOctets = std::size_t{1} << 30;

Error error_of(int code, const std::string& path) { return {code, path, std::strerror(code)}; }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<Fabric> load_fabric(const std::string& path) {
  const auto text = read_file(path, kMaxOctets);
  if (!text) return fail(text.error());
  auto fabric = fabric_from(cabling::read(*text));
  if (!fabric) {
    Error e = fabric.error();
    e.where = path + ": " + e.where;
    return fail(std::move(e));
  }
  return fabric;
}

Result<void> save_text(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-")
    return write_all(STDOUT_FILENO, text) ? Result<void>{} : fail(error_of(errno, "output"));
  const std::string unfinished = path + ".new";
  const int fd = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail(error_of(errno, path));
  bool ok = write_all(fd, text);
  ok = close(fd) == 0 && ok;
  if (ok && rename(unfinished.c_str(), path.c_str()) == 0) return {};
  const int code = errno;
  unlink(unfinished.c_str());
  return fail(error_of(code, path));
}

}  // namespace lldp::lab
