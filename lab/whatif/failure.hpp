// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lab/whatif/routes.hpp"

namespace lldp::lab::whatif {

/// What becomes of a fabric while links are down and the routing has not converged.
struct Effect {
  /// A switch, and a destination whose packets turn up there after they came down.
  using Bounce = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Bounce> bounces{};  ///< sorted, each once
  std::vector<Bounce> second{};   ///< those of them at which a packet turns that did so before
  unsigned most_turns = 0;        ///< of one packet; counted to 3
  std::size_t cut_off = 0;        ///< switches with no way on, times destinations
  bool lossy = false;  ///< a packet may turn more often than there are lossless classes for
  bool one_class_deadlocks = false;  ///< if packets kept their class
  bool two_classes_deadlock = false;
};

/// Evaluates sets of failed links, one after the other: local rerouting as the lab's routing has
/// it. A switch forwards as before, and only one that has none of its next hops left for a
/// destination takes other neighbors that still reach it as they forward: any of those above it,
/// else any below. Nothing goes back by the link it came. Each thread has an evaluator of its own.
class Evaluator {
 public:
  /// Sets hold at most `most` links.
  Evaluator(const Routes& routes, std::size_t most);

  /// Links by their number in Routes, in rising order. Sets of links that have nothing to do with
  /// each other cost next to nothing: what each does alone is known.
  [[nodiscard]] Effect evaluate(std::span<const std::uint32_t> failed);
  /// The same the long way, for tests.
  [[nodiscard]] Effect evaluate_anew(std::span<const std::uint32_t> failed);
  /// One class's cycle in the last set that evaluate_anew() found one for: arcs, in order.
  [[nodiscard]] const std::vector<Arc>& cycle() const { return cycle_; }
  [[nodiscard]] std::uint64_t evaluated_anew() const { return anew_; }

 private:
  struct Dependency {
    Arc in = 0;
    std::uint8_t cls_in = 0;
    Arc out = 0;
    std::uint8_t cls_out = 0;
    bool turn = false;
    /// By `in` and its class first. In two words: a set has thousands to be sorted.
    friend bool operator<(const Dependency& a, const Dependency& b) {
      const auto from = [](const Dependency& d) { return std::uint64_t{d.in} << 8 | d.cls_in; };
      const auto to = [](const Dependency& d) {
        return std::uint64_t{d.out} << 16 | std::uint64_t{d.cls_out} << 8 | std::uint64_t{d.turn};
      };
      return from(a) != from(b) ? from(a) < from(b) : to(a) < to(b);
    }
    friend bool operator==(const Dependency&, const Dependency&) = default;
  };
  /// What one link does alone.
  struct Alone {
    Effect effect{};
    std::vector<Dependency> dependencies{};  ///< of what is rerouted; sorted
    Bits looked_at{};  ///< links whose state had a part in it, and those it shares narrow hops with
    Bits turns_from{};   ///< arcs by which turning packets come
    Bits reached{};      ///< arcs that packets which turned can come to without a turn
    Bits leads{};        ///< arcs from which packets can come to one of turns_from without a turn
    bool loops = false;  ///< turns_from meets reached
  };
  /// What reaches() has found for the set at hand.
  struct Reached {
    std::uint64_t set = 0;
    std::size_t destination = 0;
    std::uint32_t avoid = 0;
    bool reaches = false;
  };
  struct State {
    Arc arc = 0;
    std::uint8_t turns = 0;
    std::uint8_t cls = 0;
  };

  void reach_all();
  void know(std::uint32_t link);
  [[nodiscard]] bool failed(Arc a);
  [[nodiscard]] bool finds(std::size_t d, std::uint32_t from, bool descends, std::uint32_t avoid);
  [[nodiscard]] bool reaches(std::size_t d, std::uint32_t from, bool descends, std::uint32_t avoid);
  void follow(std::size_t d, const Routes::Narrow& stuck);
  void leave(std::size_t d, std::uint32_t at, const State* came);
  void go(std::size_t d, const State* came, Arc out);
  [[nodiscard]] bool has_cycle(bool with_classes);
  [[nodiscard]] Bits leading_to_turns() const;

  const Routes& routes_;
  std::vector<Routes::Narrow> narrow_{};
  std::vector<std::vector<std::uint32_t>> narrow_of_{};  ///< by link: indices in narrow_
  std::vector<Bits> reach_{};                            ///< by arc; empty: the fabric is too large
  std::vector<Bits> reached_from_{};                     ///< the same, turned round
  std::vector<Alone> alone_{};
  std::vector<bool> known_{};

  // Of the set at hand
  std::vector<bool> failed_{};
  Bits* looked_at_ = nullptr;
  Effect effect_{};
  std::vector<State> queue_{};
  std::vector<std::uint32_t> seen_{};     ///< by state: the last stamp
  std::vector<std::uint32_t> visited_{};  ///< by switch and direction, for finds()
  std::vector<Reached> known_ways_{};     ///< the same: for what was asked last
  std::uint32_t stamp_ = 0;
  std::uint32_t visit_ = 0;
  std::vector<std::uint32_t> stack_{};
  std::vector<Dependency> dependencies_{};
  Bits leads_{};  ///< arcs from which a turn can be come to; unless reach_ is empty
  std::vector<std::uint8_t> colour_{};  ///< by node of the search for cycles; all new between two
  std::vector<std::uint32_t> coloured_{};
  std::vector<Arc> cycle_{};
  std::uint64_t anew_ = 0;
};

}  // namespace lldp::lab::whatif
