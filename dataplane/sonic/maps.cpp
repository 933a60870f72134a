// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>

namespace lldp::dataplane::sonic {
namespace {

constexpr unsigned kClasses = 8;  ///< traffic classes, queues and priority groups of a port
constexpr unsigned kLossy = 0;    ///< the traffic class of the lossy class, and of all others

std::string text(unsigned n) { return std::to_string(n); }

/// The number that a row of somebody else's has for a key.
std::optional<unsigned> number(const Row& row, unsigned key) {
  const auto at = row.find(text(key));
  if (at == row.end() || at->second.size() != 1) return std::nullopt;
  const auto n = static_cast<unsigned>(at->second[0] - '0');
  return n < kClasses ? std::optional(n) : std::nullopt;
}

bool is_lossless(const qos::Ruleset& rules, unsigned priority) {
  return priority < kClasses && (rules.pfc_enable >> priority & 1U) != 0;
}

/// A queue or priority group of the base that is not for lossless traffic.
unsigned lossy_number(const qos::Ruleset& rules, const Row& row, std::optional<unsigned> tc) {
  const auto n = tc ? number(row, *tc) : std::nullopt;
  return n && !is_lossless(rules, *n) ? *n : 0;
}

/// The lossy DSCPs that somebody tells apart from the rest, those of the highest class first.
std::vector<Dscp> in_use(const qos::Ruleset& rules, const Base& base) {
  const auto rest = number(base.dscp_to_tc, 0);
  std::vector<std::pair<unsigned, Dscp>> found;
  for (unsigned d = 1; d <= Dscp::kMax; ++d) {
    const auto tc = number(base.dscp_to_tc, d);
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

Result<Maps> maps_of(const qos::Ruleset& rules, const Base& base) {
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
    return fail(Error{0, "qos.lossless", "priority 0 cannot be lossless on SONiC: take 1 to 7"});
  if (2 * lossless.size() + 1 > kClasses)
    return fail(Error{0, "qos.lossless",
                      fmt::format("{} lossless classes need {} traffic classes and SONiC has {}: "
                                  "take 3 at most",
                                  lossless.size(), 2 * lossless.size() + 1, kClasses)});
  std::vector<unsigned> free;
  for (unsigned tc = 1; tc < kClasses; ++tc)
    if (!is_lossless(rules, tc)) free.push_back(tc);

  const bool up = !rules.remaps.empty();
  Row in;
  Row queue;
  Row group;
  Row dscp;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) in[text(d)] = text(kLossy);
  const auto rest = number(base.dscp_to_tc, 0);
  queue[text(kLossy)] = text(lossy ? lossy->priority.value() : 0U);
  group[text(kLossy)] = text(lossy_number(rules, base.tc_to_pg, rest));
  dscp[text(kLossy)] = text(lossy ? lossy->dscp.value() : 0U);
  for (std::size_t i = 0; i < lossless.size(); ++i) {
    const qos::Class c = lossless[i];
    const unsigned tc = c.priority.value();
    const unsigned from_above = free[i];
    const qos::Class after = up ? rules.remaps[i].to : c;
    in[text(c.dscp.value())] = text(up ? from_above : tc);
    for (const unsigned either : {tc, from_above}) group[text(either)] = text(tc);
    queue[text(tc)] = text(tc);
    queue[text(from_above)] = text(after.priority.value());
    dscp[text(tc)] = text(c.dscp.value());
    dscp[text(from_above)] = text(after.dscp.value());
  }
  free.erase(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(lossless.size()));

  Maps maps;
  for (const Dscp d : in_use(rules, base)) {
    if (free.empty()) {
      maps.collapsed.push_back(d);
      continue;
    }
    const unsigned tc = free.front();
    free.erase(free.begin());
    const auto before = number(base.dscp_to_tc, d.value());
    in[text(d.value())] = text(tc);
    queue[text(tc)] = text(lossy_number(rules, base.tc_to_queue, before));
    group[text(tc)] = text(lossy_number(rules, base.tc_to_pg, before));
    dscp[text(tc)] = text(d.value());
  }
  std::ranges::sort(maps.collapsed);

  std::string priorities;
  for (unsigned p = 0; p < kClasses; ++p)
    if (is_lossless(rules, p)) priorities += (priorities.empty() ? "" : ",") + text(p);
  const std::string name = up ? "LLDP_LEVEL_UP" : "LLDP_LEVEL_DOWN";
  maps.rows = {{"DSCP_TO_TC_MAP|" + name, in},
               {"TC_TO_QUEUE_MAP|" + name, queue},
               {"TC_TO_PRIORITY_GROUP_MAP|LLDP_LEVEL", group}};
  if (up) maps.rows["TC_TO_DSCP_MAP|" + name] = dscp;
  maps.port = {{"dscp_to_tc_map", name},   {"tc_to_dscp_map", up ? name : ""},
               {"tc_to_queue_map", name},  {"tc_to_pg_map", "LLDP_LEVEL"},
               {"pfc_enable", priorities}, {"pfcwd_sw_enable", priorities}};
  return maps;
}

}  // namespace lldp::dataplane::sonic
