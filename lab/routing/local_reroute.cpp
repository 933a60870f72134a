// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/local_reroute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "base/text.hpp"
#include "lab/des/random.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {
namespace {

using Distance = std::uint16_t;
constexpr Distance kFar = std::numeric_limits<Distance>::max();
constexpr std::size_t kMostKept = std::size_t{1} << 24;  ///< distances, of 2 octets

bool is_host(const Fabric& fabric, std::size_t node) {
  return fabric.nodes[node].role == Role::kHost;
}

}  // namespace

/// A link as one of its two nodes sees it, and where the far end stands.
struct Hop {
  std::uint32_t link = 0;
  std::uint32_t peer = 0;
  Order order = Order::kUnknown;
};

/// The links of every node, in the order of Fabric::links.
class Hops {
 public:
  explicit Hops(const Fabric& fabric) : first_(fabric.nodes.size() + 1) {
    for (const Link& l : fabric.links)
      for (const LinkEnd& end : l.ends) ++first_[end.node + 1];
    for (std::size_t n = 1; n < first_.size(); ++n) first_[n] += first_[n - 1];
    hops_.resize(2 * fabric.links.size());
    std::vector<std::uint32_t> next(first_);
    for (std::size_t l = 0; l < fabric.links.size(); ++l)
      for (std::size_t e = 0; e < 2; ++e) {
        const auto& ends = fabric.links[l].ends;
        hops_[next[ends[e].node]++] = {static_cast<std::uint32_t>(l),
                                       static_cast<std::uint32_t>(ends[1 - e].node),
                                       true_order(fabric, fabric.links[l], e)};
      }
  }
  [[nodiscard]] std::span<const Hop> of(std::size_t node) const {
    return std::span(hops_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  /// A host's switch where it hangs on one, by one link; else the node itself. All such hosts of a
  /// switch are as far from anything else as it is, and one.
  [[nodiscard]] std::size_t home_of(const Fabric& fabric, std::size_t node) const {
    const auto hops = of(node);
    const bool hangs = is_host(fabric, node) && !fabric.nodes[node].relays && hops.size() == 1 &&
                       hops[0].order == Order::kUp && !is_host(fabric, hops[0].peer);
    return hangs ? hops[0].peer : node;
  }

 private:
  std::vector<std::uint32_t> first_;  ///< by node: in hops_
  std::vector<Hop> hops_{};
};

/// Distances of all nodes to one.
class LocalRouter {
 public:
  LocalRouter(const Fabric& fabric, const Hops& hops, std::size_t destination)
      : descending_(fabric.nodes.size(), kFar) {
    std::vector<std::uint32_t> queue{static_cast<std::uint32_t>(destination)};
    descending_[destination] = 0;
    spread(fabric, hops, descending_, queue, destination, Order::kUp);
    // From each of these a packet may have climbed before: nearest first.
    legal_ = descending_;
    std::vector<std::uint32_t> sources;
    for (std::uint32_t n = 0; n < legal_.size(); ++n)
      if (legal_[n] != kFar) sources.push_back(n);
    std::stable_sort(sources.begin(), sources.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return legal_[a] < legal_[b]; });
    spread(fabric, hops, legal_, sources, destination, Order::kDown);
  }

  /// Links to the destination, going down all the way; or up first and then down.
  [[nodiscard]] Distance descending(std::size_t node) const { return descending_[node]; }
  [[nodiscard]] Distance legal(std::size_t node) const { return legal_[node]; }

 private:
  /// Breadth first from `queue`, nodes whose distance is known, nearest first, along links that
  /// lead up or down.
  static void spread(const Fabric& fabric, const Hops& hops, std::vector<Distance>& distance,
                     std::vector<std::uint32_t>& queue, std::size_t destination, Order along) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t node = queue[i];
      if ((is_host(fabric, node) && node != destination) || distance[node] + 1 >= kFar) continue;
      const auto one_more = static_cast<Distance>(distance[node] + 1);
      for (const Hop& h : hops.of(node)) {
        if (h.order != along || distance[h.peer] <= one_more) continue;
        distance[h.peer] = one_more;
        queue.push_back(h.peer);
      }
    }
  }

  std::vector<Distance> descending_;
  std::vector<Distance> legal_;
};

namespace {

/// Forwards packets to one destination, hop by hop, by the distances to it or to its home.
class Forwarder {
 public:
  Forwarder(const Fabric& fabric, const Hops& hops, const LocalRouter& router, std::size_t home,
            std::size_t destination)
      : fabric_(fabric), hops_(hops), router_(router), home_(home), destination_(destination) {}

