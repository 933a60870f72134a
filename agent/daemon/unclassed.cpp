// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/unclassed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lldp::io {
namespace {

/// The DSCPs of a preset's application classes.
qos::DscpSet dscps_of(const qos::Preset& preset) {
  qos::DscpSet dscps;
  if (const auto chains = qos::parse_chains(preset.chains))
    for (const qos::Chain& chain : *chains) dscps = dscps | chain.application().dscps;
  return dscps;
}

}  // namespace

void UnclassedTraffic::take(Ifindex port, const dataplane::Unclassed& counts, TimePoint now) {
  const auto [at, fresh] = counts_.try_emplace(port, counts);
  for (std::size_t d = 0; d < counts.size() && !fresh; ++d)
    if (counts[d] > at->second[d]) seen_[d] = now;
  at->second = counts;  // less than before: they were counted anew
}

std::optional<std::string> UnclassedTraffic::text(const qos::Policy& policy, TimePoint now) const {
  qos::DscpSet turned;
  for (unsigned d = 0; d <= Dscp::kMax; ++d)
    if (seen_[d] && now - *seen_[d] < kCalm) turned.insert(*Dscp::make(d));
  if (turned.empty()) return std::nullopt;
  for (const qos::LosslessClass& c : policy.classes())
    turned = qos::DscpSet(turned.mask() & ~c.dscps.mask());
  for (const qos::Preset& preset : qos::kPresets) {
    const qos::DscpSet of = turned & dscps_of(preset);
    if (!of.empty())
      return fmt::format(
          "packets with DSCP {} turned at this switch and are in no lossless class; set "
          "qos.lossless = {}",
          qos::to_string(of), preset.name);
  }
  return std::nullopt;
}

}  // namespace lldp::io
