// SPDX-License-Identifier: Apache-2.0
// No OK that is not true: a leaf between two spines, packets that turn there, and what other
// programs and operators do to it. In each situation either the packets are right, or `check` does
// not end with 0. docs/operate/situations.md is made of the table below; the test holds each row of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/bpf/kernel.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/wire.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using dataplane::output_of;
using dataplane::PrivateNet;
using dataplane::sh;
using dataplane::Wire;
using nlohmann::json;
using testing::HasSubstr;

/// A switch with the up ports p0 and p1; at their other ends q0 and q1 stand spines. What comes in
/// by p0 and leaves by p1 turns.
class Fabric {
 public:
  explicit Fabric(const std::string& config = "ports = p0,p1\n") {
    links();
    start_leaf(config);
    start_spines();
  }
  /// On interfaces that are there, and stay.
  struct Keep {};
  Fabric(Keep, const std::string& config) : keeps_(true) {
    start_leaf(config);
    start_spines();
  }
  ~Fabric() {
    if (!keeps_) unlink();
  }

  static void unlink() {
    for (const char* n : {"m0", "m1", "br0", "ifb0", "p0", "p1", "x1", "p2"})
      sh(fmt::format("ip link del {} 2>/dev/null", n));
    std::error_code none;
    std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level", none);
  }
  static void links() {
    unlink();
    for (int i = 0; i < 2; ++i) link(i);
    // The far ends are other machines: what comes out there is not routed back.
    sh("echo 1 >/proc/sys/net/ipv4/conf/all/forwarding; ip link set lo up; for i in 0 1; do echo 0 "
       ">/proc/sys/net/ipv4/conf/q$i/forwarding; done");
    route();
  }
  static void link(int i) {
    ASSERT_TRUE(
        sh(fmt::format("ip link add p{0} address 02:00:00:00:00:0{1} up type veth peer name "
                       "q{0} address 02:00:00:00:00:0{2} && ip link set q{0} up",
                       i, 2 * i + 1, 2 * i + 2)));
  }
  static void route(const std::string& in = "p0", const std::string& out = "p1") {
    ASSERT_TRUE(sh(fmt::format(
        "ip addr replace 192.0.2.254/24 dev {0} && ip addr replace 198.51.100.254/24 dev {1} && ip "
        "neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev {1}",
        in, out)));
  }
  void start_leaf(const std::string& config) {
    start(leaf_, "leaf",
          "level = 1\nchassis-id = leaf\nbackend = bpf\nqos.lossless = 5:dscp43>6:dscp51\n"
          "qos.lossy = 0:dscp0\nbpffs = " +
              PrivateNet::bpffs() + "\n" + config);
  }
  void start_spines() {
    for (int i = 0; i < 2; ++i) start_spine(i);
  }
  void start_spine(int i) {
    start(spines_.at(static_cast<std::size_t>(i)), fmt::format("spine{}", i),
          fmt::format("level = 2\nchassis-id = spine{0}\nports = q{0}\nbackend = none\n"
                      "qos.lossless = 5:dscp43>6:dscp51\n",
                      i));
  }
  std::optional<Process>& leaf() { return leaf_; }
  std::optional<Process>& spine(std::size_t i) { return spines_.at(i); }

  /// So many of these packets leave by p1 in the next class.
  static int right(int packets = 5) {
    const Wire in("q0");
    const Wire out("q1");
    int right = 0;
    const Bytes frame = dataplane::packet::frame4({.dscp = 43});
    const Bytes wanted =
        dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 3);
    for (int i = 0; i < packets; ++i) {
      if (!in.send(frame)) continue;
      const auto got = out.receive(200);
      if (got && *got == wanted) ++right;
    }
    return right;
  }
  static bool is_right() { return right() == 5; }
  json ask(const std::string& what) const {
    return json::parse(output_of(client(what + " --json") + " 2>/dev/null"), nullptr, false);
  }
  int check() const {
    return WEXITSTATUS(std::system((client("check") + " >" + files_.file("check")).c_str()));
  }
  std::string checked() const { return output_of("cat " + files_.file("check")); }
  bool is_fine() const {
    return check() == 0 && checked().find("protection active") != std::string::npos && is_right();
  }
  std::string client(const std::string& what) const {
    return support::program("lldp-level") + " " + what + " --socket " + files_.file("leaf");
  }
  /// The rules have moved to TCX, where the kernel has it.
  static bool is_settled() {
    return output_of("tc filter show dev p0 ingress; tc filter show dev p1 egress")
               .find("lldp-level") == std::string::npos;
  }
  std::string log() const { return leaf_ ? leaf_->output() : ""; }
  std::string leaf_config() const { return files_.file("leaf.conf"); }

 private:
  void start(std::optional<Process>& process, const std::string& name, const std::string& config) {
    std::ofstream(files_.file(name + ".conf"))
        << "role = switch\ntransport = packet\nsocket = " << files_.file(name)
        << "\nstate-file = " << files_.file(name + ".state") << "\nsystem-name = " << name << "\n"
        << config;
    process.reset();
    process.emplace(std::vector<std::string>{support::program("lldp-leveld"), "--config",
                                             files_.file(name + ".conf")},
                    files_.file(name + ".log"));
  }

  const bool keeps_ = false;
  TemporaryDirectory files_;
  std::optional<Process> leaf_;
  std::array<std::optional<Process>, 2> spines_;
};

