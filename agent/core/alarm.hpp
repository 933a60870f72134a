// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/bounded.hpp"
#include "base/time.hpp"

namespace lldp::core {

enum class AlarmCode : std::uint8_t {
  kCrosslink,      ///< a neighbor on our own level
  kLevelSkip,      ///< |N - M| > 1
  kHostAboveLeaf,  ///< a host where the level is pinned above 1
  kMaxLevel,       ///< the level found is above infer.max-level and not taken
  kManyNeighbors,  ///< more than one neighbor on a port
  kTlvConflict,    ///< a neighbor's TLVs disagree: tr wins, a location is not taken
  kSelfLoop,       ///< our own frame came back
  kCabling,        ///< a switch where host-ports says host
  kPfcMismatch,    ///< a lossless priority without PFC at one end of a link
  kUnprotected,    ///< a switch without a level and no order, or a port without rules
  kDataplane,      ///< the data plane refused the rules
  kLldpd,          ///< lldpd was to speak for us, and does not
  kSilent,         ///< a switch was heard on the port, and is not
  kUnsupported,    ///< the level has stood on memory for long
  kLowerLevel,     ///< a lower level is heard, and ours is established
  kNoPort,         ///< there is nothing to speak on
  kNoLevel,        ///< a switch that has had no level for long
  kState,          ///< the state file cannot be written, or could not be read
  kPaused,         ///< the port neither sends nor receives, on request
  kPfcTaken,       ///< PFC of a priority that was on before is off while the rules are there
  kClassMismatch,  ///< the lossless classes of two ends, or of the evidence, do not go together
  kUnclassed,      ///< packets of no lossless class turn
  kPortMissing,    ///< a port that the configuration names is no interface
  kUnheard,        ///< a switch port with carrier on which nothing was ever heard
  kUneven,         ///< levels differ by more than the fabric's tiers explain
  kConfigDb,       ///< rows of SONiC's CONFIG_DB are wrong, or are not followed
  kSet,            ///< a key has another value than its file gives it, on request
  kRail,           ///< a NIC of a host leads elsewhere than `rails` says of its group
  kMtu,            ///< a port's frames have no room for level, order and classes
  kLeftOut,        ///< an interface that no pattern of `ports` takes, and packets do
  kForwards,       ///< a host by `role = auto` that forwards IP, by its ports and nothing else
};
inline constexpr std::size_t kAlarmCodes = 31;
static_assert(static_cast<std::size_t>(AlarmCode::kForwards) + 1 == kAlarmCodes);
[[nodiscard]] std::string_view to_string(
    AlarmCode code);  ///< crosslink, level-skip, host-above-leaf, ...

/// What `check` makes of an alarm that stands and is not muted. `doctor` calls bad what is
/// critical.
enum class AlarmSeverity : std::uint8_t { kWarning, kCritical };
[[nodiscard]] AlarmSeverity severity_of(AlarmCode code);
[[nodiscard]] std::string_view to_string(AlarmSeverity severity);  ///< warning, critical

/// How long something has lasted, for a person: 40 s, 5 min, 3 h, 12 days.
[[nodiscard]] std::string duration_text(Duration d);

/// One standing alarm.
struct Alarm {
  AlarmCode code{};
  std::string port{};  ///< escaped; empty: the device as a whole
  TimePoint since{};
  std::string text{};  ///< one line, remote strings escaped
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

/// A set of codes.
class AlarmSet {
 public:
  constexpr void put(AlarmCode code, bool stands = true) {
    if (stands) bits_ |= bit(code);
  }
  [[nodiscard]] constexpr bool has(AlarmCode code) const { return (bits_ & bit(code)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(AlarmSet, AlarmSet) = default;

 private:
  using Bits = std::uint32_t;
  static_assert(kAlarmCodes <= 32);
  static constexpr Bits bit(AlarmCode code) { return Bits{1} << static_cast<unsigned>(code); }
  Bits bits_ = 0;
};

/// Where the reason for an alarm was found. Of one code and port there may be an alarm for several
/// reasons, and it stands as long as there is one.
struct AlarmReason {
  enum class Found : std::uint8_t {
    kByOwner,    ///< the agent's: data plane, lldpd, files
    kByAbsence,  ///< a port of the cabling plan is not there
    kByLevel,    ///< how the level came about
    kByClasses,  ///< the lossless classes on `link`, or of the device
    kByRails,    ///< where the host's NICs lead, of which `link` is one
    kByPort,     ///< what is heard on `link`
  };
  Found found = Found::kByOwner;
  Ifindex link{};  ///< a name is no link's for ever
  friend auto operator<=>(const AlarmReason&, const AlarmReason&) = default;
};

/// The standing alarms of the agent and its owner, each with the reasons for it.
class AlarmStore {
 public:
  /// What became different of the alarms as a whole, in the order of their codes.
  struct Change {
    AlarmCode code{};
    bool raised = false;  ///< else it was cleared
  };
  /// The text of an alarm for a reason; of those that raise() was given none for.
  using TextOf = std::function<std::string(const Alarm&, const AlarmReason&)>;

  /// Raises it, or renews the text of one that stands; true if it stood for no reason before.
  bool raise(const AlarmReason& reason, AlarmCode code, std::string_view port, std::string text,
             TimePoint now);
  /// True if it stood, and stands for no other reason.
  bool clear(const AlarmReason& reason, AlarmCode code, std::string_view port);
  /// For this reason just these stand on the port from now on. Their texts are made when they are
  /// asked for, so that they are of the present.
  std::vector<Change> set(const AlarmReason& reason, std::string_view port, AlarmSet codes,
                          TimePoint now);
  /// The ports where something stands for this reason, each once.
  [[nodiscard]] std::vector<std::string> ports(const AlarmReason& reason) const;
  /// All of them, in the order of code and port: since the first reason for each, with the texts of
  /// all.
  [[nodiscard]] std::vector<Alarm> standing(const TextOf& text_of) const;

 private:
  struct Key {
    std::string port{};
    AlarmReason reason{};
    AlarmCode code{};
  };
  using KeyView = std::tuple<std::string_view, const AlarmReason&, AlarmCode>;
  struct Less {
    using is_transparent = void;
    static KeyView view(const Key& k) { return {k.port, k.reason, k.code}; }
    static const KeyView& view(const KeyView& k) { return k; }
    bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
  };
  struct Standing {
    TimePoint since{};
    std::string text{};
  };
  [[nodiscard]] bool stands(AlarmCode code, std::string_view port) const;

  std::map<Key, Standing, Less> all_{};
};

}  // namespace lldp::core
