// SPDX-License-Identifier: Apache-2.0
// An agent and the lossless classes that its neighbors tell of.
#include "agent/core/classes.hpp"
#include "tests/core/support/single.hpp"
#include "tlv/dcbx.hpp"
#include "tlv/dot1.hpp"

namespace lldp::test {
namespace {

using core::Pfc;

Settings learning(core::OwnClasses known = {}) {
  Settings settings;
  settings.classes = std::move(known);
  return settings;
}
qos::Chains chains_of(std::string_view text) { return qos::parse_chains(text).value(); }

/// The octets of TLVs, with the End TLV.
Bytes tail(auto fill) {
  Bytes out;
  tlv::LldpduWriter writer(out, 1500);
  fill(writer);
  writer.end();
  return out;
}
Peer with_dcbx(Peer peer, std::uint8_t pfc, bool willing = false) {
  peer.tail = tail([&](auto& w) { w.add(tlv::PfcConfig{.willing = willing, .enabled = pfc}); });
  return peer;
}
Peer with_cee(Peer peer, std::uint8_t pfc) {
  const Bytes feature = encode_info(tlv::DcbxPfc{.header = {.enabled = true}, .priorities = pfc});
  tlv::DcbxCee cee;
  cee.features.items[0] = {tlv::DcbxFeature::kPfc, feature};
  cee.features.count = 1;
  peer.tail = tail([&](auto& w) { w.add(cee); });
  return peer;
}
Peer with_classes(Peer peer, std::string_view chains, std::uint8_t hops = 0) {
  core::ToldClasses told{.chains = chains_of(chains)};
  told.hops.assign(told.chains.size(), hops);
  peer.tail = tail([&](auto& w) { w.add(core::to_classes_tlv(told)); });
  return peer;
}

struct Learner : Single {
  explicit Learner(Settings settings = learning(), const core::State& restored = {})
      : Single(std::move(settings), restored) {
    up(1, 2);
    pass(seconds(1));
  }
  [[nodiscard]] std::string chains() const { return to_string(agent.classes().chains()); }
  [[nodiscard]] std::string mismatch(std::string_view port) const {
    return alarm(AlarmCode::kClassMismatch, port).value_or("none");
  }
  /// The classes in the last frame on the port.
  [[nodiscard]] std::optional<tlv::ClassesTlv> told(std::size_t port) {
    const auto frames = sends(port);
    if (frames.empty()) return std::nullopt;
    static const std::vector<tlv::Oui> ouis{{0x02, 0x4c, 0x56}};
    return tlv::class_claims_of(ByteSpan(frames.back().frame).subspan(14),
                                {.contribution_ouis = ouis})
        .classes;
  }
};

TEST(AgentClasses, AreLearnedFromAHostsIeeeDcbx) {
  Learner s;
  s.hear(1, with_dcbx(host(), 0x08));
  s.pass(milliseconds(1900));
  EXPECT_EQ(s.chains(), "none");
  EXPECT_TRUE(s.agent.snapshot(s.now).classes_unknown);
  s.sends(2);
  s.pass(milliseconds(100));
  EXPECT_EQ(s.chains(), "3:dscp26+24-31>2:dscp19");
  EXPECT_EQ(s.count(Event::Kind::kClassesExtended), 1U);
  const auto snapshot = s.agent.snapshot(s.now);
  ASSERT_EQ(snapshot.classes.size(), 1U);
  EXPECT_EQ(snapshot.classes[0].evidence, "from swp1's neighbor");
  EXPECT_FALSE(snapshot.classes_unknown);
  EXPECT_EQ(s.agent.state().classes, chains_of("roce"));
}

TEST(AgentClasses, AreLearnedFromAHostsCeeDcbx) {
  Learner s;
  s.hear(1, with_cee(host(), 0x08));
  s.pass(seconds(2));
  EXPECT_EQ(s.chains(), "3:dscp26+24-31>2:dscp19");
}

TEST(AgentClasses, AreToldAtOnceAndToEverybody) {
  Learner s;
  s.hear(2, a_switch("spine1", 2));
  s.hear(1, with_dcbx(host(), 0x08));
  s.pass(milliseconds(1999));
  EXPECT_EQ(s.told(2), std::nullopt);
  s.pass(milliseconds(1));
  const auto told = s.told(2);
  ASSERT_TRUE(told);
  EXPECT_EQ(core::told_classes(*told).chains, chains_of("roce"));
  EXPECT_EQ(core::told_classes(*told).hops, std::vector<std::uint8_t>{0});
}

TEST(AgentClasses, OfASwitchAreTakenInTheSameMoment) {
  Learner s;
  s.hear(1, with_classes(a_switch("spine1", 2), "sonic", 1));
  EXPECT_EQ(s.chains(), "3:dscp3>2:dscp19,4:dscp4>5:dscp43");
  const auto told = s.told(1);
  ASSERT_TRUE(told);
  EXPECT_EQ(core::told_classes(*told).hops, (std::vector<std::uint8_t>{2, 2}));
}

// Nothing else of the frame is new.
TEST(AgentClasses, ThatAKnownSwitchTellsLaterAreTaken) {
  Learner s;
  s.hear(1, a_switch("spine1", 2));
  EXPECT_EQ(s.chains(), "none");
  s.hear(1, with_classes(a_switch("spine1", 2), "roce"));
  EXPECT_EQ(s.chains(), to_string(chains_of("roce")));
  s.hear(1, with_classes(a_switch("spine1", 2), "3:dscp26+24-31>2:dscp19,4:dscp4>5:dscp43"));
  EXPECT_EQ(s.chains(), "3:dscp26+24-31>2:dscp19,4:dscp4>5:dscp43");
}

TEST(AgentClasses, OfAServerAreNone) {
  Learner s;
  s.hear(1, with_classes(host("rogue"), "slides"));
  s.hear(2, with_classes({.name = "mute"}, "slides"));
  s.pass(seconds(10));
  EXPECT_EQ(s.chains(), "none");
  for (const auto& frame : s.sends(1))
    EXPECT_FALSE(tlv::class_claims_of(ByteSpan(frame.frame).subspan(14), {}).classes);
}

TEST(AgentClasses, OfARogueServerChangeNothingInForce) {
  Learner s;
  s.hear(2, with_classes(a_switch("spine1", 2), "sonic"));
  const auto in_force = s.agent.classes().chains();
  for (unsigned second = 0; second < 60; ++second) {
    Peer rogue =
        second % 3 == 0
            ? with_classes(host("rogue"), "slides")
            : with_dcbx(host("rogue"),
                        second % 3 == 1 ? 0xff : static_cast<std::uint8_t>(1U << second % 8));
    s.hear(1, rogue);
    s.pass(seconds(1));
    EXPECT_EQ(s.agent.classes().chains(), in_force);
    if (second % 30 == 0) s.hear(2, with_classes(a_switch("spine1", 2), "sonic"));
  }
  EXPECT_EQ(s.count(Event::Kind::kClassesExtended), 2U);  // of the start
}

TEST(AgentClasses, ThatAWillingNeighborMayHaveFromUsAreNoEvidence) {
  Settings settings = learning();
  settings.send_pfc = true;
  Learner s(settings);
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x10}});
  s.pass(seconds(1));
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0}});  // told before
  s.hear(1, with_dcbx(host(), 0x18, true));
  s.pass(seconds(3));
  EXPECT_EQ(s.chains(), "3:dscp26+24-31>2:dscp19");
  Learner unwilling(settings);
  unwilling.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x10}});
  unwilling.pass(seconds(1));
  unwilling.hear(1, with_dcbx(host(), 0x18));
  unwilling.pass(seconds(3));
  EXPECT_EQ(unwilling.chains(), "3:dscp26+24-31>2:dscp19,4:dscp34+32-39>5:dscp43");
}

