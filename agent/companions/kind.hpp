// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "agent/config/config.hpp"

namespace lldp::io {

/// A program that runs beside the daemon if the configuration asks for it.
struct Kind {
  const char* name = "";     ///< of its launcher's socket, and on that one's command line
  const char* key = "";      ///< of the configuration
  const char* user = "";     ///< the package makes it
  const char* service = "";  ///< its launcher's, where that is one
  std::vector<std::string> (*words)(const config::Config&) = nullptr;  ///< empty: not asked for
};
extern const Kind kExporter;
extern const Kind kAgentx;
extern const Kind kHook;
inline constexpr std::array<const Kind*, 3> kKinds{&kExporter, &kAgentx, &kHook};

/// After that a hook is killed.
inline constexpr std::chrono::milliseconds kHookLimit{10'000};

}  // namespace lldp::io
