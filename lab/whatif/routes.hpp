// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/topology/fabric.hpp"

namespace lldp::lab::whatif {

/// A link between two switches in one direction: 2i from its first end to its second, 2i + 1 back;
/// i counts these links alone.
using Arc = std::uint32_t;
constexpr Arc reversed(Arc a) { return a ^ 1; }

/// A set of links or arcs, by number.
class Bits {
 public:
  explicit Bits(std::size_t n = 0) : words_((n + 63) / 64) {}
  void set(std::size_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  [[nodiscard]] bool test(std::size_t i) const { return (words_[i >> 6] >> (i & 63) & 1) != 0; }
  void unite(const Bits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool meets(const Bits& other) const {
    std::uint64_t common = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) common |= words_[w] & other.words_[w];
    return common != 0;
  }
  template <class Each>
  void for_each(const Each& each) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
        each(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// How the switches of a whole fabric forward: up first and then down, by shortest paths, to every
/// switch that has hosts (or, where the file has no hosts, that has no switch below it). Where
/// several next hops are as good, a flow may take any. Immutable; shared by threads.
class Routes {
 public:
  explicit Routes(const Fabric& fabric);

  struct Hop {
    Arc arc = 0;
    std::uint32_t peer = 0;
    bool up = false;
  };

  [[nodiscard]] std::size_t switches() const { return node_of_.size(); }
  [[nodiscard]] std::size_t links() const { return link_of_.size(); }
  [[nodiscard]] std::size_t arcs() const { return 2 * links(); }
  [[nodiscard]] std::size_t node_of(std::size_t s) const { return node_of_[s]; }  ///< in the fabric
  [[nodiscard]] std::size_t link_of(std::size_t l) const { return link_of_[l]; }  ///< in the fabric
  /// The number here of a link of the fabric; nullopt: not between switches that have an order.
  [[nodiscard]] std::optional<std::size_t> number_of(std::size_t link) const;
  [[nodiscard]] std::uint32_t tail(Arc a) const { return tail_[a]; }
  [[nodiscard]] std::uint32_t head(Arc a) const { return tail_[reversed(a)]; }
  [[nodiscard]] bool up(Arc a) const { return up_[a] != 0; }
  /// Whether packets that came by `in` and leave by `out` change class where they do so: by the
  /// orders that switches have now, in a collected fabric; else by the right ones.
  [[nodiscard]] bool changes_class(Arc in, Arc out) const {
    return rule_up_[reversed(in)] != 0 && rule_up_[out] != 0;
  }
  [[nodiscard]] bool rules_are_right() const { return rules_are_right_; }
  [[nodiscard]] std::span<const Hop> hops(std::size_t s) const {
    return {hops_.data() + first_[s], hops_.data() + first_[s + 1]};
  }

  [[nodiscard]] std::size_t destinations() const { return destinations_.size(); }
  [[nodiscard]] std::uint32_t destination(std::size_t d) const { return destinations_[d]; }
  /// Whether `s` forwards by `hop` what is for `d`. What came down goes on down where it can.
  [[nodiscard]] bool forwards(std::size_t d, std::size_t s, bool descends, const Hop& hop) const {
    const std::size_t row = d * switches();
    const std::uint16_t down = descending_[row + s];
    const bool keep = descends && down != kFar;
    const std::uint16_t far = keep ? down : legal_[row + s];
    if (hop.up) return !keep && legal_[row + hop.peer] + 1U == far;
    return descending_[row + hop.peer] + 1U == far;
  }
  /// Whether traffic for `d` goes over the arc when all is well.
  [[nodiscard]] bool carries(std::size_t d, Arc a) const { return flow_[d].test(a); }

  /// Next hops, of one switch for one destination, of which none may be left when `links` fail.
  struct Narrow {
    std::uint32_t destination = 0;
    std::uint32_t at = 0;
    bool descends = false;
    std::vector<std::uint32_t> links{};
  };
  /// All next hops that are no more than `most`, and carry traffic.
  [[nodiscard]] std::vector<Narrow> narrow(std::size_t most) const;

  /// What follows what when all is well: the arcs that traffic which came by `a` leaves by.
  [[nodiscard]] std::span<const Arc> followers(Arc a) const {
    return {followers_.data() + first_follower_[a], followers_.data() + first_follower_[a + 1]};
  }

 private:
  static constexpr std::uint16_t kFar = 0xffff;
  void measure(std::size_t d);
  void spread(std::size_t row, std::vector<std::uint16_t>& distance,
              std::vector<std::uint32_t> queue, bool upwards);
  void let_flow(std::size_t d, std::vector<Bits>& follows);

  std::vector<std::size_t> node_of_{};
  std::vector<std::size_t> link_of_{};
  std::vector<std::uint32_t> number_of_{};
  std::vector<std::uint32_t> tail_{};
  std::vector<std::uint8_t> up_{};
  std::vector<std::uint8_t>
      rule_up_{};  ///< by arc: whether its first port is up, as packets are treated
  bool rules_are_right_ = true;
  std::vector<std::uint32_t> first_{};
  std::vector<Hop> hops_{};
  std::vector<std::uint32_t> destinations_{};
  std::vector<std::uint16_t> descending_{};  ///< by destination and switch
  std::vector<std::uint16_t> legal_{};
  std::vector<Bits> flow_{};  ///< arcs, by destination
  std::vector<std::uint32_t> first_follower_{};
  std::vector<Arc> followers_{};
};

}  // namespace lldp::lab::whatif
