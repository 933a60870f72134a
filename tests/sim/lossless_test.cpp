// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "dataplane/soft/messages.hpp"
#include "qos/ruleset.hpp"
#include "sim/lossless/frames.hpp"
#include "sim/lossless/report.hpp"
#include "sim/lossless/stage.hpp"
#include "sim/lossless/station.hpp"
#include "sim/lossless/switch_file.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::lossless {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::kNever;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr MacAddress kHere{2, 0, 0, 0, 0, 1};
constexpr MacAddress kThere{2, 0, 0, 0, 0, 2};
constexpr std::size_t kFrame = 1048;  ///< on the wire: 419.2 us at 20 Mb/s

TEST(PfcFrame, IsLaidOutAsTheStandardSays) {
  PfcFrame pause;
  pause.quanta[5] = 0x1234;
  pause.quanta[6] = 0;
  Bytes expected{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01,   // IEEE 802.1Q-2018 36.1.3: MAC control
                 0x02, 0x00, 0x00, 0x00, 0x00, 0x01,   // from
                 0x88, 0x08, 0x01, 0x01, 0x00, 0x60};  // opcode; priorities 5 and 6
  for (unsigned p = 0; p < 8; ++p) {
    expected.push_back(p == 5 ? 0x12 : 0);
    expected.push_back(p == 5 ? 0x34 : 0);
  }
  expected.resize(60);
  EXPECT_EQ(format(pause, kHere), expected);
  EXPECT_EQ(parse_pfc(expected), pause);
  for (std::size_t size = 0; size < 34; ++size)
    EXPECT_FALSE(parse_pfc(ByteSpan(expected).first(size))) << size;
  expected[15] = 0x02;
  EXPECT_FALSE(parse_pfc(expected));
}

