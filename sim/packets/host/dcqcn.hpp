// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/packets/host/congestion.hpp"
#include "sim/packets/settings.hpp"

namespace lldp::lab::packets {

/// What DCQCN keeps of a flow. Brought up to date when it is asked, so it needs no timers.
struct RateState {
  std::uint64_t rate_bps = 0;
  std::uint64_t target_bps = 0;
  std::uint32_t alpha = 0;  ///< in 1/2^20
  std::uint32_t stage = 0;
  Picoseconds alpha_due = kNever;
  Picoseconds decrease_due = kNever;
  Picoseconds increase_due = kNever;
  bool alpha_marked = false;
  bool decrease_marked = false;
};

/// DCQCN's reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
/// SIGCOMM 2015, section 5), in the variant of Mellanox's NICs: a mark is told back with the
/// acknowledgement, and the rate falls at most once in an interval. What its timers would have done
/// meanwhile is done when the rate is asked for or a mark arrives, with the same result. Only a
/// decrease reads alpha, so alpha is brought up to date no earlier.
class Dcqcn {
 public:
  explicit Dcqcn(const DcqcnSettings& settings) : s_(settings) {}

  /// The rate that holds now; `line_bps` is the most.
  [[nodiscard]] std::uint64_t rate(RateState& r, std::uint64_t line_bps, Picoseconds now) const {
    catch_up(r, line_bps, now);
    return r.rate_bps;
  }

  /// Until when that rate holds if no mark comes: without one a decrease does nothing.
  [[nodiscard]] Picoseconds holds_until(const RateState& r) const {
    return r.decrease_marked ? std::min(r.decrease_due, r.increase_due) : r.increase_due;
  }

  void marked(RateState& r, std::uint64_t line_bps, Picoseconds now) const {
    if (r.alpha_due == kNever) {  // the first one
      r.alpha = kOne;
      r.target_bps = r.rate_bps;
      r.alpha_due = now + s_.alpha_interval;
      r.decrease_due = now + s_.decrease_interval + kNanosecond;  // after alpha's, if together
      r.decrease_marked = true;
      return;
    }
    catch_up(r, line_bps, now);
    update_alpha(r, now);
    r.alpha_marked = true;
    r.decrease_marked = true;
  }

 private:
  static constexpr std::uint32_t kOne = 1U << 20;

  void catch_up(RateState& r, std::uint64_t line_bps, Picoseconds now) const {
    for (;;) {
      const Picoseconds due = std::min(r.decrease_due, r.increase_due);
      if (due > now) return;
      if (due == r.decrease_due) {
        if (r.decrease_marked) {
          update_alpha(r, due);
          decrease(r, due);
        } else if (now - due > s_.decrease_interval) {  // no mark came: nothing in all of these
          r.decrease_due += (now - due) / s_.decrease_interval * s_.decrease_interval;
        }
        r.decrease_due += s_.decrease_interval;
      } else {
        increase(r, line_bps);
        r.increase_due += s_.increase_interval;
      }
    }
  }

  /// All that alpha's timer does until `now`, that included.
  void update_alpha(RateState& r, Picoseconds now) const {
    while (r.alpha_due <= now) {
      const auto part = static_cast<std::uint32_t>(std::uint64_t{r.alpha} * s_.g_256 / 256);
      if (part == 0 && !r.alpha_marked) {  // no smaller any more
        r.alpha_due += ((now - r.alpha_due) / s_.alpha_interval + 1) * s_.alpha_interval;
        return;
      }
      r.alpha = r.alpha - part + (r.alpha_marked ? kOne / 256 * s_.g_256 : 0);
      r.alpha_marked = false;
      r.alpha_due += s_.alpha_interval;
    }
  }

  void decrease(RateState& r, Picoseconds at) const {
    if (r.stage != 0) r.target_bps = r.rate_bps;
    const std::uint64_t less = r.rate_bps * r.alpha >> 21;
    r.rate_bps = std::max(s_.min_bps, r.rate_bps - less);
    r.stage = 0;
    r.decrease_marked = false;
    r.increase_due = at + s_.increase_interval;
  }

  void increase(RateState& r, std::uint64_t line_bps) const {
    if (r.stage == s_.fast_recovery_stages) r.target_bps += s_.additive_bps;
    if (r.stage > s_.fast_recovery_stages) r.target_bps += s_.hyper_bps;
    r.target_bps = std::min(r.target_bps, line_bps);
    r.rate_bps = (r.rate_bps + r.target_bps) / 2;
    ++r.stage;
  }

  const DcqcnSettings& s_;
};

class DcqcnOfFlow final : public CongestionControl {
 public:
  explicit DcqcnOfFlow(std::uint64_t most_bps)
      : most_bps_(most_bps), state_{.rate_bps = most_bps, .target_bps = most_bps} {}
  [[nodiscard]] TimedRate pace(const Settings& settings, std::uint64_t line_bps,
                               Picoseconds now) override {
    const Dcqcn dcqcn(settings.dcqcn);
    const std::uint64_t bps = dcqcn.rate(state_, line_bps, now);
    return {.bps = bps, .until = dcqcn.holds_until(state_)};
  }
  [[nodiscard]] bool hears_all() const override { return false; }
  void acknowledged(const Settings& settings, const Acknowledged& news) override {
    if (news.marked) Dcqcn(settings.dcqcn).marked(state_, most_bps_, news.now);
  }

 private:
  std::uint64_t most_bps_ = 0;
  RateState state_{};
};

}  // namespace lldp::lab::packets
