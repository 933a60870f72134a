// SPDX-License-Identifier: Apache-2.0
// Where a device stands in the fabric: docs/develop/rules.md P1 to P7.
#include "agent/core/location.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/text.hpp"
#include "tests/core/support/network.hpp"
#include "tests/core/support/single.hpp"
#include "tlv/location.hpp"

namespace lldp::test {
namespace {

using core::location_text;
using std::chrono::hours;
using std::chrono::minutes;

ChassisId id(std::string name) { return {{ChassisId::kLocal, std::move(name)}}; }
Tier tier(std::size_t l, std::string name) { return {level(l), id(std::move(name)), 1}; }

/// Two pods of two aggregation switches and two leaves, two spines, a host on each leaf. The
/// identifiers of the leaves are a, b (first pod) and c, d.
struct Location : testing::Test {
  std::size_t add(Role role, std::string name) {
    Settings s;
    s.chassis_id = id(name);
    s.establish = seconds(60);
    return by_name[name] = net.add(role, std::move(s));
  }
  void connect(std::string_view a, std::string_view b) {
    cables[std::string(a) + "-" + std::string(b)] =
        net.connect(by_name.at(std::string(a)), by_name.at(std::string(b)));
  }
  void SetUp() override {
    for (const char* spine : {"s1", "s2"}) add(Role::kSwitch, spine);
    for (const char* pod : {"p", "q"})
      for (const char* plane : {"1", "2"}) {
        add(Role::kSwitch, std::string(pod) + plane);
        connect(std::string(pod) + plane, std::string("s") + plane);
      }
    for (const char* leaf : {"a", "b", "c", "d"}) {
      add(Role::kSwitch, leaf);
      add(Role::kHost, std::string("h") + leaf);
      connect(std::string("h") + leaf, leaf);
      for (const char* plane : {"1", "2"})
        connect(leaf, (*leaf < 'c' ? "p" : "q") + std::string(plane));
    }
    net.start_all();
    net.run_for(seconds(100));
  }
  [[nodiscard]] std::string at(const std::string& name) {
    return location_text(net.agent(by_name.at(name)).snapshot(net.now).location);
  }
  void cut(const std::string& cable) { net.set_cable(cables.at(cable), false); }
  void mend(const std::string& cable) { net.set_cable(cables.at(cable), true); }
  std::size_t changes(const std::string& name) {
    const auto& events = net.nodes[by_name.at(name)].events;
    return static_cast<std::size_t>(
        std::ranges::count(events, core::Event::Kind::kLocation, &core::Event::kind));
  }

