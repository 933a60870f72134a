// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/routing/cases.hpp"
#include "qos/policy.hpp"
#include "sim/bounce/verdict.hpp"

namespace lldp::lab::bounce {

struct Settings {
  live::FabricPlace place{};
  BounceMode mode = BounceMode::kRouted;
  std::string agent{};
  std::string backend = "bpf";
  std::vector<std::string> agent_arguments{};  ///< further ones, for every agent
  std::chrono::duration<double> timeout{30};   ///< for the agents to be right and protected
  /// How often agents are restarted under traffic: by turns those of the switches where the first
  /// flow turns, with SIGKILL and with SIGTERM, and those of their neighbors on its path.
  std::size_t restarts = 0;
  double packets_per_second = 10'000;  ///< during these
};

/// A packet's passage through a switch, as it was seen.
struct Hop {
  std::size_t node = 0;
  Adjacency in{};
  Adjacency out{};
  /// Marking in and out of the packets that were sent in a lossless class, each pair once.
  std::vector<std::pair<Marking, Marking>> seen{};
  bool turn = false;
};

/// One flow before or after the cut.
struct FlowResult {
  std::string flow{};
  Path path{};
  std::vector<Hop> hops{};
  std::size_t sent = 0;
  std::size_t as_sent = 0;              ///< arrived with the marking they were sent with
  std::size_t remarked = 0;             ///< arrived with another
  std::vector<std::string> problems{};  ///< `PROBE: what`; none: all is as it must be
};

struct RestartResult {
  std::string flow{};
  std::vector<std::string> switches{};   ///< where the flow turns
  std::vector<std::string> neighbors{};  ///< theirs, on its path
  std::size_t restarts = 0;
  std::uint64_t sent = 0;
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;  ///< arrived with another DSCP than the one after the turns
  double seconds = 0;
};

struct Outcome {
  std::string backend{};
  double ready_seconds = 0;  ///< from the start of the agents until all were right and protected
  std::vector<FlowResult> before{};
  std::vector<FlowResult> after{};
  std::uint64_t turns = 0;               ///< of probes in lossless classes
  std::vector<std::string> miscounts{};  ///< where the switches' own counters say otherwise
  std::optional<RestartResult> restarts{};
  [[nodiscard]] bool turned() const;  ///< after the cut, the path of any flow
  /// A path turned, and every packet was everywhere what it had to be.
  [[nodiscard]] bool holds() const;
};

/// Builds the scenario's fabric of namespaces, lets agents protect it, sends probes along the
/// normal paths, cuts the links, sends them along the paths of path_of(), and takes all down again.
[[nodiscard]] Result<Outcome> run(const NamedCase& scenario, const qos::Policy& policy,
                                  const Settings& settings);

/// Lossless classes, the lossy one and others' DSCPs, with every ECN; IPv4 and IPv6; on a bridged
/// fabric also tagged.
[[nodiscard]] std::vector<ProbePacket> probes_for(std::size_t flow, const qos::Policy& policy,
                                                  BounceMode mode, std::uint32_t first_serial);

}  // namespace lldp::lab::bounce
