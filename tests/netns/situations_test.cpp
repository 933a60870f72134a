// SPDX-License-Identifier: Apache-2.0
// No OK that is not true: a leaf between two spines, packets that turn there, and what other
// programs and operators do to it. In each situation either the packets are right, or `check` does
// not end with 0. docs/operate/situations.md is made of the table below; the test holds each row of
// it.
#include "tests/netns/situations.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/lldp_level_shared.h"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/wire.hpp"
#include "tests/netns/refusal.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"
//
#include "pass.skel.h"
#include "probe.skel.h"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
namespace bpf = dataplane::bpf;
using dataplane::output_of;
using dataplane::PrivateNet;
using dataplane::sh;
using dataplane::Wire;
using nlohmann::json;
using testing::HasSubstr;

/// A frame, what it is to become, and what of that counts.
struct Exchange {
  enum class Counts {
    kAll,
    kNoAddress,    ///< all but what a translation of addresses changes
    kOuterHeader,  ///< DSCP and protocol alone
  };
  Bytes frame{};
  Bytes wanted{};
  Counts counts = Counts::kAll;
  Bytes then{};  ///< one that follows it, and what that becomes; empty: none
  Bytes then_wanted{};
};

/// ESP in tunnel mode with the null cipher and no authentication (RFC 4303), around an IPv4 frame:
/// from 192.0.2.2 to 192.0.2.254, with the inner DSCP.
Bytes in_esp(const Bytes& frame, unsigned dscp) {
  const ByteSpan inner = ByteSpan(frame).subspan(14);
  const std::size_t padding = (4 - (inner.size() + 2) % 4) % 4;
  const std::size_t length = 20 + 8 + inner.size() + padding + 2;
  Bytes header;
  dataplane::packet::append(header, {0x45,
                                     dscp << 2,
                                     static_cast<unsigned>(length >> 8),
                                     static_cast<unsigned>(length & 255),
                                     0,
                                     1,
                                     0x40,
                                     0,
                                     64,
                                     50,
                                     0,
                                     0,
                                     192,
                                     0,
                                     2,
                                     2,
                                     192,
                                     0,
                                     2,
                                     254});
  const std::uint16_t sum = dataplane::packet::checksum(header);
  header[10] = static_cast<std::uint8_t>(sum >> 8);
  header[11] = static_cast<std::uint8_t>(sum & 255);
  Bytes out(frame.begin(), frame.begin() + 14);
  dataplane::packet::append(out, header);
  dataplane::packet::append(out, {0, 0, 0, 7, 0, 0, 0, 1});  // SPI and sequence number
  dataplane::packet::append(out, inner);
  for (std::size_t i = 1; i <= padding; ++i) out.push_back(static_cast<std::uint8_t>(i));
  dataplane::packet::append(out, {static_cast<unsigned>(padding), 4});
  return out;
}