  Network net;
  std::map<std::string, std::size_t> by_name{};
  std::map<std::string, std::size_t> cables{};
};

TEST_F(Location, IsTheLeastLeafOfEveryTierForAllBelow) {  // docs/develop/rules.md P1, P2 and P3
  EXPECT_EQ(at("s1"), "3 a");
  EXPECT_EQ(at("s2"), "3 a");
  EXPECT_EQ(at("p1"), "2 a, 3 a");
  EXPECT_EQ(at("q2"), "2 c, 3 a");
  EXPECT_EQ(at("b"), "1 b, 2 a, 3 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
  EXPECT_EQ(at("hd"), "1 d, 2 c, 3 a");
}

TEST_F(Location, StaysWhenTheLeafThatItIsNamedAfterIsReplaced) {  // docs/develop/rules.md P7
  std::map<std::string, std::size_t> before;
  for (const auto& [other, node] : by_name) before[other] = changes(other);
  cut("a-p1"), cut("a-p2");
  net.run_for(hours(1));
  net.alter(by_name["a"]).chassis_id = id("z");
  net.configure(by_name["a"]);
  mend("a-p1"), mend("a-p2");
  net.run_for(seconds(40));
  EXPECT_EQ(at("ha"), "1 z, 2 a, 3 a");
  for (const auto& [other, node] : by_name)
    if (other != "a" && other != "ha") EXPECT_EQ(changes(other), before[other]) << other;
}

TEST_F(Location, StaysWhenALeafWithALesserIdIsAdded) {  // docs/develop/rules.md P7
  add(Role::kSwitch, "A");
  add(Role::kHost, "hA");
  connect("hA", "A"), connect("A", "p1"), connect("A", "p2");
  for (const char* name : {"A", "hA"}) net.start(by_name[name]);
  net.run_for(seconds(40));
  EXPECT_EQ(at("hA"), "1 A, 2 a, 3 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
}

TEST_F(Location, OfASwitchThatIsAddedAboveIsThatOfItsTier) {  // docs/develop/rules.md P7
  cut("a-p1"), cut("a-p2");
  net.run_for(seconds(10));
  for (const char* s : {"p3", "s3"}) add(Role::kSwitch, s);
  connect("p3", "s3"), connect("b", "p3");
  for (const char* s : {"p3", "s3"}) net.start(by_name[s]);
  net.run_for(seconds(40));
  EXPECT_EQ(at("p3"), "2 a, 3 a");  // though it never heard leaf a
  EXPECT_EQ(at("s3"), "3 a");
}

TEST_F(Location,
       OutlivesAnOutageOfThePodWithoutTheLeafOfItsName) {  // docs/develop/rules.md P4 and P7
  cut("a-p1"), cut("a-p2");
  net.run_for(seconds(10));
  for (const char* s : {"p1", "p2", "b"}) net.stop(by_name[s], false);
  for (const char* c : {"b-p1", "b-p2", "p1-s1", "p2-s2", "hb-b"}) cut(c);
  net.run_for(seconds(10));
  for (const char* c : {"b-p1", "b-p2", "p1-s1", "p2-s2", "hb-b"}) mend(c);
  for (const char* s : {"p1", "p2", "b"}) net.start(by_name[s]);
  net.run_for(seconds(40));
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
}

TEST_F(Location, StaysWhenALeafThatCameLaterLeavesItsLevel) {  // docs/develop/rules.md P7
  cut("a-p1"), cut("a-p2");                                    // the leaf of the name is gone
  net.run_for(seconds(10));
  for (const char* name : {"w", "hw"}) add(*name == 'w' ? Role::kSwitch : Role::kHost, name);
  connect("hw", "w"), connect("w", "p1"), connect("w", "p2");
  for (const char* name : {"w", "hw"}) net.start(by_name[name]);
  net.run_for(seconds(40));
  EXPECT_EQ(at("hw"), "1 w, 2 a, 3 a");
  const std::size_t before = changes("hb");
  cut("hw-w");
  net.run_for(minutes(5));
  EXPECT_EQ(at("w"), "3 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
  EXPECT_EQ(changes("hb"), before);
}

/// Two pods that were never connected, each with an aggregation switch and two leaves.
struct Halves : Location {
  void SetUp() override {
    for (const char* agg : {"p1", "q1"}) add(Role::kSwitch, agg);
    for (const char* leaf : {"a", "b", "c", "d"}) {
      add(Role::kSwitch, leaf);
      add(Role::kHost, std::string("h") + leaf);
      connect(std::string("h") + leaf, leaf);
      connect(leaf, *leaf < 'c' ? "p1" : "q1");
    }
    connect("b", "q1");
    cut("b-q1");
  }
  void start(std::initializer_list<const char*> names) {
    for (const char* n : names) net.start(by_name[n]);
  }
};

TEST_F(Halves, TakeTheLeastIdWhileBothAreYoung) {
  net.start_all();
  net.run_for(seconds(30));
  EXPECT_EQ(at("hd"), "1 d, 2 c");
  mend("b-q1");
  net.run_for(seconds(30));
  EXPECT_EQ(at("hd"), "1 d, 2 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a");
}

TEST_F(Halves, TakeTheOlderIdAndSaySo) {
  start({"q1", "c", "hc", "d", "hd"});
  net.run_for(hours(20));
  start({"p1", "a", "ha", "b", "hb"});
  net.run_for(seconds(30));
  EXPECT_EQ(at("ha"), "1 a, 2 a");
  mend("b-q1");
  net.run_for(seconds(30));
  EXPECT_EQ(at("ha"), "1 a, 2 c");
  EXPECT_EQ(at("hd"), "1 d, 2 c");
  const auto notes = net.agent(by_name["ha"]).snapshot(net.now).tier_notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].was, id("a"));
}

TEST_F(Halves, ThatAreSettledStayApartWhileACableIsInAWrongPort) {
  net.start_all();
  net.run_for(hours(30));
  mend("b-q1");
  net.run_for(minutes(9));
  EXPECT_EQ(at("hb"), "1 b, 2 a");
  EXPECT_EQ(at("hd"), "1 d, 2 c");
  const auto notes = net.agent(by_name["q1"]).snapshot(net.now).tier_notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].joins, id("a"));
  cut("b-q1");
  net.run_for(hours(5));
  EXPECT_EQ(at("hb"), "1 b, 2 a");
  EXPECT_EQ(at("hd"), "1 d, 2 c");
  EXPECT_TRUE(net.agent(by_name["q1"]).snapshot(net.now).tier_notes.empty());
  mend("b-q1");
  net.run_for(minutes(40));
  EXPECT_EQ(at("hd"), "1 d, 2 a");
}

TEST_F(Halves, ThatWereJoinedAndPartedAreNamedAnewByTheOperator) {
  net.start_all();
  mend("b-q1");
  net.run_for(hours(3));
  cut("b-q1");
  net.run_for(minutes(5));
  EXPECT_EQ(at("hd"), "1 d, 2 a");
  EXPECT_TRUE(net.renew_location(by_name["q1"]));
  net.run_for(minutes(30));
  EXPECT_EQ(at("hd"), "1 d, 2 c");
  EXPECT_EQ(at("hc"), "1 c, 2 c");
  EXPECT_EQ(at("hb"), "1 b, 2 a");
  EXPECT_FALSE(net.renew_location(by_name["c"]));  // a leaf's tier has the leaf's ID
}

/// The first pod is named anew: leaf z takes the place of a while the cable of b has no carrier.
struct NamedAnew : Halves {
  void SetUp() override {
    Halves::SetUp();
    net.start_all();
    net.run_for(hours(2));
    cut("b-p1");
    net.run_for(minutes(5));
    cut("ha-a"), cut("a-p1");
    add(Role::kSwitch, "z");
    add(Role::kHost, "hz");
    connect("hz", "z");
    start({"z", "hz"});
    net.run_for(seconds(20));  // so that its first frame says what it is
    connect("z", "p1");
    auto& cable = net.cables[cables.at("z-p1")];
    cable.mute[1] = true;  // and no frame of it an ID of p1
    net.run_for(seconds(1));
    cable.mute[1] = false;
  }
};

TEST_F(NamedAnew, TakesItsFormerIdWhenALeafIsBack) {  // docs/develop/rules.md P7
  net.run_for(minutes(30));
  EXPECT_EQ(at("hz"), "1 z, 2 z");
  mend("b-p1");
  net.run_for(seconds(40));
  EXPECT_EQ(at("p1"), "2 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a");
  EXPECT_EQ(at("hz"), "1 z, 2 a");
}

TEST_F(NamedAnew, KnowsALeafThatHasLostItsState) {  // docs/develop/rules.md P7
  net.run_for(minutes(30));
  EXPECT_EQ(at("hz"), "1 z, 2 z");
  net.stop(by_name["b"], false);
  net.nodes[by_name["b"]].state.reset();
  net.start(by_name["b"]);
  mend("b-p1");
  net.run_for(seconds(100));
  EXPECT_EQ(at("hb"), "1 b, 2 a");
  EXPECT_EQ(at("hz"), "1 z, 2 a");
}

TEST_F(NamedAnew, StaysAsItIsOnceTheNewIdIsSettled) {  // docs/develop/rules.md P7
  net.run_for(hours(2));
  mend("b-p1");
  net.run_for(seconds(40));
  EXPECT_EQ(at("hb"), "1 b, 2 z");
}

TEST_F(Location, HoldsWhereOnePlaneLosesTheLeastLeaf) {
  cut("a-p1");
  net.run_for(seconds(1));
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");  // by the other plane
}

TEST_F(Location, OfAPodWhoseLinksFailStaysInBothHalves) {
  for (const char* cable : {"a-p2", "b-p1", "p2-s2", "q2-s2"}) cut(cable);
  net.run_for(seconds(3));
  EXPECT_EQ(at("ha"), "1 a, 2 a, 3 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
}

TEST_F(Location, FollowsASwitchThatIsMoved) {
  for (const char* cable : {"a-p1", "a-p2"}) net.unplug(cables.at(cable));
  const auto leaf = by_name["a"];
  net.connect(leaf, by_name["q1"]);
  net.connect(leaf, by_name["q2"]);
  net.run_for(seconds(3));
  EXPECT_EQ(at("ha"), "1 a, 2 c, 3 a");
  EXPECT_EQ(at("hd"), "1 d, 2 c, 3 a");
  EXPECT_EQ(at("hb"), "1 b, 2 a, 3 a");
}

TEST_F(Location, OutlivesSilenceAndRestartsOfAnyAgent) {  // docs/develop/rules.md P4
  for (const bool orderly : {true, false}) {
    for (const char* name : {"a", "p1", "s1", "ha"}) {
      std::map<std::string, std::size_t> before;
      for (const auto& [other, node] : by_name) before[other] = changes(other);
      net.stop(by_name[name], orderly);
      net.run_for(seconds(300));  // whatever was heard of it has aged out
      net.start(by_name[name]);
      net.run_for(seconds(40));
      for (const auto& [other, node] : by_name)
        EXPECT_EQ(changes(other), before[other]) << other << " when " << name << " restarts";
      EXPECT_EQ(at("ha"), "1 a, 2 a, 3 a");
      EXPECT_EQ(at("hc"), "1 c, 2 c, 3 a");
    }
  }
}

TEST_F(Location, OutlivesARebootOfTheDevice) {
  const auto host = by_name["hd"];
  net.stop(host, false);
  cut("hd-d");
  net.run_for(seconds(60));
  net.start(host);
  net.run_for(seconds(1));
  EXPECT_EQ(at("hd"), "1 d, 2 c, 3 a");  // its link is still down
}

TEST_F(Location, IsForgottenByTheOperator) {  // docs/develop/rules.md P4
  cut("hd-d");
  net.run_for(seconds(1));
  EXPECT_EQ(at("hd"), "1 d, 2 c, 3 a");
  net.forget(by_name["hd"], {});
  net.run_for(seconds(1));
  EXPECT_EQ(at("hd"), "none");
  mend("hd-d");
  net.run_for(seconds(3));
  EXPECT_EQ(at("hd"), "1 d, 2 c, 3 a");
}

TEST_F(Location, OfAnIsolatedPodNeverCountsUp) {
  for (const char* cable : {"p1-s1", "p2-s2"}) cut(cable);
  net.run_for(seconds(1));
  for (const char* leaf : {"a", "b"}) cut("h" + std::string(leaf) + "-" + leaf);
  net.run_for(hours(1));
  for (const auto& [name, node] : by_name) EXPECT_LE(changes(name), 8U) << name;
  for (const char* name : {"p1", "p2", "a", "b"}) EXPECT_EQ(at(name).find("4 "), std::string::npos);
}

TEST_F(Location, OfATierThatOnlyTwoSwitchesTellEachOtherEnds) {  // docs/develop/rules.md P7
  std::size_t pin = 1;
  for (const char* name : {"l", "m", "u"}) {
    add(Role::kSwitch, name);
    net.alter(by_name[name]).pinned_level = level(pin++);
  }
  connect("l", "m"), connect("m", "u");
  for (const char* name : {"l", "m", "u"}) net.start(by_name[name]);
  net.run_for(seconds(40));
  EXPECT_EQ(at("m"), "2 l, 3 l");
  EXPECT_EQ(at("u"), "3 l");
  cut("l-m");
  net.run_for(minutes(5));
  EXPECT_EQ(at("m"), "none");
  EXPECT_EQ(at("u"), "none");
}

TEST_F(Location, CostsNoFrameInAQuietFabric) {  // docs/develop/rules.md P5
  net.run_for(minutes(10));
  const auto begin = net.frames_sent;
  net.run_for(minutes(10));
  EXPECT_EQ(net.frames_sent - begin, 2 * net.cables.size() * 20);  // one in 30 s from each end
}

// One device, hard inputs

Bytes location_of(std::initializer_list<Tier> tiers) {
  const std::string octets = core::octets_of(std::vector<Tier>(tiers));
  return {octets.begin(), octets.end()};
}
Peer telling(Peer peer, Bytes location) {
  peer.location = std::move(location);
  return peer;
}
std::string location_at(const Single& s) { return location_text(s.agent.snapshot(s.now).location); }
Settings a_host() {
  Settings s;
  s.role = Role::kHost;
  return s;
}
std::string told(const Bytes& frame) {
  return location_text(core::tiers_of(as_text(read(frame).location)));
}

TEST(P3, AHostOnSeveralLeavesIsToldTheLeast) {
  Single host(a_host());
  host.up(1, 2);
  host.hear(1, telling(a_switch("y", 1), location_of({tier(1, "y"), tier(2, "y"), tier(4, "t")})));
  EXPECT_EQ(location_at(host), "1 y, 2 y, 4 t");
  host.hear(2, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "z")})));
  host.pass(milliseconds(40));
  EXPECT_EQ(location_at(host), "1 x, 2 y, 4 t");
  EXPECT_EQ(told(host.sends(1).back().frame), "none");
}

