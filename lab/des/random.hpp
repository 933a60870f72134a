// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace lldp::lab {

/// The lab's one source of chance: splitmix64 (Steele, Lea, Flood 2014). Written out, because the
/// standard library's distributions differ from one implementation to the next, and a seed must
/// give the same run everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return z ^ z >> 31;
  }
  /// Evenly from 0 to n-1; `n` > 0. What is above the last whole multiple of n is drawn again.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (0 - n) % n;
    std::uint64_t v = next();
    while (v < excess) v = next();
    return v % n;
  }
  /// What std::shuffle asks for; its result depends on the library.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() { return next(); }
  /// True with probability `p`.
  bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }

 private:
  std::uint64_t state_;
};

}  // namespace lldp::lab
