// SPDX-License-Identifier: Apache-2.0
// Random fabrics, random failures and flaps, random flows: packets against the proof. SIM_FABRICS=N
// makes it more of them; SIM_SEED=N begins there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "lab/des/random.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/generators.hpp"
#include "sim/packets/report.hpp"
#include "sim/packets/run.hpp"

namespace lldp::lab::packets {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// A Clos of two or three levels with failures; flows at line rate from everybody, with small
/// thresholds, so that buffers fill within microseconds.
Plan random_plan(std::uint64_t seed) {
  Random random(seed);
  const auto some = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::size_t>(least + random.below(most - least + 1));
  };
  ClosShape shape;
  if (random.chance(0.5)) {
    shape.switches = {some(3, 6), some(2, 3)};
    shape.pods = {};
  } else {
    const std::size_t pods = some(2, 3);
    shape.switches = {pods * 2, pods * 2, some(2, 3)};
    shape.pods = {pods};
  }
  shape.hosts = shape.switches[0] * 2;
  auto fabric = clos(shape);
  EXPECT_TRUE(fabric) << to_string(fabric.error());
  Plan plan;
  plan.name = std::to_string(seed);
  plan.fabric = std::move(*fabric);
  plan.failed.resize(plan.fabric.links.size());
  plan.duration = 600 * kMicrosecond;
  plan.settings.seed = seed;
  plan.settings.pfc.xoff_octets = 20'000;
  plan.settings.pfc.xon_octets = 17'000;
  std::vector<std::size_t> hosts;
  std::vector<std::size_t> links;
  for (std::size_t n = 0; n < plan.fabric.nodes.size(); ++n)
    if (plan.fabric.nodes[n].role == Role::kHost) hosts.push_back(n);
  for (std::size_t l = 0; l < plan.fabric.links.size(); ++l)
    if (forwards(plan.fabric.nodes[plan.fabric.links[l].ends[0].node]) &&
        forwards(plan.fabric.nodes[plan.fabric.links[l].ends[1].node]))
      links.push_back(l);
  for (std::size_t i = some(1, 4); i > 0; --i) plan.failed[links[some(0, links.size() - 1)]] = true;
  if (random.chance(0.3)) {
    const std::size_t flapping = links[some(0, links.size() - 1)];
    for (std::size_t i = 0; i < 10; ++i)
      plan.events.push_back(
          {(1 + i) * 50 * kMicrosecond, flapping, plan.failed[flapping] == (i % 2 == 0)});
  }
  for (const std::size_t from : hosts)
    for (int i = 0; i < 2; ++i) {
      lab::FlowPath way{
          .name = {"f"}, .from = from, .to = from, .via = {}, .hash = random.next() | 1U};
      while (way.to == from) way.to = hosts[some(0, hosts.size() - 1)];
      if (local_reroute(plan.fabric, plan.failed, way)) plan.flows.push_back({.way = way});
    }
  return plan;
}

TEST(PacketsOnRandomFabrics, DeadlockOnlyWhereTheProofHasACycle) {
  const std::uint64_t first = from_environment("SIM_SEED", 1);
  const std::uint64_t count = from_environment("SIM_FABRICS", 20);
  std::uint64_t deadlocks = 0;
  std::uint64_t turned = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Plan plan = random_plan(seed);
    if (plan.flows.empty()) continue;
    const auto graph = switch_graph(plan.fabric, Span::kLevels);
    ASSERT_TRUE(graph);
    const auto one =
        qos::prove(graph->forwarding, qos::Policy::with_lossless(1), qos::OnTurn::kStays);
    const auto two = qos::prove(graph->forwarding, plan.settings.policy);
    ASSERT_TRUE(two.deadlock_free());
    const auto with = run(plan);
    ASSERT_TRUE(with) << to_string(with.error());
    EXPECT_TRUE(with->levels_agreed) << seed;
    EXPECT_FALSE(with->deadlocked_at) << "SIM_FABRICS=1 SIM_SEED=" << seed;
    EXPECT_EQ(with->count.drops, 0U) << seed;
    plan.settings.protection = ProtectionScheme::kOff;
    const auto without = run(plan);
    ASSERT_TRUE(without);
    EXPECT_EQ(without->count.drops, 0U) << seed;
    if (without->deadlocked_at) {
      EXPECT_FALSE(one.deadlock_free()) << seed;
      ++deadlocks;
    }
    turned += with->count.turned;
  }
  RecordProperty("deadlocks_without_rules", std::to_string(deadlocks));
  std::printf("%llu fabrics: %llu deadlocked without the rules\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(deadlocks));
  if (count >= 20) {  // else the test tests little
    EXPECT_GT(deadlocks, 0U);
    EXPECT_GT(turned, 0U);
  }
}

