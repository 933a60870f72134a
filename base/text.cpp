// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/result.hpp"
#include "base/utf8.hpp"

namespace lldp {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_hex(std::string& out, std::uint8_t octet) {
  out += kHex[octet >> 4];
  out += kHex[octet & 15];
}

std::string ipv4_text(ByteSpan octets) {
  std::string out;
  for (std::uint8_t o : octets) {
    if (!out.empty()) out += '.';
    out += std::to_string(o);
  }
  return out;
}

/// RFC 5952 section 4: no leading zeros, and `::` for the first of the longest runs of two and more
/// zero groups; section 5: a mapped IPv4 address as such.
std::string ipv6_text(std::span<const std::uint8_t, 16> octets) {
  const auto group = [&](std::size_t i) -> unsigned {
    return static_cast<unsigned>(octets[2 * i]) << 8 | octets[2 * i + 1];
  };
  std::size_t zeros = 8;  // where `::` stands
  std::size_t length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && group(end) == 0) ++end;
    if (end - i > length) {
      zeros = i;
      length = end - i;
    }
    i = std::max(i, end);
  }
  if (zeros == 0 && length == 5 && group(5) == 0xffff)
    return "::ffff:" + ipv4_text(octets.subspan<12>());
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zeros) {
      out += "::";
      i += length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    bool leading = true;
    for (int shift = 12; shift >= 0; shift -= 4) {
      const unsigned digit = group(i) >> shift & 15U;
      leading = leading && digit == 0 && shift > 0;
      if (!leading) out += kHex[digit];
    }
  }
  return out;
}

std::string mac_text(ByteSpan octets) {
  std::string out;
  for (std::uint8_t o : octets) {
    if (!out.empty()) out += ':';
    append_hex(out, o);
  }
  return out;
}

}  // namespace

std::string to_string(const Error& e) { return e.where.empty() ? e.what : e.where + ": " + e.what; }

std::string escape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; };
  while (!raw.empty()) {
    const auto plain = std::find_if_not(raw.begin(), raw.end(), is_plain) - raw.begin();
    out += raw.substr(0, static_cast<std::size_t>(plain));
    raw.remove_prefix(static_cast<std::size_t>(plain));
    if (raw.empty()) break;
    const CodePoint c = first_code_point(raw);
    const std::size_t n = std::max<std::size_t>(c.length, 1);
    if (c.length == 0 || is_unsafe_to_show(c.value)) {
      for (char octet : raw.substr(0, n)) {
        out += "\\x";
        append_hex(out, static_cast<std::uint8_t>(octet));
      }
    } else if (c.value == '\\') {
      out += "\\\\";
    } else {
      out += raw.substr(0, n);
    }
    raw.remove_prefix(n);
  }
  return out;
}

std::string to_string(const MacAddress& mac) { return mac_text(mac); }

std::optional<MacAddress> parse_mac(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  MacAddress mac{};
  for (std::size_t i = 0; i < 6; ++i) {
    const int high = digit(text[3 * i]);
    const int low = digit(text[3 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    if (i < 5 && (text[2] != text[3 * i + 2] || (text[2] != ':' && text[2] != '-')))
      return std::nullopt;
    mac[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return mac;
}

std::string to_hex(ByteSpan octets) {
  std::string out;
  out.reserve(2 * octets.size());
  for (std::uint8_t o : octets) append_hex(out, o);
  return out;
}

std::string network_address_to_string(ByteSpan octets) {
  constexpr std::uint8_t kIpv4 = 1;
  constexpr std::uint8_t kIpv6 = 2;
  constexpr std::uint8_t kMac = 6;  // "802, all media"
  if (octets.empty()) return {};
  const std::uint8_t family = octets[0];
  const ByteSpan address = octets.subspan(1);
  if (family == kMac && address.size() == 6) return mac_text(address);
  if (family == kIpv4 && address.size() == 4) return ipv4_text(address);
  if (family == kIpv6 && address.size() == 16) {
    return ipv6_text(address.first<16>());
  }
  return to_hex(octets);
}

std::string to_string(const ChassisId& id) {
  // IEEE 802.1AB-2016 Table 8-2.
  switch (id.subtype) {
    case 4:
      return id.octets.size() == 6 ? mac_text(as_octets(id.octets)) : to_hex(as_octets(id.octets));
    case 5:
      return network_address_to_string(as_octets(id.octets));
    case 1:
    case 2:
    case 3:
    case 6:
    case 7:
      return escape(id.octets);
  }
  return to_hex(as_octets(id.octets));
}

std::string to_string(const PortId& id) {
  // IEEE 802.1AB-2016 Table 8-3.
  switch (id.subtype) {
    case 3:
      return id.octets.size() == 6 ? mac_text(as_octets(id.octets)) : to_hex(as_octets(id.octets));
    case 4:
      return network_address_to_string(as_octets(id.octets));
    case 1:
    case 2:
    case 5:
    case 7:
      return escape(id.octets);
  }
  return to_hex(as_octets(id.octets));
}

bool glob_match(std::string_view pattern, std::string_view text) {
  return matches_glob(pattern, text,
                      [](std::string_view rest) { return wildcard_or(rest.front()); });
}

bool any_glob_match(std::span<const std::string> patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return glob_match(p, text); });
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
    while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

}  // namespace lldp
