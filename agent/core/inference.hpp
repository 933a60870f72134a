// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/core/settings.hpp"
#include "agent/core/snapshot.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"

namespace lldp::core {

/// By what the inference knows a switch again: the same in every version, as the state file holds
/// it.
[[nodiscard]] std::uint64_t hash_of(const ChassisId& id);

/// A switch with a level, heard on a port.
struct HeardSwitch {
  Level level{};
  std::uint64_t chassis = 0;  ///< hash_of() its chassis ID
  friend bool operator==(const HeardSwitch&, const HeardSwitch&) = default;
};

/// What the neighbors on one port amount to for the inference. Those without a level say nothing.
struct Heard {
  std::optional<Level> lowest{};  ///< 0: a host
  boost::container::small_vector<HeardSwitch, 1> switches{};
  friend bool operator==(const Heard&, const Heard&) = default;
};

/// How a switch's port stands to what is heard there.
[[nodiscard]] PortType type_of_port(std::optional<Level> own, std::optional<Level> heard);

/// How many of something stand at each level. Of the 255 levels a fabric has a handful, so those in
/// use are kept and no others: a simulated fabric holds two of these for each of its devices.
class LevelCount {
 public:
  void add(std::optional<Level> level) {
    if (!level) return;
    const auto at = find(*level);
    if (at != counts_.end() && at->level == *level)
      ++at->count;
    else
      counts_.insert(at, {*level, 1});
  }
  /// The level has been added before.
  void remove(std::optional<Level> level) {
    if (!level) return;
    const auto at = find(*level);
    if (--at->count == 0) counts_.erase(at);
  }
  [[nodiscard]] std::uint32_t at(Level level) const {
    const auto at = std::ranges::lower_bound(counts_, level, {}, &Count::level);
    return at != counts_.end() && at->level == level ? at->count : 0;
  }
  [[nodiscard]] std::optional<Level> lowest() const {
    return counts_.empty() ? std::nullopt : std::optional(counts_.front().level);
  }
  [[nodiscard]] std::optional<Level> highest() const {
    return counts_.empty() ? std::nullopt : std::optional(counts_.back().level);
  }

 private:
  struct Count {
    Level level{};
    std::uint32_t count = 0;
  };
  std::vector<Count>::iterator find(Level level) {
    return std::ranges::lower_bound(counts_, level, {}, &Count::level);
  }

  std::vector<Count> counts_{};  ///< by rising level, none of them 0
};

/// The switches that are heard, and those among which the device found its level (A): how it knows
/// that it was moved.
class Surroundings {
 public:
  static constexpr std::size_t kMost = 1024;

  void add(std::uint64_t chassis);
  void remove(std::uint64_t chassis);
  /// Adds the switches that are heard now to A. Where A is full, those that are not heard make
  /// room.
  void learn();
  void restore(const std::vector<std::uint64_t>& learned);
  void clear();
  /// At least one switch with a level is heard, and at most half of those are in A.
  [[nodiscard]] bool moved() const { return !heard_.empty() && 2 * known_ <= heard_.size(); }
  [[nodiscard]] std::vector<std::uint64_t> learned() const;  ///< A, rising

 private:
  boost::container::flat_map<std::uint64_t, std::uint32_t> heard_{};  ///< how often each
  boost::container::flat_set<std::uint64_t> learned_{};
  std::size_t known_ = 0;  ///< of heard_, in learned_
};

/// The level of a device: docs/develop/rules.md L1 to L6. It looks at what is heard, never at the
/// order in which that came, and knows the table only as counts per level: a port's change costs
/// the same whatever the number of ports.
class Inference {
 public:
  struct Rules {
    Role role = Role::kSwitch;
    std::optional<Level> pinned{};
    Level max_level{};
    Duration raise_hold{};
    Duration lower_hold{};
    Duration establish{};
    Duration withdraw_hold{};
    Duration unsupported_after{};
  };
  /// What outlives a restart.
  struct Kept {
    std::optional<Level> level{};
    Duration supported{};
    std::vector<std::uint64_t> surroundings{};
  };

