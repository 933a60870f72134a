// SPDX-License-Identifier: Apache-2.0
// What a neighbour sent, as `show detail` and in the formats of lldpctl: whatever it is, the text
// comes, and is what it says it is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/report/detail.hpp"
#include "agent/report/lldpctl.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

using nlohmann::json;

void require(bool holds) {
  if (!holds) std::abort();
}

/// No character that a terminal would act on.
bool harmless(const std::string& text) {
  return std::ranges::none_of(text, [](char c) {
    const auto octet = static_cast<std::uint8_t>(c);
    return (octet < 0x20 && c != '\n') || octet == 0x7f;
  });
}

void run(ByteSpan lldpdu) {
  const json neighbor = {{"chassis_id", "02:00:00:00:00:09"},
                         {"port_id", "swp7"},
                         {"system_name", "spine1"},
                         {"device_type", "switch"},
                         {"level", 2},
                         {"port_type", "uplink"},
                         {"expires_in", 100},
                         {"scope", "nearest-bridge"},
                         {"source", nullptr},
                         {"unchanged_for", 7},
                         {"lldpdu", to_hex(lldpdu)}};
  const std::string answer =
      json{{"ports", {{{"name", "swp1"}, {"neighbors", {neighbor}}}}}}.dump();

  const auto text = detail_text(answer, {});
  require(text && harmless(*text));
  const auto whole = with_tlvs(answer);
  require(whole && json::accept(*whole));
  const auto keyvalue = as_lldpctl(answer, LldpctlFormat::kKeyvalue);
  require(keyvalue && harmless(*keyvalue));
  const auto json0 = as_lldpctl(answer, LldpctlFormat::kJson0);
  require(json0 && json::accept(*json0));
  const auto xml = as_lldpctl(answer, LldpctlFormat::kXml);
  require(xml && xml->ends_with("</lldp>\n") && std::ranges::none_of(*xml, [](char c) {
            return static_cast<std::uint8_t>(c) < 0x20 && c != '\n' && c != '\t';
          }));
}

}  // namespace
}  // namespace lldp::report

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lldp::report::run({data, std::min<std::size_t>(size, 9216)});
  return 0;
}
