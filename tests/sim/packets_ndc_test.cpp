// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/topology/server_fabrics.hpp"
#include "sim/packets/flow_control/portfc.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/workload/traffic.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;

Outcome outcome_in_ndc(const Plan& plan) {
  auto outcome = run(plan);
  EXPECT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->count.drops, 0U);
  EXPECT_EQ(outcome->count.sent, outcome->count.delivered + outcome->count.discarded_octets +
                                     outcome->count.lost_octets + outcome->queued_octets);
  return std::move(*outcome);
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
  plan.settings.protection = ProtectionScheme::kOff;
  plan.settings.pfc.xoff_octets = 75'000;
  plan.settings.pfc.xon_octets = 50'000;
  plan.settings.buffer_octets = 5'000'000;
  plan.duration = 20 * kMillisecond;
  return plan;
}

TEST(Ndc, ALoopOfRelaysDeadlocksUnderPfc) {
  const Outcome o = outcome_in_ndc(loop(FlowControlKind::kPfc));
  ASSERT_TRUE(o.deadlocked_at);
  EXPECT_LE(*o.deadlocked_at, 2 * kMillisecond);
  for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U);
}

/// The agent of a node that relays gives its ports no order: none is waited for, or missed.
TEST(Ndc, AgentsOfNodesThatRelayAgree) {
  Plan plan = loop(FlowControlKind::kPortFc);
  plan.duration = 10 * kMicrosecond;
  EXPECT_TRUE(outcome_in_ndc(plan).levels_agreed);
}

