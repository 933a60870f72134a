// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/fabric.hpp"

namespace lldp {

/// Text from the network made safe for a terminal, a log or JSON: valid UTF-8 passes, C0 and C1
/// control characters, DEL, line and bidirectional format characters and invalid octets become
/// \xNN, a backslash becomes \\.
[[nodiscard]] std::string escape(std::string_view raw);

/// 02:11:22:33:44:55
[[nodiscard]] std::string to_string(const MacAddress& mac);
/// Accepts 02:11:22:33:44:55 and 02-11-22-33-44-55, either case.
[[nodiscard]] std::optional<MacAddress> parse_mac(std::string_view text);
/// Lower-case hexadecimal without separators.
[[nodiscard]] std::string to_hex(ByteSpan octets);

/// An IANA address family number in one octet, then the address: IPv4, IPv6 and MAC addresses in
/// their own notation, anything else in hexadecimal.
[[nodiscard]] std::string network_address_to_string(ByteSpan octets);

/// For a person: MAC and network addresses in their own notation, names and local strings escaped,
/// anything else in hexadecimal.
[[nodiscard]] std::string to_string(const ChassisId& id);
[[nodiscard]] std::string to_string(const PortId& id);

/// Shell-style pattern with * and ? (no classes, no escapes); matches the whole text.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);
/// True when any pattern matches.
[[nodiscard]] bool any_glob_match(std::span<const std::string> patterns, std::string_view text);

/// The parts between separators, without surrounding white space; empty parts are dropped.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text, char separator = ',');

}  // namespace lldp