  Inference(const Rules& rules, const Kept& restored);

  /// decide() must follow.
  void set_rules(const Rules& rules, TimePoint now);
  /// What is heard on a port has changed; `Heard{}` when nothing is. decide() must follow.
  void update(const Heard& before, const Heard& after);
  /// Goes by what is heard now; true if the level has changed. `renounced`: what changed is a frame
  /// in which a neighbor that gave support tells a higher level or none.
  bool decide(TimePoint now, bool renounced = false);
  /// The operator knows better: the level is withdrawn, established or not, and learned anew. True
  /// if it has changed.
  bool forget(TimePoint now);
  /// When decide() is due though nothing new is heard.
  [[nodiscard]] std::optional<TimePoint> deadline() const;

  [[nodiscard]] std::optional<Level> level() const;
  [[nodiscard]] LevelSource source() const;
  /// The level that was found and not taken because it is above the limit.
  [[nodiscard]] std::optional<unsigned> refused() const { return refused_; }
  /// The level that is below ours and is not taken, as ours is established.
  [[nodiscard]] std::optional<Level> lower() const { return lower_; }
  /// The level has stood on memory for so long that the operator should know; since when.
  [[nodiscard]] std::optional<TimePoint> unsupported() const;
  /// Of all switches that are heard.
  [[nodiscard]] std::optional<Level> highest_heard() const { return switches_.highest(); }
  /// For how long the level has had support.
  [[nodiscard]] Duration supported() const { return supported_; }
  /// The neighbor that would give support: 0 for a host.
  [[nodiscard]] std::optional<Level> supporting() const;
  /// What a restart should begin with: also on a device that is a host for the time being.
  [[nodiscard]] Kept kept() const { return {level_, supported_, surroundings_.learned()}; }
  /// Counts support up to now.
  void account(TimePoint now);
  /// True once whenever `supported` has grown so far that it should be saved.
  [[nodiscard]] bool take_milestone();

 private:
  void rest();
  void follow(TimePoint now, bool renounced);
  void adopt_first(unsigned found, TimePoint now);
  void have_support(TimePoint now);
  void resist_lower(unsigned found, TimePoint now);
  void be_unsupported(unsigned found, TimePoint now, bool renounced);
  /// False if it is above the limit.
  bool adopt(unsigned level);
  void withdraw(TimePoint now);
  void change(std::optional<Level> level);
  void wait_until(TimePoint t) { due_ = due_ ? std::min(*due_, t) : t; }
  [[nodiscard]] unsigned found() const;  ///< F; 0: no neighbor with a level is heard
  [[nodiscard]] bool established() const { return supported_ >= rules_.establish; }
  [[nodiscard]] bool on_two_ports_below(Level level) const;
  [[nodiscard]] Duration next_milestone() const;

  Rules rules_;
  LevelCount lowest_{};    ///< of each port
  LevelCount switches_{};  ///< all that are heard
  Surroundings surroundings_{};
  std::optional<Level> level_{};
  LevelSource source_ = LevelSource::kNone;  ///< of level_
  Duration supported_{};                     ///< S, up to when decide() was last called
  Duration saved_{};                         ///< S at the last milestone
  bool milestone_ = false;
  std::optional<TimePoint> supported_since_{};  ///< for as long as there is support: counted so far
  std::optional<TimePoint> unsupported_since_{};  ///< and for as long as there is none
  std::optional<TimePoint> raise_since_{};        ///< since when L4b stands
  std::optional<TimePoint> lower_since_{};        ///< since when L3 a or b stands
  std::optional<Level> withdrawn_{};              ///< W
  TimePoint withdrawn_until_{};
  std::optional<TimePoint> due_{};
  std::optional<unsigned> refused_{};
  std::optional<Level> lower_{};
  bool alarmed_ = false;  ///< unsupported for long
};

}  // namespace lldp::core
