// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/config/listen.hpp"
#include "base/text.hpp"
#include "tests/config/texts.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::Pair;

TEST(Unmatched, AreTheNamesThatNoInterfaceHas) {
  const auto config = parse(
      "ports = swp*, eth?, x*, !mgmt0, !gone, !gone*\n"
      "host-ports = swp1, swpx\n"
      "port.swp1.admin = tx\nport.swp7.admin = tx\n"
      "port.swp1.layers = 1:2\nport.swp8.layers = 1:2\n"
      "port.swp1.description = a\nport.swp9.description = a\n",
      "f");
  ASSERT_TRUE(config);
  const std::vector<std::string> there{"swp1", "eth0", "mgmt0"};
  const std::string what = "' is no interface here: correct it, unless the interface comes later";
  EXPECT_THAT(texts(unmatched(*config, there)),
              ElementsAre("ports: 'x*" + what, "ports: 'gone" + what, "host-ports: 'swpx" + what,
                          "port.swp7.admin: 'swp7" + what, "port.swp8.layers: 'swp8" + what,
                          "port.swp9.description: 'swp9" + what));
}

TEST(ConfigFile, LearnsTheClassesWithAuto) {
  EXPECT_EQ(parse("", "f")->chains, std::nullopt);  // it is the default
  const auto learned = parse("qos.lossless = auto\nqos.lossy = 1:dscp8\n", "f");
  ASSERT_TRUE(learned);
  EXPECT_EQ(learned->chains, std::nullopt);
  EXPECT_TRUE(learned->policy.chains().empty());
  EXPECT_EQ(to_string(learned->policy.lossy()), "1:dscp8");
  const auto none = parse("qos.lossless = none\n", "f");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->chains, qos::Chains{});
  const auto roce = parse("qos.lossless = roce\n", "f");
  ASSERT_TRUE(roce);
  EXPECT_EQ(roce->chains, roce->policy.chains());
  EXPECT_EQ(to_string(*roce->chains), "3:dscp26+24-31>2:dscp19");
  const auto clash = parse("qos.lossless = slides\nqos.lossy = 5:dscp0\n", "f");
  ASSERT_FALSE(clash);
  EXPECT_THAT(texts(clash.error()),
              ElementsAre("f:2: qos.lossy: priority 5 is that of a lossless class: take another"));
  // Whether it can be in force, the neighbors decide.
  EXPECT_TRUE(parse("qos.lossless = 4:dscp4>3:dscp3\n", "f"));
}

TEST(ConfigFile, KnowsTheOldFormOfSeveralClasses) {
  const auto note = [](const std::string& value) {
    const auto config = parse("qos.lossless = " + value + "\n", "f");
    return config ? old_form(*config) : "not read";
  };
  EXPECT_EQ(
      note("3:dscp3,4:dscp4"),
      "qos.lossless = 3:dscp3,4:dscp4 is one chain, 3:dscp3>4:dscp4: priority 4 is lossy after "
      "a turn; if each class is an application's: qos.lossless = "
      "3:dscp3>2:dscp19,4:dscp4>5:dscp43");
  for (const char* value : {"3:dscp3", "auto", "none", "sonic", "slides", "3:dscp3>4:dscp4"})
    EXPECT_EQ(note(value), "") << value;
}

