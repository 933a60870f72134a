// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netlink/msg.h>

#include <optional>
#include <string>

namespace lldp::dataplane::bpf {

/// A route, or a nexthop that routes go by, with a BPF program that may send packets on by itself
/// (`encap bpf xmit`): by another interface, or into the ingress of one. Those of `in` and `out`
/// cannot.
struct BpfRoute {
  std::string kind{};   ///< what ip(8) calls it: `route` or `nexthop`
  std::string which{};  ///< and which one it is: `198.51.100.0/24 table 254`, `id 9`
  friend bool operator==(const BpfRoute&, const BpfRoute&) = default;
};
/// Nothing: a message of another type, or about one without such a program.
[[nodiscard]] std::optional<BpfRoute> parse_bpf_route(nlmsghdr* message);

}  // namespace lldp::dataplane::bpf
