// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/live/watcher.hpp"

/// What `live run --lossless` needs of the simulator's rooms, which a build may leave out.
namespace lldp::lab::live {

/// Packets that switches of the fabric did not forward.
struct LossCounts {
  std::uint64_t drops = 0;     ///< for want of room
  std::uint64_t missed = 0;    ///< for want of room in the kernel
  std::uint64_t too_long = 0;  ///< which none of the links carries
};

/// A live fabric whose switches are processes that forward packets losslessly.
class LosslessFabric {
 public:
  static constexpr std::uint32_t kMostLate = 2000;  ///< ms
  struct Settings {
    double megabits = 20;          ///< of every link
    std::uint32_t rules_late = 0;  ///< ms until a switch has rules in force
  };

  virtual ~LosslessFabric() = default;
  /// The files of the switch processes, by node.
  [[nodiscard]] virtual Result<std::map<std::string, std::string>> switch_files(
      const FabricPlace& place, const Fabric& fabric, const Settings& settings) const = 0;
  /// Gives hosts addresses, so that they reach each other.
  [[nodiscard]] virtual Result<void> address_hosts(const FabricPlace& place,
                                                   const Fabric& fabric) const = 0;
  /// The agents that are not running; returns how many were started.
  [[nodiscard]] virtual Result<std::size_t> start_agents(
      const FabricPlace& place, const Fabric& fabric, const std::string& agent,
      const std::vector<std::string>& arguments) const = 0;
  /// Until every switch is protected; why it is not so by `deadline`.
  [[nodiscard]] virtual std::optional<Error> wait_for_rules(
      const FabricPlace& place, const Fabric& fabric, Watcher& watcher,
      Watcher::Clock::time_point deadline) const = 0;
  /// Of the switches that answer by `deadline`.
  [[nodiscard]] virtual LossCounts losses(const FabricPlace& place, const Fabric& fabric,
                                          Watcher::Clock::time_point deadline) const = 0;
};

}  // namespace lldp::lab::live