TEST(P3, FromBelowComesNoTierThatIsNotAbove) {
  Single agg;
  agg.up(1, 2);
  agg.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a"), tier(3, "a")})));
  EXPECT_EQ(location_at(agg), "2 a");
}

TEST(P1, ALeafThatTellsNoLocationIsOneAllTheSame) {
  Single host(a_host());
  host.up(1);
  host.hear(1, a_switch("old", 1));
  EXPECT_EQ(location_at(host), "1 old");
}

TEST(P4, WhatEndsWithAPortsMemoryEndsInTheSameTurn) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1), host.up(1);
  host.pass(seconds(60));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.pass(seconds(62));  // Single holds that each turn leaves nothing due
  EXPECT_EQ(location_at(host), "none");
}

TEST(P3, WithoutAnAgentNearbyNothingIsKnown) {
  Single host(a_host());
  host.up(1);
  host.hear(1, {.name = "stock", .capabilities = tlv::Capabilities::kBridge});
  EXPECT_EQ(location_at(host), "none");
}

TEST(P5, AnUplinkIsToldTheTiersAboveWithoutHurry) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "a")})));
  leaf.pass(seconds(2));
  const std::string all = "1 " + to_string(leaf.agent.chassis_id()) + ", 2 a, 3 a";
  EXPECT_EQ(told(leaf.sends(1).back().frame), all);
  EXPECT_EQ(told(leaf.sends(2).back().frame), all);
  leaf.pass(seconds(8));  // newcomers have been answered
  leaf.sends(1), leaf.sends(2);
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "b")})));
  leaf.pass(milliseconds(100));
  EXPECT_EQ(leaf.sends(1).size(), 1U);
  EXPECT_EQ(leaf.sends(2).size(), 0U);
  leaf.pass(milliseconds(1500));
  EXPECT_EQ(leaf.sends(2).size(), 1U);
}