TEST(Ipv4Frame, IsForwardedWithItsChecksum) {
  const Load load{.flow = 3, .number = 70'000, .dscp = Dscp::of<43>()};
  Bytes frame = format(load, kFrame, kHere, kThere);
  ASSERT_EQ(frame.size(), kFrame - kFcsOctets);
  const auto before = parse_ipv4(frame);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->ttl, 64);
  EXPECT_EQ(before->to, (Ipv4{198, 18, 3, 2}));
  forward(frame, kThere, kHere, Dscp::of<51>());
  const auto after = parse_ipv4(frame);  // refuses a wrong checksum
  ASSERT_TRUE(after);
  EXPECT_EQ(after->ttl, 63);
  EXPECT_EQ(parse_load(frame), (Load{.flow = 3, .number = 70'000, .dscp = Dscp::of<51>()}));
  frame[24] ^= 1;
  EXPECT_FALSE(parse_ipv4(frame));
}

TEST(Ipv4Frame, ThatIsCutOffAnywhereInItsHeaderIsNone) {
  const Bytes frame = format(Load{.dscp = Dscp::of<43>()}, kFrame, kHere, kThere);
  for (std::size_t size = 0; size < frame.size(); ++size)
    EXPECT_FALSE(parse_load(ByteSpan(frame).first(size))) << size;
}

/// A station whose frames are kept.
struct Kept {
  std::vector<std::pair<std::size_t, Bytes>> out{};
  std::optional<Station> station{};
  explicit Kept(const StationSettings& settings) {
    auto made = Station::of(settings, [this](std::size_t port, ByteSpan frame) {
      out.emplace_back(port, Bytes(frame.begin(), frame.end()));
    });
    EXPECT_TRUE(made) << to_string(made.error());
    if (made) station.emplace(std::move(*made));
  }
  std::vector<PfcFrame> pauses(std::size_t port) const {
    std::vector<PfcFrame> found;
    for (const auto& [at, frame] : out)
      if (const auto pause = parse_pfc(frame); pause && at == port) found.push_back(*pause);
    return found;
  }
  std::vector<Load> loads(std::size_t port) const {
    std::vector<Load> found;
    for (const auto& [at, frame] : out)
      if (const auto load = parse_load(frame); load && at == port) found.push_back(*load);
    return found;
  }
};

StationSettings switch_settings() {
  return {.name = "leaf",
          .ports = {{"swp1", kHere}, {"swp2", kHere}, {"swp3", kHere}},
          .routes = {{{198, 18, 0, 2}, "swp3", kThere}}};
}
PfcFrame pause_of(std::uint8_t priority, std::uint16_t quanta) {
  PfcFrame pause;
  pause.quanta[priority] = quanta;
  return pause;
}

TEST(Station, HostKeepsItsRateAndObeysAPauseForItsTime) {
  Kept host({.name = "host", .forwards = false, .ports = {{"eth0", kHere}}});
  host.station->load(0, kFrame, kThere);
  host.station->run(10 * kMillisecond);
  EXPECT_EQ(host.loads(0).size(), 24U);  // one every 419.2 us, from 0 on
  // 2000 times 512 bit times are 51.2 ms at 20 Mb/s.
  host.station->receive(0, format(pause_of(5, 2000), kThere));
  host.station->run(61 * kMillisecond);
  EXPECT_EQ(host.loads(0).size(), 24U);
  host.station->run(62 * kMillisecond);
  EXPECT_GT(host.loads(0).size(), 24U);
  const std::size_t so_far = host.loads(0).size();
  host.station->receive(0, format(pause_of(5, 0xffff), kThere));
  host.station->run(100 * kMillisecond);
  host.station->receive(0, format(pause_of(5, 0), kThere));
  host.station->run(101 * kMillisecond);
  EXPECT_GT(host.loads(0).size(), so_far);
}

TEST(Station, ShorterPauseAfterALongerOneEndsInItsOwnTime) {
  Kept host({.name = "host", .forwards = false, .ports = {{"eth0", kHere}}});
  host.station->receive(0, format(pause_of(5, 0xffff), kThere));  // 1.7 s
  host.station->load(0, kFrame, kThere);
  host.station->run(kMillisecond);
  host.station->receive(0, format(pause_of(5, 100), kThere));  // 2.56 ms
  host.station->run(3 * kMillisecond);
  EXPECT_THAT(host.loads(0), IsEmpty());
  host.station->run(4 * kMillisecond);
  EXPECT_EQ(host.loads(0).size(), 2U);  // at 3.56 ms and one after it
}

TEST(Station, PauseOfAnotherPriorityStopsNothing) {
  Kept host({.name = "host", .forwards = false, .ports = {{"eth0", kHere}}});
  host.station->load(0, kFrame, kThere);
  host.station->receive(0, format(pause_of(6, 0xffff), kThere));
  host.station->run(10 * kMillisecond);
  EXPECT_EQ(host.loads(0).size(), 24U);
}

TEST(Station, PauseStopsLosslessPrioritiesAlone) {
  Kept leaf(switch_settings());
  PfcFrame all;
  all.quanta.fill(0xffff);
  leaf.station->receive(2, format(all, kThere));
  EXPECT_EQ(leaf.station->view().ports.at("swp3").stopped, 1U << 5 | 1U << 6);
  leaf.station->receive(0, format(Load{.dscp = Dscp::of<0>()}, kFrame, kThere, kHere));
  leaf.station->receive(0, format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, kHere));
  leaf.station->run(kMillisecond);
  EXPECT_THAT(leaf.loads(2), ElementsAre(Load{.dscp = Dscp::of<0>()}));
}

TEST(Station, SwitchPausesWhoSendsMoreThanLeavesAndRefreshesThat) {
  Kept leaf(switch_settings());
  leaf.station->receive(2, format(pause_of(5, 0xffff), kThere));
  const Bytes frame = format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, kHere);
  for (int i = 0; i < 95; ++i) leaf.station->receive(0, frame);  // 99,560 octets
  EXPECT_THAT(leaf.pauses(0), IsEmpty());
  leaf.station->receive(0, frame);
  EXPECT_THAT(leaf.pauses(0), ElementsAre(pause_of(5, 2000)));
  EXPECT_THAT(leaf.pauses(1), IsEmpty());
  leaf.station->run(100 * kMillisecond);  // told again every 25.6 ms
  EXPECT_EQ(leaf.pauses(0).size(), 4U);
  const auto& port = leaf.station->view().ports.at("swp3");
  EXPECT_EQ(port.stopped, 1U << 5);
  EXPECT_EQ(port.waiting, 1U << 5);
  EXPECT_EQ(port.waiting_octets, 96 * kFrame);
  EXPECT_EQ(leaf.station->view().ports.at("swp1").stopping, 1U << 5);
  leaf.station->receive(2, format(pause_of(5, 0), kThere));
  leaf.station->run(200 * kMillisecond);
  EXPECT_EQ(leaf.pauses(0).back(), pause_of(5, 0));
  // One that lets it go on stops nobody.
  EXPECT_EQ(leaf.station->view().ports.at("swp1").pauses_sent + 1, leaf.pauses(0).size());
  EXPECT_EQ(leaf.loads(2).size(), 96U);
  EXPECT_EQ(leaf.station->view().drops, 0U);
  EXPECT_EQ(leaf.station->view().ports.at("swp1").stopping, 0U);
}

TEST(Station, PacketThatTurnsLeavesInTheNextClassAndIsCounted) {
  Kept leaf(switch_settings());
  const qos::Ruleset up = qos::compile(qos::Policy(), {.order = Order::kUp});
  const qos::Ruleset down = qos::compile(qos::Policy(), {.order = Order::kDown});
  ASSERT_TRUE(leaf.station->set_rules("swp1", up));
  ASSERT_TRUE(leaf.station->set_rules("swp2", down));
  ASSERT_TRUE(leaf.station->set_rules("swp3", up));
  const auto dscp_after = [&](std::size_t from, Dscp dscp) {
    leaf.out.clear();
    leaf.station->receive(from, format(Load{.dscp = dscp}, kFrame, kThere, kHere));
    leaf.station->run(leaf.station->next() == kNever ? 0 : leaf.station->next());
    const auto loads = leaf.loads(2);
    return loads.empty() ? -1 : static_cast<int>(loads.front().dscp.value());
  };
  Picoseconds now = 0;
  const auto later = [&] { leaf.station->run(now += 10 * kMillisecond); };
  later();
  EXPECT_EQ(dscp_after(0, Dscp::of<43>()), 51);
  later();
  EXPECT_EQ(dscp_after(0, Dscp::of<51>()), 0);
  later();
  EXPECT_EQ(dscp_after(0, Dscp::of<46>()), 46);
  later();
  EXPECT_EQ(dscp_after(1, Dscp::of<43>()), 43);
  const auto& bounces = leaf.station->view().ports.at("swp3").bounces;
  EXPECT_THAT(bounces, ElementsAre(0, 0, 0, 0, 0, 1, 1, 0));
  later();
  ASSERT_TRUE(leaf.station->set_rules("swp3", std::nullopt));
  EXPECT_EQ(dscp_after(0, Dscp::of<43>()), 43);
}

TEST(Station, PacketThatHasTurnedKeepsItsNewClassWhateverBecomesOfTheRules) {
  Kept leaf(switch_settings());
  const qos::Ruleset up = qos::compile(qos::Policy(), {.order = Order::kUp});
  for (const char* port : {"swp1", "swp3"}) ASSERT_TRUE(leaf.station->set_rules(port, up));
  leaf.station->receive(2, format(pause_of(6, 0xffff), kThere));
  leaf.station->receive(0, format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, kHere));
  EXPECT_EQ(leaf.station->view().ports.at("swp3").waiting, 1U << 6);
  ASSERT_TRUE(leaf.station->set_rules("swp3", std::nullopt));
  leaf.station->receive(2, format(pause_of(6, 0), kThere));
  leaf.station->run(kMillisecond);
  EXPECT_THAT(leaf.loads(2), ElementsAre(Load{.dscp = Dscp::of<51>()}));
}

