// SPDX-License-Identifier: Apache-2.0
#include "dataplane/qos_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace lldp::dataplane {
namespace {

constexpr unsigned kClasses = 8;  ///< traffic classes, queues and priority groups of a port
constexpr unsigned kLossy = 0;    ///< the traffic class of the lossy class, and of all others

/// The number that a map of somebody else's has for a key.
std::optional<unsigned> number(const QosMap& map, unsigned key) {
  const auto at = map.find(key);
  return at != map.end() && at->second < kClasses ? std::optional(at->second) : std::nullopt;
}

bool is_lossless(const qos::Ruleset& rules, unsigned priority) {
  return priority < kClasses && (rules.pfc_enable >> priority & 1U) != 0;
}

/// A queue or priority group of before that is not for lossless traffic.
unsigned lossy_number(const qos::Ruleset& rules, const QosMap& map, std::optional<unsigned> tc) {
  const auto n = tc ? number(map, *tc) : std::nullopt;
  return n && !is_lossless(rules, *n) ? *n : 0;
}

/// The lossy DSCPs that somebody tells apart from the rest, those of the highest class first.
std::vector<Dscp> in_use(const qos::Ruleset& rules, const QosMap& dscp_to_tc) {
  const auto rest = number(dscp_to_tc, 0);
  std::vector<std::pair<unsigned, Dscp>> found;
  for (unsigned d = 1; d <= Dscp::kMax; ++d) {
    const auto tc = number(dscp_to_tc, d);
    const bool ours = std::ranges::any_of(rules.ingress,
                                          [d](const qos::Class& c) { return c.dscp.value() == d; });
    if (tc && tc != rest && !ours) found.emplace_back(*tc, *Dscp::make(d));
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Dscp> dscps;
  for (const auto& [tc, dscp] : found) dscps.push_back(dscp);
  return dscps;
}

}  // namespace

Result<PortMaps> maps_of(const qos::Ruleset& rules, const QosMaps& before) {
  const QosMap& dscp_to_tc = before[index(MapKind::kDscpToTc)];
  const QosMap& tc_to_queue = before[index(MapKind::kTcToQueue)];
  const QosMap& tc_to_group = before[index(MapKind::kTcToGroup)];
  std::vector<qos::Class> lossless;
  std::optional<qos::Class> lossy;
  for (const qos::Class& c : rules.ingress) {
    if (is_lossless(rules, c.priority.value()))
      lossless.push_back(c);
    else
      lossy = c;
  }
  if (!rules.remaps.empty()) lossy = rules.remaps.back().to;
  if (is_lossless(rules, kLossy))
    return fail(
        Error{0, "qos.lossless", "priority 0 cannot be lossless on a switch chip: take 1 to 7"});
  if (2 * lossless.size() + 1 > kClasses)
    return fail(Error{0, "qos.lossless",
                      fmt::format("{} lossless classes need {} traffic classes and a switch chip "
                                  "has {}: take 3 at most",
                                  lossless.size(), 2 * lossless.size() + 1, kClasses)});
  std::vector<unsigned> free;
  for (unsigned tc = 1; tc < kClasses; ++tc)
    if (!is_lossless(rules, tc)) free.push_back(tc);

  const bool up = !rules.remaps.empty();
  PortMaps out;
  auto& [in, dscp, queue, group] = out.maps;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) in[d] = kLossy;
  const auto rest = number(dscp_to_tc, 0);
  queue[kLossy] = lossy ? lossy->priority.value() : 0U;
  group[kLossy] = lossy_number(rules, tc_to_group, rest);
  dscp[kLossy] = lossy ? lossy->dscp.value() : 0U;
  for (std::size_t i = 0; i < lossless.size(); ++i) {
    const qos::Class c = lossless[i];
    const unsigned tc = c.priority.value();
    const unsigned from_above = free[i];
    const qos::Class after = up ? rules.remaps[i].to : c;
    in[c.dscp.value()] = up ? from_above : tc;
    for (const unsigned either : {tc, from_above}) group[either] = tc;
    queue[tc] = tc;
    queue[from_above] = after.priority.value();
    dscp[tc] = c.dscp.value();
    dscp[from_above] = after.dscp.value();
  }
  free.erase(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(lossless.size()));

  for (const Dscp d : in_use(rules, dscp_to_tc)) {
    if (free.empty()) {
      out.collapsed.push_back(d);
      continue;
    }
    const unsigned tc = free.front();
    free.erase(free.begin());
    const auto then = number(dscp_to_tc, d.value());
    in[d.value()] = tc;
    queue[tc] = lossy_number(rules, tc_to_queue, then);
    group[tc] = lossy_number(rules, tc_to_group, then);
    dscp[tc] = d.value();
  }
  std::ranges::sort(out.collapsed);
  if (!up) dscp.clear();
  return out;
}

std::string pfc_taken_text(unsigned taken) {
  return fmt::format(
      "priority {} had PFC before the rules, and is lossy now: name it in qos.lossless if it is in "
      "use",
      priorities_text(taken));
}

std::string priorities_text(unsigned mask, const char* between) {
  std::string text;
  for (unsigned p = 0; p < kClasses; ++p)
    if ((mask >> p & 1U) != 0) text.append(text.empty() ? "" : between).append(std::to_string(p));
  return text;
}

}  // namespace lldp::dataplane