TEST(AgentClasses, OutliveARestartWithItsState) {
  Learner s;
  s.hear(1, with_classes(a_switch("spine1", 2), "sonic"));
  s.restart();
  s.up(1, 2);
  EXPECT_EQ(s.agent.classes().chains(), chains_of("sonic"));
  EXPECT_EQ(s.agent.snapshot(s.now).classes.at(0).evidence, "remembered: no evidence is left");
}

TEST(AgentClasses, WithoutEvidenceAreDroppedOnRequest) {
  Learner s;
  s.hear(1, with_classes(a_switch("spine1", 2), "roce"));
  s.hear(1, with_classes(a_switch("spine1", 2), "roce", 255));
  s.pass(seconds(100));
  EXPECT_EQ(s.chains(), to_string(chains_of("roce")));
  s.agent.forget_classes(s.now, s.out);
  s.take();
  EXPECT_EQ(s.chains(), "none");
  EXPECT_TRUE(s.agent.state().classes.empty());
}

TEST(AgentClasses, ThatDifferRaiseTheAlarmAndClearIt) {
  Learner s(learning({.configured = chains_of("roce")}));
  s.hear(1, with_classes(a_switch("spine1", 2), "sonic"));
  EXPECT_EQ(s.mismatch("swp1"), "none");
  s.pass(seconds(2));
  EXPECT_NE(s.mismatch("swp1").find("here 3:dscp26+24-31>2:dscp19, at spine1 port p1 3:dscp3>"),
            std::string::npos)
      << s.mismatch("swp1");
  s.set({.ifindex = ifindex(1), .name = "uplink", .up = true});  // it goes with the name
  s.pass(seconds(1));
  EXPECT_EQ(s.mismatch("swp1"), "none");
  EXPECT_NE(s.mismatch("uplink"), "none");
  s.hear(1, with_classes(a_switch("spine1", 2), "roce"));
  EXPECT_EQ(s.mismatch("uplink"), "none");
  s.hear(1, with_classes(a_switch("spine1", 2), "none"));
  s.pass(seconds(3));
  EXPECT_NE(s.mismatch("uplink"), "none");
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  EXPECT_EQ(s.mismatch("uplink"), "none");
}