TEST(P5, ABurstIsToldAtItsBeginningAndItsEnd) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  const auto say = [&](const char* name) {
    leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, name)})));
  };
  say("z");
  leaf.pass(seconds(65));
  leaf.sends(1);
  for (const char* name : {"y", "x", "w", "v"}) say(name), leaf.pass(milliseconds(1));
  leaf.pass(seconds(1));
  const auto sent = leaf.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(told(sent[0].frame), testing::EndsWith("2 y"));
  EXPECT_THAT(told(sent[1].frame), testing::EndsWith("2 v"));
  EXPECT_LE(sent[1].time - sent[0].time, milliseconds(40));
}

/// An aggregation switch: leaves on ports 1 and 2, a spine on 3.
struct HeldBack : testing::Test {
  void SetUp() override {
    agg.up(1, 3);
    agg.hear(3, a_switch("spine", 3));
  }
  void leaf(std::size_t port, const char* name) {
    agg.hear(port, telling(a_switch(name, 1), location_of({tier(1, name)})));
  }
  void spine(const char* name) {
    agg.hear(3, telling(a_switch("spine", 3), location_of({tier(3, name)})));
  }
  /// What the port has told since last asked, and how often.
  std::pair<std::string, std::size_t> last(std::size_t port) {
    const auto sent = agg.sends(port);
    return {sent.empty() ? "-" : told(sent.back().frame), sent.size()};
  }
  using Last = std::pair<std::string, std::size_t>;
  Single agg;
};

