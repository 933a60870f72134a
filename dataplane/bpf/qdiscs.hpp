// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {

/// The qdiscs that packets go through after the egress hook, and where others have their filters.
class Qdiscs {
 public:
  struct Qdisc {
    std::uint32_t handle = 0;  ///< 0: the kernel's own choice
    std::string kind{};
    Power power{};
    /// The filters of its qevents are in blocks of these numbers.
    std::vector<std::uint32_t> blocks{};
    /// Its classes may have filters of their own.
    [[nodiscard]] bool has_classes() const;
  };
  /// Reads those of all interfaces: the kernel does not tell those of one.
  [[nodiscard]] Result<void> read(TcSocket& socket);
  void take(const TcObject& qdisc);
  [[nodiscard]] const std::vector<Qdisc>& of(Ifindex interface) const;
  /// It has a clsact qdisc, or, for the ingress, an ingress qdisc. Asked for the filters of its
  /// egress, that one tells those of the ingress.
  [[nodiscard]] bool has_hook(Ifindex interface, Part part) const;
  /// Those on which there may be a filter.
  [[nodiscard]] std::set<Ifindex> with_filters() const;

 private:
  std::map<Ifindex, std::vector<Qdisc>> all_{};
  std::map<Ifindex, bool> hooked_{};  ///< true: at the egress too
};

}  // namespace lldp::dataplane::bpf
