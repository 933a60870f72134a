// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

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

}  // namespace lldp
