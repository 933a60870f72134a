// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "agent/links/link_table.hpp"
#include "base/result.hpp"

struct nl_sock;

namespace lldp::io {

/// Whether a PCI device is a virtual function of another one here: a share of a card, of which a
/// server may have hundreds, and no port of its own. `devices`: sysfs, of which rtnetlink shows
/// nothing.
[[nodiscard]] bool is_virtual_function(std::string_view pci_address,
                                       std::string_view devices = "/sys/bus/pci/devices");

/// The links of our network namespace, kept up to date by rtnetlink.
///
/// Events and requests have a socket each, so that an answer is never looked for among events. When
/// the kernel could not deliver an event (ENOBUFS), everything is asked for anew.
class LinkMonitor {
 public:
  /// Opens and asks for all; the observer hears only what comes later.
  [[nodiscard]] static Result<LinkMonitor> open();
  LinkMonitor(LinkMonitor&&) noexcept;
  ~LinkMonitor();

  void observe(LinkTable::Observer observer) { table_.observe(std::move(observer)); }
  [[nodiscard]] int fd() const;
  /// Takes the events that wait, a bounded number; the rest keep the descriptor readable. On
  /// failure it is behind(), and what it knows stands as it was.
  [[nodiscard]] Result<void> receive();
  /// The kernel could not be asked what it had left out: receive() is to be called again, in a
  /// while, even if the descriptor stays silent.
  [[nodiscard]] bool behind() const { return behind_; }
  [[nodiscard]] const LinkTable& table() const { return table_; }

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
  [[nodiscard]] Result<void> request_forwarding_interfaces();
  void take(ByteSpan message);
  void take(LinkMessage message);

  Socket events_;
  Socket requests_;  ///< null: to be opened anew
  bool behind_ = false;
  LinkTable table_{};
};

}  // namespace lldp::io
