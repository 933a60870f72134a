// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/local_reroute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>

#include "base/text.hpp"
#include "lab/des/random.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {
namespace {

using Distance = std::uint32_t;
constexpr Distance kFar = std::numeric_limits<Distance>::max();
constexpr std::size_t kMostKept = std::size_t{1} << 23;  ///< distances, of 4 octets

using Links = std::vector<std::vector<Adjacency>>;

bool is_host(const Fabric& fabric, std::size_t node) {
  return fabric.nodes[node].role == Role::kHost;
}

}  // namespace

/// Forwards packets to one destination, hop by hop.
class LocalRouter {
 public:
  LocalRouter(const Fabric& fabric, const Links& links_of, std::size_t destination)
      : fabric_(fabric),
        links_of_(links_of),
        destination_(destination),
        descending_(fabric.nodes.size(), kFar),
        legal_(fabric.nodes.size(), kFar) {
    descending_[destination] = 0;
    spread(descending_, {destination}, Order::kUp);
    // From each of these a packet may have climbed before: nearest first.
    legal_ = descending_;
    std::vector<std::size_t> sources;
    for (std::size_t n = 0; n < legal_.size(); ++n)
      if (legal_[n] != kFar) sources.push_back(n);
    std::stable_sort(sources.begin(), sources.end(),
                     [&](std::size_t a, std::size_t b) { return legal_[a] < legal_[b]; });
    spread(legal_, {sources.begin(), sources.end()}, Order::kDown);
  }

  /// Next hops from `node` when all is well.
  [[nodiscard]] std::vector<Adjacency> next_hops(std::size_t node, bool descends) const {
    const bool keep_descending = descends && descending_[node] != kFar;
    const auto& far = keep_descending ? descending_ : legal_;
    std::vector<Adjacency> hops;
    for (const Adjacency& a : links_of_[node]) {
      const Order order = true_order(fabric_, fabric_.links[a.link], a.own_end);
      const bool shortest =
          (order == Order::kDown && near(descending_, a.peer, far[node])) ||
          (order == Order::kUp && !keep_descending && near(legal_, a.peer, far[node]));
      if (shortest && (a.peer == destination_ || !is_host(fabric_, a.peer))) hops.push_back(a);
    }
    return hops;
  }

  /// The neighbours above `node`, or else those below, from which the destination can be reached
  /// past none of `visited`.
  [[nodiscard]] std::vector<Adjacency> detours(std::size_t node, const FailedLinks& failed,
                                               const std::vector<bool>& visited) const {
    const std::vector<bool> reaches = connected(failed, visited);
    std::vector<Adjacency> up;
    std::vector<Adjacency> down;
    for (const Adjacency& a : links_of_[node]) {
      if (failed[a.link] || !reaches[a.peer]) continue;
      const Order order = true_order(fabric_, fabric_.links[a.link], a.own_end);
      if (order == Order::kUp) up.push_back(a);
      if (order == Order::kDown) down.push_back(a);
    }
    return up.empty() ? down : up;
  }

 private:
  static bool near(const std::vector<Distance>& distance, std::size_t node, Distance far) {
    return distance[node] != kFar && distance[node] + 1 == far;
  }

  /// Breadth first from `next`, nodes whose distance is known, nearest first, along links that lead
  /// up or down.
  void spread(std::vector<Distance>& distance, std::deque<std::size_t> next, Order along) {
    for (; !next.empty(); next.pop_front()) {
      const std::size_t node = next.front();
      if (is_host(fabric_, node) && node != destination_) continue;
      for (const Adjacency& a : links_of_[node]) {
        if (true_order(fabric_, fabric_.links[a.link], a.own_end) != along ||
            distance[a.peer] <= distance[node] + 1)
          continue;
        distance[a.peer] = distance[node] + 1;
        next.push_back(a.peer);
      }
    }
  }

  [[nodiscard]] std::vector<bool> connected(const FailedLinks& failed,
                                            const std::vector<bool>& visited) const {
    std::vector<bool> reached(fabric_.nodes.size());
    reached[destination_] = true;
    for (std::deque<std::size_t> next{destination_}; !next.empty(); next.pop_front()) {
      for (const Adjacency& a : links_of_[next.front()]) {
        if (failed[a.link] || reached[a.peer] || visited[a.peer] || is_host(fabric_, a.peer))
          continue;
        reached[a.peer] = true;
        next.push_back(a.peer);
      }
    }
    return reached;
  }

