// SPDX-License-Identifier: Apache-2.0
#include "dataplane/qos_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace lldp::dataplane {
namespace {

constexpr unsigned kGroups = 8;  ///< priority groups of a port
constexpr unsigned kLossy = 0;   ///< the traffic class of the lossy class, and of all others

/// The number for a key in a map that is not ours, if it is below `end`.
std::optional<unsigned> number(const QosMap& map, unsigned key,
                               unsigned end = kMostTrafficClasses) {
  const auto at = map.find(key);
  return at != map.end() && at->second < end ? std::optional(at->second) : std::nullopt;
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

/// The priority group of before that is not for lossless traffic.
unsigned lossy_group(const std::vector<MappedClass>& classes, const QosMap& map,
                     std::optional<unsigned> tc) {
  const auto n = tc ? number(map, *tc, kGroups) : std::nullopt;
  return n && !is_lossless(classes, *n) ? *n : 0;
}

/// The same of queues; where there is none, that of the lossy class.
unsigned lossy_queue(const std::vector<MappedClass>& classes, const QosMap& map,
                     std::optional<unsigned> tc, unsigned otherwise) {
  const auto n = tc ? number(map, *tc) : std::nullopt;
  return n && !is_lossless(classes, *n) ? *n : otherwise;
}

bool is_of(const qos::Ruleset& rules, unsigned dscp) {
  return std::ranges::any_of(rules.ingress,
                             [dscp](const qos::Class& c) { return c.dscp.value() == dscp; });
}

/// The lossy DSCPs that the port's present map tells apart from the rest, those of the highest
/// class first.
std::vector<Dscp> in_use(const qos::Ruleset& rules, const QosMap& dscp_to_tc) {
  const auto rest = number(dscp_to_tc, 0);
  std::vector<std::pair<unsigned, Dscp>> found;
  for (unsigned d = 1; d <= Dscp::kMax; ++d) {
    const auto tc = number(dscp_to_tc, d);
    if (tc && tc != rest && !is_of(rules, d)) found.emplace_back(*tc, *Dscp::make(d));
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Dscp> dscps;
  for (const auto& [tc, dscp] : found) dscps.push_back(dscp);
  return dscps;
}

/// DSCPs of no class of the rules that leave by another queue with these maps.
std::vector<MovedDscp> moved_by(const qos::Ruleset& rules, const QosMaps& before,
                                const QosMaps& after) {
  std::vector<MovedDscp> moved;
  const auto queue_of = [](const QosMaps& maps, unsigned d) {
    const auto tc = number(maps[index(MapKind::kDscpToTc)], d);
    return tc ? number(maps[index(MapKind::kTcToQueue)], *tc) : std::nullopt;
  };
  for (unsigned d = 0; d <= Dscp::kMax; ++d)
    if (const auto from = queue_of(before, d), to = queue_of(after, d);
        from && to && *from != *to && !is_of(rules, d))
      moved.push_back({*Dscp::make(d), *from, *to});
  return moved;
}

/// Where restoring would make DSCPs of the lossy class one, spares stay what they are.
Result<PortMaps> without_restoring(qos::Ruleset rules, const QosMaps& before, unsigned classes) {
  rules.leaving.clear();
  rules.port.restore = false;
  auto maps = maps_of(rules, before, classes);
  if (maps) maps->last_hop_lossy = true;
  return maps;
}

}  // namespace

Result<PortMaps> maps_of(const qos::Ruleset& rules, const QosMaps& before, unsigned classes) {
  const QosMap& dscp_to_tc = before[index(MapKind::kDscpToTc)];
  const QosMap& tc_to_queue = before[index(MapKind::kTcToQueue)];
  const QosMap& tc_to_group = before[index(MapKind::kTcToGroup)];
  const std::vector<MappedClass> lossless = classes_of(rules);
  classes = std::min(classes, kMostTrafficClasses);
  const auto count = static_cast<unsigned>(lossless.size());
  // Classes from which on one has one traffic class whichever way it came. What came from below in
  // it and goes on upwards is taken for what turns. That is for the last spare alone: of another
  // class it would make every packet turn.
  const unsigned merged = 2 * count + 1 > classes ? count - 1 : count;
  if (const unsigned needed = count + merged + 1; count != 0 && needed > classes)
    return fail(Error{0, "qos.lossless",
                      fmt::format("{} lossless classes need {} traffic classes and the switch chip "
                                  "has {}: take {} at most",
                                  count, needed, classes, most_lossless(classes))});
  std::vector<unsigned> free;
  for (unsigned tc = 1; tc < classes; ++tc)
    if (!is_lossless(lossless, tc)) free.push_back(tc);
  const auto take = [&free] {
    const unsigned tc = free.front();
    free.erase(free.begin());
    return tc;
  };

  const bool up = !rules.remaps.empty();
  const bool shut = !rules.entering.empty();
  PortMaps out;
  if (merged < count) out.merged = lossless.back().mark.priority.value();
  auto& [in, dscp, queue, group] = out.maps;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) in[d] = kLossy;
  const auto rest = number(dscp_to_tc, rules.lossy.dscp.value());
  const unsigned lossy = rules.lossy.priority.value();
  queue[kLossy] = lossy != 0 ? lossy : lossy_queue(lossless, tc_to_queue, rest, lossy);
  group[kLossy] = lossy_group(lossless, tc_to_group, rest);
  dscp[kLossy] = rules.lossy.dscp.value();
  for (std::size_t i = 0; i < lossless.size(); ++i) {
    const MappedClass& c = lossless[i];
    const unsigned priority = c.mark.priority.value();
    const unsigned tc = priority < classes ? priority : take();
    const unsigned from_above = i < merged ? take() : tc;
    if (!shut)
      for (const Dscp d : c.dscps) in[d.value()] = up ? from_above : tc;
    for (const unsigned either : {tc, from_above}) {
      const qos::Class leaves = either == from_above ? c.turned : c.left;
      group[either] = priority;
      queue[either] =
          leaves.priority == rules.lossy.priority ? queue[kLossy] : leaves.priority.value();
      dscp[either] = leaves.dscp.value();
    }
  }

  for (const Dscp d : in_use(rules, dscp_to_tc)) {
    if (free.empty()) {
      out.costs.collapsed.push_back(d);
      continue;
    }
    const unsigned tc = take();
    const auto then = number(dscp_to_tc, d.value());
    in[d.value()] = tc;
    queue[tc] = lossy_queue(lossless, tc_to_queue, then, queue[kLossy]);
    group[tc] = lossy_group(lossless, tc_to_group, then);
    dscp[tc] = d.value();
  }
  std::ranges::sort(out.costs.collapsed);
  out.costs.moved = moved_by(rules, before, out.maps);
  if (!up && rules.leaving.empty()) dscp.clear();
  if (rules.port.restores() && !out.costs.collapsed.empty())
    return without_restoring(rules, before, classes);
  return out;
}

std::optional<PartReading> crossing_limit(const qos::Ruleset& in, const qos::Ruleset& out,
                                          std::optional<unsigned> merged) {
  // Hosts send no spares, and at a port that restores none arrives.
  const bool from_below = in.port.order == Order::kDown && !in.port.restore;
  if (!merged || !from_below || out.port.order != Order::kUp) return std::nullopt;
  return PartReading{
      Part::kRemap, PartState::kLimited,
      fmt::format("the traffic classes of the chip are one too few for these lossless classes: "
                  "what comes from below in priority {} and goes on upwards is lossy",
                  *merged)};
}

PartReading rewrite_unverified(Part part, std::string_view name) {
  return {part, PartState::kUnverified,
          fmt::format("the ASIC has {}, and nothing says that it rewrites DSCPs by it "
                      "(SAI_PORT_ATTR_UPDATE_DSCP is not true): make the experiment of "
                      "docs/operate/sonic.md, then set qos.rewrite-verified = yes",
                      name)};
}

PartReading last_hop_lossy(Part part) {
  return {
      part, PartState::kLimited,
      "last hop lossy: spare classes are not restored on this port to a host, because rewriting "
      "their DSCPs would make other classes lossy"};
}

std::string pfc_taken_text(unsigned taken) {
  return fmt::format(
      "priority {} had PFC before the rules, and is lossy now: name it in qos.lossless if it is in "
      "use",
      priorities_text(taken));
}

std::string priorities_text(unsigned mask, const char* between) {
  std::string text;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((mask >> p & 1U) != 0) text.append(text.empty() ? "" : between).append(std::to_string(p));
  return text;
}

}  // namespace lldp::dataplane
