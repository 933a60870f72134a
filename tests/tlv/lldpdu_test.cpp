// SPDX-License-Identifier: Apache-2.0
#include "tlv/lldpdu.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string_view>
#include <utility>

#include "tests/support/lldpdus.hpp"
#include "tlv/topology.hpp"
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

constexpr Oui kOurs[] = {{0x02, 0x4c, 0x56}};
constexpr Dialect kDialect{kOurs};

TEST(Lldpdu, ReadsWhatTheWriterWrote) {
  const MacAddress mac{2, 0, 0, 0, 0, 1};
  Bytes pdu;
  LldpduWriter writer(pdu, 1500);
  writer.add(ChassisIdTlv{4, ByteSpan(mac)})
      .add(PortIdTlv{5, as_octets("swp1")})
      .add(Ttl{121})
      .add(PortDescription{"to spine"})
      .add(SystemName{"leaf-1"})
      .add(SystemDescription{"Linux"})
      .add(Capabilities{0x14, 0x04})
      .add(to_tr({DeviceType::kSwitch, Level::of<1>(), PortType::kCrosslink}))
      .add(to_contribution({DeviceType::kSwitch, Level::of<1>(), PortType::kDownlink}), kOurs[0])
      .end();
  EXPECT_EQ(writer.left_out(), 0U);
  const auto view = decode(pdu, kDialect);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->chassis_subtype, 4);
  EXPECT_EQ(as_text(view->chassis_octets), as_text(mac));
  EXPECT_EQ(as_text(view->port_octets), "swp1");
  EXPECT_EQ(view->ttl, 121);
  EXPECT_EQ(view->port_description, "to spine");
  EXPECT_EQ(view->system_name, "leaf-1");
  EXPECT_EQ(view->system_description, "Linux");
  EXPECT_EQ(view->capabilities, (Capabilities{0x14, 0x04}));
  EXPECT_EQ(view->tr, (Claim{DeviceType::kSwitch, Level::of<1>(), PortType::kCrosslink}));
  EXPECT_EQ(view->contribution, (Claim{DeviceType::kSwitch, Level::of<1>(), PortType::kDownlink}));
  EXPECT_EQ(view->tlvs_discarded, 0);
  EXPECT_EQ(view->tlvs_unrecognized, 0);
  EXPECT_FALSE(view->in_error);
  EXPECT_EQ(view->octets.size(), pdu.size());
}

/// An LLDPDU octet by octet.
struct Pdu {
  Bytes octets{};
  Pdu& tlv(unsigned type, const Bytes& information) {
    octets.push_back(static_cast<std::uint8_t>(type << 1 | information.size() >> 8));
    octets.push_back(static_cast<std::uint8_t>(information.size()));
    return raw(information);
  }
  Pdu& raw(const Bytes& more) {
    octets.insert(octets.end(), more.begin(), more.end());
    return *this;
  }
};
const Bytes kChassis{4, 2, 0, 0, 0, 0, 1};
const Bytes kPort{5, 's', 'w', 'p', '1'};
const Bytes kTtl{0, 120};
Pdu start() { return Pdu{}.tlv(1, kChassis).tlv(2, kPort).tlv(3, kTtl); }

struct Counts {
  unsigned discarded = 0;
  unsigned unrecognized = 0;
  bool in_error = false;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend void PrintTo(const Counts& c, std::ostream* os) {
    *os << "discarded " << c.discarded << ", unrecognized " << c.unrecognized << ", in error "
        << c.in_error;
  }
};
constexpr Counts kClean{};
constexpr Counts kOneDiscarded{.discarded = 1, .in_error = true};

/// The counts of an LLDPDU that must not be discarded.
Counts counts(const Pdu& pdu) {
  const auto view = decode(pdu.octets, kDialect);
  EXPECT_TRUE(view) << to_string(view.error());
  if (!view) return {99, 99, true};
  return {view->tlvs_discarded, view->tlvs_unrecognized, view->in_error};
}
std::optional<Discard> verdict(const Pdu& pdu) {
  const auto view = decode(pdu.octets, kDialect);
  return view ? std::nullopt : std::optional(view.error());
}

