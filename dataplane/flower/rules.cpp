// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flower/rules.hpp"

#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_csum.h>
#include <linux/tc_act/tc_gact.h>
#include <linux/tc_act/tc_pedit.h>
#include <linux/tc_act/tc_skbedit.h>
#include <netinet/in.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace lldp::dataplane::flower {
namespace {

constexpr std::uint32_t kTurns = 1;  ///< chain
constexpr std::uint32_t kFromPort = 10;
/// Of a chain, by family.
constexpr std::pair<std::uint16_t, std::uint32_t> kFamilies[] = {{ETH_P_IP, 20}, {ETH_P_IPV6, 21}};
constexpr std::uint8_t kDscpMask = 0xfc;

/// What stays of the first 32 bits of an IP header when its DSCP is replaced, and where that is.
struct Place {
  std::uint32_t keep = 0;
  unsigned shift = 0;
};
constexpr Place place_of(std::uint16_t protocol) {
  return protocol == ETH_P_IP ? Place{0xff03ffff, 18} : Place{0xf03fffff, 22};
}

/// tc_pedit_sel with one key; in C its array has no size.
struct Pedit {
  std::array<std::uint8_t, sizeof(tc_pedit_sel)> head{};
  tc_pedit_key key{};
};

/// The fields that all actions begin with.
struct Generic {
  std::uint32_t index = 0;
  std::uint32_t capab = 0;
  int action = TC_ACT_PIPE;
  int refcnt = 0;
  int bindcnt = 0;
};
static_assert(sizeof(Generic) == sizeof(tc_gact));

std::uint32_t info_of(const Filter& filter) {
  return filter.preference << 16 | htons(filter.protocol);
}

std::uint32_t number_of(Block block) { return static_cast<std::uint32_t>(block); }

/// Actions in the order in which they are done.
class Actions {
 public:
  explicit Actions(TcMessage& message) : message_(message) {}
  void add(const char* kind, const std::function<void(TcMessage&)>& options) {
    message_.nest(++count_, [&](TcMessage& m) {
      m.text(TCA_ACT_KIND, kind);
      m.nest(TCA_ACT_OPTIONS, options);
    });
  }

