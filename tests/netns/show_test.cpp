// SPDX-License-Identifier: Apache-2.0
// What is shown and sent, held against a real lldpd on the same wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/netns/lldpd.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Wire : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    if (::access("/usr/sbin/lldpd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/lldpd here";
    a_.emplace();
    b_.emplace();
  }
  [[nodiscard]] static std::string shown(const Agent& agent, std::vector<std::string> options) {
    std::vector<std::string> command{support::program("lldp-level"), "--socket", agent.socket(),
                                     "show"};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }
  /// What lldpctl prints of whom `listener` hears, in each of its formats, once `all` is in it.
  static void expect_as_lldpctl(const Agent& agent, const Lldpd& listener,
                                const std::vector<std::string>& all);

  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
};

/// The two clocks began apart.
std::string without_age(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\d+ days?, \d\d:\d\d:\d\d)"), "AGE");
}

constexpr const char* kRich =
    "configure system description \"a <rich> & \\\"quoted\\\" one\"\n"
    "configure med location elin 911\n"
    "configure med location address country DE city Ulm street \"Am Markt\"\n"
    "configure med policy application voice tagged vlan 500 priority voice dscp 46\n"
    "configure med power pse source primary priority high value 5000\n"
    "configure dot3 power pse supported enabled paircontrol powerpairs spare class class-3 type 1 "
    "source primary priority high requested 10000 allocated 15000\n"
    "configure ports p1 dot3 power pd supported powerpairs signal class class-2 type 2 source pse "
    "priority low requested 100 allocated 200\n"
    "configure ports p1 med power pd source both priority low value 100\n"
    "configure lldp custom-tlv oui 33,44,55 subtype 254 oui-info 55,AA\n"
    "configure lldp custom-tlv oui 33,44,66 subtype 0\n"
    // What lldpd says of VLANs where it has some: port VLAN 77, a protocol's, a name, an identity.
    "configure lldp custom-tlv add oui 00,80,C2 subtype 1 oui-info 00,4D\n"
    "configure lldp custom-tlv add oui 00,80,C2 subtype 2 oui-info 06,00,4E\n"
    "configure lldp custom-tlv add oui 00,80,C2 subtype 3 oui-info 00,4D,04,62,6C,75,65\n"
    "configure lldp custom-tlv add oui 00,80,C2 subtype 3 oui-info 00,4F,03,72,65,64\n"
    "configure lldp custom-tlv add oui 00,80,C2 subtype 4 oui-info 02,88,CC\n";

void Wire::expect_as_lldpctl(const Agent& agent, const Lldpd& listener,
                             const std::vector<std::string>& all) {
  for (const char* format : {"plain", "keyvalue", "json", "json0", "xml"}) {
    std::string theirs;
    std::string ours;
    const auto equal = [&] {
      theirs = without_age(listener.neighbors(format));
      ours = without_age(shown(agent, {"--as", std::string("lldpctl-") + format}));
      return ours == theirs && std::ranges::all_of(all, [&](const std::string& part) {
               return ours.find(part) != ours.npos;
             });
    };
    EXPECT_TRUE(eventually(equal)) << format << "\n" << theirs << "\n" << ours;
  }
}

TEST_F(Wire, WhatLldpctlPrintsIsPrintedToTheLastOctetFor64Neighbors) {
  constexpr std::size_t kPorts = 64;
  join(*a_, *b_, kPorts);
  b_->ip("addr add 192.0.2.7/24 dev p0");
  const Agent agent(*a_, {"--transport", "packet"});
  Lldpd listener(*a_);
  listener.start({"-r"});
  ASSERT_TRUE(eventually([&] { return ::access(listener.socket().c_str(), F_OK) == 0; }));
  Lldpd rich(*b_, kRich);
  rich.start({"-M", "4"});
  expect_as_lldpctl(agent, listener, {"p63", "ELIN", "blue"});
}

constexpr const char* kOdd =
    // LLDP-MED's capabilities, which are the device's to lldpd, are the same everywhere. A civic
    // location that is as long as it says, that goes on, that is cut; an element that is.
    "configure ports p0 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p0 lldp custom-tlv add oui 00,12,BB subtype 3 oui-info "
    "02,08,01,44,45,03,03,55,6C,6D\n"
    "configure ports p1 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p1 lldp custom-tlv add oui 00,12,BB subtype 3 oui-info "
    "02,03,01,44,45,03,03,55,6C,6D\n"
    "configure ports p2 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p2 lldp custom-tlv add oui 00,12,BB subtype 3 oui-info "
    "02,09,01,44,45,03,03,55,6C,6D\n"
    "configure ports p3 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p3 lldp custom-tlv add oui 00,12,BB subtype 3 oui-info "
    "02,08,01,44,45,03,04,55,6C,6D\n"
    // A number for emergency calls that is empty.
    "configure ports p4 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p4 lldp custom-tlv add oui 00,12,BB subtype 3 oui-info 03\n"
    // A VLAN without a name, a protocol's without a number, a protocol without an identity.
    "configure ports p5 lldp custom-tlv add oui 00,12,BB subtype 1 oui-info 00,3F,04\n"
    "configure ports p5 lldp custom-tlv add oui 00,80,C2 subtype 3 oui-info 00,05,00\n"
    "configure ports p5 lldp custom-tlv add oui 00,80,C2 subtype 2 oui-info 00,00,00\n"
    "configure ports p5 lldp custom-tlv add oui 00,80,C2 subtype 4 oui-info 00\n"
    "configure ports p5 lldp custom-tlv add oui FE,FF,FF subtype 255 oui-info 00\n";

