// SPDX-License-Identifier: Apache-2.0
#include "agent/core/rank.hpp"

#include <algorithm>

namespace lldp::core {

Position Rank::lowest_since(std::uint32_t sequence) const {
  Position lowest = bound_;
  for (std::size_t i = told_.size(); i-- > 0;) {
    lowest = std::min(lowest, told_[i].bound);
    if (told_[i].sequence <= sequence) break;
  }
  return lowest;
}

bool Rank::set_bound(const Position& bound) {
  if (bound == bound_) return false;
  bound_ = bound;
  told_.push_back({++sequence_, bound});
  if (told_.size() <= kKept) return true;
  // The second takes over what the first stood for: a lower bound than was told is safe.
  told_[1] = {told_[0].sequence, std::min(told_[0].bound, told_[1].bound)};
  told_.erase(told_.begin());
  return true;
}

void Rank::restart() {
  sequence_ = 1;
  told_.assign(1, {1, bound_});
}

}  // namespace lldp::core
