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

/// The number for a key in a map that is not ours.
std::optional<unsigned> number(const QosMap& map, unsigned key) {
  const auto at = map.find(key);
  return at != map.end() && at->second < kClasses ? std::optional(at->second) : std::nullopt;
}

/// A lossless class as the maps see it.
struct MappedClass {
  qos::Class mark{};
  std::vector<Dscp> dscps{};
  qos::Class turned{};  ///< what a packet that came from above leaves as
  qos::Class left{};    ///< what any other leaves as
};

/// The class that a row of `rows` makes of a class's packets; without one they keep it.
qos::Class after(const std::vector<qos::Remap>& rows, qos::Class c) {
  const auto row = std::ranges::find(rows, c, &qos::Remap::from);
  return row == rows.end() ? c : row->to;
}

std::vector<MappedClass> classes_of(const qos::Ruleset& rules) {
  std::vector<qos::Class> rows;
  for (const qos::Remap& r : rules.entering) rows.push_back(r.from);  // of a shut port
  if (rows.empty())
    for (const qos::Class& c : rules.ingress)
      if (c.priority != rules.lossy.priority) rows.push_back(c);
  std::vector<MappedClass> classes;
  for (const qos::Class& row : rows) {
    if (classes.empty() || classes.back().mark.priority != row.priority) {
      const qos::Class left = after(rules.leaving, row);
      classes.push_back({.mark = row,
                         .turned = rules.remaps.empty() ? left : after(rules.remaps, row),
                         .left = left});
    }
    classes.back().dscps.push_back(row.dscp);
  }
  return classes;
}

bool is_lossless(const std::vector<MappedClass>& classes, unsigned priority) {
  return std::ranges::any_of(
      classes, [priority](const MappedClass& c) { return c.mark.priority.value() == priority; });
}

/// A queue or priority group of before that is not for lossless traffic.
unsigned lossy_number(const std::vector<MappedClass>& classes, const QosMap& map,
                      std::optional<unsigned> tc) {
  const auto n = tc ? number(map, *tc) : std::nullopt;
  return n && !is_lossless(classes, *n) ? *n : 0;
}

/// The lossy DSCPs that the port's present map tells apart from the rest, those of the highest
/// class first.
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

/// Where restoring would make DSCPs of the lossy class one, spares stay what they are.
Result<PortMaps> without_restoring(qos::Ruleset rules, const QosMaps& before) {
  rules.leaving.clear();
  rules.port.restore = false;
  auto maps = maps_of(rules, before);
  if (maps) maps->last_hop_lossy = true;
  return maps;
}

}  // namespace

Result<PortMaps> maps_of(const qos::Ruleset& rules, const QosMaps& before) {
  const QosMap& dscp_to_tc = before[index(MapKind::kDscpToTc)];
  const QosMap& tc_to_queue = before[index(MapKind::kTcToQueue)];
  const QosMap& tc_to_group = before[index(MapKind::kTcToGroup)];
  const std::vector<MappedClass> lossless = classes_of(rules);
  const unsigned needed = 2 * static_cast<unsigned>(lossless.size()) + 1;
  // One short: the last spare has one traffic class whichever way it came. What came from below in
  // it and goes on upwards is taken for what turns, and becomes lossy.
  const bool merges = needed == kClasses + 1;
  if (needed > kClasses + 1)
    return fail(Error{0, "qos.lossless",
                      fmt::format("{} lossless classes need {} traffic classes and a switch chip "
                                  "has {}: take 4 at most",
                                  lossless.size(), needed - 1, kClasses)});
  std::vector<unsigned> free;
  for (unsigned tc = 1; tc < kClasses; ++tc)
    if (!is_lossless(lossless, tc)) free.push_back(tc);

  const bool up = !rules.remaps.empty();
  const bool shut = !rules.entering.empty();
  PortMaps out;
  auto& [in, dscp, queue, group] = out.maps;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) in[d] = kLossy;
  const auto rest = number(dscp_to_tc, 0);
  queue[kLossy] = rules.lossy.priority.value();
  group[kLossy] = lossy_number(lossless, tc_to_group, rest);
  dscp[kLossy] = rules.lossy.dscp.value();
  for (std::size_t i = 0; i < lossless.size(); ++i) {
    const MappedClass& c = lossless[i];
    const unsigned tc = c.mark.priority.value();
    const bool merged = merges && i + 1 == lossless.size();
    const unsigned from_above = merged ? tc : free.front();
    if (!merged) free.erase(free.begin());
    if (!shut)
      for (const Dscp d : c.dscps) in[d.value()] = up ? from_above : tc;
    for (const unsigned either : {tc, from_above}) {
      const qos::Class leaves = either == from_above ? c.turned : c.left;
      group[either] = tc;
      queue[either] = leaves.priority.value();
      dscp[either] = leaves.dscp.value();
    }
  }

  for (const Dscp d : in_use(rules, dscp_to_tc)) {
    if (free.empty()) {
      out.collapsed.push_back(d);
      continue;
    }
    const unsigned tc = free.front();
    free.erase(free.begin());
    const auto then = number(dscp_to_tc, d.value());
    in[d.value()] = tc;
    queue[tc] = lossy_number(lossless, tc_to_queue, then);
    group[tc] = lossy_number(lossless, tc_to_group, then);
    dscp[tc] = d.value();
  }
  std::ranges::sort(out.collapsed);
  if (!up && rules.leaving.empty()) dscp.clear();
  if (rules.port.restores() && !out.collapsed.empty()) return without_restoring(rules, before);
  return out;
}

PartReading last_hop_lossy(Part part) {
  return {part, PartState::kLimited,
          "last hop lossy: spare classes stay what they are on this port to a host, for to rewrite "
          "DSCPs would make others of it lossy ones"};
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