TEST_F(HeldBack, TheOwnTierWaitsForEveryPortAndThoseAboveForTheSwitchesAbove) {
  leaf(1, "y");
  agg.pass(milliseconds(100));
  EXPECT_EQ(location_at(agg), "2 y");
  EXPECT_EQ(last(3).first, "none");
  leaf(2, "x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3), Last("2 x", 1));
  EXPECT_EQ(last(1).first, "none");
  spine("x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(1), Last("2 x, 3 x", 1));
  EXPECT_EQ(last(3).second, 0U);  // what the spine told can wait
}

TEST_F(HeldBack, WhoIsSilentIsWaitedForAMoment) {
  leaf(1, "y");
  agg.pass(seconds(2));
  EXPECT_EQ(last(3).first, "none");
  agg.pass(milliseconds(1500));
  EXPECT_EQ(last(3).first, "2 y");
}

TEST_F(HeldBack, AndOneTtlAfterACarrierNoMore) {
  leaf(1, "y");
  spine("y");
  agg.pass(seconds(122));
  spine("y");
  agg.pass(seconds(10));
  last(3);
  leaf(1, "x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3), Last("2 x, 3 y", 1));  // port 2 is silent
  agg.down(2), agg.up(2);
  leaf(1, "w");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3).second, 0U);
}

TEST(P5, AHostThatWasDownWhenItWasToldIsToldAgain) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  const auto say = [&](const char* name) {
    leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, name)})));
  };
  say("z");
  leaf.pass(seconds(40));
  leaf.sends(1);
  say("y");
  leaf.pass(milliseconds(100));
  EXPECT_EQ(leaf.sends(1).size(), 1U);  // nobody may have heard it
  leaf.hear(1, host());
  leaf.pass(milliseconds(1500));
  ASSERT_EQ(leaf.sends(1).size(), 1U);
  leaf.hear(1, host());
  leaf.pass(milliseconds(1500));
  EXPECT_EQ(leaf.sends(1).size(), 0U);
}

