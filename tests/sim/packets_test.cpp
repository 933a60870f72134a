// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "lab/topology/generators.hpp"
#include "sim/packets/report.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/series.hpp"
#include "sim/packets/split.hpp"
#include "sim/packets/workload/sizes.hpp"
#include "sim/packets/workload/traffic.hpp"
#include "tests/sim/packets_plans.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> stuck_links(const Outcome& o) {
  std::vector<std::string> links;
  for (const StuckQueue& s : o.deadlock) links.push_back(s.from + "-" + s.to);
  return links;
}

/// What waits, counted frame by frame.
void expect_counted(const Network& n) {
  for (Arc out = 0; out < n.arcs(); ++out)
    for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
      if ((n.lossless >> priority & 1) == 0 || !n.ports[out].forwards) continue;
      std::map<std::pair<Arc, unsigned>, std::uint32_t> seen;
      std::map<std::pair<Arc, unsigned>, std::uint32_t> kept;
      const Pool& pool = n.pool_of(n.ports[out]);
      for (std::uint32_t s = n.queue(out, priority).first;
           (n.ports[out].waiting >> priority & 1) != 0 && s != kNone; s = pool[s].next)
        seen[{pool[s].arc, pool[s].arrival}] += n.cost_of(pool[s].octets);
      n.for_each_wait(out, priority, [&](Arc in, std::uint8_t arrival, std::uint32_t cost) {
        kept[{in, arrival}] = cost;
      });
      ASSERT_EQ(kept, seen) << out << " " << unsigned{priority};
    }
}

TEST(Oracle, CountsWhatWaitsAsItComesAndGoes) {
  for (const char* name : {"case1", "flap", "itsy-fig3"})
    for (const auto control : {FlowControlKind::kPfc, FlowControlKind::kCbfc}) {
      Plan plan = of_case(name, 2, 1, ProtectionScheme::kDownUp, 2 * kMillisecond);
      if (control == FlowControlKind::kCbfc && !plan.storms.empty()) continue;
      plan.settings.flow_control = control;
      std::size_t waits = 0;
      Hooks hooks;
      hooks.sample_every = 37 * kMicrosecond;
      hooks.sample = [&](const Network& n) {
        expect_counted(n);
        for (const Port& p : n.ports) waits += p.waiting != 0 ? 1U : 0U;
      };
      ASSERT_TRUE(run(plan, hooks)) << name;
      EXPECT_GT(waits, 20U) << name;
    }
}

Plan by_credits(std::uint32_t channels, ProtectionScheme protection) {
  Plan plan = of_case("case1", 2, 1, protection, 3 * kMillisecond);
  plan.settings.flow_control = FlowControlKind::kCbfc;
  plan.settings.cbfc.virtual_channels = channels;
  return plan;
}

TEST(Cbfc, DeadlocksWithOneChannelAndNotWithTwoAndTheRules) {
  for (const std::uint32_t channels : {1U, 2U}) {  // nothing uses the second
    const Outcome o = outcome_of(by_credits(channels, ProtectionScheme::kOff));
    ASSERT_TRUE(o.deadlocked_at) << channels;
    EXPECT_THAT(stuck_links(o), testing::IsSupersetOf({"Leaf2-Spine1", "Spine1-Leaf3",
                                                       "Leaf3-Spine2", "Spine2-Leaf2"}));
    EXPECT_EQ(o.count.drops, 0U);
    for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U);
  }
  const Outcome o = outcome_of(by_credits(2, ProtectionScheme::kDownUp));
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_GT(o.count.turned, 1000U);
  std::uint64_t whole = 0;
  for (const FlowResult& f : o.flows) whole += f.throughput_bps;
  EXPECT_GT(whole, 90'000'000'000U);
}

