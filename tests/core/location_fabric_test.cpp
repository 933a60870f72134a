// SPDX-License-Identifier: Apache-2.0
// Where the devices of a fabric stand: docs/develop/rules.md P1 to P7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "agent/core/location.hpp"
#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

using core::location_text;
using std::chrono::hours;
using std::chrono::minutes;

ChassisId id(std::string name) { return {{ChassisId::kLocal, std::move(name)}}; }

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

}  // namespace
}  // namespace lldp::test
