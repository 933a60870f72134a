// SPDX-License-Identifier: Apache-2.0
// Lossless classes from evidence (docs/rules.md, C1 to C8).
#include "agent/core/classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <set>

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

Chains chains(std::string_view text) { return qos::parse_chains(text).value(); }
/// Application classes, as chains without spares have them.
std::vector<LosslessClass> applications(std::string_view text) {
  std::vector<LosslessClass> out;
  for (const qos::Chain& chain : chains(text)) out.push_back(chain.application());
  return out;
}
const std::string kRoce = "3:dscp26+24-31>lossy";
const std::string kSonic = "3:dscp3>lossy,4:dscp4>lossy";

/// A neighbor with the class TLV; every chain has evidence `hops` away.
ClassPeer teller(std::string name, std::string_view text, std::uint8_t hops = 0) {
  core::ToldClasses told{.chains = chains(text)};
  told.hops.assign(told.chains.size(), hops);
  return {.name = std::move(name), .told = std::move(told)};
}
/// One that tells PFC and Application Priority alone.
ClassPeer stock(std::string name, std::string_view text) {
  return {.name = std::move(name), .applications = applications(text)};
}

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

TEST(Classes, AreUnknownWithoutEvidence) {
  Device d;
  EXPECT_EQ(d.text(), "none");
  EXPECT_TRUE(d.classes.unknown());
  EXPECT_FALSE(d.classes.told());
  d.set({.configured = Chains{}});
  EXPECT_FALSE(d.classes.unknown());               // there are none, says the operator
  EXPECT_EQ(d.classes.told(), tlv::ClassesTlv{});  // and so do we
}

// docs/rules.md C1
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

// docs/rules.md C4
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

// docs/rules.md C5
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

// docs/rules.md C3
TEST(Classes, TakeNoSpareThatThePlatformHasALossyQueueFor) {
  Device d({.applications = applications(kSonic), .lossy_priorities = 1U << 2 | 1U << 5});
  EXPECT_EQ(d.text(), "3:dscp3>1:dscp11,4:dscp4>lossy");
}

// docs/rules.md C2
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

// docs/rules.md C8
TEST(Classes, AgainstTheOrderAreInForceWhereAllNeighborsTellTheSame) {
  const std::string_view against = "4:dscp4>3:dscp3";
  Device d({.configured = chains(against)});
  EXPECT_EQ(d.text(), against);
  d.hear(1, {teller("a port p1", against)});
  d.hear(2, {stock("srv port p1", kRoce)});
  EXPECT_EQ(d.text(), against);
  d.hear(3, {teller("b port p1", "sonic")});
  EXPECT_EQ(d.text(), "4:dscp4>lossy");
  EXPECT_EQ(core::told_classes(*d.classes.told()).chains, chains(against));  // that is wanted
  d.pass(seconds(3));
  EXPECT_NE(d.mismatch().find("goes against the order"), std::string::npos) << d.mismatch();
  EXPECT_NE(d.mismatch(3), "none");
  d.hear(3, {teller("b port p1", against)});
  EXPECT_EQ(d.text(), against);
  d.hear(4, {{.name = "c port p1", .is_switch = true}});  // it tells none
  EXPECT_EQ(d.text(), "4:dscp4>lossy");
  d.hear(4, {});
  EXPECT_EQ(d.mismatch(), "none");
}

// docs/rules.md C7
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

// docs/rules.md C6
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

/// Devices that hear each other over links that take their time.
class Fabric {
 public:
  struct Node {
    OwnClasses known{};
    std::map<std::size_t, std::vector<ClassPeer>> hosts{};  ///< by port
    bool speaks = true;
    std::optional<Classes> classes{};  ///< nullopt: the device is down
    std::optional<tlv::ClassesTlv> told{};
    unsigned changes = 0;  ///< of told
  };
  struct Link {
    std::size_t a = 0, port_a = 0, b = 0, port_b = 0;
    std::optional<tlv::ClassesTlv> heard_a{}, heard_b{};  ///< what each end has heard
  };

