// SPDX-License-Identifier: Apache-2.0
// What was heard, decoded: by name, filtered, and in the formats of others.
#include "agent/report/detail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "agent/report/lldpctl.hpp"
#include "base/text.hpp"
#include "tlv/dot1.hpp"
#include "tlv/med.hpp"
#include "tlv/table.hpp"
#include "tlv/writer.hpp"

namespace lldp::report {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

/// A neighbor with this name, and octets behind the first TLVs.
json neighbor(std::string name, int level, const Bytes& tail = {}) {
  Bytes lldpdu;
  const Bytes chassis{2, 0, 0, 0, 0, 9};
  tlv::LldpduWriter writer(lldpdu, 1500);
  writer.add(tlv::ChassisIdTlv{4, chassis})
      .add(tlv::PortIdTlv{5, as_octets("swp7")})
      .add(tlv::Ttl{120})
      .add(tlv::SystemName{name});
  lldpdu.insert(lldpdu.end(), tail.begin(), tail.end());
  writer.end();
  return {{"chassis_id", "02:00:00:00:00:09"},
          {"port_id", "swp7"},
          {"port_description", ""},
          {"system_name", escape(name)},
          {"device_type", "switch"},
          {"level", level},
          {"port_type", "uplink"},
          {"ttl", 120},
          {"expires_in", 100},
          {"scope", "nearest-bridge"},
          {"source", "02:00:00:00:00:19"},
          {"unchanged_for", 90061},
          {"lldpdu", to_hex(lldpdu)}};
}
json port(const std::string& name, std::vector<json> neighbors) {
  return {{"name", name},  {"up", true},      {"type", "uplink"},
          {"order", "up"}, {"admin", "rxtx"}, {"neighbors", std::move(neighbors)}};
}
std::string shown(std::vector<json> ports) { return json{{"ports", std::move(ports)}}.dump(); }

template <class T>
Bytes octets_of(const T& tlv) {
  Bytes out;
  tlv::LldpduWriter(out, 1500).add(tlv);
  return out;
}
const Bytes kForeign{0xfe, 5, 0x00, 0x00, 0x0c, 7, 0xaa};  // Cisco's, subtype 7

std::string_view owner(std::uint32_t oui) { return oui == 0x0c ? "Some \x1b Body" : ""; }

TEST(Detail, TellsTimesInTheirTwoGreatestUnits) {
  for (const auto& [seconds, text] : {std::pair(0, "0 s"),
                                      {59, "59 s"},
                                      {60, "1 min 0 s"},
                                      {3599, "59 min 59 s"},
                                      {3600, "1 h 0 min"},
                                      {86399, "23 h 59 min"},
                                      {86400, "1 d 0 h"},
                                      {2 * 86400 + 3 * 3600, "2 d 3 h"}}) {
    json heard = neighbor("s1", 2);
    heard["unchanged_for"] = seconds;
    EXPECT_THAT(*detail_text(shown({port("swp1", {heard})}), {}),
                HasSubstr(std::string("the same for ") + text + ", expires"));
  }
}

TEST(Detail, NamesEveryTlvAndTheOwnersOfTheUnknown) {
  const auto text = detail_text(shown({port("swp1", {neighbor("s1", 2, kForeign)})}), {}, owner);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "swp1: s1 swp7, switch, level 2, uplink\n"
            "  from 02:00:00:00:00:19 to nearest-bridge, the same for 1 d 1 h, expires in 1 min "
            "40 s\n"
            "  chassis-id              subtype mac-address, id 02:00:00:00:00:09\n"
            "  port-id                 subtype interface-name, id swp7\n"
            "  ttl                     120\n"
            "  system-name             s1\n"
            "  unknown                 type 127, oui 00-00-0c, owner Some \\x1b Body, subtype 7, "
            "octets aa\n");
  EXPECT_EQ(*detail_text(shown({port("swp1", {})}), {}), "no neighbors\n");
}