TEST(Station, RefusesRulesForOtherLosslessPriorities) {
  auto settings = switch_settings();
  settings.policy = qos::Policy::with_lossless(1);
  Kept leaf(settings);
  const auto done =
      leaf.station->set_rules("swp1", qos::compile(qos::Policy(), {.order = Order::kUp}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what,
            "the switch has the lossless priorities 0x20, the rules 0x60: give both the same "
            "qos.lossless");
  EXPECT_EQ(leaf.station->set_rules("swp9", std::nullopt).error().code, ENODEV);
}

TEST(Station, WhatHasNoRouteOrNoHopLeftOrGoesBackGoesNowhere) {
  Kept leaf(switch_settings());
  Bytes frame = format(Load{.flow = 1, .dscp = Dscp::of<43>()}, kFrame, kThere, kHere);
  leaf.station->receive(0, frame);
  leaf.station->receive(2, format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, kHere));
  frame = format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, kHere);
  for (int i = 0; i < 63; ++i) forward(frame, kThere, kHere, Dscp::of<43>());
  leaf.station->receive(0, frame);
  for (const MacAddress& to : {kThere, MacAddress{1, 0, 0x5e, 0, 0, 1},
                               MacAddress{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}})  // for others
    leaf.station->receive(0, format(Load{.dscp = Dscp::of<43>()}, kFrame, kThere, to));
  leaf.station->run(10 * kMillisecond);
  EXPECT_THAT(leaf.out, IsEmpty());
}