/// What becomes of the packets, and what `check` says.
enum class Ends {
  kRight,  ///< the packets are right, `check` is 0
  kTold,   ///< the packets are right, and `check` is not 0
  kWrong,  ///< the packets are wrong, and `check` is not 0
};

struct Situation {
  const char* name = "";  ///< what the table calls it
  const char* does = "";  ///< shell
  Ends ends{};
  const char* told = "";    ///< in what `check` says
  const char* undoes = "";  ///< shell; then all is fine again
  bool fresh = false;  ///< of daemons that have not lost rules before: a loss in a row is an alarm
  friend void PrintTo(const Situation& s, std::ostream* os) { *os << s.name; }
};

const Situation kSituations[] = {
    {"nothing is wrong", "", Ends::kRight},
    // filters
    {"a filter before the rules redirects at the ingress (clsact)",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 1 protocol ip u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 1"},
    {"a filter behind the rules redirects out of a port",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 100"},
    {"a filter behind the rules redirects into the ingress of another interface",
     "ip link add ifb0 up type ifb; tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 "
     "ingress pref 100 protocol ip u32 match u32 0 0 action mirred ingress redirect dev ifb0",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 100; ip link del ifb0"},
    {"a filter behind the rules sends a copy out (a mirror port)",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 action mirred egress mirror dev lo",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 100"},
    {"a filter behind the rules ends the ingress with TC_ACT_OK and a class",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 flowid 1:7",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 100"},
    {"the same with a macvlan on the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; tc qdisc add dev p0 clsact "
     "2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip u32 match u32 0 0 flowid 1:7",
     Ends::kTold, "packets that go on by m0 are known",
     "tc filter del dev p0 ingress pref 100; ip link del m0"},
    {"a filter on a macvlan of the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; tc qdisc add dev m0 clsact; tc "
     "filter "
     "add dev m0 ingress pref 9 protocol ip u32 match u32 0 0 flowid 1:7",
     Ends::kTold, "on m0, which stands on this port", "ip link del m0"},
    {"a macvlan on the port", "ip link add link p0 name m0 up type macvlan mode bridge",
     Ends::kRight, "", "ip link del m0"},
    {"a filter behind the rules at the egress ends it with a class",
     "tc qdisc add dev p1 clsact 2>/dev/null; tc filter add dev p1 egress pref 100 protocol ip u32 "
     "match "
     "u32 0 0 flowid 1:7",
     Ends::kRight, "", "tc filter del dev p1 egress pref 100"},
    {"a filter behind the rules redirects at the egress",
     "tc qdisc add dev p1 clsact 2>/dev/null; tc filter add dev p1 egress pref 100 protocol ip u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "remap bypassed", "tc filter del dev p1 egress pref 100"},
    {"a filter of another protocol before the rules",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 1 protocol arp u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 1"},
    {"all filters of a port are deleted",
     "tc filter del dev p0 ingress; tc filter del dev p0 egress; true", Ends::kRight},
    {"the clsact qdisc of a port is deleted", "tc qdisc del dev p0 clsact; true", Ends::kRight},
    {"a root qdisc is configured",
     "tc qdisc replace dev p1 root tbf rate 1gbit burst 1m latency 1s", Ends::kRight, "",
     "tc qdisc del dev p1 root"},
    // XDP
    {"an XDP program on the port that packets come in by",
     "ip link set dev p0 xdpgeneric obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p0 xdpgeneric off"},
    {"an XDP program on the port that packets leave by",
     "ip link set dev p1 xdpgeneric obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p1 xdpgeneric off"},
    {"an XDP program on a macvlan of the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; ip link set dev m0 xdpgeneric obj "
     "$XDP sec xdp",
     Ends::kTold, "on m0, which stands on this port", "ip link del m0"},
    // BPF file system
    {"the links of the rules are removed from the BPF file system",
     "rm -f $BPFFS/lldp-level/*/port-*", Ends::kRight},
    {"the directory of the rules is removed", "rm -rf $BPFFS/lldp-level", Ends::kRight},
    {"--remove-rules beside the daemon", "$LEVELD --remove-rules --config $CONF 2>/dev/null; true",
     Ends::kRight},
    // links
    {"a port loses its carrier and gets it back",
     "ip link set q1 down; sleep 0.2; ip link set q1 up", Ends::kRight},
    {"a port is set down and up, and loses its addresses",
     "ip link set p1 down; ip link set p1 up; ip addr replace 198.51.100.254/24 dev p1; ip neigh "
     "replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1",
     Ends::kRight},
    {"a port gets another MTU", "ip link set p1 mtu 1400", Ends::kRight, "",
     "ip link set p1 mtu 1500"},
    {"a port is renamed and `ports` has its old name",
     "ip link set p1 down; ip link set p1 name x1; ip link set x1 up; ip addr replace "
     "198.51.100.254/24 dev x1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev x1",
     Ends::kWrong, "alarm port-missing p1",
     "ip link set x1 down; ip link set x1 name p1; ip link set p1 up; ip addr replace "
     "198.51.100.254/24 dev p1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1"},
    {"the ports stand in a bridge, whose own address routes",
     "ip addr flush dev p0; ip addr flush dev p1; ip link add br0 address 02:00:00:00:00:03 up "
     "type "
     "bridge; ip link set p0 master br0; ip link set p1 master br0; ip addr add 192.0.2.254/24 dev "
     "br0; ip addr add 198.51.100.254/24 dev br0; ip neigh replace 198.51.100.2 lladdr "
     "02:00:00:00:00:04 dev br0",
     Ends::kRight, "",
     "ip link del br0; ip addr replace 192.0.2.254/24 dev p0; ip addr replace 198.51.100.254/24 "
     "dev "
     "p1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1"},
    {"forwarding derives no priority from the TOS octet",
     "echo 0 >/proc/sys/net/ipv4/ip_forward_update_priority", Ends::kRight, "",
     "echo 1 >/proc/sys/net/ipv4/ip_forward_update_priority"},
    {"the TCX links of the rules are detached by force",
     "for l in $BPFFS/lldp-level/*/port-*; do bpftool link detach pinned $l; done", Ends::kRight,
     "", "", true},
    // daemons
    {"the daemon hangs", "kill -STOP $LEAF_PID", Ends::kTold, "UNKNOWN", "kill -CONT $LEAF_PID"},
    {"the daemon of a neighbor hangs", "kill -STOP $SPINE_PID", Ends::kRight, "",
     "kill -CONT $SPINE_PID"},
    // requests
    {"a port is paused", "$LEVEL pause p1 --socket $SOCKET", Ends::kTold, "alarm silent p1",
     "$LEVEL resume p1 --socket $SOCKET"},
    {"a key is set on request", "$LEVEL set infer.raise-hold 59 --socket $SOCKET", Ends::kTold,
     "alarm set", "$LEVEL reload --socket $SOCKET"},
};

/// docs/operate/situations.md.
std::string page() {
  std::string text =
      "# Situations\n\n"
      "What other programs and operators do to a switch with two up ports, and what becomes of "
      "packets that turn there. Either the packets are\n"
      "right, or `lldp-level check` does not end with 0. This page is made by "
      "`tests/netns/situations_test.cpp`, which runs each situation with\n"
      "packets through it, and then undoes it: all has to be fine again. A situation that the "
      "kernel of the test cannot make is left out there.\n\n"
      "| situation | packets | `check` |\n"
      "|---|---|---|\n";
  for (const Situation& s : kSituations) {
    const char* const packets = s.ends == Ends::kWrong   ? "may be wrong"
                                : s.ends == Ends::kRight ? "right"
                                                         : "right, wrong or lost";
    const std::string told(s.told);
    text +=
        fmt::format("| {} | {} | {} |\n", s.name, packets, told.empty() ? "0" : "not 0: " + told);
  }
  return text;
}

TEST(SituationsPage, IsOfThisTable) { support::expect_golden(page(), "../docs/operate/situations.md"); }

class Situations : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    ::setenv("XDP", LLDP_TEST_XDP, 1);
    ::setenv("BPFFS", PrivateNet::bpffs().c_str(), 1);
    ::setenv("LEVEL", support::program("lldp-level").c_str(), 1);
    ::setenv("LEVELD", support::program("lldp-leveld").c_str(), 1);
  }
  static bool fine(const Fabric& fabric) {
    return eventually([&] { return fabric.is_fine(); }, 30s);
  }
};

/// So long at most a wrong packet may go with a `check` that says OK.
constexpr std::chrono::seconds kUntilTold{15};

TEST_F(Situations, PacketsAreRightOrCheckIsNotZero) {
  std::optional<Fabric> fabric_of;
  const auto begin = [&] {
    fabric_of.reset();
    fabric_of.emplace();
    const std::string client = fabric_of->client("");
    ::setenv("CONF", fabric_of->leaf_config().c_str(), 1);
    ::setenv("SOCKET", client.substr(client.rfind(' ') + 1).c_str(), 1);
    ::setenv("LEAF_PID", std::to_string(fabric_of->leaf()->pid()).c_str(), 1);
    ::setenv("SPINE_PID", std::to_string(fabric_of->spine(1)->pid()).c_str(), 1);
    return fine(*fabric_of);
  };
  ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
  for (const Situation& s : kSituations) {
    SCOPED_TRACE(s.name);
    if (s.fresh) {
      ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
      EXPECT_TRUE(!dataplane::bpf::has_tcx() || eventually([] { return Fabric::is_settled(); }));
    }
    Fabric& fabric = *fabric_of;
    if (!sh(std::string(s.does) + (*s.does == '\0' ? "true" : "") + " 2>/dev/null")) {
      std::printf("this kernel cannot: %s\n", s.name);
      sh(std::string(s.undoes) + " 2>/dev/null; true");
      ASSERT_TRUE(fine(fabric)) << fabric.checked();
      continue;
    }
    bool right = false;
    int check = 0;
    const auto as_told = [&] {
      check = fabric.check();
      right = Fabric::is_right();
      switch (s.ends) {
        case Ends::kRight:
          return right && check == 0;
        case Ends::kTold:
          return check != 0 && fabric.checked().find(s.told) != std::string::npos;
        case Ends::kWrong:
          return check != 0 && !right && fabric.checked().find(s.told) != std::string::npos;
      }
      return false;
    };
    EXPECT_TRUE(eventually(as_told, kUntilTold)) << "packets " << (right ? "right" : "wrong")
                                                 << ", check " << check << ": " << fabric.checked();
    sh(std::string(s.undoes) + (*s.undoes == '\0' ? "true" : "") + " 2>/dev/null");
    ASSERT_TRUE(fine(fabric)) << "it does not heal: " << fabric.checked() << fabric.log();
  }
}

/// A macvlan on p0, by which packets go on to the routes: as a VLAN it meets the rules of p0 first.
TEST_F(Situations, InterfaceOnAPortTakesNoProtectionOffWhetherAGlobOrItsNameMatches) {
  Fabric::links();
  if (!sh("ip link add link p0 name p0m address 02:00:00:00:00:07 up type macvlan mode bridge "
          "2>/dev/null && ip addr flush dev p0 && ip addr add 192.0.2.254/24 dev p0m"))
    GTEST_SKIP() << "this kernel has no macvlan";
  const Bytes frame = dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 43}), 7, 2);
  const Bytes wanted =
      dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 3);
  for (const char* ports : {"p0,p1", "p*", "p0,p1,p0m"}) {
    Fabric fabric(Fabric::Keep{}, fmt::format("ports = {}\n", ports));
    const auto right = [&] {
      const Wire in("q0");
      const Wire out("q1");
      int right = 0;
      for (int i = 0; i < 20 && in.send(frame); ++i)
        if (const auto got = out.receive(200); got == wanted) ++right;
      return right == 20;
    };
    EXPECT_TRUE(eventually(right, kUntilTold)) << ports << fabric.ask("rules").dump(1);
  }
  Fabric::unlink();
}

}  // namespace
}  // namespace lldp::netns
