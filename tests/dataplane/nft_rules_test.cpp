// SPDX-License-Identifier: Apache-2.0
// What is made of the kernel's answers about nftables. The messages are made here: hardware that
// takes rules, and names of later kernels, are not in the kernels of the tests.
#include "dataplane/bpf/nft_rules.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Message {
 public:
  explicit Message(int type, std::uint8_t family = NFPROTO_NETDEV)
      : message_(nlmsg_alloc_simple(NFNL_SUBSYS_NFTABLES << 8 | type, 0)) {
    nfgenmsg head{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0};
    nlmsg_append(message_.get(), &head, sizeof head, NLMSG_ALIGNTO);
  }
  Message& text(int attribute, const std::string& value) {
    nla_put_string(message_.get(), attribute, value.c_str());
    return *this;
  }
  Message& octets(int attribute, const std::string& value) {
    nla_put(message_.get(), attribute, static_cast<int>(value.size()), value.data());
    return *this;
  }
  Message& number(int attribute, std::uint32_t value) {
    nla_put_u32(message_.get(), attribute, htonl(value));
    return *this;
  }
  Message& nest(int attribute, const std::function<void(Message&)>& fill) {
    nlattr* nest = nla_nest_start(message_.get(), attribute);
    fill(*this);
    nla_nest_end(message_.get(), nest);
    return *this;
  }
  Message& expression(const std::string& kind, const std::function<void(Message&)>& fill = {}) {
    return nest(NFTA_LIST_ELEM, [&](Message& m) {
      m.text(NFTA_EXPR_NAME, kind);
      if (fill) m.nest(NFTA_EXPR_DATA, fill);
    });
  }
  nlmsghdr* get() { return nlmsg_hdr(message_.get()); }

 private:
  std::unique_ptr<nl_msg, NlMsgFree> message_;
};

enum Hook : std::uint32_t { kIngress = 0, kEgress = 1, kInetIngress = 5 };

Message chain(Hook hook, const std::function<void(Message&)>& devices, std::uint32_t flags = 0,
              std::uint8_t family = NFPROTO_NETDEV) {
  Message message(NFT_MSG_NEWCHAIN, family);
  message.text(NFTA_CHAIN_TABLE, "t")
      .text(NFTA_CHAIN_NAME, "c")
      .number(NFTA_CHAIN_FLAGS, flags)
      .nest(NFTA_CHAIN_HOOK, [&](Message& m) {
        m.number(NFTA_HOOK_HOOKNUM, hook);
        devices(m);
      });
  return message;
}
void on_p0(Message& m) { m.text(NFTA_HOOK_DEV, "p0"); }

Message rule(const std::string& of, const std::function<void(Message&)>& fill) {
  Message message(NFT_MSG_NEWRULE);
  message.text(NFTA_RULE_TABLE, "t").text(NFTA_RULE_CHAIN, of).nest(NFTA_RULE_EXPRESSIONS, fill);
  return message;
}
void jump(Message& m, const std::string& to) {
  m.expression("immediate", [&](Message& data) {
    data.number(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT).nest(NFTA_IMMEDIATE_DATA, [&](Message& d) {
      d.nest(NFTA_DATA_VERDICT, [&](Message& v) {
        v.number(NFTA_VERDICT_CODE, static_cast<std::uint32_t>(NFT_JUMP))
            .text(NFTA_VERDICT_CHAIN, to);
      });
    });
  });
}

constexpr std::array kDone{"", " writes", " prioritizes", " copies"};
/// What sends packets on: `CHAIN EXPRESSION`, or does something else.
std::vector<std::string> bypasses(Message chain_of, std::vector<Message> rules_of) {
  std::vector<NftChain> chains;
  if (auto one = parse_nft_chain(chain_of.get())) chains.push_back(*one);
  std::vector<NftRule> rules;
  for (Message& m : rules_of)
    if (auto one = parse_nft_rule(m.get()); one && one->matters()) rules.push_back(*one);
  std::vector<std::string> found;
  for (const NftBypass& b : bypasses_of(chains, rules))
    found.push_back(b.source + " " + b.by + kDone.at(static_cast<std::size_t>(b.does)) +
                    (b.in_hardware ? " in hardware" : ""));
  return found;
}
template <class... M>
std::vector<Message> rules(M... m) {
  std::vector<Message> all;
  (all.push_back(std::move(m)), ...);
  return all;
}

