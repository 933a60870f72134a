// SPDX-License-Identifier: Apache-2.0
// What filters may do, by messages that the `tc` of the tests' system cannot have made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_connmark.h>
#include <linux/tc_act/tc_gact.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <memory>

#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Of a u32 filter with a mirred to this interface, or to a block of interfaces (Linux 6.8).
Power power_of_mirred(int does, int ifindex, std::uint32_t block, int verdict = TC_ACT_PIPE) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(RTM_NEWTFILTER, 0));
  nl_msg* const m = message.get();
  const tc_mirred parms{
      .action = verdict, .eaction = does, .ifindex = static_cast<std::uint32_t>(ifindex)};
  constexpr int kBlock = 4;  // TCA_MIRRED_BLOCKID
  nlattr* const options = nla_nest_start(m, TCA_OPTIONS);
  nlattr* const actions = nla_nest_start(m, TCA_U32_ACT);
  nlattr* const first = nla_nest_start(m, 1);
  nla_put_string(m, TCA_ACT_KIND, "mirred");
  nlattr* const its = nla_nest_start(m, TCA_ACT_OPTIONS);
  nla_put(m, TCA_MIRRED_PARMS, sizeof parms, &parms);
  if (block != 0) nla_put_u32(m, kBlock, block);
  for (nlattr* nest : {its, first, actions, options}) nla_nest_end(m, nest);
  return power_of({.kind = "u32", .options = options});
}

/// An attribute, of this many octets.
struct Also {
  int attribute = 0;
  const void* data = nullptr;
  int octets = 0;
};

/// Of a filter with one action of this kind, whose verdict stands where most have it.
Power power_with(const char* kind, int parms_at, int verdict, Also also = {}) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(RTM_NEWTFILTER, 0));
  nl_msg* const m = message.get();
  const tc_gact parms{.index = 0, .capab = 0, .action = verdict, .refcnt = 0, .bindcnt = 0};
  nlattr* const options = nla_nest_start(m, TCA_OPTIONS);
  nlattr* const actions = nla_nest_start(m, TCA_U32_ACT);
  nlattr* const first = nla_nest_start(m, 1);
  nla_put_string(m, TCA_ACT_KIND, kind);
  nlattr* const its = nla_nest_start(m, TCA_ACT_OPTIONS);
  nla_put(m, parms_at, sizeof parms, &parms);
  if (also.attribute != 0) nla_put(m, also.attribute, also.octets, also.data);
  for (nlattr* nest : {its, first, actions, options}) nla_nest_end(m, nest);
  return power_of({.kind = "u32", .options = options});
}

TEST(Power, OfAFilterThatPassesIsToTakeTheMark) {
  EXPECT_TRUE(power_with("gact", TCA_GACT_PARMS, TC_ACT_OK).decides);
  EXPECT_TRUE(power_with("gact", TCA_GACT_PARMS, TC_ACT_RECLASSIFY).decides);
  for (const int verdict : {TC_ACT_SHOT, TC_ACT_PIPE, TC_ACT_UNSPEC, TC_ACT_STOLEN, TC_ACT_TRAP})
    EXPECT_FALSE(power_with("gact", TCA_GACT_PARMS, verdict).decides) << verdict;
  EXPECT_TRUE(power_with("gact", TCA_GACT_PARMS, TC_ACT_GOTO_CHAIN | 7).decides);
  EXPECT_TRUE(power_with("connmark", TCA_CONNMARK_PARMS, TC_ACT_OK).decides);
  EXPECT_TRUE(power_with("new", 1, TC_ACT_SHOT).decides);
  EXPECT_FALSE(power_of_mirred(TCA_EGRESS_MIRROR, 3, 0).decides);
  EXPECT_TRUE(power_of_mirred(TCA_EGRESS_MIRROR, 3, 0, TC_ACT_OK).decides);
  const auto without_action = [](int attribute) {
    const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(RTM_NEWTFILTER, 0));
    nlattr* const options = nla_nest_start(message.get(), TCA_OPTIONS);
    nla_put_u32(message.get(), attribute, 1);
    nla_nest_end(message.get(), options);
    return power_of({.kind = "u32", .options = options});
  };
  EXPECT_TRUE(without_action(TCA_U32_CLASSID).decides);
  EXPECT_FALSE(without_action(TCA_U32_DIVISOR).decides) << "a table of filters";
  EXPECT_TRUE(power_of({.kind = "u32", .options = nullptr}).decides);
}

