// SPDX-License-Identifier: Apache-2.0
// What filters may do, by messages that the `tc` of the tests' system cannot have made.
#include <gtest/gtest.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <memory>

#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// Of a u32 filter that mirrors to this interface, or to a block of interfaces (Linux 6.8).
Power power_of_mirror(int ifindex, std::uint32_t block) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(RTM_NEWTFILTER, 0));
  nl_msg* const m = message.get();
  const tc_mirred parms{.action = TC_ACT_PIPE,
                        .eaction = TCA_EGRESS_MIRROR,
                        .ifindex = static_cast<std::uint32_t>(ifindex)};
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

TEST(Power, OfAMirrorIsACopyAndOfABlockARedirect) {
  const Power one = power_of_mirror(3, 0);
  EXPECT_FALSE(one.redirects);
  EXPECT_EQ(one.copies_to.size(), 1U);
  EXPECT_TRUE(power_of_mirror(0, 22).redirects);
}

}  // namespace
}  // namespace lldp::dataplane::bpf