/// Links of all lengths, none among them, senders of all kinds: whatever is in step, and whatever
/// is not, the result is the same for any number of threads, and in the order of time.
TEST(PacketsOnRandomFabrics, AnyNumberOfThreadsGivesTheSameResult) {
  const std::uint64_t first = from_environment("SIM_SEED", 1);
  const std::uint64_t count = from_environment("SIM_FABRICS", 8);
  constexpr FlowControlKind kControls[] = {FlowControlKind::kPfc, FlowControlKind::kPfc,
                                           FlowControlKind::kOff};
  constexpr ProtectionScheme kProtection[] = {ProtectionScheme::kOff, ProtectionScheme::kDownUp,
                                              ProtectionScheme::kWatchdog};
  constexpr std::uint64_t kDelays[] = {0, 5, 100, 1000, 1000, 1000, 15'000};
  constexpr std::uint64_t kRates[] = {100'000'000'000, 100'000'000'000, 25'000'000'000,
                                      7'000'000'001};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Plan plan = random_plan(seed);
    Random random(seed + 1'000'000);
    const bool even = random.chance(0.5);
    for (Link& link : plan.fabric.links)
      if (!even) {
        link.delay_ns = kDelays[random.below(std::size(kDelays))];
        link.rate_bps = kRates[random.below(std::size(kRates))];
      }
    for (PlannedFlow& f : plan.flows) {
      f.spec.transport = static_cast<HostTransport>(random.below(std::size(kTransports)));
      if (random.chance(0.5)) f.spec.octets = 1 + random.below(200'000);
      if (random.chance(0.3)) f.spec.start = random.below(100) * kMicrosecond;
    }
    plan.settings.flow_control = kControls[random.below(std::size(kControls))];
    plan.settings.protection = kProtection[random.below(std::size(kProtection))];
    plan.settings.watchdog.drops = random.chance(0.5);
    plan.settings.watchdog.detection = plan.settings.watchdog.restoration = 50 * kMicrosecond;
    plan.settings.dcqcn.on = plan.settings.ecn.on = random.chance(0.5);
    plan.settings.go_back_rto = 100 * kMicrosecond;
    plan.duration = 200 * kMicrosecond;
    const auto one = run(plan);
    ASSERT_TRUE(one) << to_string(one.error());
    const auto more = run(plan, {}, 2 + seed % 2);
    ASSERT_TRUE(more) << to_string(more.error());
    EXPECT_EQ(to_json(plan, *more), to_json(plan, *one)) << "SIM_FABRICS=1 SIM_SEED=" << seed;
    const auto in_order = run(plan, {.trace = [](Picoseconds, const Slot&) {}});
    ASSERT_TRUE(in_order) << to_string(in_order.error());
    EXPECT_EQ(to_json(plan, *in_order), to_json(plan, *one)) << "SIM_FABRICS=1 SIM_SEED=" << seed;
  }
}

/// ITSY declares what the oracle sees, all of it, and nothing else.
TEST(PacketsOnRandomFabrics, ItsyDeclaresDeadlocksAndNothingElse) {
  const std::uint64_t first = from_environment("SIM_SEED", 1);
  const std::uint64_t count = from_environment("SIM_FABRICS", 20);
  std::size_t verdicts = 0;
  std::uint64_t deadlocked = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Plan plan = random_plan(seed);
    if (plan.flows.empty()) continue;
    plan.settings.protection = ProtectionScheme::kItsy;
    plan.settings.pfc.quanta = 8'192;  // 42 us: what is told again is told soon
    plan.settings.itsy.handle = seed % 2 == 0;
    plan.duration = kMillisecond;
    const auto o = run(plan);
    ASSERT_TRUE(o) << to_string(o.error());
    const std::string which = "SIM_FABRICS=1 SIM_SEED=" + std::to_string(seed);
    EXPECT_EQ(o->count.drops, 0U) << which;
    for (const Verdict& v : o->verdicts)
      EXPECT_TRUE(v.real) << which << " at " << v.at / kNanosecond;
    // No deadlock that begins in time to be seen outlasts what a proof takes.
    EXPECT_LE(o->longest_deadlock, 300 * kMicrosecond) << which;
    verdicts += o->verdicts.size();
    deadlocked += o->deadlocked_at ? 1U : 0U;
  }
  std::printf("%llu fabrics: %llu deadlocked, %zu verdicts\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(deadlocked),
              verdicts);
  if (count >= 20) {
    EXPECT_GT(deadlocked, 0U);
    EXPECT_GT(verdicts, 0U);
  }
}

/// What waited for a link that failed goes on by another way, and its loop is none any more.
TEST(PacketsOnRandomFabrics, ItsyForgetsWhatItKnewOfALinkThatFails) {
  for (const std::uint64_t seed : {661U, 1172U}) {
    Plan plan = random_plan(seed);
    plan.settings.protection = ProtectionScheme::kItsy;
    plan.settings.pfc.quanta = 8'192;
    plan.settings.itsy.handle = seed % 2 == 0;
    plan.duration = kMillisecond;
    const auto o = run(plan);
    ASSERT_TRUE(o);
    EXPECT_FALSE(o->verdicts.empty());
    for (const Verdict& v : o->verdicts) EXPECT_TRUE(v.real) << v.at / kNanosecond;
  }
}

/// When a carrier came back, the far end sent at once into a buffer that was still above XOFF.
TEST(PacketsOnRandomFabrics, ALinkThatComesBackIsStillPaused) {
  for (const ProtectionScheme protection : {ProtectionScheme::kOff, ProtectionScheme::kDownUp}) {
    Plan plan = random_plan(830);
    ASSERT_FALSE(plan.events.empty());
    plan.settings.protection = protection;
    const auto outcome = run(plan);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->count.drops, 0U);
  }
}

}  // namespace
}  // namespace lldp::lab::packets
