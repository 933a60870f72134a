// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/agents/truth.hpp"

namespace lldp::lab::agents {

/// The tiers that a node is in or below: of each its level and the number of the group of devices
/// that share it. A host below several groups of one level has several entries of that level.
using Groups = std::vector<std::pair<Level, std::size_t>>;

/// Which switches without a leaf below have a tier of their own.
enum class Named : std::uint8_t {
  kSurely,   ///< a switch below is told it by one that has a leaf below
  kPerhaps,  ///< or by any other one that has it: it may be an echo, which names nothing (P7)
};

/// The tiers of every node by the cables that are up, if these were its levels: two devices of a
/// level are in one tier exactly if a path of switches below that tier joins them, each link from a
/// level to the next (docs/develop/rules.md P2, P3, P7). Computed from the whole fabric.
[[nodiscard]] std::vector<Groups> tiers_of_fabric(const Network& network, const Levels& levels,
                                                  Named named = Named::kSurely);

/// Compares the locations that running agents have found with the tiers of the fabric, as they
/// change: two devices have one ID for a tier exactly if they are in one group. A node without a
/// cable that is up may have any location.
class LocationTruth : public Observer {
 public:
  LocationTruth(const Network& network, const Levels& levels);

  /// Nodes that name other tiers than they have, IDs in excess of one for a group, and groups in
  /// excess of one for an ID.
  [[nodiscard]] std::size_t wrong() const { return misfits_ + split_ + shared_; }
  /// `leaf1: 1 02:..., not tiers 1 2`, `leaf1: stopped`, `tier 2 has the IDs ...`
  [[nodiscard]] std::vector<std::string> list_wrong() const;

  void started(std::size_t node) override { check(node); }
  void stopped(std::size_t node) override;
  void acted(std::size_t node, const core::Actions& actions) override;

 private:
  void check(std::size_t node);
  void fit(std::size_t node, bool fits);
  void count(std::size_t node, const Tiers& tiers, bool in);

  const Network& network_;
  std::vector<Groups> truth_;
  std::vector<bool> alone_;
  std::vector<bool> fits_;
  std::vector<Tiers> seen_;                                      ///< of each node, as counted
  std::vector<std::map<ChassisId, std::size_t>> ids_{};          ///< of each group, with its nodes
  std::map<std::pair<Level, ChassisId>, std::size_t> groups_{};  ///< that have the ID
  std::size_t misfits_ = 0;
  std::size_t split_ = 0;
  std::size_t shared_ = 0;
};

}  // namespace lldp::lab::agents
