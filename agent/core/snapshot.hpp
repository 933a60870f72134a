// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/alarm.hpp"
#include "agent/core/settings.hpp"
#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"
#include "qos/chains.hpp"

namespace lldp::core {

/// Where the device's level comes from.
enum class LevelSource : std::uint8_t { kNone, kHost, kNeighbor, kPinned, kRestored };
[[nodiscard]] std::string_view to_string(
    LevelSource s);  ///< none, host, neighbor, pinned, restored

/// What is said of a tier beside its ID, for people.
struct TierNote {
  Level level{};
  std::optional<ChassisId> was{};    ///< the ID that the tier had before
  std::optional<ChassisId> joins{};  ///< an older half's, that it takes at `at`
  TimePoint at{};
  friend bool operator==(const TierNote&, const TierNote&) = default;
};

/// A neighbor's last frame.
struct ReceivedFrame {
  Scope scope{};
  MacAddress source{};                   ///< all 0: not known
  std::chrono::seconds unchanged_for{};  ///< since when it says the same
  Bytes lldpdu{};
  friend bool operator==(const ReceivedFrame&, const ReceivedFrame&) = default;
};

/// How much of it a snapshot is to hold: what it amounts to, or the octets too.
enum class Depth : std::uint8_t { kSummary, kOctets };

/// One neighbor as `show` prints it. Strings are as received, not escaped.
struct NeighborInfo {
  ChassisId chassis_id{};
  PortId port_id{};
  std::string port_description{};
  std::string system_name{};
  DeviceType device_type = DeviceType::kUnknown;
  std::optional<Level> level{};
  PortType port_type = PortType::kUnmarked;   ///< what the neighbor calls its own port
  bool tr = false;                            ///< sent the tr TLV
  bool contribution = false;                  ///< sent the contribution TLV
  std::optional<std::uint8_t> pfc_enabled{};  ///< bit n = priority n; nullopt: it does not say
  std::optional<Layers> layers{};             ///< of its end of the link
  std::uint16_t ttl = 0;                      ///< as received, seconds
  std::chrono::seconds expires_in{0};         ///< rounded up
  bool decisive = false;                      ///< the one the port's type goes by
  std::optional<ReceivedFrame> frame{};       ///< of Depth::kOctets
  friend bool operator==(const NeighborInfo&, const NeighborInfo&) = default;
};

/// An agent that was ever heard on a port: docs/develop/rules.md, "Order".
struct AgentInfo {
  std::uint64_t agent = 0;
  ChassisId chassis_id{};
  bool host = false;
  bool heard = false;    ///< on the present carrier
  bool counted = false;  ///< it has heard us, too
  Position bound{};      ///< the highest rank that it may take, of a frame that counted
  Position belief{};     ///< the lowest rank that it may still believe us to have
  bool awaited = false;  ///< a rise waits for its acknowledgement
  friend bool operator==(const AgentInfo&, const AgentInfo&) = default;
};

struct PortInfo {
  std::string name{};
  Ifindex ifindex{};
  bool up = false;
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
  AdminStatus admin = AdminStatus::enabledRxTx;
  std::optional<std::uint8_t> pfc_enabled{};  ///< bit n = priority n; nullopt: the driver is silent
  std::uint8_t pfc_cap = 0;                   ///< priorities with PFC at once; 0: it is not told
  std::optional<Layers> layers{};             ///< as set
  std::uint32_t speed_mbps = 0;               ///< 0: the driver does not say
  std::uint32_t mtu = 0;
  std::string rail_group{};  ///< empty: none
  bool silent =
      false;  ///< a switch that was there is not heard; so is one that *left*, from the start
  bool unprotected = false;     ///< of a switch that is heard, or was, no order is known
  bool may_be_unheard = false;  ///< as configured: that nothing is heard there is no alarm
  /// A rise waits for this port, or it is shut with a carrier.
  std::optional<TimePoint> holds_since{};
  std::vector<AgentInfo> agents{};
  std::vector<NeighborInfo> neighbors{};  ///< by MSAP
  Bytes announced{};  ///< the LLDPDU that it would send now, of Depth::kOctets; empty: none
  friend bool operator==(const PortInfo&, const PortInfo&) = default;
};

/// A chain of lossless classes in force, and why it is.
struct ClassInfo {
  qos::Chain chain{};
  std::string evidence{};  ///< `from swp1's neighbor`
  friend bool operator==(const ClassInfo&, const ClassInfo&) = default;
};

/// The whole of what the agent knows, as a value: what text and JSON printers render.
struct Snapshot {
  Role role = Role::kSwitch;
  std::optional<Level> level{};
  LevelSource level_source = LevelSource::kNone;
  /// By which the device stands in the order: below `level` for as long as some neighbor has not
  /// acknowledged that it rises. Level 0 without a chassis ID is the bottom.
  Position rank{};
  Position bound{};  ///< what neighbors are asked to acknowledge
  /// As `rank`, for callers that use levels.
  [[nodiscard]] std::optional<Level> place() const {
    return rank == Position{} && role == Role::kSwitch ? std::nullopt : std::optional(rank.level);
  }
  Tiers location{};
  std::vector<TierNote> tier_notes{};
  ChassisId chassis_id{};
  std::string system_name{};
  std::vector<ClassInfo> classes{};
  /// Classes are to be learned, and none is known.
  bool classes_unknown = false;
  std::vector<PortInfo> ports{};  ///< by name, numbers in names compared as numbers
  std::vector<Alarm> alarms{};
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

}  // namespace lldp::core
