// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/packets/agents_inside.hpp"
#include "sim/packets/network.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {

/// Of the plan's flow of the same index.
struct FlowResult {
  /// Payload that arrived: of a flow that ended, over its life; else over the second half of the
  /// run, so that how it began does not count.
  std::uint64_t throughput_bps = 0;
  std::optional<Picoseconds> start{};  ///< none: it still waits for others
  std::optional<Picoseconds> fct{};    ///< from its start to its last octet's arrival
  std::uint64_t received_octets = 0;
  std::uint32_t sent_again = 0;
  std::uint32_t route = 0;  ///< at the start, in Outcome::routes
};

/// What a run says of the plan's flows, read from the flows themselves: there may be very many.
class FlowResults {
 public:
  FlowResults() = default;
  /// Each flow's route at the start.
  explicit FlowResults(std::vector<std::uint32_t> routes)
      : routes_(std::move(routes)), at_half_(routes_.size()) {}
  void note_half(const std::vector<Flow>& flows);
  /// `rest` is the time that the second half has taken.
  void close(std::vector<Flow>&& flows, Picoseconds rest);

  [[nodiscard]] std::size_t size() const { return routes_.size(); }
  [[nodiscard]] bool empty() const { return routes_.empty(); }
  /// After close().
  [[nodiscard]] FlowResult operator[](std::size_t flow) const;

  struct Iterator {
    const FlowResults* of = nullptr;
    std::size_t at = 0;
    FlowResult operator*() const { return (*of)[at]; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  std::vector<Flow> flows_{};
  std::vector<std::uint32_t> routes_{};
  std::vector<std::uint64_t> at_half_{};  ///< octets that had come
  Picoseconds rest_ = 0;
};

/// A queue of a deadlock.
struct StuckQueue {
  std::string from{};
  std::string to{};
  std::uint8_t priority = 0;
};

struct Outcome {
  bool levels_agreed = false;
  bool stopped = false;         ///< before its time, by the user or for want of memory
  bool memory_ran_out = false;  ///< what stands here is of the time before
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
  FlowResults flows{};
  std::vector<std::uint32_t> routes{};  ///< as Network::routes
};
/// The way of a flow at the start: `host2, Leaf2, Spine1, ...`
[[nodiscard]] std::string path_text(const Plan& plan, const Outcome& outcome,
                                    const FlowResult& flow);

/// Observers, called at times of their own.
struct Hooks {
  Trace trace{};
  Picoseconds sample_every = 0;
  std::function<void(const Network&)> sample{};
  bool to_the_end = true;                       ///< samples go on when all flows have ended
  std::function<bool(const Network&)> go_on{};  ///< asked every now and then; false: stop
};

/// What a run begins with: rules are installed, flows have their ways.
struct Prepared {
  Network network{};
  AgentsInside agents;
  Ways ways;
};
[[nodiscard]] Result<Prepared> prepare(const Plan& plan);

/// A run that its owner drives step by step, adding flows as it goes. Everything but packets
/// (agents, links that fail, observers) happens between two calls of the engine.
class Simulation {
 public:
  enum class Halt : std::uint8_t {
    kTime,      ///< the time has come
    kIdle,      ///< no flow that has an end is under way, and no moment waits
    kDeadlock,  ///< there is one, as there was none before
    kAsked      ///< by halt()
  };
  Simulation() = default;
  virtual ~Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Goes on until `end`; until nothing is under way only where that is kNever.
  virtual Halt run_until(Picoseconds end) = 0;
  /// From within a run: no later moment comes in this call of run_until().
  virtual void halt() = 0;
  /// A flow by the links that are up now; its number. It may be sent while a notice is given.
  virtual Result<std::uint32_t> send(const PlannedFlow& flow) = 0;
  /// A flow of the plan, whose start was kNever, begins now.
  virtual void release(std::uint32_t flow) = 0;
  /// A notice at that time, or now if it is over.
  virtual void call_at(Picoseconds at, std::uint32_t number) = 0;
  [[nodiscard]] virtual Network& network() = 0;
  /// Whether there is a deadlock now.
  [[nodiscard]] virtual bool deadlocked() = 0;
  /// Once, at the end.
  [[nodiscard]] virtual Outcome outcome() = 0;
};

/// What of a run has to be done by one thread; empty: nothing.
[[nodiscard]] std::string_view needs_one_thread(const Plan& plan, const Hooks& hooks);

/// A run that begins with the plan's flows, and not with its program; `plan` and `hooks` outlive
/// it. `notice` is told of what Network::notice says; that takes one thread. Fails as run() does.
[[nodiscard]] Result<std::unique_ptr<Simulation>> simulate(const Plan& plan, const Hooks& hooks,
                                                           Notice notice = {},
                                                           std::size_t threads = 1);

/// Agents find the levels, the paths follow from what has failed, the rules are compiled, packets
/// go. Fails where a flow has no way at the start, or the network cannot be. The outcome is the
/// same for any number of threads; where there is something that needs one, there is one.
[[nodiscard]] Result<Outcome> run(const Plan& plan, const Hooks& hooks = {},
                                  std::size_t threads = 1);

}  // namespace lldp::lab::packets
