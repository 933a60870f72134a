// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lldp {

/// Finds a number by what it stands for, which its owner keeps: one table, and no allocation for
/// each entry.
class HashIndex {
 public:
  /// Room for so many.
  explicit HashIndex(std::size_t most) : table_(std::bit_ceil(2 * most + 1)) {}

  /// `same(number)` says whether it stands for what the hash is of.
  template <class Same>
  [[nodiscard]] std::optional<std::uint32_t> find(std::size_t hash, const Same& same) const {
    const Entry& entry = table_[place(hash, same)];
    return entry.number == kNone ? std::nullopt : std::optional(entry.number);
  }
  /// The number that was there already; nullopt: this one is now.
  template <class Same>
  std::optional<std::uint32_t> insert(std::size_t hash, std::uint32_t number, const Same& same) {
    Entry& entry = table_[place(hash, same)];
    if (entry.number != kNone) return entry.number;
    entry = {tag(hash), number};
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Entry {
    std::uint32_t tag = 0;  ///< of the hash, so that few are compared
    std::uint32_t number = kNone;
  };
  static std::uint32_t tag(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  template <class Same>
  std::size_t place(std::size_t hash, const Same& same) const {
    for (std::size_t at = hash;; ++at) {
      at %= table_.size();
      const Entry& entry = table_[at];
      if (entry.number == kNone || (entry.tag == tag(hash) && same(entry.number))) return at;
    }
  }
  std::vector<Entry> table_;
};

}  // namespace lldp
