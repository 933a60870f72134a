// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {

/// The qdiscs that packets go through after the egress hook.
class Qdiscs {
 public:
  struct Qdisc {
    std::uint32_t handle = 0;  ///< 0: the kernel's own choice
    std::string kind{};
    Power power{};
    /// Its classes may have filters of their own.
    [[nodiscard]] bool has_classes() const;
  };
  /// Reads those of all interfaces: the kernel does not tell those of one.
  [[nodiscard]] Result<void> read(TcSocket& socket);
  [[nodiscard]] const std::vector<Qdisc>& of(Ifindex interface) const;

 private:
  std::map<Ifindex, std::vector<Qdisc>> all_{};
};

}  // namespace lldp::dataplane::bpf
