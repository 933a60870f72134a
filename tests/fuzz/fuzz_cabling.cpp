// SPDX-License-Identifier: Apache-2.0
// Fabric files as the agent reads them: of every device what it is to hear, and what it says when
// that, or something else, is heard.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cabling/expect.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::cabling;
  const auto drawing = read_plan({reinterpret_cast<const char*>(data), size});
  if (!drawing) return 0;
  for (const Link& link : drawing->links)
    for (const End& end : link.ends)
      if (end.node >= drawing->nodes.size()) std::abort();
  for (std::size_t i = 0; i < drawing->nodes.size() && i < 8; ++i) {
    const auto expected = Expectations::of(*drawing, drawing->nodes[i].name, {});
    if (!expected) continue;
    const Heard strange{.system_name = drawing->nodes[0].name, .chassis_id = "c", .port_id = "p"};
    for (const Finding& silent : expected->silence()) {
      if (silent.verdict != Verdict::kMissing) std::abort();
      const auto heard = expected->judge(silent.port, {&strange, 1});
      if (!heard || heard->text().empty()) std::abort();
    }
    for (const Finding& finding :
         expected->judge_all({{"p", {strange}}, {"q", {strange, strange}}}))
      if ((finding.verdict == Verdict::kSwapped) == finding.exchange.empty()) std::abort();
  }
  return 0;
}
