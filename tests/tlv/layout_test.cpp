// SPDX-License-Identifier: Apache-2.0
#include "tlv/layout.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <set>

#include "tlv/table.hpp"
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

/// One TLV's information string (for type 127: what follows OUI and subtype) and its value. Of its
/// truncations only those of a length in `whole` are TLVs as well.
struct Case {
  const char* name = "";
  std::function<void()> round_trips{};
  std::function<void()> refuses_truncations{};
  std::function<void()> refuses_excess{};
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};

/// What the receive path makes of an information string.
template <class T>
bool accepts(const Bytes& information) {
  const Check check = check_of(kRow<T>);
  return information.size() - check.least <= check.span &&
         (check.by_length || kRows[check.row].well_formed(information));
}

template <class T>
Case make(const char* name, Bytes wire, T value, std::set<std::size_t> whole = {}) {
  return {name,
          [=] {
            EXPECT_EQ(encode_info(value), wire);
            const auto decoded = decode_as<T>(wire);
            ASSERT_TRUE(decoded);
            EXPECT_EQ(*decoded, value);
            const Row& row = kRows[kRow<T>];
            EXPECT_TRUE(row.well_formed(wire));
            EXPECT_FALSE(row.describe(wire).empty());
          },
          [=] {
            for (std::size_t n = 0; n < wire.size(); ++n) {
              const Bytes cut(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(n));
              EXPECT_EQ(decode_as<T>(cut).has_value(), whole.contains(n)) << n;
              EXPECT_EQ(accepts<T>(cut), whole.contains(n)) << n;
            }
          },
          [=] {
            Bytes longer = wire;
            longer.push_back(0);
            EXPECT_EQ(decode_as<T>(longer).has_value(), whole.contains(longer.size()));
            EXPECT_EQ(accepts<T>(longer), whole.contains(longer.size()));
          }};
}

class Layout : public testing::TestWithParam<Case> {};
TEST_P(Layout, RoundTrips) { GetParam().round_trips(); }
TEST_P(Layout, RefusesTruncations) { GetParam().refuses_truncations(); }
TEST_P(Layout, RefusesExcess) { GetParam().refuses_excess(); }

const Bytes kMac{0x02, 0x4c, 0x56, 0, 0, 1};
const Bytes kIpv4{1, 192, 0, 2, 1};
const Bytes kOid{0x2b, 6, 1};
const Bytes kStp{0x42, 0x42, 0x03};
const std::string kLongest(255, 'x');

