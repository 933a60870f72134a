// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "qos/carried.hpp"
#include "qos/ruleset.hpp"

namespace lldp::dataplane {

/// A port: the kernel's number for it, and the name by which people and other programs know it.
struct PortRef {
  Ifindex ifindex{};
  std::string name{};
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

/// What a port's rules are made of, in every back end.
enum class Part : std::uint8_t {
  kClassify,  ///< what comes in gets the priority of its DSCP, and the port's mark
  kRemap,     ///< what turns leaves in the next class
  kQueues,    ///< a queue per lossless priority
  kPfc,       ///< flow control on them
};
inline constexpr Part kParts[] = {Part::kClassify, Part::kRemap, Part::kQueues, Part::kPfc};
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
struct PortPlan {
  PortRef port{};
  std::optional<qos::Ruleset> want{};  ///< nothing: all that is ours goes
  std::vector<Change> changes{};       ///< in the order in which they are made
  [[nodiscard]] bool empty() const { return changes.empty(); }
  friend bool operator==(const PortPlan&, const PortPlan&) = default;
};
/// One line per change, then the rules wanted, each line beginning with the port's name. Empty for
/// an empty plan. What --dry-run prints.
[[nodiscard]] std::string to_string(const PortPlan& plan);

/// What is to change in the whole device: no port twice, and those that are not there stay as they
/// are.
struct Plan {
  std::vector<PortPlan> ports{};
};

/// What came of a port's part of a plan.
struct Outcome {
  Ifindex port{};
  std::optional<Change> refused{};  ///< the change that failed, where it was one
  /// Nothing: done. Code ENODEV: the port has vanished.
  std::optional<Error> why{};
  /// Of what is done: packets meet these rules from now on, and no earlier ones. False: verify()
  /// tells when, and an event of the port comes when it may.
  bool in_force = true;
};

/// In a line: the change, and why it was refused.
[[nodiscard]] Error error_of(const Outcome& outcome);

/// By what means a back end does a part.
enum class Support : std::uint8_t { kNo, kSoftware, kHardware };
/// Of each part, by its number.
using Capabilities = std::array<Support, 4>;

/// How a part stands where it acts: as read there, never as wished.
enum class PartState : std::uint8_t {
  kDone,
  kMissing,      ///< not there, or not as wanted
  kForeign,      ///< something of another program is in its place
  kBypassed,     ///< there, and packets do not, or need not, come its way
  kLimited,      ///< there as far as the chip can do it: the text says what it cannot
  kUnsupported,  ///< it cannot be installed here, or cannot be read back
  kUnverified,   ///< there, and whether packets change by it cannot be seen
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
  PortPlan mend{};                   ///< from what is there to what is wanted
};

/// Packets that turned and left by one port, by the priority they came with.
using Bounces = std::array<std::uint64_t, Priority::kMax + 1>;
/// Packets that turned and left by one port in no class, by their DSCP: they did not change.
using Unclassed = std::array<std::uint64_t, Dscp::kMax + 1>;

/// What a platform itself has of lossless classes, without what we set there.
struct PlatformClasses {
  struct Port {
    std::uint8_t pfc = 0;                  ///< bit n: PFC is on for priority n
    std::array<std::uint64_t, 8> dscps{};  ///< of each priority the DSCPs that lead to it, as bits
    friend bool operator==(const Port&, const Port&) = default;
  };
  std::vector<Port> ports{};     ///< those that have either
  qos::Chains chains{};          ///< that the platform turns packets by itself
  std::size_t most_classes = 0;  ///< lossless ones that the chip can tell apart; 0: all of them
  friend bool operator==(const PlatformClasses&, const PlatformClasses&) = default;
};

/// What has happened since it was last asked for.
struct Events {
  /// Ports of which verify() may say something else now, our own changes among them; 0: any.
  std::vector<Ifindex> changed{};
  std::vector<Outcome> outcomes{};  ///< one for each port of each plan
};

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
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  [[nodiscard]] bool does(Part part) const {
    return capabilities()[static_cast<std::size_t>(part)] != Support::kNo;
  }
  /// It removes what an earlier start made of this part, which may have done more than this one.
  [[nodiscard]] virtual bool removes(Part part) const { return does(part); }
  /// What could not be looked at when it was opened, and so may be ours and stay behind.
  [[nodiscard]] virtual std::optional<Error> overlooked() const { return std::nullopt; }
  /// Why nothing can be read or changed at present; an event of any port reports the end of that
  /// state. Codes ENOENT and ECONNREFUSED: there is no switch to ask.
  [[nodiscard]] virtual std::optional<Error> down() const { return std::nullopt; }
  /// Some classes of a port can be lossy there and others not (PortClass::lossy). If not, the port
  /// is shut in their place.
  [[nodiscard]] virtual bool splits_classes() const { return false; }
  /// What of lossless classes is lost, for want of means, between a port with rules `in` and one
  /// with rules `out`.
  [[nodiscard]] virtual std::optional<PartReading> crossing_limit(const qos::Ruleset& /*in*/,
                                                                  const qos::Ruleset& /*out*/) {
    return std::nullopt;
  }
  /// So many ports' changes at once leave others their turn.
  [[nodiscard]] virtual std::size_t ports_per_turn() const { return 16; }

