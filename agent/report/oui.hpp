// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lldp::report {

/// The owner of an OUI, by the registry of the IEEE at the build (Debian's ieee-data); empty: not
/// known.
[[nodiscard]] std::string_view oui_owner(std::uint32_t oui);

}  // namespace lldp::report
