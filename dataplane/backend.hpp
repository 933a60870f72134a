// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "qos/ruleset.hpp"

namespace lldp::dataplane {

/// What a port's rules are made of, in every back end.
enum class Part : std::uint8_t {
  kClassify,  ///< what comes in gets the priority of its DSCP, and the port's mark
  kRemap,     ///< what turns leaves in the next class
  kQueues,    ///< a queue per lossless priority
  kPfc,       ///< flow control on them
};
enum class Action : std::uint8_t { kAdd, kReplace, kRemove };
[[nodiscard]] std::string_view to_string(Part p);    ///< classify, remap, queues, pfc
[[nodiscard]] std::string_view to_string(Action a);  ///< add, replace, remove

struct Change {
  Action action{};
  Part part{};
  friend bool operator==(const Change&, const Change&) = default;
};

/// The way of one port from the rules it has to those it should have. A value: it may be printed,
/// compared and applied later.
struct Plan {
  Ifindex port{};
  std::optional<qos::Ruleset> want{};  ///< nothing: all that is ours goes
  std::vector<Change> changes{};       ///< in the order in which apply() makes them
  [[nodiscard]] bool empty() const { return changes.empty(); }
  friend bool operator==(const Plan&, const Plan&) = default;
};
/// One line per change, then the rules wanted, each line beginning with `port`. Empty for an empty
/// plan. What --dry-run prints.
[[nodiscard]] std::string to_string(const Plan& plan, std::string_view port);

/// How a part stands where it acts: as read there, never as wished.
enum class PartState : std::uint8_t {
  kDone,
  kMissing,      ///< not there, or not as wanted
  kForeign,      ///< somebody else's thing stands in its place
  kBypassed,     ///< there, and packets do not, or need not, come its way
  kUnsupported,  ///< nobody here can put it there, or can say whether it is
};
[[nodiscard]] std::string_view to_string(PartState s);  ///< done, missing, foreign, ...
struct PartReading {
  Part part{};
  PartState state{};
  std::string text{};  ///< why, in a line; empty if done
  friend bool operator==(const PartReading&, const PartReading&) = default;
};
/// What was read of one port.
struct Reading {
  std::vector<PartReading> parts{};  ///< those that the rules wanted need, in order
  Plan mend{};                       ///< from what is there to what is wanted
};

/// Packets that turned and left by one port, by the priority they came with.
using Bounces = std::array<std::uint64_t, Priority::kMax + 1>;

/// One way to put remap rules into a switch or host. Rules outlive the back end: closing it, or the
/// death of the process, changes nothing, and the next one opened finds them and their counters.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line for a person: by what means, and where the rules are to be found.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Does ahead of time what the first port with each of these rules would have to wait for.
  [[nodiscard]] virtual Result<void> prepare(std::span<const qos::Ruleset> rules) = 0;
  /// Reads only: the changes that take `port` from its present rules to `want`; empty when none
  /// differ.
  [[nodiscard]] virtual Result<Plan> plan(Ifindex port, const qos::Ruleset& want) = 0;
  /// Reads only: how each part of `want` stands on `port`, where it acts.
  [[nodiscard]] virtual Result<Reading> verify(Ifindex port, const qos::Ruleset& want) = 0;
  /// Readable when somebody may have changed what verify() reads; -1: nothing tells.
  [[nodiscard]] virtual int events() const { return -1; }
  /// Takes the events that wait, a bounded number: the ports concerned, our own changes among them;
  /// port 0 if it may be any.
  [[nodiscard]] virtual std::vector<Ifindex> take_events() { return {}; }
  /// Those of `ports` that verify() would perhaps find other than when it last looked, and of which
  /// events() does not tell. Cheap; asked every 10 s.
  [[nodiscard]] virtual std::vector<Ifindex> glance(std::span<const Ifindex> ports) {
    return {ports.begin(), ports.end()};
  }
  /// Reads only: the changes that take all that is ours, and nothing else, off `port`.
  [[nodiscard]] virtual Result<Plan> plan_removal(Ifindex port) = 0;
  /// Touches the plan's port alone. On failure the changes already made are undone; the error names
  /// the one that failed (code ENODEV: the port has vanished). Applying twice changes nothing more.
  [[nodiscard]] virtual Result<void> apply(const Plan& plan) = 0;
  /// Whether settle() may have anything to do.
  [[nodiscard]] virtual bool settles() const { return false; }
  /// Moves the port's rules, unchanged and without a gap, to where they cost a packet less but
  /// could not be put at once. Takes up to 30 ms; false if there is nothing (more) to move. On
  /// failure they stay where they were.
  [[nodiscard]] virtual Result<bool> settle(Ifindex /*port*/) { return false; }
  /// The port is gone from this namespace: lets go of what is held for it.
  virtual void forget(Ifindex port) = 0;

  /// Ports with anything of ours on them, those found at start included, in order.
  [[nodiscard]] virtual Result<std::vector<Ifindex>> ports() = 0;
  /// Zeros for a port nothing has bounced through.
  [[nodiscard]] virtual Result<Bounces> bounces(Ifindex port) = 0;
};

}  // namespace lldp::dataplane