TEST(Detail, TellsWhatEachAgentHasAcknowledged) {
  const json none{{"level", nullptr}, {"id", nullptr}};
  const auto rank = [](int level) { return json{{"level", level}, {"id", "02:00:00:00:00:01"}}; };
  const auto agent = [](const char* chassis, const char* role, bool heard, bool counted,
                        const json& bound, const json& acknowledged, bool awaited) {
    return json{{"agent_id", "00000000000000a1"},
                {"chassis_id", chassis == nullptr ? json() : json(chassis)},
                {"role", role},
                {"heard", heard},
                {"counted", counted},
                {"bound", bound},
                {"acknowledged", acknowledged},
                {"awaited", awaited}};
  };
  json swp1 = port("swp1", {});
  swp1["agents"] = {agent("leaf", "switch", true, true, rank(1), rank(2), true),
                    agent("srv", "host", true, true, none, none, false),
                    agent("new", "switch", true, false, none, rank(2), false),
                    agent(nullptr, "switch", false, false, rank(3), none, false)};
  swp1["waits_since"] = "2026-01-31T12:00:00Z";
  EXPECT_EQ(*detail_text(shown({swp1}), {}),
            "swp1: order up\n"
            "  order: switch leaf, may rise to level 1 02:00:00:00:00:01, has acknowledged level 2 "
            "02:00:00:00:00:01; its acknowledgement is missing\n"
            "  order: host srv\n"
            "  order: switch new, has not heard this device yet, has acknowledged level 2 "
            "02:00:00:00:00:01\n"
            "  order: switch agent 00000000000000a1, not heard on this carrier, has acknowledged "
            "the bottom\n"
            "  order: the rank waits for this port since 2026-01-31T12:00:00Z\n");
  swp1["order"] = "shut";
  EXPECT_THAT(*detail_text(shown({swp1}), {}),
              testing::EndsWith("\n  order: shut since 2026-01-31T12:00:00Z\n"));
}

TEST(Detail, TellsAsTextWhatEachPortSends) {
  json swp1 = port("swp1", {neighbor("s1", 2, Bytes())});
  swp1["announced"] = "0207040200000000090403056131060200780000";
  json swp2 = port("swp2", {});
  swp2.erase("announced");
  const auto text = sent_text(shown({swp1, swp2}), {});
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_THAT(*text, testing::StartsWith("swp1:\n  chassis-id"));
  EXPECT_THAT(*text, testing::HasSubstr("ttl"));
  EXPECT_THAT(*text, testing::EndsWith("\n\nswp2: sends nothing\n"));
}

TEST(Detail, JsonHasTheTlvsBesideTheOctets) {
  json swp1 = port("swp1", {neighbor("s1", 2, octets_of(tlv::MedModel{"m\x1b"}))});
  swp1["announced"] = "0207040200000000090403056131060200780000";
  const auto whole = with_tlvs(shown({swp1}));
  ASSERT_TRUE(whole);
  const json parsed = json::parse(*whole)["ports"][0];
  EXPECT_EQ(parsed["neighbors"][0]["tlvs"][4], (json{{"name", "med-model"}, {"text", "m\\x1b"}}));
  EXPECT_EQ(parsed["sends"][2], (json{{"name", "ttl"}, {"seconds", 120}}));
  EXPECT_FALSE(with_tlvs("[]"));
}

