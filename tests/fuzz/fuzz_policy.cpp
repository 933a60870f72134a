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
  const auto turns = policy->turns();
  require(turns.size() == policy->lossless().size() && turns.back().to == policy->lossy());
  for (const qos::Remap& r : turns) {  // always forwards, and never into a lossless class again
    require(r.to == policy->lossy() || r.from.priority < r.to.priority);
    require(r.from.dscp != r.to.dscp && r.from.priority != policy->lossy().priority);
  }
  return 0;
}