TEST(Cbfc, ComesBackWithTheLink) {
  Plan plan = of_case("flap", 2, 1, ProtectionScheme::kDownUp, 6 * kMillisecond);
  plan.settings.flow_control = FlowControlKind::kCbfc;
  const Outcome o = outcome_of(plan);
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_EQ(o.count.drops, 0U);
  for (const FlowResult& f : o.flows) EXPECT_GT(f.throughput_bps, 10'000'000'000U);
}

TEST(Cbfc, RefusesWhatCannotBe) {
  const auto refusal = [](const auto& change) {
    Plan plan = by_credits(0, ProtectionScheme::kDownUp);
    change(plan);
    const auto outcome = run(plan);
    return outcome ? "taken" : to_string(outcome.error());
  };
  EXPECT_EQ(refusal([](Plan& p) { p.settings.cbfc.credit_limit = 0; }),
            "settings.cbfc.credit_limit: 0: a frame of 1048 octets takes 5: give at least so many");
  EXPECT_EQ(refusal([](Plan& p) { p.settings.cbfc.virtual_channels = 3; }),
            "settings.cbfc.virtual_channels: 3: there are 2 lossless classes, so no class uses the "
            "last: give 1 to 2");
  EXPECT_EQ(refusal([](Plan& p) { p.settings.protection = ProtectionScheme::kItsy; }),
            "settings.protect: with credits: none or down-up");
  EXPECT_EQ(refusal([](Plan& p) { p.storms.emplace_back(); }),
            "storms: a host pauses by PFC: none with credits");
}

TEST(DualTor, DeadlocksUnlessTurnedPacketsHaveAClassOfTheirOwn) {
  for (const std::size_t x : {2U, 3U}) {
    Plan plan = of_case("dualtor", x, 1, ProtectionScheme::kOff, 3 * kMillisecond);
    const Outcome stands = outcome_of(plan);
    ASSERT_TRUE(stands.deadlocked_at);
    EXPECT_THAT(stuck_links(stands),
                testing::IsSupersetOf({"T1a-ToR2", "ToR2-T1b", "T1b-ToR1", "ToR1-T1a"}));
    plan.settings.protection = ProtectionScheme::kDownUp;
    for (const char* classes : {"5:dscp43,6:dscp51", "pcbb"}) {
      plan.settings.policy = *qos::Policy::parse(classes, "0:dscp0");
      const Outcome goes = outcome_of(plan);
      EXPECT_FALSE(goes.deadlocked_at) << classes;
      EXPECT_EQ(goes.count.drops, 0U);
      EXPECT_GT(goes.count.turned, 1000U);
    }
  }
}

class ProposalCase : public testing::TestWithParam<const char*> {};

TEST_P(ProposalCase, DeadlocksWithinAMillisecondWithoutTheRules) {
  const Outcome o = outcome_of(of_case(GetParam(), 2, 1, ProtectionScheme::kOff, 3 * kMillisecond));
  ASSERT_TRUE(o.deadlocked_at);
  EXPECT_LE(*o.deadlocked_at, kMillisecond);
  const std::vector<std::string> ring =
      std::string_view(GetParam()) == "case1"
          ? std::vector<std::string>{"Leaf2-Spine1", "Spine1-Leaf3", "Leaf3-Spine2", "Spine2-Leaf2"}
          : std::vector<std::string>{"AGG2-Spine1", "Spine1-AGG3", "AGG3-Spine2", "Spine2-AGG2"};
  EXPECT_THAT(stuck_links(o), testing::IsSupersetOf(ring));
  EXPECT_EQ(o.count.drops, 0U);
  for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U);
}

TEST_P(ProposalCase, DoesNotDeadlockWithTheRules) {
  const Plan plan = of_case(GetParam(), 2, 1, ProtectionScheme::kDownUp, 4 * kMillisecond);
  const Outcome o = outcome_of(plan);
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_GT(o.count.turned, 0U);
  EXPECT_EQ(o.count.turned_lossy, 0U);
  // Two queues share the link that both directions want, and X's flows their queue.
  const double line = 100e9 * 1000 / 1048;
  ASSERT_THAT(o.flows, SizeIs(3));
  for (std::size_t i = 0; i < o.flows.size(); ++i) {
    const std::string& name = *plan.flows[i].way.name;
    const double share = name == "Y" ? line / 2 : line / 4;
    EXPECT_NEAR(static_cast<double>(o.flows[i].throughput_bps), share, 0.02 * share) << name;
  }
}

TEST_P(ProposalCase, DoesNotDeadlockWithOneFlowEachWay) {
  const Outcome o = outcome_of(of_case(GetParam(), 1, 1, ProtectionScheme::kOff, 4 * kMillisecond));
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_EQ(o.count.drops, 0U);
  double sum = 0;
  for (const FlowResult& f : o.flows) sum += static_cast<double>(f.throughput_bps);
  EXPECT_NEAR(sum, 100e9 * 1000 / 1048, 0.02 * 100e9);
}

INSTANTIATE_TEST_SUITE_P(Packets, ProposalCase, testing::Values("case1", "case2"),
                         [](const auto& c) { return std::string(c.param); });

