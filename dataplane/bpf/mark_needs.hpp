// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "dataplane/bpf/nft_rules.hpp"
#include "dataplane/bpf/nftables.hpp"

/// Why packets need the mark of the port that they came by, where the kernel may write over it:
/// ends of a sentence, `packets that go on by m0 are known, so that they do not turn`.
namespace lldp::dataplane::bpf {

/// They go on by an interface that stands on the port: its number is that of what they came by.
[[nodiscard]] std::string need_above(std::string_view upper);
/// Nftables or iptables may change their DSCP, or (`turns`: they may turn) send them on from an
/// interface that is no port, anywhere in the namespace, or cannot be read. Nothing: neither is
/// known.
[[nodiscard]] std::optional<std::string> need_on_the_way(Nftables& nftables, bool turns);

/// What legacy iptables may write, by the names of its tables in this namespace and those of the
/// targets that the kernel has, both as in /proc, a line each: `table mangle, target DSCP`.
[[nodiscard]] std::optional<std::string> written_by_tables(std::string_view tables,
                                                           std::string_view targets);

}  // namespace lldp::dataplane::bpf
