// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"

/// lldp-level under the name of lldpd's client, for the programs that run `lldpctl` or
/// `lldpcli show ...` where lldp-leveld is the only LLDP agent.
namespace lldp::cli {

/// `lldpctl` or `lldpcli` where the program was started by that name.
[[nodiscard]] std::optional<std::string_view> lldpd_client_name(std::string_view path);

/// Prints the answer to standard output; an error is printed by the caller.
[[nodiscard]] Result<int> run_as_lldpd_client(std::string_view name, int argc, char** argv);

}  // namespace lldp::cli