TEST(Packets, ADeadlockOfAFlapOutlastsIt) {
  const Outcome without =
      outcome_of(of_case("flap", 2, 1, ProtectionScheme::kOff, 3 * kMillisecond));
  ASSERT_TRUE(without.deadlocked_at);
  EXPECT_EQ(without.deadlocks, 1U);
  EXPECT_GT(without.deadlocked_for, 2 * kMillisecond);  // the links were up again after 1.1 ms
  const Outcome with =
      outcome_of(of_case("flap", 2, 1, ProtectionScheme::kDownUp, 3 * kMillisecond));
  EXPECT_FALSE(with.deadlocked_at);
  EXPECT_EQ(with.count.drops, 0U);
  EXPECT_GT(with.count.lost, 0U);  // what was on the wire
  EXPECT_EQ(with.exposed, 0U);     // a port's order becomes `up` when its carrier goes
}

// The agents are told the layers of their ports, and their orders are what the layers say.
TEST(Packets, FcPlusNeedsTheSecondPriorityForPathsThatTurn) {
  const Outcome without =
      outcome_of(of_case("fcplus", 0, 1, ProtectionScheme::kOff, 300 * kMicrosecond));
  EXPECT_TRUE(without.deadlocked_at);
  const Outcome with =
      outcome_of(of_case("fcplus", 0, 1, ProtectionScheme::kDownUp, 600 * kMicrosecond));
  EXPECT_FALSE(with.deadlocked_at);
  EXPECT_EQ(with.count.drops, 0U);
  EXPECT_GT(with.count.turned, 0U);
}

TEST(Packets, TheWatchdogsDeadlockComesBack) {
  Plan plan = of_case("case1", 2, 1, ProtectionScheme::kWatchdog, 4 * kMillisecond);
  plan.settings.watchdog.drops = true;
  const Outcome o = outcome_of(plan);
  EXPECT_GT(o.deadlocks, 1U);
  EXPECT_GT(o.count.detections, 1U);
  EXPECT_GT(o.count.discarded, 0U);
  EXPECT_EQ(o.count.drops, 0U);  // what it does not throw away still finds room
}

class Unloaded : public testing::TestWithParam<HostTransport> {};
TEST_P(Unloaded, FlowTakesWhatTheFormulaSays) {
  for (const std::uint64_t octets : {1U, 1000U, 1001U, 12'345U, 100'000U}) {
    const Plan plan = line(1, octets, GetParam());
    const Outcome o = outcome_of(plan);
    ASSERT_TRUE(o.flows[0].fct) << octets;
    // Frames leave one after the other, 80 ps an octet; the last one is stored and forwarded once,
    // at the switch, which a longer one before it may still keep busy; each link takes 1 us.
    const std::uint64_t frames = (octets + 999) / 1000;
    const std::uint64_t last = octets - (frames - 1) * 1000 + 48;
    const std::uint64_t at_switch = (frames - 1) * 1048 + last;
    const std::uint64_t busy_until = frames > 1 ? frames * 1048 : 0;
    const Picoseconds expected = (std::max(at_switch, busy_until) + last) * 80 + 2 * kMicrosecond;
    EXPECT_EQ(*o.flows[0].fct, expected) << octets;
    EXPECT_EQ(o.count.pauses, 0U);
    EXPECT_EQ(o.queued_octets, 0U);
  }
}
constexpr const char* kTransportNames[] = {"Paced", "GoBackN", "Irn"};
INSTANTIATE_TEST_SUITE_P(Packets, Unloaded,
                         testing::Values(HostTransport::kPaced, HostTransport::kGoBackN,
                                         HostTransport::kSelective),
                         [](const auto& c) {
                           return kTransportNames[static_cast<std::size_t>(c.param)];
                         });

TEST(Packets, OctetsAreConserved) {
  for (const ProtectionScheme protection : {ProtectionScheme::kOff, ProtectionScheme::kDownUp}) {
    const Outcome o = outcome_of(of_case("case1", 2, 1, protection, kMillisecond));
    EXPECT_GT(o.queued_octets, 0U);
    EXPECT_LT(o.queued_octets, 10'000'000U);
    EXPECT_EQ(o.count.sent, o.count.delivered + o.queued_octets);
  }
}

TEST(Packets, TheSameSeedGivesTheSameBytes) {
  const Plan plan = of_case("flap", 2, 1, ProtectionScheme::kDownUp, kMillisecond);
  const std::string once = to_json(plan, outcome_of(plan));
  EXPECT_EQ(once, to_json(plan, outcome_of(plan)));
  // A change here is a change of what the simulator computes: debug and release, any compiler.
  EXPECT_THAT(once, HasSubstr("\"digest\": \"21a36296a67332bb\""));
}

