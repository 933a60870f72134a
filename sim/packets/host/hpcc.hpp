// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/packets/host/congestion.hpp"
#include "sim/packets/settings.hpp"

namespace lldp::lab::packets {

/// HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, Algorithm 1): by what
/// each link of its way tells, a sender knows how much is under way there, in parts of what the
/// link takes in a round trip, and sets its window so that the fullest link has eta of that. Parts
/// are integers in 1 / 2^20, so that it is the same everywhere.
class Hpcc final : public CongestionControl {
 public:
  /// `line_bps` is the sender's link's, `round_trip` the way's where nothing waits.
  Hpcc(std::uint64_t line_bps, Picoseconds round_trip, std::uint32_t frame_octets)
      : round_trip_(std::max<Picoseconds>(round_trip, 1)),
        frame_octets_(frame_octets),
        most_octets_(std::max<std::uint64_t>(octets_in(line_bps, round_trip_), frame_octets)),
        window_octets_(most_octets_),
        reference_octets_(most_octets_) {}

  [[nodiscard]] TimedRate pace(const Settings&, std::uint64_t line_bps, Picoseconds) override {
    const Wide bits = Wide{window_octets_} * 8 * kSecond / round_trip_;
    return {.bps = static_cast<std::uint64_t>(std::min<Wide>(std::max<Wide>(bits, 1), line_bps))};
  }
  [[nodiscard]] std::uint32_t window(std::uint32_t most) const override {
    const std::uint64_t frames = (window_octets_ + frame_octets_ - 1) / frame_octets_;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max<std::uint64_t>(frames, 1), most));
  }

  void acknowledged(const Settings& settings, const Acknowledged& news) override {
    if (is_of_the_same_way(news.trail)) {
      measure(news.trail);
      const bool round_is_over = news.wanted > last_update_;
      set_window(settings.hpcc, round_is_over);
      if (round_is_over) last_update_ = news.next;
    }
    before_.links = 0;
    for (const Telemetry& t : news.trail) before_.add(t);
  }

  /// What is under way at the fullest link, smoothed, in 1 / 2^20 of what it takes in a round trip.
  [[nodiscard]] std::uint64_t utilization() const { return utilization_; }
  static constexpr std::uint64_t kOne = 1U << 20;

 private:
  using Wide = unsigned __int128;

  static std::uint64_t octets_in(std::uint64_t bps, Picoseconds time) {
    return static_cast<std::uint64_t>(Wide{bps} * time / 8 / kSecond);
  }
  [[nodiscard]] bool is_of_the_same_way(std::span<const Telemetry> trail) const {
    return !trail.empty() &&
           std::equal(trail.begin(), trail.end(), before_.all().begin(), before_.all().end(),
                      [](const Telemetry& a, const Telemetry& b) {
                        return a.arc == b.arc && a.at > b.at;
                      });
  }

  /// MeasureInflight: u' = min(qlen) / (B T) + txRate / B of each link, the most of them, over tau.
  void measure(std::span<const Telemetry> trail) {
    std::uint64_t most = 0;
    Picoseconds over = 0;
    for (std::size_t i = 0; i < trail.size(); ++i) {
      const Telemetry& now = trail[i];
      const Telemetry& then = before_.told[i];
      const Picoseconds passed = now.at - then.at;
      const std::uint64_t in_round =
          std::max<std::uint64_t>(octets_in(now.rate_bps, round_trip_), 1);
      const std::uint64_t in_passed = std::max<std::uint64_t>(octets_in(now.rate_bps, passed), 1);
      const std::uint64_t queued = std::min(now.queued_octets, then.queued_octets);
      const std::uint64_t used =
          queued * kOne / in_round + (now.sent_octets - then.sent_octets) * kOne / in_passed;
      if (used <= most) continue;
      most = used;
      over = passed;
    }
    const auto part =
        static_cast<std::uint64_t>(Wide{std::min(over, round_trip_)} * kOne / round_trip_);
    utilization_ =
        static_cast<std::uint64_t>((Wide{kOne - part} * utilization_ + Wide{part} * most) / kOne);
  }

  /// ComputeWind.
  void set_window(const HpccSettings& s, bool round_is_over) {
    const std::uint64_t target = kOne * s.eta_permille / 1000;
    if (utilization_ >= target || stage_ >= s.max_stage) {
      window_octets_ = static_cast<std::uint64_t>(Wide{reference_octets_} * target /
                                                  std::max<std::uint64_t>(utilization_, 1)) +
                       s.additive_octets;
      if (round_is_over) stage_ = 0;
    } else {
      window_octets_ = reference_octets_ + s.additive_octets;
      if (round_is_over) ++stage_;
    }
    window_octets_ =
        std::min(most_octets_, std::max<std::uint64_t>(window_octets_, s.additive_octets));
    if (round_is_over) reference_octets_ = window_octets_;
  }

  Picoseconds round_trip_ = 0;
  std::uint32_t frame_octets_ = 0;
  std::uint64_t most_octets_ = 0;
  std::uint64_t window_octets_ = 0;
  std::uint64_t reference_octets_ = 0;  ///< W^c
  std::uint64_t utilization_ = kOne;
  std::uint32_t stage_ = 0;
  std::uint32_t last_update_ = 0;
  Trail before_{};  ///< L
};

}  // namespace lldp::lab::packets
