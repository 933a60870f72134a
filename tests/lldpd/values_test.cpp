// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/core/agent.hpp"
#include "agent/core/settings.hpp"
#include "tlv/order.hpp"
#include "tlv/topology.hpp"

namespace lldp::lldpd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;
using enum Change::Operation;

const MacAddress kGroup = core::group_address(core::Scope::kNearestBridge);
constexpr tlv::Key kTr = tlv::Tr::kKey;
constexpr tlv::Key kContribution = tlv::Contribution::kKey;
constexpr tlv::Key kForeign{tlv::kOrganizational, 0x00aabb, 7};
const std::vector<tlv::Key> kOurs{kTr, kContribution};

CustomTlv custom(const tlv::Key& key, Bytes information) { return {key, std::move(information)}; }

Neighbor leaf() {
  Neighbor n{.ttl = 120,
             .port_description = "swp9",
             .system_name = "leaf1",
             .capabilities = {.system = 0x14, .enabled = 0x04},
             .custom = {custom(kTr, {1, 1, 0}), custom(kForeign, {})}};
  n.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 9});
  n.port_id.subtype = PortId::kMacAddress;
  n.port_id.octets.assign("\x02\0\0\0\0\x0a", 6);
  return n;
}

TEST(LldpdNeighbor, BecomesTheFrameThatItWouldHaveSent) {
  EXPECT_EQ(frame_of(leaf(), kGroup),
            (Bytes{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,                 // nearest bridge
                   0,    0,    0,    0,    0,    0,    0x88, 0xcc,     // whose address nobody tells
                   0x02, 7,    4,    2,    0,    0,    0,    0,    9,  // chassis: MAC
                   0x04, 7,    3,    2,    0,    0,    0,    0,    0x0a,  // port: MAC
                   0x06, 2,    0,    120,                                 // TTL
                   0x08, 4,    's',  'w',  'p',  '9',                     // port description
                   0x0a, 5,    'l',  'e',  'a',  'f',  '1',               // system name
                   0x0e, 4,    0,    0x14, 0,    0x04,                    // capabilities
                   0xfe, 7,    0x00, 0x80, 0xc2, 0x14, 1,    1,    0,     // tr
                   0xfe, 4,    0x00, 0xaa, 0xbb, 7,                       // somebody's
                   0,    0}));
}

TEST(LldpdNeighbor, WithoutNameAndCapabilitiesHasNoTlvOfThem) {
  Neighbor n = leaf();
  n.port_description.clear();
  n.system_name.clear();
  n.capabilities = {};
  n.custom.clear();
  EXPECT_EQ(frame_of(n, kGroup).size(), 14U + 9 + 9 + 4 + 2);
}

TEST(LldpdNeighbor, ThatIsGoneBecomesAShutdownLldpdu) {
  Neighbor n = leaf();
  n.ttl = 0;
  const Bytes frame = frame_of(n, kGroup);
  ASSERT_EQ(frame.size(), 14U + 9 + 9 + 4 + 2);
  EXPECT_EQ(frame[14 + 9 + 9 + 3], 0);
  EXPECT_EQ(custom_tlvs_of(frame), std::nullopt);
}

TEST(LldpdNeighbor, IsHeardByTheAgentAndForgotten) {
  core::Agent agent({}, {}, TimePoint{});
  core::Actions out;
  const auto port = Ifindex::of<3>();
  agent.set_link({.ifindex = port, .name = "swp1", .address = {2, 0, 0, 0, 0, 1}, .up = true},
                 TimePoint{}, out);
  agent.receive(port, frame_of(leaf(), kGroup), TimePoint(1s), out);
  EXPECT_EQ(agent.level(), Level::of<2>());
  EXPECT_EQ(agent.type(port), PortType::kDownlink);
  Neighbor gone = leaf();
  gone.ttl = 0;
  agent.receive(port, frame_of(gone, kGroup), TimePoint(2s), out);
  EXPECT_EQ(agent.neighbor_count(), 0U);
  EXPECT_EQ(agent.level(), Level::of<2>());
}

