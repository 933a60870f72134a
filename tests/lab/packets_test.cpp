// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "lab/des/random.hpp"
#include "lab/packets/host/dcqcn.hpp"
#include "lab/packets/host/hpcc.hpp"
#include "lab/packets/report.hpp"
#include "lab/packets/run.hpp"
#include "lab/packets/series.hpp"
#include "lab/packets/split.hpp"
#include "lab/packets/wheel.hpp"
#include "lab/packets/workload/sizes.hpp"
#include "lab/packets/workload/traffic.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class WheelOf : public testing::TestWithParam<bool> {};  ///< a large network's

TEST_P(WheelOf, GivesTheEarliestFirstAndTiesInOrder) {
  Pool pool;
  Wheel wheel(pool, GetParam());
  Random random(7);
  std::vector<std::pair<Picoseconds, std::uint32_t>> waiting;  // in the order of insertion
  Picoseconds now = 0;
  std::uint32_t count = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      // Ties, the same bucket, the ring's whole reach, and beyond it.
      const Picoseconds ahead[] = {0, random.below(300), random.below(9'000'000),
                                   random.below(400'000'000)};
      const std::uint32_t slot = pool.take();
      pool[slot].at = now + ahead[random.below(4)];
      pool[slot].number = count++;
      waiting.emplace_back(pool[slot].at, pool[slot].number);
      wheel.push(slot);
    }
    const Picoseconds until = now + random.below(2'000'000);
    for (;;) {
      const std::uint32_t slot = wheel.pop(until);
      const auto first = std::min_element(waiting.begin(), waiting.end());
      if (slot == kNone) {
        ASSERT_TRUE(first == waiting.end() || first->first > until);
        break;
      }
      ASSERT_EQ(std::pair(pool[slot].at, pool[slot].number), *first);
      now = pool[slot].at;
      waiting.erase(first);
      pool.release(slot);
    }
    now = until;
  }
}

/// A node sees the same whoever else's events are in the same wheel, and whenever they were put in.
TEST_P(WheelOf, FramesOfOneTimeComeInAnOrderOfTheirOwnBeforeTimers) {
  constexpr std::uint32_t kFrames = 40;
  constexpr Picoseconds kFar = 20 * kMicrosecond;  // beyond the ring's reach
  const auto popped = [](Picoseconds at, std::uint64_t seed) {
    Pool pool;
    Wheel wheel(pool, GetParam());
    Random random(seed);
    std::vector<Slot> slots;
    for (std::uint32_t arc = 0; arc < kFrames; ++arc)
      slots.push_back({.at = at, .arc = arc, .kind = Kind::kData});
    for (std::size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[random.below(i)]);
    const auto half = slots.begin() + static_cast<std::ptrdiff_t>(random.below(kFrames));
    slots.insert(half, {.at = at, .arc = kFrames, .kind = Kind::kPortFree});
    slots.insert(slots.begin(), {.at = at, .arc = kFrames + 1, .kind = Kind::kHostWake});
    for (const Slot& s : slots) {
      const std::uint32_t slot = pool.take();
      pool[slot] = s;
      wheel.push(slot);
    }
    std::vector<std::uint32_t> arcs;
    for (std::uint32_t s = wheel.pop(at); s != kNone; s = wheel.pop(at))
      arcs.push_back(pool[s].arc);
    return arcs;
  };
  for (const Picoseconds at : {kMicrosecond, kFar}) {
    const auto once = popped(at, 1);
    ASSERT_THAT(once, SizeIs(kFrames + 2));
    EXPECT_EQ(once[kFrames], kFrames + 1);  // the timer that was put in first
    EXPECT_EQ(once[kFrames + 1], kFrames);
    for (std::uint64_t seed = 2; seed < 20; ++seed) EXPECT_EQ(popped(at, seed), once);
    EXPECT_NE(popped(at + 80, 1), once);  // no arc is always the first
  }
}

Plan of_case(std::string_view name, std::size_t x, std::size_t y, ProtectionScheme protection,
             Picoseconds duration) {
  auto plan = plan_of_case(name, x, y);
  EXPECT_TRUE(plan) << to_string(plan.error());
  plan->settings.protection = protection;
  plan->duration = duration;
  return std::move(*plan);
}

Outcome outcome_of(const Plan& plan) {
  const auto outcome = run(plan);
  EXPECT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_TRUE(outcome->levels_agreed);
  return *outcome;
}