  /// Next hops from `node` when all is well.
  void next_hops(std::size_t node, bool descends, std::vector<Hop>& next) const {
    next.clear();
    if (node == home_ && node != destination_) {
      for (const Hop& h : hops_.of(node))
        if (h.peer == destination_) next.push_back(h);
      return;
    }
    const bool keep_descending = descends && router_.descending(node) != kFar;
    const Distance far = keep_descending ? router_.descending(node) : router_.legal(node);
    const auto near = [&](Distance distance) { return distance != kFar && distance + 1 == far; };
    for (const Hop& h : hops_.of(node)) {
      const bool shortest =
          (h.order == Order::kDown && near(router_.descending(h.peer))) ||
          (h.order == Order::kUp && !keep_descending && near(router_.legal(h.peer)));
      if (shortest && (h.peer == destination_ || !is_host(fabric_, h.peer))) next.push_back(h);
    }
  }

  /// The neighbors above `node`, or else those below, from which the destination can be reached
  /// past none of `visited`.
  [[nodiscard]] std::vector<Hop> detours(std::size_t node, const FailedLinks& failed,
                                         const std::vector<bool>& visited) const {
    const std::vector<bool> reaches = connected(failed, visited);
    std::vector<Hop> up;
    std::vector<Hop> down;
    for (const Hop& h : hops_.of(node)) {
      if (failed[h.link] || !reaches[h.peer]) continue;
      if (h.order == Order::kUp) up.push_back(h);
      if (h.order == Order::kDown) down.push_back(h);
    }
    return up.empty() ? down : up;
  }

 private:
  [[nodiscard]] std::vector<bool> connected(const FailedLinks& failed,
                                            const std::vector<bool>& visited) const {
    std::vector<bool> reached(fabric_.nodes.size());
    reached[destination_] = true;
    std::vector<std::size_t> next{destination_};
    for (std::size_t i = 0; i < next.size(); ++i) {
      for (const Hop& h : hops_.of(next[i])) {
        if (failed[h.link] || reached[h.peer] || visited[h.peer] || is_host(fabric_, h.peer))
          continue;
        reached[h.peer] = true;
        next.push_back(h.peer);
      }
    }
    return reached;
  }

  const Fabric& fabric_;
  const Hops& hops_;
  const LocalRouter& router_;
  std::size_t home_;
  std::size_t destination_;
};

const Hop& choose(const std::vector<Hop>& hops, const FlowPath& flow, std::size_t here) {
  for (const std::size_t wanted : flow.via)
    for (const Hop& h : hops)
      if (h.peer == wanted) return h;
  if (flow.hash != 0) return hops[Random(flow.hash + here).below(hops.size())];
  return *std::min_element(hops.begin(), hops.end(), [](const Hop& a, const Hop& b) {
    return std::pair(a.peer, a.link) < std::pair(b.peer, b.link);
  });
}

Result<Path> forward(const Fabric& fabric, const Forwarder& forwarder, const FailedLinks& failed,
                     const FlowPath& flow) {
  Path path{.nodes = {flow.from}};
  std::vector<bool> visited(fabric.nodes.size());
  visited[flow.from] = true;
  bool descends = false;
  std::vector<Hop> hops;
  while (path.nodes.back() != flow.to) {
    const std::size_t here = path.nodes.back();
    forwarder.next_hops(here, descends, hops);
    std::erase_if(hops, [&](const Hop& h) { return failed[h.link] || visited[h.peer]; });
    if (hops.empty()) hops = forwarder.detours(here, failed, visited);
    if (hops.empty())
      return fail(Error{0,
                        fmt::format("{} to {}", escape(fabric.nodes[flow.from].name),
                                    escape(fabric.nodes[flow.to].name)),
                        fmt::format("no way on from {}", escape(fabric.nodes[here].name))});
    const Hop& hop = choose(hops, flow, here);
    descends = hop.order == Order::kDown;
    visited[hop.peer] = true;
    path.nodes.push_back(hop.peer);
    path.links.push_back(hop.link);
  }
  return path;
}

bool is_layered(const Fabric& fabric) {
  return std::any_of(fabric.links.begin(), fabric.links.end(),
                     [](const Link& l) { return layers_of(l, 0).has_value(); });
}

}  // namespace

Result<Path> local_reroute(const Fabric& fabric, const FailedLinks& failed, const FlowPath& flow) {
  const Hops hops(fabric);
  const std::size_t home = hops.home_of(fabric, flow.to);
  const LocalRouter router(fabric, hops, home);
  return forward(fabric, Forwarder(fabric, hops, router, home, flow.to), failed, flow);
}

