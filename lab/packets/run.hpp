// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/packets/agents_inside.hpp"
#include "lab/packets/network.hpp"
#include "lab/packets/plan.hpp"

namespace lldp::lab::packets {

struct FlowResult {
  std::string name{};
  std::string path{};  ///< at the start: `host2, Leaf2, Spine1, ...`
  /// Payload that arrived: of a flow that ended, over its life; else over the second half of the
  /// run, so that how it began does not count.
  std::uint64_t throughput_bps = 0;
  std::optional<Picoseconds> start{};  ///< none: it still waits for others
  std::optional<Picoseconds> fct{};    ///< from its start to its last octet's arrival
  std::uint64_t received_octets = 0;
  std::uint32_t sent_again = 0;
};

/// A queue of a deadlock.
struct StuckQueue {
  std::string from{};
  std::string to{};
  std::uint8_t priority = 0;
};

struct Outcome {
  bool levels_agreed = false;
  bool stopped = false;  ///< before its time, by the user
  Picoseconds duration = 0;
  std::optional<Picoseconds> deadlocked_at{};  ///< when it was first there, to 10 us
  std::vector<StuckQueue> deadlock{};          ///< as it was then
  std::uint32_t deadlocks = 0;                 ///< how often one came
  Picoseconds deadlocked_for = 0;              ///< in all
  Picoseconds longest_deadlock = 0;            ///< to 10 us
  std::vector<Verdict> verdicts{};             ///< of the detector
  Picoseconds exposed = 0;       ///< time for which a link was up and its order unknown at an end
  std::uint64_t unroutable = 0;  ///< how often a flow had no way
  Counters count{};
  std::uint64_t queued_octets = 0;  ///< data on links and in queues at the end
  std::size_t slots = 0;            ///< the most that ever waited
  std::vector<FlowResult> flows{};
};

/// Who looks on, at times of his own.
struct Hooks {
  Trace trace{};
  Picoseconds sample_every = 0;
  std::function<void(const Network&)> sample{};
  std::function<bool(const Network&)> go_on{};  ///< asked every now and then; false: stop
};

/// What a run begins with: rules are installed, flows have their ways.
struct Prepared {
  Network network{};
  AgentsInside agents;
  std::vector<std::string> paths{};  ///< by flow
};
[[nodiscard]] Result<Prepared> prepare(const Plan& plan);

/// Agents find the levels, the paths follow from what has failed, the rules are compiled, packets
/// go. Fails where a flow has no way at the start, or the network cannot be.
[[nodiscard]] Result<Outcome> run(const Plan& plan, const Hooks& hooks = {});

}  // namespace lldp::lab::packets
