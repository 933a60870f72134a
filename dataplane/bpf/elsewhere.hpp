// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/programs.hpp"
#include "dataplane/bpf/qdiscs.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "qos/ruleset.hpp"

namespace lldp::dataplane::bpf {

/// What others do on interfaces that have nothing to do with a port: they can send packets into the
/// ingress of one. What is known of an interface holds until an event of traffic control names it.
class Elsewhere {
 public:
  /// Filters may have changed on this interface; 0: on any.
  void expire(Ifindex interface);
  /// Reads the filters of those that have any and are not known. `told`: what is there is told of
  /// another way, for they are ports, stand on one, or one stands on them.
  [[nodiscard]] Result<void> read(Clsact& clsact, const Qdiscs& qdiscs, const Stack& stack,
                                  const std::set<Ifindex>& told);
  /// Asks each interface for programs of others that no event tells of: TCX and netkit.
  void read_programs(const Programs& programs, const Stack& stack, const std::set<Ifindex>& told);

  /// What sends packets, or may send them, into the ingress of this port or of an interface that it
  /// stands on, as a sentence without a remedy; nothing: there is none.
  [[nodiscard]] std::optional<std::string> into(Ifindex port,
                                                std::span<const Stack::Link> below) const;
  /// The name of a filter that sends packets, or copies, on by mirred. Wherever they go, they have
  /// not come in by a port any more, so that the mark alone tells what turns.
  [[nodiscard]] std::optional<std::string> relies_on_mark() const;
  /// The name of a filter that may end a hook of one of these, and so take the mark off packets.
  [[nodiscard]] std::optional<std::string> ends_hook(const std::set<Ifindex>& passages) const;
  /// Nothing was found that sends packets on or ends a hook.
  [[nodiscard]] bool empty() const;

 private:
  /// Filters that send packets on or end a hook, or programs, named with their place, of interfaces
  /// that have any.
  using Found = std::map<Ifindex, std::vector<Stranger>>;

  std::set<Ifindex> known_;  ///< interfaces of which the filters were read
  Found filters_;
  Found programs_;
};

/// Why packets that go on by one of these passages do not turn, as a sentence with its first
/// remedies: by what `ends_hook()` finds, or by an XDP program there; nothing: there is neither.
[[nodiscard]] std::optional<std::string> harm_on_passages(const Elsewhere& elsewhere,
                                                          const Stack& stack,
                                                          const std::set<Ifindex>& passages);
/// Why the rules of a port, which are in their place, do not hold: by what `into()` and
/// harm_on_passages() have found.
[[nodiscard]] std::optional<std::string> harm_from_elsewhere(
    Part part, const qos::Ruleset& rules, const std::optional<std::string>& into,
    const std::optional<std::string>& on_passages);

}  // namespace lldp::dataplane::bpf
