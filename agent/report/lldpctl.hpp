// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp::report {

/// What existing programs read of lldpd: `lldpctl -f FORMAT` of lldpd 1.0.16.
enum class LldpctlFormat : std::uint8_t { kKeyvalue, kJson0, kXml };

/// The answer to Detail as lldpctl prints its neighbours, field by field. Different are: `rid`
/// counts the devices in the order in which they are shown; interfaces come by name; of a TLV that
/// may come once the first counts; what 802.3bt adds to the power TLV, and a location by
/// coordinates, is left out; control characters become \xNN in keyvalue and U+FFFD in XML.
[[nodiscard]] Result<std::string> as_lldpctl(std::string_view json, LldpctlFormat format);

}  // namespace lldp::report
