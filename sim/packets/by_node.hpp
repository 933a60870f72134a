// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// What waits for its time, by the node at which it happens. What a node does reaches no other one
/// before the least time that a frame takes over a link. So each node runs by itself through a
/// window of that length: what it looks at stays in the processor's caches meanwhile, and what
/// comes next is looked for among its own few. In which order nodes take their turns is no matter:
/// what one sees, and in which order, is as a Wheel has it.
///
/// Frames on a link arrive in the order in which they were sent: a list, the first of which counts.
class ByNode {
 public:
  ByNode(const Network& network, Pool& pool, Picoseconds window)
      : n_(network), pool_(pool), window_(std::min(window, kMostWindow)) {
    begins_.push_back(0);
    lane_of_.resize(n_.arcs());
    std::size_t most = 0;
    for (std::uint32_t node = 0; node < n_.buffers.size(); ++node) {
      for (const Arc in : n_.arcs_into(node)) {
        lane_of_[in] = static_cast<std::uint32_t>(arcs_.size());
        arcs_.push_back(in);
      }
      begins_.push_back(static_cast<std::uint32_t>(arcs_.size()));
      most = std::max(most, n_.arcs_into(node).size());
    }
    lanes_.resize(arcs_.size());
    others_.resize(n_.buffers.size());
    next_.resize(n_.buffers.size(), kNever);
    next_of_block_.resize(next_.size() / kBlock + 1, kNever);  // one at least
    frame_keys_.resize(most);
    timer_keys_.resize(most + 1);
  }

  /// A frame on the wire.
  void push_frame(std::uint32_t slot, Arc in) {
    Slot& f = pool_[slot];
    f.next = kNone;
    Lane& lane = lanes_[lane_of_[in]];
    if (lane.first == kNone) {
      lane.first = slot;
      lane.frame_at = f.at;
      lower(n_.ports[reversed(in)].node, f.at);
    } else {
      pool_[lane.last].next = slot;
    }
    lane.last = slot;
  }
  /// The port looks for something to send then.
  void push_port(Arc out, Picoseconds at) {
    const std::uint32_t l = lane_of_[reversed(out)];
    lanes_[l].timer_at = at;
    lanes_[l].timer_order = order_;
    arm(n_.ports[out].node, l - begin_, at, order_++);
  }
  /// Any other timer.
  void push_timer(std::uint32_t slot) {
    const Picoseconds at = pool_[slot].at;
    const std::uint32_t node = node_of(pool_[slot]);
    std::vector<Timer>& timers = others_[node];
    timers.push_back({at, order_, slot});
    std::push_heap(timers.begin(), timers.end(), Later{});
    if (timers.front().order == order_) arm(node, begins_[node + 1] - begins_[node], at, order_);
    ++order_;
  }

  /// When the first one is due; kNever: there is none.
  [[nodiscard]] Picoseconds next() const {
    return *std::min_element(next_of_block_.begin(), next_of_block_.end());
  }

  /// Everything that is due by `end`. Calls frame(at, slot), timer(at, slot) and port(at, arc).
  template <class Frame, class Timer, class PortFree>
  void run_until(Picoseconds end, Frame&& frame, Timer&& timer, PortFree&& port) {
    for (Picoseconds first = next(); first <= end && first != kNever; first = next()) {
      const Picoseconds last = end - first < window_ ? end : first + (window_ - 1);
      for (std::uint32_t b = 0; b < next_of_block_.size(); ++b) {
        if (next_of_block_[b] > last) continue;
        next_of_block_[b] = kNever;
        Picoseconds least = kNever;
        const auto ends = std::min<std::size_t>((b + std::size_t{1}) * kBlock, next_.size());
        for (std::uint32_t node = b * kBlock; node < ends; ++node) {
          if (next_[node] <= last) visit(node, first, last, frame, timer, port);
          least = std::min(least, next_[node]);
        }
        next_of_block_[b] = std::min(next_of_block_[b], least);
      }
    }
  }

 private:
  static constexpr std::uint32_t kBlock = 64;  ///< nodes whose earliest time is kept together
  static constexpr Picoseconds kMostWindow = Picoseconds{1} << 31;
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  static constexpr std::uint64_t kOrders = std::uint64_t{1} << 31;

  /// What comes to a node by an arc, and the timer of the port that sends the other way.
  struct alignas(32) Lane {
    Picoseconds frame_at = kNever;  ///< of the first
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;  ///< means something only where there is a first
    Picoseconds timer_at = kNever;
    std::uint64_t timer_order = 0;
  };
  struct Timer {
    Picoseconds at = 0;
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
  };
  struct Later {
    bool operator()(const Timer& a, const Timer& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Least {
    std::uint64_t key = kNoKey;
    std::uint32_t at = 0;
  };

  [[nodiscard]] std::uint32_t node_of(const Slot& timer) const {
    switch (timer.kind) {
      case Kind::kStart:
        return n_.ports[n_.routes[n_.flows[timer.flow].route]].node;
      case Kind::kFlowControl:
      case Kind::kNic:
        return n_.ports[reversed(timer.arc)].node;
      default:
        return n_.ports[timer.arc].node;
    }
  }

  /// Keys in a window: by time, then frames before timers; as Wheel has it.
  [[nodiscard]] std::uint64_t frame_key(Arc arc, Picoseconds at) const {
    if (at > last_) return kNoKey;
    return (at - base_) << 33 | (arc ^ static_cast<std::uint32_t>(at)) * 0x9e37'79b9U;
  }
  [[nodiscard]] std::uint64_t timer_key(Picoseconds at, std::uint64_t order) const {
    if (at > last_) return kNoKey;
    return (at - base_) << 33 | std::uint64_t{1} << 32 | (std::max(order, oldest_) - oldest_);
  }
  [[nodiscard]] static Least least_of(const std::uint64_t* keys, std::uint32_t count) {
    Least least;
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool less = keys[i] < least.key;
      least.key = less ? keys[i] : least.key;
      least.at = less ? i : least.at;
    }
    return least;
  }

