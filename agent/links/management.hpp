// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/core/settings.hpp"
#include "agent/links/link_message.hpp"

namespace lldp::io {

/// The addresses that neighbors are told for managing this device, as lldpd chooses them. Without
/// `wanted` the first IPv4 and the first IPv6 address of the interfaces in the order of their
/// numbers, so that one of the loopback interface comes first; with globs all those whose interface
/// or text one of them matches, at most 8. Addresses of interfaces without carrier come after all
/// others. Loopback, link-local and IPv4-mapped addresses only if a glob matches their text.
[[nodiscard]] std::vector<core::ManagementAddress> management_addresses(
    const std::set<InterfaceAddress>& addresses, const std::map<Ifindex, Interface>& interfaces,
    std::span<const std::string> wanted);

}  // namespace lldp::io
