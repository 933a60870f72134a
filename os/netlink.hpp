// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "os/fd.hpp"

/// Questions to the kernel by netlink, whatever the protocol.
namespace lldp::netlink {

/// For the network namespace of the calling thread. It has its port ID at once. `protocol` is a
/// NETLINK_*; the error's `where` is `name`.
[[nodiscard]] Result<UniqueFd> open(int protocol, const std::string& name);

struct Refusal {
  int code = 0;         ///< errno
  std::string words{};  ///< the kernel's own, where it gave any
};
/// Sends a request, and gives each answer, up to the last one, to `each` (which may be empty).
/// Waits for the kernel. A dump that the kernel ends early is refused, too, and so is an answer
/// that the buffer cuts off: a dump needs one as large as the kernel makes its parts, 32 kB.
[[nodiscard]] std::optional<Refusal> ask(int socket, nlmsghdr* request, std::uint32_t sequence,
                                         std::span<char> buffer,
                                         const std::function<void(nlmsghdr*)>& each);

}  // namespace lldp::netlink
