// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "agent/links/link_message.hpp"
#include "agent/wire/packet_io.hpp"

namespace lldp::io {

/// Whether an interface is a port to speak on. Always Ethernet. The pattern `*` takes the usual
/// ones: devices of their own (no kind), DSA ports, and the ends of virtual cables (veth, tap); any
/// other pattern takes what it matches, whatever its kind.
[[nodiscard]] bool is_port(const Interface& link, std::span<const std::string> globs);

/// How to hear on it, by what its master does with frames.
[[nodiscard]] Port port_of(const Interface& link);

/// Whether it is a port of a bridge: then the device is a switch.
[[nodiscard]] bool is_bridged(const Interface& link);

}  // namespace lldp::io
