// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lldp::report {

/// Whom the IEEE gave an OUI to, by the registry that was there when this was built (Debian's
/// ieee-data); empty: nobody known.
[[nodiscard]] std::string_view oui_owner(std::uint32_t oui);

}  // namespace lldp::report
