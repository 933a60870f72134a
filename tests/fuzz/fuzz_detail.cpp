// SPDX-License-Identifier: Apache-2.0
// What a neighbor sent, as `show detail` and in the formats of lldpctl: whatever it is, the text
// comes, and is what it says it is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/report/detail.hpp"
#include "agent/report/lldpctl.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace lldp::report {
namespace {

using nlohmann::json;

void require(bool holds) {
  if (!holds) std::abort();
}

/// No character that a terminal would act on, reorder or hide; a line break and a tab move it only
/// as text does.
bool harmless(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const bool blank = c.value == '\n' || c.value == '\t';
    if (c.length == 0 || (is_unsafe_to_show(c.value) && !blank)) return false;
    text.remove_prefix(c.length);
  }
  return true;
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
  for (const auto format : {LldpctlFormat::kPlain, LldpctlFormat::kKeyvalue, LldpctlFormat::kJson,
                            LldpctlFormat::kJson0, LldpctlFormat::kXml}) {
    const auto printed = as_lldpctl(answer, format);
    require(printed && harmless(*printed));
    if (format == LldpctlFormat::kJson || format == LldpctlFormat::kJson0)
      require(json::accept(*printed));
    if (format == LldpctlFormat::kXml) require(printed->ends_with("</lldp>\n"));
  }
}

}  // namespace
}  // namespace lldp::report

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lldp::report::run({data, std::min<std::size_t>(size, 9216)});
  return 0;
}
