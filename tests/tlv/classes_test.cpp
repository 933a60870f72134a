// SPDX-License-Identifier: Apache-2.0
// What an LLDPDU tells of lossless classes.
#include "tlv/classes.hpp"

#include <gtest/gtest.h>

#include "tests/support/lldpdus.hpp"
#include "tlv/dcbx.hpp"
#include "tlv/dot1.hpp"
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

constexpr Oui kOurOuis[] = {{0x02, 0x4c, 0x56}};

/// An LLDPDU with what `fill` adds to it.
ClassClaims claims(auto fill) {
  const MacAddress mac{2, 0, 0, 0, 0, 1};
  Bytes pdu;
  LldpduWriter writer(pdu, 1500);
  writer.add(ChassisIdTlv{4, ByteSpan(mac)}).add(PortIdTlv{5, as_octets("p1")}).add(Ttl{121});
  fill(writer);
  writer.end();
  return class_claims_of(pdu, {kOurOuis});
}
ApplicationPriority applications(std::initializer_list<ApplicationPriority::Entry> entries) {
  ApplicationPriority v;
  for (const auto& e : entries) v.table.items.at(v.table.count++) = e;
  return v;
}
constexpr DcbxHeader kOn{.enabled = true, .willing = true};

/// DCBX 1.01 with PFC for these priorities and one application entry.
struct Cee {
  Bytes pfc{};
  Bytes applications{};
  DcbxCee tlv{};
  Cee(std::uint8_t priorities, DcbxApplication entry, DcbxHeader header = kOn) {
    DcbxApplications table{.header = header};
    table.table.items[0] = entry;
    table.table.count = 1;
    pfc = encode_info(DcbxPfc{.header = header, .priorities = priorities});
    applications = encode_info(table);
    tlv.features.items[0] = {DcbxFeature::kPfc, pfc};
    tlv.features.items[1] = {DcbxFeature::kApplications, applications};
    tlv.features.count = 2;
  }
};

TEST(ClassClaims, AreNoneWhereNothingIsTold) {
  EXPECT_EQ(claims([](auto&) {}), ClassClaims{});
}

TEST(ClassClaims, AreReadFromTheClassTlv) {
  ClassesTlv told;
  told.classes.items[0] = {0, 0, 3, 26, 1, 0xff000000};
  told.classes.count = 1;
  EXPECT_EQ(claims([&](auto& w) { w.add(told, kOurOuis[0]); }).classes, told);
  EXPECT_EQ(claims([&](auto& w) { w.add(ClassesTlv{}, kOurOuis[0]); }).classes, ClassesTlv{});
  EXPECT_FALSE(claims([&](auto& w) { w.add(told, Oui{2, 0, 0}); }).classes);  // of another OUI
}

TEST(ClassClaims, AreReadFromIeeeDcbx) {
  const auto c = claims([](auto& w) {
    w.add(PfcConfig{.willing = true, .cap = 8, .enabled = 0x18});
    w.add(applications({{3, 5, 26},
                        {3, 5, 24},
                        {4, 5, 63},
                        {5, 5, 64},  // 64 is no DSCP
                        {3, 3, 4791},
                        {4, 4, 4791},
                        {6, 2, 4791},
                        {6, 1, 0x8915}}));
  });
  EXPECT_EQ(c.pfc, 0x18);
  EXPECT_TRUE(c.willing);
  EXPECT_EQ(c.dscps[3], 1U << 26 | 1U << 24);
  EXPECT_EQ(c.dscps[4], std::uint64_t{1} << 63);
  EXPECT_EQ(c.dscps[5], 0U);
  EXPECT_EQ(c.rocev2, 0x18);  // UDP, and either of TCP and UDP; neither TCP nor an EtherType
}

TEST(ClassClaims, AreReadFromCeeDcbx) {
  const Cee cee(0x08, {.protocol = 4791, .selector = 1, .priorities = 0x08});
  const auto c = claims([&](auto& w) { w.add(cee.tlv); });
  EXPECT_EQ(c.pfc, 0x08);
  EXPECT_TRUE(c.willing);
  EXPECT_EQ(c.rocev2, 0x08);
  const Cee ethertype(0x08, {.protocol = 4791, .selector = 0, .priorities = 0x08});
  EXPECT_EQ(claims([&](auto& w) { w.add(ethertype.tlv); }).rocev2, 0);
  const Cee off(0x08, {.protocol = 4791, .selector = 1, .priorities = 0x08}, {.error = true});
  const auto nothing = claims([&](auto& w) { w.add(off.tlv); });
  EXPECT_EQ(nothing.pfc, 0);
  EXPECT_EQ(nothing.rocev2, 0);
}

TEST(ClassClaims, OfIeeeGoBeforeThoseOfCee) {
  const Cee cee(0x20, {.protocol = 4791, .selector = 1, .priorities = 0x20});
  for (const bool first : {false, true}) {
    const auto c = claims([&](auto& w) {
      if (first) w.add(cee.tlv);
      w.add(PfcConfig{.enabled = 0x08}).add(applications({{3, 5, 26}}));
      if (!first) w.add(cee.tlv);
    });
    EXPECT_EQ(c.pfc, 0x08);
    EXPECT_FALSE(c.willing);
    EXPECT_EQ(c.rocev2, 0);
  }
}

}  // namespace
}  // namespace lldp::tlv
