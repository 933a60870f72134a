// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_monitor.hpp"

#include <fmt/core.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace lldp::io {
namespace {

/// Room for the changes of some thousand interfaces while we are not looking.
constexpr int kReceiveBuffer = 8 << 20;
/// What one read takes; a dump fills up to this much at a time.
constexpr std::size_t kMessageBuffer = 32 << 10;
/// Reads in one receive().
constexpr int kReadsPerTurn = 64;
/// So often in a row the kernel may say that it had to leave out events, until we let it be.
constexpr int kOverruns = 100;
/// A dump that changes meanwhile is asked for anew, this often.
constexpr int kDumpAttempts = 10;

Error failed(std::string_view what, int nl_error) {
  // What libnl has no word for, as that no descriptor is left, it calls a failure.
  const char* why = nl_error == -NLE_FAILURE ? std::strerror(errno) : nl_geterror(nl_error);
  return {0, "rtnetlink", fmt::format("{}: {}", what, why)};
}

/// Calls `take` for every message that `socket` gives in one nl_recvmsgs; returns libnl's result.
template <class Take>
int receive_messages(nl_sock* socket, Take take) {
  nl_socket_modify_cb(
      socket, NL_CB_VALID, NL_CB_CUSTOM,
      [](nl_msg* message, void* context) -> int {
        const nlmsghdr* header = nlmsg_hdr(message);
        (*static_cast<Take*>(context))(
            ByteSpan(reinterpret_cast<const std::uint8_t*>(header), header->nlmsg_len));
        return NL_OK;
      },
      &take);
  return nl_recvmsgs_default(socket);
}

/// Asks for a list, anew where it changed while it was told: `begin` before each try, `take` for
/// each message that is understood. Returns libnl's result.
int dump(nl_sock* socket, int type, auto& request, const auto& begin, const auto& take) {
  int e = -NLE_DUMP_INTR;
  for (int i = 0; e == -NLE_DUMP_INTR && i < kDumpAttempts; ++i) {
    begin();
    e = nl_send_simple(socket, type, NLM_F_DUMP, &request, sizeof request);
    if (e < 0) break;
    e = receive_messages(socket, [&take](ByteSpan message) {
      if (const auto parsed = parse_link_message(message)) take(*parsed);
    });
  }
  return e;
}

/// What a list of interfaces is asked for by.
struct LinkRequest {
  ifinfomsg info{};
  nlattr mask_header{.nla_len = sizeof(nlattr) + sizeof(std::uint32_t), .nla_type = IFLA_EXT_MASK};
  std::uint32_t mask = 0;
};

}  // namespace

bool is_virtual_function(std::string_view pci_address, std::string_view devices) {
  return ::access(fmt::format("{}/{}/physfn", devices, pci_address).c_str(), F_OK) == 0;
}

void LinkMonitor::NlFree::operator()(nl_sock* socket) const { nl_socket_free(socket); }

LinkMonitor::LinkMonitor() = default;
LinkMonitor::LinkMonitor(LinkMonitor&&) noexcept = default;
LinkMonitor::~LinkMonitor() = default;

Result<LinkMonitor::Socket> LinkMonitor::connect() {
  Socket socket(nl_socket_alloc());
  if (!socket) return fail(failed("socket", -NLE_NOMEM));
  nl_socket_disable_auto_ack(socket.get());
  if (const int e = nl_connect(socket.get(), NETLINK_ROUTE); e < 0)
    return fail(failed("connect", e));
  nl_socket_set_msg_buf_size(socket.get(), kMessageBuffer);
  const int fd = nl_socket_get_fd(socket.get());
  // With CAP_NET_ADMIN past the system's limit; without it, up to that.
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) != 0)
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  return socket;
}

Result<LinkMonitor> LinkMonitor::open() {
  LinkMonitor monitor;
  auto events = connect();
  if (!events) return fail(events.error());
  monitor.events_ = std::move(*events);
  nl_socket_disable_seq_check(monitor.events_.get());
  // Before anything is asked for, so that no change falls in between.
  if (const int e = nl_socket_add_memberships(monitor.events_.get(), RTNLGRP_LINK,
                                              RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
                                              RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, 0);
      e < 0)
    return fail(failed("subscribe", e));
  nl_socket_set_nonblocking(monitor.events_.get());
  if (auto synced = monitor.resync(); !synced) return fail(synced.error());
  return monitor;
}

int LinkMonitor::fd() const { return nl_socket_get_fd(events_.get()); }

Result<void> LinkMonitor::receive() {
  if (behind_) return resync();
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const int e = receive_messages(events_.get(), [this](ByteSpan message) { take(message); });
    if (e == -NLE_AGAIN) return {};
    // ENOBUFS: the kernel had to leave out events. Any other error may have cost one too.
    if (e < 0 && e != -NLE_INTR) return resync();
  }
  return {};
}

