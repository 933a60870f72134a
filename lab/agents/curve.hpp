// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lab/agents/network.hpp"
#include "lab/agents/truth.hpp"

namespace lldp::lab::agents {

/// How much was wrong from a moment on. Times count from the first moment of the run.
struct Sample {
  Duration at{};
  std::size_t levels = 0;
  std::size_t ports = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// How what is wrong becomes right: the curve, and since when nothing has been wrong.
class Curve {
 public:
  explicit Curve(const Truth& truth) : truth_(truth) { sample(Network::kBegin); }

  void sample(TimePoint now) {
    if (truth_.wrong() != 0) {
      right_since_.reset();
    } else if (!right_since_) {
      right_since_ = now;
    }
    const Sample s{now - Network::kBegin, truth_.wrong_levels(), truth_.wrong_ports()};
    if (last_ && last_->levels == s.levels && last_->ports == s.ports) return;
    if (last_ && last_->at != s.at) keep(*last_);
    last_ = s;
  }
  [[nodiscard]] std::optional<TimePoint> right_since() const { return right_since_; }
  /// At most `most` samples, evenly spread, the first and the last among them.
  [[nodiscard]] std::vector<Sample> thinned(std::size_t most) const {
    std::vector<Sample> all = kept_;
    if (last_) all.push_back(*last_);
    if (all.size() <= most) return all;
    std::vector<Sample> thin;
    for (std::size_t i = 0; i < most; ++i) thin.push_back(all[i * (all.size() - 1) / (most - 1)]);
    return thin;
  }

 private:
  /// Of a long run as many as a picture can show, and more, but not all: every 2nd, 4th, ...
  static constexpr std::size_t kKept = std::size_t{1} << 16;

  void keep(const Sample& s) {
    if (seen_++ % every_ != 0) return;
    kept_.push_back(s);
    if (kept_.size() < kKept) return;
    for (std::size_t i = 0; i < kKept / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kKept / 2);
    every_ *= 2;
  }

  const Truth& truth_;
  std::vector<Sample> kept_{};
  std::optional<Sample> last_{};
  std::size_t seen_ = 0;
  std::size_t every_ = 1;
  std::optional<TimePoint> right_since_{};
};

}  // namespace lldp::lab::agents
