// SPDX-License-Identifier: Apache-2.0
// What is made of the kernel's answers about nftables. The messages are made here: hardware that
// takes rules, and names of later kernels, are not in the kernels of the tests.
#include "dataplane/bpf/nft_rules.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <functional>
#include <memory>
#include <string>
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

/// What sends packets on: `CHAIN EXPRESSION`.
std::vector<std::string> bypasses(Message chain_of, std::vector<Message> rules_of) {
  std::vector<NftChain> chains;
  if (auto one = parse_nft_chain(chain_of.get())) chains.push_back(*one);
  std::vector<NftRule> rules;
  for (Message& m : rules_of)
    if (auto one = parse_nft_rule(m.get()); one && one->matters()) rules.push_back(*one);
  std::vector<std::string> found;
  for (const NftBypass& b : bypasses_of(chains, rules))
    found.push_back(b.source + " " + b.by + (b.sends_on ? "" : " alters") +
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
  EXPECT_FALSE(read(kIngress));  // its prerouting
  EXPECT_FALSE(read(kEgress));   // its input
  EXPECT_FALSE(parse_nft_chain(chain(kInetIngress, on_p0).get()));
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
  for (const char* kind : {"counter", "payload", "meta", "limit", "lookup", "reject"})
    EXPECT_THAT(with(kind), IsEmpty()) << kind;
  EXPECT_THAT(with("fwd"), ElementsAre("nftables (table netdev t, chain c) fwd"));
  EXPECT_THAT(with("new\x1bone"), ElementsAre("nftables (table netdev t, chain c) new\\x1bone"));
  EXPECT_THAT(with("dup"), ElementsAre("nftables (table netdev t, chain c) dup alters"));
  EXPECT_THAT(with("payload", [](Message& m) { m.number(NFTA_PAYLOAD_SREG, 1); }),
              ElementsAre("nftables (table netdev t, chain c) payload alters"));
  EXPECT_THAT(with("payload", [](Message& m) { m.number(NFTA_PAYLOAD_DREG, 1); }), IsEmpty());
  EXPECT_THAT(with("meta", [](Message& m) { m.number(NFTA_META_SREG, 1); }),
              ElementsAre("nftables (table netdev t, chain c) meta alters"));
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
                          "nftables (table netdev t, chain c) dup alters in hardware"));

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