TEST(Station, FrameThatNoLinkCarriesIsCounted) {
  Kept leaf(switch_settings());
  const auto receive = [&](std::size_t octets) {
    leaf.station->receive(0, format(Load{.dscp = Dscp::of<43>()}, octets, kThere, kHere));
  };
  receive(1518);
  leaf.station->run(10 * kMillisecond);
  EXPECT_EQ(leaf.loads(2).size(), 1U);
  EXPECT_EQ(leaf.station->view().too_long, 0U);
  receive(1519);
  leaf.station->run(20 * kMillisecond);
  EXPECT_EQ(leaf.loads(2).size(), 1U);
  EXPECT_EQ(leaf.station->view().too_long, 1U);
}

TEST(SwitchFile, RoundTripsAndNamesTheKeyThatIsWrong) {
  const SwitchFile file{.socket = "/run/x", .station = switch_settings(), .rules_late_ms = 300};
  const auto back = parse_switch_file(format(file));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, file);
  const auto complaint = [](std::string_view text) {
    const auto parsed = parse_switch_file(text);
    return parsed ? std::string() : to_string(parsed.error());
  };
  EXPECT_EQ(complaint("{"), "switch: is no JSON");
  EXPECT_EQ(complaint("[]"), "must be an object");
  EXPECT_EQ(complaint(R"({"name": "a"})"), "socket: is missing");
  EXPECT_EQ(complaint(R"({"socket": "/s", "rules_late_ms": 2001})"),
            "rules_late_ms: give 2000 at most");
  EXPECT_EQ(complaint(R"({"socket": "/s", "rate_bps": -1})"),
            "rate_bps: must be a number up to 18446744073709551615");
  EXPECT_EQ(complaint(R"({"socket": "/s", "ports": [{"name": "a", "address": "x"}]})"),
            "ports[0].address: is no address");
  EXPECT_EQ(complaint(R"({"socket": "/s", "routes": [{"to": "198.18.0.256"}]})"),
            "routes[0].to: is no address");
}

TEST(SwitchFile, RefusesWhatItDoesNotKnowAndWhatStandsTwice) {
  const auto complaint = [](std::string_view text) {
    const auto parsed = parse_switch_file(text);
    return parsed ? std::string() : to_string(parsed.error());
  };
  EXPECT_EQ(complaint(R"({"socket": "/s", "rate_bp": 5})"), "rate_bp: is not known");
  EXPECT_EQ(complaint(R"({"socket": "/s", "routes": [{"to": "10.0.0.1", "port": "a",)"
                      R"( "next": "2:0:0:0:0:1", "via": 1}]})"),
            "routes[0].via: is not known");
  EXPECT_EQ(complaint(R"({"socket": "/s", "rate_bps": 1, "rate_bps": 2})"),
            "rate_bps: stands twice");
  const auto refusal = [](const StationSettings& settings) {
    const auto made = Station::of(settings, {});
    return made ? std::string() : to_string(made.error());
  };
  auto settings = switch_settings();
  settings.routes.push_back({{198, 18, 0, 2}, "swp2", kThere});
  EXPECT_EQ(refusal(settings), "routes: 198.18.0.2 stands twice");
  settings = switch_settings();
  settings.name.assign(65, 'x');
  EXPECT_EQ(refusal(settings), "name: give 64 octets at most");
  settings = switch_settings();
  for (int i = 0; settings.ports.size() <= kMostPorts; ++i)
    settings.ports.push_back({std::to_string(i), kHere});
  EXPECT_EQ(refusal(settings), "ports: 200 at most");
}

