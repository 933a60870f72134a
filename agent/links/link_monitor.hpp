// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "agent/links/link_message.hpp"
#include "base/result.hpp"

struct nl_sock;

namespace lldp::io {

/// Whether a PCI device is a virtual function of another one here: a share of a card, of which a
/// server may have hundreds, and no port of its own. `devices`: sysfs, of which rtnetlink shows
/// nothing.
[[nodiscard]] bool is_virtual_function(std::string_view pci_address,
                                       std::string_view devices = "/sys/bus/pci/devices");

/// The interfaces of our network namespace, their addresses, and whether it forwards, kept up to
/// date by rtnetlink.
///
/// Events and requests have a socket each, so that an answer is never looked for among events. When
/// the kernel could not deliver an event (ENOBUFS), everything is asked for anew. What has not
/// changed, or not in what concerns us, is not told.
class LinkMonitor {
 public:
  struct Observer {
    std::function<void(const Interface&)>
        changed{};                        ///< it is new, or anything of it or its VLANs differs
    std::function<void(Ifindex)> gone{};  ///< deleted, or moved to another namespace
    std::function<void()> forwarding{};   ///< forwarding() is different
    std::function<void()> addresses{};    ///< addresses() are
  };
  /// Opens and asks for all; the observer hears only what comes later.
  [[nodiscard]] static Result<LinkMonitor> open();
  LinkMonitor(LinkMonitor&&) noexcept;
  ~LinkMonitor();

  void observe(Observer observer) { observer_ = std::move(observer); }
  [[nodiscard]] int fd() const;
  /// Takes the events that wait, a bounded number; the rest keep the descriptor readable. On
  /// failure it is behind(), and what it knows stands as it was.
  [[nodiscard]] Result<void> receive();
  /// The kernel could not be asked what it had left out: receive() is to be called again, in a
  /// while, even if the descriptor stays silent.
  [[nodiscard]] bool behind() const { return behind_; }
  [[nodiscard]] const std::map<Ifindex, Interface>& interfaces() const { return interfaces_; }
  [[nodiscard]] const std::set<InterfaceAddress>& addresses() const { return addresses_; }
  /// Of the ports of bridges.
  [[nodiscard]] const std::map<Ifindex, BridgeVlans>& bridge_vlans() const { return vlans_; }
  [[nodiscard]] bool forwarding() const { return ipv4_forwarding_ || ipv6_forwarding_; }

 private:
  struct NlFree {
    void operator()(nl_sock* socket) const;
  };
  using Socket = std::unique_ptr<nl_sock, NlFree>;
  LinkMonitor();
  [[nodiscard]] static Result<Socket> connect();
  [[nodiscard]] Result<void> resync();
  [[nodiscard]] Result<void> request_all();
  [[nodiscard]] Result<void> request_interfaces();
  [[nodiscard]] Result<void> request_addresses();
  [[nodiscard]] Result<void> request_vlans();
  [[nodiscard]] Result<void> request_forwarding(unsigned char family);
  void take(ByteSpan message);
  /// Whose VLANs depend on this interface: it is one of theirs, or their bridge.
  void tell_dependents(const Interface& link);
  void take(Interface link);
  void take(InterfaceGone gone);
  void take(Forwarding forwarding);
  void take(BridgeVlans vlans);
  void take(AddressChange change);

  Observer observer_;
  Socket events_;
  Socket requests_;  ///< null: to be opened anew
  bool behind_ = false;
  std::map<Ifindex, Interface> interfaces_;  ///< in the order of ifindex
  std::set<InterfaceAddress> addresses_;     ///< in the order of ifindex, IPv4 first
  std::map<Ifindex, BridgeVlans> vlans_;     ///< none without any
  bool ipv4_forwarding_ = false;
  bool ipv6_forwarding_ = false;
};

}  // namespace lldp::io
