// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/strangers.hpp"

#include <fmt/format.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_connmark.h>
#include <linux/tc_act/tc_csum.h>
#include <linux/tc_act/tc_ct.h>
#include <linux/tc_act/tc_ctinfo.h>
#include <linux/tc_act/tc_defact.h>
#include <linux/tc_act/tc_gact.h>
#include <linux/tc_act/tc_gate.h>
#include <linux/tc_act/tc_ife.h>
#include <linux/tc_act/tc_mirred.h>
#include <linux/tc_act/tc_mpls.h>
#include <linux/tc_act/tc_nat.h>
#include <linux/tc_act/tc_pedit.h>
#include <linux/tc_act/tc_sample.h>
#include <linux/tc_act/tc_skbedit.h>
#include <linux/tc_act/tc_skbmod.h>
#include <linux/tc_act/tc_tunnel_key.h>
#include <linux/tc_act/tc_vlan.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <string_view>

#include "os/link_kind.hpp"

namespace lldp::dataplane::bpf {
namespace {

Power anything(std::string_view by) {
  return {
      .decides = true, .changes = true, .redirects = true, .by = std::string(by), .into_any = true};
}

/// Where the chain leads is not looked at. What stands there has powers of its own.
void add_goto(Power& power, std::string by) {
  power.decides = power.changes = power.redirects = true;
  power.by = std::move(by);
}

/// A filter of a kind that is known: the attributes that hold its actions, and a policer in the old
/// form, without an action around it (0: the kind has none).
struct FilterKind {
  std::string_view name{};
  int actions = 0;
  int police = 0;
};
constexpr FilterKind kFilterKinds[] = {{"basic", TCA_BASIC_ACT, TCA_BASIC_POLICE},
                                       {"cgroup", TCA_CGROUP_ACT, TCA_CGROUP_POLICE},
                                       {"flow", TCA_FLOW_ACT, TCA_FLOW_POLICE},
                                       {"flower", TCA_FLOWER_ACT},
                                       {"fw", TCA_FW_ACT, TCA_FW_POLICE},
                                       {"matchall", TCA_MATCHALL_ACT},
                                       {"route", TCA_ROUTE4_ACT, TCA_ROUTE4_POLICE},
                                       {"u32", TCA_U32_ACT, TCA_U32_POLICE}};

/// An action of a kind that is known, and where its verdict stands: in which of its attributes, and
/// how many octets from the beginning of that (a struct tc_gen; of police a struct tc_police).
struct KnownAction {
  enum class Does : std::uint8_t { kNothing, kChanges, kRedirects, kJoins };
  /// A second verdict: that of police for packets within the rate, and that of gact for some at
  /// random.
  struct Second {
    std::size_t attribute = 0;  ///< 0: the kind has none
    std::size_t at = 0;
    std::optional<std::int32_t> if_absent{};  ///< nullopt: then there is none
  };
  std::string_view kind{};
  std::size_t attribute = 0;
  Does does = Does::kNothing;
  std::size_t verdict_at = offsetof(tc_gact, action);
  std::size_t or_attribute = 0;  ///< which stands there instead, of the same form; 0: none
  Second second{};
};
constexpr KnownAction kActions[] = {
    {"connmark", TCA_CONNMARK_PARMS},
    {"csum", TCA_CSUM_PARMS},
    {"ct", TCA_CT_PARMS, KnownAction::Does::kJoins},
    {"ctinfo", TCA_CTINFO_ACT, KnownAction::Does::kChanges},
    {"gact",
     TCA_GACT_PARMS,
     KnownAction::Does::kNothing,
     offsetof(tc_gact, action),
     0,
     {TCA_GACT_PROB, offsetof(tc_gact_p, paction)}},
    {"gate", TCA_GATE_PARMS},
    {"ife", TCA_IFE_PARMS, KnownAction::Does::kChanges},
    {"mirred", TCA_MIRRED_PARMS, KnownAction::Does::kRedirects},
    {"mpls", TCA_MPLS_PARMS, KnownAction::Does::kChanges},
    {"nat", TCA_NAT_PARMS},
    {"pedit", TCA_PEDIT_PARMS, KnownAction::Does::kChanges, offsetof(tc_gact, action),
     TCA_PEDIT_PARMS_EX},
    {"police",
     TCA_POLICE_TBF,
     KnownAction::Does::kNothing,
     offsetof(tc_police, action),
     0,
     {TCA_POLICE_RESULT, 0, TC_ACT_OK}},  // the kernel leaves out a zero
    {"sample", TCA_SAMPLE_PARMS},
    {"simple", TCA_DEF_PARMS},
    {"skbedit", TCA_SKBEDIT_PARMS, KnownAction::Does::kChanges},
    {"skbmod", TCA_SKBMOD_PARMS},
    {"tunnel_key", TCA_TUNNEL_KEY_PARMS},
    {"vlan", TCA_VLAN_PARMS, KnownAction::Does::kChanges},
};

/// nullopt: it cannot be read.
std::optional<std::int32_t> verdict_in(const nlattr* attribute, std::size_t at) {
  std::int32_t verdict = 0;
  if (attribute == nullptr || static_cast<std::size_t>(nla_len(attribute)) < at + sizeof verdict)
    return std::nullopt;
  std::memcpy(&verdict, static_cast<const char*>(nla_data(attribute)) + at, sizeof verdict);
  return verdict;
}

/// Since Linux 6.8 mirred has a block of interfaces instead of one: which are in it can change.
void add_mirred(Power& power, std::optional<tc_mirred> to, bool to_block) {
  power.by_mirred = true;
  const auto one = to && !to_block ? Ifindex::make(to->ifindex) : std::nullopt;
  if (to && to->eaction == TCA_EGRESS_MIRROR && !to_block) {
    if (one) power.copies_to.push_back(*one);
    return;
  }
  power.redirects = true;
  power.by = "mirred";
  if (to && (to->eaction == TCA_EGRESS_REDIR || to->eaction == TCA_EGRESS_MIRROR)) return;
  if (one)
    power.into.push_back(*one);
  else
    power.into_any = true;
}

/// What the action has of power, by its options.
void add_power(Power& power, const KnownAction& action, nlattr* nest) {
  std::array<nlattr*, 16> options{};
  if (nest != nullptr && nla_parse_nested(options.data(), options.size() - 1, nest, nullptr) < 0)
    options = {};
  const nlattr* parms = options.at(action.attribute);
  if (parms == nullptr && action.or_attribute != 0) parms = options.at(action.or_attribute);
  bool leads_on = false;
  // What is dropped needs no mark, and behind the last action of a filter (TC_ACT_PIPE) it stays.
  const auto go_by = [&](std::optional<std::int32_t> verdict) {
    power.decides |= verdict == TC_ACT_OK || verdict == TC_ACT_RECLASSIFY;
    leads_on |= !verdict || TC_ACT_EXT_CMP(*verdict, TC_ACT_GOTO_CHAIN);
  };
  go_by(verdict_in(parms, action.verdict_at));
  const KnownAction::Second& second = action.second;
  const nlattr* const its = second.attribute == 0 ? nullptr : options.at(second.attribute);
  if (its != nullptr)
    go_by(verdict_in(its, second.at));
  else if (second.if_absent)
    go_by(second.if_absent);
  switch (action.does) {
    case KnownAction::Does::kNothing:
      break;
    case KnownAction::Does::kChanges:
      power.changes = true;
      power.by = action.kind;
      break;
    case KnownAction::Does::kJoins:
      power.joins = true;
      break;
    case KnownAction::Does::kRedirects: {
      constexpr std::size_t kBlock = 4;  // TCA_MIRRED_BLOCKID
      add_mirred(power, value_of<tc_mirred>(parms), options.at(kBlock) != nullptr);
    }
  }
  if (leads_on)
    add_goto(power,
             action.kind == "gact" ? "goto chain" : std::string(action.kind) + ", goto chain");
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
  const auto* const known = std::ranges::find(kActions, kind, &KnownAction::kind);
  if (known == std::end(kActions))
    power = anything(kind);
  else
    add_power(power, *known, parts[TCA_ACT_OPTIONS]);
}

}  // namespace

Power power_of(const TcObject& filter) {
  const auto* const kind = std::ranges::find(kFilterKinds, filter.kind, &FilterKind::name);
  if (kind == std::end(kFilterKinds)) return anything(filter.kind);
  Power power{.by = std::string(filter.kind)};
  if (filter.options == nullptr) {
    power.decides = true;
    return power;
  }
  auto* const parts = static_cast<nlattr*>(nla_data(filter.options));
  const auto find = [&](int attribute) {
    return attribute == 0 ? nullptr : nla_find(parts, nla_len(filter.options), attribute);
  };
  nlattr* const police = find(kind->police);
  if (police != nullptr)
    add_power(power, *std::ranges::find(kActions, "police", &KnownAction::kind), police);
  nlattr* const actions = find(kind->actions);
  if (actions == nullptr) {
    // Without any it passes what it matches. A table of filters is none itself.
    const bool is_table = kind->name == "u32" && find(TCA_U32_DIVISOR) != nullptr;
    power.decides |= police == nullptr && !is_table;
    return power;
  }
  nlattr* action = nullptr;
  int left = 0;
  nla_for_each_nested(action, actions, left) add_action(power, action);
  return power;
}

Power power_of_program() { return anything("BPF"); }

namespace {

/// A redirect gives a packet that came in by another port a new one to have come by, so it matters
/// on a port of any order.
bool redirect_matters(const qos::Ruleset& rules) { return !rules.ingress.empty(); }
/// The next switch goes by the class of what is sent, and this one by that of what comes in. To a
/// host that is given application classes the class is the operator's.
bool change_matters(const qos::Ruleset& rules) {
  const Order order = rules.port.order;
  return (order == Order::kUp || order == Order::kDown) && !rules.port.restores();
}

}  // namespace

std::optional<std::string> harm_behind(Part part, const qos::Ruleset& rules,
                                       std::span<const Stranger> behind,
                                       const std::function<std::string()>& mark_need) {
  const bool marks = part == Part::kClassify && !rules.ingress.empty();
  const Stranger* ends = nullptr;
  for (const Stranger& s : behind) {
    const std::string who = s.name + " behind the rules ";
    const std::string_view remedy =
        ": delete it, or, if no lossless packets take the port, leave it out of `ports`";
    if (s.power.redirects && redirect_matters(rules))
      return fmt::format(
          "{}may send packets on by another interface ({}), where they count as come by that one, "
          "so that they do not turn{}",
          who, s.power.by, remedy);
    if (s.power.changes && change_matters(rules))
      return fmt::format("{}may change the class that the rules go by or give ({}){}", who,
                         s.power.by, remedy);
    if (ends == nullptr && s.power.decides) ends = &s;
  }
  if (!marks || ends == nullptr) return std::nullopt;
  const bool joins = std::ranges::any_of(behind, [](const Stranger& s) { return s.power.joins; });
  const std::string need =
      joins ? "fragments are known that are joined (ct), though they came by different ports, so "
              "that they leave in the class of the first"
            : mark_need();
  if (need.empty()) return std::nullopt;
  return fmt::format(
      "{} behind the rules ends the hook, and the kernel writes over the mark by which {}: {}, or, "
      "if no lossless packets take the port, leave it out of `ports`",
      ends->name, need, kRemedyOfEnd);
}

std::optional<std::string> harm_of_lists(const qos::Ruleset& rules, std::string_view interface) {
  // Whatever the order: what comes in here may leave by a port that changes its class.
  if (rules.ingress.empty()) return std::nullopt;
  return fmt::format(
      "rx-gro-list is on: the kernel forwards UDP packets that come in by {0} in lists, of which "
      "the "
      "rules change the first packet alone: ethtool -K {0} rx-gro-list off",
      interface);
}

std::optional<std::string> harm_of_nftables(const qos::Ruleset& rules, const NftBypass& past) {
  if (!redirect_matters(rules)) return std::nullopt;
  if (past.in_hardware)
    return fmt::format(
        "{} may let the hardware forward packets past the rules ({}): take `flags offload` off it, "
        "or, if no lossless packets take the port, leave it out of `ports`",
        past.source, past.by);
  return fmt::format(
      "{} at the egress may send packets on by another interface ({}), where they count as come by "
      "this port, so that turns are missed or made wrongly: delete the rule, or, if no lossless "
      "packets "
      "take the port, leave it out of `ports`",
      past.source, past.by);
}

std::optional<std::string> harm_of_route(const qos::Ruleset& rules, const BpfRoute& route) {
  if (!redirect_matters(rules)) return std::nullopt;
  return fmt::format(
      "a BPF program of a {0} ({1}, encap bpf xmit) may send packets into the ingress of an "
      "interface, where they count as come by that one, so that turns are missed or made wrongly: "
      "ip {0} del {1}",
      route.kind, route.which);
}

namespace {

/// `needed`: what the daemon was refused.
std::string remedy_of(int why, std::string_view needed) {
  return why == EPERM || why == EACCES
             ? fmt::format(
                   "allow lldp-leveld {}, which a MAC policy or a filter of system calls "
                   "may refuse",
                   needed)
             : std::string("it is tried again by itself");
}

}  // namespace

std::optional<std::string> doubt_of_lists(const qos::Ruleset& rules, std::string_view interface,
                                          int why) {
  if (why == 0 || rules.ingress.empty()) return std::nullopt;
  return fmt::format(
      "whether rx-gro-list is on at {0} cannot be read ({1}): of UDP packets in a list the rules "
      "change the first one alone: {2}",
      interface, std::strerror(why), remedy_of(why, "the ioctl SIOCETHTOOL"));
}

std::optional<std::string> doubt_of_nftables(const qos::Ruleset& rules, int why) {
  if (why == 0 || !redirect_matters(rules)) return std::nullopt;
  return fmt::format(
      "nftables cannot be read ({}): a chain there may send packets past the rules, unseen, so "
      "that turns are missed or made wrongly: {}",
      std::strerror(why), remedy_of(why, "CAP_NET_ADMIN and netlink sockets of NETLINK_NETFILTER"));
}

std::optional<std::string> doubt_of_mark(std::string_view unread) {
  if (unread.empty()) return std::nullopt;
  return fmt::format(
      "a filter behind the rules ends the hook, and the kernel writes over the mark by which the "
      "class is known that packets came in, and {} cannot be read, which may change it: {}, or, if "
      "no lossless packets take the port, leave it out of `ports`",
      unread, kRemedyOfEnd);
}

std::optional<std::string> doubt_of_routes(const qos::Ruleset& rules, int why) {
  if (why == 0 || !redirect_matters(rules)) return std::nullopt;
  constexpr std::string_view kHarm =
      "one with a BPF program may send packets past the rules, unseen, so that turns are missed or "
      "made wrongly";
  if (why == EINPROGRESS) return fmt::format("the routes are still being read: {}", kHarm);
  return fmt::format("routes cannot be read ({}): {}: {}", std::strerror(why), kHarm,
                     remedy_of(why, "CAP_BPF and netlink sockets of NETLINK_ROUTE"));
}

namespace {

/// The first that harms, else the XDP program; without a name: there is none.
Stranger first_of(std::span<const Stranger> strangers, const auto& harms,
                  std::uint32_t xdp_program) {
  const auto first = std::ranges::find_if(strangers, harms);
  if (first != strangers.end()) return *first;
  if (xdp_program == 0) return {};
  return {fmt::format("an XDP program ({})", xdp_program), power_of_program()};
}

}  // namespace

std::optional<std::string> harm_above(Part part, const qos::Ruleset& rules,
                                      const Stack::Link& upper,
                                      std::span<const Stranger> strangers) {
  const bool ingress = part == Part::kClassify;
  const bool marked = ingress ? rules.tag != qos::Tag() : rules.turning_tags != 0;
  if (upper.kind == "macsec" && (marked || !rules.entering.empty() || !rules.leaving.empty()))
    return fmt::format(
        "the programs of this port see packets of {0} encrypted (MACsec), so that they change none "
        "of them: name {0} in `ports` instead of this port, at both ends, or take {0} off",
        upper.name);
  if (upper.kind == "openvswitch" && !ingress && marked)
    return fmt::format(
        "Open vSwitch ({}) sends the first packets of a flow through a program, from which they "
        "come back as this machine's own, so that they do not turn: put the ports into a bridge "
        "of the kernel's own, or, if no lossless packets take the port, leave it out of `ports`",
        upper.name);
  const auto does = [&](const Stranger& s) {
    return (s.power.redirects && redirect_matters(rules)) ||
           (s.power.changes && change_matters(rules));
  };
  const auto harms = [&](const Stranger& s) { return (marked && s.power.decides) || does(s); };
  const Stranger source = first_of(strangers, harms, ingress && marked ? upper.xdp_program : 0);
  if (source.name.empty()) return std::nullopt;
  return fmt::format(
      "{} on {}, which stands on this port, may change, redirect or unmark packets between the "
      "rules of two ports, so that they do not turn: {}, or, if no lossless packets take the port, "
      "leave it out of `ports`",
      source.name, upper.name,
      does(source) ? "take it off " + upper.name : std::string(kRemedyOfEnd));
}

std::optional<std::string> harm_below(Part part, const qos::Ruleset& rules,
                                      const Stack::Link& lower, std::span<const Stranger> strangers,
                                      const std::optional<NftBypass>& by_nftables) {
  const auto harms = [&](const Stranger& s) {
    return (s.power.redirects && redirect_matters(rules)) ||
           (s.power.changes && change_matters(rules));
  };
  const bool redirects = redirect_matters(rules);
  std::string source =
      first_of(strangers, harms, part == Part::kClassify && redirects ? lower.xdp_program : 0).name;
  if (source.empty() && by_nftables && redirects)
    source = fmt::format("{}, {},", by_nftables->source, by_nftables->by);
  if (source.empty()) return std::nullopt;
  return fmt::format(
      "{} on {}, on which this port stands, may change, redirect or copy packets where the rules "
      "do not see it: take it off {}, or, if no lossless packets take the port, leave it out of "
      "`ports`",
      source, lower.name, lower.name);
}

Result<bool> Stack::read(TcSocket& socket) {
  std::map<Ifindex, LinkFacts> all;
  if (auto done = socket.links(
          Ifindex(), [&](Ifindex link, const LinkFacts& facts) { all.emplace(link, facts); });
      !done)
    return fail(done.error());
  const bool renamed = std::ranges::any_of(links_, [&](const auto& link) {
    const auto now = all.find(link.first);
    return now != all.end() && now->second.name != link.second.name;
  });
  links_ = std::move(all);
  above_.clear();
  below_.clear();
  for (const auto& [link, facts] : links_) {
    if (is_stacked(facts.kind, facts.lower != Ifindex()) && facts.lower != Ifindex())
      above_.emplace(facts.lower, link);
    if (facts.master != Ifindex() && facts.master != facts.lower)
      above_.emplace(link, facts.master);
  }
  for (const auto& [lower, upper] : above_) below_.emplace(upper, lower);
  return renamed;
}

std::string Stack::name_of(Ifindex interface) const {
  const auto link = links_.find(interface);
  return link == links_.end() ? std::string() : link->second.name;
}

namespace {
constexpr std::string_view kPairs[] = {"netkit", "veth"};
}  // namespace

bool Stack::is_end_of_container(Ifindex interface) const {
  const auto link = links_.find(interface);
  return link != links_.end() && link->second.lower == Ifindex() &&
         std::ranges::find(kPairs, link->second.kind) != std::end(kPairs);
}

std::set<Ifindex> Stack::passages(const std::set<Ifindex>& ports) const {
  // Packets end there, or go on by another interface than theirs, or are encrypted and of no class.
  // What is not known may lead on, as a tunnel does. L2TP has no kind, and no hardware.
  constexpr std::string_view kOthers[] = {
      "bond",  "bridge", "dsa",         "dummy", "hsr", "ifb",  "ipvtap", "macsec", "macvtap",
      "nlmon", "ppp",    "openvswitch", "team",  "tun", "vcan", "vlan",   "vrf",    "wireguard"};
  std::set<Ifindex> found;
  std::map<Ifindex, std::vector<Ifindex>> macvlans;  // by what they stand on
  for (const auto& [link, facts] : links_) {
    if (!facts.up) continue;
    // The other end of a container's pair is in another namespace, and has no number here.
    const auto other = links_.find(facts.lower);
    if (std::ranges::find(kPairs, facts.kind) != std::end(kPairs)) {
      if (other != links_.end() && other->second.up && !ports.contains(link) &&
          !ports.contains(other->first))
        found.insert(link);
    } else if (facts.kind == "macvlan") {
      if (facts.lower != Ifindex() && !ports.contains(link)) macvlans[facts.lower].push_back(link);
    } else if (facts.kind.empty() ? facts.virtual_ethernet && !ports.contains(link)
                                  : std::ranges::find(kOthers, facts.kind) == std::end(kOthers)) {
      found.insert(link);
    }
  }
  for (const auto& [lower, links] : macvlans)
    if (links.size() > 1) found.insert(links.begin(), links.end());
  return found;
}

std::vector<Stack::Link> Stack::along(Ifindex from,
                                      const std::multimap<Ifindex, Ifindex>& steps) const {
  std::vector<Link> found;
  std::set<Ifindex> known{from};
  std::deque<Ifindex> next{from};
  for (; !next.empty(); next.pop_front()) {
    const auto [begin, end] = steps.equal_range(next.front());
    for (auto at = begin; at != end; ++at) {
      if (!known.insert(at->second).second) continue;
      next.push_back(at->second);
      const auto link = links_.find(at->second);
      if (link != links_.end())
        found.push_back({at->second,
                         link->second.name,
                         link->second.kind,
                         link->second.xdp_program,
                         link->second.up,
                         {}});
    }
  }
  return found;
}

std::vector<Stack::Link> Stack::above(Ifindex port) const { return along(port, above_); }

std::vector<Stack::Link> Stack::below(Ifindex upper) const { return along(upper, below_); }

}  // namespace lldp::dataplane::bpf
