// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "agent/links/link_message.hpp"

namespace lldp::io {

/// By which interfaces IP is forwarded.
enum class Forwards : std::uint8_t { kNothing, kBySome, kByAll };

/// What is known of a network namespace: its interfaces, their addresses and VLANs, and whether it
/// forwards. Pure: it is told by messages and by whole lists, and tells what differs. What has not
/// changed, or not in what concerns us, is not told.
class LinkTable {
 public:
  struct Observer {
    std::function<void(const Interface&)>
        changed{};                        ///< it is new, or anything of it or its VLANs differs
    std::function<void(Ifindex)> gone{};  ///< deleted, or moved to another namespace
    std::function<void()> forwarding{};   ///< forwards() is different
    std::function<void()> addresses{};    ///< addresses() are
  };
  void observe(Observer observer) { observer_ = std::move(observer); }

  void take(const LinkMessage& message);
  /// There are these interfaces and no others.
  void keep(const std::set<Ifindex>& there);
  /// These are all.
  void take_all(std::set<InterfaceAddress> addresses);
  /// These interfaces forward IPv4. Of no use where all do.
  void take_forwarding(std::set<Ifindex> interfaces);
  void take_all(const std::map<Ifindex, BridgeVlans>& vlans);

  [[nodiscard]] const std::map<Ifindex, Interface>& interfaces() const { return interfaces_; }
  [[nodiscard]] const std::set<InterfaceAddress>& addresses() const { return addresses_; }
  /// Of the ports of bridges.
  [[nodiscard]] const std::map<Ifindex, BridgeVlans>& bridge_vlans() const { return vlans_; }
  [[nodiscard]] bool forwarding() const { return ipv4_forwarding_ || ipv6_forwarding_; }
  [[nodiscard]] Forwards forwards() const {
    if (forwarding()) return Forwards::kByAll;
    return forwarding_interfaces_.empty() ? Forwards::kNothing : Forwards::kBySome;
  }
  [[nodiscard]] bool ipv4_forwarding() const { return ipv4_forwarding_; }

 private:
  /// Whose VLANs depend on this interface: it is one of theirs, or their bridge.
  void tell_dependents(const Interface& link);
  void learn(const Interface& link);
  void learn(const InterfaceGone& gone);
  void learn(const Forwarding& forwarding);
  void learn(const BridgeVlans& vlans);
  void learn(const AddressChange& change);
  void learn_forwarding(const auto& change);

  Observer observer_{};
  std::map<Ifindex, Interface> interfaces_{};  ///< in the order of ifindex
  std::set<InterfaceAddress> addresses_{};     ///< in the order of ifindex, IPv4 first
  std::map<Ifindex, BridgeVlans> vlans_{};     ///< none without any
  bool ipv4_forwarding_ = false;
  bool ipv6_forwarding_ = false;
  std::set<Ifindex> forwarding_interfaces_{};  ///< of IPv4, where not all do
};

}  // namespace lldp::io
