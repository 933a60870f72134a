// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "agent/core/settings.hpp"
#include "agent/core/snapshot.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"

namespace lldp::core {

/// What the neighbours on one port amount to for the inference. A host wins over all others on its
/// port, else the lowest level does (rule 7); neighbours without a level say nothing (rule 2).
struct Heard {
  std::optional<Level> lowest{};  ///< 0: a host
  /// The same without the neighbours whose port towards us says downlink: they stand above us only
  /// because of us (rule 5, split horizon).
  std::optional<Level> not_below_us{};
  /// Some neighbour says uplink or crosslink, so it has heard us and judged where we stand.
  bool answered = false;
  friend bool operator==(const Heard&, const Heard&) = default;
};

/// How a switch's port stands to what is heard there (rule 4).
[[nodiscard]] PortType type_of_port(std::optional<Level> own, std::optional<Level> heard);

/// How many ports hear each level; knows the lowest without looking at the ports.
class LevelCount {
 public:
  void add(std::optional<Level> level) {
    if (level && ports_[level->value()]++ == 0) word(*level) |= bit(*level);
  }
  void remove(std::optional<Level> level) {
    if (level && --ports_[level->value()] == 0) word(*level) &= ~bit(*level);
  }
  [[nodiscard]] std::optional<Level> lowest() const {
    for (unsigned i = 0; i < heard_.size(); ++i) {
      if (heard_[i] != 0)
        return Level::make(64 * i + static_cast<unsigned>(std::countr_zero(heard_[i])));
    }
    return std::nullopt;
  }

 private:
  std::uint64_t& word(Level l) { return heard_[l.value() / 64U]; }
  static std::uint64_t bit(Level l) { return std::uint64_t{1} << l.value() % 64; }

  std::array<std::uint32_t, Level::kMax + 1> ports_{};
  std::array<std::uint64_t, 4> heard_{};  ///< one bit a level
};

/// The level of a device: DESIGN.md section 3, rules 1 to 3, 5, 6 and 8. Knows the table only
/// as a count of ports per level, so one port's change costs the same whatever the number of ports.
class Inference {
 public:
  struct Rules {
    Role role = Role::kSwitch;
    std::optional<Level> pinned{};
    Level max_level{};
    Duration raise_hold{};
    /// How long a neighbour that has not judged our port may take to do so, before it is evidence
    /// against a restored level.
    Duration answer_wait{};
  };

  Inference(const Rules& rules, std::optional<Level> restored);

  void set_rules(const Rules& rules);
  /// What is heard on a port has changed; `Heard{}` when nothing is. decide() must follow.
  void update(const Heard& before, const Heard& after);
  /// Goes by what is heard now; true if the level has changed.
  bool decide(TimePoint now);
  /// When decide() is due though nothing new is heard.
  [[nodiscard]] std::optional<TimePoint> deadline() const { return raise_at_; }

  [[nodiscard]] std::optional<Level> level() const;
  [[nodiscard]] LevelSource source() const;
  /// The level that was found and not taken because it is above the limit.
  [[nodiscard]] std::optional<unsigned> refused() const { return refused_; }
  /// What a restart should begin with: also on a device that is a host for the time being.
  [[nodiscard]] std::optional<Level> kept() const { return rules_.pinned ? rules_.pinned : kept_; }

 private:
  void follow(TimePoint now);
  bool adopt(unsigned level);

  Rules rules_;
  LevelCount lowest_{};
  LevelCount not_below_us_{};
  std::uint32_t answered_ = 0;  ///< ports
  std::optional<Level> kept_{};
  LevelSource source_ = LevelSource::kNone;  ///< of kept_
  std::optional<TimePoint> raise_since_{};   ///< since when the evidence stands
  std::optional<TimePoint> raise_at_{};
  std::optional<unsigned> refused_{};
};

}  // namespace lldp::core