TEST(NftRules, FamilyInetHasAnIngressOfItsOwn) {
  const auto read = [](Hook hook) {
    return parse_nft_chain(chain(hook, on_p0, 0, NFPROTO_INET).get());
  };
  ASSERT_TRUE(read(kInetIngress));
  EXPECT_EQ(read(kInetIngress)->table, "inet t");
  EXPECT_EQ(read(kInetIngress)->part, Part::kClassify);
  for (const Hook of_stack : {kIngress, kEgress}) {  // its prerouting and input
    ASSERT_TRUE(read(of_stack));
    EXPECT_EQ(read(of_stack)->part, std::nullopt);
  }
}
TEST(NftRules, ChainsOfTheStackAreOfNoPart) {
  for (const auto& [family, name] :
       {std::pair(NFPROTO_IPV4, "ip t"), std::pair(NFPROTO_IPV6, "ip6 t"),
        std::pair(NFPROTO_BRIDGE, "bridge t"), std::pair(NFPROTO_ARP, "arp t")}) {
    const auto one =
        parse_nft_chain(chain(
                            kIngress, [](Message&) {}, 0, static_cast<std::uint8_t>(family))
                            .get());
    ASSERT_TRUE(one) << name;
    EXPECT_EQ(one->table, name);
    EXPECT_EQ(one->part, std::nullopt);
    EXPECT_THAT(one->devices, IsEmpty());
  }
}
TEST(NftRules, InterfacesAreNamedOneSeveralOrByTheBeginningOfTheirNames) {
  const auto matched = [](const std::function<void(Message&)>& devices) {
    const auto its = parse_nft_chain(chain(kEgress, devices).get());
    std::string all;
    for (const char* name : {"p", "p0", "p1", "p10"})
      if (its && std::ranges::any_of(its->devices,
                                     [&](const NftDevice& device) { return device.matches(name); }))
        all += std::string(name) + " ";
    return all;
  };
  EXPECT_EQ(matched(on_p0), "p0 ");
  EXPECT_EQ(matched([](Message& m) {
              m.nest(NFTA_HOOK_DEVS, [](Message& d) {
                d.text(NFTA_DEVICE_NAME, "p0").text(NFTA_DEVICE_NAME, "p1");
              });
            }),
            "p0 p1 ");
  EXPECT_EQ(matched([](Message& m) {
              m.nest(NFTA_HOOK_DEVS, [](Message& d) { d.octets(NFTA_DEVICE_NAME, "p1"); });
            }),
            "p1 p10 ")
      << "Linux 6.16: a name without an end";
  EXPECT_EQ(matched([](Message& m) {
              m.nest(NFTA_HOOK_DEVS, [](Message& d) { d.text(2, "p1").text(3, "p0"); });
            }),
            "p1 p10 ")
      << "NFTA_DEVICE_PREFIX, and one that is not known";
  EXPECT_EQ(matched([](Message&) {}), "");
}

