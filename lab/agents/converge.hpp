// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "lab/agents/curve.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab::converge {

/// What befalls the fabric. All times are drawn evenly from the seed.
struct Scenario {
  std::uint64_t seed = 1;
  Duration start_spread = std::chrono::seconds(1);  ///< every agent starts once within it
  double loss = 0;                                  ///< probability that a frame is lost
  /// After all have started, for `churn_span`: agents that are stopped (with and without a shutdown
  /// frame) and started again from their state file, and links that are cut and repaired.
  std::size_t restarts = 0;
  std::size_t cuts = 0;
  std::string script{};  ///< one of kScripts; all of it happens within the same span
  Duration churn_span = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(120);  ///< given up so long after the last disturbance
  Duration settle = std::chrono::seconds(1);     ///< all must stay right for so long
};

using agents::Sample;

struct Outcome {
  std::string fabric{};  ///< its name
  std::size_t devices = 0;
  std::size_t links = 0;
  Duration last_start{};        ///< of an agent, when it first started
  Duration last_disturbance{};  ///< that, or the last restart or repair
  /// From the last disturbance until every level and port type was right, and stayed so; nullopt if
  /// that did not happen in time.
  std::optional<Duration> convergence{};
  /// The same of every location.
  std::optional<Duration> location{};
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_lost = 0;  ///< of those; not the ones sent to a stopped agent or a cut link
  std::uint64_t events = 0;
  std::vector<std::string> wrong_levels{};     ///< nodes, at the end: `leaf1: 2, not 1`
  std::vector<std::string> wrong_ports{};      ///< `leaf1:swp2: unmarked, not uplink`
  std::vector<std::string> wrong_locations{};  ///< `leaf1: 1 02:..., not 1 02:..., 2 02:...`
  /// That stand at the end, where ports have layers: `tor1:p2: layers 1:2 are set here, and ...`
  std::vector<std::string> cabling_alarms{};
  /// All agents came out right, and no alarm `cabling` stands.
  [[nodiscard]] bool well() const { return convergence && location && cabling_alarms.empty(); }
  std::vector<Sample> curve{};  ///< at most kSamples, evenly thinned
  static constexpr std::size_t kSamples = 1000;
};

/// Progress of a run, for a display.
struct Progress {
  Duration now{};
  std::size_t right = 0;  ///< levels and port types
  std::size_t total = 0;
};

/// Runs the agents' own core on virtual time over the fabric's links, whose delay is the fabric's,
/// and holds what they learn against the fabric's truth. The same fabric and scenario give the same
/// outcome, on any machine. `tell` is called now and then. The fabric is let go before its agents
/// start: a large one takes much of what they need.
[[nodiscard]] Outcome run(Fabric fabric, const Scenario& scenario,
                          const std::function<void(const Progress&)>& tell = {});

}  // namespace lldp::lab::converge
