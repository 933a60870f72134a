// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// From here on are the numbers that a back end gives to ports of which it knows the name alone,
/// and that have no interface: no kernel counts so far.
inline constexpr std::uint32_t kWithoutInterface = 0x7000'0000;
[[nodiscard]] inline bool has_interface(Ifindex number) {
  return number.value() < kWithoutInterface;
}

/// The interfaces' numbers of ports that a back end knows by name, as they were last called.
class PortNumbers {
 public:
  void note(const PortRef& port) {
    if (has_interface(port.ifindex))
      numbers_[port.name] = port.ifindex;
    else
      numbers_.try_emplace(port.name, port.ifindex);
  }
  [[nodiscard]] std::optional<Ifindex> find(const std::string& name) const {
    const auto known = numbers_.find(name);
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }
  /// In order of their numbers; of one that has never been asked about, the kernel's, or else one
  /// of its own, for what comes of each port is told by its number.
  [[nodiscard]] std::vector<PortRef> ports(const std::vector<std::string>& names) {
    std::vector<PortRef> out;
    for (const std::string& name : names) {
      const auto known = numbers_.find(name);
      if (known == numbers_.end() || !has_interface(known->second)) {
        const unsigned number = ::if_nametoindex(name.c_str());
        if (number != 0)
          numbers_[name] = Ifindex::make(number).value_or(Ifindex());
        else if (known == numbers_.end())
          numbers_[name] = *Ifindex::make(next_++);
      }
      out.push_back({numbers_.at(name), name});
    }
    std::ranges::sort(out);
    return out;
  }

 private:
  std::map<std::string, Ifindex> numbers_{};
  std::uint32_t next_ = kWithoutInterface;
};

}  // namespace lldp::dataplane