TEST(ReceiveRules, WantTheFirstThreeTlvsInTheirOrder) {
  EXPECT_EQ(verdict(Pdu{}), Discard::kChassisId);
  EXPECT_EQ(verdict(Pdu{}.tlv(2, kPort).tlv(1, kChassis)), Discard::kChassisId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(3, kTtl)), Discard::kPortId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(1, kChassis)), Discard::kPortId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(2, kPort)), Discard::kTtl);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(2, kPort).tlv(5, {'x'}).tlv(3, kTtl)),
            Discard::kTtl);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(0, {})), Discard::kPortId);
}

TEST(ReceiveRules, SayWhichOfThemWasBroken) {
  const std::pair<Discard, std::string_view> texts[] = {
      {Discard::kChassisId, "the first TLV is not a Chassis ID of 2 to 256 octets"},
      {Discard::kPortId, "the second TLV is not a Port ID of 2 to 256 octets"},
      {Discard::kTtl, "the third TLV is not a Time To Live of 2 octets or more"},
      {Discard::kDuplicate, "a second Chassis ID, Port ID or Time To Live TLV"},
      {Discard::kEndLength, "an End TLV with a length other than 0"}};
  for (const auto& [rule, text] : texts) EXPECT_EQ(to_string(rule), text);
}

TEST(ReceiveRules, BindTheLengthsOfTheFirstThree) {
  EXPECT_EQ(verdict(Pdu{}.tlv(1, {4}).tlv(2, kPort).tlv(3, kTtl)), Discard::kChassisId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, Bytes(257, 7)).tlv(2, kPort).tlv(3, kTtl)), Discard::kChassisId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, Bytes(256, 7)).tlv(2, Bytes(256, 7)).tlv(3, kTtl)), std::nullopt);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(2, Bytes(257, 7)).tlv(3, kTtl)), Discard::kPortId);
  EXPECT_EQ(verdict(Pdu{}.tlv(1, kChassis).tlv(2, kPort).tlv(3, {1})), Discard::kTtl);
}

TEST(ReceiveRules, IgnoreWhatFollowsTheTtlInItsTlv) {
  const auto view =
      decode(Pdu{}.tlv(1, kChassis).tlv(2, kPort).tlv(3, {0, 9, 1, 2, 3}).octets, kDialect);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->ttl, 9);
}

TEST(ReceiveRules, StopAtTtlZero) {
  const Pdu pdu = Pdu{}.tlv(1, kChassis).tlv(2, kPort).tlv(3, {0, 0}).tlv(1, kChassis).raw({9, 9});
  const auto view = decode(pdu.octets, kDialect);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->ttl, 0);
  EXPECT_EQ(counts(pdu), kClean);
  EXPECT_EQ(view->octets.size(), 9U + 7U + 4U);
}

TEST(ReceiveRules, DiscardASecondOfTheFirstThree) {
  EXPECT_EQ(verdict(start().tlv(1, kChassis)), Discard::kDuplicate);
  EXPECT_EQ(verdict(start().tlv(2, kPort)), Discard::kDuplicate);
  EXPECT_EQ(verdict(start().tlv(3, kTtl)), Discard::kDuplicate);
  EXPECT_EQ(verdict(start().tlv(3, {})), Discard::kDuplicate);  // whatever its length
}

TEST(ReceiveRules, DiscardAnEndTlvWithInformation) {
  EXPECT_EQ(verdict(start().tlv(0, {0})), Discard::kEndLength);
  EXPECT_EQ(verdict(start().tlv(0, {})), std::nullopt);
}

TEST(ReceiveRules, TakeTheEndOfDataForTheEnd) { EXPECT_EQ(counts(start()), kClean); }

TEST(ReceiveRules, TakeOctetsAfterEndForPadding) {
  const Pdu pdu = start().tlv(0, {}).raw({0x02, 0x07, 0xff});
  EXPECT_EQ(counts(pdu), kClean);
  EXPECT_EQ(decode(pdu.octets, kDialect)->octets.size(), pdu.octets.size() - 3);
}

