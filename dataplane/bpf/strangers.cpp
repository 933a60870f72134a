// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/strangers.hpp"

#include <fmt/format.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_gact.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "os/link_kind.hpp"

namespace lldp::dataplane::bpf {
namespace {

Power anything(std::string_view by) {
  return {.decides = true, .changes = true, .redirects = true, .by = std::string(by)};
}

/// The attribute of a filter of this kind that holds its actions.
std::optional<int> actions_attribute(std::string_view kind) {
  struct Kind {
    std::string_view name{};
    int actions = 0;
  };
  constexpr Kind kKinds[] = {{"basic", TCA_BASIC_ACT},  {"cgroup", TCA_CGROUP_ACT},
                             {"flow", TCA_FLOW_ACT},    {"flower", TCA_FLOWER_ACT},
                             {"fw", TCA_FW_ACT},        {"matchall", TCA_MATCHALL_ACT},
                             {"route", TCA_ROUTE4_ACT}, {"u32", TCA_U32_ACT}};
  const auto* const at = std::ranges::find(kKinds, kind, &Kind::name);
  return at == std::end(kKinds) ? std::nullopt : std::optional(at->actions);
}

void add_action(Power& power, nlattr* action) {
  std::array<nlattr*, TCA_ACT_MAX + 1> parts{};
  std::array<nla_policy, TCA_ACT_MAX + 1> policy{};
  policy[TCA_ACT_KIND].type = NLA_STRING;  // which has to end
  if (nla_parse_nested(parts.data(), TCA_ACT_MAX, action, policy.data()) < 0 ||
      parts[TCA_ACT_KIND] == nullptr) {
    power = anything("an action that cannot be read");
    return;
  }
  const std::string_view kind = nla_get_string(parts[TCA_ACT_KIND]);
  const auto takes = [&](bool& has) {
    has = true;
    power.by = kind;
  };
  std::array<nlattr*, 16> options{};
  if (parts[TCA_ACT_OPTIONS] != nullptr &&
      nla_parse_nested(options.data(), options.size() - 1, parts[TCA_ACT_OPTIONS], nullptr) < 0)
    options = {};
  if (kind == "mirred") {
    const auto to = value_of<tc_mirred>(options[TCA_MIRRED_PARMS]);
    if (!to || to->eaction != TCA_EGRESS_MIRROR) takes(power.redirects);  // a copy alone goes out
  } else if (kind == "gact") {
    const auto go = value_of<tc_gact>(options[TCA_GACT_PARMS]);
    // Where the chain leads is not looked at.
    if (!go || (go->action & ~TC_ACT_EXT_VAL_MASK) == TC_ACT_GOTO_CHAIN)
      power = anything("goto chain");
  } else if (kind == "pedit" || kind == "skbedit" || kind == "vlan" || kind == "ctinfo") {
    takes(power.changes);
  } else {
    constexpr std::string_view kHarmless[] = {"connmark", "csum",   "ct",     "gate",  "nat",
                                              "police",   "sample", "simple", "skbmod"};
    if (std::ranges::find(kHarmless, kind) == std::end(kHarmless)) power = anything(kind);
  }
}

}  // namespace

Power power_of(const TcObject& filter) {
  const auto attribute = actions_attribute(filter.kind);
  if (!attribute) return anything(filter.kind);
  Power power{.decides = true, .by = std::string(filter.kind)};
  if (filter.options == nullptr) return power;
  auto* const parts = static_cast<nlattr*>(nla_data(filter.options));
  nlattr* const actions = nla_find(parts, nla_len(filter.options), *attribute);
  if (actions == nullptr) return power;
  nlattr* action = nullptr;
  int left = 0;
  nla_for_each_nested(action, actions, left) add_action(power, action);
  return power;
}

Power power_of_program() { return anything("BPF"); }

std::optional<std::string> harm_behind(Part part, const qos::Ruleset& rules,
                                       std::span<const Stranger> behind,
                                       std::span<const Stack::Upper> above) {
  const bool ingress = part == Part::kClassify;
  // Of a port whose packets never turn, or where none turns, nothing is lost.
  if (ingress ? rules.tag == qos::Tag() : rules.turning_tags == 0) return std::nullopt;
  for (const Stranger& s : behind) {
    const std::string who = s.name + " behind the rules ";
    const std::string_view remedy = ": delete it, or leave the port out of `ports`";
    if (s.power.redirects)
      return fmt::format(
          "{}may send packets on by another interface ({}), where they count as come by that one, "
          "so that they do not turn{}",
          who, s.power.by, remedy);
    if (s.power.changes)
      return fmt::format("{}may change the class that the rules go by or give ({}){}", who,
                         s.power.by, remedy);
    if (ingress && s.power.decides && !above.empty())
      return fmt::format(
          "{}ends the hook, and the kernel writes over the mark by which packets that go on by {} "
          "are known, so that they do not turn{}",
          who, above.front().name, remedy);
  }
  return std::nullopt;
}

std::optional<std::string> harm_above(Part part, const qos::Ruleset& rules,
                                      const Stack::Upper& upper,
                                      std::span<const Stranger> strangers) {
  const bool ingress = part == Part::kClassify;
  if (ingress ? rules.tag == qos::Tag() : rules.turning_tags == 0) return std::nullopt;
  std::string who;
  if (ingress && upper.xdp_program != 0)
    who = fmt::format("an XDP program ({})", upper.xdp_program);
  else if (!strangers.empty())
    who = strangers.front().name;
  else
    return std::nullopt;
  return fmt::format(
      "{} on {}, which stands on this port, may change, redirect or unmark packets between the "
      "rules of two ports, so that they do not turn: take it off {}, or leave the port out of "
      "`ports`",
      who, upper.name, upper.name);
}

Result<void> Stack::read(TcSocket& socket) {
  std::map<Ifindex, LinkFacts> all;
  if (auto done = socket.links(
          Ifindex(), [&](Ifindex link, const LinkFacts& facts) { all.emplace(link, facts); });
      !done)
    return done;
  links_.clear();
  above_.clear();
  for (const auto& [link, facts] : all) {
    if (is_stacked(facts.kind, facts.lower != Ifindex()) && facts.lower != Ifindex())
      above_.emplace(facts.lower, link);
    if (facts.master != Ifindex() && facts.master != facts.lower)
      above_.emplace(link, facts.master);
  }
  for (const auto& [lower, upper] : above_)
    for (const Ifindex link : {lower, upper})
      if (const auto at = all.find(link); at != all.end()) links_.emplace(link, at->second);
  return {};
}

std::vector<Stack::Upper> Stack::above(Ifindex port) const {
  std::vector<Upper> found;
  std::vector<Ifindex> next{port};
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto [from, to] = above_.equal_range(next[i]);
    for (auto at = from; at != to; ++at) {
      if (std::ranges::find(next, at->second) != next.end()) continue;
      next.push_back(at->second);
      const auto link = links_.find(at->second);
      if (link != links_.end())
        found.push_back({at->second, link->second.name, link->second.xdp_program});
    }
  }
  return found;
}

std::vector<Ifindex> Stack::below(Ifindex upper) const {
  std::vector<Ifindex> found{upper};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto& [lower, its_upper] : above_)
      if (its_upper == found[i] && std::ranges::find(found, lower) == found.end())
        found.push_back(lower);
  found.erase(found.begin());
  return found;
}

}  // namespace lldp::dataplane::bpf
