// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/expanders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/des/random.hpp"

namespace lldp::lab {
namespace {

auto refuse(std::string_view topology, std::string what) {
  return fail(Error{0, std::string(topology), std::move(what)});
}

/// Layers that a qos::Layer can name, from 1.
constexpr std::size_t kMaxLayers = qos::Layer::kMax;

Result<void> check(std::string_view topology, const ExpanderShape& shape) {
  const auto& [n, s, h, seed, quality] = shape;
  if (s < 4 || s % 2 != 0)
    return refuse(topology, fmt::format("{} ports to other switches: the nearest that can be wired "
                                        "is {}",
                                        s, std::max<std::size_t>(4, s + s % 2)));
  if (n <= s)
    return refuse(topology,
                  fmt::format("{} switches with {} ports each to others: no two links between the "
                              "same pair need {} switches at least",
                              n, s, s + 1));
  if (n > kMaxNodes || h > kMaxNodes || n * (h + 1) > kMaxNodes || n * (s / 2 + h) > kMaxLinks)
    return refuse(topology, fmt::format("{} switches of {} ports and {} hosts: at most {} nodes "
                                        "and {} links",
                                        n, s, h, kMaxNodes, kMaxLinks));
  return {};
}

/// Shuffles by the lab's own source of chance: std::shuffle differs from library to library.
template <class T>
void shuffle(std::vector<T>& v, Random& random) {
  for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[random.below(i)]);
}

/// Lays links between stubs at random, none between the same two switches twice.
class Wiring {
 public:
  Wiring(std::size_t switches, Random& random)
      : switches_(switches), random_(random), linked_(switches * switches) {}

  /// Joins lower[i] with upper[i], after putting `upper` into a random order that allows it. False
  /// if none was found.
  bool join(std::vector<std::uint32_t>& lower, std::vector<std::uint32_t>& upper) {
    shuffle(lower, random_);
    shuffle(upper, random_);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      if (possible(lower[i], upper[i])) {
        mark(lower[i], upper[i], true);
        continue;
      }
      if (!exchange(lower, upper, i)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool possible(std::size_t a, std::size_t b) const {
    return a != b && !linked_[a * switches_ + b];
  }
  void mark(std::size_t a, std::size_t b, bool linked) {
    linked_[a * switches_ + b] = linked_[b * switches_ + a] = linked;
  }
  /// Pair `open` cannot be, those before `joined` are: gives it another's upper end. Where no
  /// exchange of two is possible, the other becomes the open one.
  bool exchange(const std::vector<std::uint32_t>& lower, std::vector<std::uint32_t>& upper,
                std::size_t joined) {
    std::size_t open = joined;
    for (std::size_t attempt = 0; attempt < 200 * lower.size(); ++attempt) {
      const std::size_t j = random_.below(lower.size());
      if (j == open || !possible(lower[open], upper[j])) continue;
      if (j > joined && open == joined) {  // still to come
        std::swap(upper[open], upper[j]);
        mark(lower[open], upper[open], true);
        return true;
      }
      if (j > joined) continue;
      mark(lower[j], upper[j], false);
      std::swap(upper[open], upper[j]);
      mark(lower[open], upper[open], true);
      if (possible(lower[j], upper[j])) {
        mark(lower[j], upper[j], true);
        return true;
      }
      if (attempt % 8 == 0) {
        open = j;
        continue;
      }
      mark(lower[open], upper[open], false);
      std::swap(upper[open], upper[j]);
      mark(lower[j], upper[j], true);
    }
    return false;
  }

  std::size_t switches_;
  Random& random_;
  std::vector<bool> linked_;
};

constexpr int kAttempts = 20;  ///< a wiring that got stuck is begun anew

/// For each pair of adjacent layers, which switch has how many ports up from the lower and down
/// from the upper.
struct Stubs {
  std::vector<std::uint32_t> lower{};
  std::vector<std::uint32_t> upper{};
};

Result<Fabric> wire(std::string_view topology, const ExpanderShape& shape, Random& random,
                    std::vector<Stubs> between, bool layered, std::string name) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Wiring wiring(shape.switches, random);
    if (!std::all_of(between.begin(), between.end(),
                     [&](Stubs& s) { return wiring.join(s.lower, s.upper); }))
      continue;
    Builder b(shape.quality);
    b.add("tor", Role::kSwitch, shape.switches);
    for (std::size_t l = 0; l < between.size(); ++l) {
      for (std::size_t i = 0; i < between[l].lower.size(); ++i) {
        if (layered)
          b.cable(between[l].lower[i], *qos::Layer::make(l + 1), between[l].upper[i],
                  *qos::Layer::make(l + 2));
        else
          b.cable(between[l].lower[i], between[l].upper[i]);
      }
    }
    b.hosts(0, shape.switches, shape.hosts_per_switch);
    return b.finish(std::move(name));
  }
  return refuse(topology,
                fmt::format("{} switches of {} ports: no wiring without two links between "
                            "the same pair was found in {} attempts; {} switches leave "
                            "more room",
                            shape.switches, shape.ports, kAttempts, 2 * shape.ports));
}

}  // namespace