TEST(AsLldpctl, SurvivesWhatAHostileNeighborSays) {
  Bytes tail = octets_of(tlv::SystemDescription{"line\nline<&\"\x01\xff\uffff"});
  for (const Bytes& more :
       {octets_of(tlv::VlanName{4095, ""}), octets_of(tlv::PortVlan{4095}),
        octets_of(tlv::ProtocolIdentity{}), octets_of(tlv::MedCapabilities{0xffff, 200}),
        octets_of(tlv::MedPolicy{.application = 200}), octets_of(tlv::MedLocation{2, {}}),
        octets_of(tlv::MedLocation{3, {}}), octets_of(tlv::MedPower{.type = 3}), kForeign})
    tail.insert(tail.end(), more.begin(), more.end());
  const std::string all = shown({port("swp1", {neighbor("s1", 2, tail)})});
  const std::string kv = *as_lldpctl(all, LldpctlFormat::kKeyvalue);
  EXPECT_THAT(kv, HasSubstr("lldp.swp1.chassis.descr=line line<&\"\\x01\\xff\\xef\\xbf\\xbf\n"));
  EXPECT_THAT(kv, HasSubstr("lldp.swp1.age=1 day, 01:01:01\n"));
  EXPECT_THAT(kv, HasSubstr("lldp.swp1.vlan.pvid=yes\nlldp.swp1.vlan=\n"));
  EXPECT_THAT(kv, HasSubstr("lldp.swp1.unknown-tlvs.unknown-tlv.oui=00,00,0C\n"));
  const json parsed = json::parse(*as_lldpctl(all, LldpctlFormat::kJson0));
  EXPECT_EQ(parsed["lldp"][0]["interface"][0]["chassis"][0]["descr"][0]["value"],
            "line\nline<&\"\x01\xef\xbf\xbd\uffff");
  const std::string xml = *as_lldpctl(all, LldpctlFormat::kXml);
  EXPECT_THAT(xml, HasSubstr(">line\nline&lt;&amp;\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</descr>"));
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
  json broken = port("swp1", {neighbor("s1", 2)});
  for (const char* lldpdu : {"", "0", "zz", "0207", "ffff"}) {
    broken["neighbors"][0]["lldpdu"] = lldpdu;
    EXPECT_TRUE(as_lldpctl(shown({broken}), LldpctlFormat::kXml)) << lldpdu;
    EXPECT_TRUE(detail_text(shown({broken}), {})) << lldpdu;
  }
}

// C1 controls move the cursor of many a terminal, bidirectional marks reorder a line.
TEST(AsLldpctl, GivesNoTerminalWhatItMustNotGet) {
  const std::string all =
      shown({port("swp1", {neighbor("a\u009bb\u202ec\u200bd\xff\U000e0041\u00e9", 2)})});
  EXPECT_THAT(
      *as_lldpctl(all, LldpctlFormat::kKeyvalue),
      HasSubstr(
          ".name=a\\xc2\\x9bb\\xe2\\x80\\xaec\\xe2\\x80\\x8bd\\xff\\xf3\\xa0\\x81\\x81\u00e9\n"));
  EXPECT_THAT(*as_lldpctl(all, LldpctlFormat::kPlain),
              HasSubstr("SysName:      a\\xc2\\x9bb\\xe2\\x80\\xaec\\xe2\\x80\\x8bd\\xff"));
  EXPECT_THAT(*as_lldpctl(all, LldpctlFormat::kXml),
              HasSubstr(">a&#155;b&#8238;c&#8203;d\xef\xbf\xbd&#917569;\u00e9</name>"));
  for (const LldpctlFormat format : {LldpctlFormat::kJson, LldpctlFormat::kJson0})
    EXPECT_THAT(*as_lldpctl(all, format),
                HasSubstr("a\\u009bb\\u202ec\\u200bd\xef\xbf\xbd\\udb40\\udc41\u00e9"));
  const json parsed = json::parse(*as_lldpctl(all, LldpctlFormat::kJson));
  EXPECT_TRUE(parsed["lldp"]["interface"]["swp1"]["chassis"].contains(
      "a\u009bb\u202ec\u200bd\xef\xbf\xbd\U000e0041\u00e9"));
}

// `json` is json0 without what its author found superfluous.
TEST(AsLldpctl, JsonNamesByKeyAndListsOnlySeveral) {
  json unnamed = neighbor("", 2);
  const json one =
      json::parse(*as_lldpctl(shown({port("swp1", {neighbor("s1", 2)})}), LldpctlFormat::kJson));
  EXPECT_EQ(one["lldp"]["interface"]["swp1"]["via"], "LLDP");
  EXPECT_EQ(one["lldp"]["interface"]["swp1"]["chassis"]["s1"]["id"],
            (json{{"type", "mac"}, {"value", "02:00:00:00:00:09"}}));
  const json two = json::parse(*as_lldpctl(
      shown({port("swp1", {neighbor("s1", 2)}), port("swp2", {unnamed})}), LldpctlFormat::kJson));
  EXPECT_EQ(two["lldp"]["interface"][0]["swp1"]["port"]["ttl"], "120");
  EXPECT_EQ(two["lldp"]["interface"][1]["swp2"]["chassis"]["id"]["value"], "02:00:00:00:00:09");
  const json none = json::parse(*as_lldpctl(shown({}), LldpctlFormat::kJson));
  EXPECT_EQ(none, (json{{"lldp", json::object()}}));
}

