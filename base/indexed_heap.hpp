// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lldp {

/// A key for each of a set of slots, the least first: a binary heap that knows where each slot
/// stands, so that a slot's key can be changed in O(log n).
template <class Key>
class IndexedHeap {
 public:
  void set(std::uint32_t slot, const Key& key) {
    if (slot >= place_.size()) place_.resize(slot + 1, kAbsent);
    std::size_t at = place_[slot];
    if (at == kAbsent) {
      at = heap_.size();
      heap_.push_back({key, slot});
    }
    heap_[at].key = key;
    place_[slot] = static_cast<std::uint32_t>(at);
    sift(at);
  }
  /// Of a slot that has no key, nothing.
  void remove(std::uint32_t slot) {
    if (find(slot) == nullptr) return;
    const std::size_t at = place_[slot];
    exchange(at, heap_.size() - 1);
    place_[slot] = kAbsent;
    heap_.pop_back();
    if (at < heap_.size()) sift(at);
  }
  /// Null: the slot has no key.
  [[nodiscard]] const Key* find(std::uint32_t slot) const {
    const bool there = slot < place_.size() && place_[slot] != kAbsent;
    return there ? &heap_[place_[slot]].key : nullptr;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// The slot of the least key, and that key; only when not empty.
  [[nodiscard]] std::uint32_t first() const { return heap_.front().slot; }
  [[nodiscard]] const Key& least() const { return heap_.front().key; }

 private:
  struct Entry {
    Key key{};
    std::uint32_t slot = 0;
  };
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;

  void exchange(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    place_[heap_[a].slot] = static_cast<std::uint32_t>(a);
    place_[heap_[b].slot] = static_cast<std::uint32_t>(b);
  }
  void sift(std::size_t at) {
    for (; at > 0 && heap_[at].key < heap_[(at - 1) / 2].key; at = (at - 1) / 2)
      exchange(at, (at - 1) / 2);
    for (;;) {
      std::size_t least = at;
      for (std::size_t child = 2 * at + 1; child < heap_.size() && child <= 2 * at + 2; ++child)
        if (heap_[child].key < heap_[least].key) least = child;
      if (least == at) return;
      exchange(at, least);
      at = least;
    }
  }

  std::vector<Entry> heap_{};
  std::vector<std::uint32_t> place_{};  ///< by slot
};

}  // namespace lldp
