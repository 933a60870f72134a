// SPDX-License-Identifier: Apache-2.0
// LLDP-MIB, walked through a real snmpd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
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

/// snmpd in a namespace, with an AgentX socket of its own for everybody.
class Snmpd {
 public:
  Snmpd(const Namespace& space, int port) : space_(space), port_(port) {
    std::ofstream(files_.file("conf"))
        << "rocommunity public 127.0.0.1\nmaster agentx\nagentXSocket " << master()
        << "\nagentXPerms 0777 0777\nagentAddress udp:127.0.0.1:" << port_ << "\n";
    start();
  }
  void start() {
    process_.reset();
    process_.emplace(
        space_.inside({"env", "SNMP_PERSISTENT_DIR=" + files_.file("state"), "/usr/sbin/snmpd",
                       "-f", "-Lo", "-C", "-c", files_.file("conf"), "-I", "-smux"}),
        files_.file("log"));
  }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  [[nodiscard]] std::string master() const { return files_.file("agentx"); }
  /// All of lldpMIB, by what stands behind it in the identifiers.
  [[nodiscard]] std::map<std::string, std::string> walk() const {
    const TemporaryDirectory files;
    Process walk(space_.inside({"snmpwalk", "-v2c", "-cpublic", "-m", "", "-On", "-Ox", "-r0",
                                "127.0.0.1:" + std::to_string(port_), "1.0.8802.1.1.2"}),
                 files.file("out"));
    walk.wait();
    std::map<std::string, std::string> out;
    std::istringstream in(walk.output());
    constexpr std::string_view kRoot = ".1.0.8802.1.1.2.";
    for (std::string line; std::getline(in, line);)
      if (const auto equals = line.find(" = ");
          line.starts_with(kRoot) && equals != line.npos && line.find("No Such") == line.npos)
        out[line.substr(kRoot.size(), equals - kRoot.size())] = line.substr(equals + 3);
    return out;
  }

 private:
  const Namespace& space_;
  int port_;
  TemporaryDirectory files_;
  std::optional<Process> process_{};
};

class Agentx : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    if (::access("/usr/sbin/snmpd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/snmpd here";
    a_.emplace();
    b_.emplace();
  }
  static bool is_out_of_reach(const Agent& agent) {
    return agent.log().find("cannot be run: Permission denied") != std::string::npos;
  }
  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
};

/// An LLDPDU of a device whose management address has an object identifier.
std::vector<std::uint8_t> with_an_oid() {
  return {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02, 0,  0,    0, 0, 0x33,  // to, from
          0x88, 0xcc,                                                      //
          0x02, 7,    4,    0x02, 0,    0,    0,    0,  0x33,              // chassis ID
          0x04, 3,    7,    'o',  '1',                                     // port ID
          0x06, 2,    0,    120,                                           // time to live
          0x10, 18,   5,    1,    192,  0,    2,    51,                    // an address,
          2,    0,    0,    0,    9,                                       // ifIndex 9,
          6,    0x2b, 6,    1,    4,    1,    9,                           // 1.3.6.1.4.1.9
          0,    0};
}

