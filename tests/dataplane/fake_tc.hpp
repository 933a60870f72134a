// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dataplane/tc.hpp"

/// A kernel's traffic control as far as flower filters on shared blocks go, in memory: TcSocket and
/// TcEvents of programs that link fake_tc.cpp ask it. It keeps the messages as they were put, tells
/// them as they are, writes down what was asked of it, and evaluates them on packets by its own
/// reading of pkt_cls.h: what is programmed is held against the rules by a second pair of eyes.
namespace lldp::dataplane::fake {

struct Port {
  bool chip = false;  ///< of a switch chip, whose driver takes filters
  bool ingress_qdisc = false;
  bool clsact = false;
  std::uint32_t ingress_block = 0;
  std::uint32_t egress_block = 0;
};

/// Refuses the request so far ahead (0: the next), if it changes something.
struct Refusal {
  int after = 0;
  int code = 0;
  std::string words{};
};

/// What a packet is to the filters, and what they make of it.
struct Packet {
  Ifindex in{};
  bool ipv6 = false;
  std::array<std::uint8_t, 4> header{};  ///< the first octets of its IP header
  std::uint32_t priority = 0;
  bool checksum_right = true;  ///< the header's, where it has one
  friend bool operator==(const Packet&, const Packet&) = default;
  friend void PrintTo(const Packet& p, std::ostream* os) {
    *os << "from " << p.in.value() << std::hex << ':';
    for (const unsigned octet : p.header) *os << ' ' << octet;
    *os << std::dec << ", priority " << p.priority << (p.checksum_right ? "" : ", wrong checksum");
  }
};

class Kernel {
 public:
  /// The one that sockets opened now speak to: fresh for each test.
  static Kernel& now();
  static void reset();

  std::map<std::uint32_t, Port> ports{};
  std::vector<std::string> log{};  ///< what was changed, or refused
  std::optional<Refusal> refusal{};
  bool takes_filters = true;  ///< the driver, into the chip
  int no_such_block = 0;      ///< what kernels before 5.x say of a dump without a port
  unsigned dumps = 0;
  unsigned link_reads = 0;

  /// What another program does: told as an event, which names the port.
  void another(std::uint32_t port, const std::string& what);
  /// What the driver does by itself: told by nobody. Filters of the block leave the chip.
  void evict(std::uint32_t block);
  /// Removes the filters whose line in text() holds this.
  std::size_t remove(const std::string& what);
  /// All filters, one a line.
  [[nodiscard]] std::vector<std::string> filters() const;
  /// From one port to another.
  [[nodiscard]] Packet through(Packet packet, std::uint32_t out) const;

  Result<void> request(nlmsghdr* message);
  Result<void> dump(nlmsghdr* message, const std::function<void(const TcObject&)>& each);
  Result<void> links(Ifindex port, const std::function<void(Ifindex, const LinkFacts&)>& each);
  int events_fd();
  std::vector<Ifindex> take();

 private:
  using Octets = std::vector<std::uint32_t>;  // as netlink aligns
  struct Key {
    std::uint32_t block = 0, chain = 0, preference = 0, protocol = 0, handle = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Result<void> qdisc(nlmsghdr* message);
  Result<void> filter(nlmsghdr* message);
  void tell(std::optional<Ifindex> another);
  void drop_empty_blocks();
  [[nodiscard]] bool is_bound(std::uint32_t block) const;
  void classify(Packet& packet, std::uint32_t block) const;

  std::map<Key, Octets> filters_{};
  std::set<Ifindex> changed_{};
  UniqueFd event_{};
};

}  // namespace lldp::dataplane::fake