TEST(SoftMessages, WhatASwitchOfAllPortsSaysFitsInOne) {
  namespace soft = dataplane::soft;
  const auto settings = switch_settings();
  const qos::Ruleset rules = qos::compile(qos::Policy::with_lossless(7),
                                          {.order = Order::kUp, .near = qos::Layer::of<3>()}, true);
  soft::View view{.name = std::string(64, 'x'), .lossless = 0xff};
  for (std::size_t i = 0; i < kMostPorts; ++i) {
    soft::Port& port = view.ports[std::to_string(100'000'000'000'000 + i)];
    port = {.rules = rules, .stopped = 255, .stopping = 255, .waiting = 255};
    port.bounces.fill(1'000'000'000'000);
    port.waiting_octets = port.sent = port.pauses_sent = port.pauses_heard = 1'000'000'000'000;
  }
  EXPECT_LE(soft::format(soft::Answer(view)).size(), soft::kMaxMessage);
}

TEST(SoftMessages, RoundTrip) {
  namespace soft = dataplane::soft;
  const qos::Ruleset rules =
      qos::compile(qos::Policy(), {.order = Order::kUp, .near = qos::Layer::of<3>()}, true);
  for (const soft::Request& request :
       {soft::Request(soft::Read{}), soft::Request(soft::Set{.id = 7, .port = "swp1"}),
        soft::Request(soft::Set{.id = 8, .port = "swp1", .rules = rules})})
    EXPECT_EQ(soft::parse_request(soft::format(request)), request);
  soft::View view{.name = "leaf", .lossless = 0x60, .drops = 1, .drops_lossy = 2, .missed = 3};
  view.ports["swp1"] = {.rules = rules, .stopped = 32, .waiting_octets = 9, .pauses_heard = 4};
  for (const soft::Answer& answer :
       {soft::Answer(view), soft::Answer(soft::Done{.id = 7, .code = ENODEV, .why = "no"})})
    EXPECT_EQ(soft::parse_answer(soft::format(answer)), answer);
  for (const char* text : {"", "{}", "[1]", R"({"read": 1})", R"({"set": {"id": 1}})",
                           R"({"done": {"id": -1, "code": 0, "why": ""}})"})
    EXPECT_FALSE(soft::parse_request(text)) << text;
}

TEST(Outcome, HoldsWhereNothingIsAmiss) {
  const Outcome good{.flows = {{.sent = 3, .received = 3}, {.sent = 1, .received = 1}},
                     .pauses = 7,
                     .turned = 2,
                     .late_us = 9'999'999,  // whatever a process was late
                     .fills_us = 40'000,
                     .sent_us = 320'000};
  EXPECT_EQ(good.verdict(), Outcome::Verdict::kHolds);
  const auto verdict_with = [&](auto change) {
    Outcome bad = good;
    bad.late_us = 20'000;
    change(bad);
    return bad.verdict();
  };
  using V = Outcome::Verdict;
  EXPECT_EQ(verdict_with([](Outcome& o) { o.lost.too_long = 1; }), V::kHolds) << "none of ours";
  EXPECT_EQ(verdict_with([](Outcome& o) { o.sent_us = 319'999; }), V::kNone) << "too short";
  EXPECT_EQ(verdict_with([](Outcome& o) { o.deadlock.emplace_back(); }), V::kDeadlock);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.lost.drops = 1; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.lost.missed = 1; }), V::kNone);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.waiting_octets = 1; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[1].received = 0; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[1].sent = o.flows[1].received = 0; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[1].disordered = 1; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[1].mismarked = 1; }), V::kFails);
}

