// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cli/command.hpp"
#include "agent/control/connection.hpp"

/// Questions to the daemon that have one answer.
namespace lldp::cli {

/// The answer to a method; `parameters`: a JSON object as text. `patience`: how long the daemon may
/// take.
[[nodiscard]] Result<std::string> call(const Arguments& arguments, std::string_view method,
                                       std::string_view parameters,
                                       std::chrono::milliseconds patience = control::kPatience);
/// The answer to a method that takes ports; `ports`: names and globs, none: all.
[[nodiscard]] Result<std::string> ask(const Arguments& arguments, std::string_view method,
                                      const std::vector<std::string>& ports,
                                      std::chrono::milliseconds patience = control::kPatience);

/// Those of the names and globs that name no port of the answer; a port that does not exist is the
/// caller's mistake.
[[nodiscard]] Result<std::vector<std::string>> not_there(const std::vector<std::string>& asked,
                                                         const std::string& answer);
[[nodiscard]] Error no_such_ports(const std::vector<std::string>& names);
/// An error that names those that are not.
[[nodiscard]] Result<void> all_there(const std::vector<std::string>& asked,
                                     const std::string& answer);
/// The same of the daemon's ports; it is asked only if there are names.
[[nodiscard]] Result<void> all_there(const Arguments& arguments,
                                     const std::vector<std::string>& asked);

}  // namespace lldp::cli
