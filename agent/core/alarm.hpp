// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace lldp::core {

enum class AlarmCode : std::uint8_t {
  kCrosslink,      ///< a neighbour on our own level
  kLevelSkip,      ///< |N - M| > 1
  kHostAboveLeaf,  ///< a host where the level is pinned above 1
  kMaxLevel,       ///< the level found is above infer.max-level and not taken
  kManyNeighbors,  ///< more than one neighbour on a port
  kTlvConflict,    ///< a neighbour's two TLVs disagree; tr wins
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
};
inline constexpr std::size_t kAlarmCodes = 16;
static_assert(static_cast<std::size_t>(AlarmCode::kNoPort) + 1 == kAlarmCodes);
[[nodiscard]] std::string_view to_string(
    AlarmCode code);  ///< crosslink, level-skip, host-above-leaf, ...

/// How long something has lasted, for a person: 40 s, 5 min, 3 h, 12 days.
[[nodiscard]] std::string duration_text(Duration d);

/// One standing alarm. `port` is empty for the device as a whole.
struct Alarm {
  AlarmCode code{};
  std::string port{};
  TimePoint since{};
  std::string text{};  ///< one line, remote strings escaped
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

/// The standing alarms, in the order (code, port). Keeps `since` while an alarm stands.
class AlarmBook {
 public:
  /// Raises it, or renews the text of one that stands; true if it did not stand before.
  bool raise(AlarmCode code, std::string_view port, std::string text, TimePoint now);
  /// True if it stood.
  bool clear(AlarmCode code, std::string_view port);
  [[nodiscard]] const std::vector<Alarm>& standing() const { return alarms_; }
  [[nodiscard]] const Alarm* find(AlarmCode code, std::string_view port) const;

 private:
  std::vector<Alarm> alarms_;
};

}  // namespace lldp::core