Exchange exchange_of(Sent sent) {
  using dataplane::packet::frame4;
  using dataplane::packet::frame6;
  using dataplane::packet::readdressed;
  const auto routed = [](dataplane::packet::Ipv4 from, unsigned dscp) {
    dataplane::packet::Ipv4 to = from;
    to.dscp = dscp;
    to.ttl = 63;
    return Exchange{frame4(from), readdressed(frame4(to), 4, 3)};
  };
  const Exchange usual = routed({.dscp = 43}, 51);
  switch (sent) {
    case Sent::kRouted:
      break;
    case Sent::kBridged:
    case Sent::kBridgedOther:
      return {readdressed(frame4({.dscp = 43}), 4, 2),
              readdressed(frame4({.dscp = sent == Sent::kBridged ? 51U : 10U}), 4, 2)};
    case Sent::kToMacvlan:
      return {readdressed(usual.frame, 7, 2), usual.wanted};
    case Sent::kTagged:
      return {frame4({.dscp = 43}, {{.tci = 100}}), usual.wanted};
    case Sent::kPriorityTagged:
      return {frame4({.dscp = 43}, {{.tci = 0x6000}}), usual.wanted};
    case Sent::kBecomesOther:
      return routed({.dscp = 43}, 10);
    case Sent::kBecomesLossless:
      return routed({.dscp = 0}, 51);
    case Sent::kOfSecond:
      return routed({.dscp = 51}, 0);
    case Sent::kAnyAddress:
      return {.frame = usual.frame, .wanted = usual.wanted, .counts = Exchange::Counts::kNoAddress};
    case Sent::kWithOptions:
      return routed({.dscp = 43, .options = {1, 1, 1, 0}}, 51);
    case Sent::kFragments:
      return routed({.dscp = 43, .fragment = 0x2000}, 51);
    case Sent::kJoined: {
      const auto part = [](unsigned dscp, bool later, unsigned ttl) {
        return frame4({.dscp = dscp, .ttl = ttl, .fragment = later ? 3U : 0x2000U, .payload = 24});
      };
      return {.frame = part(43, false, 64),
              .wanted = readdressed(part(0, false, 63), 4, 3),
              .then = part(51, true, 64),
              .then_wanted = readdressed(part(0, true, 63), 4, 3)};
    }
    case Sent::kWithEcn:
      return routed({.dscp = 43, .ecn = 3}, 51);
    case Sent::kLossy:
      return routed({.dscp = 0}, 0);
    case Sent::kRoutedTwice:
      return {.frame = usual.frame, .wanted = readdressed(frame4({.dscp = 51, .ttl = 62}), 4, 3)};
    case Sent::kEncrypted:
      return {.frame = usual.frame,
              .wanted = in_esp(usual.wanted, 51),
              .counts = Exchange::Counts::kOuterHeader};
    case Sent::kDecrypted:
      return {.frame = in_esp(usual.frame, 43), .wanted = usual.wanted};
    case Sent::kConnection: {
      Exchange e = usual;
      for (Bytes* f : {&e.frame, &e.wanted}) {
        constexpr std::size_t kUdp = 14 + 20;
        const std::size_t length = f->size() - kUdp;
        (*f)[kUdp + 4] = 0;
        (*f)[kUdp + 5] = static_cast<std::uint8_t>(length);
        (*f)[kUdp + 6] = (*f)[kUdp + 7] = 0;  // no checksum
      }
      return e;
    }
    case Sent::kIpv6:
      return {frame6({.dscp = 43}), readdressed(frame6({.dscp = 51, .hops = 63}), 4, 3)};
  }
  return usual;
}

/// Octets that a translation of addresses changes: of IPv4 the checksum and the source, of UDP the
/// ports and the checksum.
bool is_as_wanted(const Bytes& got, const Exchange& e) {
  using Counted = Exchange::Counts;
  if (e.counts == Counted::kAll) return got == e.wanted;
  const auto counts = [&](std::size_t i) {
    if (e.counts == Counted::kOuterHeader) return i == 15 || i == 23;
    return !(i >= 24 && i < 30) && !(i >= 34 && i < 38) && !(i >= 40 && i < 42);
  };
  if (got.size() != e.wanted.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (counts(i) && got[i] != e.wanted[i]) return false;
  return true;
}

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
  Fabric(Keep, const std::string& config, int level = 1) : keeps_(true), level_(level) {
    start_leaf(config);
    start_spines();
  }
  ~Fabric() {
    if (!keeps_) unlink();
  }

  static void unlink() {
    for (const char* n : {"m0", "br0", "bond0", "bond1", "ifb0", "vx0", "p0", "p1", "x1", "p2"})
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
          fmt::format("level = {}\nchassis-id = leaf\nbackend = bpf\n"
                      "qos.lossless = 5:dscp43>6:dscp51\nqos.lossy = 0:dscp0\nbpffs = {}\n",
                      level_, PrivateNet::bpffs()) +
              config);
  }
  void restart_leaf() {
    leaf_.emplace(std::vector<std::string>{support::program("lldp-leveld"), "--config",
                                           files_.file("leaf.conf")},
                  files_.file("leaf.log"));
  }
  void start_spines() {
    for (int i = 0; i < 2; ++i) start_spine(i);
  }
  void start_spine(int i) { start_neighbor(i, level_ + 1); }
  /// A switch at the other end of p2.
  void start_below() { start_neighbor(2, level_ - 1); }
  std::optional<Process>& leaf() { return leaf_; }
  std::optional<Process>& spine(std::size_t i) { return neighbors_.at(i); }

  /// So many of these packets leave by p1 as they should.
  static int right(const Exchange& e, int packets = 5) {
    const Wire in("q0");
    const Wire out("q1");
    int right = 0;
    for (int i = 0; i < packets; ++i) {
      if (!in.send(e.frame)) continue;
      if (!e.then.empty() && !in.send(e.then)) continue;
      const auto got = out.receive(200);
      if (got && is_as_wanted(*got, e) && (e.then.empty() || out.receive(200) == e.then_wanted))
        ++right;
    }
    return right;
  }
  static bool is_right(Sent sent = Sent::kRouted) { return right(exchange_of(sent)) == 5; }
  json ask(const std::string& what) const {
    return json::parse(output_of(client(what + " --json") + " 2>/dev/null"), nullptr, false);
  }
  /// A port that has heard nothing yet has another order, and `check` may be 0.
  bool has_order(const std::string& port, const std::string& order) const {
    const json ports = ask("show")["ports"];
    return std::ranges::any_of(
        ports, [&](const json& p) { return p["name"] == port && p["order"] == order; });
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
  std::string file(std::string_view name) const { return files_.file(name); }
  std::string log() const { return leaf_ ? leaf_->output() : ""; }
  std::string leaf_config() const { return files_.file("leaf.conf"); }

 private:
  void start_neighbor(int i, int level) {
    start(neighbors_.at(static_cast<std::size_t>(i)), fmt::format("spine{}", i),
          fmt::format("level = {1}\nchassis-id = spine{0}\nports = q{0}\nbackend = none\n"
                      "qos.lossless = 5:dscp43>6:dscp51\n",
                      i, level));
  }
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
  const int level_ = 1;  ///< of the leaf
  TemporaryDirectory files_;
  std::optional<Process> leaf_;
  std::array<std::optional<Process>, 3> neighbors_;
};

