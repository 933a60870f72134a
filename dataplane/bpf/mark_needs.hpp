// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "dataplane/bpf/nft_rules.hpp"
#include "dataplane/bpf/nftables.hpp"

namespace lldp::dataplane::bpf {

/// Why packets need the mark of the port that they came by, where the kernel may write over it.
struct MarkNeed {
  /// The end of a sentence, `packets that go on by m0 are known, so that they do not turn`; empty:
  /// no need is known.
  std::string why{};
  std::string unread{};  ///< what cannot be read then: `iptables (legacy) (Permission denied)`
  friend bool operator==(const MarkNeed&, const MarkNeed&) = default;
};

/// They go on by an interface that stands on the port: its number is that of what they came by.
[[nodiscard]] MarkNeed need_above(std::string_view upper);
/// A filter of this name sends them on from an interface that has nothing to do with a port.
[[nodiscard]] MarkNeed need_of_filter(std::string_view name);
/// Nftables or iptables may change their DSCP, or (`turns`: they may turn) send them on from an
/// interface that is no port, anywhere in the namespace. Nftables says itself if it cannot be read.
[[nodiscard]] MarkNeed need_on_the_way(Nftables& nftables, bool turns);

/// What legacy iptables may write, by the names of its tables in this namespace and those of the
/// targets that the kernel has, both as in /proc, a line each: `table mangle, target DSCP`.
[[nodiscard]] std::optional<std::string> written_by_tables(std::string_view tables,
                                                           std::string_view targets);

}  // namespace lldp::dataplane::bpf