/// Of a policer with this verdict for what exceeds the rate, and gact with it for most.
struct Twofold {
  Power police{};
  Power gact{};
};
Twofold with_second(int first, int second) {
  const tc_gact_p random{.ptype = PGACT_NETRAND, .pval = 9, .paction = second};
  const tc_police police{.action = first};
  const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(RTM_NEWTFILTER, 0));
  nl_msg* const m = message.get();
  nlattr* const options = nla_nest_start(m, TCA_OPTIONS);
  nlattr* const its = nla_nest_start(m, TCA_U32_POLICE);  // the old form of the same
  nla_put(m, TCA_POLICE_TBF, sizeof police, &police);
  if (second != TC_ACT_OK) nla_put_u32(m, TCA_POLICE_RESULT, static_cast<std::uint32_t>(second));
  for (nlattr* nest : {its, options}) nla_nest_end(m, nest);
  return {power_of({.kind = "u32", .options = options}),
          power_with("gact", TCA_GACT_PARMS, first, {TCA_GACT_PROB, &random, sizeof random})};
}

TEST(Power, OfAPolicerAndOfRandomGactIsThatOfBothVerdicts) {
  for (const int one : {TC_ACT_SHOT, TC_ACT_PIPE, TC_ACT_UNSPEC}) {
    for (const int other : {TC_ACT_SHOT, TC_ACT_PIPE, TC_ACT_UNSPEC, TC_ACT_STOLEN}) {
      EXPECT_FALSE(with_second(one, other).police.decides) << one << ' ' << other;
      EXPECT_FALSE(with_second(one, other).gact.decides) << one << ' ' << other;
    }
    for (const int ends : {TC_ACT_OK, TC_ACT_RECLASSIFY, TC_ACT_GOTO_CHAIN | 7}) {
      EXPECT_TRUE(with_second(one, ends).police.decides) << one << ' ' << ends;
      EXPECT_TRUE(with_second(ends, one).police.decides) << ends << ' ' << one;
      EXPECT_TRUE(with_second(one, ends).gact.decides) << one << ' ' << ends;
      EXPECT_TRUE(with_second(ends, one).gact.decides) << ends << ' ' << one;
    }
  }
  constexpr std::uint32_t kShort = 0;
  EXPECT_TRUE(power_with("gact", TCA_GACT_PARMS, TC_ACT_SHOT, {TCA_GACT_PROB, &kShort, 4}).decides)
      << "it cannot be read";
  EXPECT_TRUE(
      power_with("police", TCA_POLICE_TBF, TC_ACT_PIPE, {TCA_POLICE_RESULT, &kShort, 2}).decides)
      << "it cannot be read";
}

TEST(Power, OfAMirrorIsACopyAndOfABlockARedirect) {
  const Power one = power_of_mirred(TCA_EGRESS_MIRROR, 3, 0);
  EXPECT_FALSE(one.redirects);
  EXPECT_EQ(one.copies_to.size(), 1U);
  EXPECT_TRUE(power_of_mirred(TCA_EGRESS_MIRROR, 0, 22).redirects);
}

TEST(Power, OfMirredSaysIntoWhoseIngressItSends) {
  for (const int does : {TCA_EGRESS_REDIR, TCA_EGRESS_MIRROR}) {
    for (const std::uint32_t block : {0U, 22U}) {
      const Power out = power_of_mirred(does, 3, block);
      EXPECT_TRUE(out.by_mirred);
      EXPECT_FALSE(out.into_any);
      EXPECT_THAT(out.into, IsEmpty());
    }
  }
  for (const int does : {TCA_INGRESS_REDIR, TCA_INGRESS_MIRROR}) {
    for (const int verdict : {TC_ACT_PIPE, TC_ACT_GOTO_CHAIN | 7}) {
      const Power in = power_of_mirred(does, 3, 0, verdict);
      EXPECT_TRUE(in.by_mirred && in.redirects);
      EXPECT_FALSE(in.into_any);
      EXPECT_THAT(in.into, ElementsAre(Ifindex::of<3>()));
    }
    EXPECT_TRUE(power_of_mirred(does, 0, 22).into_any) << "which are in a block can change";
  }
  EXPECT_TRUE(power_of_mirred(9, 3, 22).into_any) << "of a kind that is not known";
  EXPECT_TRUE(power_of_program().into_any);
}

}  // namespace
}  // namespace lldp::dataplane::bpf