std::vector<std::string> stuck_links(const Outcome& o) {
  std::vector<std::string> links;
  for (const StuckQueue& s : o.deadlock) links.push_back(s.from + "-" + s.to);
  return links;
}

INSTANTIATE_TEST_SUITE_P(Networks, WheelOf, testing::Values(false, true),
                         [](const auto& large) { return large.param ? "Large" : "Small"; });

/// Slots that come in step, in random order, some of which put in others when they are taken out.
std::vector<std::uint32_t> taken_out(bool large, std::uint64_t seed) {
  Pool pool;
  Wheel wheel(pool, large);
  Random random(seed);
  std::uint32_t numbers = 0;
  const auto put_in = [&](Picoseconds at) {
    const std::uint32_t s = pool.take();
    const bool frame = random.chance(0.7);
    pool[s] = Slot{
        .at = at, .arc = numbers, .number = numbers, .kind = frame ? Kind::kData : Kind::kPortFree};
    ++numbers;
    wheel.push(s);
  };
  for (int i = 0; i < 3000; ++i) put_in(random.below(40) * 50 + random.below(3) * 5'000'000);
  std::vector<std::uint32_t> order;
  Picoseconds until = 0;
  while (wheel.next() != kNever) {
    until = std::max(until + random.below(300), wheel.next() + random.below(300));
    for (std::uint32_t s = wheel.pop(until); s != kNone; s = wheel.pop(until)) {
      const Picoseconds at = pool[s].at;
      order.push_back(pool[s].number);
      pool.release(s);
      if (numbers < 9000 && random.chance(0.6))
        put_in(at + random.below(2) * random.below(400) +
               random.below(2) * random.below(20'000'000));
    }
    // Time has come to `until`: others may hand over what is due before what was looked at.
    if (numbers < 9000) put_in(until + random.below(200));
  }
  return order;
}

TEST(Wheel, HasOneOrderInSmallAndLargeNetworks) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const auto order = taken_out(false, seed);
    EXPECT_GT(order.size(), 5000U);
    EXPECT_EQ(taken_out(true, seed), order) << seed;
  }
}