TEST(P5, AListThatIsTooLongIsCutAtItsUpperEnd) {
  std::vector<Tier> tiers;
  for (std::size_t l = 1; l <= 40; ++l) tiers.push_back(tier(l, "leaf"));
  EXPECT_EQ(core::tiers_of(core::octets_of(tiers)).size(), 32U);
  for (Tier& t : tiers) t.id.octets.assign(100, 'x');
  const std::string octets = core::octets_of(tiers);
  EXPECT_EQ(core::tiers_of(octets).size(), 4U);
  EXPECT_LE(octets.size(), 507U);
  tiers.front().id.octets.assign(255, 'x');
  EXPECT_EQ(core::octets_of(tiers), "");
}

TEST(P5, OfALinkWithASmallMtuItIsLeftOutAndCounted) {
  Single leaf;
  leaf.set({.ifindex = ifindex(1), .up = true, .mtu = 50});
  leaf.hear(1, host());
  leaf.pass(seconds(2));
  EXPECT_EQ(told(leaf.sends(1).back().frame), "none");
  EXPECT_GT(leaf.statistics(1).lldpduLengthErrors, 0U);
}

TEST(P6, WhatCannotBeIsDiscardedAndCounted) {
  const Bytes wrong[] = {
      {1},                                                   // cut in an entry's head
      {1, 4, 7, 'x', 'y'},                                   // cut in its identifier
      {1, 2, 7, 'x', 0, 0, 0},                               // cut in its age
      {1, 0, 0, 0, 0, 0},                                    // an empty identifier
      {1, 1, 7, 0, 0, 0, 0},                                 // a subtype alone
      {0, 2, 7, 'x', 0, 0, 0, 0},                            // a level that no switch has
      {255, 2, 7, 'x', 0, 0, 0, 0},                          //
      {2, 2, 7, 'x', 0, 0, 0, 1, 1, 2, 7, 'x', 0, 0, 0, 1},  // not sorted
      {1, 2, 7, 'x', 0, 0, 0, 1, 1, 2, 7, 'y', 0, 0, 0, 1},  // twice
      Bytes(8 * 33, 0),                                      // too many, below
  };
  for (Bytes octets : wrong) {
    if (octets.size() == 8 * 33)
      for (std::uint8_t l = 0; l < 33; ++l) {
        const Bytes entry{static_cast<std::uint8_t>(l + 1), 2, 7, 'x'};
        std::ranges::copy(entry, octets.begin() + 8 * l);
      }
    Single host(a_host());
    host.up(1);
    host.hear(1, telling(a_switch("x", 2), octets));
    host.pass(seconds(2));
    EXPECT_EQ(location_at(host), "none");
    EXPECT_EQ(host.statistics(1).statsTLVsDiscardedTotal, 1U) << to_hex(octets);
    EXPECT_EQ(host.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt);
  }
}