// Without the name of an interface an ID is text all the same; of a kind that lldpctl has no word
// for, octets.
TEST(AsLldpctl, TellsIdsByTheirKind) {
  for (const auto& [subtype, expected] : {std::pair(7, "local=cage 7\n"),
                                          {1, "ifalias=cage 7\n"},
                                          {5, "ifname=cage 7\n"},
                                          {2, "unhandled=63 61 67 65 20 37\n"}}) {
    Bytes lldpdu;
    tlv::LldpduWriter(lldpdu, 1500)
        .add(tlv::ChassisIdTlv{7, as_octets("leaf")})
        .add(tlv::PortIdTlv{static_cast<std::uint8_t>(subtype), as_octets("cage 7")})
        .add(tlv::Ttl{120})
        .end();
    json heard = neighbor("s1", 2);
    heard["lldpdu"] = to_hex(lldpdu);
    EXPECT_THAT(*as_lldpctl(shown({port("swp1", {heard})}), LldpctlFormat::kKeyvalue),
                HasSubstr(std::string("lldp.swp1.port.") + expected));
  }
}

// No veth negotiates. This is what lldpctl 1.0.16 printed of the TLV, which its lldpd was made to
// send.
TEST(AsLldpctl, TellsWhatIsNegotiated) {
  const Bytes negotiated{0xfe, 9, 0x00, 0x12, 0x0f, 1, 0x03, 0x6a, 0x07, 0x00, 0x1e};
  const std::string all = shown({port("swp1", {neighbor("s1", 2, negotiated)})});
  EXPECT_THAT(*as_lldpctl(all, LldpctlFormat::kKeyvalue),
              HasSubstr("lldp.swp1.port.auto-negotiation.supported=yes\n"
                        "lldp.swp1.port.auto-negotiation.enabled=yes\n"
                        "lldp.swp1.port.auto-negotiation.10Base-T.hd=yes\n"
                        "lldp.swp1.port.auto-negotiation.10Base-T.fd=yes\n"
                        "lldp.swp1.port.auto-negotiation.100Base-TX.hd=yes\n"
                        "lldp.swp1.port.auto-negotiation.100Base-TX.fd=no\n"
                        "lldp.swp1.port.auto-negotiation.100Base-T2.hd=yes\n"
                        "lldp.swp1.port.auto-negotiation.100Base-T2.fd=no\n"
                        "lldp.swp1.port.auto-negotiation.1000Base-X.hd=no\n"
                        "lldp.swp1.port.auto-negotiation.1000Base-X.fd=yes\n"
                        "lldp.swp1.port.auto-negotiation.1000Base-T.hd=yes\n"
                        "lldp.swp1.port.auto-negotiation.1000Base-T.fd=yes\n"
                        "lldp.swp1.port.auto-negotiation.current=1000BaseTFD - Four-pair Category "
                        "5 UTP, full duplex mode\n"));
  EXPECT_THAT(
      *as_lldpctl(all, LldpctlFormat::kXml),
      HasSubstr("<auto-negotiation label=\"PMD autoneg\" supported=\"yes\" enabled=\"yes\">\n"
                "    <advertised label=\"Adv\" type=\"10Base-T\" hd=\"yes\" fd=\"yes\"/>\n"
                "    <advertised label=\"Adv\" type=\"100Base-TX\" hd=\"yes\" fd=\"no\"/>\n"
                "    <advertised label=\"Adv\" type=\"100Base-T2\" hd=\"yes\" fd=\"no\"/>\n"
                "    <advertised label=\"Adv\" type=\"1000Base-X\" hd=\"no\" fd=\"yes\"/>\n"
                "    <advertised label=\"Adv\" type=\"1000Base-T\" hd=\"yes\" fd=\"yes\"/>\n"
                "    <current label=\"MAU oper type\">1000BaseTFD - Four-pair Category 5 UTP, full "
                "duplex mode</current>\n"
                "   </auto-negotiation>\n"));
}

