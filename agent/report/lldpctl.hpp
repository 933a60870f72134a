// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp::report {

/// Formats that existing programs read of lldpd: `lldpctl -f FORMAT` of lldpd 1.0.16.
enum class LldpctlFormat : std::uint8_t { kPlain, kKeyvalue, kJson, kJson0, kXml };
/// lldpcli's `summary`, nothing, and `details`, which is what lldpctl prints.
enum class LldpctlDetail : std::uint8_t { kSummary, kNormal, kDetails };

/// The answer to Detail as lldpctl prints its neighbors, field by field. Differences: `rid` counts
/// the devices in the order in which they are shown; interfaces come by name; of a TLV that may
/// come once the first counts; what 802.3bt adds to the power TLV, and a location by coordinates,
/// are left out. What a terminal must not get (control, bidirectional and invisible characters,
/// octets that are no UTF-8) becomes \xNN in plain and keyvalue, a \u escape in JSON, and a
/// character reference, or U+FFFD where XML has none, in XML.
[[nodiscard]] Result<std::string> as_lldpctl(std::string_view json, LldpctlFormat format,
                                             LldpctlDetail detail = LldpctlDetail::kDetails);
/// The same answer as `lldpcli show chassis`: this device, as the first port that sends announces
/// it.
[[nodiscard]] Result<std::string> chassis_as_lldpctl(std::string_view json, LldpctlFormat format,
                                                     LldpctlDetail detail);

}  // namespace lldp::report
