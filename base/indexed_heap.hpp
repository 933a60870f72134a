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
    const std::size_t at = std::exchange(place_[slot], kAbsent);
    Entry last = std::move(heap_.back());
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, std::move(last));
    sift(at);
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

  void put(std::size_t at, Entry entry) {
    place_[entry.slot] = static_cast<std::uint32_t>(at);
    heap_[at] = std::move(entry);
  }
  /// The entry at `at` goes where it belongs; those on its way move by one.
  void sift(std::size_t at) {
    Entry entry = std::move(heap_[at]);
    for (; at > 0 && entry.key < heap_[(at - 1) / 2].key; at = (at - 1) / 2)
      put(at, std::move(heap_[(at - 1) / 2]));
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].key < heap_[child].key) ++child;
      if (!(heap_[child].key < entry.key)) break;
      put(at, std::move(heap_[child]));
      at = child;
    }
    put(at, std::move(entry));
  }

  std::vector<Entry> heap_{};
  std::vector<std::uint32_t> place_{};  ///< by slot
};

}  // namespace lldp
