// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "qos/carried.hpp"

namespace lldp::qos {

/// The times at which repeatedly read counts were last seen to grow. The age of the first counts is
/// not known: growth is counted from them. So it is after a long time without a reading.
class Growth {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kLong{10};

  void take(const PriorityFrames& counts, Time now) {
    take(counts.received, last_.received, grew_.received, now);
    take(counts.sent, last_.sent, grew_.sent, now);
  }
  [[nodiscard]] ByPriority<std::chrono::seconds> ago(Time now) const {
    return {.received = ago(grew_.received, now), .sent = ago(grew_.sent, now)};
  }

 private:
  struct Reading {
    std::uint64_t count = 0;
    Time at{};
  };
  static void take(const PriorityFrames::Values& counts, ByPriority<Reading>::Values& last,
                   ByPriority<Time>::Values& grew, Time now) {
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (!counts[p]) continue;
      const bool is_known = last[p] && now - last[p]->at <= kLong;
      // Less than before: the counter was restarted.
      const std::uint64_t from = !is_known                     ? *counts[p]
                                 : *counts[p] < last[p]->count ? 0
                                                               : last[p]->count;
      if (*counts[p] > from) grew[p] = now;
      last[p] = Reading{*counts[p], now};
    }
  }
  static ByPriority<std::chrono::seconds>::Values ago(const ByPriority<Time>::Values& grew,
                                                      Time now) {
    ByPriority<std::chrono::seconds>::Values out;
    for (std::size_t p = 0; p < grew.size(); ++p)
      if (grew[p]) out[p] = std::chrono::floor<std::chrono::seconds>(now - *grew[p]);
    return out;
  }

  ByPriority<Reading> last_{};
  ByPriority<Time> grew_{};
};

}  // namespace lldp::qos
