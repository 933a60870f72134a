// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "agent/core/agent.hpp"

/// Short forms that tests of the core share.
namespace lldp::test {

using core::Agent;
using core::Settings;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline Ifindex ifindex(std::size_t n) { return *Ifindex::make(n); }
inline Level level(std::size_t n) { return *Level::make(n); }
/// The locally administered address 02:00:NODE:NODE:PORT:PORT.
inline MacAddress mac(std::size_t node, std::size_t port) {
  const auto octet = [](std::size_t v) { return static_cast<std::uint8_t>(v); };
  return {0x02, 0, octet(node >> 8), octet(node), octet(port >> 8), octet(port)};
}

}  // namespace lldp::test
