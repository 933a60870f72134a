// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/report/json_writer.hpp"
#include "tlv/describe.hpp"
#include "tlv/lldpdu.hpp"

/// The TLVs of an LLDPDU by name, as JSON and as lines. What is unknown or malformed is shown in
/// hexadecimal.
namespace lldp::report {

/// The owner of an OUI; empty: not known.
using OwnerOf = std::string_view (*)(std::uint32_t oui);
[[nodiscard]] inline std::string_view nobody(std::uint32_t) { return {}; }

/// 02-4c-56
[[nodiscard]] std::string oui_text(std::uint32_t oui);

/// `{"name": "ttl", "seconds": 120}`; `"discarded": true` if a receiver discards it.
void write_tlv(JsonWriter& out, const tlv::Tlv& tlv, OwnerOf owner = nobody);
/// All of an LLDPDU, in their order, as a list.
void write_tlvs(JsonWriter& out, ByteSpan lldpdu, const tlv::Dialect& dialect,
                OwnerOf owner = nobody);
/// `  ttl                     120`
[[nodiscard]] std::string tlv_line(const tlv::Tlv& tlv, OwnerOf owner = nobody);

}  // namespace lldp::report
