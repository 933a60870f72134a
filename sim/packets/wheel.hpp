// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/packets/slot.hpp"
#include "sim/packets/spread_sort.hpp"

namespace lldp::lab::packets {

/// Slots by their time, earliest first. Of the same time, frames come before timers: frames in an
/// order drawn from the time and the arcs that they come by, on each of which one can arrive;
/// timers in the order in which they were put in. So what a node sees does not depend on what
/// others do meanwhile, and no arc is always the first. A ring of buckets, 256 ps each, holds the
/// next 8.4 us, a bitmap says which have any; what is later waits in a heap.
///
/// In a small network a bucket is a list in order, with a slot or two. In a large one it would be
/// long, for many links are in step: there it is a pile in no order, which is put in order when the
/// first is wanted. So a push takes constant time in both. What puts a pile in order is written
/// down at the push, when the slot is at hand: no slot is looked at for it later.
class Wheel {
 public:
  Wheel(Pool& pool, bool large)
      : pool_(pool), lists_(large ? 0 : kBuckets), piles_(large ? kBuckets : 0) {}

  /// `pool[slot].at` must not be before what was popped last.
  void push(std::uint32_t slot) {
    const Slot& s = pool_[slot];
    if (s.at >= base_ + kHorizon) [[unlikely]]
      return push_far(slot, s.at);
    insert(slot, s);
  }

  /// When the first one is due; kNever: there is none.
  [[nodiscard]] Picoseconds next() const {
    const std::uint32_t bucket = first_bucket();
    if (bucket == kNone) return heap_.empty() ? kNever : heap_.front().at;
    if (piles_.empty()) return pool_[lists_[bucket].first].at;
    if (bucket == opened_) return pool_[first_of_opened().slot].at;
    Entry first{.key = ~std::uint64_t{0}};
    for_each(piles_[bucket], [&](std::uint32_t, const Entry& e) { first = std::min(first, e); });
    return pool_[first.slot].at;
  }

  /// Takes out the first one, if it is due by `until`; kNone: none is.
  std::uint32_t pop(Picoseconds until) {
    if (piles_.empty())
      if (const std::uint32_t bucket = first_bucket(); bucket != kNone)
        return pop_of_list(bucket, until);
    return pop_elsewhere(until);
  }

  /// The one that is to be taken out after so many others, if nothing comes between; kNone: not
  /// known.
  [[nodiscard]] std::uint32_t ahead(std::size_t others) const {
    return taken_ + others < sorted_.size() ? sorted_[taken_ + others].slot : kNone;
  }

 private:
  static constexpr unsigned kWidthBits = 8;
  static constexpr std::uint32_t kBuckets = 1U << 15;
  static constexpr Picoseconds kHorizon = Picoseconds{kBuckets} << kWidthBits;
  static constexpr std::uint32_t kWords = kBuckets / 64;
  static constexpr std::uint32_t kSummary = kWords / 64;