TEST(P6, WhatContradictsItsSenderIsNotTakenAndAnAlarm) {
  struct Case {
    const char* name;
    Peer peer;
  };
  const Case cases[] = {
      {"below its level", telling(a_switch("x", 2), location_of({tier(1, "x"), tier(2, "x")}))},
      {"a leaf that is another",
       telling(a_switch("x", 1), location_of({tier(1, "a"), tier(2, "a")}))},
      {"a leaf that is no leaf", telling(a_switch("x", 1), location_of({tier(2, "a")}))},
      {"no level", telling(a_switch("x", {}), location_of({tier(1, "x")}))},
      {"a host", telling(test::host("x"), location_of({tier(1, "x")}))},
  };
  for (const Role role : {Role::kHost, Role::kSwitch})
    for (const Case& c : cases) {
      Settings settings;
      settings.role = role;
      Single s(settings);
      s.up(1);
      s.hear(1, c.peer);
      s.pass(milliseconds(900));  // lldpd's TLVs are set one by one
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt) << c.name;
      s.pass(seconds(1));
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"),
                "x: location TLV contradicts level or chassis ID; it is not taken")
          << c.name;
      EXPECT_THAT(location_at(s), testing::Not(testing::HasSubstr("a"))) << c.name;
      Peer right = c.peer;
      right.location.clear();
      s.hear(1, right);
      s.pass(seconds(2));
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt) << c.name;
    }
}

