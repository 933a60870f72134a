// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <tuple>

#include "lab/des/random.hpp"

namespace lldp::lab::whatif {
namespace {

/// n over k; nullopt: more than kMostSets.
std::optional<std::uint64_t> choose(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t all = 1;
  for (std::uint64_t i = 1; i <= k; ++i) {
    all = all * (n - k + i) / i;  // each step is a whole number, and below 2^63 by the bound
    if (all > kMostSets) return std::nullopt;
  }
  return all;
}

}  // namespace

bool is_worse(const Effect& a, const Effect& b) {
  const auto key = [](const Effect& e) {
    return std::tuple(e.two_classes_deadlock, e.lossy, e.one_class_deadlocks, e.cut_off,
                      e.most_turns, e.bounces.size());
  };
  return key(a) > key(b);
}

void Tally::add(std::span<const std::uint32_t> set, const Effect& effect, std::size_t switches) {
  ++sets;
  bouncing += !effect.bounces.empty();
  one_class += effect.one_class_deadlocks;
  two_classes += effect.two_classes_deadlock;
  lossy += effect.lossy;
  cutting += effect.cut_off > 0;
  turns += effect.bounces.size();
  second_turns += effect.second.size();
  most_turns = std::max(most_turns, effect.most_turns);
  turning.resize(switches);
  for (std::size_t i = 0; i < effect.bounces.size(); ++i)  // sorted by switch
    if (i == 0 || effect.bounces[i].first != effect.bounces[i - 1].first)
      ++turning[effect.bounces[i].first];
  if (sets == 1 || is_worse(effect, worst_effect)) {
    worst.assign(set.begin(), set.end());
    worst_effect = effect;
  }
}

void Tally::add(const Tally& other) {
  if (other.sets == 0) return;
  // Of sets that are as bad, the one with the lowest links: whatever order blocks are added in.
  if (sets == 0 || is_worse(other.worst_effect, worst_effect) ||
      (!is_worse(worst_effect, other.worst_effect) && other.worst < worst)) {
    worst = other.worst;
    worst_effect = other.worst_effect;
  }
  sets += other.sets;
  bouncing += other.bouncing;
  one_class += other.one_class;
  two_classes += other.two_classes;
  lossy += other.lossy;
  cutting += other.cutting;
  turns += other.turns;
  second_turns += other.second_turns;
  most_turns = std::max(most_turns, other.most_turns);
  turning.resize(std::max(turning.size(), other.turning.size()));
  for (std::size_t s = 0; s < other.turning.size(); ++s) turning[s] += other.turning[s];
}

Result<Study> Study::of(const Fabric& fabric, const Plan& plan) {
  Study study(fabric, plan, 0);
  const std::size_t links = study.routes_.links();
  if (links == 0)
    return fail(Error{0, {}, "the fabric has no link between switches: there is nothing to fail"});
  if (plan.fail < 1 || plan.fail > std::min<std::size_t>(links, 16))
    return fail(
        Error{0, "--fail",
              fmt::format("give a number from 1 to {}: the fabric has {} links between switches",
                          std::min<std::size_t>(links, 16), links)});
  const auto all = choose(links, plan.fail);
  if (!plan.samples && !all)
    return fail(
        Error{0, "--all",
              fmt::format("more than {} sets of {} links: take --samples", kMostSets, plan.fail)});
  study.sets_ = plan.samples.value_or(all.value_or(0));
  return study;
}

std::size_t Study::blocks() const {
  return static_cast<std::size_t>((sets_ + kBlock - 1) / kBlock);
}

/// The set of that number in lexicographic order.
std::vector<std::uint32_t> Study::unrank(std::uint64_t rank) const {
  std::vector<std::uint32_t> set;
  std::uint32_t next = 0;
  for (std::size_t left = plan_.fail; left > 0; --left) {
    for (;; ++next) {
      const std::uint64_t with = *choose(routes_.links() - next - 1, left - 1);
      if (rank < with) break;
      rank -= with;
    }
    set.push_back(next++);
  }
  return set;
}

std::vector<std::uint32_t> Study::draw(std::uint64_t number) const {
  Random random(Random(plan_.seed).next() ^ Random(number + 1).next());
  std::vector<std::uint32_t> set;
  while (set.size() < plan_.fail) {
    const auto link = static_cast<std::uint32_t>(random.below(routes_.links()));
    const auto at = std::lower_bound(set.begin(), set.end(), link);
    if (at == set.end() || *at != link) set.insert(at, link);
  }
  return set;
}

Tally Study::tally(std::size_t block, Evaluator& evaluator) const {
  Tally tally;
  const std::uint64_t first = block * kBlock;
  const std::uint64_t last = std::min(first + kBlock, sets_);
  std::vector<std::uint32_t> set;
  if (!plan_.samples && first < last) set = unrank(first);
  for (std::uint64_t i = first; i < last; ++i) {
    if (plan_.samples) set = draw(i);
    tally.add(set, evaluator.evaluate(set), routes_.switches());
    if (plan_.samples || i + 1 == last) continue;
    std::size_t at = set.size();
    do --at;
    while (set[at] + (set.size() - at) == routes_.links());
    for (std::uint32_t next = set[at] + 1; at < set.size(); ++at) set[at] = next++;
  }
  return tally;
}

void Study::run(const std::vector<std::size_t>& blocks,
                const std::function<bool(std::size_t, const Tally&)>& done) const {
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  const auto work = [&] {
    Evaluator evaluator(routes_, plan_.fail);
    for (std::size_t i = next++; i < blocks.size(); i = next++) {
      const Tally t = tally(blocks[i], evaluator);
      const std::lock_guard lock(telling);
      if (!done(blocks[i], t)) next = blocks.size();
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t t = std::min<std::size_t>(std::thread::hardware_concurrency(), blocks.size());
       t > 1; --t)
    others.emplace_back(work);
  work();
}

nlohmann::ordered_json to_json(const Tally& t) {
  nlohmann::ordered_json turning = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < t.turning.size(); ++s)
    if (t.turning[s] > 0) turning.push_back({s, t.turning[s]});
  nlohmann::ordered_json bounces = nlohmann::ordered_json::array();
  for (const auto& [at, to] : t.worst_effect.bounces) bounces.push_back({at, to});
  nlohmann::ordered_json second = nlohmann::ordered_json::array();
  for (const auto& [at, to] : t.worst_effect.second) second.push_back({at, to});
  const Effect& e = t.worst_effect;
  return {{"sets", t.sets},
          {"bouncing", t.bouncing},
          {"one_class", t.one_class},
          {"two_classes", t.two_classes},
          {"lossy", t.lossy},
          {"cutting", t.cutting},
          {"turns", t.turns},
          {"second_turns", t.second_turns},
          {"most_turns", t.most_turns},
          {"turning", std::move(turning)},
          {"worst",
           {{"links", t.worst},
            {"bounces", std::move(bounces)},
            {"second", std::move(second)},
            {"most_turns", e.most_turns},
            {"cut_off", e.cut_off},
            {"lossy", e.lossy},
            {"one_class", e.one_class_deadlocks},
            {"two_classes", e.two_classes_deadlock}}}};
}

Result<Tally> tally_from(const nlohmann::ordered_json& j, const Routes& routes) {
  try {
    Tally t;
    t.sets = j.at("sets");
    t.bouncing = j.at("bouncing");
    t.one_class = j.at("one_class");
    t.two_classes = j.at("two_classes");
    t.lossy = j.at("lossy");
    t.cutting = j.at("cutting");
    t.turns = j.at("turns");
    t.second_turns = j.at("second_turns");
    t.most_turns = j.at("most_turns");
    t.turning.resize(routes.switches());
    for (const auto& entry : j.at("turning")) t.turning.at(entry.at(0)) = entry.at(1);
    const auto& worst = j.at("worst");
    t.worst = worst.at("links").get<std::vector<std::uint32_t>>();
    for (const std::uint32_t l : t.worst)
      if (l >= routes.links()) return fail(Error{0, "worst", "no such link"});
    Effect& e = t.worst_effect;
    for (const auto& [name, into] :
         {std::pair{"bounces", &e.bounces}, std::pair{"second", &e.second}})
      for (const auto& b : worst.at(name)) {
        into->emplace_back(b.at(0), b.at(1));
        if (into->back().first >= routes.switches() || into->back().second >= routes.switches())
          return fail(Error{0, "worst", "no such switch"});
      }
    e.most_turns = worst.at("most_turns");
    e.cut_off = worst.at("cut_off");
    e.lossy = worst.at("lossy");
    e.one_class_deadlocks = worst.at("one_class");
    e.two_classes_deadlock = worst.at("two_classes");
    return t;
  } catch (const std::exception& e) {  // what the library throws for what is not there
    return fail(Error{0, "result", e.what()});
  }
}

}  // namespace lldp::lab::whatif
