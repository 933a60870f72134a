// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "lab/packets/flow_control/ndc.hpp"
#include "lab/packets/run.hpp"
#include "lab/packets/workload/traffic.hpp"
#include "lab/topology/server_fabrics.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;

Outcome outcome_of(const Plan& plan) {
  const auto outcome = run(plan);
  EXPECT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->count.drops, 0U);
  EXPECT_EQ(outcome->count.sent, outcome->count.delivered + outcome->count.discarded_octets +
                                     outcome->count.lost_octets + outcome->queued_octets);
  return *outcome;
}

Plan loop(FlowControlKind kind) {
  Plan plan = *plan_of_case("ndc-loop", 2, 1);
  plan.settings.flow_control = kind;
  return plan;
}

Plan ndc_of(std::size_t n, std::size_t k, FlowControlKind kind) {
  Plan plan;
  plan.fabric = *ndc(n, k);
  plan.failed.resize(plan.fabric.links.size());
  plan.settings.flow_control = kind;
  plan.settings.protection = Protection::kOff;
  plan.settings.pfc.xoff_octets = 75'000;
  plan.settings.pfc.xon_octets = 50'000;
  plan.settings.buffer_octets = 5'000'000;
  plan.duration = 20 * kMillisecond;
  return plan;
}

TEST(Ndc, ALoopOfRelaysDeadlocksUnderPfc) {
  const Outcome o = outcome_of(loop(FlowControlKind::kPfc));
  ASSERT_TRUE(o.deadlocked_at);
  EXPECT_LE(*o.deadlocked_at, 2 * kMillisecond);
  for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U) << f.name;
}

class NdcScheme : public testing::TestWithParam<FlowControlKind> {};
TEST_P(NdcScheme, TheLoopMoves) {
  const Outcome o = outcome_of(loop(GetParam()));
  EXPECT_FALSE(o.deadlocked_at);
  for (const FlowResult& f : o.flows) EXPECT_GT(f.throughput_bps, 20'000'000'000U) << f.name;
}
INSTANTIATE_TEST_SUITE_P(Packets, NdcScheme,
                         testing::Values(FlowControlKind::kPfcStar, FlowControlKind::kPortFc),
                         [](const auto& c) {
                           return c.param == FlowControlKind::kPortFc ? "PortFc" : "PfcStar";
                         });

/// All to one and all to all: nothing is lost, everything ends, and no pause goes farther than the
/// nodes three hops away.
TEST(PortFc, CongestionGoesThreeHopsAtMost) {
  Plan plan = ndc_of(4, 1, FlowControlKind::kPortFc);
  ASSERT_TRUE(add_traffic(
      plan,
      {.kind = "incast", .octets = 1'000'000, .senders = 15, .transport = Transport::kPaced}));
  ASSERT_TRUE(add_traffic(
      plan, {.kind = "all-to-all", .octets = 200'000, .transport = Transport::kGoBackN}));
  const Outcome o = outcome_of(plan);
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_GE(o.count.pause_hops, 2U);
  EXPECT_LE(o.count.pause_hops, 3U);
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct) << f.name;
  EXPECT_EQ(o.queued_octets, 0U);
}

/// n + 1 queues at a switch's port, (k + 1)(n - 1) + 2 at a node's, control with them.
TEST(PortFc, HasTheQueuesOfThePaper) {
  for (const std::size_t n : {2U, 3U, 4U}) {
    Plan plan = ndc_of(n, 1, FlowControlKind::kPortFc);
    for (std::uint64_t hash : {0U, 2U}) {
      for (std::size_t a = 0; a < plan.fabric.nodes.size(); ++a)
        for (std::size_t b = 0; b < plan.fabric.nodes.size(); ++b)
          if (a != b && plan.fabric.nodes[a].relays && plan.fabric.nodes[b].relays)
            plan.flows.push_back(
                {.spec = {.name = "f", .octets = 1},
                 .way = {.name = "f", .from = a, .to = b, .via = {}, .hash = hash}});
    }
    const auto prepared = prepare(plan);
    ASSERT_TRUE(prepared) << to_string(prepared.error());
    const Network& network = prepared->network;
    const NdcMap map(network);
    std::vector<std::set<unsigned>> used(network.arcs());
    for (const Flow& f : network.flows)
      for (std::uint32_t r = f.route; network.routes[r] != kNone; ++r)
        used[network.routes[r]].insert(map.queue_of(network, r));
    for (Arc a = 0; a < network.arcs(); ++a)
      EXPECT_EQ(used[a].size() + 1, map.is_switch(a) ? n + 1 : 2 * (n - 1) + 2) << n;
  }
}

TEST(PortFc, WhatItCannotDoIsRefused) {
  const auto refused = [](const Plan& plan) {
    const auto o = prepare(plan);
    return o ? std::string() : to_string(o.error());
  };
  Plan plan = *plan_of_case("case1", 2, 1);
  plan.settings.protection = Protection::kOff;
  plan.settings.flow_control = FlowControlKind::kPortFc;
  EXPECT_THAT(refused(plan), HasSubstr("for NDC(n, 1) alone"));
  EXPECT_THAT(refused(ndc_of(2, 2, FlowControlKind::kPortFc)), HasSubstr("for NDC(n, 1) alone"));
  EXPECT_THAT(refused(ndc_of(5, 1, FlowControlKind::kPortFc)),
              HasSubstr("NDC(5, 1) needs 10 queues a port, there are 8"));
  plan = ndc_of(2, 1, FlowControlKind::kPfcStar);
  plan.settings.protection = Protection::kItsy;
  EXPECT_THAT(refused(plan), HasSubstr("settings.protect"));
  plan = ndc_of(2, 1, FlowControlKind::kPortFc);
  plan.failed[0] = true;
  EXPECT_THAT(refused(plan), HasSubstr("failed"));
}

/// Flows that meet nowhere but in the queue of a switch that is stopped for another's sake (Figure
/// 4): under PFC they suffer, under PortFC they do not.
TEST(PortFc, AVictimKeepsItsRate) {
  double victim[2];
  for (const bool portfc : {false, true}) {
    Plan plan = ndc_of(4, 1, portfc ? FlowControlKind::kPortFc : FlowControlKind::kPfcStar);
    const auto node = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find_if(plan.fabric.nodes.begin(),
                                                   plan.fabric.nodes.end(),
                                                   [&](const Node& n) { return n.name == name; }) -
                                      plan.fabric.nodes.begin());
    };
    const auto flow = [&](const char* from, const char* to) {
      plan.flows.push_back(
          {.spec = {.name = from}, .way = {.name = from, .from = node(from), .to = node(to)}});
    };
    flow("node01", "node00");  // three to one
    flow("node02", "node00");
    flow("node03", "node00");
    flow("node01", "node02");  // the victim: from a node that is stopped, to one that is free
    plan.duration = 4 * kMillisecond;
    victim[portfc] = static_cast<double>(outcome_of(plan).flows[3].throughput_bps);
  }
  EXPECT_GT(victim[1], 1.3 * victim[0]);
}

}  // namespace
}  // namespace lldp::lab::packets
