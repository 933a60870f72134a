// SPDX-License-Identifier: Apache-2.0
// What is shown and sent, held against a real lldpd on the same wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

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
  for (const char* format : {"keyvalue", "json0", "xml"}) {
    std::string theirs;
    std::string ours;
    const auto equal = [&] {
      theirs = without_age(listener.neighbors(format));
      ours = without_age(shown(agent, {"--as", std::string("lldpctl-") + format}));
      return ours == theirs && ours.find("p63") != ours.npos && ours.find("ELIN") != ours.npos &&
             ours.find("blue") != ours.npos;
    };
    EXPECT_TRUE(eventually(equal, 20s)) << format << "\n" << theirs << "\n" << ours;
  }
}

}  // namespace
}  // namespace lldp::netns
