// SPDX-License-Identifier: Apache-2.0
#include "agent/report/json_writer.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace lldp::report {

JsonWriter& JsonWriter::member(std::string_view name, const Tiers& tiers,
                               std::span<const core::TierNote> notes) {
  key(name).open('{').key("tiers").open('[');
  for (const Tier& tier : tiers) {
    open('{').member("level", tier.level.value()).member("id", to_string(tier.id));
    if (tier.age > 0 && tier.level > Level::of<1>()) member("age_minutes", tier.age);
    for (const core::TierNote& note : notes) {
      if (note.level != tier.level) continue;
      if (note.was) member("was", to_string(*note.was));
      if (note.joins) member("joins", to_string(*note.joins));
    }
    close('}');
  }
  return close(']').close('}');
}

void JsonWriter::string(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto is_special = [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  };
  out_ += '"';
  for (;;) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if(text, is_special) - text.begin());
    out_ += text.substr(0, plain);
    if (plain == text.size()) break;
    const char c = text[plain];
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20)
      out_.append("\\u00") += {kHex[octet >> 4U], kHex[octet & 15U]};
    else
      out_ += {'\\', c};
    text.remove_prefix(plain + 1);
  }
  out_ += '"';
}

}  // namespace lldp::report