  void lower(std::uint32_t node, Picoseconds at) {
    next_[node] = std::min(next_[node], at);
    next_of_block_[node / kBlock] = std::min(next_of_block_[node / kBlock], at);
  }
  /// A timer is the first of its kind at the node, whose turn it is, or no node's.
  void arm(std::uint32_t node, std::uint32_t i, Picoseconds at, std::uint64_t order) {
    if (!visiting_) return lower(node, at);
    timer_keys_[i] = timer_key(at, order);
    if (timer_keys_[i] < timer_.key) timer_ = {timer_keys_[i], i};
  }

  template <class Frame, class Timer, class PortFree>
  void visit(std::uint32_t node, Picoseconds first, Picoseconds last, Frame& frame, Timer& timer,
             PortFree& port) {
    begin_ = begins_[node];
    const std::uint32_t count = begins_[node + 1] - begin_;
    base_ = first;
    last_ = last;
    oldest_ = order_ - kOrders;
    Lane* const lanes = &lanes_[begin_];
    const Arc* const arcs = &arcs_[begin_];
    std::uint64_t* const frame_keys = frame_keys_.data();
    std::uint64_t* const timer_keys = timer_keys_.data();
    auto& others = others_[node];
    const auto other_key = [&] {
      return others.empty() ? kNoKey : timer_key(others.front().at, others.front().order);
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      frame_keys[i] = frame_key(arcs[i], lanes[i].frame_at);
      pool_.fetch(lanes[i].first);
      timer_keys[i] = timer_key(lanes[i].timer_at, lanes[i].timer_order);
    }
    timer_keys[count] = other_key();
    for (std::uint32_t i = 0; i < count; ++i)
      if (frame_keys[i] != kNoKey) pool_.fetch(pool_[lanes[i].first].next);
    Least of_frames = least_of(frame_keys, count);
    timer_ = least_of(timer_keys, count + 1);
    visiting_ = true;
    for (;;) {
      if (of_frames.key < timer_.key) {
        const std::uint32_t i = of_frames.at;
        Lane& lane = lanes[i];
        const std::uint32_t slot = lane.first;
        const Picoseconds at = lane.frame_at;
        lane.first = pool_[slot].next;
        lane.frame_at = kNever;
        if (lane.first != kNone) {
          lane.frame_at = pool_[lane.first].at;
          pool_.fetch(pool_[lane.first].next);
        }
        frame_keys[i] = frame_key(arcs[i], lane.frame_at);
        of_frames = least_of(frame_keys, count);
        frame(at, slot);
      } else {
        if (timer_.key == kNoKey) break;
        const std::uint32_t i = timer_.at;
        if (i != count) {
          const Picoseconds at = lanes[i].timer_at;
          lanes[i].timer_at = kNever;
          timer_keys[i] = kNoKey;
          timer_ = least_of(timer_keys, count + 1);
          port(at, reversed(arcs[i]));
        } else {
          const auto due = others.front();
          std::pop_heap(others.begin(), others.end(), Later{});
          others.pop_back();
          timer_keys[i] = other_key();
          timer_ = least_of(timer_keys, count + 1);
          timer(due.at, due.slot);
        }
      }
    }
    visiting_ = false;
    Picoseconds least = others.empty() ? kNever : others.front().at;
    for (std::uint32_t i = 0; i < count; ++i)
      least = std::min({least, lanes[i].frame_at, lanes[i].timer_at});
    next_[node] = least;
  }

  const Network& n_;
  Pool& pool_;
  const Picoseconds window_;
  std::vector<std::uint32_t> begins_{};   ///< by node: its first in arcs_ and lanes_
  std::vector<Arc> arcs_{};               ///< that end at a node, node by node
  std::vector<std::uint32_t> lane_of_{};  ///< by arc
  std::vector<Lane> lanes_{};
  std::vector<std::vector<Timer>> others_{};  ///< by node: heaps of the other timers
  std::vector<Picoseconds> next_{};           ///< by node: when it has something to do
  std::vector<Picoseconds> next_of_block_{};
  std::uint64_t order_ = kOrders;  ///< of timers
  // The node whose turn it is
  bool visiting_ = false;
  std::uint32_t begin_ = 0;
  Picoseconds base_ = 0;
  Picoseconds last_ = 0;
  std::uint64_t oldest_ = 0;
  std::vector<std::uint64_t> frame_keys_{};
  std::vector<std::uint64_t> timer_keys_{};
  Least timer_{};  ///< of timer_keys_
};

}  // namespace lldp::lab::packets
