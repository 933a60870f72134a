// SPDX-License-Identifier: Apache-2.0
// Hosts: incast, repair of losses, congestion control, spread frames.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "lab/des/random.hpp"
#include "lab/topology/generators.hpp"
#include "sim/packets/host/dcqcn.hpp"
#include "sim/packets/host/hpcc.hpp"
#include "sim/packets/report.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/workload/sizes.hpp"
#include "sim/packets/workload/traffic.hpp"
#include "tests/sim/packets_plans.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

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
      for (const FlowResult& f : o.flows) EXPECT_TRUE(f.fct);
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
                for (Arc a = 0; a < n.arcs(); ++a)
                  for (const Queue& q : n.queues_of(a))
                    if (n.ports[a].forwards) longest = std::max(longest, q.octets);
              }};
  hooks.to_the_end = false;
  const auto o = run(plan, hooks);
  EXPECT_TRUE(o) << to_string(o.error());
  if (!o) return 0;
  for (const FlowResult& f : o->flows) EXPECT_TRUE(f.fct);
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
  lab::FlowPath way{.name = {"f"}, .from = node("host1"), .to = node("host16")};
  for (const char* core : {"core1", "core2", "core3", "core4"}) {
    way.via = {node(core)};
    plan.flows = {{.spec = {.octets = 10'000}, .way = way}};
    const Outcome o = outcome_of(plan);
    EXPECT_THAT(path_text(plan, o, o.flows[0]), HasSubstr(core));
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
  EXPECT_EQ(hpcc.pace(settings, 100'000'000'000, 0).bps, 100'000'000'000U);
  tell(trail_of(10 * kMicrosecond, 125'000, 0), 1);
  EXPECT_EQ(hpcc.window(1000), 125U) << "one trail measures nothing";
  // A whole round later: all of the link is used, and as much again waits.
  tell(trail_of(20 * kMicrosecond, 250'000, 125'000), 2);
  tell(trail_of(30 * kMicrosecond, 375'000, 125'000), 200);
  EXPECT_EQ(hpcc.utilization(), 2 * Hpcc::kOne);
  EXPECT_EQ(hpcc.window(1000), (118'750 * 475 / 1000 + 80 + 80 + 999) / 1000);
  EXPECT_LT(hpcc.pace(settings, 100'000'000'000, 0).bps, 50'000'000'000U);
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
                        for (Arc a = 0; a < n.arcs(); ++a)
                          if (n.ports[a].forwards)
                            for (const Queue& q : n.queues_of(a))
                              longest = std::max(longest, q.octets);
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

}  // namespace
}  // namespace lldp::lab::packets
