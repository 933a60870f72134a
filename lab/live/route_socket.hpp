// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace lldp::lab::live {

struct NlFree {
  void operator()(nl_sock* s) const { nl_socket_free(s); }
  void operator()(nl_msg* m) const { nlmsg_free(m); }
};

/// One end of a veth pair.
struct VethEnd {
  std::string name{};
  int ifindex = 0;
  MacAddress address{};
};

/// A batch of rtnetlink requests to one network namespace: sent many at a time, each acknowledged.
class RouteBatch {
 public:
  /// Opens in the caller's present namespace, and stays there.
  [[nodiscard]] static Result<RouteBatch> open();

  /// A veth pair: `near` here and up, `far` in the namespace `far_namespace` (a descriptor).
  void add_veth(const VethEnd& near, const VethEnd& far, int far_namespace);
  void set_up(const std::string& name);
  void set_down(const std::string& name);
  /// A bridge, down.
  void add_bridge(const std::string& name, int ifindex);
  /// Makes a port one of a bridge's, that learns nothing and floods nothing.
  void enslave(int port, int bridge);
  /// Frames to `to` leave the bridge by `port`, whatever was set before.
  void replace_forwarding(const MacAddress& to, int port);
  /// Packets to one IPv4 or IPv6 address leave by `port`, to the neighbor of that very address.
  void replace_route(ByteSpan to, int port);
  /// An IPv4 or IPv6 address of `port`, and a network of that many bits that it is in.
  void replace_address(ByteSpan address, unsigned network_bits, int port);
  void replace_neighbor(ByteSpan ip, const MacAddress& mac, int port);
  /// Carries out what was added. The error names the first interface that failed.
  [[nodiscard]] Result<void> commit();

 private:
  struct Request {
    std::unique_ptr<nl_msg, NlFree> message{};
    std::string name{};
  };
  [[nodiscard]] Result<void> exchange(std::size_t first, std::size_t last);

  std::unique_ptr<nl_sock, NlFree> socket_{};
  std::vector<Request> requests_{};
};

}  // namespace lldp::lab::live
