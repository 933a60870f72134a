// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/indexed_heap.hpp"
#include "base/time.hpp"

namespace lldp::core {

inline constexpr TimePoint kNever = TimePoint::max();

/// std::min() of a list puts the list into memory first, and there are many for each frame.
[[nodiscard]] constexpr TimePoint earliest(TimePoint first, auto... others) {
  ((first = std::min<TimePoint>(first, others)), ...);
  return first;
}

/// When each of a set of slots is next due.
class DeadlineQueue {
 public:
  /// Sets when `slot` is due; kNever takes it out.
  void set(std::uint32_t slot, TimePoint due) {
    if (due == kNever)
      heap_.remove(slot);
    else
      heap_.set(slot, due);
  }
  /// The slot that is due first, and when; only when not empty.
  [[nodiscard]] std::uint32_t first() const { return heap_.first(); }
  [[nodiscard]] TimePoint due() const { return heap_.empty() ? kNever : heap_.least(); }

 private:
  IndexedHeap<TimePoint> heap_{};
};

}  // namespace lldp::core
