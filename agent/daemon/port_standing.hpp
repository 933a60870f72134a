// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fabric.hpp"
#include "base/time.hpp"
#include "dataplane/backend.hpp"

namespace lldp::io {

/// How often a port's rules may be rewritten: five times at once, then once a second, as txCredit
/// does for frames (IEEE 802.1AB-2016 9.2.5.17).
class RewriteCredit {
 public:
  [[nodiscard]] bool take(TimePoint now) {
    const auto earned = std::chrono::floor<std::chrono::seconds>(now - counted_);
    if (earned.count() > 0) {
      left_ = static_cast<int>(std::min<std::int64_t>(kMost, left_ + earned.count()));
      counted_ += earned;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  static constexpr std::int64_t kMost = 5;
  int left_ = kMost;
  TimePoint counted_{};
};

/// Somebody who takes rules away again and again. The first time they are put back at once, then
/// after 1 s, 2 s and so on, at last after 8 s; a minute without a loss ends it.
class Losses {
 public:
  static constexpr std::chrono::seconds kLongest{8};
  static constexpr std::chrono::minutes kCalm{1};
  static constexpr unsigned kFight = 3;  ///< so many in a row are worth an alarm

  /// When what is lost may be put back.
  [[nodiscard]] TimePoint next() const {
    if (in_a_row_ == 0) return TimePoint::min();
    const auto pause = std::chrono::seconds(1) * (1 << std::min(in_a_row_ - 1, 4U));
    return last_ + std::min<Duration>(pause, kLongest);
  }
  void put_back(TimePoint now) {
    in_a_row_ = calm(now) ? 1 : in_a_row_ + 1;
    last_ = now;
    ++total_;
  }
  [[nodiscard]] unsigned in_a_row(TimePoint now) const { return calm(now) ? 0 : in_a_row_; }
  [[nodiscard]] bool fight(TimePoint now) const { return in_a_row(now) >= kFight; }
  [[nodiscard]] TimePoint calm_at() const { return last_ + kCalm; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  [[nodiscard]] bool calm(TimePoint now) const { return in_a_row_ == 0 || now >= calm_at(); }
  unsigned in_a_row_ = 0;
  std::uint64_t total_ = 0;
  TimePoint last_{};
};

/// What is put back, and not there though nobody refused it: taken away again meanwhile, the event
/// of which may have come among those of our own change, or accepted and not done. It is put back
/// again after 1 s, 2 s and so on, at last after 8 s.
class Attempts {
 public:
  [[nodiscard]] TimePoint next() const { return next_; }
  void made(TimePoint now) {
    next_ = now + pause_;
    pause_ = std::min<Duration>(2 * pause_, Losses::kLongest);
  }

 private:
  TimePoint next_ = TimePoint::min();
  Duration pause_ = std::chrono::seconds(1);
};

/// How one port's rules stand.
struct PortStanding {
  std::optional<qos::PortClass> programmed{};  ///< what our last change, which succeeded, was for
  bool again = false;    ///< while a change was under way another was asked for
  bool put_off = false;  ///< a change waits for credit
  std::vector<dataplane::PartReading> parts{};  ///< as last read back; empty: not yet
  std::string displaced{};                      ///< what somebody had set and has not, as last read
  TimePoint read_at{};
  std::string lost{};  ///< parts that others took away and that are not back yet
  Attempts attempts{};
  RewriteCredit credit{};
  Losses losses{};
};

}  // namespace lldp::io