/// What comes of a plan, and how it looked every 10 us. A trace wants all in the order of time.
std::string bytes_of(const Plan& plan, std::size_t threads, const Trace& trace = {}) {
  Series series(plan);
  std::string curves;
  const Hooks hooks{.trace = trace,
                    .sample_every = 10 * kMicrosecond,
                    .sample = [&](const Network& n) { curves += series.sample(n); }};
  const auto outcome = run(plan, hooks, threads);
  if (!outcome) return to_string(outcome.error());
  return to_json(plan, *outcome) + curves;
}

/// A fat tree in which nearly everything happens: flows that wait for others, DCQCN, IRN, a host
/// that stops its switch, links that fail and come back.
Plan eventful() {
  Plan plan;
  plan.fabric = *fat_tree(4);
  plan.settings.ecn = {
      .on = true, .kmin_octets = 20'000, .kmax_octets = 80'000, .pmax_permille = 200};
  plan.settings.dcqcn.on = true;
  plan.settings.pfc = {.xoff_octets = 60'000, .xon_octets = 57'000, .alpha_256 = 32};
  plan.settings.buffer_octets = 2'000'000;
  plan.duration = 800 * kMicrosecond;
  plan.events = {{.at = 50 * kMicrosecond, .link = plan.fabric.links.size() - 1},
                 {.at = 60 * kMicrosecond, .link = plan.fabric.links.size() / 2},
                 {300 * kMicrosecond, plan.fabric.links.size() - 1, true}};
  const auto host = std::find_if(plan.fabric.nodes.begin(), plan.fabric.nodes.end(),
                                 [](const auto& n) { return n.role == Role::kHost; });
  plan.storms = {{.host = static_cast<std::size_t>(host - plan.fabric.nodes.begin()),
                  .from = 100 * kMicrosecond,
                  .until = 400 * kMicrosecond}};
  EXPECT_TRUE(add_traffic(plan, {.kind = "moe", .octets = 20'000}));
  EXPECT_TRUE(add_traffic(plan, {.kind = "incast", .octets = 100'000}));
  EXPECT_TRUE(add_traffic(
      plan, {.kind = "poisson", .sizes = "hadoop", .transport = HostTransport::kSelective}));
  return plan;
}

class Threads : public testing::TestWithParam<const char*> {
 protected:
  static Plan plan() {
    const std::string_view name = GetParam();
    if (name == "eventful") return eventful();
    Plan plan =
        of_case(name.substr(0, name.find('_')), 2, 1, ProtectionScheme::kOff, kMillisecond / 2);
    if (name.ends_with("_down_up")) plan.settings.protection = ProtectionScheme::kDownUp;
    if (name.ends_with("_watchdog")) plan.settings.protection = ProtectionScheme::kWatchdog;
    if (name.ends_with("_itsy")) plan.settings.protection = ProtectionScheme::kItsy;
    if (name.ends_with("_portfc")) plan.settings.flow_control = FlowControlKind::kPortFc;
    if (name.ends_with("_pfc_star")) plan.settings.flow_control = FlowControlKind::kPfcStar;
    if (name.ends_with("_no_flow_control")) plan.settings.flow_control = FlowControlKind::kOff;
    return plan;
  }
};
TEST_P(Threads, AnyNumberGivesTheSameBytes) {
  const Plan plan = this->plan();
  const std::string one = bytes_of(plan, 1);
  EXPECT_THAT(one, HasSubstr("digest"));
  for (const std::size_t threads : {2U, 3U}) EXPECT_EQ(bytes_of(plan, threads), one) << threads;
}
TEST_P(Threads, OrderOfTimeGivesTheSameBytesAsNodesInTurn) {
  const Plan plan = this->plan();
  Picoseconds before = 0;
  std::uint64_t back = 0;
  const std::string in_order = bytes_of(plan, 1, [&](Picoseconds begin, const Slot&) {
    back += begin < before ? 1U : 0U;
    before = begin;
  });
  EXPECT_GT(before, 0U);
  EXPECT_EQ(back, 0U);
  EXPECT_EQ(in_order, bytes_of(plan, 1));
}
INSTANTIATE_TEST_SUITE_P(Packets, Threads,
                         testing::Values("case1", "case1_down_up", "case1_watchdog", "case1_itsy",
                                         "case1_no_flow_control", "case2", "case2_down_up", "flap",
                                         "flap_down_up", "itsy-fig3", "ndc-loop", "ndc-loop_portfc",
                                         "ndc-loop_pfc_star", "eventful"),
                         [](const auto& c) {
                           std::string name = c.param;
                           std::erase_if(name, [](char ch) { return ch == '-' || ch == '_'; });
                           return name;
                         });

/// A part is of nodes that are near each other, and has its share of the work.
TEST(Split, HostsAreWithTheirSwitchAndPartsAreBalanced) {
  Plan plan;
  plan.fabric = *fat_tree(4);
  ASSERT_TRUE(add_traffic(plan, {.kind = "all-to-all", .octets = 100'000}));
  for (const std::size_t parts : {2U, 4U}) {
    auto prepared = prepare(plan);
    ASSERT_TRUE(prepared);
    Network& n = prepared->network;
    ASSERT_EQ(split(n, parts), parts);
    std::vector<std::size_t> visits(parts);
    for (const Flow& f : n.flows)
      for (std::uint32_t step = f.route; n.routes[step] != kNone; ++step)
        ++visits[n.part_at(n.ports[n.routes[step]].node)];
    const auto [least, most] = std::minmax_element(visits.begin(), visits.end());
    EXPECT_LT(*most * 2, *least * 3) << parts;
    for (Arc a = 0; a < n.arcs(); ++a) {
      EXPECT_EQ(n.ports[a].to_part, n.part_at(n.ports[reversed(a)].node));
      EXPECT_TRUE(n.ports[a].forwards || n.ports[a].to_part == n.part_at(n.ports[a].node));
    }
    EXPECT_EQ(lookahead(n), kMicrosecond + 49 * 80);  // the shortest frame, over a link
  }
}
TEST(Split, ThereAreNoMorePartsThanSwitches) {
  auto prepared = prepare(line(2, 1000, HostTransport::kPaced));
  ASSERT_TRUE(prepared);
  EXPECT_EQ(split(prepared->network, 9), 2U);
  EXPECT_EQ(split(prepared->network, 1), 1U);
  EXPECT_EQ(lookahead(prepared->network), kNever);
}

TEST(Packets, HeadroomBelowTheRoundTripIsRefused) {
  Plan plan = of_case("case1", 2, 1, ProtectionScheme::kOff, kMillisecond);
  // 2 * 1 us at 100 Gb/s, two frames of 1048 octets, PAUSE.
  plan.settings.pfc.headroom_octets = 25'000 + 2 * 1048 + 64;
  EXPECT_TRUE(run(plan));
  --plan.settings.pfc.headroom_octets;
  const auto refused = run(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "settings.pfc.headroom_octets");
  EXPECT_THAT(refused.error().what, HasSubstr("needs 27160, 1 more"));
}

TEST(Packets, HeadroomIsNearlyNeeded) {
  const Outcome o = outcome_of(of_case("case1", 2, 1, ProtectionScheme::kOff, kMillisecond));
  EXPECT_LE(o.count.peak_headroom, 27'160U);
  EXPECT_GE(o.count.peak_headroom, 25'000U);
}

TEST(Packets, EveryFlowOfAnExchangeEnds) {
  Plan plan;
  plan.fabric = *fat_tree(4);
  plan.settings.ecn = {
      .on = true, .kmin_octets = 20'000, .kmax_octets = 80'000, .pmax_permille = 200};
  plan.settings.dcqcn.on = true;
  plan.duration = 100 * kMillisecond;
  ASSERT_TRUE(add_traffic(plan, {.kind = "all-to-all", .octets = 100'000}));
  ASSERT_TRUE(add_traffic(
      plan, {.kind = "poisson", .sizes = "hadoop", .transport = HostTransport::kSelective}));
  EXPECT_GT(plan.flows.size(), 300U);
  const Outcome o = outcome_of(plan);
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_EQ(o.queued_octets, 0U);
  EXPECT_GT(o.count.ecn_marks, 0U);
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct) << " got " << f.received_octets;
}

TEST(Packets, ADynamicThresholdLosesNothingEither) {
  Plan plan = incast(8, 500'000, HostTransport::kPaced);
  plan.settings.pfc.alpha_256 = 32;
  plan.settings.buffer_octets = 2'000'000;
  const Outcome o = outcome_of(plan);
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_GT(o.count.pauses, 0U);
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct);
}

TEST(Traffic, IsBoundedInAll) {
  Plan plan;
  plan.fabric = *fat_tree(4);
  plan.flows.resize(1'000'000);
  for (const std::string_view kind : kTraffics) {
    const auto added = add_traffic(plan, {.kind = std::string(kind)});
    ASSERT_FALSE(added) << kind;
    EXPECT_EQ(added.error().what, "more than 1000000 flows") << kind;
  }
}

}  // namespace
}  // namespace lldp::lab::packets