/// docs/operate/situations.md.
std::string page() {
  std::string text =
      "# Situations\n\n"
      "What other programs and operators do to a switch with two up ports, and what becomes of "
      "packets that turn there. Either the packets are\n"
      "right, or `lldp-level check` does not end with 0. This page is made by "
      "`tests/netns/situations_test.cpp`, which runs each situation with\n"
      "packets through it, and then undoes it: all has to be fine again. Situations with VLANs, "
      "VRFs, ipvlan, the actions pedit, skbedit,\n"
      "gact and police, the qdiscs netem, RED, ets, fq_codel and prio, flowtables, route "
      "programs, filters elsewhere, and filters that end the ingress are run\n"
      "by Debian 12's kernel too (`./run test-vm`). Those with TCX, VLANs, bonds, MACsec, IPsec "
      "and netkit are run by Debian 13's. Elsewhere is an\n"
      "interface that has nothing to do with a port. A situation that the kernel of the test "
      "cannot make is left out there.\n\n"
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

TEST(SituationsPage, IsOfThisTable) {
  support::expect_golden(page(), "../docs/operate/situations.md");
}

class Situations : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    ::setenv("XDP", LLDP_TEST_XDP, 1);
    ::setenv("PROBE", LLDP_TEST_PROBE, 1);
    ::setenv("ROUTE", LLDP_TEST_ROUTE, 1);
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

/// What the leaf may be refused.
const Refusal kRefusals[] = {
    {.name = "nftables",
     .call = SYS_socket,
     .first = AF_NETLINK,
     .third = NETLINK_NETFILTER,
     .code = EPERM},
    {.name = "features", .call = SYS_ioctl, .second = SIOCETHTOOL, .code = EPERM},
};

/// What a row does that no program of the shell can: `tcx DEVICE HOOK`, `netkit DEVICE`, `xdp
/// DEVICE`, `detach` of these, `tags`, `renew` of the fabric, `refuse WHAT` to a leaf that is
/// started again, and to `kill`, `stop` or `start` the `leaf` or a `spine`.
class Doer {
 public:
  Doer(std::optional<Fabric>& fabric, std::function<bool()> renew)
      : fabric_(fabric), renew_(std::move(renew)) {}
  ~Doer() {
    if (theirs_ != nullptr) probe__destroy(theirs_);
    if (xdp_ != nullptr) pass__destroy(xdp_);
  }
  Doer(const Doer&) = delete;
  Doer& operator=(const Doer&) = delete;

  /// False where the kernel cannot.
  bool run(const std::string& script) {
    if (!script.starts_with('@') && script.find("; @") == script.npos)
      return script.empty() || sh(kShell + script + " 2>/dev/null");
    for (std::string rest = script; !rest.empty();) {
      const std::size_t end = std::min(rest.find("; "), rest.size());
      const std::string part = rest.substr(0, end);
      rest.erase(0, end + 2);
      if (!(part.front() == '@' ? act(part.substr(1)) : sh(kShell + part + " 2>/dev/null")))
        return false;
    }
    return true;
  }

 private:
  bool act(const std::string& what) {
    std::istringstream words(what);
    std::string verb;
    std::string object;
    std::string hook;
    words >> verb >> object >> hook;
    if (verb == "detach") return held_.clear(), true;
    if (verb == "tcx")
      return hold(bpf::attach_tcx(
          program(), index_of(object),
          hook == "ingress" ? dataplane::Part::kClassify : dataplane::Part::kRemap));
    if (verb == "netkit") {
      constexpr auto kPrimary = static_cast<bpf_attach_type>(54);  // BPF_NETKIT_PRIMARY, Linux 6.7
      held_.emplace_back(bpf_link_create(
          program().get(), static_cast<int>(index_of(object).value()), kPrimary, nullptr));
      return static_cast<bool>(held_.back());
    }
    if (verb == "xdp") {
      if (xdp_ == nullptr) xdp_ = pass__open_and_load();
      held_.emplace_back(bpf_link_create(bpf_program__fd(xdp_->progs.pass),
                                         static_cast<int>(index_of(object).value()), BPF_XDP,
                                         nullptr));
      return static_cast<bool>(held_.back());
    }
    if (verb == "tags") return write_tags();
    if (verb == "renew") return renew_();
    if (verb == "refuse") return restart_refused(object);
    auto& process = object == "leaf" ? fabric_->leaf() : fabric_->spine(1);
    if (verb == "start") {
      object == "leaf" ? fabric_->restart_leaf() : fabric_->start_spine(1);
      return true;
    }
    process->signal(verb == "kill" ? SIGKILL : SIGTERM);
    process->wait();
    return true;
  }
  /// The thread that starts it is refused the same.
  bool restart_refused(const std::string& what) {
    fabric_->leaf()->signal(SIGTERM);
    fabric_->leaf()->wait();
    bool done = false;
    std::thread([&] {
      const auto* const refusal = std::ranges::find(kRefusals, what, &Refusal::name);
      done = refusal != std::end(kRefusals) && refuse(*refusal);
      if (done) fabric_->restart_leaf();
    }).join();
    return done;
  }
  bool hold(Result<UniqueFd> link) {
    if (link) held_.push_back(std::move(*link));
    return link.has_value();
  }
  static Ifindex index_of(const std::string& name) {
    return Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex());
  }
  UniqueFd program() {
    if (theirs_ == nullptr) theirs_ = probe__open_and_load();
    return UniqueFd(::dup(bpf_program__fd(theirs_->progs.stranger)));
  }
  /// Each port's tag becomes another.
  static bool write_tags() {
    for (const auto& at : std::filesystem::recursive_directory_iterator(PrivateNet::bpffs())) {
      if (!at.path().filename().string().starts_with("state-")) continue;
      const auto map = bpf::get_pinned(at.path().string());
      if (!map) return false;
      const auto memory = bpf::Mapping::of(*map, sizeof(lldp_level_port) * LLDP_LEVEL_SLOTS);
      if (!memory) return false;
      for (lldp_level_port& port :
           std::span(static_cast<lldp_level_port*>(memory->get()), LLDP_LEVEL_SLOTS))
        if (port.ifindex != 0) port.tag ^= 1;
      return true;
    }
    return false;
  }

  std::optional<Fabric>& fabric_;
  std::function<bool()> renew_;
  std::vector<UniqueFd> held_;
  probe* theirs_ = nullptr;
  pass* xdp_ = nullptr;
};