  const Fabric& fabric_;
  const Links& links_of_;
  std::size_t destination_;
  std::vector<Distance> descending_;  ///< links to the destination, going down all the way
  std::vector<Distance> legal_;       ///< links to the destination, up first and then down
};

namespace {

const Adjacency& choose(const std::vector<Adjacency>& hops, const Flow& flow, std::size_t here) {
  for (const std::size_t wanted : flow.via)
    for (const Adjacency& a : hops)
      if (a.peer == wanted) return a;
  if (flow.hash != 0) return hops[Random(flow.hash + here).below(hops.size())];
  return *std::min_element(hops.begin(), hops.end(), [](const Adjacency& a, const Adjacency& b) {
    return std::pair(a.peer, a.link) < std::pair(b.peer, b.link);
  });
}

Result<Path> forward(const Fabric& fabric, const LocalRouter& router, const FailedLinks& failed,
                     const Flow& flow) {
  Path path{.nodes = {flow.from}};
  std::vector<bool> visited(fabric.nodes.size());
  visited[flow.from] = true;
  bool descends = false;
  while (path.nodes.back() != flow.to) {
    const std::size_t here = path.nodes.back();
    auto hops = router.next_hops(here, descends);
    std::erase_if(hops, [&](const Adjacency& a) { return failed[a.link] || visited[a.peer]; });
    if (hops.empty()) hops = router.detours(here, failed, visited);
    if (hops.empty())
      return fail(Error{0,
                        fmt::format("{} to {}", escape(fabric.nodes[flow.from].name),
                                    escape(fabric.nodes[flow.to].name)),
                        fmt::format("no way on from {}", escape(fabric.nodes[here].name))});
    const Adjacency& hop = choose(hops, flow, here);
    descends = true_order(fabric, fabric.links[hop.link], hop.own_end) == Order::kDown;
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

Result<Path> local_reroute(const Fabric& fabric, const FailedLinks& failed, const Flow& flow) {
  const Links links = adjacencies(fabric);
  return forward(fabric, LocalRouter(fabric, links, flow.to), failed, flow);
}

Result<Path> laid_path(const Fabric& fabric, const FailedLinks& failed, const Flow& flow) {
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
  Links links{};
  std::unordered_map<std::size_t, LocalRouter> routers{};  ///< by destination
};

Ways::Ways(const Fabric& fabric)
    : fabric_(&fabric),
      known_(std::make_unique<Known>(
          Known{.layered = is_layered(fabric), .links = adjacencies(fabric)})) {}
Ways::Ways(Ways&&) noexcept = default;
Ways::~Ways() = default;

Result<Path> Ways::path_of(const FailedLinks& failed, const Flow& flow) {
  if (known_->layered) {
    auto path = laid_path(*fabric_, failed, flow);
    if (!path)
      path.error().what += ": in a layered expander `via` names every switch between, in order";
    return path;
  }
  auto& routers = known_->routers;
  auto router = routers.find(flow.to);
  if (router == routers.end()) {
    if ((routers.size() + 1) * 2 * fabric_->nodes.size() > kMostKept) routers.clear();
    router = routers.try_emplace(flow.to, *fabric_, known_->links, flow.to).first;
  }
  return forward(*fabric_, router->second, failed, flow);
}

Result<Path> path_of(const Fabric& fabric, const FailedLinks& failed, const Flow& flow) {
  return Ways(fabric).path_of(failed, flow);
}

Result<Path> updown_path(const Fabric& fabric, const Flow& flow) {
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

Result<Flow> flow_between(const Fabric& fabric, std::string name, std::string_view nodes) {
  auto named = nodes_named(fabric, nodes);
  if (!named) return fail(named.error());
  Flow flow{.name = std::move(name), .from = named->front(), .to = named->back()};
  if (flow.from == flow.to) return fail(Error{0, escape(nodes), "begins and ends at one node"});
  flow.via.assign(named->begin() + 1, named->end() - 1);
  return flow;
}

}  // namespace lldp::lab
