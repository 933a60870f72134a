// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/agents/truth.hpp"

namespace lldp::lab::agents {

/// Where every node stands by the cables that are up, if these were its levels: docs/develop/rules.md P1 to
/// P3, computed from the whole fabric. Empty for nodes without a level. `known`: the location that
/// stays, by node, where no neighbor tells one; empty: none stays.
[[nodiscard]] std::vector<Tiers> locations_of(const Network& network, const Levels& levels,
                                              const std::vector<Tiers>& known = {});

/// Compares the locations that running agents have found with the right ones, as they change. A
/// node without a cable that is up may have any location.
class LocationTruth : public Observer {
 public:
  LocationTruth(const Network& network, const Levels& levels);

  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  /// `leaf1: 1 02:..., not 1 02:..., 2 02:...`, `leaf1: stopped`
  [[nodiscard]] std::vector<std::string> list_wrong() const;

  void started(std::size_t node) override { check(node); }
  void stopped(std::size_t node) override { set(node, false); }
  void acted(std::size_t node, const core::Actions& actions) override;

 private:
  void check(std::size_t node);
  void set(std::size_t node, bool right);

  const Network& network_;
  std::set<Tiers> places_{};           ///< where devices stand: those of one leaf all at one
  std::vector<const Tiers*> truth_{};  ///< of each node, one of these
  std::vector<bool> alone_;
  std::vector<bool> right_;
  std::size_t wrong_ = 0;
};

}  // namespace lldp::lab::agents
