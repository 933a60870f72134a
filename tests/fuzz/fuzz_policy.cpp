// SPDX-License-Identifier: Apache-2.0
// qos.lossless and qos.lossy, a line each: what is accepted must be sound and read back from its
// own text; what is refused must be refused in one printable line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "qos/policy.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line_end = text.find('\n');
  const auto lossy = line_end == text.npos ? std::string_view{} : text.substr(line_end + 1);
  const auto policy = qos::Policy::parse(text.substr(0, line_end), lossy);
  if (!policy) {
    const auto& error = policy.error();
    require(error.where == "qos.lossless" || error.where == "qos.lossy");
    require(error.what.find_first_of("\n\x1b") == std::string::npos);
    return 0;
  }
  require(qos::Policy::parse(policy->lossless_text(), policy->lossy_text()) == *policy);
  qos::DscpSet seen;
  for (const qos::Remap& r : policy->turns()) {  // each DSCP turns once, and changes
    require(!seen.contains(r.from.dscp) && r.from.dscp != r.to.dscp);
    seen.insert(r.from.dscp);
    require(r.from.priority != policy->lossy().priority);
    require(policy->restored(r.from).priority == r.from.priority ||
            policy->restored(policy->restored(r.from)) == policy->restored(r.from));
  }
  require(!seen.contains(policy->lossy().dscp));
  for (const qos::Chain& chain : policy->chains()) {  // always forwards, and ends lossy
    qos::Class c = chain.application().mark();
    for (std::size_t i = 0; i < chain.classes.size(); ++i) {
      require(c == chain.classes[i].mark());
      c = policy->after_turn(c);
    }
    require(c == policy->lossy());
  }
  const auto wrong = qos::against_turn_order(policy->chains());
  require(!wrong || wrong->what.find_first_of("\n\x1b") == std::string::npos);
  return 0;
}
