// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/snapshot.hpp"
#include "agent/core/statistics.hpp"
#include "base/bounded.hpp"
#include "base/time.hpp"
#include "qos/carried.hpp"
#include "qos/policy.hpp"
#include "qos/ruleset.hpp"

/// What the agent knows, as JSON: the answers of the control socket and the source of every text.
/// Keys are stable: new ones may come, none go.
namespace lldp::report {

/// How one part of a port's rules stands, as read back.
struct PartReading {
  std::string part{};   ///< classify, remap, queues or pfc
  std::string state{};  ///< done, missing, foreign, bypassed, limited, unsupported, unverified
  std::string text{};   ///< why; empty if done
  friend bool operator==(const PartReading&, const PartReading&) = default;
};

/// How well the device's rules stand, as its owner sees the data plane.
struct Protection {
  enum class State : std::uint8_t {
    kActive,    ///< every part is done on every port that leads to a switch
    kPartial,   ///< on some it is not: `reasons`
    kInactive,  ///< no port to protect (a host, no neighbor), no lossless class, or no back end to
                ///< do it (`backend = none`)
    kFailed,    ///< on none it is, or the data plane cannot be opened
  };
  /// Why a port that leads to a switch is not protected.
  struct Reason {
    std::string port{};
    PartReading part{};
  };
  std::string backend{};
  std::string backend_reason{};  ///< why `backend = auto` came out as it did; empty: it was set
  State state = State::kInactive;
  std::vector<Priority> lossless{};
  std::vector<core::ClassInfo> classes{};  ///< in force
  /// They are to be learned, and none is known: nothing is protected.
  bool classes_unknown = false;
  std::vector<Reason> reasons{};
  /// Ports that lead to a switch, and of whose PFC no driver tells: it is counted as done there,
  /// and is not known.
  std::size_t pfc_unverified = 0;
  /// What ports are called in the back end's world besides, by name; only those that are.
  std::map<std::string, std::string> aliases{};
};
[[nodiscard]] std::string_view to_string(Protection::State state);

/// The two clocks, read together: turns the agent's time into a date.
struct WallClock {
  std::chrono::system_clock::time_point wall{};
  TimePoint boot{};
  [[nodiscard]] std::chrono::system_clock::time_point at(TimePoint t) const {
    return wall + std::chrono::duration_cast<std::chrono::system_clock::duration>(t - boot);
  }
  /// UTC, to the second: 2026-01-31T23:59:59Z
  [[nodiscard]] std::string date(TimePoint t) const;
};

/// A program that the configuration has run beside the daemon.
struct Companion {
  std::string key{};      ///< that asks for it
  std::string trouble{};  ///< why it does not run, or how the hook's last run failed; empty: fine
  friend bool operator==(const Companion&, const Companion&) = default;
};

/// What the daemon tells of itself.
struct Daemon {
  /// The sender of LLDP: packet, lldpd or none; empty where there is neither wire nor daemon.
  std::string_view transport{"packet"};
  std::string_view role_reason{};  ///< why `role = auto` came out as it did; empty: it was set
  std::map<std::string, std::string> set{};  ///< options that were given another value on request
  std::vector<Companion> companions{};       ///< those that are asked for
  /// Alarms that `check` passes over on request, by code and port, and until when.
  std::map<std::pair<std::string, std::string>, TimePoint> muted{};
};

/// `show`. `ports`: names or globs of the ports to tell of; empty: all. All the rest is told
/// always.
[[nodiscard]] std::string show_json(const core::Snapshot& snapshot, const Protection& protection,
                                    const WallClock& clock, std::span<const std::string> ports = {},
                                    const Daemon& daemon = {});

/// The counters of one port.
struct PortStatistics {
  std::string name{};
  core::Statistics counters{};
};

/// What the daemon itself takes of the machine.
struct ProcessStatistics {
  std::chrono::system_clock::time_point started{};
  std::chrono::milliseconds cpu{};  ///< user and system
  std::uint64_t resident_octets = 0;
};

/// `stats`: `{"version": 1, "transport": "packet", "process": {...}, "ports": [{"name": ...,
/// "statsFramesOutTotal": ...}]}`. Without a daemon there is no transport and no process.
[[nodiscard]] std::string stats_json(std::span<const PortStatistics> ports,
                                     std::string_view transport = {},
                                     const std::optional<ProcessStatistics>& process = {});

/// The rules of one port: wanted, installed, and what they have done.
struct PortRules {
  enum class Installed : std::uint8_t {
    kYes,
    kNo,       ///< nothing of ours is there
    kDiffers,  ///< something is, and it is not what is wanted
    kUnknown,  ///< it could not be read
  };
  std::string name{};
  qos::Ruleset wanted{};
  Installed installed = Installed::kNo;
  std::vector<std::string> changes{};  ///< from installed to wanted
  std::vector<PartReading> parts{};    ///< as read back just now
  std::uint8_t pfc = 0;                ///< bit n: set here for priority n
  std::uint64_t restored = 0;          ///< times that others took them away
  /// By the priority they came with; nothing: the counters cannot be read.
  std::optional<std::array<std::uint64_t, Priority::kMax + 1>> bounces{std::in_place};
  /// Packets that turned in no class, by their DSCP; nothing: they are not counted.
  std::optional<std::array<std::uint64_t, Dscp::kMax + 1>> unclassed{};
  qos::Carried carried{};              ///< as the back end's hardware counts
  std::optional<std::string> error{};  ///< why they are not installed
};
[[nodiscard]] std::string_view to_string(PortRules::Installed installed);

struct Rules {
  std::string backend{};
  std::optional<std::string> description{};  ///< by what means; nothing: there is no data plane
  std::optional<std::string> error{};        ///< why there is none
  qos::Policy policy{};
  std::vector<PortRules> ports{};
};

/// `rules`, as agent/control/org.lldplevel.varlink has it.
[[nodiscard]] std::string rules_json(const Rules& rules);

}  // namespace lldp::report