  /// Does ahead of time what the first port with each of these rules would have to wait for.
  [[nodiscard]] virtual Result<void> prepare(std::span<const qos::Ruleset> rules) = 0;
  /// Reads only: the changes that take `port` from its present rules to `want`; empty when none
  /// differ.
  [[nodiscard]] virtual Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) = 0;
  /// Reads only: how each part of `want` stands on `port`, where it acts.
  [[nodiscard]] virtual Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) = 0;
  /// Readable when take_events() has something to tell or to do; -1: never.
  [[nodiscard]] virtual int events() const { return -1; }
  /// A bounded number; the rest keeps events() readable. Never waits.
  [[nodiscard]] virtual Events take_events() = 0;
  /// Why there is a glance: some seconds have passed, and what costs more than that may wait for a
  /// later one; or an answer about the present state is to be given.
  enum class Glance : std::uint8_t { kOfTime, kOfQuestion };
  /// For what changes in a moment and no event tells of; and for what needs an error to change.
  static constexpr std::chrono::seconds kGlancePause{9};
  static constexpr std::chrono::seconds kRareGlancePause{60};
  /// How long after the last one a glance of time may come, by what the back end knows now.
  [[nodiscard]] virtual std::chrono::seconds glance_pause() const { return kGlancePause; }
  /// Those of `ports` whose state may differ from the last verify() without a report by events().
  /// Cheap; called before an answer, and when glance_pause() is over.
  [[nodiscard]] virtual std::vector<Ifindex> glance(std::span<const Ifindex> ports,
                                                    Glance /*why*/) {
    return {ports.begin(), ports.end()};
  }
  /// An interface, port or not, has come, gone or changed, of which events() need not tell: what is
  /// kept of interfaces from one verify() to the next is old.
  virtual void links_changed() {}
  /// Reads only: the changes that take all that is ours, and nothing else, off `port`.
  [[nodiscard]] virtual Result<PortPlan> plan_removal(const PortRef& port) = 0;
  /// Begins the changes; what came of them is an event, which may be there already. Touches the
  /// plan's ports alone. Where a port's change fails, those made on it before are undone. Applying
  /// twice changes nothing more. A port whose outcome is not known yet is in no other plan.
  virtual void apply(const Plan& plan) = 0;
  /// The port is gone from this namespace: lets go of what is held for it.
  virtual void forget(Ifindex port) = 0;

  /// Ports with anything of ours on them, those found at start included, in order of their numbers.
  [[nodiscard]] virtual Result<std::vector<PortRef>> ports() = 0;
  /// Zeros for a port nothing has bounced through.
  [[nodiscard]] virtual Result<Bounces> bounces(Ifindex port) = 0;
  /// Calls each(port, counts) for every port; for none where the back end does not count them.
  using EachUnclassed = std::function<void(Ifindex, const Unclassed&)>;
  virtual void count_unclassed(std::span<const Ifindex>, const EachUnclassed&) {}
  /// The same of one port. Nothing where the back end does not count them.
  [[nodiscard]] std::optional<Unclassed> unclassed(Ifindex port) {
    std::optional<Unclassed> its;
    count_unclassed(std::span(&port, 1), [&](Ifindex, const Unclassed& counts) { its = counts; });
    return its;
  }
  /// As the hardware counted when it was last asked.
  [[nodiscard]] virtual qos::Carried carried(const PortRef&) const { return {}; }
  /// What the port is called in the back end's own world; empty: the same.
  [[nodiscard]] virtual std::string alias(const PortRef&) const { return {}; }
  /// What we have set of the port's own PFC and map of DSCPs, which so is no word of the
  /// platform's.
  struct Made {
    std::uint8_t pfc = 0;               ///< bit n: PFC was off for priority n
    std::vector<qos::Class> added{};    ///< DSCPs that were not led to that priority
    std::vector<qos::Class> removed{};  ///< DSCPs that were
  };
  [[nodiscard]] virtual Made made(const PortRef&) const { return {}; }
  /// As last read; null: it is the kernel's drivers that know (dcbnl), or nothing was read yet. An
  /// event of any port tells that it may be another.
  [[nodiscard]] virtual const PlatformClasses* platform() const { return nullptr; }
  /// A setting of the port that was there before and is off while our rules are there, in a line;
  /// empty: none.
  [[nodiscard]] virtual std::string displaced(const PortRef&) const { return {}; }
  /// PFC that the rules have taken from others is meant to be off: it is no longer displaced, and
  /// is not put back. `accept` false: that is withdrawn.
  [[nodiscard]] virtual Result<void> accept_pfc(const PortRef& port, bool /*accept*/) {
    return fail(Error{0, port.name,
                      "backend " + std::string(name()) +
                          " takes no PFC from others: nothing to accept or reject"});
  }
};

/// How long callers with nothing else to do wait for the next answer of a back end that answers
/// later. A finished change ends the waiting.
inline constexpr std::chrono::seconds kPatience{10};

/// Waits for the outcomes of these ports, of which each is in a plan: for callers that have nothing
/// else to do. The error is the first port's, and ENODEV only if there is no other; ETIMEDOUT: none
/// of them had an outcome for as long as `patience`, whatever else happened.
[[nodiscard]] Result<void> wait_for(Backend& backend, std::set<Ifindex> ports,
                                    std::chrono::milliseconds patience = kPatience);
/// Applies the plan, and waits so for what comes of it.
[[nodiscard]] Result<void> finish(Backend& backend, const Plan& plan);

/// Takes all that is ours off every port, and waits for it. What is refused of one port keeps no
/// other from being done; the error is the first. A port that has vanished is none.
[[nodiscard]] Result<void> remove_all(Backend& backend);

}  // namespace lldp::dataplane