  std::size_t add(OwnClasses known) {
    nodes.push_back({.known = std::move(known)});
    return nodes.size() - 1;
  }
  void connect(std::size_t a, std::size_t b) { links.push_back({a, ++ports_, b, ++ports_}); }
  std::size_t host(std::size_t node, ClassPeer peer) {
    nodes[node].hosts[++ports_] = {std::move(peer)};
    return ports_;
  }
  void start(std::size_t n, Chains restored = {}) {
    Node& node = nodes[n];
    node.classes.emplace(std::move(restored));
    node.classes->set_own(node.known);
    node.told.reset();
    for (const auto& [port, peers] : node.hosts) hear_host(n, port);
    decide(n);
    for (std::size_t l = 0; l < links.size(); ++l)
      for (const bool at_a : {true, false})
        if ((at_a ? links[l].a : links[l].b) == n) {
          auto& heard = at_a ? links[l].heard_a : links[l].heard_b;
          heard.reset();
          const std::size_t other = at_a ? links[l].b : links[l].a;
          if (nodes[other].classes) later([this, l, at_a] { deliver(l, at_a); });
        }
  }
  void stop(std::size_t n) {
    nodes[n].classes.reset();
    nodes[n].told.reset();
    for (Link& l : links) {
      if (l.a == n) l.heard_b.reset(), hear(l.b, l.port_b, std::nullopt, n);
      if (l.b == n) l.heard_a.reset(), hear(l.a, l.port_a, std::nullopt, n);
    }
  }
  void set_own(std::size_t n, OwnClasses known) {
    nodes[n].known = std::move(known);
    if (!nodes[n].classes) return;
    nodes[n].classes->set_own(nodes[n].known);
    decide(n);
  }
  void hear_host(std::size_t n, std::size_t port) {
    if (!nodes[n].classes) return;
    nodes[n].classes->hear(ifindex(port), "swp" + std::to_string(port), nodes[n].hosts[port], now);
    decide(n);
  }
  void forget(std::size_t n) {
    if (!nodes[n].classes) return;
    nodes[n].classes->forget(now);
    decide(n);
  }
  /// Lets what is under way arrive; false: it goes on and on.
  bool settle(Duration most = std::chrono::seconds(60)) {
    const TimePoint end = now + most;
    while (!queue_.empty() && queue_.begin()->first <= end) {
      now = queue_.begin()->first;
      const auto what = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      what();
      if (watch) watch();
    }
    const bool quiet = queue_.empty() || queue_.begin()->first > end;
    now = end;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n].classes) decide(n);
    return quiet && queue_.empty();
  }
  [[nodiscard]] const Chains& in_force(std::size_t n) const { return nodes[n].classes->chains(); }

  TimePoint now{std::chrono::seconds(1000)};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  std::function<void()> watch{};
  std::function<Duration()> delay = [] { return Duration(milliseconds(1)); };

 private:
  void later(std::function<void()> what) { later(now + delay(), std::move(what)); }
  void later(TimePoint at, std::function<void()> what) { queue_.emplace(at, std::move(what)); }
  void decide(std::size_t n) {
    Node& node = nodes[n];
    static_cast<void>(node.classes->decide(now));
    if (const TimePoint due = node.classes->deadline(); due != core::kNever && due > now)
      later(due, [this, n, due] {
        if (nodes[n].classes && nodes[n].classes->deadline() <= due) decide(n);
      });
    if (node.told == node.classes->told()) return;
    node.told = node.classes->told();
    ++node.changes;
    for (std::size_t l = 0; l < links.size(); ++l) {
      if (links[l].a == n) later([this, l] { deliver(l, false); });
      if (links[l].b == n) later([this, l] { deliver(l, true); });
    }
  }
  /// What the other end tells now arrives.
  void deliver(std::size_t l, bool at_a) {
    Link& link = links[l];
    const std::size_t from = at_a ? link.b : link.a;
    const std::size_t to = at_a ? link.a : link.b;
    if (!nodes[from].classes || !nodes[to].classes) return;
    auto& heard = at_a ? link.heard_a : link.heard_b;
    if (heard == nodes[from].told) return;
    heard = nodes[from].told;
    hear(to, at_a ? link.port_a : link.port_b, heard, from);
  }
  void hear(std::size_t n, std::size_t port, const std::optional<tlv::ClassesTlv>& told,
            std::size_t from) {
    if (!nodes[n].classes) return;
    std::vector<ClassPeer> peers;
    if (told)
      peers.push_back(
          {.name = "n" + std::to_string(from) + " port p", .told = core::told_classes(*told)});
    nodes[n].classes->hear(ifindex(port), "swp" + std::to_string(port), std::move(peers), now);
    decide(n);
  }

  std::size_t ports_ = 0;
  std::multimap<TimePoint, std::function<void()>> queue_{};
};