 private:
  TcMessage& message_;
  int count_ = 0;
};

void fill_actions(TcMessage& message, const Filter& f, Mode mode) {
  Actions actions(message);
  if (f.jump) {
    tc_gact go{};
    go.action = static_cast<int>(TC_ACT_GOTO_CHAIN | *f.jump);
    actions.add("gact", [&](TcMessage& m) { m.octets(TCA_GACT_PARMS, &go, sizeof go); });
  }
  if (f.rewrite) {
    const Place place = place_of(f.protocol);
    const Generic generic;
    Pedit pedit;
    std::memcpy(pedit.head.data(), &generic, sizeof generic);
    pedit.head[offsetof(tc_pedit_sel, nkeys)] = 1;
    pedit.key.mask = htonl(place.keep);
    pedit.key.val = htonl(std::uint32_t{f.rewrite->value()} << place.shift);
    const std::uint16_t header =
        f.protocol == ETH_P_IP ? TCA_PEDIT_KEY_EX_HDR_TYPE_IP4 : TCA_PEDIT_KEY_EX_HDR_TYPE_IP6;
    const std::uint16_t command = TCA_PEDIT_KEY_EX_CMD_SET;
    actions.add("pedit", [&](TcMessage& m) {
      m.octets(TCA_PEDIT_PARMS_EX, &pedit, sizeof pedit);
      m.nest(TCA_PEDIT_KEYS_EX, [&](TcMessage& keys) {
        keys.nest(TCA_PEDIT_KEY_EX, [&](TcMessage& key) {
          key.octets(TCA_PEDIT_KEY_EX_HTYPE, &header, sizeof header);
          key.octets(TCA_PEDIT_KEY_EX_CMD, &command, sizeof command);
        });
      });
    });
    // Hardware mends the checksum by itself, and drivers refuse to be told so.
    if (mode == Mode::kSoftware && f.protocol == ETH_P_IP) {
      tc_csum sum{};
      sum.action = TC_ACT_PIPE;
      sum.update_flags = TCA_CSUM_UPDATE_FLAG_IPV4HDR;
      actions.add("csum", [&](TcMessage& m) { m.octets(TCA_CSUM_PARMS, &sum, sizeof sum); });
    }
  }
  if (f.priority) {
    tc_skbedit edit{};
    edit.action = TC_ACT_PIPE;
    actions.add("skbedit", [&](TcMessage& m) {
      m.octets(TCA_SKBEDIT_PARMS, &edit, sizeof edit);
      m.number(TCA_SKBEDIT_PRIORITY, f.priority->value());
    });
  }
}

void parse_action(nlattr* action, Found& found) {
  std::array<nlattr*, TCA_ACT_MAX + 1> parts{};
  std::array<nla_policy, TCA_ACT_MAX + 1> action_policy{};
  action_policy[TCA_ACT_KIND].type = NLA_STRING;  // which has to end
  if (nla_parse_nested(parts.data(), TCA_ACT_MAX, action, action_policy.data()) < 0) return;
  if (!parts[TCA_ACT_KIND] || !parts[TCA_ACT_OPTIONS]) return;
  const std::string_view kind = nla_get_string(parts[TCA_ACT_KIND]);
  std::array<nlattr*, 16> options{};
  if (nla_parse_nested(options.data(), 15, parts[TCA_ACT_OPTIONS], nullptr) < 0) return;
  if (kind == "gact") {
    const auto go = value_of<tc_gact>(options[TCA_GACT_PARMS]);
    if (go && (go->action & ~TC_ACT_EXT_VAL_MASK) == TC_ACT_GOTO_CHAIN)
      found.filter.jump = static_cast<std::uint32_t>(go->action & TC_ACT_EXT_VAL_MASK);
  } else if (kind == "pedit") {
    const auto pedit = value_of<Pedit>(options[TCA_PEDIT_PARMS_EX]);
    const Place place = place_of(found.filter.protocol);
    if (pedit && pedit->head[offsetof(tc_pedit_sel, nkeys)] == 1 && pedit->key.off == 0 &&
        pedit->key.mask == htonl(place.keep))
      found.filter.rewrite = Dscp::make(ntohl(pedit->key.val) >> place.shift);
  } else if (kind == "csum") {
    const auto sum = value_of<tc_csum>(options[TCA_CSUM_PARMS]);
    found.checksum = sum && (sum->update_flags & TCA_CSUM_UPDATE_FLAG_IPV4HDR) != 0;
  } else if (kind == "skbedit") {
    if (const auto priority = value_of<std::uint32_t>(options[TCA_SKBEDIT_PRIORITY]))
      found.filter.priority = Priority::make(*priority);
  }
  std::array<nlattr*, TCA_STATS_MAX + 1> stats{};
  if (parts[TCA_ACT_STATS] &&
      nla_parse_nested(stats.data(), TCA_STATS_MAX, parts[TCA_ACT_STATS], nullptr) == 0)
    if (const auto basic = value_of<gnet_stats_basic>(stats[TCA_STATS_BASIC]))
      found.packets = basic->packets;
}

}  // namespace

bool Found::does(const Filter& want) const {
  const bool mends = mode == Mode::kSoftware && want.rewrite && want.protocol == ETH_P_IP;
  return filter == want && checksum == mends && (mode == Mode::kSoftware || in_hardware);
}

std::set<Filter> shared_filters(Block block, const qos::Ruleset& rules) {
  std::set<Filter> filters;
  const auto add = [&](std::uint32_t chain, Dscp dscp, std::optional<Dscp> rewrite,
                       Priority priority) {
    for (const auto& [protocol, preference] : kFamilies)
      filters.insert({.chain = chain,
                      .preference = preference,
                      .protocol = protocol,
                      .handle = dscp.value() + 1U,
                      .dscp = dscp,
                      .rewrite = rewrite,
                      .priority = priority});
  };
  const bool leaves = block == Block::kRestoring || block == Block::kShut;
  const auto& rewritten = block == Block::kShutIngress ? rules.entering
                          : leaves                     ? rules.leaving
                                                       : std::vector<qos::Remap>();
  for (const qos::Class c : rules.ingress)
    if (std::ranges::none_of(rewritten, [&](const qos::Remap& r) { return r.from.dscp == c.dscp; }))
      add(0, c.dscp, std::nullopt, c.priority);
  for (const qos::Remap& r : rewritten) add(0, r.from.dscp, r.to.dscp, r.to.priority);
  if (block == Block::kUp)
    for (const qos::Remap& turn : rules.remaps)
      add(kTurns, turn.from.dscp, turn.to.dscp, turn.to.priority);
  return filters;
}

