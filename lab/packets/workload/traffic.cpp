// SPDX-License-Identifier: Apache-2.0
#include "lab/packets/workload/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "lab/packets/workload/sizes.hpp"

namespace lldp::lab::packets {
namespace {

/// What one run may hold: a slip of the pen in a load is not to fill the memory.
constexpr std::size_t kMostFlows = 1'000'000;

class Adder {
 public:
  Adder(Plan& plan, const Traffic& traffic)
      : plan_(plan), t_(traffic), random_(plan.settings.seed ^ 0x7472'6166'6669'6300) {
    for (std::size_t n = 0; n < plan.fabric.nodes.size(); ++n)
      if (plan.fabric.nodes[n].role == Role::kHost) hosts_.push_back(n);
  }

  Result<void> add() {
    if (hosts_.size() < 2) return fail(Error{0, "kind", "the fabric has fewer than two hosts"});
    if (t_.kind == "permutation") return permutation();
    if (t_.kind == "all-to-all") return all_to_all();
    if (t_.kind == "incast") return incast();
    if (t_.kind == "poisson") return poisson();
    return fail(Error{0, "kind", fmt::format("`{}`: there is no such traffic", escape(t_.kind))});
  }

 private:
  void flow(std::size_t from, std::size_t to, std::uint64_t octets, Picoseconds start) {
    const std::string name =
        fmt::format("{}-{}", plan_.fabric.nodes[from].name, plan_.fabric.nodes[to].name);
    plan_.flows.push_back(
        {.spec = {.name = name, .octets = octets, .start = start, .transport = t_.transport},
         .way = {.name = name, .from = from, .to = to, .via = {}, .hash = random_.next() | 1U}});
  }

  /// One cycle through all hosts: nobody sends to himself (Sattolo's algorithm).
  Result<void> permutation() {
    auto to = hosts_;
    for (std::size_t i = to.size() - 1; i > 0; --i)
      std::swap(to[i], to[static_cast<std::size_t>(random_.below(i))]);
    for (std::size_t i = 0; i < to.size(); ++i) flow(hosts_[i], to[i], t_.octets, t_.start);
    return {};
  }

  Result<void> all_to_all() {
    if (hosts_.size() * (hosts_.size() - 1) > kMostFlows) return too_many();
    for (std::size_t i = 1; i < hosts_.size(); ++i)  // no two to the same at the same time
      for (std::size_t h = 0; h < hosts_.size(); ++h)
        flow(hosts_[h], hosts_[(h + i) % hosts_.size()], t_.octets, t_.start);
    return {};
  }

  Result<void> incast() {
    std::size_t to = hosts_.front();
    if (!t_.to.empty()) {
      const auto named = std::find_if(hosts_.begin(), hosts_.end(), [&](std::size_t h) {
        return plan_.fabric.nodes[h].name == t_.to;
      });
      if (named == hosts_.end())
        return fail(Error{0, "to", fmt::format("the fabric has no host `{}`", escape(t_.to))});
      to = *named;
    }
    auto from = hosts_;
    std::erase(from, to);
    if (t_.senders == 0 || t_.senders > from.size())
      return fail(Error{0, "senders", fmt::format("{}: give 1 to {}", t_.senders, from.size())});
    for (std::uint32_t i = 0; i < t_.senders; ++i) {
      std::swap(from[i], from[i + static_cast<std::size_t>(random_.below(from.size() - i))]);
      flow(from[i], to, t_.octets, t_.start);
    }
    return {};
  }

  Result<void> poisson() {
    const auto sizes = sizes_named(t_.sizes);
    if (sizes.empty())
      return fail(
          Error{0, "sizes",
                fmt::format("`{}`: there are websearch, hadoop and storage", escape(t_.sizes))});
    const auto links = adjacencies(plan_.fabric);
    for (const std::size_t from : hosts_) {
      if (links[from].empty()) continue;
      const std::uint64_t rate = plan_.fabric.links[links[from].front().link].rate_bps;
      const auto bits = static_cast<unsigned __int128>(mean_of(sizes)) * 8 * kSecond * 100;
      const auto gap = static_cast<std::uint64_t>(
          bits /
          (static_cast<unsigned __int128>(std::max<std::uint64_t>(1, rate)) * t_.load_percent));
      for (Picoseconds at = t_.start + draw_exponential(gap, random_); at < t_.until;
           at += 1 + draw_exponential(gap, random_)) {
        if (plan_.flows.size() >= kMostFlows) return too_many();
        auto to = static_cast<std::size_t>(random_.below(hosts_.size() - 1));
        if (hosts_[to] == from) to = hosts_.size() - 1;
        flow(from, hosts_[to], draw(sizes, random_), at);
      }
    }
    return {};
  }

  static tl::unexpected<Error> too_many() {
    return fail(Error{0, "kind", fmt::format("more than {} flows", kMostFlows)});
  }

  Plan& plan_;
  const Traffic& t_;
  Random random_;
  std::vector<std::size_t> hosts_{};
};

}  // namespace

Result<void> add_traffic(Plan& plan, const Traffic& traffic) { return Adder(plan, traffic).add(); }

}  // namespace lldp::lab::packets
