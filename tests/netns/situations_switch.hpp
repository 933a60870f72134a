// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include "tests/netns/situations.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"
//
#include "pass.skel.h"
#include "probe.skel.h"

namespace lldp::netns {

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
inline Bytes in_esp(const Bytes& frame, unsigned dscp) {
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

inline Exchange exchange_of(Sent sent) {
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
inline bool is_as_wanted(const Bytes& got, const Exchange& e) {
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
inline constexpr std::chrono::seconds kUntilTold{15};

}  // namespace lldp::netns
