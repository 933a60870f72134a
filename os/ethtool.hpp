// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/ethtool.h>
#include <net/if.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

/// What drivers tell by ethtool's ioctl: older than its netlink, and every driver answers it.
namespace lldp::ethtool {

/// More than any driver has; a table that is longer is none.
inline constexpr std::uint32_t kMostStrings = 16384;

/// What a counter of ethtool's -S is called by this driver or that: `rx_prio5_pause` of mlx5,
/// `tx_priority_5_xoff.nic` of ice, `rx_pfc_ena_frames_pri5` of bnxt; the time of pauses
/// `rx_prio5_pause_duration` of mlx5 and `pfc_pri5_rx_duration_us` of bnxt, both in microseconds;
/// and of frames of all kinds `rx_prio5_packets` of mlx5, `tx_frames_prio_5` of mlxsw.
struct PriorityCounter {
  enum class What : std::uint8_t { kFrames, kPauses, kPausedMicroseconds };
  What what = What::kFrames;
  bool received = false;
  unsigned priority = 0;
  friend bool operator==(const PriorityCounter&, const PriorityCounter&) = default;
};
[[nodiscard]] std::optional<PriorityCounter> priority_counter(std::string_view name);

/// Something of each priority; nothing where the driver does not count it.
using ByPriority = std::array<std::optional<std::uint64_t>, Priority::kMax + 1>;
struct PriorityCounts {
  struct Directions {
    ByPriority received{};
    ByPriority sent{};
    friend bool operator==(const Directions&, const Directions&) = default;
  };
  Directions frames{};
  Directions pauses{};
  Directions paused_microseconds{};
  friend bool operator==(const PriorityCounts&, const PriorityCounts&) = default;
};

/// Asks a driver: SIOCETHTOOL with this request. False: it does not answer.
using Ask = std::function<bool(ifreq&)>;
/// By a socket of this network namespace; no privilege is needed for what is asked here.
[[nodiscard]] Result<Ask> open();

/// A table of names; empty: the driver has none, or too many.
[[nodiscard]] std::vector<std::string> names_of(const Ask& ask, const std::string& port,
                                                ethtool_stringset set);

/// The counters of priorities, port by port. The table of a driver's names is read once, and again
/// when it may be another one: the interface, the number of counters or `state` is another, or a
/// counter has gone back. Else one system call for a reading.
class PriorityCounters {
 public:
  explicit PriorityCounters(Ask ask);
  PriorityCounters(PriorityCounters&&) noexcept = default;
  PriorityCounters& operator=(PriorityCounters&&) noexcept = default;

  /// What the driver counts since it was loaded; nullptr: nothing of a priority. `state`: whatever
  /// the driver's table may depend on, such as the priorities with PFC. Stands until the next call.
  [[nodiscard]] const PriorityCounts* read(const std::string& port, unsigned ifindex,
                                           std::uint64_t state = 0);
  /// Drops the tables of ports that were not read since the last call.
  void forget_unread();

 private:
  struct Place {
    std::size_t index = 0;                          ///< in the driver's answer
    bool adds = false;                              ///< another name before it is of the same
    bool is_alone = true;                           ///< no other name is
    std::optional<std::uint64_t>* count = nullptr;  ///< where it belongs
  };
  struct Table {
    unsigned ifindex = 0;
    std::uint64_t state = 0;
    std::uint32_t names = 0;  ///< all of them; 0: there are none
    std::vector<Place> places{};
    PriorityCounts counts{};
    bool is_read = true;
  };
  void learn(Table& table, const std::string& port);
  [[nodiscard]] bool ask_counters(Table& table, const std::string& port);
  /// False: one of them has gone back.
  [[nodiscard]] bool take(Table& table);

  Ask ask_;
  std::map<std::string, Table, std::less<>> tables_{};
  /// The driver writes as many as it has, whatever it was asked for: room for all there may be.
  std::vector<std::uint64_t> room_;
};

}  // namespace lldp::ethtool