class NdcScheme : public testing::TestWithParam<FlowControlKind> {};
TEST_P(NdcScheme, TheLoopMoves) {
  const Outcome o = outcome_in_ndc(loop(GetParam()));
  EXPECT_FALSE(o.deadlocked_at);
  for (const FlowResult& f : o.flows) EXPECT_GT(f.throughput_bps, 20'000'000'000U);
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
      {.kind = "incast", .octets = 1'000'000, .senders = 15, .transport = HostTransport::kPaced}));
  ASSERT_TRUE(add_traffic(
      plan, {.kind = "all-to-all", .octets = 200'000, .transport = HostTransport::kGoBackN}));
  const Outcome o = outcome_in_ndc(plan);
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_GE(o.count.pause_hops, 2U);
  EXPECT_LE(o.count.pause_hops, 3U);
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct);
  EXPECT_EQ(o.queued_octets, 0U);
}

/// n + 1 queues at a switch's port, (k + 1)(n - 1) + 2 at a node's, control with them.
TEST(PortFc, HasTheQueuesOfThePaper) {
  for (const std::size_t n : {2U, 4U, 8U}) {
    Plan plan = ndc_of(n, 1, FlowControlKind::kPortFc);
    for (std::uint64_t hash : {0U, 2U}) {
      for (std::size_t a = 0; a < plan.fabric.nodes.size(); ++a)
        for (std::size_t b = 0; b < plan.fabric.nodes.size(); ++b)
          if (a != b && plan.fabric.nodes[a].relays && plan.fabric.nodes[b].relays)
            plan.flows.push_back(
                {.spec = {.octets = 1},
                 .way = {.name = {"f"}, .from = a, .to = b, .via = {}, .hash = hash}});
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

/// A flow over these nodes, and the switches that each has in common with the next.
void add_flow(Plan& plan, const std::vector<std::string_view>& names) {
  const auto links = adjacencies(plan.fabric);
  std::vector<std::size_t> nodes;
  for (const std::string_view name : names) {
    const auto at =
        static_cast<std::size_t>(std::find_if(plan.fabric.nodes.begin(), plan.fabric.nodes.end(),
                                              [&](const Node& n) { return n.name == name; }) -
                                 plan.fabric.nodes.begin());
    if (!nodes.empty())
      for (const Adjacency& x : links[nodes.back()])
        for (const Adjacency& y : links[at])
          if (x.peer == y.peer) {
            nodes.push_back(x.peer);
            break;
          }
    nodes.push_back(at);
  }
  lab::FlowPath way{.name = std::string(names[0]), .from = nodes.front(), .to = nodes.back()};
  way.via.assign(nodes.begin() + 1, nodes.end() - 1);
  plan.flows.push_back({.way = way});
}

/// What PortFc asks of an engine.
struct FakeEngine {
  Network& n;
  Part part{};
  Network& network() { return n; }
  Pool& pool() { return part.pool; }
  Counters& count() { return part.count; }
  void want_control(Arc /*out*/) {}
  void stop(Arc out, QueueMask queues) { n.ports[out].stopped |= queues; }
  void go(Arc out, QueueMask queues) { n.ports[out].stopped &= static_cast<QueueMask>(~queues); }
};

/// Two messages are due on a port: of one that was stopped from two hops away, and one of its own.
TEST(PortFc, AMessageTellsItsOwnDistance) {
  auto prepared = prepare(ndc_of(3, 1, FlowControlKind::kPortFc));
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  Network& n = prepared->network;
  const NdcMap map(n);
  FakeEngine e{n};
  PortFc scheme(n);
  Arc any = 0;
  while (!map.is_switch(any)) ++any;
  const auto& ports = map.ports_of(n.ports[any].node);
  const Slot heard{.arc = reversed(ports[1]), .flow = 1, .route = 2, .kind = Kind::kPause};
  scheme.received(e, heard);
  const Slot direct{.priority = 2, .kind = Kind::kData};
  const Slot relayed{.priority = 0, .kind = Kind::kData};
  ASSERT_TRUE(scheme.queued(e, ports[0], direct, 80'000));
  ASSERT_TRUE(scheme.queued(e, ports[1], relayed, 80'000));
  std::map<std::uint32_t, std::uint32_t> hops;  // by port and class
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t s = scheme.control_frame(e, ports[2]);
    ASSERT_NE(s, kNone);
    hops[e.pool()[s].number] = e.pool()[s].route;
  }
  EXPECT_EQ(hops, (std::map<std::uint32_t, std::uint32_t>{{0U << 1 | 1U, 1}, {1U << 1, 3}}));
}

/// IRN's window is what the slowest link of the way carries in a round trip.
TEST(Irn, TheWindowGoesByTheSlowestLink) {
  std::uint32_t window[2];
  for (const bool slow_first : {false, true}) {
    Plan plan = ndc_of(2, 1, FlowControlKind::kOff);
    plan.fabric = *rails({.domains = 2, .rails = 2, .inside_bps = 1'600'000'000'000});
    plan.failed.resize(plan.fabric.links.size());
    add_flow(plan, slow_first ? std::vector<std::string_view>{"gpu1-1", "gpu2-1", "gpu2-2"}
                              : std::vector<std::string_view>{"gpu1-1", "gpu1-2", "gpu2-2"});
    plan.flows.back().spec.transport = HostTransport::kSelective;
    const auto prepared = prepare(plan);
    ASSERT_TRUE(prepared) << to_string(prepared.error());
    window[slow_first ? 1 : 0] = prepared->network.flows[0].window;
  }
  EXPECT_EQ(window[0], window[1]);
}

TEST(PortFc, WhatItCannotDoIsRefused) {
  const auto refused = [](const Plan& plan) {
    const auto o = prepare(plan);
    return o ? std::string() : to_string(o.error());
  };
  Plan plan = *plan_of_case("case1", 2, 1);
  plan.settings.protection = ProtectionScheme::kOff;
  plan.settings.flow_control = FlowControlKind::kPortFc;
  EXPECT_THAT(refused(plan), HasSubstr("for NDC(n, 1) alone"));
  EXPECT_THAT(refused(ndc_of(2, 2, FlowControlKind::kPortFc)), HasSubstr("for NDC(n, 1) alone"));
  EXPECT_THAT(refused(ndc_of(9, 1, FlowControlKind::kPortFc)),
              HasSubstr("NDC(9, 1) needs 18 queues a port, there are 16"));
  EXPECT_THAT(refused(ndc_of(3, 2, FlowControlKind::kPfcStar)), HasSubstr("nodes have 3 ports"));
  plan = ndc_of(2, 1, FlowControlKind::kPortFc);
  add_flow(plan, {"node00", "node01", "node11", "node10"});
  EXPECT_THAT(refused(plan), HasSubstr("flow node00: via: over two nodes that relay"));
  plan = ndc_of(2, 1, FlowControlKind::kPfcStar);
  plan.settings.protection = ProtectionScheme::kItsy;
  EXPECT_THAT(refused(plan), HasSubstr("settings.protect"));
  plan = ndc_of(2, 1, FlowControlKind::kPortFc);
  plan.failed[0] = true;
  EXPECT_THAT(refused(plan), HasSubstr("failed"));
}

/// Of k = 2, nothing stops what a node relays to another that relays it again: where two such flows
/// meet, the buffer overflows.
TEST(PortFc, BetweenTwoRelaysOfALargerKBuffersOverflow) {
  Plan plan = ndc_of(3, 2, FlowControlKind::kPortFc);
  plan.settings.any_k = true;
  plan.duration = 4 * kMillisecond;
  add_flow(plan, {"node111", "node011", "node001", "node000"});
  const auto one = run(plan);
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_EQ(one->count.drops, 0U);
  add_flow(plan, {"node121", "node021", "node001", "node000"});
  const auto two = run(plan);
  ASSERT_TRUE(two) << to_string(two.error());
  EXPECT_GT(two->count.drops, 1000U);
  EXPECT_GE(two->count.pauses, 1U);
}

/// Every host to one, which sends as much to each when it has all.
TEST(Workload, AParameterServerAnswersWhenItHasAll) {
  Plan plan = ndc_of(3, 1, FlowControlKind::kPortFc);
  ASSERT_TRUE(add_traffic(plan, {.kind = "parameter-server", .octets = 50'000, .to = "node11"}));
  ASSERT_EQ(plan.flows.size(), 16U);
  EXPECT_EQ(flow_name(plan, plan.flows.front()), "node00-node11");  // by its ends
  const Outcome o = outcome_in_ndc(plan);
  Picoseconds last = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(o.flows[i].fct);
    last = std::max(last, *o.flows[i].start + *o.flows[i].fct);
  }
  for (std::size_t i = 8; i < 16; ++i) {
    EXPECT_EQ(o.flows[i].start, last);
    EXPECT_TRUE(o.flows[i].fct);
  }
}

/// What an expert got it sends back, when it has it all: token for token, to whom each is from.
TEST(Workload, ExpertsSendBackWhatTheyGot) {
  for (const std::uint32_t skew : {0U, 3U}) {
    Plan plan = ndc_of(3, 1, FlowControlKind::kPortFc);
    ASSERT_TRUE(add_traffic(
        plan, {.kind = "moe", .octets = 256'000, .experts = 4, .top_k = 2, .skew = skew}));
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> there;
    std::map<std::size_t, std::uint64_t> of_expert;
    for (std::uint32_t i = 0; i < plan.flows.size(); ++i) {
      const PlannedFlow& f = plan.flows[i];
      if (!plan.after.contains(i)) {
        there[{f.way.from, f.way.to}] += f.spec.octets;
        of_expert[f.way.to] += f.spec.octets;
        continue;
      }
      EXPECT_EQ(there.at({f.way.to, f.way.from}), f.spec.octets);
      for (const std::uint32_t before : plan.after.at(i))
        EXPECT_EQ(plan.flows[before].way.to, f.way.from);
    }
    ASSERT_EQ(of_expert.size(), 4U);
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    std::uint64_t all = 0;
    for (const auto& [expert, octets] : of_expert) {
      least = std::min(least, octets);
      most = std::max(most, octets);
      all += octets;
    }
    EXPECT_LE(all, 2U * 9 * 256'000);  // but for what experts have for themselves
    EXPECT_GE(all, 2U * 8 * 256'000 - 256'000);
    EXPECT_EQ(most > 3 * least, skew == 3);
    for (const FlowResult& f : outcome_in_ndc(plan).flows) EXPECT_TRUE(f.fct);
  }
}

TEST(Workload, AFlowCannotWaitForWhatIsElsewhereOrEndless) {
  Plan plan = ndc_of(2, 1, FlowControlKind::kPortFc);
  add_flow(plan, {"node00", "node01"});
  add_flow(plan, {"node01", "node11"});
  plan.after[1] = {0};
  EXPECT_THAT(to_string(prepare(plan).error()), HasSubstr("`node00` has no end"));
  plan.flows[0].spec.octets = 1;
  EXPECT_TRUE(prepare(plan));
  plan.after[0] = {1};
  EXPECT_THAT(to_string(prepare(plan).error()), HasSubstr("flow node00: after"));
  plan.after.erase(0);
  std::swap(plan.flows[1].way.from, plan.flows[1].way.to);
  EXPECT_THAT(to_string(prepare(plan).error()), HasSubstr("flow node01: after"));
}

/// What a node sends over its faster link stays below nine tenths of it, as long as there is
/// another way.
TEST(Workload, AsymmetricTrafficEngineeringMovesWhatIsTooMuch) {
  std::uint64_t over_fast[2];
  for (const bool on : {false, true}) {
    Plan plan = ndc_of(2, 1, FlowControlKind::kPortFc);
    plan.fabric = *rails({.domains = 4, .rails = 4});
    plan.failed.resize(plan.fabric.links.size());
    plan.settings.ate_percent = on ? 50 : 100;
    const auto node = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find_if(plan.fabric.nodes.begin(),
                                                   plan.fabric.nodes.end(),
                                                   [&](const Node& n) { return n.name == name; }) -
                                      plan.fabric.nodes.begin());
    };
    for (std::uint32_t i = 0; i < 400; ++i)
      plan.flows.push_back({.spec = {.octets = 100'000,
                                     .start = i * 5 * kMicrosecond,
                                     .transport = HostTransport::kGoBackN},
                            .way = {.name = {"f"}, .from = node("gpu1-1"), .to = node("gpu2-2")}});
    over_fast[on ? 1 : 0] = 0;
    const auto fast = static_cast<std::size_t>(
        std::find_if(plan.fabric.links.begin(), plan.fabric.links.end(),
                     [&](const Link& l) {
                       return l.rate_bps > 100'000'000'000 && (l.ends[0].node == node("gpu1-1") ||
                                                               l.ends[1].node == node("gpu1-1"));
                     }) -
        plan.fabric.links.begin());
    Hooks hooks;
    hooks.trace = [&](Picoseconds, const Slot& f) {
      if (f.arc / 2 == fast && f.kind == Kind::kData) ++over_fast[on ? 1 : 0];
    };
    const auto o = run(plan, hooks);
    ASSERT_TRUE(o) << to_string(o.error());
    EXPECT_EQ(o->count.drops, 0U);
    for (const FlowResult& f : o->flows) EXPECT_TRUE(f.fct);
  }
  EXPECT_GT(over_fast[0], 40'000 * 5 / 10);
  EXPECT_LT(over_fast[1], over_fast[0]);
  Plan plan = ndc_of(2, 1, FlowControlKind::kPortFc);
  add_flow(plan, {"node00", "node01"});
  plan.settings.ate_percent = 90;
  EXPECT_THAT(to_string(prepare(plan).error()), HasSubstr("settings.ate_percent"));
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
      plan.flows.push_back({.way = {.name = {from}, .from = node(from), .to = node(to)}});
    };
    flow("node01", "node00");  // three to one
    flow("node02", "node00");
    flow("node03", "node00");
    flow("node01", "node02");  // the victim: from a node that is stopped, to one that is free
    plan.duration = 4 * kMillisecond;
    victim[portfc] = static_cast<double>(outcome_in_ndc(plan).flows[3].throughput_bps);
  }
  EXPECT_GT(victim[1], 1.3 * victim[0]);
}

}  // namespace
}  // namespace lldp::lab::packets
