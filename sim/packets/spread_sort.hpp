// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lldp::lab::packets {

/// Puts entries in the order of their `key`, no two of which are equal. Keys that are spread evenly
/// take linear time: each is put about where it belongs at once. Where many are close together,
/// these are spread again, twice at most; what is still crowded then is compared.
template <class Entry>
class SpreadSort {
 public:
  void operator()(std::span<Entry> all) {
    if (spare_.size() < all.size()) spare_.resize(all.size());
    sort(all, 0);
  }

 private:
  static constexpr std::size_t kFew = 40;
  static constexpr std::size_t kDeepest = 2;

  void sort(std::span<Entry> all, std::size_t depth) {
    if (all.size() <= kFew || depth > kDeepest) {
      std::sort(all.begin(), all.end());
      return;
    }
    std::uint64_t least = all[0].key;
    std::uint64_t most = all[0].key;
    for (const Entry& e : all) {
      least = std::min(least, e.key);
      most = std::max(most, e.key);
    }
    // As many places as there are entries, or up to twice as many.
    const auto bits = std::bit_width(most - least);
    const auto shift = bits - std::min(bits, std::bit_width(all.size()));
    const auto place = [&](const Entry& e) { return (e.key - least) >> shift; };
    std::vector<std::uint32_t>& ends = ends_[depth];
    ends.assign(place({.key = most}) + 1, 0);
    for (const Entry& e : all) ++ends[place(e)];
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends) sum += std::exchange(end, sum);  // begins, now
    for (const Entry& e : all) spare_[ends[place(e)]++] = e;
    std::copy_n(spare_.begin(), all.size(), all.begin());
    std::uint32_t begin = 0;
    for (const std::uint32_t end : ends) {
      if (end - begin > 1) sort(all.subspan(begin, end - begin), depth + 1);
      begin = end;
    }
  }

  std::vector<Entry> spare_{};
  std::vector<std::uint32_t> ends_[kDeepest + 1]{};
};

}  // namespace lldp::lab::packets
