// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <cstdint>
#include <optional>
#include <string>

#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// Whether an interface is asked for lists of packets.
struct Lists {
  bool on = false;
  int unread = 0;  ///< errno: why it is not known
  friend auto operator<=>(const Lists&, const Lists&) = default;
};

/// Whether the kernel may put packets that come in by an interface into a list, to be forwarded as
/// one (`ethtool -K PORT rx-gro-list on`). The rules then see the first packet alone: the kernel
/// splits the list behind the egress, and the others leave with the class that they came with.
class Bundles {
 public:
  Bundles();
  /// Off too where the kernel cannot do it, and of an interface that is gone.
  [[nodiscard]] Lists of(const std::string& interface);

 private:
  /// False: not told, and `why_` says why.
  [[nodiscard]] bool ask(ifreq& request);
  [[nodiscard]] std::optional<std::uint32_t> find_bit(const std::string& interface);

  UniqueFd socket_;
  int why_ = 0;                         ///< errno of the last question
  std::optional<std::uint32_t> bit_{};  ///< of the feature, of this kernel; all bits: it has none
};

}  // namespace lldp::dataplane::bpf
