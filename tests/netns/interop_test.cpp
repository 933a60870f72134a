// SPDX-License-Identifier: Apache-2.0
// Beside the other LLDP agents of a Debian machine, in both directions, with every field that they
// show; lldpd has tests of its own.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Interoperation : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    ours_.emplace();
    theirs_.emplace();
    join(*ours_, *theirs_);
    theirs_->ip("addr add 192.0.2.1/24 dev p0");
    ours_->ip("link set p0 alias to-the-other");
    ours_->ip("addr add 192.0.2.2/24 dev p0");
    leaf_.emplace(*ours_,
                  std::vector<std::string>{"--role", "switch", "--level", "1", "--lldp.tx-interval",
                                           "1", "--lldp.tx-hold", "9"});
  }
  void TearDown() override { leaf_.reset(); }

  /// The TLVs that the leaf heard, once the last of them is there.
  [[nodiscard]] json heard(std::string_view last) const {
    json tlvs;
    EXPECT_TRUE(eventually([&] {
      const json show = json::parse(run({support::program("lldp-level"), "show", "detail", "--json",
                                         "--socket", leaf_->socket()}));
      tlvs = json::object();
      for (const json& neighbor : show["ports"][0]["neighbors"])
        for (const json& tlv : neighbor["tlvs"]) tlvs[tlv["name"].get<std::string>()] = tlv;
      return tlvs.contains(last);
    })) << tlvs.dump(1);
    for (json& tlv : tlvs) tlv.erase("name");
    return tlvs;
  }
  [[nodiscard]] std::string address(const Namespace& space) const {
    const std::string said = space.ip("-br link show p0");
    return said.substr(said.find(':') - 2, 17);
  }

  std::optional<Namespace> ours_;
  std::optional<Namespace> theirs_;
  std::optional<Agent> leaf_;
};

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

TEST_F(Interoperation, Networkd) {
  constexpr const char* kProgram = "/lib/systemd/systemd-networkd";
  if (::access(kProgram, X_OK) != 0) GTEST_SKIP() << "no systemd-networkd here";
  const TemporaryDirectory files;
  std::ofstream(files.file("10-p0.network"))
      << "[Match]\nName=p0\n[Network]\nLLDP=yes\nEmitLLDP=yes\nLinkLocalAddressing=no\n"
         "KeepConfiguration=yes\n[LLDP]\nMUDURL=https://example.com/mud\n";
  // Where /sys can be written, it waits for udev.
  const std::string script = fmt::format(
      "mount -t tmpfs none /run && mount -o remount,ro /sys && "
      "mkdir -p /run/systemd/network /run/dbus && cp {} /run/systemd/network/ && exec {}",
      files.file("10-p0.network"), kProgram);
  Process networkd(theirs_->inside({"unshare", "--mount", "sh", "-c", script}), files.file("log"));

  std::ifstream in("/etc/machine-id");
  std::string machine;
  in >> machine;
  const json tlvs = heard("system-capabilities");
  EXPECT_EQ(tlvs["chassis-id"], (json{{"subtype", "local"}, {"id", machine}})) << tlvs.dump(1);
  EXPECT_EQ(tlvs["port-id"], (json{{"subtype", "interface-name"}, {"id", "p0"}}));
  EXPECT_EQ(tlvs["ttl"], (json{{"seconds", 120}}));
  EXPECT_EQ(tlvs["system-name"]["text"], host_name());
  EXPECT_EQ(tlvs["system-capabilities"]["enabled"], (json{"station"}));
  EXPECT_THAT(tlvs.dump(), HasSubstr("68747470733a2f2f6578616d706c652e636f6d2f6d7564"));  // the URL
  EXPECT_EQ(leaf_->port("p0")["type"], "downlink") << "a host";

  // networkctl(1) asks by a system bus, so there is to be one.
  std::ofstream(files.file("bus.conf"))
      << R"(<busconfig><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>)"
         R"(<policy context="default"><allow send_destination="*" eavesdrop="true"/>)"
         R"(<allow eavesdrop="true"/><allow own="*"/></policy></busconfig>)";
  const auto beside_it = [&](std::vector<std::string> command) {
    command.insert(command.begin(),
                   {"nsenter", "-t", std::to_string(networkd.pid()), "--mount", "--net"});
    return command;
  };
  const Process bus(
      beside_it({"dbus-daemon", "--config-file=" + files.file("bus.conf"), "--nofork"}),
      files.file("bus"));
  // LINK CHASSIS-ID SYSTEM-NAME CAPS PORT-ID PORT-DESCRIPTION
  std::vector<std::string> words;
  EXPECT_TRUE(eventually([&] {
    const TemporaryDirectory out;
    Process row(beside_it({"networkctl", "--no-pager", "--no-legend", "--full", "lldp"}),
                out.file("out"));
    if (row.wait() != 0) return false;
    std::istringstream said(row.output());
    words.assign(std::istream_iterator<std::string>(said), {});
    return words.size() >= 6;
  })) << networkd.output()
      << bus.output();
  ASSERT_GE(words.size(), 6U);
  EXPECT_THAT(words, testing::ElementsAre("p0", address(*ours_), ours_->name(), HasSubstr("b"),
                                          "p0", "to-the-other"));
}

