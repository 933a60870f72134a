// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/nft_rules.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// Of enum nf_dev_hooks, which headers before Linux 5.16 have in part; the other one is the egress.
constexpr std::uint32_t kIngressHook = 0;
constexpr std::uint32_t kInetIngressHook = 5;  // NF_INET_INGRESS, Linux 5.10
constexpr int kDevicePrefix = 2;               // NFTA_DEVICE_PREFIX, Linux 6.18
/// The last of enum nft_payload_bases that begins behind the IP header: NFT_PAYLOAD_TUN_HEADER,
/// Linux 6.2.
constexpr std::uint32_t kInnerHeader = 4;

/// Expressions that leave a packet on its way and in its class: they read, count, mark, end it, or
/// change its addresses. A few do more with certain options: add_expression().
constexpr std::string_view kHarmless[] = {
    "bitwise",      "byteorder", "cmp",    "connlimit", "counter", "ct",        "dynset", "exthdr",
    "flow_offload", "fib",       "hash",   "inner",     "last",    "immediate", "limit",  "log",
    "masq",         "match",     "meta",   "nat",       "lookup",  "notrack",   "numgen", "osf",
    "payload",      "quota",     "objref", "range",     "redir",   "reject",    "rt",     "socket",
    "tproxy",       "synproxy",  "target", "tunnel",    "xfrm"};

/// Targets of iptables and ebtables, in an expression `target`, that do the same.
constexpr std::string_view kHarmlessTargets[] = {
    "AUDIT",       "CHECKSUM", "CONNMARK", "CONNSECMARK", "CT",       "DNAT",
    "DNPT",        "ECN",      "ERROR",    "HL",          "HMARK",    "IDLETIMER",
    "LED",         "LOG",      "MARK",     "NETMAP",      "NFLOG",    "NOTRACK",
    "RATEEST",     "REDIRECT", "REJECT",   "SECMARK",     "SNAT",     "SNPT",
    "SYNPROXY",    "TCPMSS",   "TPROXY",   "TRACE",       "TTL",      "MASQUERADE",
    "TCPOPTSTRIP", "arpreply", "dnat",     "mark",        "redirect", "snat"};

template <std::size_t N>
using Attributes = std::array<nlattr*, N>;

/// Those of a nested attribute; none where it is not there or not whole.
template <std::size_t N>
Attributes<N> parts_of(nlattr* nest) {
  Attributes<N> parts{};
  if (nest != nullptr && nla_parse_nested(parts.data(), N - 1, nest, nullptr) < 0) parts = {};
  return parts;
}

/// Those of a message of this type.
template <std::size_t N>
std::optional<Attributes<N>> parts_of(nlmsghdr* message, int type) {
  Attributes<N> parts{};
  if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | type) ||
      nlmsg_parse(message, sizeof(nfgenmsg), parts.data(), N - 1, nullptr) < 0)
    return std::nullopt;
  return parts;
}

/// As far as its end, or the attribute's.
std::string text_of(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  const std::string_view octets(static_cast<const char*>(nla_data(attribute)),
                                static_cast<std::size_t>(nla_len(attribute)));
  return std::string(octets.substr(0, octets.find('\0')));
}

std::uint32_t number_of(const nlattr* attribute) {
  return ntohl(value_of<std::uint32_t>(attribute).value_or(0));
}

std::optional<NftDevice> device_of(const nlattr* attribute) {
  NftDevice device{text_of(attribute)};
  // Linux 6.16 tells a prefix by a name without an end.
  device.prefix = nla_type(attribute) == kDevicePrefix ||
                  device.name.size() == static_cast<std::size_t>(nla_len(attribute));
  if (nla_type(attribute) != NFTA_DEVICE_NAME && nla_type(attribute) != kDevicePrefix)
    return std::nullopt;
  return device;
}

std::vector<NftDevice> devices_of(nlattr* one, nlattr* several) {
  std::vector<NftDevice> devices;
  if (several != nullptr) {
    nlattr* device = nullptr;
    int left = 0;
    nla_for_each_nested(device, several, left) if (auto its = device_of(device))
        devices.push_back(std::move(*its));
  } else if (one != nullptr) {
    devices.push_back({text_of(one)});
  }
  return devices;
}

/// Where a verdict leads, if it is a jump.
void add_verdict(NftRule& rule, nlattr* options) {
  const auto parts = parts_of<NFTA_IMMEDIATE_MAX + 1>(options);
  const auto data = parts_of<NFTA_DATA_MAX + 1>(parts[NFTA_IMMEDIATE_DATA]);
  const auto verdict = parts_of<NFTA_VERDICT_MAX + 1>(data[NFTA_DATA_VERDICT]);
  if (verdict[NFTA_VERDICT_CHAIN] != nullptr)
    rule.leads_to.push_back(text_of(verdict[NFTA_VERDICT_CHAIN]));
}

