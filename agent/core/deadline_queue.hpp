// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace lldp::core {

inline constexpr TimePoint kNever = TimePoint::max();

/// When each of a set of slots is next due: a binary heap that knows where each slot stands, so
/// that a slot's time can be moved in O(log n).
class DeadlineQueue {
 public:
  /// Sets when `slot` is due; kNever takes it out.
  void set(std::uint32_t slot, TimePoint due) {
    if (slot >= place_.size()) place_.resize(slot + 1, kAbsent);
    std::size_t at = place_[slot];
    if (due == kNever) {
      if (at != kAbsent) take_out(at);
      return;
    }
    if (at == kAbsent) {
      at = heap_.size();
      heap_.push_back({due, slot});
    }
    heap_[at].due = due;
    place_[slot] = static_cast<std::uint32_t>(at);
    settle(at);
  }
  /// The slot that is due first, and when; only when not empty.
  [[nodiscard]] std::uint32_t first() const { return heap_.front().slot; }
  [[nodiscard]] TimePoint due() const { return heap_.empty() ? kNever : heap_.front().due; }

 private:
  struct Entry {
    TimePoint due{};
    std::uint32_t slot = 0;
  };
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;

  void exchange(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    place_[heap_[a].slot] = static_cast<std::uint32_t>(a);
    place_[heap_[b].slot] = static_cast<std::uint32_t>(b);
  }
  void settle(std::size_t at) {
    for (; at > 0 && heap_[at].due < heap_[(at - 1) / 2].due; at = (at - 1) / 2) {
      exchange(at, (at - 1) / 2);
    }
    for (;;) {
      std::size_t least = at;
      for (std::size_t child = 2 * at + 1; child < heap_.size() && child <= 2 * at + 2; ++child) {
        if (heap_[child].due < heap_[least].due) least = child;
      }
      if (least == at) return;
      exchange(at, least);
      at = least;
    }
  }
  void take_out(std::size_t at) {
    exchange(at, heap_.size() - 1);
    place_[heap_.back().slot] = kAbsent;
    heap_.pop_back();
    if (at < heap_.size()) settle(at);
  }

  std::vector<Entry> heap_{};
  std::vector<std::uint32_t> place_{};  ///< by slot
};

}  // namespace lldp::core