  /// A slot, and what puts it in order in its bucket.
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t slot = 0;
    friend bool operator<(const Entry& a, const Entry& b) { return a.key < b.key; }
    friend bool operator>(const Entry& a, const Entry& b) { return a.key > b.key; }
  };
  static constexpr std::uint32_t kInChunk = 5;
  /// Some entries of a bucket, on one line of the processor's cache.
  struct alignas(kCacheLine) Chunk {
    std::array<std::uint64_t, kInChunk> keys{};
    std::array<std::uint32_t, kInChunk> slots{};
    std::uint32_t before = kNone;  ///< the bucket's one that was full before; or the next free one
  };
  static_assert(sizeof(Chunk) == kCacheLine);
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;  ///< means something only where there is a first
  };
  struct Pile {
    std::uint32_t last = kNone;  ///< its last chunk; means something only where there are entries
    std::uint32_t count = 0;     ///< of entries; all chunks but the last are full
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

  /// In a bucket: by time, then frames before timers; of frames by a number that two arcs never
  /// share, and the order in which they came, as timers are.
  static std::uint64_t key_of(const Slot& s, std::uint64_t order) {
    const std::uint64_t at = (s.at & ((1U << kWidthBits) - 1)) << (64 - kWidthBits);
    if (s.kind < Kind::kPause) return at | std::uint64_t{1} << 55 | order;
    const std::uint32_t mixed = (s.arc ^ static_cast<std::uint32_t>(s.at)) * 0x9e37'79b9U;
    return at | std::uint64_t{mixed} << 23 | (order & ((std::uint64_t{1} << 23) - 1));
  }
  static constexpr std::uint32_t bucket_of(Picoseconds at) {
    return static_cast<std::uint32_t>(at >> kWidthBits) % kBuckets;
  }
  /// Whether a slot comes before another one of its bucket, which was put in earlier.
  static bool before(const Slot& a, const Slot& b) {
    if (a.at != b.at) return a.at < b.at;
    return key_of(a, 0) < key_of(b, 0);
  }

  void insert(std::uint32_t slot, const Slot& s) {
    const std::uint32_t bucket = bucket_of(s.at);
    if (piles_.empty()) return insert_in_list(bucket, slot, s);
    insert_in_pile(bucket, slot, s);
  }
  [[gnu::noinline]] void insert_in_pile(std::uint32_t bucket, std::uint32_t slot, const Slot& s) {
    if (bucket == opened_) {
      late_.push_back({key_of(s, order_++), slot});
      std::push_heap(late_.begin(), late_.end(), std::greater<>{});
      return;
    }
    append(bucket, slot, s);
  }
  void mark(std::uint32_t bucket) {
    words_[bucket / 64] |= std::uint64_t{1} << bucket % 64;
    summary_[bucket / 4096] |= std::uint64_t{1} << bucket / 64 % 64;
  }

  // In a small network

  void insert_in_list(std::uint32_t bucket, std::uint32_t slot, const Slot& s) {
    List& b = lists_[bucket];
    pool_[slot].next = kNone;
    if (b.first == kNone) {
      b = {slot, slot};
      return mark(bucket);
    }
    if (!before(s, pool_[b.last])) {
      pool_[b.last].next = slot;
      b.last = slot;
      return;
    }
    std::uint32_t* link = &b.first;
    while (!before(s, pool_[*link])) link = &pool_[*link].next;
    pool_[slot].next = *link;
    *link = slot;
  }
  std::uint32_t pop_of_list(std::uint32_t bucket, Picoseconds until) {
    List& b = lists_[bucket];
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

  // In a large one, or from afar

  [[gnu::noinline]] std::uint32_t pop_elsewhere(Picoseconds until) {
    for (;;) {
      const std::uint32_t bucket = first_bucket();
      if (bucket == kNone) {
        if (heap_.empty() || heap_.front().at > until) return kNone;
        advance(heap_.front().at);
        continue;
      }
      if (piles_.empty()) return pop_of_list(bucket, until);
      if (bucket == opened_) return pop_opened(until);
      if (piles_[bucket].count > kInChunk) {
        open(bucket);
        return pop_opened(until);
      }
      return pop_of_few(bucket, until);
    }
  }

  void append(std::uint32_t bucket, std::uint32_t slot, const Slot& s) {
    Pile& b = piles_[bucket];
    const std::uint32_t place = b.count % kInChunk;
    if (place == 0) {
      const std::uint32_t chunk = take_chunk();
      chunks_[chunk].before = b.count == 0 ? kNone : b.last;
      b.last = chunk;
    }
    chunks_[b.last].keys[place] = key_of(s, order_++);
    chunks_[b.last].slots[place] = slot;
    if (b.count++ == 0) mark(bucket);
  }
  std::uint32_t take_chunk() {
    if (free_chunk_ == kNone) {
      chunks_.emplace_back();
      return static_cast<std::uint32_t>(chunks_.size() - 1);
    }
    const std::uint32_t chunk = free_chunk_;
    free_chunk_ = chunks_[chunk].before;
    return chunk;
  }
  void free_chunks(std::uint32_t bucket) {
    std::uint32_t chunk = piles_[bucket].last;
    for (std::uint32_t n = piles_[bucket].count; n != 0; n -= (n - 1) % kInChunk + 1) {
      const std::uint32_t before = chunks_[chunk].before;
      chunks_[chunk].before = free_chunk_;
      free_chunk_ = chunk;
      chunk = before;
    }
    piles_[bucket].count = 0;
  }
  /// each(place, entry), in no order.
  template <class Each>
  void for_each(const Pile& b, Each&& each) const {
    std::uint32_t chunk = b.last;
    for (std::uint32_t n = b.count; n != 0; chunk = chunks_[chunk].before)
      for (std::uint32_t i = (n - 1) % kInChunk + 1; i-- != 0;) {
        --n;
        each(n, Entry{chunks_[chunk].keys[i], chunks_[chunk].slots[i]});
      }
  }

  std::uint32_t pop_of_few(std::uint32_t bucket, Picoseconds until) {
    Pile& b = piles_[bucket];
    Chunk& chunk = chunks_[b.last];
    std::uint32_t first = 0;
    for (std::uint32_t i = 1; i < b.count; ++i)
      if (chunk.keys[i] < chunk.keys[first]) first = i;
    const std::uint32_t slot = chunk.slots[first];
    const Picoseconds at = pool_[slot].at;
    if (at > until) return kNone;
    const std::uint32_t last = b.count - 1;
    chunk.keys[first] = chunk.keys[last];
    chunk.slots[first] = chunk.slots[last];
    if (last == 0) {
      free_chunks(bucket);
      clear(bucket);
    } else {
      b.count = last;
    }
    advance(at);
    return slot;
  }

  /// Puts a bucket in order. The one that was open, if there is one, comes later.
  void open(std::uint32_t bucket) {
    if (opened_ != kNone) close();
    opened_ = bucket;
    sorted_.resize(piles_[bucket].count);
    for_each(piles_[bucket], [&](std::uint32_t n, const Entry& e) { sorted_[n] = e; });
    free_chunks(bucket);
    sort_(sorted_);
    for (std::size_t i = 0; i < kLookAhead && i < sorted_.size(); ++i)
      __builtin_prefetch(&pool_[sorted_[i].slot]);
  }
  /// What is left of the open bucket waits again, in the order that it has.
  void close() {
    sorted_.erase(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(taken_));
    sorted_.insert(sorted_.end(), late_.begin(), late_.end());
    sort_(sorted_);
    for (const Entry& e : sorted_) append(opened_, e.slot, pool_[e.slot]);
    late_.clear();
    end_of_opened();
  }
  void end_of_opened() {
    opened_ = kNone;
    sorted_.clear();
    taken_ = 0;
  }
  /// Whether the first of the open bucket is one that was put in after it was opened.
  [[nodiscard]] bool late_first() const {
    return taken_ == sorted_.size() || (!late_.empty() && late_.front() < sorted_[taken_]);
  }
  [[nodiscard]] const Entry& first_of_opened() const {
    return late_first() ? late_.front() : sorted_[taken_];
  }
  std::uint32_t pop_opened(Picoseconds until) {
    const bool late = late_first();
    const std::uint32_t slot = late ? late_.front().slot : sorted_[taken_].slot;
    const Picoseconds at = pool_[slot].at;
    if (at > until) return kNone;
    if (late) {
      std::pop_heap(late_.begin(), late_.end(), std::greater<>{});
      late_.pop_back();
    } else if (++taken_ + kLookAhead <= sorted_.size()) {
      __builtin_prefetch(&pool_[sorted_[taken_ + kLookAhead - 1].slot]);
    }
    advance(at);
    if (taken_ == sorted_.size() && late_.empty()) {
      clear(opened_);
      end_of_opened();
    }
    return slot;
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
    if (!heap_.empty() && heap_.front().at < base_ + kHorizon) [[unlikely]]
      bring_near();
  }
  [[gnu::noinline]] void push_far(std::uint32_t slot, Picoseconds at) {
    heap_.push_back({at, order_++, slot});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }
  [[gnu::noinline]] void bring_near() {
    while (!heap_.empty() && heap_.front().at < base_ + kHorizon) {
      const Far far = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), Later{});
      heap_.pop_back();
      insert(far.slot, pool_[far.slot]);
    }
  }

  static constexpr std::size_t kLookAhead = 10;  ///< slots that are fetched before they are wanted

  Pool& pool_;
  std::vector<List> lists_;  ///< by bucket, in a small network
  std::vector<Pile> piles_;  ///< by bucket, in a large one
  std::vector<Chunk> chunks_{};
  std::uint32_t free_chunk_ = kNone;
  std::array<std::uint64_t, kWords> words_{};
  std::array<std::uint64_t, kSummary> summary_{};
  std::vector<Far> heap_{};
  std::uint64_t order_ = 0;       ///< of what was put in
  std::uint32_t opened_ = kNone;  ///< the bucket whose slots stand below
  std::size_t taken_ = 0;         ///< of sorted_
  std::vector<Entry> sorted_{};
  SpreadSort<Entry> sort_{};
  std::vector<Entry> late_{};  ///< a heap: those that came when it was open
  Picoseconds base_ = 0;       ///< beginning of the bucket of the last one popped
};

}  // namespace lldp::lab::packets
