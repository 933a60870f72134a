// SPDX-License-Identifier: Apache-2.0
// Chains and neighbors of tests of classes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/core/classes.hpp"

namespace lldp::test {

inline qos::Chains chains(std::string_view text) { return qos::parse_chains(text).value(); }
/// Application classes, as chains without spares have them.
inline std::vector<qos::LosslessClass> applications(std::string_view text) {
  std::vector<qos::LosslessClass> out;
  for (const qos::Chain& chain : chains(text)) out.push_back(chain.application());
  return out;
}
inline const std::string kRoce = "3:dscp26+24-31>lossy";
inline const std::string kSonic = "3:dscp3>lossy,4:dscp4>lossy";

/// A neighbor with the class TLV; every chain has evidence `hops` away.
inline core::ClassPeer teller(std::string name, std::string_view text, std::uint8_t hops = 0) {
  core::ToldClasses told{.chains = chains(text)};
  told.hops.assign(told.chains.size(), hops);
  return {.name = std::move(name), .told = std::move(told)};
}
/// One that tells PFC and Application Priority alone.
inline core::ClassPeer stock(std::string name, std::string_view text) {
  return {.name = std::move(name), .applications = applications(text)};
}

}  // namespace lldp::test
