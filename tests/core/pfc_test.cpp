// SPDX-License-Identifier: Apache-2.0
// The alarm `pfc-mismatch`, and the PFC Configuration TLV.
#include "tests/core/support/single.hpp"
#include "tlv/dot1.hpp"

namespace lldp::test {
namespace {

using core::Pfc;

constexpr std::uint8_t k5And6 = 0x60;

Settings lossless(std::uint8_t priorities = k5And6) {
  Settings settings;
  settings.lossless = priorities;
  return settings;
}

/// A neighbor that tells for which priorities it has PFC.
Peer with_pfc(Peer peer, std::uint8_t enabled) {
  peer.tail = {0xfe, 6,                    // organizational, information of 6 octets
               0x00, 0x80,    0xc2, 0x0b,  // IEEE 802.1, PFC Configuration
               0x08, enabled,              // not willing, 8 traffic classes
               0,    0};
  return peer;
}

class PfcCheck : public testing::Test {
 protected:
  void link(std::optional<Pfc> pfc) { s.set({.ifindex = ifindex(1), .up = true, .pfc = pfc}); }
  [[nodiscard]] std::string alarm() const {
    return s.alarm(AlarmCode::kPfcMismatch, "swp1").value_or("none");
  }
  Single s{lossless()};
};

TEST_F(PfcCheck, BothEndsHaveIt) {
  link(Pfc{.enabled = 0x68});
  s.hear(1, with_pfc(a_switch("spine1", 2), 0xff));
  EXPECT_EQ(alarm(), "none");
  EXPECT_EQ(s.info(1).pfc_enabled, 0x68);
  EXPECT_EQ(s.info(1).neighbors.at(0).pfc_enabled, 0xff);
}

TEST_F(PfcCheck, WhoSaysNothingIsHeldToNothing) {
  link(std::nullopt);
  s.hear(1, a_switch("spine1", 2));
  EXPECT_EQ(alarm(), "none");
  EXPECT_EQ(s.info(1).pfc_enabled, std::nullopt);
  EXPECT_EQ(s.info(1).neighbors.at(0).pfc_enabled, std::nullopt);
}

TEST_F(PfcCheck, TheNeighborLacksIt) {
  link(Pfc{.enabled = k5And6});
  s.hear(1, with_pfc(a_switch("spine1", 2), 0x20));
  EXPECT_EQ(alarm(), "priority 6 has no PFC at spine1 port p1");
  s.hear(1, with_pfc(a_switch("spine1", 2), 0x08));  // the text follows
  EXPECT_EQ(alarm(), "priorities 5, 6 have no PFC at spine1 port p1");
  s.hear(1, with_pfc(a_switch("spine1", 2), k5And6));
  EXPECT_EQ(alarm(), "none");
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 1U);
}

// DCBX 1.01, as a Nexus, a QFX or a Chelsio adapter sends it.
TEST_F(PfcCheck, TheNeighborLacksItByItsDcbxOfOld) {
  Peer nexus = a_switch("nexus", 2);
  nexus.tail = {0xfe, 24, 0x00, 0x1b, 0x21, 0x02,  // organizational, Intel, 1.01
                0x02, 10, 0,    0,    0,    0,    0,    1, 0, 0, 0, 0,  // control
                0x06, 6,  0,    0,    0x80, 0,    0x08, 8,  // PFC: enabled, priority 3, 8 classes
                0,    0};
  link(Pfc{.enabled = k5And6});
  s.hear(1, nexus);
  EXPECT_EQ(alarm(), "priorities 5, 6 have no PFC at nexus port p1");
  nexus.tail[24] = k5And6;
  s.hear(1, nexus);
  EXPECT_EQ(alarm(), "none");
  nexus.tail[22] = 0;  // the feature is off
  s.hear(1, nexus);
  EXPECT_EQ(alarm(), "priorities 5, 6 have no PFC at nexus port p1");
}

TEST(PfcScopes, OneThatIsHeardByTwoAddressesIsNamedOnce) {
  Settings settings = lossless();
  settings.scopes = {Scope::kNearestBridge, Scope::kNearestCustomerBridge};
  Single s(settings);
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = k5And6}});
  Peer peer = with_pfc(a_switch("spine1", 2), 0x20);
  for (const Scope scope : settings.scopes) {
    peer.scope = scope;
    s.hear(1, peer);
  }
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp1"), "priority 6 has no PFC at spine1 port p1");
  peer = with_pfc(a_switch("spine2", 2), 0x40);
  s.hear(1, peer);
  EXPECT_EQ(s.alarm(AlarmCode::kPfcMismatch, "swp1"),
            "priority 6 has no PFC at spine1 port p1; priority 5 has no PFC at spine2 port p1");
}

