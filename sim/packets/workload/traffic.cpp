// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/workload/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "sim/packets/workload/sizes.hpp"

namespace lldp::lab::packets {
namespace {

/// What one run may hold: a slip of the pen in a load is not to fill the memory.
constexpr std::size_t kMostFlows = 1'000'000;
/// Waiting of one flow for another, likewise.
constexpr std::size_t kMostWaits = 16'000'000;
/// Of a host, for a mixture of experts: so finely is what it sends divided.
constexpr std::uint64_t kTokens = 256;

class TrafficMaker {
 public:
  TrafficMaker(Plan& plan, const Traffic& traffic)
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
    if (t_.kind == "parameter-server") return parameter_server();
    if (t_.kind == "moe") return experts();
    return fail(Error{0, "kind", fmt::format("`{}`: there is no such traffic", escape(t_.kind))});
  }

 private:
  [[nodiscard]] bool room_for(std::uint64_t more) const {
    return plan_.flows.size() + more <= kMostFlows;
  }
  void flow(std::size_t from, std::size_t to, std::uint64_t octets, Picoseconds start) {
    plan_.flows.push_back(
        {.spec = {.octets = octets, .start = start, .transport = t_.transport},
         .way = {.name = {}, .from = from, .to = to, .via = {}, .hash = random_.next() | 1U}});
  }

  /// One cycle through all hosts: no host sends to itself (Sattolo's algorithm).
  Result<void> permutation() {
    if (!room_for(hosts_.size())) return too_many();
    plan_.flows.reserve(plan_.flows.size() + hosts_.size());
    auto to = hosts_;
    for (std::size_t i = to.size() - 1; i > 0; --i)
      std::swap(to[i], to[static_cast<std::size_t>(random_.below(i))]);
    for (std::size_t i = 0; i < to.size(); ++i) flow(hosts_[i], to[i], t_.octets, t_.start);
    return {};
  }

  Result<void> all_to_all() {
    if (!room_for(hosts_.size() * (hosts_.size() - 1))) return too_many();
    plan_.flows.reserve(plan_.flows.size() + hosts_.size() * (hosts_.size() - 1));
    for (std::size_t i = 1; i < hosts_.size(); ++i)  // no two to the same at the same time
      for (std::size_t h = 0; h < hosts_.size(); ++h)
        flow(hosts_[h], hosts_[(h + i) % hosts_.size()], t_.octets, t_.start);
    return {};
  }

  [[nodiscard]] Result<std::size_t> target() const {
    if (t_.to.empty()) return hosts_.front();
    const auto named = std::find_if(hosts_.begin(), hosts_.end(), [&](std::size_t h) {
      return plan_.fabric.nodes[h].name == t_.to;
    });
    if (named == hosts_.end())
      return fail(Error{0, "to", fmt::format("the fabric has no host `{}`", escape(t_.to))});
    return *named;
  }

  Result<void> incast() {
    const auto to = target();
    if (!to) return fail(to.error());
    auto from = hosts_;
    std::erase(from, *to);
    if (t_.senders == 0 || t_.senders > from.size())
      return fail(Error{0, "senders", fmt::format("{}: give 1 to {}", t_.senders, from.size())});
    if (!room_for(t_.senders)) return too_many();
    for (std::uint32_t i = 0; i < t_.senders; ++i) {
      std::swap(from[i], from[i + static_cast<std::size_t>(random_.below(from.size() - i))]);
      flow(from[i], *to, t_.octets, t_.start);
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
        if (!room_for(1)) return too_many();
        auto to = static_cast<std::size_t>(random_.below(hosts_.size() - 1));
        if (hosts_[to] == from) to = hosts_.size() - 1;
        flow(from, hosts_[to], draw(sizes, random_), at);
      }
    }
    return {};
  }

  Result<void> parameter_server() {
    const auto server = target();
    if (!server) return fail(server.error());
    if ((hosts_.size() - 1) * (hosts_.size() - 1) > kMostWaits || !room_for(2 * hosts_.size()))
      return too_many();
    std::vector<std::uint32_t> pushes;
    for (const std::size_t h : hosts_) {
      if (h == *server) continue;
      pushes.push_back(static_cast<std::uint32_t>(plan_.flows.size()));
      flow(h, *server, t_.octets, t_.start);
    }
    for (const std::size_t h : hosts_) {
      if (h == *server) continue;
      plan_.after.emplace(plan_.flows.size(), pushes);
      flow(*server, h, t_.octets, 0);
    }
    return {};
  }

  Result<void> experts() {
    if (t_.experts < 1 || t_.experts > hosts_.size())
      return fail(Error{0, "experts", fmt::format("{}: give 1 to {}", t_.experts, hosts_.size())});
    if (t_.top_k < 1 || t_.top_k > t_.experts)
      return fail(Error{0, "top_k", fmt::format("{}: give 1 to {}", t_.top_k, t_.experts)});
    if (t_.octets < kTokens)
      return fail(
          Error{0, "octets",
                fmt::format("{}: a host has {} tokens, of one at least", t_.octets, kTokens)});
    if (std::uint64_t{t_.experts} * hosts_.size() * hosts_.size() > kMostWaits ||
        !room_for(std::uint64_t{t_.experts} * hosts_.size() * 2))
      return too_many();
    auto at = hosts_;
    std::vector<std::uint64_t> weights;
    for (std::uint32_t e = 0; e < t_.experts; ++e) {
      std::swap(at[e], at[e + static_cast<std::size_t>(random_.below(at.size() - e))]);
      std::uint64_t weight = 1U << 30;
      for (std::uint32_t i = 0; i < t_.skew; ++i) weight /= e + 1;
      weights.push_back(std::max<std::uint64_t>(1, weight));
    }
    std::vector<std::vector<std::uint64_t>> tokens;  // by host and expert
    for (std::size_t h = 0; h < hosts_.size(); ++h) tokens.push_back(gated(weights));
    const auto octets = [&](std::size_t h, std::size_t e) {
      return tokens[h][e] * t_.octets / kTokens;
    };
    for (std::size_t e = 0; e < weights.size(); ++e) {
      std::vector<std::uint32_t> in;
      const auto ways = [&](auto&& each) {
        for (std::size_t h = 0; h < hosts_.size(); ++h)
          if (hosts_[h] != at[e] && octets(h, e) != 0) each(hosts_[h], octets(h, e));
      };
      ways([&](std::size_t host, std::uint64_t count) {
        in.push_back(static_cast<std::uint32_t>(plan_.flows.size()));
        flow(host, at[e], count, t_.start);
      });
      ways([&](std::size_t host, std::uint64_t count) {
        plan_.after.emplace(plan_.flows.size(), in);
        flow(at[e], host, count, 0);
      });
    }
    return {};
  }
  /// How many of a host's tokens go to each expert.
  std::vector<std::uint64_t> gated(const std::vector<std::uint64_t>& weights) {
    std::vector<std::uint64_t> count(weights.size());
    for (std::uint64_t token = 0; token < kTokens; ++token) {
      auto left = weights;  // no expert twice
      for (std::uint32_t i = 0; i < t_.top_k; ++i) {
        std::uint64_t drawn =
            random_.below(std::accumulate(left.begin(), left.end(), std::uint64_t{0}));
        std::size_t e = 0;
        for (; drawn >= left[e]; ++e) drawn -= left[e];
        ++count[e];
        left[e] = 0;
      }
    }
    return count;
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

Result<void> add_traffic(Plan& plan, const Traffic& traffic) {
  return TrafficMaker(plan, traffic).add();
}

}  // namespace lldp::lab::packets