// A host with PFC 3 beside a SONiC switch with 3 and 4 and a router that knows nothing.
TEST(ClassOrders, EndInTheSameChainsWhateverComesFirst) {
  struct Way {
    std::string_view host{};
    std::string_view end{};
  };
  for (const Way& way : {Way{"3:dscp3>lossy", "3:dscp3>2:dscp19,4:dscp4>5:dscp43"},
                         Way{"3:dscp26+24-31>lossy", ""}})  // its DSCPs are not the switch's
    for (const bool at_router : {true, false})
      for (unsigned restarts = 0; restarts < 16; ++restarts) {
        std::vector<int> order{0, 1, 2};  // host, SONiC switch, router
        do {
          SCOPED_TRACE(testing::Message() << way.host << " order " << order[0] << order[1]
                                          << order[2] << " restarts " << restarts);
          Fabric f;
          const auto sonic = f.add({.applications = applications(kSonic)});
          const auto router = f.add({});
          f.connect(sonic, router);
          const auto at = at_router ? router : sonic;
          const auto port = f.host(at, stock("srv port p1", way.host));
          const auto host = std::exchange(f.nodes[at].hosts[port], {});
          for (const int what : order) {
            if (what == 0) f.nodes[at].hosts[port] = host, f.hear_host(at, port);
            if (what == 1) f.start(sonic);
            if (what == 2) f.start(router);
            ASSERT_TRUE(f.settle());
          }
          for (const std::size_t n : {sonic, router}) {
            if ((restarts >> (2 * n) & 1U) == 0) continue;
            const bool with_state = (restarts >> (2 * n + 1) & 1U) != 0;
            const Chains kept = f.nodes[n].classes->kept();
            f.stop(n);
            ASSERT_TRUE(f.settle());
            f.start(n, with_state ? kept : Chains{});
            ASSERT_TRUE(f.settle());
          }
          for (const std::size_t n : {sonic, router}) {
            std::string turns;
            for (const qos::Chain& chain : f.in_force(n))
              for (const LosslessClass& c : chain.classes)
                turns += std::to_string(c.priority.value());
            EXPECT_EQ(turns, "3245") << n;  // 3 > 2, 4 > 5
            if (!way.end.empty()) {
              EXPECT_EQ(to_string(f.in_force(n)), way.end) << n;
            }
          }
          const bool same = f.in_force(sonic) == f.in_force(router);
          for (const auto& [n, p] :
               {std::pair(sonic, f.links[0].port_a), std::pair(router, f.links[0].port_b)})
            EXPECT_EQ(f.nodes[n].classes->mismatch(ifindex(p), f.now).has_value(), !same) << n;
        } while (std::ranges::next_permutation(order).found);
      }
}

// Twelve leaves below six spines; one leaf knows. Every device tells once: nobody is told twice.
TEST(ClassFabric, OfEighteenAgreesInOneWave) {
  Fabric f;
  for (std::size_t n = 0; n < 18; ++n) f.add({});
  for (std::size_t leaf = 0; leaf < 12; ++leaf)
    for (std::size_t spine = 12; spine < 18; ++spine) f.connect(leaf, spine);
  f.nodes[3].known.applications = applications(kSonic);
  for (std::size_t n = 0; n < 18; ++n) f.start(n);
  ASSERT_TRUE(f.settle());
  for (std::size_t n = 0; n < 18; ++n) {
    EXPECT_EQ(to_string(f.in_force(n)), to_string(chains("sonic"))) << n;
    EXPECT_EQ(f.nodes[n].changes, 1U) << n;
  }
}

/// Whether some priorities turn into each other in a circle, over all devices at once.
bool has_cycle(const Fabric& f) {
  std::set<std::pair<unsigned, unsigned>> turns;
  for (const auto& node : f.nodes) {
    if (!node.classes) continue;
    for (const qos::Chain& chain : node.classes->chains())
      for (std::size_t i = 1; i < chain.classes.size(); ++i)
        turns.emplace(chain.classes[i - 1].priority.value(), chain.classes[i].priority.value());
  }
  for (bool shrinks = true; shrinks;) {
    shrinks = std::erase_if(turns, [&](const auto& turn) {
                return std::ranges::none_of(
                    turns, [&](const auto& next) { return next.first == turn.second; });
              }) != 0;
  }
  return !turns.empty();
}