/// What waits, counted frame by frame.
void expect_counted(const Network& n) {
  for (Arc out = 0; out < n.arcs(); ++out)
    for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
      if ((n.lossless >> priority & 1) == 0 || !n.ports[out].forwards) continue;
      std::map<std::pair<Arc, unsigned>, std::uint32_t> seen;
      std::map<std::pair<Arc, unsigned>, std::uint32_t> kept;
      const Pool& pool = n.pool_of(n.ports[out]);
      for (std::uint32_t s = n.ports[out].queues[priority].first;
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
    for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U) << f.name;
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
  for (const FlowResult& f : o.flows) EXPECT_GT(f.throughput_bps, 10'000'000'000U) << f.name;
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
  for (const FlowResult& f : o.flows) EXPECT_EQ(f.throughput_bps, 0U) << f.name;
}

TEST_P(ProposalCase, DoesNotDeadlockWithTheRules) {
  const Outcome o =
      outcome_of(of_case(GetParam(), 2, 1, ProtectionScheme::kDownUp, 4 * kMillisecond));
  EXPECT_FALSE(o.deadlocked_at);
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_GT(o.count.turned, 0U);
  EXPECT_EQ(o.count.turned_lossy, 0U);
  // Two queues share the link that both directions want, and X's flows their queue.
  const double line = 100e9 * 1000 / 1048;
  ASSERT_THAT(o.flows, SizeIs(3));
  for (const FlowResult& f : o.flows) {
    const double share = f.name == "Y" ? line / 2 : line / 4;
    EXPECT_NEAR(static_cast<double>(f.throughput_bps), share, 0.02 * share) << f.name;
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

/// Two hosts, `switches` switches in a row between them.
Plan line(std::size_t switches, std::uint64_t octets, HostTransport transport) {
  Plan plan;
  plan.fabric.name = "line";
  plan.fabric.nodes.push_back({.name = "a", .role = Role::kHost});
  for (std::size_t i = 0; i < switches; ++i)
    plan.fabric.nodes.push_back({.name = "s" + std::to_string(i)});
  plan.fabric.nodes.push_back({.name = "b", .role = Role::kHost});
  for (std::size_t i = 0; i + 1 < plan.fabric.nodes.size(); ++i)
    plan.fabric.links.push_back({.ends = {LinkEnd{i, "r"}, LinkEnd{i + 1, "l"}}});
  plan.fabric = *complete(std::move(plan.fabric));
  plan.flows.push_back(
      {.spec = {.name = "f", .octets = octets, .start = 12'345, .transport = transport},
       .way = {.name = "f", .from = 0, .to = switches + 1}});
  return plan;
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

/// What comes of a plan, and how it looked every 10 us.
std::string bytes_of(const Plan& plan, std::size_t threads) {
  Series series(plan);
  std::string curves;
  const Hooks hooks{.sample_every = 10 * kMicrosecond,
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

/// `senders` hosts to one, through one switch.
Plan incast(std::size_t senders, std::uint64_t octets, HostTransport transport) {
  Plan plan;
  plan.fabric.nodes.push_back({.name = "leaf"});
  for (std::size_t i = 0; i <= senders; ++i) {
    plan.fabric.nodes.push_back({.name = "h" + std::to_string(i), .role = Role::kHost});
    plan.fabric.links.push_back(
        {.ends = {LinkEnd{0, "p" + std::to_string(i)}, LinkEnd{i + 1, "e"}}});
  }
  plan.fabric = *complete(std::move(plan.fabric));
  for (std::size_t i = 1; i <= senders; ++i)
    plan.flows.push_back({.spec = {.name = "f", .octets = octets, .transport = transport},
                          .way = {.name = "f", .from = i + 1, .to = 1}});
  plan.duration = 50 * kMillisecond;
  return plan;
}

TEST(Packets, AnIncastFillsTheLinkAndLosesNothing) {
  const Outcome o = outcome_of(incast(8, 500'000, HostTransport::kGoBackN));
  EXPECT_EQ(o.count.drops, 0U);
  EXPECT_GT(o.count.pauses, 0U);
  Picoseconds last = 0;
  for (const FlowResult& f : o.flows) {
    ASSERT_TRUE(f.fct);
    EXPECT_EQ(f.received_octets, 500'000U);
    EXPECT_EQ(f.sent_again, 0U);
    last = std::max(last, *f.fct);
  }
  // The link to the receiver never rests: 8 * 500 frames, one more before it, two links.
  EXPECT_EQ(last, (8 * 500 + 1) * 1048 * 80 + 2 * kMicrosecond);
}

TEST(Packets, WhatIsAcknowledgedIsNotSentAgainHoweverLongItTakes) {
  for (const HostTransport transport : {HostTransport::kGoBackN, HostTransport::kSelective}) {
    Plan plan = line(1, 1'000'000, transport);  // 84 us
    plan.settings.go_back_rto = plan.settings.rto_low = plan.settings.rto_high = 10 * kMicrosecond;
    const Outcome o = outcome_of(plan);
    ASSERT_TRUE(o.flows[0].fct);
    EXPECT_EQ(o.flows[0].sent_again, 0U);
  }
}

TEST(Packets, AFlowGoesOnWhenItsLinkIsBack) {
  Plan plan = line(1, 1'000'000, HostTransport::kGoBackN);
  plan.settings.go_back_rto = 50 * kMicrosecond;
  plan.events = {{.at = 20 * kMicrosecond, .link = 1}, {30 * kMicrosecond, 1, true}};
  const Outcome o = outcome_of(plan);
  EXPECT_TRUE(o.flows[0].fct);
  EXPECT_GT(o.count.lost, 0U);
}

TEST(Packets, EachGapIsToldOfAtOnceNotOnlyTheFirst) {
  Plan plan = line(1, 1'000'000, HostTransport::kGoBackN);  // 84 us
  plan.settings.go_back_rto = 10 * kMillisecond;
  plan.events = {{.at = 20 * kMicrosecond, .link = 1},
                 {25 * kMicrosecond, 1, true},
                 {50 * kMicrosecond, 1},
                 {55 * kMicrosecond, 1, true}};
  const Outcome o = outcome_of(plan);
  ASSERT_TRUE(o.flows[0].fct);
  EXPECT_LT(*o.flows[0].fct, kMillisecond);
}

TEST(Packets, AcknowledgementsTakeRoomOnlyWhileTheyWait) {
  Plan plan = line(1, 5'000'000, HostTransport::kGoBackN);
  plan.flows.push_back(plan.flows.front());  // each way: acknowledgements wait behind data
  std::swap(plan.flows.back().way.from, plan.flows.back().way.to);
  plan.settings.flow_control = FlowControlKind::kOff;
  plan.settings.buffer_octets = 100'000;
  const Outcome o = outcome_of(plan);
  EXPECT_EQ(o.count.drops + o.count.drops_lossy, 0U);
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct);
}

TEST(Packets, SizesAreInTheMeanWhatIsSaidOfThem) {
  for (const char* name : {"websearch", "hadoop", "storage"}) {
    Random random(3);
    double sum = 0;
    for (int i = 0; i < 200'000; ++i) sum += static_cast<double>(draw(sizes_named(name), random));
    const auto mean = static_cast<double>(mean_of(sizes_named(name)));
    EXPECT_NEAR(sum / 200'000, mean, 0.03 * mean) << name;
  }
}

TEST(Packets, LossIsRepairedWithoutFlowControl) {
  for (const HostTransport transport : {HostTransport::kGoBackN, HostTransport::kSelective}) {
    Plan plan = incast(8, 500'000, transport);
    plan.settings.flow_control = FlowControlKind::kOff;
    plan.settings.buffer_octets = 200'000;
    plan.settings.go_back_rto = kMillisecond;
    const Outcome o = outcome_of(plan);
    EXPECT_GT(o.count.drops, 0U);
    for (const FlowResult& f : o.flows) {
      EXPECT_TRUE(f.fct);
      EXPECT_EQ(f.received_octets, 500'000U);
    }
  }
}

/// Mellanox's defaults; and Zhu et al., SIGCOMM 2015, section 5 and Figure 14.
TEST(Dcqcn, SetsHaveTheConstantsOfTheirSources) {
  const DcqcnSettings& firmware = kDcqcnSets[0].settings;
  EXPECT_EQ(kDcqcnSets[0].name, "mellanox");
  EXPECT_EQ(firmware.g_256, 1U);
  EXPECT_EQ(firmware.alpha_interval, 1 * kMicrosecond);
  EXPECT_EQ(firmware.decrease_interval, 4 * kMicrosecond);
  EXPECT_EQ(firmware.increase_interval, 300 * kMicrosecond);
  EXPECT_EQ(firmware.additive_bps, 40'000'000U);
  EXPECT_EQ(firmware.hyper_bps, 100'000'000U);
  const DcqcnSettings& paper = kDcqcnSets[1].settings;
  EXPECT_EQ(kDcqcnSets[1].name, "dcqcn-paper");
  EXPECT_EQ(paper.g_256, 1U);
  EXPECT_EQ(paper.alpha_interval, 55 * kMicrosecond);
  EXPECT_EQ(paper.increase_interval, 55 * kMicrosecond);
  EXPECT_EQ(paper.fast_recovery_stages, 5U);
  EXPECT_EQ(paper.additive_bps, 40'000'000U);
  EXPECT_EQ(DcqcnSettings{}.alpha_interval, firmware.alpha_interval);
}

/// Alpha is brought up to date when it is read: the rate is the same however often it is asked for.
TEST(Dcqcn, TheRateDoesNotDependOnHowOftenItIsAskedFor) {
  constexpr std::uint64_t kLine = 100'000'000'000;
  for (const NamedDcqcn& set : kDcqcnSets) {
    const Dcqcn dcqcn(set.settings);
    RateState often{.rate_bps = kLine, .target_bps = kLine};
    RateState seldom = often;
    Random random(7);
    std::uint64_t lowest = kLine;
    for (Picoseconds at = kMicrosecond, step = 0; at < 20 * kMillisecond; at += step) {
      step = 1 + random.below(random.chance(0.01) ? 3 * kMillisecond : 3 * kMicrosecond);
      for (Picoseconds t = at; t < at + step; t += kMicrosecond / 2)
        (void)dcqcn.rate(often, kLine, t);
      dcqcn.marked(often, kLine, at + step);
      dcqcn.marked(seldom, kLine, at + step);
      lowest = std::min(lowest, often.rate_bps);
      ASSERT_EQ(dcqcn.rate(often, kLine, at + step), dcqcn.rate(seldom, kLine, at + step)) << at;
      ASSERT_EQ(often.alpha, seldom.alpha) << at;
    }
    EXPECT_LT(lowest, kLine / 2) << set.name;
  }
}

TEST(Packets, DcqcnKeepsQueuesShortAndTheLinkFull) {
  Plan plan = incast(8, 0, HostTransport::kGoBackN);
  plan.duration = 20 * kMillisecond;
  const Outcome without = outcome_of(plan);
  plan.settings.ecn = {
      .on = true, .kmin_octets = 20'000, .kmax_octets = 80'000, .pmax_permille = 200};
  plan.settings.dcqcn.on = true;
  const Outcome with = outcome_of(plan);
  EXPECT_GT(with.count.ecn_marks, 0U);
  EXPECT_LT(with.count.pauses * 10, without.count.pauses);
  double sum = 0;
  for (const FlowResult& f : with.flows) sum += static_cast<double>(f.throughput_bps);
  EXPECT_GT(sum, 0.9 * 95e9);
}

TEST(Packets, WhatLinksDestroyIsSentAgain) {
  for (const auto control : {FlowControlKind::kPfc, FlowControlKind::kCbfc})
    for (const HostTransport transport : {HostTransport::kGoBackN, HostTransport::kSelective}) {
      Plan plan;
      plan.fabric = *fat_tree(4);
      plan.duration = 200 * kMillisecond;
      plan.settings.flow_control = control;
      plan.settings.loss_ppb = 2'000'000;  // one of 500
      ASSERT_TRUE(
          add_traffic(plan, {.kind = "permutation", .octets = 200'000, .transport = transport}));
      const Outcome o = outcome_of(plan);
      EXPECT_GT(o.count.lost, 10U);
      EXPECT_EQ(o.count.drops, 0U);
      EXPECT_EQ(o.queued_octets, 0U);
      for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct) << f.name;
      EXPECT_EQ(run(plan, {}, 2)->count.digest, o.count.digest);
    }
}

TEST(Packets, ALinkHasItsOwnErrorRate) {
  Plan plan = incast(2, 100'000, HostTransport::kGoBackN);
  plan.duration = 200 * kMillisecond;
  plan.fabric.links[0].loss_ppb = 100'000'000;
  const Outcome o = outcome_of(plan);
  EXPECT_GT(o.count.lost, 0U);
  plan.fabric.links[0].loss_ppb = 1'000'000'000;
  EXPECT_EQ(to_string(complete(plan.fabric).error()),
            "links[0]: an error rate of 1 or more: no frame would arrive: leave the link out");
}

/// The longest queue of a port at which four ways begin, of flows of every host to another pod.
std::uint32_t longest_queue(Spread spread, std::uint64_t* turned = nullptr) {
  Plan plan;
  plan.fabric = *fat_tree(4);
  plan.duration = 20 * kMillisecond;
  plan.settings.spread = spread;
  if (turned != nullptr) {
    plan.failed = *failed_links(plan.fabric, std::vector<std::string>{"agg1-edge1"});
    plan.settings.protection = ProtectionScheme::kDownUp;
  }
  EXPECT_TRUE(add_traffic(
      plan, {.kind = "permutation", .octets = 300'000, .transport = HostTransport::kSelective}));
  std::uint32_t longest = 0;
  Hooks hooks{.sample_every = 2 * kMicrosecond, .sample = [&](const Network& n) {
                for (const Port& p : n.ports)
                  for (const Queue& q : p.queues)
                    if (p.forwards) longest = std::max(longest, q.octets);
              }};
  hooks.to_the_end = false;
  const auto o = run(plan, hooks);
  EXPECT_TRUE(o) << to_string(o.error());
  if (!o) return 0;
  for (const FlowResult& f : o->flows) EXPECT_TRUE(f.fct) << f.name;
  EXPECT_EQ(o->count.drops, 0U);
  if (turned != nullptr) *turned = o->count.turned;
  return longest;
}

TEST(Packets, SpreadFramesMakeShorterQueuesThanFlowsByTheirHash) {
  const std::uint32_t by_flow = longest_queue(Spread::kFlow);
  const std::uint32_t by_packet = longest_queue(Spread::kPacket);
  const std::uint32_t adaptive = longest_queue(Spread::kAdaptive);
  EXPECT_LT(by_packet, by_flow);
  EXPECT_LT(adaptive, by_flow);
  std::uint64_t turned = 0;
  (void)longest_queue(Spread::kPacket, &turned);
  EXPECT_GT(turned, 0U) << "some of each flow's frames come to the switch that lost a link";
}

TEST(Packets, AFlowOfAClosTakesTheWayThatViaNames) {
  Plan plan;
  plan.fabric = *fat_tree(4);
  const auto node = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find_if(plan.fabric.nodes.begin(), plan.fabric.nodes.end(),
                                                 [&](const Node& n) { return n.name == name; }) -
                                    plan.fabric.nodes.begin());
  };
  lab::FlowPath way{.name = "f", .from = node("host1"), .to = node("host16")};
  for (const char* core : {"core1", "core2", "core3", "core4"}) {
    way.via = {node(core)};
    plan.flows = {{.spec = {.name = "f", .octets = 10'000}, .way = way}};
    EXPECT_THAT(outcome_of(plan).flows[0].path, HasSubstr(core));
  }
  plan.flows[0].way.via = {node("agg3")};  // of another pod
  EXPECT_THAT(to_string(run(plan).error()), HasSubstr("`agg3` is on none of the ways"));
}

TEST(Packets, SaysWhatCannotBeSpread) {
  Plan plan = incast(2, 100'000, HostTransport::kGoBackN);
  plan.settings.spread = Spread::kPacket;
  EXPECT_THAT(to_string(run(plan).error()), HasSubstr("go-back-n takes a frame that overtakes"));
}

/// A frame's trail over one link of 100 Gb/s: so many octets sent, so many behind it.
Trail trail_of(Picoseconds at, std::uint64_t sent, std::uint32_t queued) {
  Trail trail;
  trail.add({.at = at,
             .sent_octets = sent,
             .rate_bps = 100'000'000'000,
             .queued_octets = queued,
             .arc = 4});
  return trail;
}

TEST(Hpcc, SetsTheWindowByTheFullestLink) {
  // 10 us at 100 Gb/s are 125,000 octets, 125 frames.
  Settings settings;
  Hpcc hpcc(100'000'000'000, 10 * kMicrosecond, 1000);
  const auto tell = [&](const Trail& trail, std::uint32_t wanted) {
    hpcc.acknowledged(
        settings,
        {.now = trail.told[0].at, .wanted = wanted, .next = wanted + 100, .trail = trail.all()});
  };
  EXPECT_EQ(hpcc.window(1000), 125U);
  EXPECT_EQ(hpcc.rate(settings, 100'000'000'000, 0), 100'000'000'000U);
  tell(trail_of(10 * kMicrosecond, 125'000, 0), 1);
  EXPECT_EQ(hpcc.window(1000), 125U) << "one trail measures nothing";
  // A whole round later: all of the link is used, and as much again waits.
  tell(trail_of(20 * kMicrosecond, 250'000, 125'000), 2);
  tell(trail_of(30 * kMicrosecond, 375'000, 125'000), 200);
  EXPECT_EQ(hpcc.utilization(), 2 * Hpcc::kOne);
  EXPECT_EQ(hpcc.window(1000), (118'750 * 475 / 1000 + 80 + 80 + 999) / 1000);
  EXPECT_LT(hpcc.rate(settings, 100'000'000'000, 0), 50'000'000'000U);
  // The link is idle: additive increase, five rounds, then to the target at once.
  for (std::uint32_t round = 4; round < 12; ++round)
    tell(trail_of(round * 10 * kMicrosecond, 375'000 + round, 0), round * 200);
  EXPECT_EQ(hpcc.window(1000), 125U);
  EXPECT_EQ(hpcc.window(7), 7U);
  // Another way: nothing to compare with.
  Trail other = trail_of(200 * kMicrosecond, 1, 4'000'000);
  other.told[0].arc = 5;
  tell(other, 4000);
  EXPECT_EQ(hpcc.window(1000), 125U);
}

TEST(Packets, HpccKeepsQueuesShorterThanDcqcnAndTheLinkFull) {
  for (const HostTransport transport : {HostTransport::kGoBackN, HostTransport::kSelective}) {
    Plan plan = incast(8, 0, transport);
    plan.duration = 4 * kMillisecond;
    std::uint32_t longest = 0;
    const Hooks hooks{.sample_every = 10 * kMicrosecond, .sample = [&](const Network& n) {
                        if (n.now < kMillisecond) return;
                        for (const Port& p : n.ports)
                          if (p.forwards)
                            for (const Queue& q : p.queues) longest = std::max(longest, q.octets);
                      }};
    plan.settings.hpcc.on = true;
    const auto with = run(plan, hooks, 2);
    ASSERT_TRUE(with) << to_string(with.error());
    EXPECT_EQ(with->count.pauses, 0U);
    EXPECT_LT(longest, 20'000U) << "where DCQCN begins to mark";
    double sum = 0;
    for (const FlowResult& f : with->flows) sum += static_cast<double>(f.throughput_bps);
    EXPECT_GT(sum, 0.85 * 95e9);
    plan.settings.dcqcn.on = true;
    EXPECT_EQ(to_string(run(plan, {}).error()),
              "settings.hpcc: dcqcn is given too: a flow has one congestion control");
  }
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
  for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct) << f.name << " got " << f.received_octets;
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