Result<FcPlus> fcplus_parameters(const ExpanderShape& shape, std::optional<std::size_t> v) {
  if (auto ok = check("fcplus", shape); !ok) return fail(ok.error());
  const std::size_t inner = (shape.ports - 2) / 2;  // interior layers; also links of the interior
  if (inner + 2 > kMaxLayers)
    return refuse("fcplus", fmt::format("{} ports make {} layers, of which there are {} at most: "
                                        "{} ports",
                                        shape.ports, inner + 2, kMaxLayers, 2 * kMaxLayers - 2));
  const auto whole = [&](std::size_t candidate) {
    return candidate > 2 && inner % (candidate - 2) == 0;
  };
  std::size_t chosen = 0;
  if (v) {
    chosen = *v;
    if (!whole(chosen)) {
      std::vector<std::size_t> possible;
      for (std::size_t c = 3; c <= inner + 2; ++c)
        if (whole(c)) possible.push_back(c);
      return refuse("fcplus", fmt::format("v = {}: {} ports can be split into {} virtual switches",
                                          chosen, shape.ports, fmt::join(possible, ", ")));
    }
  } else {
    chosen = std::max<std::size_t>(3, 2 + (shape.ports - 2 + 9) / 10);
    while (!whole(chosen)) ++chosen;
  }
  const FcPlus p{chosen, inner + 2, inner / (chosen - 2)};
  if (shape.switches % p.group_layers != 0) {
    const std::size_t below = shape.switches / p.group_layers * p.group_layers;
    return refuse(
        "fcplus",
        fmt::format("{} switches do not fill the {} layers of a group evenly: {} or {} do",
                    shape.switches, p.group_layers, below, below + p.group_layers));
  }
  return p;
}

Result<Fabric> fcplus(const ExpanderShape& shape, std::optional<std::size_t> v) {
  const auto p = fcplus_parameters(shape, v);
  if (!p) return fail(p.error());
  Random random(shape.seed);
  const std::size_t n = shape.switches;
  std::vector<Stubs> between(p->layers - 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    between.front().lower.push_back(i);
    between.back().upper.push_back(i);
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t group = 0; group < p->virtual_switches - 2; ++group) {
    shuffle(order, random);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t layer = 1 + group * p->group_layers + i % p->group_layers;
      for (std::size_t port = 0; port < p->group_layers; ++port) {
        between[layer - 1].upper.push_back(order[i]);
        between[layer].lower.push_back(order[i]);
      }
    }
  }
  return wire("fcplus", shape, random, std::move(between), true,
              fmt::format("fcplus {} s={} v={} k={} seed={}", n, shape.ports, p->virtual_switches,
                          p->layers, shape.seed));
}

double expected_updown_paths(std::size_t switches, const std::vector<std::size_t>& degrees) {
  double all = 1;
  double back = 1;  // the empty path, and those that turn on the link they came by
  for (const std::size_t d : degrees) {
    back += static_cast<double>(d) * all;
    all *= static_cast<double>((1 + d) * (1 + d));
  }
  return (all - back) / static_cast<double>(switches - 1);
}

Result<std::vector<std::size_t>> fc_degrees(const ExpanderShape& shape,
                                            std::optional<std::size_t> k) {
  if (auto ok = check("fc", shape); !ok) return fail(ok.error());
  const std::size_t links = shape.ports / 2;
  const auto spread = [&](std::size_t layers) {
    std::vector<std::size_t> degrees(layers - 1, links / (layers - 1));
    for (std::size_t i = 0; i < links % (layers - 1); ++i) ++degrees[layers - 2 - i];
    return degrees;
  };
  const std::size_t most = std::min(links + 1, kMaxLayers);
  if (k) {
    if (*k < 2 || *k > most)
      return refuse("fc",
                    fmt::format("k = {}: {} ports make 2 to {} layers", *k, shape.ports, most));
    return spread(*k);
  }
  const double pairs =
      static_cast<double>(shape.switches) * static_cast<double>(shape.switches) / 2;
  std::size_t chosen = std::min<std::size_t>(4, most);
  while (chosen < most &&
         pairs * std::exp(-expected_updown_paths(shape.switches, spread(chosen))) > 1)
    ++chosen;
  return spread(chosen);
}

Result<Fabric> fc(const ExpanderShape& shape, const std::vector<std::size_t>& degrees) {
  if (auto ok = check("fc", shape); !ok) return fail(ok.error());
  const std::size_t links = std::accumulate(degrees.begin(), degrees.end(), std::size_t{0});
  if (degrees.empty() || degrees.size() >= kMaxLayers ||
      std::find(degrees.begin(), degrees.end(), 0) != degrees.end())
    return refuse("fc", fmt::format("{} degrees: 1 to {} of at least 1 link each", degrees.size(),
                                    kMaxLayers - 1));
  if (2 * links != shape.ports)
    return refuse("fc", fmt::format("degrees {} take {} ports of a switch, not {}",
                                    fmt::join(degrees, ","), 2 * links, shape.ports));
  Random random(shape.seed);
  std::vector<Stubs> between(degrees.size());
  for (std::size_t l = 0; l < degrees.size(); ++l)
    for (std::uint32_t i = 0; i < shape.switches; ++i)
      for (std::size_t d = 0; d < degrees[l]; ++d) {
        between[l].lower.push_back(i);
        between[l].upper.push_back(i);
      }
  return wire("fc", shape, random, std::move(between), true,
              fmt::format("fc {} s={} degrees={} seed={}", shape.switches, shape.ports,
                          fmt::join(degrees, ","), shape.seed));
}

Result<Fabric> jellyfish(const ExpanderShape& shape) {
  if (auto ok = check("jellyfish", shape); !ok) return fail(ok.error());
  Random random(shape.seed);
  std::vector<std::uint32_t> stubs;
  for (std::uint32_t i = 0; i < shape.switches; ++i) stubs.insert(stubs.end(), shape.ports, i);
  shuffle(stubs, random);
  const auto middle = stubs.begin() + static_cast<std::ptrdiff_t>(stubs.size() / 2);
  return wire("jellyfish", shape, random, {{{stubs.begin(), middle}, {middle, stubs.end()}}}, false,
              fmt::format("jellyfish {} s={} seed={}", shape.switches, shape.ports, shape.seed));
}

}  // namespace lldp::lab
