// SPDX-License-Identifier: Apache-2.0
#include "tlv/lldpdu.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lldp::tlv
