// SPDX-License-Identifier: Apache-2.0
// What becomes of a received frame: counters, table, aging, limits.
#include <gtest/gtest.h>

#include "tests/core/support/single.hpp"

#ifdef __SANITIZE_ADDRESS__  // g++ 12 comes without <sanitizer/allocator_interface.h>
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));
#endif

namespace lldp::test {
namespace {

struct Receive : testing::Test {
  Receive() { s.up(1); }
  Single s{};
  [[nodiscard]] std::size_t known() const { return s.agent.neighbor_count(); }
};

// Which frames are ours to read

TEST_F(Receive, TakesFramesToItsOwnAddressesOnly) {
  s.hear(1, {.scope = Scope::kNearestCustomerBridge});
  s.hear(1, {.scope = Scope::kNearestNonTpmrBridge});
  EXPECT_EQ(s.statistics(1), Statistics{.statsFramesOutTotal = 1});
  s.hear(1, Peer{});
  EXPECT_EQ(s.statistics(1).statsFramesInTotal, 1U);
}
TEST_F(Receive, IgnoresOtherEtherTypesAndShortFrames) {
  Bytes frame = frame_of({});
  frame[13] = 0;
  s.hear(1, frame);
  const Bytes whole = frame_of({});
  for (std::size_t n = 0; n <= 14; ++n) s.hear(1, ByteSpan(whole).first(n));
  EXPECT_EQ(s.statistics(1).statsFramesInTotal, 0U);
}
TEST_F(Receive, IgnoresUnknownPortsAndPortsThatAreDown) {
  s.hear(2, Peer{});
  s.down(1);
  s.hear(1, Peer{});
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(s.statistics(1).statsFramesInTotal, 0U);
}
TEST_F(Receive, IgnoresAllWhileItMayNotReceive) {
  s.set({.ifindex = ifindex(1), .up = true, .adminStatus = core::AdminStatus::enabledTxOnly});
  s.hear(1, Peer{});
  EXPECT_EQ(known(), 0U);
}

// Counters

TEST_F(Receive, CountsAGoodFrame) {
  s.hear(1, Peer{});
  EXPECT_EQ(s.statistics(1), (Statistics{.statsFramesOutTotal = 2, .statsFramesInTotal = 1}));
}
TEST_F(Receive, CountsAMalformedFrame) {
  Bytes frame = frame_of({});
  frame[14] = 4;  // Port ID where the Chassis ID should be
  s.hear(1, frame);
  EXPECT_EQ(s.statistics(1), (Statistics{.statsFramesOutTotal = 1,
                                         .statsFramesInTotal = 1,
                                         .statsFramesInErrorsTotal = 1,
                                         .statsFramesDiscardedTotal = 1}));
  EXPECT_EQ(known(), 0U);
}
TEST_F(Receive, CountsTlvsThatAreDiscardedOrUnknownFrameByFrame) {
  const Peer p{.tail = {0x10, 0x01, 0x00,                    // Management Address, too short
                        0xfe, 0x04, 0x00, 0x11, 0x22, 0x07,  // an organization nobody knows
                        0x00, 0x00}};
  for (std::uint64_t i = 1; i <= 2; ++i) {  // also when nothing but the timer is refreshed
    s.hear(1, p);
    EXPECT_EQ(s.statistics(1), (Statistics{.statsFramesOutTotal = 2,
                                           .statsFramesInTotal = i,
                                           .statsFramesInErrorsTotal = i,
                                           .statsTLVsDiscardedTotal = i,
                                           .statsTLVsUnrecognizedTotal = i}));
  }
  EXPECT_EQ(known(), 1U);
}

// Table

TEST_F(Receive, TheSameFrameOnlyRefreshesItsTimer) {
  s.hear(1, {.ttl = 10});
  s.events.clear();
  s.pass(seconds(9));
  s.hear(1, {.ttl = 10});
  EXPECT_TRUE(s.events.empty());
  s.pass(seconds(9));
  EXPECT_EQ(known(), 1U);
  EXPECT_EQ(s.info(1).neighbors[0].expires_in, seconds(1));
}
TEST_F(Receive, HowLongItHasSaidTheSameBeginsWithWhatItSays) {
  const auto unchanged_for = [&] {
    return s.agent.snapshot(s.now, core::Depth::kOctets).ports[0].neighbors[0].frame->unchanged_for;
  };
  s.hear(1, {.ttl = 100});
  s.pass(seconds(7));
  s.hear(1, {.ttl = 100});
  EXPECT_EQ(unchanged_for(), seconds(7));
  s.hear(1, {.ttl = 99});
  EXPECT_EQ(unchanged_for(), seconds(0));
  s.pass(seconds(3));
  EXPECT_EQ(unchanged_for(), seconds(3));
}

TEST_F(Receive, TheSameFrameAllocatesNothing) {
#ifdef __SANITIZE_ADDRESS__
  const Bytes frame = frame_of(host());
  s.agent.receive(ifindex(1), frame, s.now, s.out);
  s.out.clear();
  static std::size_t allocations = 0;
  static bool counting = false;
  ASSERT_NE(__sanitizer_install_malloc_and_free_hooks(
                [](const volatile void*, std::size_t) { allocations += counting ? 1 : 0; },
                [](const volatile void*) {}),
            0);
  counting = true;
  s.agent.receive(ifindex(1), frame, s.now + seconds(1), s.out);
  counting = false;
  EXPECT_EQ(allocations, 0U);
#else
  GTEST_SKIP() << "allocations are counted by AddressSanitizer's hooks alone";
#endif
}
TEST_F(Receive, ALongerFrameThatBeginsLikeTheLastOneIsAnother) {
  Peer p{.tail = {0x10, 0x01, 0x00}};  // no End TLV
  s.hear(1, p);
  p.tail.insert(p.tail.end(), {0xfe, 0x07, 0x00, 0x80, 0xc2, 0x14, 0x00, 0x00, 0xff});
  s.hear(1, p);
  EXPECT_EQ(s.info(1).neighbors[0].device_type, DeviceType::kHost);
}
TEST_F(Receive, AChangedFrameReplacesAllThatWasKnown) {
  s.hear(1, {.ttl = 10, .tr = switch_claim(2), .contribution = switch_claim(2)});
  s.hear(1, {.ttl = 20, .tr = switch_claim(3)});
  const core::PortInfo info = s.info(1);
  ASSERT_EQ(info.neighbors.size(), 1U);
  EXPECT_EQ(info.neighbors[0].level, level(3));
  EXPECT_EQ(info.neighbors[0].ttl, 20);
  EXPECT_FALSE(info.neighbors[0].contribution);
  EXPECT_EQ(s.count(Event::Kind::kNeighborAdded), 1U);
  EXPECT_EQ(s.count(Event::Kind::kNeighborChanged), 1U);
}
TEST_F(Receive, ANeighborIsItsChassisAndItsPort) {
  s.hear(1, {.name = "a", .port = "p2"});
  s.hear(1, {.name = "b", .port = "p1"});
  s.hear(1, {.name = "a", .port = "p1"});
  const core::PortInfo info = s.info(1);
  ASSERT_EQ(info.neighbors.size(), 3U);
  EXPECT_EQ(info.neighbors[0].port_id.octets, "p1");  // in the order of their MSAP
  EXPECT_EQ(info.neighbors[1].port_id.octets, "p2");
  EXPECT_EQ(info.neighbors[2].chassis_id.octets, "b");
}
TEST_F(Receive, AgesOutToTheMoment) {
  s.hear(1, {.ttl = 10});
  s.events.clear();
  s.pass(milliseconds(9999));
  EXPECT_EQ(known(), 1U);
  s.pass(milliseconds(1));
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(s.statistics(1).statsAgeoutsTotal, 1U);
  ASSERT_EQ(s.count(Event::Kind::kNeighborRemoved), 1U);
  EXPECT_EQ(s.events[0].text, "peer port p1: aged out");
}
TEST_F(Receive, AgesOutOnlyWhoeverIsSilent) {
  s.hear(1, {.name = "a", .ttl = 10});
  s.pass(seconds(5));
  s.hear(1, {.name = "b", .ttl = 10});
  s.pass(seconds(5));
  ASSERT_EQ(known(), 1U);
  EXPECT_EQ(s.info(1).neighbors[0].system_name, "b");
}
TEST_F(Receive, AShutdownFrameRemovesItsSenderAlone) {
  s.hear(1, {.name = "a"});
  s.hear(1, {.name = "b"});
  s.hear(1, {.name = "a", .ttl = 0});
  s.hear(1, {.name = "c", .ttl = 0});  // never heard of
  ASSERT_EQ(known(), 1U);
  EXPECT_EQ(s.info(1).neighbors[0].system_name, "b");
  EXPECT_EQ(s.statistics(1).statsAgeoutsTotal, 0U);
}
// It is not taken for one more of the kind that came last.
TEST_F(Receive, AMalformedFrameRemovesNobodyAfterAShutdownFrameEither) {
  s.hear(1, {.name = "a"});
  s.hear(1, {.name = "b", .ttl = 0});
  s.hear(1, {.name = "a", .tail = {0x02, 0x02, 7, 'x', 0, 0}});  // a second Chassis ID
  EXPECT_EQ(s.statistics(1).statsFramesInErrorsTotal, 1U);
  EXPECT_EQ(known(), 1U);
}
TEST_F(Receive, ALinkThatGoesDownHasNoNeighbor) {
  s.hear(1, host());
  s.down(1);
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(s.agent.level(), level(1));  // kept
  EXPECT_EQ(s.type(1), PortType::kUnmarked);
  EXPECT_EQ(s.order(1), Order::kUp);
}
TEST_F(Receive, ARemovedLinkTakesItsNeighborsWithIt) {
  s.pass(std::chrono::seconds(121));  // what waits for one TTL after the start is over
  s.hear(1, Peer{});
  s.sent.clear();
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  EXPECT_EQ(known(), 0U);
  EXPECT_TRUE(s.sent.empty());
  EXPECT_EQ(s.agent.statistics(ifindex(1)), std::nullopt);
  EXPECT_EQ(s.agent.next_deadline(), std::nullopt);
  s.up(1);  // and may come back
  s.hear(1, Peer{});
  EXPECT_EQ(known(), 1U);
}
TEST_F(Receive, EventsNameTheNeighborTheyAreAbout) {
  const auto told = [&](Event::Kind kind) {
    for (const Event& e : s.events)
      if (e.kind == kind) return core::neighbor_of(e);
    return std::string("(none)");
  };
  s.hear(1, Peer{});
  s.hear(1, {.ttl = 9});
  s.down(1);
  EXPECT_EQ(told(Event::Kind::kNeighborAdded), "peer");
  EXPECT_EQ(told(Event::Kind::kNeighborChanged), "peer");
  EXPECT_EQ(told(Event::Kind::kNeighborRemoved), "peer");
  EXPECT_EQ(core::neighbor_of(Event{.kind = Event::Kind::kLevel}), "");
}
TEST_F(Receive, AgesOutSoonerWhereThatAloneIsNew) {
  s.set({.ifindex = ifindex(2), .up = true, .adminStatus = core::AdminStatus::enabledRxOnly});
  s.hear(2, {.name = "z", .ttl = 3600, .tr = switch_claim(2, PortType::kDownlink)});
  s.pass(seconds(200));
  s.hear(2, {.name = "z", .ttl = 3, .tr = switch_claim(2, PortType::kDownlink)});
  s.pass(seconds(3));
  EXPECT_EQ(s.info(2).neighbors.size(), 0U);
}
TEST_F(Receive, TextFromTheNetworkIsEscapedInEvents) {
  s.hear(1, {.name = "x\x1b[31m\n", .port = "p\x07"});
  ASSERT_EQ(s.count(Event::Kind::kNeighborAdded), 1U);
  for (const Event& e : s.events) {
    if (e.kind == Event::Kind::kNeighborAdded) {
      EXPECT_EQ(e.text, "x\\x1b[31m\\x0a port p\\x07");
    }
  }
  s.agent.receive(ifindex(1), frame_of({.name = "x\x1b[31m\n", .port = "p\x07", .ttl = 9}), s.now,
                  s.out);
  ASSERT_EQ(s.out.events.size(), 1U);
  EXPECT_EQ(s.out.events[0].kind, Event::Kind::kNeighborChanged);
  EXPECT_EQ(text_of(s.out.events[0]), "x\\x1b[31m\\x0a port p\\x07: ttl 120 -> 9");
}

/// What is told of a neighbor that sends the one and then the other.
std::string change(const Peer& before, const Peer& after) {
  Single s;
  s.up(1);
  s.hear(1, before);
  s.agent.receive(ifindex(1), frame_of(after), s.now, s.out);
  for (const Event& e : s.out.events)
    if (e.kind == Event::Kind::kNeighborChanged) return text_of(e);
  return "nothing";
}
// The line goes to a log and to a command, and a jumbo frame has room for 1,500 TLVs.
TEST(NeighborChanged, NamesAFewOfMany) {
  Peer many;
  for (std::uint8_t i = 0; i < 200; ++i) many.tail.insert(many.tail.end(), {0xfe, 4, 0, 1, i, 1});
  many.tail.insert(many.tail.end(), {0, 0});
  const std::string text = change({}, many);
  EXPECT_LT(text.size(), 1000U);
  EXPECT_TRUE(text.ends_with(", 184 more")) << text;
}
TEST(NeighborChanged, SaysWhat) {
  const Peer leaf = a_switch("leaf1", 1);
  EXPECT_EQ(change(leaf, a_switch("leaf1", 2, PortType::kUplink)),
            "leaf1 port p1: level 1 -> 2, port type unmarked -> uplink");
  EXPECT_EQ(change(leaf, {.name = "leaf1", .tr = host_claim()}),
            "leaf1 port p1: device type switch -> host, level 1 -> 0");
  // It is a switch until what it said has expired.
  EXPECT_EQ(change(leaf, {.name = "leaf1", .capabilities = 0x80}),
            "leaf1 port p1: system-capabilities, tr");
  EXPECT_EQ(change(leaf, {.name = "leaf1", .ttl = 60, .tr = switch_claim(std::nullopt)}),
            "leaf1 port p1: level 1 -> none, ttl 120 -> 60");
  EXPECT_EQ(change({.capabilities = 0x10}, {.capabilities = 0x14}),
            "peer port p1: system-capabilities");
  const Peer first{.name = "leaf1", .layers = Layers{*Layer::make(1), *Layer::make(2)}};
  EXPECT_EQ(change(first, {.name = "leaf1", .layers = Layers{*Layer::make(3), *Layer::make(2)}}),
            "leaf1 port p1: layers " + to_string(*first.layers) + " -> " +
                to_string(Layers{*Layer::make(3), *Layer::make(2)}));
  Peer described;
  described.tail = {0x08, 3, 'o', 'n', 'e', 0, 0};
  Peer anew;
  anew.tail = {0x08, 3, 't', 'w', 'o', 0, 0};
  EXPECT_EQ(change(described, anew), "peer port p1: port-description one -> two");
  EXPECT_EQ(change({}, anew), "peer port p1: port-description none -> two");
  // A reserved orientation means unmarked, too.
  Peer odd;
  odd.tail = {0xfe, 7, 0x00, 0x80, 0xc2, 0x14, 1, 1, 9, 0, 0};
  Peer unmarked;
  unmarked.tail = {0xfe, 7, 0x00, 0x80, 0xc2, 0x14, 1, 1, 255, 0, 0};
  EXPECT_EQ(change(odd, unmarked), "peer port p1: tr");
}
TEST(NeighborChanged, SaysWhatTheAgentGoesByWhereAClaimStood) {
  Single s;
  s.up(1);
  s.hear(1, a_switch("leaf1", 1));
  s.hear(1, {.name = "leaf1", .capabilities = 0x80});
  s.agent.receive(ifindex(1), frame_of(a_switch("leaf1", 2)), s.now, s.out);
  const auto& events = s.out.events;
  const auto changed = std::ranges::find(events, Event::Kind::kNeighborChanged, &Event::kind);
  ASSERT_NE(changed, events.end());
  EXPECT_EQ(text_of(*changed), "leaf1 port p1: level 1 -> 2, system-capabilities");
}
TEST(NeighborChanged, NamesTlvsThatWeDoNotRead) {
  const auto with = [](Bytes tail) {
    Peer p;
    p.tail = std::move(tail);
    return p;
  };
  const Bytes end{0, 0};
  EXPECT_EQ(change(with(end), with({0x0c, 1, 'L', 0, 0})), "peer port p1: system-description");
  EXPECT_EQ(change(with(end), with({0xfe, 5, 0, 0x12, 0xbb, 0x0c, 9, 0x12, 0, 0, 0})),
            "peer port p1: TLV 127 0012bb0c, TLV 9");
  EXPECT_EQ(change(with({0xfe, 6, 0, 0x80, 0xc2, 0x0b, 8, 0x08, 0, 0}),
                   with({0xfe, 6, 0, 0x80, 0xc2, 0x0b, 8, 0x60, 0, 0})),
            "peer port p1: pfc 3 -> 5 6");
  EXPECT_EQ(change(with({0x12, 0, 0x14, 0, 0, 0}), with({0x14, 0, 0x12, 0, 0, 0})),
            "peer port p1: the order of its TLVs");
}
TEST(NeighborName, IsItsDescriptionWhereTheIdIsAnAddress) {
  Bytes frame = frame_of({.tail = {0x08, 5, 'e', 't', 'h', '0', 0, 0, 0}});
  // lldpd's: the port ID (after 14 octets of Ethernet, 7 of chassis ID) is the MAC address.
  const Bytes mac_id{0x04, 7, 3, 2, 0, 0, 0, 0, 9};
  const auto at = frame.begin() + 14 + 7;
  frame.erase(at, at + 5);
  frame.insert(frame.begin() + 14 + 7, mac_id.begin(), mac_id.end());
  Single s;
  s.up(1);
  s.agent.receive(ifindex(1), frame, s.now, s.out);
  ASSERT_FALSE(s.out.events.empty());
  EXPECT_EQ(s.out.events[0].text, "peer port eth0");
}
TEST(StockHost, NeedsAWordForItAndNoneAgainstIt) {
  constexpr std::uint16_t kStationBits = tlv::Capabilities::kStationOnly;
  constexpr std::uint16_t kTelephone = 1U << 5;
  const auto device = [](std::optional<std::uint16_t> capabilities, Bytes tail,
                         bool from_capabilities = true) {
    Settings settings;
    settings.host_from_capabilities = from_capabilities;
    Single s(settings);
    s.up(1);
    tail.insert(tail.end(), {0, 0});
    s.hear(1, {.capabilities = capabilities, .tail = tail});
    return s.info(1).neighbors.at(0).device_type;
  };
  const auto med = [](std::uint8_t device_class) {
    return Bytes{0xfe, 7, 0x00, 0x12, 0xbb, 0x01, 0, 0x01, device_class};
  };
  const Bytes port_vlan{0xfe, 6, 0x00, 0x80, 0xc2, 0x01, 0, 1};
  const Bytes vlan_name{0xfe, 8, 0x00, 0x80, 0xc2, 0x03, 0, 9, 1, 'v'};
  EXPECT_EQ(device(kStationBits, {}), DeviceType::kHost);
  EXPECT_EQ(device(kStationBits, vlan_name), DeviceType::kHost);  // of an interface of its
  EXPECT_EQ(device(kStationBits, med(1)), DeviceType::kHost);
  EXPECT_EQ(device(kStationBits, med(4)), DeviceType::kUnknown);  // network connectivity
  EXPECT_EQ(device(kStationBits, port_vlan), DeviceType::kUnknown);
  for (std::uint8_t endpoint = 1; endpoint <= 3; ++endpoint) {
    EXPECT_EQ(device(std::nullopt, med(endpoint)), DeviceType::kHost) << +endpoint;
    EXPECT_EQ(device(kTelephone, med(endpoint)), DeviceType::kHost) << +endpoint;
    EXPECT_EQ(device(tlv::Capabilities::kBridge, med(endpoint)), DeviceType::kUnknown);
    EXPECT_EQ(device(tlv::Capabilities::kRouter, med(endpoint)), DeviceType::kUnknown);
    EXPECT_EQ(device(std::nullopt, med(endpoint), false), DeviceType::kUnknown);
  }
  EXPECT_EQ(device(std::nullopt, med(0)), DeviceType::kUnknown);
  EXPECT_EQ(device(std::nullopt, med(5)), DeviceType::kUnknown);
}

// Limits

struct FullTable : testing::Test {
  static Settings small() {
    Settings settings;
    settings.max_neighbors_per_port = 2;
    settings.max_neighbors = 3;
    return settings;
  }
  FullTable() {
    s.up(1, 2);
    s.hear(1, {.name = "a"});
    s.hear(1, {.name = "b"});
  }
  Single s{small()};
};

TEST_F(FullTable, RefusesANewcomer) {
  s.hear(1, {.name = "c"});
  EXPECT_EQ(s.agent.neighbor_count(), 2U);
  EXPECT_EQ(s.statistics(1).statsTooManyNeighborsTotal, 1U);
  EXPECT_EQ(s.statistics(1).statsFramesDiscardedTotal, 1U);
  EXPECT_EQ(s.statistics(1).statsFramesInErrorsTotal, 0U);
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp1"), "2 neighbors: a, b; more found no room");
}
TEST_F(FullTable, LacksNoRoomForItsOwnFrames) {
  ASSERT_FALSE(s.sent.empty());
  s.hear(1, Bytes(s.sent.back().frame));
  EXPECT_EQ(s.statistics(1).statsTooManyNeighborsTotal, 0U);
  EXPECT_EQ(s.statistics(1).statsFramesDiscardedTotal, 0U);
}
TEST_F(FullTable, StillHearsThoseItKnows) {
  s.hear(1, {.name = "a", .tr = host_claim()});
  EXPECT_EQ(s.agent.level(), level(1));
}
TEST_F(FullTable, TooManyNeighborsEndsWithItsTimer) {
  s.hear(1, {.name = "c", .ttl = 10});
  s.pass(seconds(5));
  s.hear(1, {.name = "d", .ttl = 3});  // does not shorten it
  s.pass(milliseconds(4999));
  EXPECT_NE(s.alarm(AlarmCode::kManyNeighbors, "swp1"), "2 neighbors: a, b");
  s.pass(milliseconds(1));
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp1"), "2 neighbors: a, b");
}
TEST_F(FullTable, TooManyNeighborsIsSaidWhereTheOthersHaveAgedOut) {
  s.hear(1, {.name = "c", .ttl = 10000});
  s.hear(1, {.name = "a", .ttl = 0});
  s.hear(1, {.name = "b", .ttl = 0});
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp1"),
            "more neighbors were heard than the port has room for");
}
TEST_F(FullTable, TheLimitInAllHoldsAcrossPorts) {
  s.hear(2, {.name = "c"});
  s.hear(2, {.name = "d"});
  EXPECT_EQ(s.agent.neighbor_count(), 3U);
  EXPECT_EQ(s.statistics(2).statsTooManyNeighborsTotal, 1U);
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp2"), "1 neighbor: c; more found no room");
  s.hear(1, {.name = "a", .ttl = 0});
  s.hear(2, {.name = "d"});
  EXPECT_EQ(s.agent.neighbor_count(), 3U);
}

TEST(Flood, TenThousandNeighborsOnAPortStayWithinTheLimit) {
  Single s;
  s.up(1);
  for (int i = 0; i < 10000; ++i) s.hear(1, {.name = "n" + std::to_string(i)});
  EXPECT_EQ(s.agent.neighbor_count(), 32U);
  EXPECT_EQ(s.statistics(1).statsTooManyNeighborsTotal, 10000U - 32U);
  EXPECT_EQ(s.sends(1).size(),
            Settings{}.txCreditMax - 1U);  // whatever a neighbor does; the last is for agents
}
TEST(Flood, ANeighborThatChangesOnEveryFrameIsOneNeighbor) {
  Single s;
  s.up(1);
  for (std::size_t i = 0; i < 10000; ++i) {
    s.hear(1, {.port = "p1", .tr = switch_claim(1 + i % 7), .tail = Bytes(i % 100 + 1, 0)});
    s.events.clear();
  }
  EXPECT_EQ(s.agent.neighbor_count(), 1U);
}
TEST(Flood, NeighborsThatComeAndGoAreAnsweredWithinTheCredit) {
  Single s;
  s.up(1);
  s.sends(1);
  for (int i = 0; i < 1000; ++i) {
    s.hear(1, {.name = "n" + std::to_string(i)});
    s.hear(1, {.name = "n" + std::to_string(i), .ttl = 0});
    s.pass(milliseconds(10));
  }
  EXPECT_LE(s.sends(1).size(), Settings{}.txCreditMax + 10U);  // 10 s
}

// Several agents on a port

TEST(Scopes, EachAddressHasItsOwnMachinesAndOneTable) {
  Settings settings;
  settings.scopes = {Scope::kNearestBridge, Scope::kNearestCustomerBridge};
  Single s(settings);
  s.up(1);
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].frame[5], 0x0e);
  EXPECT_EQ(sent[1].frame[5], 0x00);
  s.hear(1, {.tr = switch_claim(2)});
  s.hear(1, {.tr = switch_claim(2), .scope = Scope::kNearestCustomerBridge});
  EXPECT_EQ(s.agent.neighbor_count(), 2U);
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp1"), std::nullopt);  // it is one and the same
  s.hear(1, {.ttl = 0, .scope = Scope::kNearestCustomerBridge});
  EXPECT_EQ(s.agent.neighbor_count(), 1U);
  settings.scopes = {Scope::kNearestCustomerBridge};
  s.sent.clear();
  s.agent.configure(settings, s.now, s.out);
  s.take();
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
  ASSERT_EQ(s.sent.size(), 2U);  // goodbye to one, news to the other
  EXPECT_EQ(s.sent[0].frame[5], 0x0e);
  EXPECT_EQ(read(s.sent[0].frame).ttl, 0);
  EXPECT_EQ(read(s.sent[1].frame).ttl, 121);
}

}  // namespace
}  // namespace lldp::test
