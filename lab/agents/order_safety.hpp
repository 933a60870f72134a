// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/agents/network.hpp"
#include "qos/proof.hpp"

namespace lldp::lab::agents {

/// Proves after every event that the rules which stand in the fabric leave no cycle of buffers
/// (docs/develop/proof.md). What counts is the rules in force: those of an agent
/// that died stay in the kernel. A link counts while lossless traffic passes and rules are in force
/// at both ends: where none are, the agent says so and protects nothing.
///
/// Apart from the others stand cycles through a switch whose agent does not run, that started from
/// a state that was not its last, whose rules are of before the carrier came that it did not see
/// come, or that a neighbor still takes for a station (docs/develop/rules.md, "What remains").
///
/// Only a change that can add a dependency is proved again; one that takes some away cannot close a
/// cycle.
class OrderSafety : public Observer {
 public:
  struct Cycle {
    TimePoint at{};
    bool with_dead = false;  ///< not without a switch whose agent does not run, or did not
    std::string text{};      ///< qos::to_string()
  };

  explicit OrderSafety(const Network& network) : network_(network) {}

  /// The first one seen of each kind.
  [[nodiscard]] const std::optional<Cycle>& cycle() const { return cycle_; }
  [[nodiscard]] const std::optional<Cycle>& cycle_with_dead() const { return cycle_with_dead_; }
  [[nodiscard]] std::uint64_t proofs() const { return proofs_; }
  /// How often both ends of a link held each other for lower, or for higher, when a proof was made:
  /// without such moments a test of them tests little.
  [[nodiscard]] std::uint64_t disagreements() const { return disagreements_; }
  /// The order by which the kernel treats the port's packets.
  [[nodiscard]] Order rule(std::size_t node, std::size_t slot) const;

  void started(std::size_t node) override;
  void stopped(std::size_t node) override;
  void ruled(std::size_t node, std::size_t slot, Order before) override;
  void cable_changed(std::size_t cable) override;
  void stepped() override;

 private:
  [[nodiscard]] bool prove(bool with_dead, std::optional<Cycle>& cycle);

  const Network& network_;
  qos::Forwarding forwarding_{};
  bool left_out_ = false;  ///< of the last proof: links of the dead, and what is as these
  bool unproved_ = false;
  std::optional<Cycle> cycle_{};
  std::optional<Cycle> cycle_with_dead_{};
  std::uint64_t proofs_ = 0;
  std::uint64_t disagreements_ = 0;
};

}  // namespace lldp::lab::agents
