// SPDX-License-Identifier: Apache-2.0
#include "agent/agentx/mib.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "tlv/basic.hpp"
#include "tlv/writer.hpp"

namespace lldp::agentx {
namespace {

using json = nlohmann::json;
using testing::ElementsAre;

const Bytes kChassis{2, 0, 0, 0, 0, 9};
const Bytes kAddress{1, 192, 0, 2, 1};
const Bytes kObject{0x88, 0x37, 3};  // 2.999.3, the example of ITU-T X.690 8.19.5

Bytes lldpdu(const std::string& port, const std::string& name) {
  Bytes out;
  tlv::LldpduWriter(out, 1500)
      .add(tlv::ChassisIdTlv{4, kChassis})
      .add(tlv::PortIdTlv{5, as_octets(port)})
      .add(tlv::Ttl{120})
      .add(tlv::SystemName{name})
      .add(tlv::Capabilities{tlv::Capabilities::kBridge | tlv::Capabilities::kRouter,
                             tlv::Capabilities::kBridge})
      .add(tlv::ManagementAddress{kAddress, 2, 7, kObject})
      .add(tlv::ManagementAddress{kAddress, 2, 8, {}})  // twice
      .end();
  return out;
}

std::string detail(std::vector<std::string> neighbors) {
  json heard = json::array();
  for (const std::string& name : neighbors)
    heard.push_back({{"scope", "nearest-bridge"}, {"lldpdu", to_hex(lldpdu(name, name))}});
  return json{{"device", {{"chassis_id", "02:00:00:00:00:01"}}},
              {"ports",
               {{{"name", "swp1"},
                 {"ifindex", 300},
                 {"admin", "rxtx"},
                 {"announced", to_hex(lldpdu("swp1", "leaf1"))},
                 {"neighbors", heard}}}}}
      .dump();
}
std::string stats() {
  json port{{"name", "swp1"}};
  int n = 0;
  for (const char* name :
       {"statsFramesOutTotal", "statsFramesInTotal", "statsFramesInErrorsTotal",
        "statsFramesDiscardedTotal", "statsTLVsDiscardedTotal", "statsTLVsUnrecognizedTotal",
        "statsAgeoutsTotal", "statsTooManyNeighborsTotal"})
    port[name] = ++n;
  return json{{"ports", {port}}}.dump();
}

std::string value(const Mib& mib, const Oid& oid) {
  const auto found = mib.get(oid);
  return found ? found->value : "none";
}
std::string number(std::uint8_t v) { return {0, 0, 0, static_cast<char>(v)}; }

TEST(LldpMib, HoldsTheDeviceItsPortsAndItsNeighbors) {
  Indices indices;
  const auto mib = mib_of(detail({"a"}), stats(), indices);
  ASSERT_TRUE(mib);
  EXPECT_EQ(value(*mib, {1, 3, 1, 0}), number(4));
  EXPECT_EQ(value(*mib, {1, 3, 2, 0}), std::string(kChassis.begin(), kChassis.end()));
  EXPECT_EQ(value(*mib, {1, 3, 3, 0}), "leaf1");
  EXPECT_EQ(value(*mib, {1, 3, 5, 0}), "\x28") << "bits 2 and 4, from the highest";
  EXPECT_EQ(value(*mib, {1, 3, 7, 1, 3, 300}), "swp1");
  EXPECT_EQ(value(*mib, {1, 3, 8, 1, 5, 1, 4, 192, 0, 2, 1}), number(7));
  EXPECT_NE(value(*mib, {1, 3, 8, 1, 6, 1, 4, 192, 0, 2, 1}), "none");
  EXPECT_EQ(value(*mib, {1, 1, 6, 1, 2, 300}), number(3));
  EXPECT_EQ(value(*mib, {1, 4, 1, 1, 9, 0, 300, 1}), "a");
  EXPECT_EQ(value(*mib, {1, 4, 1, 1, 12, 0, 300, 1}), "\x20");
  EXPECT_EQ(value(*mib, {1, 4, 2, 1, 3, 0, 300, 1, 1, 4, 192, 0, 2, 1}), number(2));
  EXPECT_EQ(value(*mib, {1, 4, 2, 1, 4, 0, 300, 1, 1, 4, 192, 0, 2, 1}), number(7));
  EXPECT_EQ(value(*mib, {1, 4, 2, 1, 5, 0, 300, 1, 1, 4, 192, 0, 2, 1}),
            number(2) + std::string({0, 0, 3, '\xe7'}) + number(3));
  EXPECT_EQ(value(*mib, {1, 2, 6, 1, 2, 300}), number(1));
  EXPECT_EQ(value(*mib, {1, 2, 7, 1, 4, 300}), number(2));
  EXPECT_EQ(value(*mib, {1, 2, 4, 0}), number(8));
  EXPECT_EQ(value(*mib, {1, 4, 1, 1, 9, 0, 300, 2}), "none");
}

// As LLDP-MIB has them, and lldpd: a ZeroBasedCounter32 is a Gauge32 (RFC 2021).
TEST(LldpMib, CountsInTheKindsThatItsDefinitionsHave) {
  Indices indices;
  const auto mib = mib_of(detail({"a"}), stats(), indices);
  ASSERT_TRUE(mib);
  for (const Oid& oid : {Oid{1, 2, 4, 0}, {1, 2, 5, 0}, {1, 2, 7, 1, 7, 300}})
    EXPECT_EQ(mib->get(oid).value().type, Type::kGauge) << testing::PrintToString(oid);
  EXPECT_EQ(mib->get({1, 2, 6, 1, 2, 300}).value().type, Type::kCounter);
  for (const std::uint32_t column : {2U, 3U, 4U, 5U, 6U})
    EXPECT_EQ(mib->get({1, 2, 7, 1, column, 300}).value().type, Type::kCounter) << column;
}

TEST(LldpMib, IsWalkedInTheOrderOfItsIdentifiers) {
  Indices indices;
  const auto mib = mib_of(detail({"a", "b"}), stats(), indices);
  ASSERT_TRUE(mib);
  Oid at;
  std::size_t objects = 0;
  for (auto next = mib->next(at); next; next = mib->next(at), ++objects) {
    ASSERT_LT(at, next->oid);
    EXPECT_EQ(mib->get(next->oid)->value, next->value);
    at = next->oid;
  }
  EXPECT_EQ(objects, mib->size());
  EXPECT_FALSE(mib->next({2}));
  EXPECT_EQ(mib->next({1, 3})->oid, (Oid{1, 3, 1, 0}));
}

TEST(LldpMib, ANeighborKeepsItsIndexAndNobodyInheritsIt) {
  Indices indices;
  const auto of = [&](std::vector<std::string> heard) {
    const auto mib = mib_of(detail(heard), stats(), indices);
    std::vector<std::uint32_t> out;
    Oid at{1, 4, 1, 1, 9};
    for (auto next = mib->next(at); next && next->oid[4] == 9; next = mib->next(at))
      out.push_back((at = next->oid).back());
    return out;
  };
  EXPECT_THAT(of({"b"}), ElementsAre(1));
  EXPECT_THAT(of({"a", "b"}), ElementsAre(1, 2));
  EXPECT_THAT(of({"a"}), ElementsAre(2));
  EXPECT_THAT(of({"a", "b"}), ElementsAre(2, 3));
}

TEST(LldpMib, AnIdentifierThatSnmpDoesNotCarryIsNone) {
  Bytes hostile;
  tlv::LldpduWriter(hostile, 1500)
      .add(tlv::ChassisIdTlv{4, kChassis})
      .add(tlv::PortIdTlv{5, kChassis})
      .add(tlv::Ttl{120})
      .add(tlv::ManagementAddress{kAddress, 2, 7, Bytes(128, 0x7f)})  // 129 arcs
      .end();
  json all = json::parse(detail({"a"}));
  all["ports"][0]["neighbors"][0]["lldpdu"] = to_hex(hostile);
  Indices indices;
  const auto mib = mib_of(all.dump(), stats(), indices);
  ASSERT_TRUE(mib);
  Oid at;
  for (auto object = mib->next(at); object; object = mib->next(at = object->oid)) {
    EXPECT_LE(object->oid.size(), 128U);
    if (object->type == Type::kOid) {
      EXPECT_LE(object->value.size(), 4 * 128U);
    }
  }
}

TEST(LldpMib, OrderOfTheMembersIsOfNoAccount) {
  Indices indices;
  const json all = json::parse(detail({"a", "b"}));
  const auto wanted = mib_of(all.dump(), stats(), indices);
  ASSERT_TRUE(wanted);
  const std::string other = R"({"ports":)" + all["ports"].dump() +
                            R"(,"alarms":[{"port":"swp1"}],"device":)" + all["device"].dump() + "}";
  const auto found = mib_of(other, stats(), indices);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), wanted->size());
  Oid at;
  for (auto object = wanted->next(at); object; object = wanted->next(at = object->oid))
    EXPECT_EQ(found->get(object->oid)->value, object->value);
}

TEST(LldpMib, TakesNoAnswerOfAnotherShape) {
  Indices indices;
  for (const char* wrong : {"", "[]", "{}", R"({"ports":7})"})
    EXPECT_FALSE(mib_of(wrong, stats(), indices)) << wrong;
  EXPECT_FALSE(mib_of(detail({}), "{}", indices));
  json odd = json::parse(detail({"a"}));
  odd["ports"][0]["neighbors"][0]["lldpdu"] = "0207";
  odd["ports"][0]["announced"] = "zz";
  EXPECT_TRUE(mib_of(odd.dump(), stats(), indices));
}

}  // namespace
}  // namespace lldp::agentx