TEST_F(Interoperation, Lldpad) {
  constexpr const char* kProgram = "/usr/sbin/lldpad";
  if (::access(kProgram, X_OK) != 0) GTEST_SKIP() << "no lldpad here";
  const TemporaryDirectory files;
  // Its control socket has an abstract name, which is the network namespace's.
  const std::string script =
      fmt::format("mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && exec {} -p -f {}",
                  kProgram, files.file("conf"));
  Process lldpad(theirs_->inside({"unshare", "--mount", "sh", "-c", script}), files.file("log"));
  const auto tool = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "lldptool");
    const TemporaryDirectory out;
    Process it(theirs_->inside(std::move(words)), out.file("out"));
    return it.wait() == 0 ? it.output() : std::string();
  };
  ASSERT_TRUE(eventually([&] {
    return !tool({"set-lldp", "-i", "p0", "adminStatus=rxtx"}).empty();
  })) << lldpad.output();
  for (const char* tlv :
       {"sysName", "portDesc", "sysDesc", "sysCap", "mngAddr", "macPhyCfg", "MTU"})
    EXPECT_NE(tool({"set-tlv", "-i", "p0", "-V", tlv, "enableTx=yes"}), "") << tlv;

  const std::string mac = address(*theirs_);
  const json tlvs = heard("max-frame-size");
  EXPECT_EQ(tlvs["chassis-id"], (json{{"subtype", "mac-address"}, {"id", mac}})) << tlvs.dump(1);
  EXPECT_EQ(tlvs["port-id"], (json{{"subtype", "mac-address"}, {"id", mac}}));
  EXPECT_EQ(tlvs["ttl"]["seconds"], 120);
  EXPECT_THAT(tlvs["port-description"]["text"], HasSubstr("as p0"));
  EXPECT_EQ(tlvs["system-name"]["text"], host_name());
  EXPECT_THAT(tlvs["system-description"]["text"], HasSubstr("Linux"));
  EXPECT_EQ(tlvs["system-capabilities"]["enabled"], (json{"station"}));
  EXPECT_EQ(tlvs["management-address"]["address"], "192.0.2.1");
  EXPECT_EQ(tlvs["mac-phy"]["autoneg-supported"], false);
  EXPECT_EQ(tlvs["max-frame-size"]["octets"], 1518);
  EXPECT_EQ(leaf_->port("p0")["type"], "downlink") << "a host";

  std::string shown;
  EXPECT_TRUE(eventually([&] {
    shown = tool({"get-tlv", "-n", "-i", "p0"});
    return shown.find("End of LLDPDU") != shown.npos;
  })) << lldpad.output();
  EXPECT_THAT(
      shown,
      AllOf(HasSubstr("Chassis ID TLV\n\tMAC: " + address(*ours_)),
            HasSubstr("Port ID TLV\n\tIfname: p0\n"), HasSubstr("Time to Live TLV\n\t10\n"),
            HasSubstr("OUI: 0x0080c2, Subtype: 20, Info: 010101"),  // switch, level 1, downlink
            HasSubstr("OUI: 0x024c56, Subtype: 1, Info: "),
            HasSubstr("Enabled capabilities: Bridge"),
            HasSubstr("System Name TLV\n\t" + ours_->name() + "\n")));
  EXPECT_THAT(shown, AllOf(HasSubstr("Port Description TLV\n\tto-the-other\n"),
                           HasSubstr("Management Address TLV\n\tIPv4: 192.0.2.2\n\tIfindex: 2\n"),
                           HasSubstr("Link Aggregation TLV\n\tAggregation capable\n\tCurrently not "
                                     "aggregated\n"),
                           HasSubstr("Maximum Frame Size TLV\n\t1514\n"),
                           HasSubstr("MAC/PHY Configuration Status TLV\n\tAuto-negotiation not "
                                     "supported and not enabled\n"),
                           HasSubstr("System Description TLV\n\t")));
}

}  // namespace
}  // namespace lldp::netns