Result<Path> laid_path(const Fabric& fabric, const FailedLinks& failed, const FlowPath& flow) {
  Path path{.nodes = {flow.from}};
  std::vector<std::size_t> stations = flow.via;
  stations.push_back(flow.to);
  for (const std::size_t next : stations) {
    const std::size_t here = path.nodes.back();
    std::size_t link = 0;
    for (; link < fabric.links.size(); ++link) {
      const auto& ends = fabric.links[link].ends;
      if (!failed[link] && std::minmax(ends[0].node, ends[1].node) == std::minmax(here, next))
        break;
    }
    if (link == fabric.links.size())
      return fail(Error{0,
                        fmt::format("{} to {}", escape(fabric.nodes[flow.from].name),
                                    escape(fabric.nodes[flow.to].name)),
                        fmt::format("no link from {} to {}", escape(fabric.nodes[here].name),
                                    escape(fabric.nodes[next].name))});
    path.nodes.push_back(next);
    path.links.push_back(link);
  }
  return path;
}

struct Ways::Known {
  bool layered = false;
  Hops hops;
  std::unordered_map<std::size_t, LocalRouter> routers{};  ///< by the destination's home
};

Ways::Ways(const Fabric& fabric)
    : fabric_(&fabric),
      known_(std::make_unique<Known>(Known{.layered = is_layered(fabric), .hops = Hops(fabric)})) {}
Ways::Ways(Ways&&) noexcept = default;
Ways::~Ways() = default;

Result<Path> Ways::path_of(const FailedLinks& failed, const FlowPath& flow) {
  if (known_->layered) {
    auto path = laid_path(*fabric_, failed, flow);
    if (!path)
      path.error().what += ": in a layered expander `via` names every switch between, in order";
    return path;
  }
  auto& routers = known_->routers;
  const std::size_t home = known_->hops.home_of(*fabric_, flow.to);
  auto router = routers.find(home);
  if (router == routers.end()) {
    if ((routers.size() + 1) * 2 * fabric_->nodes.size() > kMostKept) routers.clear();
    router = routers.try_emplace(home, *fabric_, known_->hops, home).first;
  }
  return forward(*fabric_, Forwarder(*fabric_, known_->hops, router->second, home, flow.to), failed,
                 flow);
}

Result<Path> path_of(const Fabric& fabric, const FailedLinks& failed, const FlowPath& flow) {
  return Ways(fabric).path_of(failed, flow);
}

Result<Path> updown_path(const Fabric& fabric, const FlowPath& flow) {
  return local_reroute(fabric, FailedLinks(fabric.links.size()), flow);
}

std::vector<std::size_t> turns_of(const Fabric& fabric, const Path& path) {
  std::vector<std::size_t> turns;
  for (std::size_t i = 1; i + 1 < path.nodes.size(); ++i) {
    const auto port_class = [&](std::size_t l) {
      const Link& link = fabric.links[l];
      return true_class(fabric, link, link.ends[0].node == path.nodes[i] ? 0 : 1);
    };
    if (qos::turns(port_class(path.links[i - 1]), port_class(path.links[i]))) turns.push_back(i);
  }
  return turns;
}

std::string switches_of(const Fabric& fabric, const Path& path) {
  std::string text;
  for (const std::size_t node : path.nodes) {
    if (is_host(fabric, node)) continue;
    text += (text.empty() ? "" : ", ") + fabric.nodes[node].name;
  }
  return text;
}

namespace {

Result<std::vector<std::size_t>> nodes_named(const Fabric& fabric, std::string_view text) {
  std::vector<std::size_t> nodes;
  for (const std::string& name : split_list(text, '-')) {
    const auto at = std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                 [&](const Node& n) { return n.name == name; });
    if (at == fabric.nodes.end())
      return fail(Error{0, escape(text), fmt::format("the fabric has no `{}`", escape(name))});
    nodes.push_back(static_cast<std::size_t>(at - fabric.nodes.begin()));
  }
  if (nodes.size() < 2) return fail(Error{0, escape(text), "name two nodes, as `Spine1-Leaf4`"});
  return nodes;
}

}  // namespace

Result<FailedLinks> failed_links(const Fabric& fabric, std::span<const std::string> pairs) {
  FailedLinks failed(fabric.links.size());
  for (const std::string& pair : pairs) {
    const auto nodes = nodes_named(fabric, pair);
    if (!nodes) return fail(nodes.error());
    bool found = false;
    for (std::size_t i = 0; i < fabric.links.size() && nodes->size() == 2; ++i) {
      const auto& [a, b] = fabric.links[i].ends;
      if (std::minmax(a.node, b.node) != std::minmax((*nodes)[0], (*nodes)[1])) continue;
      failed[i] = found = true;
    }
    if (!found) return fail(Error{0, escape(pair), "the fabric has no such link"});
  }
  return failed;
}

Result<FlowPath> flow_between(const Fabric& fabric, std::string name, std::string_view nodes) {
  auto named = nodes_named(fabric, nodes);
  if (!named) return fail(named.error());
  FlowPath flow{.name = std::move(name), .from = named->front(), .to = named->back()};
  if (flow.from == flow.to) return fail(Error{0, escape(nodes), "begins and ends at one node"});
  flow.via.assign(named->begin() + 1, named->end() - 1);
  return flow;
}

}  // namespace lldp::lab