TEST_F(PfcCheck, WeLackIt) {
  link(Pfc{.enabled = 0x40});
  EXPECT_EQ(alarm(), "none");  // nobody is there who could pause us
  s.hear(1, a_switch("spine1", 2));
  EXPECT_EQ(alarm(), "priority 5 has no PFC here");
  link(Pfc{.enabled = k5And6});
  EXPECT_EQ(alarm(), "none");
}

TEST_F(PfcCheck, BothEndsLackIt) {
  link(Pfc{.enabled = 0});
  s.hear(1, with_pfc(host(), 0x20));
  EXPECT_EQ(alarm(), "priorities 5, 6 have no PFC here; priority 6 has no PFC at srv port p1");
}

TEST_F(PfcCheck, APortForManagementNeedsNone) {
  link(Pfc{.enabled = 0});
  s.hear(1, {.name = "office", .capabilities = tlv::Capabilities::kBridge});
  EXPECT_EQ(alarm(), "none");
}

TEST_F(PfcCheck, OtherPrioritiesMayBecomeLossless) {
  link(Pfc{.enabled = k5And6});
  s.hear(1, a_switch("spine1", 2));
  s.agent.configure(lossless(0x0c), s.now, s.out);
  s.take();
  EXPECT_EQ(alarm(), "priorities 2, 3 have no PFC here");
}

TEST_F(PfcCheck, HostsAreHeldToItToo) {
  Settings settings = lossless();
  settings.role = Role::kHost;
  s.agent.configure(settings, s.now, s.out);
  link(Pfc{.enabled = k5And6});
  s.hear(1, with_pfc(a_switch("leaf1", 1), 0));
  EXPECT_EQ(alarm(), "priorities 5, 6 have no PFC at leaf1 port p1");
}

TEST(PfcTlv, IsSentWhenAskedForAndOnlyWhereTheDriverTells) {
  const Bytes kTlv{0xfe, 6,                 // organizational, information of 6 octets
                   0x00, 0x80, 0xc2, 0x0b,  // IEEE 802.1, PFC Configuration
                   0x48,                    // not willing, MACsec bypass, 8 traffic classes
                   0x60};
  const auto frame = [](bool send, std::optional<Pfc> pfc) {
    Settings settings;
    settings.send_pfc = send;
    Single s(settings);
    s.set({.ifindex = ifindex(1), .up = true, .pfc = pfc});
    return s.sends(1).at(0).frame;
  };
  const auto holds = [&](const Bytes& f) {
    return std::search(f.begin(), f.end(), kTlv.begin(), kTlv.end()) != f.end();
  };
  const Pfc pfc{.enabled = 0x60, .cap = 8, .mbc = true};
  EXPECT_TRUE(holds(frame(true, pfc)));
  EXPECT_EQ(read(frame(true, pfc)).pfc_enabled, 0x60);
  EXPECT_EQ(read(frame(false, pfc)).pfc_enabled, std::nullopt);
  EXPECT_EQ(read(frame(true, std::nullopt)).pfc_enabled, std::nullopt);
}

TEST(PfcTlv, ANewStateIsToldAtOnce) {
  Settings settings;
  settings.send_pfc = true;
  Single s(settings);
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x20}});
  s.sends(1);
  s.pass(seconds(10));
  s.sends(1);
  s.set({.ifindex = ifindex(1), .up = true, .pfc = Pfc{.enabled = 0x60}});
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(read(sent[0].frame).pfc_enabled, 0x60);
}

}  // namespace
}  // namespace lldp::test