Result<void> LinkMonitor::resync() {
  behind_ = true;
  // What waits is older than the answer to come, and would take us back for a moment.
  int e = 0;
  for (int overruns = 0; e >= 0 || (e == -NLE_NOMEM && overruns < kOverruns);
       overruns += e == -NLE_NOMEM)
    e = receive_messages(events_.get(), [](ByteSpan) {});
  if (e == -NLE_NOMEM) return fail(failed("events", e));
  if (!requests_) {
    auto requests = connect();
    if (!requests) return fail(requests.error());
    requests_ = std::move(*requests);
  }
  auto asked = request_all();
  behind_ = !asked;
  // What is left in there of a request that failed would be taken for the answer to the next.
  if (behind_) requests_.reset();
  return asked;
}

Result<void> LinkMonitor::request_all() {
  for (const std::uint8_t family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}})
    if (auto asked = request_forwarding(family); !asked) return asked;
  if (auto asked = request_forwarding_interfaces(); !asked) return asked;
  if (auto asked = request_interfaces(); !asked) return asked;
  if (auto asked = request_addresses(); !asked) return asked;
  return request_vlans();
}

Result<void> LinkMonitor::request_interfaces() {
  std::set<Ifindex> seen;
  LinkRequest request{.mask = RTEXT_FILTER_SKIP_STATS};
  const int e = dump(
      requests_.get(), RTM_GETLINK, request, [&] { seen.clear(); },
      [&](const LinkMessage& message) {
        if (const auto* link = std::get_if<Interface>(&message)) {
          seen.insert(link->ifindex);
          take(message);
        }
      });
  if (e < 0) return fail(failed("list of interfaces", e));
  table_.keep(seen);
  return {};
}

Result<void> LinkMonitor::request_addresses() {
  std::set<InterfaceAddress> seen;
  ifaddrmsg all{};  // of both families
  const int e = dump(
      requests_.get(), RTM_GETADDR, all, [&] { seen.clear(); },
      [&](const LinkMessage& message) {
        if (const auto* change = std::get_if<AddressChange>(&message); change && change->there)
          seen.insert(change->address);
      });
  if (e < 0) return fail(failed("list of addresses", e));
  table_.take_all(std::move(seen));
  return {};
}

Result<void> LinkMonitor::request_vlans() {
  std::map<Ifindex, BridgeVlans> seen;
  LinkRequest request{.mask = RTEXT_FILTER_BRVLAN_COMPRESSED};
  request.info.ifi_family = AF_BRIDGE;
  const int e = dump(
      requests_.get(), RTM_GETLINK, request, [&] { seen.clear(); },
      [&](const LinkMessage& message) {
        if (const auto* vlans = std::get_if<BridgeVlans>(&message)) seen[vlans->ifindex] = *vlans;
      });
  if (e < 0) return fail(failed("list of VLANs", e));
  table_.take_all(seen);
  return {};
}

Result<void> LinkMonitor::request_forwarding(unsigned char family) {
  struct {
    netconfmsg info{};
    std::array<std::uint8_t, 3> padding{};
    nlattr index_header{.nla_len = sizeof(nlattr) + sizeof(int), .nla_type = NETCONFA_IFINDEX};
    int index = NETCONFA_IFINDEX_ALL;
  } request;
  request.info.ncm_family = family;
  int e = nl_send_simple(requests_.get(), RTM_GETNETCONF, 0, &request, sizeof request);
  if (e >= 0) e = receive_messages(requests_.get(), [this](ByteSpan message) { take(message); });
  // Any other error is the answer of a kernel without the family, which does not forward.
  if (e == -NLE_NOMEM) return fail(failed("forwarding", e));
  return {};
}

Result<void> LinkMonitor::request_forwarding_interfaces() {
  std::set<Ifindex> seen;
  netconfmsg request{};
  request.ncm_family = AF_INET;
  int e = 0;
  if (!table_.ipv4_forwarding())
    e = dump(
        requests_.get(), RTM_GETNETCONF, request, [&] { seen.clear(); },
        [&](const LinkMessage& message) {
          const auto* one = std::get_if<Forwarding>(&message);
          if (one != nullptr && one->enabled && one->ifindex != Ifindex())
            seen.insert(one->ifindex);
        });
  // Any other error is the answer of a kernel without IPv4.
  if (e == -NLE_NOMEM || e == -NLE_DUMP_INTR) return fail(failed("list of forwarding", e));
  table_.take_forwarding(std::move(seen));
  return {};
}

void LinkMonitor::take(ByteSpan message) {
  if (auto parsed = parse_link_message(message)) take(std::move(*parsed));
}

void LinkMonitor::take(LinkMessage message) {
  if (auto* link = std::get_if<Interface>(&message); link && link->physical && !link->pci.empty()) {
    const auto before = table_.interfaces().find(link->ifindex);
    link->physical = before != table_.interfaces().end() && before->second.pci == link->pci
                         ? before->second.physical
                         : !is_virtual_function(link->pci);
  }
  table_.take(message);
}

}  // namespace lldp::io
