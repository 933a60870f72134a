// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "qos/policy.hpp"
#include "qos/ruleset.hpp"

namespace lldp::qos {

/// What forwards in a fabric, as the rules see it. Hosts forward nothing, so no cycle goes through
/// one: leave them out, with their links.
struct Forwarding {
  struct Link {
    std::size_t a = 0;  ///< index of a switch
    std::size_t b = 0;
    PortClass at_a{};  ///< the class of the port at that end; the ends need not agree
    PortClass at_b{};
  };
  std::vector<std::string> switches{};  ///< names
  std::vector<Link> links{};
};

/// What a turn does to a packet of a lossless class.
enum class OnTurn : std::uint8_t {
  kChangesClass,      ///< Policy::turns(), as shipped
  kStays,             ///< nothing: no rules installed
  kStaysInLastClass,  ///< changes class, but never leaves the last lossless one: not safe, for
                      ///< study
};

/// One buffer of a cycle: the packets that came over a link, in one direction and one lossless
/// class. They wait for the next one's.
struct Buffer {
  std::size_t link = 0;  ///< index in Forwarding::links
  std::size_t from = 0;  ///< index of a switch
  std::size_t to = 0;
  Class cls{};
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Proof {
  std::uint64_t buffers = 0;       ///< (directed link, lossless class), shut links left out
  std::uint64_t dependencies = 0;  ///< ordered pairs of them that some packet can connect
  /// Empty: no routing and no failures can deadlock the fabric. Else a shortest cycle of buffers in
  /// which no packet goes back over the link it came by; only where there is none such, one in
  /// which packets do (a routing loop between two switches).
  std::vector<Buffer> cycle{};
  [[nodiscard]] bool deadlock_free() const { return cycle.empty(); }
};

/// Searches the dependencies between buffers that the rules permit for any routing and any set of
/// failures: a packet may go from any link of a switch to any link of it, and starts in any
/// lossless class of any chain anywhere. Failures only take dependencies away.
/// docs/develop/proof.md has the argument. Linear in the number of links (times classes) if there
/// is no cycle.
[[nodiscard]] Proof prove(const Forwarding& fabric, const Policy& policy,
                          OnTurn on_turn = OnTurn::kChangesClass);

/// `leaf2 -> spine1 [p5] -> leaf3 [p5] -> ... -> leaf2 [p6]`: each switch with the priority in
/// which packets arrive there. Names are escaped.
[[nodiscard]] std::string to_string(const std::vector<Buffer>& cycle, const Forwarding& fabric);

}  // namespace lldp::qos