TEST(ReceiveRules, CountUnknownTlvsAndKeepThem) {
  const Counts one{.unrecognized = 1};
  EXPECT_EQ(counts(start().tlv(9, {})), one);
  EXPECT_EQ(counts(start().tlv(126, Bytes(511, 1))), one);
  EXPECT_EQ(counts(start().tlv(127, {0, 0x12, 0xbc, 1})), one);        // unknown OUI
  EXPECT_EQ(counts(start().tlv(127, {0, 0x80, 0xc2, 0x13, 1})), one);  // unknown subtypes
  EXPECT_EQ(counts(start().tlv(127, {0, 0x80, 0xc2, 0xff, 1})), one);
}

TEST(ReceiveRules, DiscardTheTlvWhoseLengthIsWrongAndGoOn) {
  const Pdu pdu = start().tlv(7, {0, 4, 0}).tlv(5, {'n'});
  EXPECT_EQ(counts(pdu), kOneDiscarded);
  const auto view = decode(pdu.octets, kDialect);
  EXPECT_EQ(view->capabilities, std::nullopt);
  EXPECT_EQ(view->system_name, "n");
  EXPECT_EQ(counts(start().tlv(5, Bytes(256, 'x'))), kOneDiscarded);
}

TEST(ReceiveRules, KeepWhatStoodBeforeATlvThatRunsPastTheEnd) {
  for (const Bytes& tail :
       {Bytes{12, 9, 'x'}, Bytes{12}, Bytes{0}, Bytes{0xff, 0xff}, Bytes{0, 1}}) {
    const Pdu pdu = start().tlv(5, {'n'}).raw(tail);
    EXPECT_EQ(counts(pdu), kOneDiscarded);
    const auto view = decode(pdu.octets, kDialect);
    EXPECT_EQ(view->system_name, "n");
    EXPECT_EQ(view->octets.size(), pdu.octets.size());
  }
}

TEST(ReceiveRules, LetTheFirstOfTwoStand) {
  const Pdu pdu = start().tlv(5, {'a'}).tlv(5, {'b'});
  EXPECT_EQ(counts(pdu), kOneDiscarded);
  EXPECT_EQ(decode(pdu.octets, kDialect)->system_name, "a");
  const Pdu broken_first = start().tlv(7, {0}).tlv(7, {0, 4, 0, 4});  // the first was none
  EXPECT_EQ(counts(broken_first), kOneDiscarded);
  EXPECT_EQ(decode(broken_first.octets, kDialect)->capabilities, (Capabilities{4, 4}));
}

TEST(ReceiveRules, AllowSeveralManagementAddresses) {
  const Bytes address{5, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 0};
  EXPECT_EQ(counts(start().tlv(8, address).tlv(8, address)), kClean);
}

TEST(ReceiveRules, DiscardALevelTlvOfWrongLengthAndNotItsFrame) {
  EXPECT_EQ(counts(start().tlv(127, {0, 0x80, 0xc2, 0x14, 1, 2})), kOneDiscarded);
  EXPECT_EQ(counts(start().tlv(127, {0, 0x80, 0xc2, 0x14, 1, 2, 1, 0})), kOneDiscarded);
  EXPECT_EQ(counts(start().tlv(127, {0x02, 0x4c, 0x56, 1, 1, 2})), kOneDiscarded);
}

TEST(Dialect, NamesTheOuisOfTheContribution) {
  const Pdu pdu = start().tlv(127, {0xaa, 0xbb, 0xcc, 1, 1, 2, 1});
  const Claim claim{DeviceType::kSwitch, Level::of<2>(), PortType::kUplink};
  constexpr Oui kTwo[] = {{0x02, 0x4c, 0x56}, {0xaa, 0xbb, 0xcc}};
  EXPECT_EQ(decode(pdu.octets, Dialect{kTwo})->contribution, claim);
  EXPECT_EQ(decode(pdu.octets, kDialect)->contribution, std::nullopt);
  EXPECT_EQ(counts(pdu), Counts{.unrecognized = 1});
  // Who lists the 802.1 OUI means it; then there is no Port VLAN ID.
  constexpr Oui kDot1Oui[] = {{0x00, 0x80, 0xc2}};
  const Pdu theirs = start().tlv(127, {0x00, 0x80, 0xc2, 1, 1, 2, 1});
  EXPECT_EQ(decode(theirs.octets, Dialect{kDot1Oui})->contribution, claim);
}

