// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/routing/local_reroute.hpp"
#include "qos/policy.hpp"
#include "sim/lossless/fabric.hpp"
#include "sim/lossless/lookout.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::lossless {

struct Settings {
  live::FabricPlace place{};
  bool is_protected = true;  ///< by agents' rules; else there is one lossless priority and no agent
  qos::Policy policy{};
  std::uint64_t rate_bps = 20'000'000;  ///< of every link
  std::uint16_t frame_octets = 1048;    ///< on the wire
  std::chrono::duration<double> sending{5};
  std::chrono::duration<double> timeout{30};  ///< for the agents to be right and protected
  std::string agent{};
  std::vector<std::string> agent_arguments{};
  std::string program{};  ///< the lab's own, whose `switch` is started
};

struct FlowResult {
  std::string name{};
  Path path{};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t disordered = 0;
  std::uint64_t mismarked = 0;  ///< received with another DSCP than after the path's turns
};
/// Frames that wait where they may not leave.
struct StoppedQueue {
  std::size_t node = 0;
  std::size_t peer = 0;
  std::string port{};
  std::uint8_t priority = 0;
  friend auto operator<=>(const StoppedQueue&, const StoppedQueue&) = default;
};
struct Outcome {
  double ready_seconds = 0;  ///< from the start of the agents until all were right and protected
  std::vector<FlowResult> flows{};
  /// Queues of a cycle in which each waits for another, and nothing has moved anywhere for
  /// `still_seconds`; empty: there is none.
  std::vector<StoppedQueue> deadlock{};
  double still_seconds = 0;
  std::uint64_t still_pauses = 0;    ///< PAUSE frames that switches sent meanwhile
  std::uint64_t waiting_octets = 0;  ///< in switches, at the end
  std::uint64_t pauses = 0;          ///< PAUSE frames that switches sent, in all
  std::uint64_t turned = 0;          ///< packets that changed class
  LossCounts lost{};                 ///< at switches and hosts
  std::uint64_t late_us = 0;         ///< the most that a process was late, while packets moved
  std::uint64_t fills_us = 0;        ///< in so long a buffer is filled up to XOFF
  std::uint64_t sent_us = 0;         ///< for so long hosts had something to send

  enum class Verdict : std::uint8_t {
    kHolds,     ///< everything that was sent has arrived, marked and ordered as it must be
    kDeadlock,  ///< queues wait for each other
    kFails,     ///< something else is amiss
    kNone,  ///< all that is amiss may be for want of the processor, or nothing is for want of time
  };
  [[nodiscard]] Verdict verdict() const;
  /// Everything has arrived, marked and ordered as it must be.
  [[nodiscard]] bool is_good() const;
  /// A process was late for half of the time in which a buffer fills. What the others sent
  /// meanwhile may close a cycle by itself; in balance it takes somewhat less than all of it.
  [[nodiscard]] bool is_late() const { return 2 * late_us > fills_us; }
  /// A cycle has at least four buffers, which fill one after the other, by what two senders have
  /// more than one link carries, half of what is sent: before that, nothing can stand still.
  [[nodiscard]] bool is_short() const { return sent_us < kFillings * fills_us; }
  static constexpr unsigned kFillings = 8;
};

/// The stopped queues that wait for each other, as far as counters tell: without those that wait
/// for a switch that can still send, and without those that no queue waits for.
[[nodiscard]] std::vector<StoppedQueue> stopped_cycle(const Fabric& fabric, const Views& views);

/// Builds the case's fabric of namespaces with a lossless switch in each of its switches, lets
/// agents protect it, cuts its links, sends the flows from their hosts until `sending` has passed,
/// waits until all has arrived, or until nothing moves any more, and takes all down again.
[[nodiscard]] Result<Outcome> run(const packets::Plan& plan, const Settings& settings);

}  // namespace lldp::lab::lossless