TEST_F(Situations, PacketsAreRightOrCheckIsNotZero) {
  std::optional<Fabric> fabric_of;
  const auto tell_pids = [&] {
    ::setenv("LEAF_PID", std::to_string(fabric_of->leaf()->pid()).c_str(), 1);
    ::setenv("SPINE_PID", std::to_string(fabric_of->spine(1)->pid()).c_str(), 1);
  };
  const auto begin = [&] {
    fabric_of.reset();
    fabric_of.emplace();
    ::setenv("CONF", fabric_of->leaf_config().c_str(), 1);
    ::setenv("SOCKET", fabric_of->file("leaf").c_str(), 1);
    std::string directory = fabric_of->file("");
    directory.pop_back();
    ::setenv("DIR", directory.c_str(), 1);
    tell_pids();
    return fine(*fabric_of);
  };
  Doer doer(fabric_of, begin);
  ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
  // LLDP_SITUATION: those rows alone whose names have one of these in them, as `VLAN|pedit`.
  const char* const only = std::getenv("LLDP_SITUATION");
  const auto words = split_list(only != nullptr ? only : "", '|');
  for (const Situation& s : kSituations) {
    if (only != nullptr && std::ranges::none_of(words, [&](const std::string& word) {
          return std::string_view(s.name).find(word) != std::string_view::npos;
        }))
      continue;
    SCOPED_TRACE(s.name);
    if (s.fresh) {
      ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
      EXPECT_TRUE(!bpf::has_tcx() || eventually([] { return Fabric::is_settled(); }));
    }
    Fabric& fabric = *fabric_of;
    if (!doer.run(s.does)) {
      std::printf("this kernel cannot: %s\n", s.name);
      doer.run(std::string(s.undoes) + "; true");
      if (!fine(fabric)) ASSERT_TRUE(begin()) << fabric.checked();
      continue;
    }
    bool right = false;
    int check = 0;
    const auto as_told = [&] {
      check = fabric.check();
      right = Fabric::is_right(s.sent);
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
    EXPECT_TRUE(eventually(as_told, kUntilTold))
        << s.name << ": packets " << (right ? "right" : "wrong") << ", check " << check << ": "
        << fabric.checked();
    doer.run(s.undoes);
    tell_pids();
    EXPECT_TRUE(fine(fabric)) << "it does not heal: " << fabric.checked() << fabric.log();
    if (HasFailure() && !fine(fabric)) ASSERT_TRUE(begin()) << fabric.checked();
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

/// What leaves by the down port p2 does not turn; sent on from its egress by the up port p1, it
/// counts as come by p2, and keeps its class. A copy counts as come by the port that the packet
/// came by, and turns.
TEST_F(Situations, ForwardOfNftablesAtEgressOfDownPortIsTold) {
  Fabric::links();
  Fabric::link(2);
  ASSERT_TRUE(
      sh("ip route replace 198.51.100.2/32 dev p2; ip neigh replace 198.51.100.2 lladdr "
         "02:00:00:00:00:06 dev p2"));
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,p2\n", 2);
  fabric.start_below();
  const auto frame = [](unsigned dscp, std::uint8_t to, std::uint8_t from) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = 63}), to,
                                          from);
  };
  const auto comes_out = [&](const char* by) {
    const Wire in("q0");
    const Wire out(by);
    return in.send(exchange_of(Sent::kRouted).frame) ? out.receive(200) : std::nullopt;
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out("q2") == frame(43, 6, 5); };
  ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
  const auto chain = [](const char* device, const char* does, const char* hook = "egress") {
    return sh(
        fmt::format("nft 'add table netdev t; add chain netdev t c {{ type filter hook {} "
                    "device {} priority 0; }}; add rule netdev t c ip dscp 43 {}'",
                    hook, device, does));
  };
  if (!chain("p2", "fwd to p1")) GTEST_SKIP() << "this kernel has no such hook";
  const auto rules_tell = [&] {
    return fabric.ask("rules").dump().find("nftables (table netdev t, chain c)") !=
           std::string::npos;
  };
  EXPECT_TRUE(eventually(rules_tell, 3s)) << "whichever question comes first looks";
  EXPECT_EQ(comes_out("q1"), frame(43, 6, 5)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find("nftables (table netdev t, chain c)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(chain("p2", "dup to p1"));
  EXPECT_EQ(comes_out("q1"), frame(51, 6, 5));
  EXPECT_TRUE(is_fine()) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  ASSERT_TRUE(chain("p0", "dup to p1", "ingress"));
  EXPECT_EQ(comes_out("q1"), dataplane::packet::frame4({.dscp = 51}));
  EXPECT_TRUE(is_fine()) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  // Of an interface without rules the mark decides, and it is that of p0.
  if (!sh("ip link add link p2 name m0 address 02:00:00:00:00:07 up type macvlan mode bridge && ip "
          "route replace 198.51.100.2/32 dev m0 && ip neigh replace 198.51.100.2 lladdr "
          "02:00:00:00:00:06 dev m0"))
    GTEST_SKIP() << "this kernel has no macvlan";
  ASSERT_TRUE(chain("m0", "fwd to p1"));
  EXPECT_EQ(comes_out("q1"), frame(51, 6, 7));
  EXPECT_EQ(fabric.check(), 0) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  Fabric::unlink();
}

/// Packets of p0 are routed out of ifb0, and sent from there into the ingress of the down port p2:
/// they count as come by it, and go up by p1 in the class of their ingress. Out of ifb0 by p1 they
/// turn, by their mark.
TEST_F(Situations, PacketsSentIntoADownPortFromElsewhereDoNotTurnAndThatIsTold) {
  Fabric::links();
  Fabric::link(2);
  ASSERT_TRUE(sh(std::string(kShell) + "far && ip rule add iif p2 lookup 77 && "
                                       "flt ifb0 egress 9 action mirred egress redirect dev p1"));
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,p2\n", 2);
  fabric.start_below();
  const auto comes_out = [] {
    const Wire in("q0");
    const Wire out("q1");
    return in.send(exchange_of(Sent::kRouted).frame) ? out.receive(200) : std::nullopt;
  };
  const auto frame = [](unsigned dscp, std::uint8_t ttl, std::uint8_t from) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = ttl}), 4,
                                          from);
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out() == frame(51, 63, 3); };
  ASSERT_TRUE(eventually([&] { return is_fine() && fabric.has_order("p2", "down"); }, 30s))
      << fabric.checked() << fabric.log();
  ASSERT_TRUE(sh(std::string(kShell) +
                 "unflt ifb0 egress 9; flt ifb0 egress 9 action mirred ingress redirect dev p2"));
  EXPECT_EQ(comes_out(), frame(43, 62, 3)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find(
               "p2: classify bypassed: a filter (u32, preference 9) at the egress "
               "of ifb0 sends packets into the ingress of this port (mirred)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  EXPECT_EQ(fabric.checked().find("p1: classify"), std::string::npos) << fabric.checked();
  ASSERT_TRUE(sh(std::string(kShell) +
                 "unflt ifb0 egress 9; flt ifb0 egress 9 action mirred egress redirect dev p1"));
  EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
  sh(std::string(kShell) + "ip rule del iif p2 lookup 77; unfar");
  Fabric::unlink();
}

/// Of one datagram the first fragment comes from below, and the other one from above: where the
/// kernel joins them, the first one's port would decide for both.
TEST_F(Situations, FragmentsOfTwoPortsThatTheKernelJoinsLeaveLossy) {
  Fabric::links();
  Fabric::link(2);
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,p2\n", 2);
  fabric.start_below();
  const auto part = [](unsigned dscp, bool later, unsigned ttl) {
    return dataplane::packet::frame4(
        {.dscp = dscp, .ttl = ttl, .fragment = later ? 3U : 0x2000U, .payload = 24});
  };
  const auto comes_out = [&] {
    const Wire below("q2");
    const Wire above("q0");
    const Wire out("q1");
    std::vector<Bytes> got;
    if (!below.send(dataplane::packet::readdressed(part(43, false, 64), 5, 6)) ||
        !above.send(part(43, true, 64)))
      return got;
    while (got.size() < 2)
      if (auto one = out.receive(200))
        got.push_back(std::move(*one));
      else
        break;
    return got;
  };
  const auto pair = [&](unsigned first, unsigned later) {
    return std::vector{dataplane::packet::readdressed(part(first, false, 63), 4, 3),
                       dataplane::packet::readdressed(part(later, true, 63), 4, 3)};
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out() == pair(43, 51); };
  ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
  if (!sh("nft 'add table ip t; add chain ip t c { type filter hook prerouting priority 0; }; "
          "add "
          "rule ip t c ct state new counter'"))
    GTEST_SKIP() << "this kernel follows no connections";
  EXPECT_EQ(comes_out(), pair(43, 0)) << "the first of all";
  EXPECT_EQ(comes_out(), pair(0, 0));
  EXPECT_EQ(fabric.check(), 0) << fabric.checked();
  EXPECT_THAT(output_of(fabric.client("rules")), HasSubstr("fragments leave lossy"));
  ASSERT_TRUE(sh("nft delete table ip t"));
  Fabric::unlink();
}

/// A route's program sends what came by the up port p0 into the ingress of the down port p2. It
/// counts as come by that one, and leaves by the up port p1 without a turn.
TEST_F(Situations, RouteIntoTheIngressOfADownPortIsTold) {
  Fabric::links();
  Fabric::link(2);
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,p2\n", 2);
  fabric.start_below();
  const auto comes_out = [] {
    const Wire in("q0");
    const Wire out("q1");
    return in.send(exchange_of(Sent::kRouted).frame) ? out.receive(200) : std::nullopt;
  };
  const auto frame = [](unsigned dscp, std::uint8_t ttl) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = ttl}), 4,
                                          3);
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out() == frame(51, 63); };
  ASSERT_TRUE(eventually([&] { return is_fine() && fabric.has_order("p2", "down"); }, 30s))
      << fabric.checked() << fabric.log();
  // The program goes by a mark, which it takes off.
  if (!sh(fmt::format("nft 'add table ip t; add chain ip t c {{ type filter hook prerouting "
                      "priority -150; }}; add rule ip t c iif p0 meta mark set {}' && ip route "
                      "replace 198.51.100.2/32 dev p1 encap bpf xmit obj $ROUTE sec lwt_xmit "
                      "2>/dev/null",
                      ::if_nametoindex("p2")))) {
    sh("nft delete table ip t 2>/dev/null");
    GTEST_SKIP() << "this kernel runs no program of a route";
  }
  EXPECT_EQ(comes_out(), frame(43, 62)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find("a route (198.51.100.2/32 table 254, encap bpf xmit)") !=
               std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("ip route del 198.51.100.2/32"));
  EXPECT_TRUE(eventually(is_fine, 30s)) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table ip t"));
  Fabric::unlink();
}

