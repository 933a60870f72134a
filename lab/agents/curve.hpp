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
    if (!samples_.empty() && samples_.back().levels == s.levels && samples_.back().ports == s.ports)
      return;
    if (!samples_.empty() && samples_.back().at == s.at) samples_.pop_back();
    samples_.push_back(s);
  }
  [[nodiscard]] std::optional<TimePoint> right_since() const { return right_since_; }
  /// At most `most` samples, evenly spread, the first and the last among them.
  [[nodiscard]] std::vector<Sample> thinned(std::size_t most) const {
    if (samples_.size() <= most) return samples_;
    std::vector<Sample> thin;
    for (std::size_t i = 0; i < most; ++i)
      thin.push_back(samples_[i * (samples_.size() - 1) / (most - 1)]);
    return thin;
  }

 private:
  const Truth& truth_;
  std::vector<Sample> samples_{};
  std::optional<TimePoint> right_since_{};
};

}  // namespace lldp::lab::agents