/// Whether what is written may be DSCP or a VLAN tag. Before the tags stand two addresses.
bool writes_class(nlattr* options) {
  constexpr std::uint64_t kAddresses = 12;
  constexpr std::uint64_t kTos = 2;
  const auto parts = parts_of<NFTA_PAYLOAD_MAX + 1>(options);
  if (parts[NFTA_PAYLOAD_SREG] == nullptr) return false;
  const std::uint64_t at = number_of(parts[NFTA_PAYLOAD_OFFSET]);
  const std::uint32_t base = number_of(parts[NFTA_PAYLOAD_BASE]);
  if (base == NFT_PAYLOAD_LL_HEADER) return at + number_of(parts[NFTA_PAYLOAD_LEN]) > kAddresses;
  return base == NFT_PAYLOAD_NETWORK_HEADER ? at < kTos : base > kInnerHeader;
}

void add_target(NftRule& rule, nlattr* options) {
  const std::string name = text_of(parts_of<NFTA_TARGET_MAX + 1>(options)[NFTA_TARGET_NAME]);
  if (const auto does = done_by_target(name))
    rule.by.at(static_cast<std::size_t>(*does)) = "target " + escape(name);
}

void add_expression(NftRule& rule, nlattr* expression) {
  const auto parts = parts_of<NFTA_EXPR_MAX + 1>(expression);
  const std::string kind = text_of(parts[NFTA_EXPR_NAME]);
  nlattr* const options = parts[NFTA_EXPR_DATA];
  const auto does = [&](NftDoes what) {
    rule.by.at(static_cast<std::size_t>(what)) =
        kind.empty() ? "an expression that cannot be read" : escape(kind);
  };
  if (kind == "immediate") add_verdict(rule, options);
  if (kind == "lookup") {
    const nlattr* to = parts_of<NFTA_LOOKUP_MAX + 1>(options)[NFTA_LOOKUP_DREG];
    if (to != nullptr && number_of(to) == NFT_REG_VERDICT) rule.leads_anywhere = true;
  }
  if (kind == "target") add_target(rule, options);
  if (kind == "payload" && writes_class(options)) does(NftDoes::kWrites);
  if (kind == "meta") {
    const auto meta = parts_of<NFTA_META_MAX + 1>(options);
    if (meta[NFTA_META_SREG] != nullptr && number_of(meta[NFTA_META_KEY]) == NFT_META_PRIORITY)
      does(NftDoes::kPrioritizes);
  }
  if (std::ranges::find(kHarmless, kind) != std::end(kHarmless)) return;
  if (kind == "dup") return does(NftDoes::kCopies);
  if (kind != "queue") does(NftDoes::kSendsOn);
  if (kind != "fwd") does(NftDoes::kWrites);
}

std::uint8_t family_of(nlmsghdr* message) {
  return static_cast<const nfgenmsg*>(nlmsg_data(message))->nfgen_family;
}

/// With the family before it.
std::string table_of(nlmsghdr* message, const nlattr* name) {
  const std::uint8_t family = family_of(message);
  const std::string_view text = family == NFPROTO_NETDEV   ? "netdev"
                                : family == NFPROTO_INET   ? "inet"
                                : family == NFPROTO_IPV6   ? "ip6"
                                : family == NFPROTO_BRIDGE ? "bridge"
                                : family == NFPROTO_ARP    ? "arp"
                                                           : "ip";
  return fmt::format("{} {}", text, text_of(name));
}

std::string source_of(std::string_view table, std::string_view what, std::string_view name) {
  return fmt::format("nftables (table {}, {} {})", escape(table), what, escape(name));
}

}  // namespace

std::optional<NftDoes> done_by_target(std::string_view target) {
  if (std::ranges::find(kHarmlessTargets, target) != std::end(kHarmlessTargets))
    return std::nullopt;
  if (target == "TEE") return NftDoes::kCopies;
  return target == "CLASSIFY" || target == "SET" ? NftDoes::kPrioritizes : NftDoes::kWrites;
}

std::optional<NftChain> parse_nft_chain(nlmsghdr* message) {
  const auto parts = parts_of<NFTA_CHAIN_MAX + 1>(message, NFT_MSG_NEWCHAIN);
  if (!parts || (*parts)[NFTA_CHAIN_HOOK] == nullptr) return std::nullopt;
  const auto hook = parts_of<NFTA_HOOK_MAX + 1>((*parts)[NFTA_CHAIN_HOOK]);
  const std::uint32_t number = number_of(hook[NFTA_HOOK_HOOKNUM]);
  const bool netdev = family_of(message) == NFPROTO_NETDEV;
  const bool inet = family_of(message) == NFPROTO_INET;
  std::optional<Part> part;
  if ((netdev && number == kIngressHook) || (inet && number == kInetIngressHook))
    part = Part::kClassify;
  else if (netdev)
    part = Part::kRemap;
  return NftChain{.table = table_of(message, (*parts)[NFTA_CHAIN_TABLE]),
                  .name = text_of((*parts)[NFTA_CHAIN_NAME]),
                  .part = part,
                  .devices = devices_of(hook[NFTA_HOOK_DEV], hook[NFTA_HOOK_DEVS]),
                  .offloaded = (number_of((*parts)[NFTA_CHAIN_FLAGS]) & NFT_CHAIN_HW_OFFLOAD) != 0};
}

