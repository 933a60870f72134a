// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/topology/fabric.hpp"
#include "lab/whatif/failure.hpp"
#include "lab/whatif/routes.hpp"

namespace lldp::lab::whatif {

/// At most so many sets are looked at.
constexpr std::uint64_t kMostSets = 1'000'000'000'000;

/// Which sets of failed links are looked at.
struct Plan {
  std::size_t fail = 1;                    ///< links in a set
  std::optional<std::uint64_t> samples{};  ///< so many drawn from the seed; nullopt: all there are
  std::uint64_t seed = 1;
};

/// What of many sets is kept. Sums of these are sums of what they tell of.
struct Tally {
  std::uint64_t sets = 0;
  std::uint64_t bouncing = 0;     ///< sets in which packets turn
  std::uint64_t one_class = 0;    ///< that could deadlock if packets kept their class
  std::uint64_t two_classes = 0;  ///< that can with two and the rules as they are
  std::uint64_t lossy = 0;    ///< in which a packet can turn more often than there are classes for
  std::uint64_t cutting = 0;  ///< in which a switch has no way on until the routing converges
  std::uint64_t turns = 0;    ///< switches and destinations whose packets turn there, of all sets
  std::uint64_t second_turns = 0;  ///< of these, where a packet turns that did so before
  unsigned most_turns = 0;
  std::vector<std::uint64_t> turning{};  ///< by switch: sets in which packets turn there
  std::vector<std::uint32_t> worst{};    ///< links of the worst set, by their numbers in Routes
  Effect worst_effect{};

  void add(std::span<const std::uint32_t> set, const Effect& effect, std::size_t switches);
  void add(const Tally& other);
};

/// Sets that deadlock with two priorities come first, then loss of losslessness, then a deadlock
/// with one priority, then destinations cut off, then turns and bounces.
[[nodiscard]] bool is_worse(const Effect& a, const Effect& b);

/// The sets of a plan in blocks of equal size, whose results can be had apart.
class Study {
 public:
  static constexpr std::uint64_t kBlock = 1 << 15;
  /// Refuses more links than there are, or more sets than can be counted.
  [[nodiscard]] static Result<Study> of(const Fabric& fabric, const Plan& plan);

  [[nodiscard]] std::uint64_t sets() const { return sets_; }
  [[nodiscard]] std::size_t blocks() const;
  [[nodiscard]] const Routes& routes() const { return routes_; }
  /// Blocks on all processors. `done` gets each when it is ready, in any order, one at a time,
  /// until it says false.
  void run(const std::vector<std::size_t>& blocks,
           const std::function<bool(std::size_t, const Tally&)>& done) const;

 private:
  Study(const Fabric& fabric, const Plan& plan, std::uint64_t sets)
      : plan_(plan), routes_(fabric), sets_(sets) {}
  [[nodiscard]] Tally tally(std::size_t block, Evaluator& evaluator) const;
  [[nodiscard]] std::vector<std::uint32_t> unrank(std::uint64_t rank) const;
  [[nodiscard]] std::vector<std::uint32_t> draw(std::uint64_t number) const;

  Plan plan_;
  Routes routes_;
  std::uint64_t sets_ = 0;
};

/// A tally as a line of a sweep's results, and back. Fails for what is none.
[[nodiscard]] nlohmann::ordered_json to_json(const Tally& tally);
[[nodiscard]] Result<Tally> tally_from(const nlohmann::ordered_json& json, const Routes& routes);

}  // namespace lldp::lab::whatif