TEST_F(Wire, WhatIsOddInATlvIsPrintedAsLldpctlPrintsIt) {
  join(*a_, *b_, 6);
  const Agent agent(*a_, {"--transport", "packet"});
  Lldpd listener(*a_);
  listener.start({"-r"});
  ASSERT_TRUE(eventually([&] { return ::access(listener.socket().c_str(), F_OK) == 0; }));
  Lldpd odd(*b_, kOdd);
  odd.start();
  expect_as_lldpctl(agent, listener, {"DE", "p5", "FE,FF,FF"});
}

/// lldp-level under the name of one of lldpd's clients.
class AsLldpdClient {
 public:
  explicit AsLldpdClient(const Agent& agent) : agent_(agent) {
    for (const char* name : {"lldpctl", "lldpcli"})
      std::filesystem::create_symlink(support::program("lldp-level"), files_.file(name));
  }
  [[nodiscard]] std::string prints(std::vector<std::string> words) const {
    words[0] = files_.file(words[0]);
    words.insert(words.begin() + 1, {"-u", agent_.socket()});
    return run(words);
  }

 private:
  const Agent& agent_;
  TemporaryDirectory files_{};
};

TEST_F(Wire, AnswersToTheNamesOfLldpdsClients) {
  join(*a_, *b_, 2);
  const Agent agent(*a_, {"--transport", "packet"});
  Lldpd listener(*a_);
  listener.start({"-r"});
  ASSERT_TRUE(eventually([&] { return ::access(listener.socket().c_str(), F_OK) == 0; }));
  Lldpd rich(*b_, kRich);
  rich.start({"-M", "4"});
  const AsLldpdClient client(agent);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"lldpctl"},
           {"lldpctl", "-f", "json"},
           {"lldpctl", "-f", "json", "p1"},
           {"lldpcli", "show", "neighbors"},
           {"lldpcli", "show", "neighbors", "-f", "json0"},
           {"lldpcli", "-f", "json", "sh", "nei", "summary"},
           {"lldpcli", "-f", "keyvalue", "show", "neighbors", "ports", "p1", "details"}}) {
    std::vector<std::string> real = words;
    real[0] = "/usr/sbin/" + words[0];
    real.insert(real.begin() + 1, {"-u", listener.socket()});
    std::string theirs;
    std::string ours;
    const auto equal = [&] {
      theirs = without_age(run(real));
      ours = without_age(client.prints(words));
      return ours == theirs && ours.find("p1") != ours.npos;
    };
    EXPECT_TRUE(eventually(equal)) << testing::PrintToString(words) << "\n"
                                   << theirs << "\n"
                                   << ours;
  }
}

// What SONiC's lldp_syncd asks for beside the neighbors.
TEST_F(Wire, ShowsTheChassisThatItAnnounces) {
  join(*a_, *b_);
  a_->ip("addr add 192.0.2.8/24 dev p0");
  Lldpd listener(*b_);
  listener.start({"-r"});
  ASSERT_TRUE(eventually([&] { return ::access(listener.socket().c_str(), F_OK) == 0; }));
  const Agent agent(*a_, {"--transport", "packet", "--system-name", "leaf7"});
  const AsLldpdClient client(agent);
  nlohmann::json heard;
  nlohmann::json own;
  const auto equal = [&] {
    heard = nlohmann::json::parse(listener.neighbors("json"), nullptr, false);
    own = nlohmann::json::parse(client.prints({"lldpcli", "-f", "json", "show", "chassis"}),
                                nullptr, false);
    return heard.is_object() && own.is_object() &&
           own["local-chassis"]["chassis"] == heard["lldp"]["interface"]["p0"]["chassis"];
  };
  EXPECT_TRUE(eventually(equal)) << heard.dump(1) << own.dump(1);
  EXPECT_EQ(own["local-chassis"]["chassis"]["leaf7"]["id"]["type"], "mac");
}

TEST_F(Wire, TellsSpeedMtuAndRailOfItsPorts) {
  join(*a_, *b_);
  a_->ip("link set p0 mtu 9000");
  const Agent agent(*a_, {"--transport", "packet", "--port.p0.rail", "compute"});
  nlohmann::json port;
  EXPECT_TRUE(eventually([&] {
    const auto show = nlohmann::json::parse(shown(agent, {"--json"}), nullptr, false);
    if (!show.is_object() || show["ports"].empty()) return false;
    port = show["ports"][0];
    return port["up"] == true && port["mtu"] == 9000;
  })) << port;
  EXPECT_EQ(port["speed_mbps"], 10000) << "as veth says";
  EXPECT_EQ(port["rail"], "compute");
}