TEST(NftRules, OnlyExpressionsThatSendPacketsOnOrAlterThemAreTold) {
  const auto with = [](const char* kind, const std::function<void(Message&)>& fill = {}) {
    return bypasses(
        chain(kEgress, on_p0),
        rules(rule("c", [&](Message& m) { m.expression("cmp").expression(kind, fill); })));
  };
  const auto told = [](const std::string& what) {
    return ElementsAre("nftables (table netdev t, chain c) " + what);
  };
  for (const char* kind :
       {"counter", "payload", "meta", "limit", "lookup", "reject", "nat", "match"})
    EXPECT_THAT(with(kind), IsEmpty()) << kind;
  EXPECT_THAT(with("fwd"), told("fwd"));
  EXPECT_THAT(with("new\x1bone"),
              ElementsAre("nftables (table netdev t, chain c) new\\x1bone",
                          "nftables (table netdev t, chain c) new\\x1bone writes"));
  EXPECT_THAT(with("dup"), told("dup copies"));
  EXPECT_THAT(with("queue"), told("queue writes")) << "what user space does with it is not known";
  const auto target = [](const char* name) {
    return [=](Message& m) { m.text(NFTA_TARGET_NAME, name); };
  };
  EXPECT_THAT(with("target", target("MARK")), IsEmpty());
  EXPECT_THAT(with("target", target("DSCP")), told("target DSCP writes"));
  EXPECT_THAT(with("target", target("a\nb")), told("target a\\x0ab writes"));
  EXPECT_THAT(with("target", target("CLASSIFY")), told("target CLASSIFY prioritizes"));
  EXPECT_THAT(with("target", target("snat")), IsEmpty());  // of ebtables
  EXPECT_THAT(with("target", target("TEE")), told("target TEE copies"));
  const auto meta = [](std::uint32_t key, int reg) {
    return [=](Message& m) { m.number(NFTA_META_KEY, key).number(reg, 1); };
  };
  EXPECT_THAT(with("meta", meta(NFT_META_PRIORITY, NFTA_META_SREG)), told("meta prioritizes"));
  EXPECT_THAT(with("meta", meta(NFT_META_MARK, NFTA_META_SREG)), IsEmpty());
  EXPECT_THAT(with("meta", meta(NFT_META_PRIORITY, NFTA_META_DREG)), IsEmpty());
}

TEST(NftRules, WritesToAddressesAndPortsChangeNoClass) {
  const auto write = [](std::uint32_t base, std::uint32_t at, std::uint32_t length,
                        int reg = NFTA_PAYLOAD_SREG) {
    return !bypasses(chain(kEgress, on_p0), rules(rule("c",
                                                       [&](Message& m) {
                                                         m.expression("payload", [&](Message& d) {
                                                           d.number(reg, 1)
                                                               .number(NFTA_PAYLOAD_BASE, base)
                                                               .number(NFTA_PAYLOAD_OFFSET, at)
                                                               .number(NFTA_PAYLOAD_LEN, length);
                                                         });
                                                       })))
                .empty();
  };
  EXPECT_TRUE(write(NFT_PAYLOAD_NETWORK_HEADER, 0, 2));  // as `ip dscp set` and `ip6 dscp set`
  EXPECT_TRUE(write(NFT_PAYLOAD_NETWORK_HEADER, 1, 1));
  EXPECT_FALSE(write(NFT_PAYLOAD_NETWORK_HEADER, 0, 2, NFTA_PAYLOAD_DREG)) << "read";
  EXPECT_FALSE(write(NFT_PAYLOAD_NETWORK_HEADER, 12, 4)) << "the source's address";
  EXPECT_FALSE(write(NFT_PAYLOAD_LL_HEADER, 6, 6)) << "the source's address";
  EXPECT_TRUE(write(NFT_PAYLOAD_LL_HEADER, 14, 2)) << "a VLAN tag";
  EXPECT_TRUE(write(NFT_PAYLOAD_LL_HEADER, 0, 16));
  EXPECT_TRUE(write(NFT_PAYLOAD_LL_HEADER, 4, 0xffffffff));
  EXPECT_FALSE(write(NFT_PAYLOAD_TRANSPORT_HEADER, 0, 4)) << "ports";
  EXPECT_TRUE(write(99, 0, 2)) << "a header that is not known";
}

