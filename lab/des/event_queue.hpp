// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace lldp::lab {

/// What is to happen, earliest first; what is to happen at the same time, in the order in which it
/// was put in. So a run never depends on how the heap was built.
template <class Event>
class EventQueue {
 public:
  using Turn = std::pair<TimePoint, std::uint64_t>;

  void push(TimePoint at, Event event) {
    heap_.push_back({at, inserted_++, std::move(event)});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] TimePoint next_time() const { return heap_.front().at; }
  /// The same with its place in the order in which all was put in.
  [[nodiscard]] Turn next_turn() const { return {heap_.front().at, heap_.front().order}; }
  /// A turn for what is kept elsewhere, as if it were put in now.
  [[nodiscard]] Turn take_turn(TimePoint at) { return {at, inserted_++}; }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    Event event = std::move(heap_.back().event);
    heap_.pop_back();
    return event;
  }

 private:
  struct Entry {
    TimePoint at{};
    std::uint64_t order = 0;
    Event event{};
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  std::vector<Entry> heap_{};
  std::uint64_t inserted_ = 0;
};

}  // namespace lldp::lab
