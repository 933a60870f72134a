// SPDX-License-Identifier: Apache-2.0
// Lossless classes from evidence (docs/develop/rules.md, C1 to C8).
#include "agent/core/classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <set>

#include "tests/core/support/class_peers.hpp"
#include "tests/core/support/names.hpp"

namespace lldp::test {
namespace {

using core::Classes;
using core::ClassPeer;
using core::OwnClasses;
using qos::Chains;
using qos::DscpSet;
using qos::LosslessClass;
using std::chrono::milliseconds;

/// One device, its time moved by hand.
struct Device {
  explicit Device(OwnClasses known = {}, Chains restored = {}) : classes(std::move(restored)) {
    set(std::move(known));
  }
  void set(OwnClasses known) {
    classes.set_own(std::move(known));
    decide();
  }
  void hear(std::size_t port, std::vector<ClassPeer> peers) {
    classes.hear(ifindex(port), "swp" + std::to_string(port), std::move(peers), now);
    decide();
  }
  void decide() {
    news = classes.decide(now);
    for (const std::string& text : news.added) added.push_back(text);
  }
  void pass(Duration d) {
    const TimePoint end = now + d;
    for (; classes.deadline() <= end; decide()) now = classes.deadline();
    now = end;
    decide();
  }
  void forget() {
    classes.forget(now);
    decide();
  }
  [[nodiscard]] std::string text() const { return to_string(classes.chains()); }
  [[nodiscard]] std::string mismatch(std::size_t port = 0) const {
    return classes.mismatch(port == 0 ? Ifindex() : ifindex(port), now).value_or("none");
  }
  [[nodiscard]] std::vector<unsigned> hops() const {
    std::vector<unsigned> out;
    const auto told = classes.told().value_or(tlv::ClassesTlv{});
    for (const auto& c : told.classes.view())
      if (c.step == 0) out.push_back(c.hops);
    return out;
  }

