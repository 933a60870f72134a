// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agent/config/config.hpp"

namespace lldp::config {

inline std::vector<std::string> texts(const Errors& errors) {
  std::vector<std::string> out;
  for (const Error& e : errors) out.push_back(to_string(e));
  return out;
}

}  // namespace lldp::config