/// A filter of RED's qevent takes the class off packets that RED marks, behind the rules.
TEST_F(Situations, PacketsWhoseClassAQeventTakesOffAreTold) {
  Fabric fabric;
  ASSERT_TRUE(eventually([&] { return fabric.is_fine(); }, 30s)) << fabric.checked();
  if (!sh("tc qdisc replace dev p1 root handle 2: tbf rate 20kbit burst 1600 limit 60000 && tc "
          "qdisc "
          "add dev p1 parent 2: handle 1: red limit 60000 min 200 max 600 avpkt 100 burst 3 ecn "
          "probability 1 bandwidth 1Mbit qevent mark block 8 2>/dev/null && tc filter add block 8 "
          "pref 9 protocol ip u32 match u32 0 0 action pedit ex munge ip dsfield set 0 retain "
          "0xfc"))
    GTEST_SKIP() << "this kernel has no RED, or no pedit";
  const Bytes frame = dataplane::packet::frame4({.dscp = 43, .ecn = 1});
  int without_class = 0;
  {
    const Wire in("q0");
    const Wire out("q1");
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(in.send(frame));
    for (int i = 0; i < 100; ++i)
      if (const auto got = out.receive(1000); got && got->size() > 15 && (*got)[15] == 3)
        ++without_class;
  }
  EXPECT_GT(without_class, 0) << output_of("tc -s qdisc show dev p1; tc -s filter show block 8");
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find(
               "p1: remap bypassed: a filter of block 8 of the qdisc 1:0 (u32, "
               "preference 9)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("tc qdisc del dev p1 root"));
  EXPECT_TRUE(eventually([&] { return fabric.is_fine(); }, 30s)) << fabric.checked();
}

/// The port m0 stands on p1. What comes in meets the rules of m0 behind what others do on p1, and
/// what leaves before that.
TEST_F(Situations, OtherProgramsBelowAPortAreTold) {
  struct Below {
    const char* does = "";
    const char* undoes = "";
    const char* told = "";  ///< where p1 has no rules
    const char* told_with_rules = told;
  };
  constexpr Below kBelow[] = {
      {"flt p1 egress 100 action mirred egress redirect dev lo", "unflt p1 egress 100",
       "m0: remap bypassed: a filter (u32, preference 100) on p1",
       "p1: remap bypassed: a filter (u32, preference 100) behind"},
      {"flt p1 egress 100 action mirred egress mirror dev p0", "unflt p1 egress 100",
       "m0: remap bypassed: a filter (u32, preference 100) on p1",
       "p1: remap bypassed: a filter (u32, preference 100) behind"},
      {"flt p1 ingress 1 action mirred egress redirect dev lo", "unflt p1 ingress 1",
       "m0: classify bypassed: a filter (u32, preference 1) on p1",
       "p1: classify bypassed: a filter (u32, preference 1)"},
      {"flt p1 ingress 100 flowid 1:7", "unflt p1 ingress 100", "",
       "p1: classify bypassed: a filter (u32, preference 100) behind"},
      {"netdev egress p1 'c ip dscp 43 fwd to lo'", "unnetdev",
       "m0: remap bypassed: nftables (table netdev t, chain c), fwd, on p1"},
      {"netdev egress p1 'c ip dscp 51 ip dscp set 43'", "unnetdev",
       "m0: remap bypassed: nftables (table netdev t, chain c), payload, on p1"},
      {"netdev egress p1 'c dup to p0'", "unnetdev", "chain c), dup, on p1"},
      {"netdev ingress p1 'c ip dscp 51 ip dscp set 43'", "unnetdev",
       "m0: classify bypassed: nftables (table netdev t, chain c), payload, on p1"},
      {"inet_ingress p1 'ip dscp 51 ip dscp set 43'", "uninet",
       "m0: classify bypassed: nftables (table inet t, chain c), payload, on p1"},
      {"netdev egress p1 'c counter accept'", "unnetdev", ""},
      {"ip link set dev p1 xdpgeneric obj $XDP sec xdp", "ip link set dev p1 xdpgeneric off",
       "m0: classify bypassed: an XDP program (", "p1: classify bypassed: an XDP program ("},
      {"ethtool -K p1 gro on rx-gro-list on", "ethtool -K p1 rx-gro-list off",
       "m0: classify bypassed: rx-gro-list", "p1: classify bypassed: rx-gro-list"},
  };
  for (const bool has_rules : {false, true}) {
    Fabric::links();
    if (!sh("ip link add link p1 name m0 address 02:00:00:00:00:08 up type macvlan mode bridge "
            "2>/dev/null && ip addr flush dev p1"))
      GTEST_SKIP() << "this kernel has no macvlan";
    Fabric::route("p0", "m0");
    Fabric fabric(Fabric::Keep{}, has_rules ? "ports = p0,p1,m0\n" : "ports = p0,m0\n");
    const Bytes wanted =
        dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 8);
    const auto is_fine = [&] {
      const Wire in("q0");
      const Wire out("q1");
      // By p1 and m0 one neighbor hears two ports of one agent, and acknowledges the older one
      // late.
      const bool ok = fabric.check() == 0 ||
                      (has_rules && fabric.checked().find("alarm silent p1") != std::string::npos &&
                       fabric.checked().find("protection active") != std::string::npos);
      return ok && in.send(exchange_of(Sent::kRouted).frame) && out.receive(200) == wanted;
    };
    ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
    for (const Below& b : kBelow) {
      SCOPED_TRACE(b.does);
      const std::string told(has_rules ? b.told_with_rules : b.told);
      if (!sh(std::string(kShell) + b.does + " 2>/dev/null")) continue;
      if (told.empty())
        EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
      else
        EXPECT_TRUE(eventually(
            [&] { return fabric.check() != 0 && fabric.checked().find(told) != std::string::npos; },
            kUntilTold))
            << fabric.checked();
      ASSERT_TRUE(sh(std::string(kShell) + b.undoes));
      EXPECT_TRUE(eventually(is_fine, 30s)) << fabric.checked();
    }
    Fabric::unlink();
  }
}

