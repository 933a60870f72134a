// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <array>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// The port under its name, if it is an interface of this namespace.
inline PortRef ref(Ifindex port) {
  std::array<char, IF_NAMESIZE> name{};
  if (::if_indextoname(port.value(), name.data()) == nullptr) return {port, "swp7"};
  return {port, name.data()};
}
inline std::vector<Ifindex> numbers_of(const std::vector<PortRef>& ports) {
  std::vector<Ifindex> numbers;
  for (const PortRef& port : ports) numbers.push_back(port.ifindex);
  return numbers;
}
/// A plan of one port.
inline Result<void> finish(Backend& backend, const PortPlan& plan) {
  return finish(backend, Plan{.ports = {plan}});
}

}  // namespace lldp::dataplane