std::optional<NftRule> parse_nft_rule(nlmsghdr* message) {
  const auto parts = parts_of<NFTA_RULE_MAX + 1>(message, NFT_MSG_NEWRULE);
  if (!parts) return std::nullopt;
  NftRule rule{.table = table_of(message, (*parts)[NFTA_RULE_TABLE]),
               .chain = text_of((*parts)[NFTA_RULE_CHAIN])};
  if (nlattr* const expressions = (*parts)[NFTA_RULE_EXPRESSIONS]) {
    nlattr* expression = nullptr;
    int left = 0;
    nla_for_each_nested(expression, expressions, left) add_expression(rule, expression);
  }
  return rule;
}

std::optional<std::string> parse_dormant_table(nlmsghdr* message) {
  const auto parts = parts_of<NFTA_TABLE_MAX + 1>(message, NFT_MSG_NEWTABLE);
  if (!parts || (number_of((*parts)[NFTA_TABLE_FLAGS]) & NFT_TABLE_F_DORMANT) == 0)
    return std::nullopt;
  return table_of(message, (*parts)[NFTA_TABLE_NAME]);
}

std::optional<NftBypass> parse_nft_flowtable(nlmsghdr* message) {
  const auto parts = parts_of<NFTA_FLOWTABLE_MAX + 1>(message, NFT_MSG_NEWFLOWTABLE);
  if (!parts || (number_of((*parts)[NFTA_FLOWTABLE_FLAGS]) & NFT_FLOWTABLE_HW_OFFLOAD) == 0)
    return std::nullopt;
  const auto hook = parts_of<NFTA_FLOWTABLE_HOOK_MAX + 1>((*parts)[NFTA_FLOWTABLE_HOOK]);
  return NftBypass{.part = Part::kClassify,
                   .does = NftDoes::kSendsOn,
                   .in_hardware = true,
                   .devices = devices_of(nullptr, hook[NFTA_FLOWTABLE_HOOK_DEVS]),
                   .source = source_of(table_of(message, (*parts)[NFTA_FLOWTABLE_TABLE]),
                                       "flowtable", text_of((*parts)[NFTA_FLOWTABLE_NAME])),
                   .by = "flags offload"};
}

bool NftRule::matters() const {
  return !leads_to.empty() || leads_anywhere ||
         std::ranges::any_of(by, [](const std::string& b) { return !b.empty(); });
}

std::vector<NftBypass> bypasses_of(std::span<const NftChain> chains,
                                   std::span<const NftRule> rules) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const NftRule*>> of_chain;
  std::map<std::string_view, std::set<std::string_view>> of_table;
  for (const NftRule& rule : rules) {
    of_chain[{rule.table, rule.chain}].push_back(&rule);
    of_table[rule.table].insert(rule.chain);
  }
  std::vector<NftBypass> found;
  for (const NftChain& chain : chains) {
    std::deque<std::string_view> reached{chain.name};
    std::set<std::string_view> known{chain.name};
    const auto reach = [&](std::string_view next) {
      if (known.insert(next).second) reached.push_back(next);
    };
    std::array<const NftRule*, kNftDoes> first{};
    bool anywhere = false;
    for (; !reached.empty(); reached.pop_front()) {
      const auto its = of_chain.find({chain.table, reached.front()});
      if (its == of_chain.end()) continue;
      for (const NftRule* rule : its->second) {
        for (std::size_t does = 0; does < kNftDoes; ++does)
          if (first[does] == nullptr && !rule->by.at(does).empty()) first[does] = rule;
        for (const std::string& next : rule->leads_to) reach(next);
        if (rule->leads_anywhere && !std::exchange(anywhere, true))
          for (const std::string_view any : of_table[chain.table]) reach(any);
      }
    }
    for (std::size_t does = 0; does < kNftDoes; ++does)
      if (const NftRule* rule = first[does])
        found.push_back({chain.part, static_cast<NftDoes>(does), chain.offloaded, chain.devices,
                         source_of(chain.table, "chain", rule->chain), rule->by.at(does)});
  }
  return found;
}

}  // namespace lldp::dataplane::bpf
