// SPDX-License-Identifier: Apache-2.0
#include "lab/live/lossless.hpp"
#include "sim/commands/commands.hpp"
#include "sim/lossless/fabric.hpp"

namespace lldp::lab {
namespace {

constexpr Command kCommands[] = {
    {"sim", "send packets: does PFC deadlock, and what do the rules change", run_sim},
    {"throughput", "how much traffic a fabric carries on given paths", run_throughput},
    {"reproduce", "do again what a paper publishes, and compare", run_reproduce},
    {"bounce", "cut links of a live fabric and watch packets change priority", run_bounce},
    {"switch", "be the lossless switch of a network namespace", run_switch},
};

/// With the default classes.
class DefaultFabric final : public live::LosslessFabric {
 public:
  Result<std::map<std::string, std::string>> switch_files(const live::FabricPlace& place,
                                                          const Fabric& fabric,
                                                          const Settings& settings) const override {
    const auto ways = lossless::ways_between_hosts(fabric);
    if (!ways) return fail(ways.error());
    const auto rate = static_cast<std::uint64_t>(settings.megabits * 1e6);
    return lossless::switch_files(place, fabric, *ways, qos::Policy(), rate, settings.rules_late);
  }
  Result<void> address_hosts(const live::FabricPlace& place, const Fabric& fabric) const override {
    return lossless::address_hosts(place, fabric);
  }
  Result<std::size_t> start_agents(const live::FabricPlace& place, const Fabric& fabric,
                                   const std::string& agent,
                                   const std::vector<std::string>& arguments) const override {
    return lossless::start_agents(place, fabric, agent, qos::Policy(), arguments);
  }
  std::optional<Error> wait_for_rules(const live::FabricPlace& place, const Fabric& fabric,
                                      live::Watcher& watcher,
                                      live::Watcher::Clock::time_point deadline) const override {
    return lossless::wait_for_rules(place, fabric, watcher, deadline);
  }
  live::LossCounts losses(const live::FabricPlace& place, const Fabric& fabric,
                          live::Watcher::Clock::time_point deadline) const override {
    return lossless::losses(place, fabric, deadline);
  }
};

}  // namespace

const Simulator* simulator() {
  static const DefaultFabric fabric;
  static constexpr Simulator kSimulator{kCommands, &fabric};
  return &kSimulator;
}

}  // namespace lldp::lab
