// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {

/// One direction of a link: 2 * its index in Fabric::links, and 1 more from `ends[1]` to `ends[0]`.
using Arc = std::uint32_t;
[[nodiscard]] constexpr Arc reversed(Arc arc) { return arc ^ 1U; }

/// A port's class (qos::PortClass) as a small number, for tables.
using ClassIndex = std::uint8_t;

/// A fabric as path searches want it: numbers alone, the arcs of a node side by side. Nodes and
/// links keep their indices. Immutable.
class Graph {
 public:
  struct Hop {
    std::uint32_t peer = 0;
    Arc arc = 0;
    ClassIndex out = 0;  ///< class of the port that the hop leaves by
    ClassIndex in = 0;   ///< of the port that it comes in by, at the peer
  };

  /// With Span::kLayers every link between switches needs layers.
  [[nodiscard]] static Result<Graph> of(const Fabric& fabric, Span span);
  /// By layers if every link between switches has them, else by levels.
  [[nodiscard]] static Graph of(const Fabric& fabric);

  [[nodiscard]] std::size_t nodes() const { return begin_.size() - 1; }
  [[nodiscard]] std::size_t arcs() const { return tail_.size(); }
  [[nodiscard]] std::span<const Hop> hops(std::size_t node) const {
    return {hops_.data() + begin_[node], hops_.data() + begin_[node + 1]};
  }
  [[nodiscard]] std::uint32_t tail(Arc arc) const { return tail_[arc]; }
  [[nodiscard]] std::uint32_t head(Arc arc) const { return tail_[reversed(arc)]; }
  /// Whether packets pass through: switches, and hosts that relay.
  [[nodiscard]] bool forwards(std::size_t node) const { return forwards_[node] != 0; }
  /// Whether what came in by the one class of port and leaves by the other turns: qos::turns().
  [[nodiscard]] bool turns(ClassIndex in, ClassIndex out) const { return turns_[in][out]; }
  /// All that turns(in, ...) says.
  [[nodiscard]] const bool* turns_row(ClassIndex in) const { return turns_[in].data(); }
  /// The classes of an arc's ports: of the one it leaves by, and of the one it comes in by.
  [[nodiscard]] ClassIndex out_class(Arc arc) const { return class_[arc]; }
  [[nodiscard]] ClassIndex in_class(Arc arc) const { return class_[reversed(arc)]; }
  [[nodiscard]] qos::PortClass port_class(ClassIndex c) const;

  /// Hops from every node to the nearest of `targets`; kFar where there is no way. Nodes that do
  /// not forward are ends only.
  static constexpr std::uint16_t kFar = 0xffff;
  [[nodiscard]] std::vector<std::uint16_t> distances(std::span<const std::uint32_t> targets) const;

 private:
  static constexpr std::size_t kClasses = 65;  ///< every qos::Tag, and unknown

  std::vector<std::uint32_t> begin_{};
  std::vector<Hop> hops_{};
  std::vector<std::uint32_t> tail_{};
  std::vector<ClassIndex> class_{};  ///< by arc: of the port at its tail
  std::vector<std::uint8_t> forwards_{};
  std::array<std::array<bool, kClasses>, kClasses> turns_{};
};

}  // namespace lldp::lab