Filter from_port(Ifindex port, const std::string& name) {
  return {.preference = kFromPort,
          .protocol = ETH_P_ALL,
          .handle = port.value(),
          .in = name,
          .jump = kTurns};
}

bool is_from_port(const Filter& filter) {
  return filter.chain == 0 && filter.preference == kFromPort && filter.protocol == ETH_P_ALL;
}

TcMessage put_message(Block block, const Filter& f, Mode mode) {
  TcMessage message =
      TcMessage::of_block(RTM_NEWTFILTER, NLM_F_CREATE, number_of(block), f.handle, info_of(f));
  message.text(TCA_KIND, "flower");
  if (f.chain != 0) message.number(TCA_CHAIN, f.chain);
  message.options([&](TcMessage& o) {
    if (!f.in.empty()) o.text(TCA_FLOWER_INDEV, f.in);
    o.number(TCA_FLOWER_FLAGS,
             mode == Mode::kHardware ? TCA_CLS_FLAGS_SKIP_SW : TCA_CLS_FLAGS_SKIP_HW);
    if (f.protocol != ETH_P_ALL) {
      const std::uint16_t type = htons(f.protocol);
      o.octets(TCA_FLOWER_KEY_ETH_TYPE, &type, sizeof type);
    }
    if (f.dscp) {
      const auto tos = static_cast<std::uint8_t>(f.dscp->value() << 2);
      o.octets(TCA_FLOWER_KEY_IP_TOS, &tos, sizeof tos);
      o.octets(TCA_FLOWER_KEY_IP_TOS_MASK, &kDscpMask, sizeof kDscpMask);
    }
    o.nest(TCA_FLOWER_ACT, [&](TcMessage& m) { fill_actions(m, f, mode); });
  });
  return message;
}

TcMessage delete_message(Block block, const Filter& f) {
  TcMessage message =
      TcMessage::of_block(RTM_DELTFILTER, 0, number_of(block), f.handle, info_of(f));
  message.text(TCA_KIND, "flower");
  if (f.chain != 0) message.number(TCA_CHAIN, f.chain);
  return message;
}

TcMessage dump_message(Block block) {
  return TcMessage::of_block(RTM_GETTFILTER, NLM_F_DUMP, number_of(block));
}

std::optional<Found> parse(const TcObject& object) {
  if (object.kind != "flower" || object.handle == 0 || object.options == nullptr)
    return std::nullopt;
  std::array<nlattr*, TCA_FLOWER_MAX + 1> options{};
  std::array<nla_policy, TCA_FLOWER_MAX + 1> policy{};
  policy[TCA_FLOWER_INDEV].type = NLA_STRING;  // which has to end
  if (nla_parse_nested(options.data(), TCA_FLOWER_MAX, object.options, policy.data()) < 0)
    return std::nullopt;
  Found found{.filter = {.chain = object.chain,
                         .preference = object.info >> 16,
                         .protocol = ntohs(static_cast<std::uint16_t>(object.info & 0xffff)),
                         .handle = object.handle}};
  if (options[TCA_FLOWER_INDEV]) found.filter.in = nla_get_string(options[TCA_FLOWER_INDEV]);
  const auto tos = value_of<std::uint8_t>(options[TCA_FLOWER_KEY_IP_TOS]);
  const auto mask = value_of<std::uint8_t>(options[TCA_FLOWER_KEY_IP_TOS_MASK]);
  if (tos && mask == kDscpMask) found.filter.dscp = Dscp::make(*tos >> 2);
  const auto flags = value_of<std::uint32_t>(options[TCA_FLOWER_FLAGS]).value_or(0);
  found.mode = (flags & TCA_CLS_FLAGS_SKIP_SW) != 0 ? Mode::kHardware : Mode::kSoftware;
  found.in_hardware = (flags & TCA_CLS_FLAGS_IN_HW) != 0;
  if (options[TCA_FLOWER_ACT]) {
    int left = nla_len(options[TCA_FLOWER_ACT]);
    for (auto* at = static_cast<nlattr*>(nla_data(options[TCA_FLOWER_ACT])); nla_ok(at, left);
         at = nla_next(at, &left))
      parse_action(at, found);
  }
  return found;
}

}  // namespace lldp::dataplane::flower