TEST(Outcome, IsNoneWhereAProcessWasLateAndNothingElseIsAmiss) {
  // More than half of the time in which a buffer fills.
  const Outcome lost{.flows = {{.sent = 3, .received = 2}},
                     .late_us = 20'001,
                     .fills_us = 40'000,
                     .sent_us = 320'000};
  EXPECT_EQ(lost.verdict(), Outcome::Verdict::kNone);
  const auto verdict_with = [&](auto change) {
    Outcome other = lost;
    change(other);
    return other.verdict();
  };
  using V = Outcome::Verdict;
  EXPECT_EQ(verdict_with([](Outcome& o) { o.deadlock.emplace_back(); }), V::kNone);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.late_us = 20'000; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[0].received = 3; }), V::kHolds);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[0].mismarked = 1; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) { o.flows[0].disordered = 1; }), V::kFails);
  // Nothing is lost before the headroom is full, which takes a second.
  EXPECT_EQ(verdict_with([](Outcome& o) { o.lost.drops = 1; }), V::kFails);
  EXPECT_EQ(verdict_with([](Outcome& o) {
              o.lost.drops = o.flows[0].disordered = 1;
              o.late_us = 1'000'001;
            }),
            V::kNone);
}

TEST(Pace, MakesUpForOneFrameOfWhatItCouldNotDo) {
  constexpr Picoseconds kLongest = packets::kSecond * 1518 * 8 / 20'000'000;  // 607.2 us
  Pace pace(20'000'000);
  EXPECT_EQ(pace.at(5 * kMillisecond, kNever), 5 * kMillisecond) << "there was nothing to do";
  EXPECT_EQ(pace.at(6 * kMillisecond, 6 * kMillisecond), 6 * kMillisecond);
  EXPECT_EQ(pace.at(7 * kMillisecond, 7 * kMillisecond - 600 * kMicrosecond), 7 * kMillisecond);
  EXPECT_EQ(pace.behind(), 0U);
  EXPECT_EQ(pace.at(20 * kMillisecond, 10 * kMillisecond), 10 * kMillisecond + kLongest);
  // From then on its time goes on as the clock's does.
  const Picoseconds behind = 10 * kMillisecond - kLongest;
  EXPECT_EQ(pace.behind(), behind);
  EXPECT_EQ(pace.due(11 * kMillisecond), 11 * kMillisecond + behind);
  EXPECT_EQ(pace.at(21 * kMillisecond, kNever), 21 * kMillisecond - behind);
}

TEST(Pace, HasATurnNowAndThenForWhatMayCome) {
  constexpr Picoseconds kLongest = packets::kSecond * 1518 * 8 / 20'000'000;
  Pace pace(20'000'000);
  EXPECT_EQ(pace.due(kNever), 16 * kLongest);
  EXPECT_EQ(pace.at(17 * kLongest, kNever), 17 * kLongest);
  EXPECT_EQ(pace.due(kNever), 33 * kLongest);
  // Late, with nothing to do: what has come meanwhile is late all the same.
  EXPECT_EQ(pace.at(200 * kMillisecond, kNever), 34 * kLongest);
  EXPECT_EQ(pace.behind(), 200 * kMillisecond - 34 * kLongest);
  EXPECT_EQ(pace.due(kNever), 200 * kMillisecond + 16 * kLongest);
}

TEST(Lateness, IsTheMostOfOneProcessSinceTheFirstReading) {
  Lateness lateness;
  const auto read = [&](std::size_t process, Picoseconds behind) {
    lateness.read(process, behind);
    return lateness.most();
  };
  EXPECT_EQ(read(1, 500), 0U) << "before anybody looked";
  EXPECT_EQ(read(2, 0), 0U);
  EXPECT_EQ(read(1, 510), 10U);
  EXPECT_EQ(read(2, 7), 10U) << "each by itself";
  EXPECT_EQ(read(1, 520), 20U);
  EXPECT_EQ(read(2, 21), 21U);
}

TEST(Pace, LateHostSendsNoBurst) {
  Kept host({.name = "host", .forwards = false, .ports = {{"eth0", kHere}}});
  Pace pace(20'000'000);
  host.station->load(0, kFrame, kThere);
  host.station->run(pace.at(kMillisecond, host.station->next()));
  const std::size_t before = host.loads(0).size();
  host.station->run(pace.at(500 * kMillisecond, host.station->next()));
  EXPECT_LE(host.loads(0).size(), before + 2);
  // Then at its rate.
  for (Picoseconds now = 500 * kMillisecond; now < 600 * kMillisecond; now += 100 * kMicrosecond)
    host.station->run(pace.at(now, host.station->next()));
  EXPECT_NEAR(static_cast<double>(host.loads(0).size() - before), 100'000 / 419.2, 4);
}

TEST(Report, SaysThatItWasTooShortForACycleToClose) {
  const auto plan = packets::plan_of_case("case1", 1, 1);
  ASSERT_TRUE(plan);
  const Outcome o{.flows = {{.sent = 3, .received = 3}}, .fills_us = 800'000, .sent_us = 3'000'000};
  EXPECT_EQ(
      nlohmann::json::parse(to_json(*plan, {}, o)).at("why_none"),
      "a buffer fills in 800.0 ms, and those of a cycle one after the other: in 3000.0 ms none "
      "can close; give more --seconds, 6.4 at least");
}

TEST(Report, SaysWhyThereIsNoVerdict) {
  const auto plan = packets::plan_of_case("case1", 1, 1);
  ASSERT_TRUE(plan);
  Outcome o{.deadlock = {{.node = 0, .peer = 1, .port = "p", .priority = 5}},
            .late_us = 20'000,
            .fills_us = 40'000};
  const auto report = [&] { return nlohmann::json::parse(to_json(*plan, {}, o)); };
  EXPECT_THAT(to_text(*plan, {}, o), HasSubstr("\nDEADLOCK\n"));
  EXPECT_EQ(report().at("verdict"), "deadlock");
  EXPECT_TRUE(report().at("deadlock"));
  EXPECT_TRUE(report().at("why_none").is_null());
  o.late_us = 20'001;
  o.lost.too_long = 7;
  constexpr char kWhy[] =
      "the machine was too slow: a process was late by 20.0 ms, more than half of the "
      "40.0 ms in which a buffer fills; give a lower --link-rate, or a machine that does less";
  const std::string text = to_text(*plan, {}, o);
  EXPECT_THAT(text, HasSubstr(std::string("\nno verdict: ") + kWhy + "\n"));
  EXPECT_THAT(text, HasSubstr(" priority 5\n")) << "what stood still is told";
  EXPECT_THAT(text, HasSubstr("0 missed, 7 too long; at most 20.0 ms late\n"));
  EXPECT_EQ(report().at("verdict"), "none");
  EXPECT_EQ(report().at("why_none"), kWhy);
  EXPECT_FALSE(report().at("deadlock"));
  EXPECT_FALSE(report().at("holds"));
  EXPECT_EQ(report().at("queues").size(), 1U);
  EXPECT_EQ(report().at("too_long"), 7);
  EXPECT_EQ(report().at("fills_us"), 40'000);
  o = {.flows = {{.sent = 2, .received = 1}}, .lost = {.missed = 1}};
  EXPECT_THAT(to_text(*plan, {}, o), HasSubstr("no verdict: the kernel had no room for frames; "));
  o.lost = {};
  EXPECT_EQ(report().at("verdict"), "fails");
  o.flows[0].received = 2;
  EXPECT_EQ(report().at("verdict"), "holds");
}

TEST(StoppedCycle, LeavesOutWhoWaitsForTheCycleAndWhomNobodyWaitsFor) {
  const auto plan = packets::plan_of_case("case1", 2, 1);
  ASSERT_TRUE(plan);
  const Fabric& fabric = plan->fabric;
  const auto node = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                                 [&](const Node& n) { return n.name == name; }) -
                                    fabric.nodes.begin());
  };
  Views views;
  const auto stop = [&](std::string_view from, std::string_view to, bool waits = true) {
    for (const Link& link : fabric.links)
      for (std::size_t e = 0; e < 2; ++e)
        if (link.ends[e].node == node(from) && link.ends[1 - e].node == node(to))
          views[node(from)].ports[link.ends[e].port] = {
              .stopped = 32, .waiting = static_cast<std::uint8_t>(waits ? 32 : 0)};
  };
  stop("Leaf2", "Spine1");
  stop("Spine1", "Leaf3");
  stop("Leaf3", "Spine2");
  EXPECT_THAT(stopped_cycle(fabric, views), IsEmpty());
  stop("Spine2", "Leaf2", false);
  EXPECT_THAT(stopped_cycle(fabric, views), IsEmpty());
  stop("Spine2", "Leaf2");
  stop("Leaf1", "Spine1");  // waits for the cycle
  stop("Leaf2", "host2");   // nobody waits behind it
  std::vector<std::string> found;
  for (const StoppedQueue& q : stopped_cycle(fabric, views))
    found.push_back(fabric.nodes[q.node].name + ">" + fabric.nodes[q.peer].name);
  EXPECT_THAT(found, testing::UnorderedElementsAre("Leaf2>Spine1", "Spine1>Leaf3", "Leaf3>Spine2",
                                                   "Spine2>Leaf2"));
}

}  // namespace
}  // namespace lldp::lab::lossless