TEST_F(Agentx, AnswersThroughSnmpdAndAgainAfterItsRestart) {
  constexpr std::size_t kPorts = 8;
  join(*a_, *b_, kPorts);
  Snmpd snmpd(*a_, 10161);
  const Agent peer(*b_, {"--transport", "packet", "--role", "switch"});
  Agent agent(*a_, {"--transport", "packet", "--role", "switch", "--snmp.agentx", snmpd.master()});
  std::map<std::string, std::string> seen;
  const auto whole = [&] {
    send(*b_, with_an_oid());
    seen = snmpd.walk();
    const auto names = std::count_if(seen.begin(), seen.end(), [](const auto& object) {
      return object.first.starts_with("1.4.1.1.9.0.") && object.second != "\"\"";
    });
    return names == kPorts || is_out_of_reach(agent);
  };
  ASSERT_TRUE(eventually(whole)) << agent.log();
  if (is_out_of_reach(agent)) GTEST_SKIP() << "nobody may not enter the build directory";
  EXPECT_THAT(seen["1.3.3.0"], HasSubstr("Hex-STRING"));
  EXPECT_EQ(seen["1.3.1.0"], "INTEGER: 4");
  for (const auto& [object, value] : seen) {
    if (object.starts_with("1.2.6.1.2.")) {  // lldpStatsTxPortFramesTotal
      EXPECT_THAT(value, testing::StartsWith("Counter32: "));
    }
    if (object.starts_with("1.2.7.1.7.")) {  // lldpStatsRxPortAgeoutsTotal
      EXPECT_THAT(value, testing::StartsWith("Gauge32: "));
    }
  }
  EXPECT_TRUE(seen.contains("1.2.6.1.2.2") && seen.contains("1.2.7.1.7.2"));
  EXPECT_TRUE(std::ranges::any_of(seen, [](const auto& object) {  // lldpRemManAddrOID
    return object.first.starts_with("1.4.2.1.5.0.") && object.first.ends_with(".1.4.192.0.2.51") &&
           object.second == "OID: .1.3.6.1.4.1.9";
  }));
  // Meanwhile the daemon is slow: what it says too late is no reason to go.
  agent.process().signal(SIGSTOP);
  snmpd.kill();
  snmpd.start();
  EXPECT_TRUE(eventually(
      [&] {
        (void)snmpd.walk();
        return agent.log().find("does not answer") != std::string::npos;
      },
      20s))
      << agent.log();
  agent.process().signal(SIGCONT);
  EXPECT_TRUE(eventually(whole, 12s)) << "the library looks every 15 s by itself\n" << agent.log();
  EXPECT_THAT(agent.log(), testing::Not(HasSubstr("hung up")));
}

TEST(AgentxProgram, SaysHowItIsUsed) {
  const TemporaryDirectory files;
  Process subagent({support::program("lldp-level-agentx")}, files.file("log"));
  EXPECT_EQ(subagent.wait(), 2);
  EXPECT_EQ(subagent.output(), "lldp-level-agentx: use: lldp-level-agentx SOCKET|- [MASTER]\n");
}

TEST_F(Agentx, SaysOnceThatTheSnmpAgentIsAway) {
  const TemporaryDirectory files;
  Process subagent({support::program("lldp-level-agentx"), files.file("none"), "tcp:127.0.0.1:1"},
                   files.file("log"));
  const auto said = [&] {
    const std::string log = subagent.output();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find("agentx master", at)) != log.npos; ++at) ++count;
    return count;
  };
  ASSERT_TRUE(eventually([&] { return said() != 0; })) << subagent.output();
  EXPECT_FALSE(eventually([&] { return said() > 1; }, 5s)) << "it looks every 2 s";
}

TEST_F(Agentx, TellsOfNeighborsWhatLldpdTells) {
  if (::access("/usr/sbin/lldpd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/lldpd here";
  join(*a_, *b_);
  b_->ip("addr add 192.0.2.7/24 dev p0");
  Snmpd for_us(*a_, 10161);
  Snmpd for_them(*a_, 10162);
  Agent agent(*a_, {"--transport", "packet", "--snmp.agentx", for_us.master()});
  Lldpd listener(*a_);
  listener.start({"-r", "-x", "-X", for_them.master()});
  ASSERT_TRUE(eventually([&] { return ::access(listener.socket().c_str(), F_OK) == 0; }));
  // Who is not yet listening at its first frame waits for the next.
  Lldpd neighbor(*b_, "configure lldp tx-interval 1\n");
  neighbor.start();
  // The row of the neighbor by its columns: when it came and which one it is differ.
  const auto row = [](const std::map<std::string, std::string>& all) {
    static const std::regex kRow(R"((1\.4\.1\.1\.\d+|1\.4\.2\.1\.\d+)\.\d+\.(\d+)\.\d+(.*))");
    std::map<std::string, std::string> out;
    std::smatch parts;
    for (const auto& [oid, value] : all)
      if (std::regex_match(oid, parts, kRow))
        out[parts[1].str() + "." + parts[2].str() + parts[3].str()] = value;
    return out;
  };
  std::map<std::string, std::string> ours;
  std::map<std::string, std::string> theirs;
  const auto equal = [&] {
    ours = row(for_us.walk());
    theirs = row(for_them.walk());
    return (!ours.empty() && ours == theirs) || is_out_of_reach(agent);
  };
  const bool became = eventually(equal);
  if (is_out_of_reach(agent)) GTEST_SKIP() << "nobody may not enter the build directory";
  EXPECT_TRUE(became) << testing::PrintToString(ours) << "\n" << testing::PrintToString(theirs);
  EXPECT_GE(ours.size(), 11U);
}

}  // namespace
}  // namespace lldp::netns