Bytes with(Bytes head, std::string_view tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

const Case kCases[] = {
    make("ChassisIdMac", {4, 0x02, 0x4c, 0x56, 0, 0, 1}, ChassisIdTlv{4, kMac}, {2, 3, 4, 5, 6, 8}),
    make("PortIdShortest", {5, 'p'}, PortIdTlv{5, as_octets("p")}, {3}),
    make("PortIdLongest", with({5}, kLongest), PortIdTlv{5, as_octets(kLongest)},
         [] {
           std::set<std::size_t> all;
           for (std::size_t n = 2; n <= 256; ++n) all.insert(n);
           return all;
         }()),
    make("Ttl", {0x00, 0x79}, Ttl{121}, {3}),  // octets after the two are ignored
    make("PortDescriptionEmpty", {}, PortDescription{""}, {1}),
    make("SystemName", {'a', 'b'}, SystemName{"ab"}, {0, 1, 3}),
    make("SystemDescription", {'L'}, SystemDescription{"L"}, {0, 2}),
    make("Capabilities", {0x00, 0x14, 0x00, 0x10}, Capabilities{0x14, 0x10}),
    make("CapabilitiesAllOnes", {0xff, 0xff, 0xff, 0xff}, Capabilities{0xffff, 0xffff}),
    make("ManagementAddress",
         {5, 1, 192, 0, 2, 1,  // length, IPv4, address
          2, 0, 0, 0, 7,       // ifIndex 7
          3, 0x2b, 6, 1},      // object identifier
         ManagementAddress{kIpv4, 2, 7, kOid}),
    make("ManagementAddressShortest", {2, 7, 'x', 1, 0, 0, 0, 0, 0},
         ManagementAddress{as_octets("\x07x"), 1, 0, {}}),
    make("PortVlan", {0x0f, 0xff}, PortVlan{0x0fff}),
    make("PortProtocolVlan",
         {0x06,         // enabled, supported
          0x00, 0x64},  // VID
         PortProtocolVlan{.enabled = true, .supported = true, .vid = 100}),
    make("VlanName", {0x00, 0x64, 2, 'v', '1'}, VlanName{100, "v1"}),
    make("ProtocolIdentity", {3, 0x42, 0x42, 0x03}, ProtocolIdentity{kStp}),
    make("VidUsageDigest", {0xde, 0xad, 0xbe, 0xef}, VidUsageDigest{0xdeadbeef}),
    make("ManagementVid", {0x00, 0x01}, ManagementVid{1}),
    make("LinkAggregation",
         {0x0b,          // port type 2, enabled, capable
          0, 0, 0, 12},  // aggregated port
         LinkAggregation{.port_type = 2, .enabled = true, .capable = true, .port_id = 12}),
    make("CongestionNotification", {0x30, 0x20}, CongestionNotification{0x30, 0x20}),
    make("EtsConfig",
         {0xc3,                                   // willing, CBS, 3 classes
          0x00, 0x12, 0x00, 0x00,                 // traffic classes of priorities 0..7
          50,   25,   25,   0,    0,   0, 0, 0,   // percent
          2,    2,    0,    1,    255, 0, 0, 0},  // algorithms
         EtsConfig{.willing = true,
                   .credit_based_shaper = true,
                   .max_classes = 3,
                   .tables = {.traffic_class = {0, 0, 1, 2, 0, 0, 0, 0},
                              .bandwidth = {50, 25, 25},
                              .algorithm = {2, 2, 0, 1, 255}}}),
    make("EtsRecommendation",
         {0x00,                                 // reserved
          0x01, 0x23, 0x45, 0x67,               // traffic classes of priorities 0..7
          100,  0,    0,    0,    0, 0, 0, 0,   // percent
          0,    0,    0,    0,    0, 0, 0, 2},  // algorithms
         EtsRecommendation{{.traffic_class = {0, 1, 2, 3, 4, 5, 6, 7},
                            .bandwidth = {100},
                            .algorithm = {0, 0, 0, 0, 0, 0, 0, 2}}}),
    make("PfcConfigWillingCap8",
         {0x88,   // W=1 MBC=0 reserved=00 cap=8
          0x60},  // priorities 5 and 6
         PfcConfig{.willing = true, .cap = 8, .enabled = 0x60}),
    make("ApplicationPriority",
         {0x00,               // reserved
          0x61, 0x89, 0x06,   // priority 3, EtherType 0x8906
          0xa5, 0x00, 0x28},  // priority 5, DSCP 40
         [] {
           ApplicationPriority v;
           v.table.items[0] = {.priority = 3, .selector = 1, .protocol = 0x8906};
           v.table.items[1] = {.priority = 5, .selector = 5, .protocol = 40};
           v.table.count = 2;
           return v;
         }(),
         {1, 4}),
    make("MacPhy", {0x03, 0x6c, 0x00, 0x00, 0x10},
         MacPhy{.autoneg_enabled = true,
                .autoneg_supported = true,
                .advertised = 0x6c00,
                .mau_type = 16}),
    make("PowerViaMdi", {0x0f, 1, 4},
         PowerViaMdi{.pair_control = true,
                     .enabled = true,
                     .supported = true,
                     .pse = true,
                     .pair = 1,
                     .power_class = 4}),
    make("PowerViaMdiNegotiated",
         {0x07, 2, 5,  // enabled, supported, PSE; spare pairs; class
          0x52,        // type 1 PD's source 1, high priority
          0, 130, 0, 120},
         PowerViaMdi{
             .enabled = true,
             .supported = true,
             .pse = true,
             .pair = 2,
             .power_class = 5,
             .negotiation = PowerNegotiation{.type = 1,
                                             .source = 1,
                                             .priority = 2,
                                             .requested = 130,
                                             .allocated = 120}},
         {3}),
    make("PowerViaMdiFourPair",
         {0x07, 2, 5, 0x56, 0, 130, 0, 120,      // as above, with the PD's 4PID
          0,    1, 0, 2,    0, 3,   0, 4,        // requested and allocated, A and B
          0,    5, 6, 0,    7, 8,   0, 0,   9},  // status, setup, available, autoclass, power down
         PowerViaMdi{
             .enabled = true,
             .supported = true,
             .pse = true,
             .pair = 2,
             .power_class = 5,
             .negotiation = PowerNegotiation{.type = 1,
                                             .source = 1,
                                             .four_pair_id = true,
                                             .priority = 2,
                                             .requested = 130,
                                             .allocated = 120,
                                             .four_pair = FourPairPower{.requested_a = 1,
                                                                        .requested_b = 2,
                                                                        .allocated_a = 3,
                                                                        .allocated_b = 4,
                                                                        .status = 5,
                                                                        .setup = 6,
                                                                        .available = 7,
                                                                        .autoclass = 8,
                                                                        .power_down = 9}}},
         {3, 8}),
    make("Dot3LinkAggregation", {0x01, 0, 0, 0, 0}, Dot3LinkAggregation{.capable = true}),
    make("MaxFrameSize", {0x24, 0x14}, MaxFrameSize{9236}),
    make("MedCapabilities", {0x00, 0x33, 0x03},
         MedCapabilities{.capabilities = 0x33, .device_class = 3}),
    make("MedPolicyOfVoice", {0x01, 0x40, 0x42, 0x6e},  // U=0 T=1 X=0 VID:12 L2:3 DSCP:6
         MedPolicy{.application = 1, .tagged = true, .vid = 33, .priority = 1, .dscp = 46}),
    make("MedLocationElin", {0x03, '9', '1', '1'},
         [] {
           static const Bytes kNumber{'9', '1', '1'};
           return MedLocation{MedLocation::kElin, kNumber};
         }(),
         {1, 2, 3, 5}),
    make("MedPowerOfAPd", {0x53, 0x00, 0x32},  // type:2 source:2 priority:4 | value:16
         MedPower{.type = MedPower::kPd, .source = 1, .priority = 3, .watts = 50}),
    make("MedSerial", {'7'}, MedSerial{"7"}, {0, 2}),
    make("DcbxCinOfANexus",
         {0x02, 10, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,  // control
          0x0c, 5, 0, 0, 0x80, 1, 0x80},           // logical link
         [] {
           static const Bytes kControl{0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
           static const Bytes kLink{0, 0, 0x80, 1, 0x80};
           DcbxCin v;
           v.features.items[0] = {1, kControl};
           v.features.items[1] = {6, kLink};
           v.features.count = 2;
           return v;
         }(),
         {12}),
    make("Tr", {1, 2, 1}, Tr{1, 2, 1}),
    make("TrAllOnes", {255, 255, 255}, Tr{255, 255, 255}),
    make("Contribution", {1, 2, 2}, Contribution{1, 2, 2}),
    make("ContributionAllOnes", {255, 255, 255}, Contribution{255, 255, 255}),
    make("Location", {1, 7, 4, 2, 0, 0, 0, 0, 9, 0, 0, 0, 8, 2, 3, 7, 'a', 'b', 1, 2, 3, 4},
         [] {
           static constexpr std::uint8_t kLeaf[] = {4, 2, 0, 0, 0, 0, 9};
           static constexpr std::uint8_t kPod[] = {7, 'a', 'b'};
           LocationTlv v;
           v.tiers.items[0] = {1, ByteSpan(kLeaf), 8};
           v.tiers.items[1] = {2, ByteSpan(kPod), 0x01020304};
           v.tiers.count = 2;
           return v;
         }(),
         {13}),
    make("Layers", {3, 4}, LayersTlv{3, 4}),
    make("LayersAllOnes", {255, 255}, LayersTlv{255, 255}),
    make("Classes", {0, 0, 3, 26, 1,   0,   0, 0, 0, 0xff, 0, 0, 0,  //
                     0, 1, 2, 19, 1,   0,   0, 0, 0, 0,    8, 0, 0,  //
                     1, 0, 7, 63, 255, 128, 0, 0, 0, 0,    0, 0, 1},
         [] {
           ClassesTlv v;
           v.classes.items[0] = {0, 0, 3, 26, 1, 0xff000000};
           v.classes.items[1] = {0, 1, 2, 19, 1, 1U << 19};
           v.classes.items[2] = {1, 0, 7, 63, 255, std::uint64_t{1} << 63 | 1};
           v.classes.count = 3;
           return v;
         }(),
         {0, 13, 26}),
    make("ClassesNone", {}, ClassesTlv{}),
    make("OrderOfTheBottom",
         {1,                         // host
          0, 0, 0, 1, 0,   0, 0, 2,  // agent ID
          0, 0, 0, 3, 0,   0, 0, 4,  // boot, session
          0, 0, 0, 5, 255, 0, 0},    // sequence number, no level, no rank ID, no neighbor
         OrderTlv{
             .flags = OrderTlv::kHost, .agent = {1, 2}, .boot = 3, .session = 4, .sequence = 5}),
    make("Order",
         {2,                           // more neighbors than entries
          0, 0, 0, 1,   0,   0, 0, 2,  // agent ID
          0, 0, 0, 3,   0,   0, 0, 4,  // boot, session
          0, 0, 0, 5,                  // sequence number
          2, 3, 7, 'a', 'b', 1,        // level, rank ID, one neighbor
          0, 0, 0, 6,   0,   0, 0, 7,  // its agent ID
          0, 0, 0, 8,   0,   0, 0, 9,  // boot, session
          0, 0, 0, 10,  1},            // acknowledged, flags
         [] {
           static const Bytes id{7, 'a', 'b'};
           OrderTlv v{.flags = OrderTlv::kMore,
                      .agent = {1, 2},
                      .boot = 3,
                      .session = 4,
                      .sequence = 5,
                      .level = 2,
                      .rank_id = id,
                      .count = 1};
           v.entries.items[0] = {{6, 7}, 8, 9, 10, OrderEntry::kWaits};
           v.entries.count = 1;
           return v;
         }()),
};
INSTANTIATE_TEST_SUITE_P(Wire, Layout, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

template <class T>
T decoded(const Bytes& wire) {
  const auto v = decode_as<T>(wire);
  EXPECT_TRUE(v);
  return v.value_or(T{});
}

TEST(ReservedBits, AreIgnoredOnReceiptAndSentAsZero) {
  const auto pfc = decoded<PfcConfig>({0xff, 0xff});
  EXPECT_EQ(pfc, (PfcConfig{.willing = true, .mbc = true, .cap = 15, .enabled = 0xff}));
  EXPECT_EQ(encode_info(pfc), (Bytes{0xcf, 0xff}));
  const auto ppvid = decoded<PortProtocolVlan>({0xff, 0, 1});
  EXPECT_EQ(encode_info(ppvid), (Bytes{0x06, 0, 1}));
  EXPECT_EQ(encode_info(decoded<EtsConfig>(Bytes(21, 0xff)))[0], 0xc7);
  EXPECT_EQ(encode_info(decoded<EtsRecommendation>(Bytes(21, 0xff)))[0], 0x00);
  EXPECT_EQ(encode_info(decoded<ApplicationPriority>(Bytes(4, 0xff))),
            (Bytes{0x00, 0xe7, 0xff, 0xff}));
  EXPECT_EQ(encode_info(decoded<LinkAggregation>(Bytes(5, 0xff)))[0], 0x0f);
  EXPECT_EQ(encode_info(decoded<MacPhy>(Bytes(5, 0xff)))[0], 0x03);
  EXPECT_EQ(encode_info(decoded<PowerViaMdi>(Bytes(3, 0xff)))[0], 0x0f);
}

TEST(Shape, BindsTheCountsInsideATlv) {
  EXPECT_FALSE(decode_as<VlanName>(with({0, 1, 33}, kLongest.substr(0, 33))));
  EXPECT_TRUE(decode_as<VlanName>(with({0, 1, 32}, kLongest.substr(0, 32))));
  EXPECT_TRUE(decode_as<ProtocolIdentity>(Bytes{0}));  // real switches send it
  EXPECT_FALSE(decode_as<ProtocolIdentity>(Bytes{1}));
  EXPECT_TRUE(decode_as<ApplicationPriority>(Bytes(1 + 3 * 168, 0)));
  EXPECT_FALSE(decode_as<ApplicationPriority>(Bytes(1 + 3 * 169, 0)));
}

TEST(Writer, RefusesAValueTooLargeForItsField) {
  EXPECT_EQ(encode_info(PfcConfig{.cap = 15}), (Bytes{0x0f, 0}));
  EXPECT_EQ(encode_info(PfcConfig{.cap = 16}), Bytes{});
  EXPECT_EQ(encode_info(EtsConfig{.max_classes = 8}), Bytes{});
}

TEST(Shape, OfDcbxHoldsItsFeaturesInside) {
  EXPECT_FALSE(decode_as<DcbxCee>(Bytes{}));
  EXPECT_FALSE(decode_as<DcbxCee>(Bytes{0x06}));                // half a header
  EXPECT_FALSE(decode_as<DcbxCee>(Bytes{0x06, 2, 0}));          // runs past the end
  EXPECT_FALSE(decode_as<DcbxCee>(Bytes{0x07, 0, 0}));          // 256 octets do
  EXPECT_TRUE(decode_as<DcbxCee>(Bytes(std::size_t{2} * 16)));  // as many as are kept
  EXPECT_FALSE(decode_as<DcbxCee>(Bytes(std::size_t{2} * 17)));
}

TEST(OrderTlv, ThatContradictsItselfIsNoTlv) {
  static const Bytes kId{7, 'a'};
  const OrderTlv right{.agent = {1, 2}, .level = 2, .rank_id = kId};
  EXPECT_TRUE(right.consistent());
  const auto with = [&](auto change) {
    OrderTlv v = right;
    change(v);
    return v.consistent();
  };
  EXPECT_FALSE(with([](OrderTlv& v) { v.agent = {}; }));
  EXPECT_FALSE(with([](OrderTlv& v) { v.level = 0; }));
  EXPECT_FALSE(with([](OrderTlv& v) { v.level = OrderTlv::kNoLevel; }));  // and yet a rank ID
  EXPECT_FALSE(with([](OrderTlv& v) { v.rank_id = {}; }));                // a level without one
  EXPECT_FALSE(with([](OrderTlv& v) { v.count = 1; }));
  // 22 neighbors beside the longest rank ID of a MAC address; one more is no TLV.
  const Bytes longest = [] {
    OrderTlv v{.agent = {1, 2}, .count = OrderTlv::kMostEntries};
    v.entries.count = OrderTlv::kMostEntries;
    return encode_info(v);
  }();
  EXPECT_TRUE(decode_as<OrderTlv>(longest));
  Bytes hundred = longest;
  hundred[23] = 100;
  hundred.resize(24 + 100 * OrderEntry::kOctets);
  EXPECT_FALSE(decode_as<OrderTlv>(hundred));
  EXPECT_EQ(OrderTlv::room(7), OrderTlv::kMostEntries);
  EXPECT_LT(OrderTlv::room(256), OrderTlv::kMostEntries);
}

TEST(Classes, ThatContradictThemselvesAreNoTlv) {
  const auto tlv = [](std::initializer_list<ClassTlv> classes) {
    ClassesTlv v;
    for (const ClassTlv& c : classes) v.classes.items.at(v.classes.count++) = c;
    return v.consistent();
  };
  EXPECT_TRUE(tlv({{0, 0, 3, 3, 0, 8}, {1, 0, 4, 4, 0, 16}}));
  EXPECT_FALSE(tlv({{1, 0, 3, 3, 0, 8}}));  // chains count from 0
  EXPECT_FALSE(tlv({{0, 1, 3, 3, 0, 8}}));  // and so do steps
  EXPECT_FALSE(tlv({{0, 0, 3, 3, 0, 8}, {2, 0, 4, 4, 0, 16}}));
  EXPECT_FALSE(tlv({{0, 0, 3, 3, 0, 8}, {0, 2, 4, 4, 0, 16}}));
  EXPECT_FALSE(tlv({{0, 0, 3, 3, 0, 8}, {1, 0, 3, 4, 0, 16}}));  // a priority twice
  EXPECT_FALSE(tlv({{0, 0, 3, 3, 0, 8}, {1, 0, 4, 4, 0, 24}}));  // a DSCP twice
  EXPECT_FALSE(tlv({{0, 0, 0, 3, 0, 8}}));                       // priority 0 is never lossless
  EXPECT_FALSE(tlv({{0, 0, 8, 3, 0, 8}}));
  EXPECT_FALSE(tlv({{0, 0, 3, 64, 0, 1}}));
  EXPECT_FALSE(tlv({{0, 0, 3, 3, 0, 16}}));  // marked by a DSCP of another class
  EXPECT_FALSE(decode_as<ClassesTlv>(Bytes(std::size_t{8} * 13)));
}

TEST(Capabilities, EnabledButNotThereIsAnError) {
  EXPECT_FALSE(decode_as<Capabilities>(Bytes{0x00, 0x04, 0x00, 0x14}));
}

TEST(Table, KnowsEveryRowByItsKeyAndBoundsItsLength) {
  for (const Row& r : kRows) {
    const bool organizational = r.key.type == kOrganizational;
    EXPECT_LE(r.least, r.most) << r.name;
    EXPECT_LE(r.most + (organizational ? 4 : 0), 511) << r.name;
    if (r.key.oui == Contribution::kKey.oui) continue;  // found by the Dialect
    const Check& check = !organizational      ? kBasicSlots[r.key.type]
                         : r.key.oui == kDot1 ? kDot1Slots[r.key.subtype]
                         : r.key.oui == kDot3 ? kDot3Slots[r.key.subtype]
                         : r.key.oui == kTia  ? kTiaSlots[r.key.subtype]
                                              : kIntelSlots[r.key.subtype];
    EXPECT_EQ(&kRows[check.row], &r) << r.name;
  }
  EXPECT_EQ(kRows[kRow<ManagementAddress>].least, 9);  // IEEE 802.1AB-2016 8.5.9: 9 to 167
  EXPECT_EQ(kRows[kRow<ManagementAddress>].most, 167);
  EXPECT_EQ(kRows[kRow<ChassisIdTlv>].most, 256);
}

TEST(Describe, NamesWhatHasNamesAndEscapesText) {
  using F = Field;
  EXPECT_EQ(
      describe_as<PfcConfig>(Bytes{0x88, 0x60}),
      (Fields{F::truth("willing", true), F::truth("mbc", false), F::of("cap", std::uint64_t{8}),
              F::list("enabled", {F::of({}, std::uint64_t{5}), F::of({}, std::uint64_t{6})})}));
  EXPECT_EQ(describe_as<Tr>(Bytes{9, 255, 2}),
            (Fields{F::of("device-type", std::uint64_t{9}),  // reserved: shown as a number
                    F::of("level", "unknown"), F::of("orientation", "crosslink")}));
  EXPECT_EQ(describe_as<SystemName>(Bytes{'a', 0x1b, '[', 0, 0}),
            (Fields{F::of("text", "a\\x1b[")}));
  EXPECT_EQ(describe_as<PortIdTlv>(Bytes{7, 'a', 0})[1], F::of("id", "a\\x00"));  // an octet of it
  EXPECT_EQ(describe_as<ManagementAddress>(Bytes{5, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 0})[0],
            F::of("address", "192.0.2.1"));
}

TEST(ObjectIdentifier, IsDotted) {
  const auto text = [](const Bytes& octets) { return object_identifier_to_string(octets); };
  EXPECT_EQ(text({0x2b, 6, 1, 2, 1, 31}), "1.3.6.1.2.1.31");
  EXPECT_EQ(text({6, 3, 0x2b, 6, 1}), "1.3.6.1");  // with tag and length
  EXPECT_EQ(text({0x2b, 6, 1, 4, 1, 0x89, 0x1b}), "1.3.6.1.4.1.1179");
  EXPECT_EQ(text({0x88, 0x37}), "2.999");  // X.690 8.19.5
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({0x2b, 0x86}), "2b86");       // cut within an arc
  EXPECT_EQ(text({0x2b, 0x80, 1}), "2b8001");  // a leading zero
  EXPECT_EQ(text({0x80, 0x2b}), "802b");
  EXPECT_EQ(text({0x2b, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), "2bffffffffff7f");
}

TEST(Padding, IsNulsAtTheEnd) {
  EXPECT_EQ(without_padding({"a\0b\0\0", 5}), std::string_view("a\0b", 3));
  EXPECT_EQ(without_padding({"\0", 1}), "");
  EXPECT_EQ(without_padding("ab"), "ab");
}

TEST(Describe, SaysWhatNumbersStandFor) {
  using F = Field;
  EXPECT_EQ(describe_as<MacPhy>(Bytes{3, 0, 0, 0, 30})[3],
            F::of("mau-type", "1000base-t-full-duplex"));
  EXPECT_EQ(describe_as<MacPhy>(Bytes{3, 0, 0, 0xff, 0xff})[3],
            F::of("mau-type", std::uint64_t{0xffff}));
  const Fields power = describe_as<PowerViaMdi>(Bytes{7, 1, 5, 0x52, 0, 255, 0, 130});
  EXPECT_EQ(power[5], F::of("class", "class-4"));
  EXPECT_EQ(power[power.size() - 2], F::tenths("requested-watts", 255));
  EXPECT_EQ(describe_as<ManagementAddress>(
                Bytes{5, 1, 192, 0, 2, 1, 2, 0, 0, 0, 7, 5, 0x2b, 6, 1, 2, 1})[3],
            F::of("object-id", "1.3.6.1.2.1"));
}

TEST(Describe, TellsTheFeaturesOfDcbx) {
  using F = Field;
  const Fields fields =
      describe_as<DcbxCee>(Bytes{0x06, 6, 0, 0, 0xc0, 0, 0x18, 8,  // PFC: enabled, willing, 3 and 4
                                 0x7e, 1, 9});                     // nobody's
  ASSERT_EQ(fields.size(), 1U);
  ASSERT_EQ(fields[0].children.size(), 2U);
  const Fields& pfc = fields[0].children[0].children;
  EXPECT_EQ(pfc[0], F::of("feature", "pfc"));
  EXPECT_EQ(pfc[3], F::truth("enabled", true));
  EXPECT_EQ(pfc[4], F::truth("willing", true));
  EXPECT_EQ(pfc[5], F::truth("error", false));
  EXPECT_EQ(pfc[7],
            F::list("priorities", {F::of({}, std::uint64_t{3}), F::of({}, std::uint64_t{4})}));
  EXPECT_EQ(fields[0].children[1].children,
            (Fields{F::of("feature", std::uint64_t{63}), F::of("octets", "09")}));
}

}  // namespace
}  // namespace lldp::tlv
