// SPDX-License-Identifier: Apache-2.0
// What a driver tells against lossless classes.
#include "agent/daemon/dcb_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using report::PartReading;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint8_t kThreeAndTwo = 1U << 3 | 1U << 2;

TEST(DcbFaults, DriverThatTellsNothingHasNone) {
  EXPECT_THAT(dcb_faults({}, "swp1", kThreeAndTwo), IsEmpty());
  // It has no say in traffic classes.
  EXPECT_THAT(dcb_faults({.ets = dcbnl::Ets{}}, "swp1", kThreeAndTwo), IsEmpty());
}

TEST(DcbFaults, TrafficClassOfItsOwnIsNeededForEachLosslessPriority) {
  dcbnl::Settings told{.ets = dcbnl::Ets{.cap = 8, .of = {0, 0, 0, 3, 0, 0, 0, 0}}};
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo),
              ElementsAre(PartReading{
                  "queues", "missing",
                  "priority 2 shares traffic class 0 with priorities 0, 1, 4, 5, 6, 7: a pause of "
                  "one stops all of them: dcb ets set dev swp1 prio-tc 2:2"}));
  told.ets->of = {0, 0, 3, 3, 0, 0, 0, 0};  // a spare and its application class
  EXPECT_EQ(dcb_faults(told, "swp1", kThreeAndTwo).size(), 2U);
  told.ets->of = {0, 0, 2, 3, 0, 0, 0, 0};
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo), IsEmpty());
  told.ets = dcbnl::Ets{.cap = 2, .of = {0, 0, 0, 1, 0, 0, 0, 0}};
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo),
              ElementsAre(PartReading{
                  "queues", "limited",
                  "priority 2 shares traffic class 0 with priorities 0, 1, 4, 5, 6, 7: a pause of "
                  "one stops all of them, and the port has 2 traffic classes: set fewer classes in "
                  "qos.lossless, or give other priorities one traffic class (dcb ets)"}));
}

TEST(DcbFaults, LosslessPrioritiesNeedABufferWithRoomThatNoLossyOneTakes) {
  dcbnl::Settings told{
      .buffers = dcbnl::Buffers{.of = {0, 0, 0, 1, 0, 0, 0, 0}, .octets = {20000, 130000}}};
  EXPECT_THAT(
      dcb_faults(told, "swp1", kThreeAndTwo),
      ElementsAre(PartReading{
          "queues", "missing",
          "priority 2 shares buffer 0 with lossy priorities 0, 1, 4, 5, 6, 7, whose packets "
          "take its room: dcb buffer set dev swp1 prio-buffer 2:2"}));
  told.buffers->of.at(2) = 2;
  EXPECT_THAT(
      dcb_faults(told, "swp1", kThreeAndTwo),
      ElementsAre(PartReading{
          "queues", "missing",
          "priority 2 has no room in buffer 2, so frames that arrive after a pause are lost: dcb "
          "buffer set dev swp1 buffer-size 2:OCTETS"}));
  told.buffers->of.at(2) = 1;  // two lossless ones may share
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo), IsEmpty());
}

TEST(DcbFaults, PortThatGoesByVlanTagsIsNamed) {
  dcbnl::Settings told{.trusted = std::vector<std::uint8_t>{}};
  const PartReading by_tag{
      "classify", "bypassed",
      "the port does not trust DSCPs: packets have the priority of their VLAN tag "
      "or of the port: dcb apptrust set dev swp1 order dscp"};
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo), ElementsAre(by_tag));
  told.trusted->push_back(255);
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo), ElementsAre(by_tag));
  told.trusted->push_back(dcbnl::kDscp);
  EXPECT_THAT(dcb_faults(told, "swp1", kThreeAndTwo), IsEmpty());
}

}  // namespace
}  // namespace lldp::io
