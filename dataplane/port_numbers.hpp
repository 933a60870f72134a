// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// The interfaces' numbers of ports that a back end knows by name, as they were last called.
class PortNumbers {
 public:
  void note(const PortRef& port) { numbers_[port.name] = port.ifindex; }
  [[nodiscard]] std::optional<Ifindex> find(const std::string& name) const {
    const auto known = numbers_.find(name);
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }
  /// In order of their numbers; of one that has never been asked about, the kernel's; else 0.
  [[nodiscard]] std::vector<PortRef> ports(const std::vector<std::string>& names) const {
    std::vector<PortRef> out;
    for (const std::string& name : names) {
      const auto known = numbers_.find(name);
      out.push_back({known != numbers_.end()
                         ? known->second
                         : Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex()),
                     name});
    }
    std::ranges::sort(out);
    return out;
  }

 private:
  std::map<std::string, Ifindex> numbers_{};
};

}  // namespace lldp::dataplane