TEST(NftRules, ChainsAreFollowedThatARuleOrAMapLeadsTo) {
  const auto fwd = [](Message& m) { m.expression("fwd"); };
  const auto to = [](const char* next) { return [=](Message& m) { jump(m, next); }; };
  const auto map = [](std::uint32_t reg) {
    return [=](Message& m) {
      m.expression("lookup", [&](Message& d) { d.number(NFTA_LOOKUP_DREG, reg); });
    };
  };
  EXPECT_THAT(bypasses(chain(kEgress, on_p0),
                       rules(rule("e", fwd), rule("d", to("e")), rule("c", to("d")))),
              ElementsAre("nftables (table netdev t, chain e) fwd"));
  EXPECT_THAT(bypasses(chain(kEgress, on_p0), rules(rule("e", fwd), rule("c", to("d")))),
              IsEmpty());
  EXPECT_THAT(
      bypasses(chain(kEgress, on_p0), rules(rule("e", fwd), rule("c", map(NFT_REG_VERDICT)))),
      ElementsAre("nftables (table netdev t, chain e) fwd"));
  EXPECT_THAT(bypasses(chain(kEgress, on_p0), rules(rule("e", fwd), rule("c", map(NFT_REG_1)))),
              IsEmpty());
  EXPECT_THAT(bypasses(chain(kEgress, on_p0), rules(rule("c", to("d")), rule("d", to("c")))),
              IsEmpty())
      << "a cycle, which the kernel does not allow, ends";
}

TEST(NftRules, WhatHardwareForwardsIsTold) {
  EXPECT_THAT(bypasses(chain(kIngress, on_p0, NFT_CHAIN_HW_OFFLOAD),
                       rules(rule("c", [](Message& m) { m.expression("fwd").expression("dup"); }))),
              ElementsAre("nftables (table netdev t, chain c) fwd in hardware",
                          "nftables (table netdev t, chain c) dup copies in hardware"));

  const auto flowtable = [](std::uint32_t flags) {
    Message message(NFT_MSG_NEWFLOWTABLE, NFPROTO_INET);
    message.text(NFTA_FLOWTABLE_TABLE, "t")
        .text(NFTA_FLOWTABLE_NAME, "f")
        .number(NFTA_FLOWTABLE_FLAGS, flags)
        .nest(NFTA_FLOWTABLE_HOOK, [](Message& m) {
          m.nest(NFTA_FLOWTABLE_HOOK_DEVS, [](Message& d) { d.text(NFTA_DEVICE_NAME, "p0"); });
        });
    return parse_nft_flowtable(message.get());
  };
  EXPECT_EQ(flowtable(0), std::nullopt);
  const auto told = flowtable(NFT_FLOWTABLE_HW_OFFLOAD);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->source, "nftables (table inet t, flowtable f)");
  EXPECT_THAT(told->devices, ElementsAre(NftDevice{"p0"}));
}

TEST(NftRules, TablesThatSleepAreKnown) {
  const auto dormant = [](std::uint32_t flags) {
    return parse_dormant_table(
        Message(NFT_MSG_NEWTABLE).text(NFTA_TABLE_NAME, "t").number(NFTA_TABLE_FLAGS, flags).get());
  };
  EXPECT_EQ(dormant(NFT_TABLE_F_DORMANT), "netdev t");
  EXPECT_EQ(dormant(0), std::nullopt);
}

TEST(NftRules, OtherMessagesAndChainsWithoutHookAreNone) {
  EXPECT_FALSE(parse_nft_chain(Message(NFT_MSG_NEWRULE).get()));
  EXPECT_FALSE(parse_nft_chain(Message(NFT_MSG_NEWCHAIN).text(NFTA_CHAIN_NAME, "c").get()));
  EXPECT_FALSE(parse_nft_rule(Message(NFT_MSG_NEWCHAIN).get()));
  EXPECT_FALSE(parse_nft_flowtable(Message(NFT_MSG_NEWCHAIN).get()));
  EXPECT_FALSE(parse_dormant_table(Message(NFT_MSG_NEWCHAIN).get()));
}

}  // namespace
}  // namespace lldp::dataplane::bpf