TEST(P4, WhatIsKnownGoesWithWhoToldItAndStandsElsewhereNow) {
  for (const bool moved : {true, false}) {
    Single host(a_host());
    host.up(1);
    host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
    EXPECT_EQ(location_at(host), "1 x, 2 a");
    if (moved)
      host.hear(1, telling(a_switch("x", 2), location_of({tier(2, "x")})));
    else
      host.down(1);
    host.pass(seconds(1));
    EXPECT_EQ(location_at(host), moved ? "none" : "1 x, 2 a");
  }
}

TEST(P4, WhatNobodyTellsLastsForADay) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.pass(hours(48));  // silent, and the carrier is there
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.down(1);
  host.pass(hours(23));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.pass(hours(2));
  EXPECT_EQ(location_at(host), "none");
}

TEST(P4, RestartsDoNotMakeThatDayLonger) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1);
  host.pass(seconds(1));
  for (int i = 0; i < 23; ++i) {
    host.pass(hours(1));
    host.restart(i % 2 == 0);
    host.set({.ifindex = ifindex(1)});
    host.pass(seconds(1));
    EXPECT_EQ(location_at(host), "1 x, 2 a") << i;
  }
  host.pass(hours(1));
  EXPECT_EQ(location_at(host), "none");
}

// What was known of the other tier is void, but not what the port remembers.
TEST(P4, WhoStartsAnewAtAnotherLevelStandsWhereItsPortsRemember) {
  Settings settings;
  settings.pinned_level = level(1);
  Single before(settings);
  before.up(1);
  before.hear(1, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "b")})));
  EXPECT_THAT(location_at(before), testing::EndsWith(", 2 a, 3 b"));
  settings.pinned_level = level(3);
  Single after(settings, before.agent.state());
  EXPECT_EQ(location_at(after), "none");
  after.up(1);
  EXPECT_EQ(location_at(after), "3 b");
}

TEST(P4, OfAFileThatDoesNotSayWhenItLastsForADayFromTheStart) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1);
  host.pass(seconds(1));
  core::State state = host.agent.state();
  ASSERT_TRUE(state.location_until);
  state.location_until.reset();
  Single again(a_host(), state);
  again.set({.ifindex = ifindex(1)});
  again.pass(seconds(1));
  EXPECT_GE(again.count(Event::Kind::kState), 1U);  // it does now
  EXPECT_TRUE(again.agent.state().location_until);
  state.location_until = again.now - seconds(1);
  Single late(a_host(), state);
  late.set({.ifindex = ifindex(1)});
  EXPECT_EQ(location_at(late), "none");
}

TEST(P4, WhoIsOnAHostPortTellsNothing) {
  Settings settings;
  settings.host_ports = {"swp1"};
  Single leaf(settings);
  leaf.up(1);
  leaf.hear(1, telling(a_switch("evil", 2), location_of({tier(2, "a")})));
  EXPECT_EQ(location_at(leaf), "1 " + to_string(leaf.agent.chassis_id()));
}

TEST(P4, WhatAStockLldpdSaysInItsPlaceDoesNotTakeItAway) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.hear(1, {.name = "x", .capabilities = tlv::Capabilities::kStationOnly});
  host.pass(seconds(1));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
}

TEST(P4, WhatStandsInTheFileIsToldAtOnceUnlessTheLevelIsAnother) {
  core::State state{
      .level = level(2),
      .role = Role::kSwitch,
      .location = {tier(2, "a"), tier(3, "a")},
      .ports = {{.name = "swp1", .memory = {.kind = core::PortMemory::Kind::kAbove}}}};
  state.chassis_id = id("me");
  Single agg({}, state);
  agg.up(1);
  EXPECT_EQ(told(agg.sends(1).front().frame), "2 a, 3 a");
  Settings pinned;
  pinned.pinned_level = level(3);
  Single moved(pinned, state);
  moved.up(1);
  EXPECT_EQ(told(moved.sends(1).front().frame), "none");
}

}  // namespace
}  // namespace lldp::test
