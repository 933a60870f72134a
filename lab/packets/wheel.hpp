// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lab/packets/slot.hpp"

namespace lldp::lab::packets {

/// Slots by their time, earliest first. Of the same time, frames come before timers: frames in an
/// order drawn from the time and the arcs that they come by, on each of which one can arrive;
/// timers in the order in which they were put in. So what a node sees does not depend on what
/// others do meanwhile, and no arc is always the first. A ring of buckets, 256 ps each, holds the
/// next 8.4 us, a bitmap says which have any; what is later waits in a heap. A push and a pop take
/// constant time where the events are dense, as those of packets are.
class Wheel {
 public:
  explicit Wheel(Pool& pool) : pool_(pool), buckets_(kBuckets) {}

  /// `pool[slot].at` must not be before what was popped last.
  void push(std::uint32_t slot) {
    const Picoseconds at = pool_[slot].at;
    if (at >= base_ + kHorizon) {
      heap_.push_back({at, order_++, slot});
      std::push_heap(heap_.begin(), heap_.end(), Later{});
      return;
    }
    insert(slot, at);
  }

  /// When the first one is due; kNever: there is none.
  [[nodiscard]] Picoseconds next() const {
    if (const std::uint32_t bucket = first_bucket(); bucket != kNone)
      return pool_[buckets_[bucket].first].at;
    return heap_.empty() ? kNever : heap_.front().at;
  }

  /// Takes out the first one, if it is due by `until`; kNone: none is.
  std::uint32_t pop(Picoseconds until) {
    for (;;) {
      const std::uint32_t bucket = first_bucket();
      if (bucket == kNone) {
        if (heap_.empty() || heap_.front().at > until) return kNone;
        advance(heap_.front().at);
        continue;
      }
      Bucket& b = buckets_[bucket];
      const std::uint32_t slot = b.first;
      const Slot& s = pool_[slot];
      if (s.at > until) return kNone;
      advance(s.at);
      b.first = s.next;
      if (b.first == kNone)
        clear(bucket);
      else
        __builtin_prefetch(&pool_[b.first]);
      return slot;
    }
  }

 private:
  static constexpr unsigned kWidthBits = 8;
  static constexpr std::uint32_t kBuckets = 1U << 15;
  static constexpr Picoseconds kHorizon = Picoseconds{kBuckets} << kWidthBits;
  static constexpr std::uint32_t kWords = kBuckets / 64;
  static constexpr std::uint32_t kSummary = kWords / 64;

  struct Bucket {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;  ///< means something only where there is a first
  };
  struct Far {
    Picoseconds at = 0;
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
  };
  struct Later {
    bool operator()(const Far& a, const Far& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  /// Among those of the same time. Of two arcs it is never the same.
  static std::uint64_t rank_of(const Slot& s) {
    if (s.kind < Kind::kPause) return ~std::uint64_t{0};
    const std::uint32_t mixed = (s.arc ^ static_cast<std::uint32_t>(s.at)) * 0x9e37'79b9U;
    return mixed;
  }
  static constexpr std::uint32_t bucket_of(Picoseconds at) {
    return static_cast<std::uint32_t>(at >> kWidthBits) % kBuckets;
  }

  void insert(std::uint32_t slot, Picoseconds at) {
    const std::uint32_t bucket = bucket_of(at);
    Bucket& b = buckets_[bucket];
    pool_[slot].next = kNone;
    if (b.first == kNone) {
      b = {slot, slot};
      words_[bucket / 64] |= std::uint64_t{1} << bucket % 64;
      summary_[bucket / 4096] |= std::uint64_t{1} << bucket / 64 % 64;
      return;
    }
    const std::uint64_t rank = rank_of(pool_[slot]);
    const auto before = [&](const Slot& other) {
      return at != other.at ? at < other.at : rank < rank_of(other);
    };
    if (!before(pool_[b.last])) {
      pool_[b.last].next = slot;
      b.last = slot;
      return;
    }
    std::uint32_t* link = &b.first;
    while (!before(pool_[*link])) link = &pool_[*link].next;
    pool_[slot].next = *link;
    *link = slot;
  }

  void clear(std::uint32_t bucket) {
    std::uint64_t& word = words_[bucket / 64];
    word &= ~(std::uint64_t{1} << bucket % 64);
    if (word == 0) summary_[bucket / 4096] &= ~(std::uint64_t{1} << bucket / 64 % 64);
  }

  /// The first that has any, in the order of time, which begins at the bucket of base_.
  [[nodiscard]] std::uint32_t first_bucket() const {
    const std::uint32_t from = bucket_of(base_);
    const std::uint32_t word = from / 64;
    if (const std::uint64_t bits = words_[word] & ~std::uint64_t{0} << from % 64; bits != 0)
      return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    const std::uint32_t next = (word + 1) % kWords;
    std::uint64_t mask = ~std::uint64_t{0} << next % 64;
    for (std::uint32_t i = 0; i <= kSummary; ++i) {
      const std::uint32_t s = (next / 64 + i) % kSummary;
      if (const std::uint64_t some = summary_[s] & mask; some != 0) {
        const std::uint32_t w = s * 64 + static_cast<std::uint32_t>(std::countr_zero(some));
        return w * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[w]));
      }
      mask = ~std::uint64_t{0};
    }
    return kNone;
  }

  /// Time has come to `at`: what comes within the ring's reach moves there before anything else is
  /// put in for the same moment.
  void advance(Picoseconds at) {
    base_ = at >> kWidthBits << kWidthBits;
    while (!heap_.empty() && heap_.front().at < base_ + kHorizon) {
      const Far far = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), Later{});
      heap_.pop_back();
      insert(far.slot, far.at);
    }
  }

  Pool& pool_;
  std::vector<Bucket> buckets_;
  std::array<std::uint64_t, kWords> words_{};
  std::array<std::uint64_t, kSummary> summary_{};
  std::vector<Far> heap_{};
  std::uint64_t order_ = 0;
  Picoseconds base_ = 0;  ///< beginning of the bucket of the last one popped
};

}  // namespace lldp::lab::packets