/// The first value of each key of one neighbor, of `lldpctl -f keyvalue`.
std::map<std::string, std::string> fields_of(const std::string& text, const std::string& port_id) {
  std::map<std::string, std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    const std::string key = line.substr(0, equals);
    if (key == "lldp.p0.via") {
      if (out["lldp.p0.port." + port_id] != "") return out;
      out.clear();
    }
    out.try_emplace(key, line.substr(equals + 1));
  }
  return out;
}

TEST_F(Wire, WhatIsSentIsWhatLldpdSends) {
  join(*a_, *b_);
  a_->ip("addr add 192.0.2.8/24 dev p0");
  Lldpd listener(*b_);
  listener.start({"-r"});
  const Agent agent(*a_, {"--transport", "packet", "--ports=p0", "--tlv.custom",
                          "33-44-55,254,55aa 33-44-66,0,"});
  Lldpd theirs(*a_, "configure lldp custom-tlv oui 33,44,55 subtype 254 oui-info 55,AA\n");
  theirs.start();
  std::map<std::string, std::string> us;
  std::map<std::string, std::string> them;
  const auto both = [&] {
    const std::string text = listener.neighbors("keyvalue");
    us = fields_of(text, "ifname");
    them = fields_of(text, "mac");
    return us.contains("lldp.p0.port.ifname") && them.contains("lldp.p0.port.mac");
  };
  ASSERT_TRUE(eventually(both)) << listener.neighbors("keyvalue");
  std::size_t compared = 0;
  for (const auto& [key, value] : them) {
    const bool different =
        key.starts_with("lldp.p0.port.mac") || key.starts_with("lldp.p0.lldp-med") ||
        key.starts_with("lldp.p0.chassis.") || key.starts_with("lldp.p0.unknown-tlvs") ||
        key == "lldp.p0.age" || key == "lldp.p0.port.ttl";
    if (different) continue;  // who we are, and what lldpd alone is: an LLDP-MED device
    ++compared;
    EXPECT_EQ(us[key], value) << key;
  }
  EXPECT_GE(compared, 6U);
  EXPECT_EQ(us["lldp.p0.port.auto-negotiation.current"],
            "10GbaseT - Four-pair Category 6A or better, full duplex mode only");
  EXPECT_EQ(us["lldp.p0.chassis.mgmt-ip"], them["lldp.p0.chassis.mgmt-ip"]);
  EXPECT_EQ(us["lldp.p0.chassis.mac"], them["lldp.p0.chassis.mac"]);
  EXPECT_THAT(listener.neighbors("keyvalue"),
              HasSubstr("unknown-tlv.oui=33,44,66\nlldp.p0.unknown-tlvs.unknown-tlv.subtype=0\n"
                        "lldp.p0.unknown-tlvs.unknown-tlv.len=0\n"));
  // With an alias lldpd takes the name for the port ID, as we do: alone, not to be taken for it.
  theirs.stop();
  a_->ip("link set p0 alias uplink");
  EXPECT_TRUE(eventually([&] {
    return listener.neighbors("keyvalue").find("port.descr=uplink\n") != std::string::npos;
  }));
}

TEST_F(Wire, VlansOfABridgeAreToldAsTheyChange) {
  join(*a_, *b_);
  {
    const TemporaryDirectory files;
    Process made(a_->inside({"ip", "link", "add", "br0", "type", "bridge", "vlan_filtering", "1"}),
                 files.file("output"));
    if (made.wait() != 0) GTEST_SKIP() << "bridges of this kernel heed no VLANs";
  }
  a_->ip("link set p0 master br0");
  const Agent agent(*a_, {"--transport", "packet", "--ports=p0"});
  const Agent peer(*b_, {"--transport", "packet", "--ports=p0"});
  const auto hears = [&](const std::string& what) {
    return eventually([&] {
      return shown(peer, {"detail", "--format", "keyvalue"}).find(what) != std::string::npos;
    });
  };
  const auto bridge = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "bridge");
    run(a_->inside(std::move(words)));
  };
  EXPECT_TRUE(hears(".vid=1\n"));
  bridge({"vlan", "add", "dev", "p0", "vid", "100-103"});
  EXPECT_TRUE(hears(".vlan-name=vlan103\n"));
  bridge({"vlan", "add", "dev", "p0", "vid", "44", "pvid", "untagged"});
  EXPECT_TRUE(hears("name=port-vlan\nports.p0.neighbors.0.tlvs.12.vid=44\n"));
  a_->ip("link set p0 nomaster");
  EXPECT_TRUE(eventually([&] {
    return shown(peer, {"detail", "--format", "keyvalue"}).find("vlan") == std::string::npos;
  }));
}

}  // namespace
}  // namespace lldp::netns