/// The port m0 is MACsec on p1, and so is the port at the other end: the programs see packets as
/// they are.
TEST_F(Situations, PacketTurnsWhereTheMacsecInterfaceIsThePort) {
  Fabric::links();
  if (!sh(std::string(kShell) +
          "ip link set q1 down; ip link set q1 name y1; ip link set y1 up; ip addr flush dev p1; "
          "macsec p1 m0 04 && macsec y1 q1 03 && echo 0 >/proc/sys/net/ipv4/conf/q1/forwarding")) {
    Fabric::unlink();
    GTEST_SKIP() << "this kernel has no MACsec";
  }
  Fabric::route("p0", "m0");
  Fabric fabric(Fabric::Keep{}, "ports = p0,m0\n");
  EXPECT_TRUE(fine(fabric)) << fabric.checked() << fabric.ask("rules").dump(1);
  const Wire cable("y1");
  const Wire in("q0");
  ASSERT_TRUE(in.send(exchange_of(Sent::kRouted).frame));
  const auto crossed = cable.receive(200);
  ASSERT_TRUE(crossed);
  EXPECT_EQ(crossed->at(12) << 8 | crossed->at(13), 0x88e5) << "not encrypted";
  Fabric::unlink();
}

/// A macvlan on p1 is a port as p1 is, and packets leave by both: they turn once.
TEST_F(Situations, PacketTurnsOnceWhereAPortStandsOnAPort) {
  Fabric::links();
  if (!sh("ip link add link p1 name m0 address 02:00:00:00:00:08 up type macvlan mode bridge "
          "2>/dev/null && ip addr flush dev p1"))
    GTEST_SKIP() << "this kernel has no macvlan";
  Fabric::route("p0", "m0");
  const Bytes wanted =
      dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 8);
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,m0\n");
  const auto is_up = [&] {
    return fabric.check() == 0 &&
           output_of(fabric.client("show m0")).find("up") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_up, kUntilTold)) << fabric.checked();
  const auto right = [&] {
    const Wire in("q0");
    const Wire out("q1");
    int right = 0;
    for (int i = 0; i < 20 && in.send(exchange_of(Sent::kRouted).frame); ++i)
      if (const auto got = out.receive(200); got == wanted) ++right;
    return right == 20;
  };
  EXPECT_TRUE(eventually(right, kUntilTold)) << fabric.ask("rules").dump(1);
  Fabric::unlink();
}

}  // namespace
}  // namespace lldp::netns
