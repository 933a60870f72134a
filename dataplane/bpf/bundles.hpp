// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <cstdint>
#include <optional>
#include <string>

#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// Whether the kernel may put packets that come in by an interface into a list, to be forwarded as
/// one (`ethtool -K PORT rx-gro-list on`). The rules then see the first packet alone: the kernel
/// splits the list behind the egress, and the others leave with the class that they came with.
class Bundles {
 public:
  Bundles();
  /// False too where the kernel cannot tell, or cannot do it.
  [[nodiscard]] bool has_lists(const std::string& interface);

 private:
  [[nodiscard]] bool ask(ifreq& request) const;
  [[nodiscard]] std::optional<std::uint32_t> find_bit(const std::string& interface) const;

  UniqueFd socket_;
  std::optional<std::uint32_t> bit_{};  ///< of the feature, of this kernel; all bits: it has none
};

}  // namespace lldp::dataplane::bpf