TEST(ReceiveRules, TakeLayersUnderTheOuisOfTheContributionAlone) {
  const auto layers = [](ByteSpan octets) { return decode(octets, kDialect)->layers; };
  EXPECT_EQ(layers(start().tlv(127, {0x02, 0x4c, 0x56, 3, 3, 4}).octets),
            (Layers{Layer::of<3>(), Layer::of<4>()}));
  EXPECT_EQ(layers(start().tlv(127, {0x02, 0x4c, 0x56, 3, 31, 32}).octets), std::nullopt);
  EXPECT_EQ(layers(start().tlv(127, {0xaa, 0xbb, 0xcc, 3, 3, 4}).octets), std::nullopt);
  const auto with = [](Bytes information) {
    Bytes octets{0x02, 0x4c, 0x56, 3};
    octets.insert(octets.end(), information.begin(), information.end());
    return counts(start().tlv(127, octets));
  };
  EXPECT_EQ(with({3}), kOneDiscarded);
  EXPECT_EQ(with({}), kOneDiscarded);
  EXPECT_EQ(with({3, 4, 0}), kOneDiscarded);
}

// What other receivers got wrong.
TEST(Defects, ManagementAddressOfLengthZeroDoesNotUnderflow) {
  EXPECT_EQ(counts(start().tlv(8, {0, 1, 0, 0, 0, 0, 0, 0, 0})), kOneDiscarded);
  EXPECT_EQ(counts(start().tlv(8, {1, 1, 1, 0, 0, 0, 0, 0, 0})), kOneDiscarded);
}

TEST(Defects, ManagementAddressLongerThanItsTlvIsNotRead) {
  EXPECT_EQ(counts(start().tlv(8, {32, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 0})), kOneDiscarded);
  EXPECT_EQ(counts(start().tlv(8, {5, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 200})), kOneDiscarded);
  EXPECT_EQ(counts(start().tlv(8, {255, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 0})), kOneDiscarded);
}

TEST(Defects, RepeatedStringTlvsAreCountedAndNothingIsKept) {
  Pdu pdu = start();
  for (int i = 0; i < 200; ++i) pdu.tlv(6, {'d'});
  EXPECT_EQ(counts(pdu), (Counts{.discarded = 199, .in_error = true}));
}

TEST(Defects, OrganizationalTlvsOf255AndMoreOctetsAreReadToTheirEnd) {
  for (const std::size_t n : {250U, 251U, 252U, 253U, 254U, 255U, 256U, 257U, 507U}) {
    Bytes information{0, 0x12, 0xbc, 1};
    information.resize(4 + n, 0xee);
    const Pdu pdu = start().tlv(127, information).tlv(5, {'n'});
    EXPECT_EQ(counts(pdu), Counts{.unrecognized = 1}) << n;
    EXPECT_EQ(decode(pdu.octets, kDialect)->system_name, "n") << n;
  }
}

TEST(Defects, ShortTlvsOfKnownOuisAreDiscardedAndNotRead) {
  for (std::uint8_t subtype = 0; subtype < 0x20; ++subtype) {
    for (const Bytes& oui : {Bytes{0, 0x80, 0xc2}, Bytes{0, 0x12, 0x0f}, Bytes{0x02, 0x4c, 0x56},
                             Bytes{0, 0x12, 0xbb}, Bytes{0, 0x1b, 0x21}}) {
      Bytes information = oui;
      information.push_back(subtype);
      const Counts got = counts(start().tlv(127, information));
      // What LLDP-MED tells of an inventory may be no text at all, and a switch may have no class.
      const bool may_be_empty =
          (oui == Bytes{0, 0x12, 0xbb} && subtype >= 0x05 && subtype <= 0x0b) ||
          (oui == Bytes{0x02, 0x4c, 0x56} && subtype == 0x05);
      EXPECT_EQ(got.discarded + got.unrecognized, may_be_empty ? 0U : 1U) << int{subtype};
    }
  }
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(counts(start().tlv(127, Bytes(n, 0))), kOneDiscarded);
  }
}