// The TLV is there in nearly every frame; any one of the three makes it worth a word.
TEST(AsLldpctl, TellsOfNegotiationWhereThereIsAnyWordOfIt) {
  for (const auto& [status, mau, expected] :
       {std::tuple(0, 0, ""),
        {1, 0, "supported=yes enabled=no current=unknown"},
        {2, 0, "supported=no enabled=yes 1000Base-X.hd=no 1000Base-X.fd=yes current=unknown"},
        {0, 1, "supported=no enabled=no current=AUI - No internal MAU, view from AUI"}}) {
    const Bytes tail{0xfe,
                     9,
                     0x00,
                     0x12,
                     0x0f,
                     1,
                     static_cast<std::uint8_t>(status),
                     0,
                     4,
                     0,
                     static_cast<std::uint8_t>(mau)};
    std::istringstream lines(
        *as_lldpctl(shown({port("swp1", {neighbor("s1", 2, tail)})}), LldpctlFormat::kKeyvalue));
    const std::string prefix = "lldp.swp1.port.auto-negotiation.";
    std::string told;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(prefix)) told += (told.empty() ? "" : " ") + line.substr(prefix.size());
    EXPECT_EQ(told, expected) << status << " " << mau;
  }
}

TEST(AsLldpctl, TellsACivicLocationAndAPolicy) {
  const Bytes civic{8, 2, 'D', 'E', 3, 3, 'U', 'l', 'm'};
  Bytes tail = octets_of(tlv::MedCapabilities{7, 3});
  for (const Bytes& more : {octets_of(tlv::MedPolicy{1, false, true, 33, 5, 46}),
                            octets_of(tlv::MedLocation{2, civic})})
    tail.insert(tail.end(), more.begin(), more.end());
  const std::string kv =
      *as_lldpctl(shown({port("swp1", {neighbor("s1", 2, tail)})}), LldpctlFormat::kKeyvalue);
  EXPECT_THAT(kv, HasSubstr("lldp.swp1.lldp-med.policy.apptype=Voice\n"
                            "lldp.swp1.lldp-med.policy.defined=yes\n"
                            "lldp.swp1.lldp-med.policy.vlan.vid=33\n"
                            "lldp.swp1.lldp-med.policy.priority=Voice\n"
                            "lldp.swp1.lldp-med.policy.pcp=5\n"
                            "lldp.swp1.lldp-med.policy.dscp=46\n"
                            "lldp.swp1.lldp-med.Civic address.country=DE\n"
                            "lldp.swp1.lldp-med.Civic address.city=Ulm\n"));
}

// What lldpctl 1.0.16 printed of a length that its lldpd was made to hear.
TEST(AsLldpctl, BelievesTheLengthOfACivicLocation) {
  const Bytes address{1, 'D', 'E', 3, 3, 'U', 'l', 'm'};
  for (const auto& [length, shown_of_it] :
       {std::pair(0, 1), {3, 1}, {7, 1}, {8, 2}, {9, 0}, {255, 0}}) {
    Bytes civic{static_cast<std::uint8_t>(length)};
    civic.insert(civic.end(), address.begin(), address.end());
    Bytes tail = octets_of(tlv::MedCapabilities{7, 3});
    const Bytes location = octets_of(tlv::MedLocation{tlv::MedLocation::kCivic, civic});
    tail.insert(tail.end(), location.begin(), location.end());
    const std::string kv =
        *as_lldpctl(shown({port("swp1", {neighbor("s1", 2, tail)})}), LldpctlFormat::kKeyvalue);
    EXPECT_EQ(kv.find(".country=DE\n") != kv.npos, shown_of_it > 0) << length;
    EXPECT_EQ(kv.find(".city=Ulm\n") != kv.npos, shown_of_it > 1) << length;
  }
}

}  // namespace
}  // namespace lldp::report
