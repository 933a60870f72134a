// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string_view>

namespace lldp {

/// What stands at a path, for a message: `mode` is that of lstat(2).
[[nodiscard]] inline std::string_view kind_of_file(mode_t mode) {
  return S_ISREG(mode)    ? "a file"
         : S_ISDIR(mode)  ? "a directory"
         : S_ISLNK(mode)  ? "a symbolic link"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

}  // namespace lldp