TEST(AgentClasses, AreWhatNeedsPfcAtBothEnds) {
  Learner s;
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x08}});
  s.hear(1, with_classes(a_switch("spine1", 2), "roce"));
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp1"), "priority 2 has no PFC here");
}

TEST(AgentClasses, WithASpareNeedItsPfcBetweenSwitchesOnly) {
  Settings settings = learning({.configured = chains_of("roce")});
  settings.restores = true;
  Learner s(settings);
  for (const std::size_t port : {1U, 2U})
    s.set({.ifindex = ifindex(port), .up = true, .pfc = Pfc{.enabled = 0x08}});
  s.hear(1, with_dcbx({.name = "srv", .capabilities = tlv::Capabilities::kStationOnly}, 0x08));
  s.hear(2, with_dcbx(a_switch("spine1", 2), 0x08));
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp1"), std::nullopt);
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp2"),
            "priority 2 has no PFC here; priority 2 has no PFC at spine1 port p1");
}

TEST(AgentClasses, ThatPfcIsOnForAndNoChainHasAreFound) {
  Learner s(learning({.configured = chains_of("roce")}));
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x2c}});
  s.hear(1, with_dcbx(a_switch("spine1", 2), 0x1c));
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp1"),
            "priority 5 has PFC here and is in no lossless class; priority 4 has PFC at spine1 "
            "port p1 and is in no lossless class; if lossless traffic uses it: qos.lossless = "
            "3:dscp26+24-31>2:dscp19,4:dscp34+32-39>1:dscp11,5:dscp42+40-47>lossy");
}

TEST(AgentClasses, OfAHostAreNotTold) {
  Settings settings = learning({.configured = chains_of("roce")});
  settings.role = Role::kHost;
  Learner s(settings);
  EXPECT_EQ(s.told(1), std::nullopt);
  EXPECT_FALSE(s.agent.snapshot(s.now).classes_unknown);
  s.hear(1, with_classes(a_switch("leaf1", 1), "sonic"));
  s.pass(seconds(3));
  EXPECT_EQ(s.mismatch("swp1"), "none");
}

}  // namespace
}  // namespace lldp::test