OwnClasses random_own(std::mt19937_64& chance) {
  const auto one_of = [&](auto... texts) {
    const std::string_view all[] = {texts...};
    return all[chance() % sizeof...(texts)];
  };
  OwnClasses known;
  switch (chance() % 8) {
    case 0:
      known.configured = chains(one_of("roce", "sonic", "pcbb", "slides", "none"));
      break;
    case 1:
      known.platform = chains("pcbb");
      break;
    case 2:
    case 3:
      known.applications = applications(one_of(kRoce, kSonic, "3:dscp26>lossy", "4:dscp26>lossy",
                                               "2:dscp16>lossy", "5:dscp40>lossy,3:dscp24>lossy"));
      break;
    default:
      break;
  }
  if (chance() % 8 == 0) known.lossy_dscps = DscpSet(chance());
  if (chance() % 8 == 0) known.lossy_priorities = static_cast<std::uint8_t>(chance());
  for (LosslessClass& c : known.applications)  // its own map does not contradict itself
    known.lossy_dscps = DscpSet(known.lossy_dscps.mask() & ~c.dscps.mask());
  return known;
}

TEST(ClassFabric, OfAnyShapeSettlesAndSaysWhereItDiffers) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 chance(seed);
    Fabric f;
    f.delay = [&chance] { return Duration(milliseconds(1 + chance() % 2000)); };
    const std::size_t size = 2 + chance() % 7;
    for (std::size_t n = 0; n < size; ++n) f.add(random_own(chance));
    for (std::size_t n = 1; n < size; ++n) f.connect(chance() % n, n);
    for (std::size_t more = chance() % size; more-- > 0;)
      if (const std::size_t a = chance() % size, b = chance() % size; a != b) f.connect(a, b);
    std::vector<std::pair<std::size_t, std::size_t>> hosts;
    for (std::size_t i = chance() % 4; i-- > 0;) {
      const std::size_t n = chance() % size;
      hosts.emplace_back(
          n, f.host(n, stock("srv port p1", chance() % 2 == 0 ? kRoce : "4:dscp32>lossy")));
    }
    bool cycle = false;
    f.watch = [&] { cycle |= has_cycle(f); };
    for (std::size_t n = 0; n < size; ++n) f.start(n);
    for (unsigned i = 0; i < 12; ++i) {  // evidence comes, goes and differs
      const std::size_t n = chance() % size;
      switch (chance() % 5) {
        case 0:
          f.set_own(n, random_own(chance));
          break;
        case 1:
          if (f.nodes[n].classes) {
            const Chains kept = f.nodes[n].classes->kept();
            f.stop(n);
            f.settle(milliseconds(chance() % 3000));
            f.start(n, chance() % 2 == 0 ? kept : Chains{});
          }
          break;
        case 2:
          f.forget(n);
          break;
        case 3:
          if (!hosts.empty()) {
            const auto& [at, port] = hosts[chance() % hosts.size()];
            std::vector<ClassPeer> peers;
            if (chance() % 2 == 0)
              peers.push_back(stock("srv port p1", chance() % 2 == 0 ? kRoce : "5:dscp40>lossy"));
            f.nodes[at].hosts[port] = std::move(peers);
            f.hear_host(at, port);
          }
          break;
        default:
          break;
      }
      f.settle(milliseconds(chance() % 5000));
    }
    ASSERT_TRUE(f.settle(std::chrono::seconds(600)));
    EXPECT_FALSE(cycle);
    for (const Fabric::Link& l : f.links) {
      const auto& a = *f.nodes[l.a].classes;
      const auto& b = *f.nodes[l.b].classes;
      const bool differ = a.chains() != b.chains();
      EXPECT_EQ(a.mismatch(ifindex(l.port_a), f.now).has_value(), differ)
          << to_string(a.chains()) << " beside " << to_string(b.chains());
      EXPECT_EQ(b.mismatch(ifindex(l.port_b), f.now).has_value(), differ)
          << to_string(b.chains()) << " beside " << to_string(a.chains());
    }
  }
}

}  // namespace
}  // namespace lldp::test