TEST(LldpdNeighbor, WithNothingButStationIsAHost) {
  Neighbor host = leaf();
  host.custom.clear();
  host.capabilities = {.system = 0x9c, .enabled = 0x80};
  core::Agent agent({}, {}, TimePoint{});
  core::Actions out;
  const auto port = Ifindex::of<3>();
  agent.set_link({.ifindex = port, .name = "swp1", .address = {2, 0, 0, 0, 0, 1}, .up = true},
                 TimePoint{}, out);
  agent.receive(port, frame_of(host, kGroup), TimePoint(1s), out);
  EXPECT_EQ(agent.level(), Level::of<1>());
}

TEST(LldpdAnnouncement, GivesTheTlvsThatCarryTheLevel) {
  core::Agent agent({.pinned_level = Level::of<2>(), .system_name = "spine"}, {}, TimePoint{});
  core::Actions out;
  const auto port = Ifindex::of<3>();
  EXPECT_THAT(agent.announcement(port), IsEmpty());
  agent.set_link(
      {.ifindex = port,
       .name = "swp1",
       .address = {2, 0, 0, 0, 0, 1},
       .up = true,
       .details = core::LinkDetails{.mac_phy = core::MacPhy{}, .port_vlan = 7, .vlans = {7}}},
      TimePoint{}, out);
  const auto tlvs = custom_tlvs_of(agent.announcement(port));
  ASSERT_TRUE(tlvs);
  ASSERT_THAT(*tlvs, SizeIs(3));
  EXPECT_EQ(tlvs->front().key, tlv::OrderTlv::kKey);
  const auto order = tlv::decode_as<tlv::OrderTlv>(tlvs->front().information);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->agent.value(), agent.state().agent);
  EXPECT_THAT(std::vector(tlvs->begin() + 1, tlvs->end()),
              ElementsAre(custom(kTr, {1, 2, 255}), custom(kContribution, {1, 2, 0})));
}

TEST(LldpdChanges, AreNoneWhereLldpdSendsIt) {
  const std::vector<CustomTlv> tlvs{custom(kTr, {1, 2, 0}), custom(kContribution, {1, 2, 1})};
  const std::vector<CustomTlv> other_order{tlvs[1], custom(kForeign, {9}), tlvs[0]};
  EXPECT_THAT(changes(tlvs, tlvs, kOurs), IsEmpty());
  EXPECT_THAT(changes(other_order, tlvs, kOurs), IsEmpty());
}

TEST(LldpdChanges, TouchOnlyWhatDiffers) {
  const std::vector<CustomTlv> has{custom(kTr, {1, 2, 0}), custom(kForeign, {9}),
                                   custom(kContribution, {1, 2, 1})};
  const std::vector<CustomTlv> wants{custom(kTr, {1, 3, 0}), custom(kContribution, {1, 2, 1})};
  EXPECT_THAT(changes(has, wants, kOurs), ElementsAre(Change{kReplace, wants[0]}));
}

TEST(LldpdChanges, SetEverythingInAnLldpdThatHasJustStarted) {
  const std::vector<CustomTlv> wants{custom(kTr, {1, 3, 0}), custom(kContribution, {1, 2, 1})};
  EXPECT_THAT(changes({}, wants, kOurs),
              ElementsAre(Change{kReplace, wants[0]}, Change{kReplace, wants[1]}));
}

TEST(LldpdChanges, PutOneInThePlaceOfTwoUnderOneKey) {
  const CustomTlv tr = custom(kTr, {1, 2, 0});
  const std::vector<CustomTlv> has{tr, custom(kTr, {1, 3, 0})};
  EXPECT_THAT(changes(has, std::vector{tr}, kOurs), ElementsAre(Change{kReplace, tr}));
}

TEST(LldpdChanges, RemoveOursAloneWhenNothingIsWanted) {
  const std::vector<CustomTlv> has{custom(kForeign, {9}), custom(kContribution, {1, 2, 1})};
  EXPECT_THAT(changes(has, {}, kOurs),
              ElementsAre(Change{kRemove, {.key = kContribution, .information = {}}}));
  EXPECT_THAT(changes({}, {}, kOurs), IsEmpty());
}

}  // namespace
}  // namespace lldp::lldpd