// Extreme ends its strings with NULs.
TEST(Texts, AreReadWithoutTheNulsAtTheirEnd) {
  const Pdu pdu =
      start().tlv(4, {'1', ':', '1', 0}).tlv(5, {'x', 0, 'y', 0, 0}).tlv(6, Bytes(3, 0)).tlv(0, {});
  const auto view = decode(pdu.octets, kDialect);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->port_description, "1:1");
  EXPECT_EQ(view->system_name, std::string_view("x\0y", 3));
  EXPECT_EQ(view->system_description, "");
}

Bytes pfc_feature(std::uint8_t flags, std::uint8_t priorities) {
  return {0x06, 6, 0, 0, flags, 0, priorities, 8};
}
Bytes dcbx(std::uint8_t version, const Bytes& feature) {
  Bytes information{0x00, 0x1b, 0x21, version,                           //
                    0x02, 10,   0,    0,       0, 0, 0, 7, 0, 0, 0, 6};  // control
  information.insert(information.end(), feature.begin(), feature.end());
  return information;
}

TEST(DcbxOfOld, SaysWhereThereIsPfc) {
  const auto pfc = [](const Pdu& pdu) {
    const auto view = decode(pdu.octets, kDialect);
    EXPECT_TRUE(view && !view->in_error);
    return view->pfc_enabled;
  };
  EXPECT_EQ(pfc(start().tlv(127, dcbx(2, pfc_feature(0x80, 0x08)))), 0x08);
  EXPECT_EQ(pfc(start().tlv(127, dcbx(2, pfc_feature(0x00, 0x08)))), 0);  // not enabled
  EXPECT_EQ(pfc(start().tlv(127, dcbx(2, pfc_feature(0xe0, 0x08)))), 0);  // in error: off
  EXPECT_EQ(pfc(start().tlv(127, dcbx(1, {0x06, 5, 0, 0, 0x80, 0, 0x30}))), 0x30);
  EXPECT_EQ(pfc(start().tlv(127, dcbx(2, {}))), std::nullopt);
  EXPECT_EQ(pfc(start().tlv(127, dcbx(2, {0x06, 2, 0, 0}))), std::nullopt);  // too short
  // What IEEE 802.1Qaz says goes before it, in either order.
  const Bytes ieee{0x00, 0x80, 0xc2, 0x0b, 0x08, 0x60};
  const Bytes cee = dcbx(2, pfc_feature(0x80, 0x08));
  EXPECT_EQ(pfc(start().tlv(127, ieee).tlv(127, cee)), 0x60);
  EXPECT_EQ(pfc(start().tlv(127, cee).tlv(127, ieee)), 0x60);
}

TEST(Evidence, OfABridgeIsWhatOnlyABridgeSends) {
  const auto bridge = [](const Bytes& information) {
    return evidence_of(start().tlv(127, information).octets).bridge;
  };
  EXPECT_TRUE(bridge({0, 0x80, 0xc2, 0x01, 0, 1}));                // port VLAN
  EXPECT_FALSE(bridge({0, 0x80, 0xc2, 0x01, 0, 0}));               // not supported
  EXPECT_TRUE(bridge({0, 0x80, 0xc2, 0x02, 0x02, 0, 1}));          // protocol VLAN
  EXPECT_FALSE(bridge({0, 0x80, 0xc2, 0x02, 0x00, 0, 0}));         // not supported
  EXPECT_FALSE(bridge({0, 0x80, 0xc2, 0x03, 0, 9, 2, 'v', '9'}));  // a host's VLAN interface
  EXPECT_TRUE(bridge({0, 0x80, 0xc2, 0x04, 3, 0x42, 0x42, 0x03}));
  EXPECT_TRUE(bridge({0, 0x80, 0xc2, 0x05, 1, 2, 3, 4}));
  EXPECT_TRUE(bridge({0, 0x80, 0xc2, 0x06, 0, 1}));
  for (std::uint8_t device_class = 0; device_class <= 5; ++device_class) {
    const Pdu pdu = start().tlv(127, {0, 0x12, 0xbb, 1, 0, 0x33, device_class});
    const Evidence evidence = evidence_of(pdu.octets);
    EXPECT_EQ(evidence.endpoint, device_class >= 1 && device_class <= 3) << +device_class;
    EXPECT_EQ(evidence.bridge, device_class == 4) << +device_class;
  }
}

