// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/fabric.hpp"

namespace lldp::core {

/// 64 random bits that identify a device; 0: none.
using AgentId = std::uint64_t;

/// A device's rank in the total order of devices, and what it has told of it: docs/develop/rules.md
/// A5 to A7. A Position without level and chassis ID is the bottom.
class Rank {
 public:
  Rank() = default;
  Rank(Position acting, Position bound) : acting_(std::move(acting)), bound_(std::move(bound)) {
    told_.assign(1, {sequence_, bound_});
  }

  /// R: all rules in force of this device fit it.
  [[nodiscard]] const Position& acting() const { return acting_; }
  /// B: the highest that the device may take without asking again.
  [[nodiscard]] const Position& bound() const { return bound_; }
  [[nodiscard]] std::uint32_t sequence() const { return sequence_; }
  /// The lowest bound among the one of `sequence` and all that came since.
  [[nodiscard]] Position lowest_since(std::uint32_t sequence) const;

  /// A bound to tell. False if it is the one that was told last.
  bool set_bound(const Position& bound);
  void set_acting(const Position& rank) { acting_ = rank; }
  /// Another boot begins: nothing was told in it.
  void restart();

 private:
  /// Bounds that are told one after another; of those before, the lowest.
  static constexpr std::size_t kKept = 32;
  struct Told {
    std::uint32_t sequence = 0;
    Position bound{};
  };

  Position acting_{};
  Position bound_{};
  std::uint32_t sequence_ = 1;
  std::vector<Told> told_{{1, {}}};  ///< by sequence, and never empty
};

}  // namespace lldp::core