  TimePoint now{std::chrono::seconds(1000)};
  Classes classes;
  Classes::News news{};
  std::vector<std::string> added{};
};
using V = std::vector<unsigned>;

// SONiC's own map leads DSCP 0 to a priority that may be lossless.
TEST(Classes, WhatTheConfigurationMakesLossyIsOfNoClass) {
  core::PortClasses port{.pfc = 0b1010};
  port.dscps.at(3) = DscpSet(*Dscp::make(26)).mask();
  port.dscps.at(1) = 1;
  port.dscps.at(0) = ~(port.dscps.at(1) | port.dscps.at(3));
  OwnClasses own{.lossy = qos::Class{}};
  core::take_ports(own, std::array{port});
  ASSERT_EQ(own.applications.size(), 1U);
  EXPECT_EQ(own.applications[0].priority, *Priority::make(3));
  EXPECT_THAT(own.unexplained, testing::HasSubstr("PFC is on here for priority 1,"));
  own = {.lossy = qos::Class{*Priority::make(3), *Dscp::make(24)}};
  core::take_ports(own, std::array{port});
  ASSERT_EQ(own.applications.size(), 1U);
  EXPECT_EQ(own.applications[0].priority, *Priority::make(1));
}

TEST(Classes, OneThatTheChipHasNoTrafficClassForIsLeftOut) {
  OwnClasses own{
      .applications = {qos::lossless_class(*Priority::make(3), DscpSet(*Dscp::make(26))),
                       qos::lossless_class(*Priority::make(4), DscpSet(*Dscp::make(34)))},
      .most_classes = 4};
  Device d(own);
  const std::string before = d.text();
  EXPECT_EQ(d.mismatch(), "none");
  own.applications.push_back(qos::lossless_class(*Priority::make(1), DscpSet(*Dscp::make(8))));
  d.set(own);
  d.pass(std::chrono::minutes(1));
  EXPECT_EQ(d.text(), before);
  EXPECT_THAT(d.mismatch(), testing::HasSubstr("traffic classes for 4 lossless classes"));
  own.applications.pop_back();
  d.set(own);
  EXPECT_EQ(d.mismatch(), "none");
  own.applications.push_back(qos::lossless_class(*Priority::make(1), DscpSet(*Dscp::make(8))));
  own.most_classes = 0;
  d.set(own);
  EXPECT_NE(d.text(), before);
}

TEST(Classes, TheDeviceHasNoRulesWhereItsLossyClassIsLossless) {
  OwnClasses own{
      .applications = {qos::lossless_class(*Priority::make(3), DscpSet(*Dscp::make(26)))}};
  for (const auto& [priority, dscp] : {std::pair(2, 16), std::pair(3, 30), std::pair(0, 26)}) {
    Device d(own);  // 3 > 2
    EXPECT_EQ(d.mismatch(), "none");
    own.lossy = qos::Class{*Priority::make(static_cast<unsigned>(priority)),
                           *Dscp::make(static_cast<unsigned>(dscp))};
    d.set(own);
    d.pass(std::chrono::minutes(1));
    EXPECT_THAT(d.mismatch(), testing::HasSubstr("no packet changes its class")) << priority;
    own.lossy = qos::Class{};
    d.set(own);
    EXPECT_EQ(d.mismatch(), "none");
    own.lossy.reset();
  }
}

TEST(Classes, AreUnknownWithoutEvidence) {
  Device d;
  EXPECT_EQ(d.text(), "none");
  EXPECT_TRUE(d.classes.unknown());
  EXPECT_FALSE(d.classes.told());
  d.set({.configured = Chains{}});
  EXPECT_FALSE(d.classes.unknown());               // there are none, says the operator
  EXPECT_EQ(d.classes.told(), tlv::ClassesTlv{});  // and so do we
}

// docs/develop/rules.md C1
TEST(Classes, ComeFromTheFirstEvidenceThatKnowsAny) {
  OwnClasses known{.configured = chains("slides"),
                   .platform = chains("pcbb"),
                   .applications = applications("2:dscp16>lossy")};
  Device d(known);
  d.hear(1, {teller("leaf1 port p1", "sonic")});
  d.hear(2, {stock("srv port p1", kRoce)});
  d.pass(seconds(10));
  EXPECT_EQ(d.text(), to_string(chains("slides")));
  EXPECT_EQ(d.classes.evidence(d.now), (std::vector<std::string>{"from qos.lossless"}));
  EXPECT_EQ(d.hops(), V{0});

  const auto with = [&](auto change) {
    change(known);
    Device fresh(known);
    fresh.hear(1, {teller("leaf1 port p1", "sonic", 3)});
    fresh.hear(2, {stock("srv port p1", "5:dscp40>lossy")});
    fresh.pass(seconds(10));
    return fresh;
  };
  const auto platform = with([](OwnClasses& o) { o.configured.reset(); });
  EXPECT_EQ(platform.text(), to_string(chains("pcbb")));
  const auto both = with([](OwnClasses& o) { o.platform.clear(); });
  // Its own class came first, and has a spare that the others then do not find.
  EXPECT_EQ(both.text(), "3:dscp3>1:dscp11,4:dscp4>lossy,2:dscp16>5:dscp43");
  EXPECT_EQ(both.hops(), (V{4, 4, 0}));
  const auto heard = with([](OwnClasses& o) { o.applications.clear(); });
  EXPECT_EQ(heard.text(), to_string(chains("sonic")));
  EXPECT_EQ(heard.classes.evidence(heard.now),
            (std::vector<std::string>{"from swp1's neighbor", "from swp1's neighbor"}));
}

TEST(Classes, OfAStockNeighborHaveToStand) {
  Device d;
  d.hear(1, {stock("srv port p1", kRoce)});
  EXPECT_EQ(d.text(), "none");
  EXPECT_EQ(d.classes.deadline(), d.now + Classes::kStands);
  d.pass(milliseconds(1999));
  EXPECT_EQ(d.text(), "none");
  d.pass(milliseconds(1));
  EXPECT_EQ(d.text(), "3:dscp26+24-31>2:dscp19");
  EXPECT_EQ(d.hops(), V{0});
  EXPECT_EQ(d.added, (std::vector<std::string>{"3 (DSCP 24-31) > 2 (DSCP 19)"}));
}

TEST(Classes, OfStockNeighborsThatContradictEachOtherAreNotTaken) {
  Device d;
  d.hear(1, {stock("a port p1", kRoce)});
  d.hear(2, {stock("b port p1", "4:dscp32>lossy")});
  d.pass(seconds(10));
  EXPECT_EQ(d.text(), "none");
  for (const std::size_t port : {1U, 2U})
    EXPECT_NE(d.mismatch(port).find("qos.lossless ="), std::string::npos) << d.mismatch(port);
  Device one_knows_more;
  one_knows_more.hear(1, {stock("a port p1", kRoce)});
  one_knows_more.hear(2, {stock("b port p1", "3:dscp26>lossy,4:dscp32>lossy")});
  one_knows_more.pass(seconds(10));
  EXPECT_EQ(one_knows_more.text(), "3:dscp26+24-31>2:dscp19,4:dscp32>5:dscp43");
  EXPECT_EQ(one_knows_more.mismatch(1), "none");
}

// docs/develop/rules.md C4
TEST(Classes, StayWhenTheirEvidenceGoes) {
  Device d({.applications = applications(kRoce)});
  d.hear(1, {stock("srv port p1", kRoce)});
  d.set({});
  d.hear(1, {});
  d.pass(seconds(100));
  EXPECT_EQ(d.text(), "3:dscp26+24-31>2:dscp19");
  EXPECT_EQ(d.hops(), V{255});
  EXPECT_EQ(d.classes.evidence(d.now),
            (std::vector<std::string>{"remembered: no evidence is left"}));
  d.forget();
  EXPECT_EQ(d.text(), "none");
}

TEST(Classes, WithEvidenceAreNotForgotten) {
  Device d({.applications = applications(kRoce)});
  d.hear(1, {teller("leaf port p1", "4:dscp32>5:dscp43")});
  d.set({});  // that of priority 3 has gone
  d.forget();
  EXPECT_EQ(d.text(), "4:dscp32>5:dscp43");
}

TEST(Classes, OfTheStateAreInForceFromTheStart) {
  Device d({}, chains("roce"));
  EXPECT_EQ(d.text(), to_string(chains("roce")));
  EXPECT_EQ(d.classes.kept(), chains("roce"));
  d.hear(1, {stock("srv port p1", "4:dscp32>lossy")});
  d.pass(seconds(10));
  EXPECT_EQ(d.text(), to_string(chains("roce")));  // a stock neighbor adds nothing
  d.set({.configured = chains("sonic")});
  EXPECT_EQ(d.text(), to_string(chains("sonic")));
  EXPECT_EQ(d.classes.kept(), Chains{});  // nothing was learned
}

// docs/develop/rules.md C5
TEST(Classes, GrowWhereThatTouchesNothing) {
  Device d({.applications = applications(kRoce)});
  d.added.clear();
  d.hear(1, {teller("leaf port p1", "3:dscp26>2:dscp19,4:dscp4>5:dscp43")});
  EXPECT_EQ(d.text(), "3:dscp26+24-31>2:dscp19,4:dscp4>5:dscp43");
  EXPECT_EQ(d.added, (std::vector<std::string>{"4 (DSCP 4) > 5 (DSCP 43)"}));
  d.hear(1, {teller("leaf port p1", "3:dscp26+40>2:dscp19,4:dscp4>5:dscp43")});  // a DSCP more
  EXPECT_EQ(d.text(), "3:dscp26+24-31+40>2:dscp19,4:dscp4>5:dscp43");
  EXPECT_EQ(d.added.back(), "3 (DSCP 24-31+40) > 2 (DSCP 19)");
}

TEST(Classes, ThatCollideAreNotTakenAndSaySo) {
  struct Case {
    std::string_view heard{};
    std::string_view why{};
  };
  for (const Case& c :
       {Case{"2:dscp16>5:dscp43", "a spare in force"}, Case{"4:dscp24>5:dscp43", "a DSCP in force"},
        Case{"4:dscp19>5:dscp43", "the DSCP of a spare in force"}}) {
    Device d({.applications = applications(kRoce)});
    d.hear(1, {teller("leaf port p1", c.heard)});
    d.pass(seconds(10));
    EXPECT_EQ(d.text(), "3:dscp26+24-31>2:dscp19") << c.why;
    const std::string text = d.mismatch(1);
    EXPECT_NE(text.find("here 3:dscp26+24-31>2:dscp19"), std::string::npos) << text;
    EXPECT_NE(text.find(std::string(c.heard)), std::string::npos) << text;
    EXPECT_NE(text.find("qos.lossless = "), std::string::npos) << text;
  }
}

TEST(Classes, WithOneDscpInTwoPrioritiesAreLossyOnThatPort) {
  Device d({.applications = applications(kRoce)});
  d.hear(1, {teller("leaf port p1", "4:dscp24>5:dscp43")});
  d.hear(2, {teller("leaf2 port p1", "roce")});
  EXPECT_EQ(d.classes.lossy_on(ifindex(1)), 1U << 3);
  EXPECT_EQ(d.classes.lossy_on(ifindex(2)), 0);
  d.pass(seconds(3));
  EXPECT_NE(d.mismatch(1).find("DSCP 24 leads to different priorities"), std::string::npos);
}

TEST(Classes, LeaveTheDscpsThatThePlatformHasForLossyOnes) {
  Device d({.applications = applications("3:dscp3>lossy"), .lossy_dscps = DscpSet(0xff000010)});
  d.hear(1, {teller("leaf port p1", "3:dscp24-31>2:dscp19,4:dscp4>5:dscp43")});
  d.pass(seconds(10));
  EXPECT_EQ(d.text(), "3:dscp3>2:dscp19");
  EXPECT_NE(d.mismatch(1), "none");
}

// docs/develop/rules.md C3
TEST(Classes, TakeNoSpareThatThePlatformHasALossyQueueFor) {
  Device d({.applications = applications(kSonic), .lossy_priorities = 1U << 2 | 1U << 5});
  EXPECT_EQ(d.text(), "3:dscp3>1:dscp11,4:dscp4>lossy");
}

// docs/develop/rules.md C2
TEST(Classes, OfOurOwnSpareAreNoEvidence) {
  Device d({.applications = applications(kRoce)});
  d.set({.applications = applications("3:dscp26+24-31>lossy,2:dscp19>lossy")});
  d.pass(seconds(10));
  EXPECT_EQ(d.text(), "3:dscp26+24-31>2:dscp19");
  EXPECT_EQ(d.mismatch(), "none");
}

TEST(Classes, PfcThatNothingExplainsIsTold) {
  Device d({.unexplained = "PFC is on for priorities 1, 2, 3, 4: ..."});
  EXPECT_EQ(d.mismatch(), "none");  // it may be about to change
  d.pass(Classes::kGrace);
  EXPECT_EQ(d.mismatch(), "PFC is on for priorities 1, 2, 3, 4: ...");
}

// docs/develop/rules.md C8
TEST(Classes, AgainstTheOrderAreInForceAsFarAsTheyGoForward) {
  const std::string_view against = "4:dscp4>3:dscp3";
  Device d({.configured = chains(against)});
  EXPECT_EQ(d.text(), "4:dscp4>lossy");
  d.hear(1, {teller("a port p1", against)});  // a neighbor further away may have another chain
  EXPECT_EQ(d.text(), "4:dscp4>lossy");
  EXPECT_EQ(core::told_classes(*d.classes.told()).chains, chains(against));  // that is wanted
  d.pass(seconds(3));
  EXPECT_EQ(d.mismatch(),
            "qos.lossless is in force in part only: a turn from priority 4 to 3 goes against the "
            "order 3 4 2 5 1 6 7: write qos.lossless = 3:dscp3>4:dscp4");
  Device platform({.platform = chains("3:dscp3>2:dscp2,6:dscp6>4:dscp4")});
  EXPECT_EQ(platform.text(), "3:dscp3>2:dscp2,6:dscp6>lossy");
  platform.pass(seconds(3));
  EXPECT_NE(platform.mismatch().find("the platform's turns are in force in part only"),
            std::string::npos);
  EXPECT_EQ(to_string(Classes(chains(against)).chains()), "4:dscp4>lossy") << "of a state file";
}

// docs/develop/rules.md C7
TEST(Classes, ThatDifferAreToldAfterAMoment) {
  Device d({.configured = chains("pcbb")});
  d.hear(1, {teller("leaf port p1", "sonic")});
  EXPECT_EQ(d.mismatch(1), "none");
  d.pass(milliseconds(1999));
  EXPECT_EQ(d.mismatch(1), "none");
  d.pass(milliseconds(1));
  EXPECT_EQ(d.mismatch(1),
            "lossless classes differ: here 3:dscp3>2:dscp2,4:dscp4>6:dscp6, at leaf port p1 "
            "3:dscp3>2:dscp19,4:dscp4>5:dscp43; packets that turn may be lost between the two; set "
            "the same at both ends: qos.lossless = 3:dscp3>2:dscp19,4:dscp4>5:dscp43");
  d.hear(1, {teller("leaf port p1", "pcbb")});
  EXPECT_EQ(d.mismatch(1), "none");
}

// docs/develop/rules.md C6
TEST(Classes, EvidenceFromTooFarIsNone) {
  Device d;
  d.hear(1, {teller("leaf port p1", "roce", 8)});
  EXPECT_EQ(d.text(), "none");
  d.hear(1, {teller("leaf port p1", "roce", 255)});
  EXPECT_EQ(d.text(), "none");
  d.hear(1, {teller("leaf port p1", "roce", 7)});
  EXPECT_EQ(d.text(), to_string(chains("roce")));
  EXPECT_EQ(d.hops(), V{8});
}

// Two devices that have only each other's word.
TEST(Classes, EvidenceThatHasGoneDiesOut) {
  Device a({.applications = applications(kRoce)});
  Device b;
  const auto tell = [](const Device& from, Device& to, std::string name) {
    to.hear(1, {{.name = std::move(name), .told = core::told_classes(*from.classes.told())}});
  };
  tell(a, b, "a port p1");
  EXPECT_EQ(b.hops(), V{1});
  a.set({});
  int frames = 0;
  for (bool news = true; news; ++frames) {
    tell(b, a, "b port p1");
    news = a.news.told;
    tell(a, b, "a port p1");
    news |= b.news.told;
    ASSERT_LT(frames, 10);
  }
  EXPECT_EQ(a.hops(), V{255});
  EXPECT_EQ(b.hops(), V{255});
  EXPECT_EQ(a.text(), "3:dscp26+24-31>2:dscp19");
}

TEST(Classes, SurviveARogueServer) {
  Device d({.applications = applications(kSonic)});
  const auto in_force = d.classes.chains();
  const auto told = d.classes.told();
  for (unsigned second = 0; second < 60; ++second) {
    tlv::ClassClaims claims{.pfc = second % 2 == 0 ? 0xff : static_cast<std::uint8_t>(second)};
    d.hear(1, {{.name = "rogue port p1", .applications = core::applications_of(claims, 0)}});
    d.pass(seconds(1));
    EXPECT_EQ(d.classes.chains(), in_force);
    EXPECT_EQ(d.classes.told(), told);
  }
  // Where nothing is known yet it makes nothing known either: what it tells does not stand.
  Device fresh;
  for (unsigned second = 0; second < 60; ++second) {
    const tlv::ClassClaims claims{.pfc = static_cast<std::uint8_t>(1U << (1 + second % 5))};
    fresh.hear(1, {{.name = "rogue port p1", .applications = core::applications_of(claims, 0)}});
    fresh.pass(seconds(1));
    EXPECT_TRUE(fresh.classes.unknown());
  }
}

TEST(ClassEvidence, OfPfcAndApplicationPriority) {
  const auto of = [](tlv::ClassClaims claims, std::uint8_t offered = 0) {
    qos::Chains as_chains;
    for (const LosslessClass& c : core::applications_of(claims, offered))
      as_chains.push_back({{c}});
    return to_string(as_chains);
  };
  EXPECT_EQ(of({}), "none");
  EXPECT_EQ(of({.pfc = 0x08}), "3:dscp26+24-31>lossy");
  EXPECT_EQ(of({.pfc = 0x08, .rocev2 = 0x08}), "3:dscp26+24-31>lossy");
  EXPECT_EQ(of({.pfc = 0x08, .dscps = {0, 0, 0, 1U << 5 | 1U << 7}}), "3:dscp5+7>lossy");
  EXPECT_EQ(of({.pfc = 0x10, .dscps = {0, 0, 0, 1U << 5}}), "4:dscp34+32-39>lossy");
  EXPECT_EQ(of({.pfc = 0x18, .dscps = {0, 0, 0, 1U << 5, 3U << 5}}),
            "4:dscp6>lossy");            // 5 is of two
  EXPECT_EQ(of({.pfc = 0xff}), "none");  // more than three
  EXPECT_EQ(of({.pfc = 0x1e}), "none");
  EXPECT_EQ(of({.pfc = 0xc1}), "none");  // 0, 6 and 7
  EXPECT_EQ(of({.pfc = 0x48}), "3:dscp26+24-31>lossy");
  EXPECT_EQ(of({.pfc = 0x18, .willing = true}, 0x08), "4:dscp34+32-39>lossy");
  EXPECT_EQ(of({.pfc = 0x18}, 0x08), "3:dscp26+24-31>lossy,4:dscp34+32-39>lossy");
}

TEST(ClassEvidence, OfTheDevicesOwnPorts) {
  const auto of = [](std::vector<core::PortClasses> ports) {
    OwnClasses known{.lossy_dscps = DscpSet(1)};
    core::take_ports(known, ports);
    return known;
  };
  const auto text = [](const OwnClasses& known) {
    qos::Chains as_chains;
    for (const LosslessClass& c : known.applications) as_chains.push_back({{c}});
    return to_string(as_chains);
  };
  EXPECT_EQ(of({}), (OwnClasses{.lossy_dscps = DscpSet(1)}));
  EXPECT_EQ(text(of({{.pfc = 0x08}, {}})), "3:dscp26+24-31>lossy");
  const auto mapped = of({{.pfc = 0x08, .dscps = {1U << 24, 0, 0, 1U << 3}},
                          {.pfc = 0x10, .dscps = {0, 1U << 9, 0, 0, 1U << 4}}});
  EXPECT_EQ(text(mapped), "3:dscp3>lossy,4:dscp4>lossy");
  EXPECT_EQ(mapped.lossy_dscps, DscpSet(1U << 24 | 1U << 9 | 1U));
  EXPECT_EQ(mapped.unexplained, "");
  EXPECT_EQ(text(of({{.pfc = 0x08, .dscps = {1U << 26}}})), "3:dscp24-25+27-31>lossy");
  const auto many = of({{.pfc = 0x1e}});
  EXPECT_EQ(text(many), "none");
  EXPECT_EQ(many.unexplained.find("PFC is on here for priorities 1, 2, 3, 4,"), 0U);
  const auto control = of({{.pfc = 0x48}});
  EXPECT_EQ(text(control), "3:dscp26+24-31>lossy");
  EXPECT_EQ(control.unexplained.find("PFC is on here for priority 6,"), 0U);
}

TEST(ClassEvidence, OfAClassTlvIsReadAsItWasWritten) {
  for (const std::string_view text : {"roce", "sonic", "pcbb", "slides", "none"}) {
    core::ToldClasses told{.chains = chains(text)};
    told.hops.assign(told.chains.size(), 4);
    EXPECT_EQ(core::told_classes(core::to_classes_tlv(told)), told);
    EXPECT_TRUE(core::to_classes_tlv(told).consistent());
  }
}

}  // namespace
}  // namespace lldp::test