TEST(ConfigFile, ReadsKeysSectionsAndComments) {
  const auto config = parse(
      "# a comment\n"
      "role = switch   # at the end\n"
      "level=2\n"
      "\n"
      "[lldp]\n"
      "tx-interval = 5\n"
      "[tlv]\r\n"
      "send = tr\r\n"
      "contribution-oui = 02-00-01, 02:00:02\n",
      "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  Config want;
  want.role = Role::kSwitch;
  want.core.pinned_level = Level::of<2>();
  want.core.msgTxInterval = std::chrono::seconds(5);
  want.core.send_contribution = false;
  want.core.contribution_oui = {2, 0, 1};
  want.core.accepted_ouis = {{2, 0, 1}, {2, 0, 2}};
  EXPECT_EQ(*config, want);
}

TEST(ConfigFile, ReportsEveryErrorWithItsLine) {
  const auto config = parse(
      "colour = red\n"
      "level = 300\n"
      "role = host\n"
      "role = switch\n"
      "just words\n"
      "[lldp]\n"
      "tx-hold = many\n",
      "/etc/x.conf");
  ASSERT_FALSE(config);
  EXPECT_THAT(
      texts(config.error()),
      ElementsAre("/etc/x.conf:1: colour: unknown key: lldp-leveld --help lists the keys",
                  "/etc/x.conf:2: level: '300' is not in range: use 1-254",
                  "/etc/x.conf:4: role: set before in line 3: remove one",
                  "/etc/x.conf:5: 'just words' is neither a key nor a section: write key = value",
                  "/etc/x.conf:7: lldp.tx-hold: 'many' is not in range: use 1-100"));
}

/// One bad line, and what is said of it. The file is `f`, the line its first.
struct LineCase {
  const char* name = "";
  const char* line = "";
  const char* error = "";
  friend void PrintTo(const LineCase& c, std::ostream* os) { *os << c.name; }
};
class ConfigLine : public testing::TestWithParam<LineCase> {};
TEST_P(ConfigLine, IsRefusedWithItsPlaceAndTheRemedy) {
  const auto config = parse(GetParam().line, "f");
  ASSERT_FALSE(config);
  EXPECT_THAT(texts(config.error()), ElementsAre(std::string("f:1: ") + GetParam().error));
}
const LineCase kLines[] = {
    {"UnknownKey", "colour = red", "colour: unknown key: lldp-leveld --help lists the keys"},
    {"UnknownKeyIsEscaped", "co\x1blour = red",
     "co\\x1blour: unknown key: lldp-leveld --help lists the keys"},
    {"NoKey", "just words", "'just words' is neither a key nor a section: write key = value"},
    {"NumberTooSmall", "level = 0", "level: '0' is not in range: use 1-254"},
    {"NumberTooLarge", "lldp.tx-interval = 3601",
     "lldp.tx-interval: '3601' is not in range: use 1-3600"},
    {"NumberPastItsType", "lldp.tx-interval = 4294967297",
     "lldp.tx-interval: '4294967297' is not in range: use 1-3600"},
    {"NumberNegative", "lldp.tx-hold = -1", "lldp.tx-hold: '-1' is not in range: use 1-100"},
    {"NumberWithUnit", "lldp.tx-interval = 30s",
     "lldp.tx-interval: '30s' is not in range: use 1-3600"},
    {"NumberEmpty", "level =", "level: '' is not in range: use 1-254"},
    {"ChoiceUnknown", "role = router", "role: 'router' is none of auto, host, switch"},
    {"SectionWithoutAName", "[]", "'[]' is no section: name one, or remove the line"},
    {"SectionThatNobodyKnows", "[ldp]",
     "'[ldp]' is no section: keys without one stand before the first"},
    {"BackendTwice", "backend = bpf, dcb, bpf", "backend: bpf stands there twice: remove one"},
    {"BackendThatStandsAlone", "backend = auto,dcb",
     "backend: auto stands alone: leave the others out"},
    {"BackendsThatClash", "backend = bpf,sonic",
     "backend: sonic does all that the others do: leave them out"},
    {"BackendsThatBothRemap", "backend = dcb,flower,bpf",
     "backend: bpf and flower both remap packets: leave one out"},
    {"LibsaiBesideAnother", "backend = sai,dcb",
     "backend: sai does all that the others do: leave them out"},
    {"LibsaiThatIsNoPath", "sai.library = libsai.so",
     "sai.library: not an absolute path: begin it with /"},
    {"RedisWithoutAPort", "sonic.redis = redis.example",
     "sonic.redis: 'redis.example' is neither a path nor an address and port: write "
     "127.0.0.1:6379"},
    {"ChoiceInCapitals", "backend = BPF",
     "backend: 'BPF' is none of auto, bpf, dcb, flower, print, sai, soft, sonic, none"},
    {"FlagOfAnotherLanguage", "flush = true", "flush: 'true' is none of yes, no"},
    {"PortsEmpty", "ports =", "ports: no port: name at least one, or remove the key"},
    {"PortsBySpace", "ports = swp1 swp2",
     "ports: 'swp1 swp2' has a space in it: put commas between names"},
    {"PortsByTab", "ports = swp1\tswp2",
     "ports: 'swp1\\x09swp2' has a space in it: put commas between names"},
    {"PortsByRange", "ports = eth0,swp[1-4]",
     "ports: 'swp[1-4]' has brackets in it: there is * and ? alone"},
    {"PortsByBraces", "ports = swp{1..4}",
     "ports: 'swp{1..4}' has brackets in it: there is * and ? alone"},
    {"PortsQuoted", "ports = \"eth0\"", "ports: '\"eth0\"' has quotes in it: leave them out"},
    {"PortsHalfQuoted", "ports = 'eth0,eth1'", "ports: ''eth0' has quotes in it: leave them out"},
    {"PortsAlias", "ports = eth0:1", "ports: 'eth0:1' is no name of an interface"},
    {"PortsWithASpaceSpelled", "ports = a\\x20b", "ports: 'a\\\\x20b' is no name of an interface"},
    {"PortsHere", "ports = .", "ports: '.' is no name of an interface"},
    {"PortsAbove", "ports = ..", "ports: '..' is no name of an interface"},
    {"PortsBackslash", "ports = a\\b",
     "ports: 'a\\\\b' has a backslash: write \\\\ for one, and \\xNN for the octet NN"},
    {"PortsPath", "ports = /sys/class/net/*",
     "ports: '/sys/class/net/*' is no name of an interface"},
    {"PortsTooLong", "ports = enp123s0f0np0v16",
     "ports: 'enp123s0f0np0v16' is longer than an interface's name, of 15 characters at most"},
    {"PortsExclusionOfNothing", "ports = *,-",
     "ports: no name behind - or !: name what to leave out"},
    {"PortsExclusionQuoted", "ports = !'eth0'", "ports: ''eth0'' has quotes in it: leave them out"},
    {"PortsAllExcluded", "ports = swp1,!*", "ports: leaves everything out: remove -*"},
    {"HostPortsBySpace", "host-ports = swp1 swp2",
     "host-ports: 'swp1 swp2' has a space in it: put commas between names"},
    {"HostPortsExclusion", "host-ports = -swp1",
     "host-ports: '-swp1' is an exclusion, which only `ports` takes"},
    {"AdminUnknown", "port.swp1.admin = disabled",
     "port.swp1.admin: 'disabled' is none of rxtx, tx, rx, off"},
    {"AdminOfNobody", "port..admin = off",
     "port..admin: unknown key: lldp-leveld --help lists the keys"},
    {"AdminOfMany", "port.swp*.admin = off", "port.swp*.admin: 'swp*' is no name: name one port"},
    {"LayersOfOne", "port.swp1.layers = 3",
     "port.swp1.layers: '3' is not two layers from 0 to 31: write NEAR:FAR, as in 3:4"},
    {"LayersThatAreNone", "port.swp1.layers = 31:32",
     "port.swp1.layers: '31:32' is not two layers from 0 to 31: write NEAR:FAR, as in 3:4"},
    {"LayersApart", "port.swp1.layers = 3:5",
     "port.swp1.layers: '3:5': a link joins layers that stand next to each other: correct one"},
    {"LayersOfItself", "port.swp1.layers = 3:3",
     "port.swp1.layers: '3:3': a link joins layers that stand next to each other: correct one"},
    {"LayersOfMany", "port.swp*.layers = 3:4",
     "port.swp*.layers: 'swp*' is no name: name one port"},
    {"AdminOfNoName", "port.swp1/1.admin = off",
     "port.swp1/1.admin: 'swp1/1' is no name of an interface"},
    {"AdminOfABackslash", "port.a\\b.admin = off",
     "port.a\\\\b.admin: 'a\\\\b' has a backslash: write \\\\ for one, and \\xNN for the octet NN"},
    {"PortKeyUnknown", "port.swp1.speed = 100",
     "port.swp1.speed: unknown key: lldp-leveld --help lists the keys"},
    {"ChassisIdOfFiveOctets", "chassis-id = 02:00:00:00:00",
     "chassis-id: '02:00:00:00:00' is no MAC address: write twelve hexadecimal digits"},
    {"ChassisIdOfSevenOctets", "chassis-id = 02:00:00:00:00:00:01",
     "chassis-id: '02:00:00:00:00:00:01' is no MAC address: write twelve hexadecimal digits"},
    {"ManagementQuoted", "lldp.management-address = \"eth0\"",
     "lldp.management-address: '\"eth0\"' has quotes in it: leave them out"},
    {"ManagementBracketed", "lldp.management-address = lo, eth[01]",
     "lldp.management-address: 'eth[01]' has brackets in it: there is * and ? alone"},
    {"ManagementExcluded", "lldp.management-address = !eth0",
     "lldp.management-address: '!eth0' is an exclusion, which only `ports` takes"},
    {"ManagementPrefix", "lldp.management-address = 10.0.0.0/8",
     "lldp.management-address: '10.0.0.0/8' is a prefix: write the address alone, or * for what "
     "follows"},
    {"ChassisIdAlmostAMac", "chassis-id = 02:00:00:00:00:0g",
     "chassis-id: '02:00:00:00:00:0g' is no MAC address: write twelve hexadecimal digits"},
    {"ChassisIdOfSingleDigits", "chassis-id = 2-0-0-0-0-1",
     "chassis-id: '2-0-0-0-0-1' is no MAC address: write twelve hexadecimal digits"},
    {"OuiOfDot1", "tlv.contribution-oui = 02-4c-56,00-80-C2",
     "tlv.contribution-oui: 00-80-C2 has TLVs of its own, in a standard: use an OUI of yours"},
    {"OuiOfDot3", "tlv.contribution-oui = 00:12:0f",
     "tlv.contribution-oui: 00:12:0f has TLVs of its own, in a standard: use an OUI of yours"},
    {"OuiOfMed", "tlv.contribution-oui = 00-12-bb",
     "tlv.contribution-oui: 00-12-bb has TLVs of its own, in a standard: use an OUI of yours"},
    {"OuiOfCee", "tlv.contribution-oui = 00-1b-21",
     "tlv.contribution-oui: 00-1b-21 has TLVs of its own, in a standard: use an OUI of yours"},
    {"PathRelative", "socket = run/control", "socket: not an absolute path: begin it with /"},
    {"TlvUnknown", "tlv.send = tr,cdp",
     "tlv.send: no TLV is called 'cdp': use tr, contribution, pfc"},
    {"TlvNone", "tlv.send =", "tlv.send: no TLV tells the level: use tr, contribution or both"},
    {"TlvNoLevel", "tlv.send = pfc",
     "tlv.send: no TLV tells the level: use tr, contribution or both"},
    {"OuiTooShort", "tlv.contribution-oui = 02-4c",
     "tlv.contribution-oui: '02-4c' is no OUI: write three octets as 02-4c-56"},
    {"ChassisIdEmpty", "chassis-id =", "chassis-id: empty: write something, or leave it out"},
    {"ChassisIdOfAGroup", "chassis-id = 01:00:00:00:00:00",
     "chassis-id: '01:00:00:00:00:00' is a group's address, and no device's: make its first octet "
     "even"},
    {"ScopeUnknown", "lldp.scopes = bridge",
     "lldp.scopes: no address is called 'bridge': use "
     "nearest-bridge|nearest-nontpmr-bridge|nearest-customer-bridge"},
    {"ScopeTwice", "lldp.scopes = nearest-bridge, nearest-bridge",
     "lldp.scopes: nearest-bridge stands there twice: remove one"},
    {"LosslessPriority", "qos.lossless = 8:dscp1",
     "qos.lossless: '8': a priority is a number from 0 to 7"},
    {"LosslessDscpTwice", "qos.lossless = 5:dscp43,6:dscp43",
     "qos.lossless: dscp43 stands twice: give each class its own"},
    {"LosslessPriority0", "qos.lossless = 0:dscp3>lossy",
     "qos.lossless: priority 0 carries all traffic without a class: take another of 1 to 7"},
    {"LosslessDscpOfTwoChains", "qos.lossless = 3:dscp3>2:dscp19,4:dscp3>5:dscp43",
     "qos.lossless: dscp3 stands twice: give each class its own"},
    {"LosslessOfAllDscps", "qos.lossless = 3:dscp0-63>lossy",
     "qos.lossless: all 64 DSCPs are lossless: leave one for qos.lossy"},
    // The preset of qos.lossy is wrong only because of this line.
    {"LosslessTakesTheLossyPreset", "qos.lossless = 5:dscp0,6:dscp51",
     "qos.lossless: qos.lossy: dscp0 is one of lossless priority 5: take another"},
};
INSTANTIATE_TEST_SUITE_P(File, ConfigLine, testing::ValuesIn(kLines),
                         [](const auto& c) { return c.param.name; });

/// What is refused, whatever the reason, says by which word it may be mended.
TEST(Config, EveryRefusalHasItsWords) {
  constexpr std::pair<const char*, const char*> kRefusals[] = {
      {"backend = nonsense",
       "backend: 'nonsense' is none of auto, bpf, dcb, flower, print, sai, soft, sonic, none"},
      {"backend = ,",
       "backend: no back end: use auto, bpf, dcb, flower, print, sai, soft, sonic or none"},
      {"snmp.agentx = a b",
       "snmp.agentx: no socket of an SNMP agent: write a path, or an address as tcp:localhost:705"},
      {"snmp.agentx =",
       "snmp.agentx: no socket of an SNMP agent: write a path, or an address as tcp:localhost:705"},
      {"tlv.send = tr,foo", "tlv.send: no TLV is called 'foo': use tr, contribution, pfc"},
      {"tlv.contribution-oui = 00-80-c2",
       "tlv.contribution-oui: 00-80-c2 has TLVs of its own, in a standard: use an OUI of yours"},
      {"tlv.contribution-oui = zz",
       "tlv.contribution-oui: 'zz' is no OUI: write three octets as 02-4c-56"},
      {"tlv.contribution-oui = ,", "tlv.contribution-oui: no OUI: write three octets as 02-4c-56"},
      {"tlv.custom = 00-11-22",
       "tlv.custom: '00-11-22' is no OUI,SUBTYPE,HEX: write as 00-11-22,1,c0ffee"},
      {"tlv.custom = 00-11-22,1",
       "tlv.custom: '00-11-22,1' is no OUI,SUBTYPE,HEX: write as 00-11-22,1,c0ffee"},
      {"tlv.custom = zz,1,00",
       "tlv.custom: 'zz,1,00' begins with no OUI: write three octets as 02-4c-56"},
      {"tlv.custom = 00-80-c2,1,00",
       "tlv.custom: '00-80-c2,1,00' is of a standard, whose TLVs are sent as the kernel tells: use "
       "an OUI of yours"},
      {"tlv.custom = 00-11-22,256,00",
       "tlv.custom: '00-11-22,256,00' has a subtype that is none: use 0-255"},
      {"tlv.custom = 00-11-22,1x,00",
       "tlv.custom: '00-11-22,1x,00' has a subtype that is none: use 0-255"},
      {"tlv.custom = 00-11-22,1,0",
       "tlv.custom: '00-11-22,1,0' ends with no hexadecimal octets: write two digits for each, at "
       "most 507 octets"},
      {"tlv.custom = 00-11-22,1,zz",
       "tlv.custom: '00-11-22,1,zz' ends with no hexadecimal octets: write two digits for each, at "
       "most 507 octets"},
      {"tlv.custom = 00-11-22,1,00 00-11-22,1,01",
       "tlv.custom: '00-11-22,1,01' has the OUI and the subtype of one before it: remove one"},
      {"tlv.custom =", "tlv.custom: no TLV: write OUI,SUBTYPE,HEX, or remove the key"},
      {"lldp.scopes = nowhere",
       "lldp.scopes: no address is called 'nowhere': use "
       "nearest-bridge|nearest-nontpmr-bridge|nearest-customer-bridge"},
      {"lldp.scopes = nearest-bridge,nearest-bridge",
       "lldp.scopes: nearest-bridge stands there twice: remove one"},
      {"lldp.scopes =",
       "lldp.scopes: no address: use "
       "nearest-bridge|nearest-nontpmr-bridge|nearest-customer-bridge"},
      {"sonic.redis = x",
       "sonic.redis: 'x' is neither a path nor an address and port: write 127.0.0.1:6379"},
      {"sonic.redis = :6379",
       "sonic.redis: ':6379' is neither a path nor an address and port: write 127.0.0.1:6379"},
      {"sonic.redis =",
       "sonic.redis: '' is neither a path nor an address and port: write 127.0.0.1:6379"},
      {"system-description =", "system-description: empty: write something, or leave it out"},
      {"host-ports = -a", "host-ports: '-a' is an exclusion, which only `ports` takes"},
      {"host-ports = !a", "host-ports: '!a' is an exclusion, which only `ports` takes"},
      {"metrics.listen = x",
       "metrics.listen: 'x' is no address and port: write 127.0.0.1:9888, [::1]:9888, or 9888 for "
       "this machine alone"},
      {"metrics.listen = 1.2.3.4",
       "metrics.listen: '1.2.3.4' is no address and port: write 127.0.0.1:9888, [::1]:9888, or "
       "9888 for this machine alone"},
      {"system-name =", "system-name: empty: write something, or leave it out"},
      {"expect =", "expect: not an absolute path: begin it with /"},
      {"socket =", "socket: not an absolute path: begin it with /"},
      {"state-file =", "state-file: not an absolute path: begin it with /"},
      {"port.p0.layers = 3",
       "port.p0.layers: '3' is not two layers from 0 to 31: write NEAR:FAR, as in 3:4"},
      {"port.p0.layers = 3:5",
       "port.p0.layers: '3:5': a link joins layers that stand next to each other: correct one"},
      {"port.p0.layers = 3:x",
       "port.p0.layers: '3:x' is not two layers from 0 to 31: write NEAR:FAR, as in 3:4"},
      {"port.p0.admin = on", "port.p0.admin: 'on' is none of rxtx, tx, rx, off"},
      {"port.p0.description =", "port.p0.description: empty: write something, or leave it out"},
      {"infer.lower-hold = -1", "infer.lower-hold: '-1' is not in range: use 0-3600"},
      {"infer.establish = x", "infer.establish: 'x' is not in range: use 0-31536000"},
      {"dry-run = maybe", "dry-run: 'maybe' is none of yes, no"},
      {"flower.offload = maybe", "flower.offload: 'maybe' is none of auto, require, off"},
      {"on-change =", "on-change: empty: write something, or leave it out"},
  };
  for (const auto& [line, words] : kRefusals) {
    const auto config = parse(line, "f");
    ASSERT_FALSE(config) << line;
    EXPECT_THAT(texts(config.error()), Contains("f:1: " + std::string(words)));
  }
}

TEST(ConfigFile, HostWithALevelIsRefusedWhereTheLevelStands) {
  EXPECT_THAT(texts(parse("level = 2\n\nrole = host\n", "f").error()),
              ElementsAre("f:1: level: a host has level 0: remove this, or set role = switch"));
}

TEST(ConfigFile, BothEndsOfARangeAreTaken) {
  for (const Option& o : options()) {
    const std::size_t dash = o.values.find('-');
    if (o.values.find_first_not_of("0123456789-") != std::string::npos) continue;
    for (const std::string& end : {o.values.substr(0, dash), o.values.substr(dash + 1)})
      EXPECT_TRUE(parse(std::string(o.name) + " = " + end, "f")) << o.name << " = " << end;
    const std::string beyond = std::to_string(std::stoul(o.values.substr(dash + 1)) + 1);
    EXPECT_FALSE(parse(std::string(o.name) + " = " + beyond, "f")) << o.name << " = " << beyond;
  }
}

TEST(ConfigFile, ChassisIdIsAMacAddressOrALocalName) {
  for (const char* text : {"02:00:00:00:00:0a", "02-00-00-00-00-0a"}) {
    const auto config = parse(std::string("chassis-id = ") + text, "f");
    ASSERT_TRUE(config) << text;
    EXPECT_EQ(config->core.chassis_id, chassis_id_from_mac({2, 0, 0, 0, 0, 10})) << text;
  }
  const auto local = parse("chassis-id = rack 7, unit 12", "f");
  ASSERT_TRUE(local && local->core.chassis_id);
  EXPECT_EQ(local->core.chassis_id->subtype, ChassisId::kLocal);
  EXPECT_EQ(local->core.chassis_id->octets, "rack 7, unit 12");
  EXPECT_TRUE(parse("chassis-id = " + std::string(255, 'x'), "f"));
  EXPECT_THAT(texts(parse("chassis-id = " + std::string(256, 'x'), "f").error()),
              ElementsAre("f:1: chassis-id: longer than 255 characters: shorten it"));
}

TEST(ConfigFile, LocalChassisIdMayHaveColons) {
  for (const char* text : {"pod1:rack2:leaf3", "a-b-c-d-e-fgh", "1:2:3:4:5", "1:2:3:4:5:6:7"}) {
    const auto config = parse(std::string("chassis-id = ") + text, "f");
    ASSERT_TRUE(config) << text;
    EXPECT_EQ(config->core.chassis_id->octets, text);
  }
}

TEST(ConfigFile, PortsAreWantedAndLeftOut) {
  auto config = parse("ports = swp*, -swp48,!eth?\n", "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_THAT(config->ports.wanted, ElementsAre("swp*"));
  EXPECT_THAT(config->ports.unwanted, ElementsAre("swp48", "eth?"));
  config = parse("ports = -eth0\n", "f");  // all but this one
  ASSERT_TRUE(config);
  EXPECT_THAT(config->ports.wanted, ElementsAre());
  EXPECT_THAT(config->ports.unwanted, ElementsAre("eth0"));
  EXPECT_TRUE(parse("ports = enp123s0f0np0v1*", "f")) << "fifteen characters, and more by *";
}

TEST(ConfigFile, EveryPortHasItsAdminStatus) {
  using core::AdminStatus;
  const auto config = parse(
      "port.swp1.admin = rxtx\nport.swp2.admin = tx\nport.eth0.100.admin = rx\n"
      "[port]\nEthernet4.admin = off\n",
      "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  const std::map<std::string, AdminStatus, std::less<>> want{
      {"swp2", AdminStatus::enabledTxOnly},
      {"eth0.100", AdminStatus::enabledRxOnly},
      {"Ethernet4", AdminStatus::disabled}};
  EXPECT_EQ(config->admin, want);
  EXPECT_THAT(
      texts(parse("port.a.admin = tx\nport.b.admin = tx\nport.a.admin = rx\n", "f").error()),
      ElementsAre("f:3: port.a.admin: set before in line 1: remove one"));
}

TEST(ConfigFile, PortsHaveLayers) {
  const auto config = parse("port.swp1.layers = 3:4\n[port.swp2]\nlayers = 3:2\n", "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  const std::map<std::string, Layers, std::less<>> want{{"swp1", {Layer::of<3>(), Layer::of<4>()}},
                                                        {"swp2", {Layer::of<3>(), Layer::of<2>()}}};
  EXPECT_EQ(config->layers, want);
  EXPECT_TRUE(config->core.layered);
  EXPECT_FALSE(parse("", "f")->core.layered);
}

// Linux takes nearly any octet in the name of an interface.
TEST(Config, NameOfAPortIsWrittenWithOctetsWhereItCannotBeTyped) {
  const auto good = parse(
      "ports = x\\x23a,swp*,-\\x2dx\nhost-ports = x\\x2c\nport.x\\x23a.unheard = ok\n"
      "port.x\\x2a.crosslink = yes\n[port.x\\x1b\\x3d]\nadmin = off\n",
      "f");
  ASSERT_TRUE(good) << to_string(good.error().front());
  EXPECT_THAT(good->unheard_ok, ElementsAre("x#a"));
  EXPECT_THAT(good->crosslink_ok, ElementsAre("x*"));
  EXPECT_TRUE(good->admin.contains("x\x1b="));
  EXPECT_TRUE(good->ports.excludes("-x"));
  EXPECT_THAT(named_ports(*good), ElementsAre(Pair("x#a", "ports"), Pair("x,", "host-ports")));
  // The same name in two spellings is one key.
  EXPECT_THAT(texts(parse("port.a.admin = tx\nport.\\x61.admin = rx\n", "f").error()),
              ElementsAre("f:2: port.\\\\x61.admin: set before in line 1: remove one"));
  const std::vector<Setting> all = settings(*good);
  EXPECT_THAT(all, Contains(Field(&Setting::key, "port.x\\x1b\\x3d.admin")));
}

TEST(ConfigFile, EveryPortHasItsDescription) {
  const auto config = parse(
      "lldp.port-id = alias\n[port.swp1]\ndescription = to spine1, \"x\"\nadmin = rx\n"
      "[port.eth0.100]\ndescription = y\n",
      "f");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->description, (std::map<std::string, std::string, std::less<>>{
                                     {"swp1", "to spine1, \"x\""}, {"eth0.100", "y"}}));
  EXPECT_EQ(config->admin.size(), 1U);
  EXPECT_EQ(config->port_id, PortIdKind::kAlias);
  EXPECT_FALSE(parse("port.swp*.description = x\n", "f"));
  EXPECT_FALSE(parse("port.swp1.description = " + std::string(256, 'x') + "\n", "f"));
}

TEST(ConfigFile, CustomTlvsAreTakenInTheOrderGiven) {
  const auto config = parse("tlv.custom = 00-11-22,1,c0ffee 00:11:22,255,\n", "f");
  ASSERT_TRUE(config) << to_string(config.error().front());
  EXPECT_EQ(config->core.custom_tlvs,
            (std::vector<core::CustomTlv>{{{0x00, 0x11, 0x22}, 1, {0xc0, 0xff, 0xee}},
                                          {{0x00, 0x11, 0x22}, 255, {}}}));
  for (const std::string wrong :
       {"", "x", "00-11-22,1", "00-11,1,00", "00-11-22,256,00", "00-11-22,,00", "00-11-22,-1,00",
        "00-11-22,1,0", "00-11-22,1,zz", "00-80-c2,1,00", "00-11-22,1,00 00-11-22,1,01"})
    EXPECT_FALSE(parse("tlv.custom = " + wrong + "\n", "f")) << wrong;
  EXPECT_TRUE(parse("tlv.custom = 00-11-22,1," + std::string(1014, 'a') + "\n", "f"));
  EXPECT_FALSE(parse("tlv.custom = 00-11-22,1," + std::string(1016, 'a') + "\n", "f"));
}

TEST(ConfigFile, ByteOrderMarkIsPassedOver) {
  const auto config = parse("\xef\xbb\xbfrole = switch\n", "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(config->role, Role::kSwitch);
  EXPECT_FALSE(parse("role = switch\n\xef\xbb\xbflevel = 2\n", "f")) << "not at the beginning";
}

TEST(ConfigFile, AHookIsAtMost4096CharactersLong) {
  EXPECT_TRUE(parse("on-change = " + std::string(4096, 'x'), "f"));
  EXPECT_THAT(texts(parse("on-change = " + std::string(4097, 'x'), "f").error()),
              ElementsAre("f:1: on-change: longer than 4096 characters: shorten it"));
}

TEST(ConfigFile, ScopesAreTakenInTheOrderGiven) {
  const auto config = parse("[lldp]\nscopes = nearest-customer-bridge, nearest-bridge", "f");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->core.scopes,
              ElementsAre(core::Scope::kNearestCustomerBridge, core::Scope::kNearestBridge));
}

TEST(ConfigFile, ClassesBecomeAPolicy) {
  const auto config = parse("[qos]\nlossless = 3:dscp26, 4:dscp30\nlossy = 1:dscp8\n", "f");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->policy, *qos::Policy::parse("3:dscp26,4:dscp30", "1:dscp8"));
}
}  // namespace
}  // namespace lldp::config
