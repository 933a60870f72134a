// SPDX-License-Identifier: Apache-2.0
#include "agent/config/helper.hpp"

#include <unistd.h>

#include <filesystem>

namespace lldp::config {

std::string helper_path(std::string_view name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string beside = (self.parent_path() / name).string();
  if (!error && ::access(beside.c_str(), X_OK) == 0) return beside;
  return std::string(LLDP_LIBEXEC_DIR "/") + std::string(name);
}

}  // namespace lldp::config