TEST(Walk, ShowsEveryTlvOnceWithItsStatus) {
  const Pdu pdu = start()
                      .tlv(127, {0, 0x80, 0xc2, 1, 0, 7})
                      .tlv(127, {9, 9, 9, 9, 9})
                      .tlv(7, {1})
                      .tlv(0, {})
                      .raw({1, 2, 3});
  using enum Tlv::Status;
  std::vector<std::pair<unsigned, Tlv::Status>> seen;
  TlvWalk walk(decode(pdu.octets, kDialect)->octets, kDialect);
  for (Tlv t; walk.next(t);) seen.emplace_back(t.key.type, t.status);
  EXPECT_EQ(seen, (decltype(seen){{1, kValid},
                                  {2, kValid},
                                  {3, kValid},
                                  {127, kValid},
                                  {127, kUnrecognized},
                                  {7, kDiscarded}}));
}

TEST(EveryTruncation, IsRefusedOrHasAnErrorOrEndsBetweenTlvs) {
  const Bytes whole = support::typical_lldpdu();
  const auto full = decode(whole, kDialect);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->octets.size(), whole.size());
  std::vector<std::size_t> ends{whole.size()};
  TlvWalk walk(whole, kDialect);
  for (Tlv t; walk.next(t);) ends.push_back(walk.position());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto view = decode(ByteSpan(whole).first(n), kDialect);
    if (!view) continue;
    EXPECT_EQ(view->in_error, std::find(ends.begin(), ends.end(), n) == ends.end()) << n;
  }
}

TEST(Writer, LeavesOutWhatDoesNotFit) {
  Bytes out(14, 0xee);  // an Ethernet header
  LldpduWriter writer(out, 30);
  writer.add(ChassisIdTlv{4, kChassis}).add(SystemName{std::string(20, 'x')}).add(Ttl{1}).end();
  EXPECT_EQ(writer.left_out(), 1U);
  EXPECT_EQ(out.size(), 14U + 10 + 4 + 2);
  LldpduWriter none(out, 1500);
  none.add(SystemName{std::string(256, 'x')}).add(PortIdTlv{5, {}});
  EXPECT_EQ(none.left_out(), 2U);
  EXPECT_EQ(out.size(), 14U + 10 + 4 + 2);
}

TEST(Writer, LeavesRoomForTheEnd) {
  for (const std::size_t limit : {15U, 16U}) {
    Bytes out;
    LldpduWriter writer(out, limit);
    writer.add(ChassisIdTlv{4, kChassis}).add(Ttl{1}).end();
    EXPECT_LE(out.size(), limit);
    EXPECT_EQ(writer.left_out(), 16U - limit);
  }
}

TEST(Writer, TakesTheLongestInformation) {
  Bytes out;
  ApplicationPriority v;
  v.table.count = v.table.items.size();
  LldpduWriter(out, 1500).add(v);
  ASSERT_EQ(out.size(), 2U + 4 + 1 + 3 * 168);
  EXPECT_EQ(out[0], 0xff);  // type 127, ninth bit of the length
  EXPECT_EQ(out[1], (4 + 1 + 3 * 168) & 0xff);
}

}  // namespace
}  // namespace lldp::tlv
