// SPDX-License-Identifier: Apache-2.0
#include "tlv/port_facts.hpp"

#include <gtest/gtest.h>

#include "tests/support/lldpdus.hpp"
#include "tlv/dot3.hpp"
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

Bytes pdu_with(std::uint16_t mau, std::uint16_t octets) {
  const MacAddress mac{2, 0, 0, 0, 0, 1};
  Bytes pdu;
  LldpduWriter writer(pdu, 1500);
  writer.add(ChassisIdTlv{4, ByteSpan(mac)}).add(PortIdTlv{5, as_octets("swp1")}).add(Ttl{121});
  writer.add(MaxFrameSize{octets}).add(MacPhy{.mau_type = mau}).end();
  return pdu;
}

TEST(PortFacts, AreThoseOfThe8023Tlvs) {
  EXPECT_EQ(port_facts(pdu_with(98, 9230)), (PortFacts{100'000, 9230}));
  EXPECT_EQ(port_facts(pdu_with(30, 1514)), (PortFacts{1000, 1514}));
  EXPECT_EQ(port_facts(pdu_with(0, 0)), PortFacts()) << "the MAU is not known";
  EXPECT_EQ(port_facts({}), PortFacts());
  Bytes cut = pdu_with(98, 9230);
  cut.resize(cut.size() - 6);
  EXPECT_EQ(port_facts(cut), (PortFacts{0, 9230}));
}

TEST(PortFacts, EveryTypeOfAMauButThoseWithoutASpeedHasOne) {
  for (const Name& type : kMauTypes) {
    const bool none = type.name == "aui" || type.name == "foirl" || type.name == "10broad36" ||
                      type.name == "10pass-ts";
    EXPECT_EQ(speed_of_mau(type.name) == 0, none) << type.name;
  }
  EXPECT_EQ(speed_of_mau("2.5gbase-t"), 2500U);
  EXPECT_EQ(speed_of_mau("2p5GbaseT - x"), 2500U);
  EXPECT_EQ(speed_of_mau("99999999999gbase"), 0U);
}

TEST(PortFacts, MtuIsBehindTheFrameSize) {
  for (const unsigned size : {1514U, 1518U, 1522U}) EXPECT_EQ(mtu_of(size), 1500U);
  EXPECT_EQ(mtu_of(9230), 9216U) << "no round number";
  EXPECT_EQ(mtu_of(9), 0U);
}

}  // namespace
}  // namespace lldp::tlv
