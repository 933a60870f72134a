// SPDX-License-Identifier: Apache-2.0
// What is shown, filtered, and in the formats of others; TLVs and the owners of OUIs.

#include "agent/report/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/report/filter.hpp"
#include "agent/report/oui.hpp"
#include "agent/report/tlvs.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

json heard(std::string name, int level) {
  return {{"chassis_id", "02:00:00:00:00:09"},
          {"port_id", "swp7"},
          {"port_description", ""},
          {"system_name", escape(name)},
          {"device_type", "switch"},
          {"level", level},
          {"port_type", "uplink"},
          {"ttl", 120},
          {"expires_in", 100}};
}
json port_with(const std::string& name, std::vector<json> neighbors) {
  return {{"name", name},  {"up", true},      {"type", "uplink"},
          {"order", "up"}, {"admin", "rxtx"}, {"neighbors", std::move(neighbors)}};
}
std::string answer_with(std::vector<json> ports) {
  return json{{"ports", std::move(ports)}}.dump();
}

TEST(ShowFilter, KeepsWhatMatchesAllOfIt) {
  const std::string all =
      answer_with({port_with("swp1", {heard("spine1", 2), heard("leaf9", 1)}),
                   port_with("swp2", {heard("leaf2", 1)}), port_with("eth0", {})});
  const auto names = [&](const char* filter) {
    std::vector<std::string> out;
    const json shown = json::parse(*ShowFilter::parse(filter)->apply(all));
    for (const json& p : shown["ports"]) {
      out.push_back(p["name"]);
      for (const json& n : p["neighbors"]) out.push_back(n["system_name"]);
    }
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(names("level=2"), ElementsAre("swp1", "spine1"));
  EXPECT_THAT(names("port=swp*,level=1"), ElementsAre("swp1", "leaf9", "swp2", "leaf2"));
  EXPECT_THAT(names("system-name=spine*,up=yes"), ElementsAre("swp1", "spine1"));
  EXPECT_THAT(names("type=downlink"), ElementsAre());
  EXPECT_THAT(names("level=-"), ElementsAre());
  EXPECT_THAT(names("up=yes"), ElementsAre("swp1", "spine1", "leaf9", "swp2", "leaf2", "eth0"));
  EXPECT_EQ(names("up=true"), names("up=yes"));
  EXPECT_THAT(names("up=false"), ElementsAre());
  for (const char* wrong : {"", ",", "level", "color=red", "=2", "up=up", "up="})
    EXPECT_FALSE(ShowFilter::parse(wrong)) << wrong;
  EXPECT_FALSE(ShowFilter::parse("level=1")->apply("{}"));
}

TEST(Csv, IsARowPerNeighborAndHoldsNoFormula) {
  EXPECT_EQ(*csv(answer_with({port_with("swp1", {heard("=1+1,\"x\"", 2)}), port_with("swp2", {})})),
            "port,up,type,order,admin,system_name,chassis_id,port_id,port_description,device_type,"
            "level,port_type,ttl,expires_in\r\n"
            "swp1,true,uplink,up,rxtx,\"'=1+1,\"\"x\"\"\",02:00:00:00:00:09,swp7,,switch,2,"
            "uplink,120,100\r\n"
            "swp2,true,uplink,up,rxtx,,,,,,,,,\r\n");
}

TEST(Keyvalue, IsALinePerValueWithPortsByName) {
  const std::string text = *keyvalue(answer_with({port_with("swp1", {heard("a\nb", 2)})}));
  EXPECT_THAT(text, HasSubstr("ports.swp1.up=true\n"));
  EXPECT_THAT(text, HasSubstr("ports.swp1.neighbors.0.system_name=a\\x0ab\n"));
}

TEST(Tlvs, OfUnknownOnesTheOwnerIsTold) {
  const Bytes unknown{0xfe, 5, 0x00, 0x00, 0x0c, 7, 0xaa};  // OUI 00-00-0c, subtype 7
  tlv::TlvWalk walk(unknown, {});
  tlv::Tlv tlv;
  ASSERT_TRUE(walk.next(tlv));
  const OwnerOf owner = [](std::uint32_t oui) {
    return std::string_view(oui == 0x0c ? "Some \x1b Body" : "");
  };
  EXPECT_EQ(tlv_line(tlv, owner),
            "  unknown                 type 127, oui 00-00-0c, owner Some \\x1b Body, subtype 7, "
            "octets aa\n");
  EXPECT_EQ(tlv_line(tlv),
            "  unknown                 type 127, oui 00-00-0c, subtype 7, octets aa\n");
}

TEST(OuiOwner, IsFoundWhereTheRegistryWasThere) {
  if (oui_owner(0).empty()) GTEST_SKIP() << "built without ieee-data";
  EXPECT_EQ(oui_owner(0x001b21), "Intel Corporate");
  EXPECT_EQ(oui_owner(0x024c56), "");
  EXPECT_EQ(oui_owner(0xffffff), "");
}

}  // namespace
}  // namespace lldp::report
