// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/server_fabrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lldp::lab {
namespace {

auto refuse(std::string_view topology, std::string what) {
  return fail(Error{0, std::string(topology), std::move(what)});
}

constexpr std::size_t kPorts = 32;       ///< of every switch of a clos_like()
constexpr std::size_t kTorsPerPod = 16;  ///< half the ports of an aggregation switch

std::size_t rounded_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

Result<Fabric> ndc(std::size_t n, std::size_t k, const LinkQuality& quality) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  if (n < 2 || n > kDigits.size())
    return refuse("ndc", fmt::format("n = {}: switches of 2 to {} ports", n, kDigits.size()));
  if (k < 1) return refuse("ndc", "k = 0: servers of one port are no NDC; the nearest is k = 1");
  // Of k + 1 digits there are n^(k + 1) servers, and as many switches per layer as with one fewer.
  const auto nodes = [&](std::size_t digits) {
    std::size_t switches_of_a_layer = 1;
    for (std::size_t i = 1; i < digits; ++i)
      if (switches_of_a_layer <= kMaxNodes) switches_of_a_layer *= n;
    return switches_of_a_layer * (n + digits);
  };
  std::size_t largest = 1;
  while (nodes(largest + 2) <= kMaxNodes) ++largest;
  if (k > largest)
    return refuse(
        "ndc", fmt::format("NDC({}, {}) has more than {} nodes: the largest is NDC({}, {})", n, k,
                           kMaxNodes, n, largest));
  std::size_t servers = n;
  for (std::size_t i = 0; i < k; ++i) servers *= n;
  Builder b(quality);
  const std::size_t per_layer = servers / n;
  for (std::size_t layer = 0; layer <= k; ++layer)
    b.add(fmt::format("sw{}-", layer), Role::kSwitch, per_layer);
  const std::size_t first_server = (k + 1) * per_layer;
  for (std::size_t s = 0; s < servers; ++s) {
    std::string digits;
    for (std::size_t rest = s, i = 0; i <= k; ++i, rest /= n)
      digits.insert(digits.begin(), kDigits[rest % n]);
    b.add_one("node" + digits, Role::kHost, true);
  }
  std::size_t weight = 1;  // of the digit that the layer's switches do away with
  for (std::size_t layer = 0; layer <= k; ++layer, weight *= n)
    for (std::size_t s = 0; s < servers; ++s)
      b.cable(first_server + s, layer * per_layer + s / (weight * n) * weight + s % weight);
  return b.finish(fmt::format("ndc {} {}", n, k));
}

Result<Fabric> rails(const RailShape& shape) {
  const auto& [domains, count, spines, inside_bps, quality] = shape;
  const std::string_view name = spines > 0 ? "railoptimized" : "railonly";
  if (domains < 2 || count < 2)
    return refuse(name, fmt::format("{} domains of {} rails: at least 2 of 2", domains, count));
  if (domains > kMaxNodes || count > kMaxNodes || spines > kMaxNodes ||
      domains * (count + 1) + count + spines > kMaxNodes ||
      2 * domains * count + count * spines > kMaxLinks)
    return refuse(name, fmt::format("at most {} nodes and {} links", kMaxNodes, kMaxLinks));
  Builder b(quality);
  const std::size_t spine = b.add("spine", Role::kSwitch, spines);
  const std::size_t rail = b.add("rail", Role::kSwitch, count);
  const std::size_t inside = b.add("nvs", Role::kSwitch, domains);
  const std::size_t gpu = inside + domains;
  for (std::size_t d = 1; d <= domains; ++d)
    b.add(fmt::format("gpu{}-", d), Role::kHost, count, spines == 0);
  for (std::size_t d = 0; d < domains; ++d)
    for (std::size_t r = 0; r < count; ++r) {
      b.cable(gpu + d * count + r, inside + d, inside_bps);
      b.cable(gpu + d * count + r, rail + r);
    }
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t s = 0; s < spines; ++s) b.cable(rail + r, spine + s);
  return b.finish(fmt::format("{} {}x{}", name, domains, count));
}

Result<ClosLike> clos_like_parameters(std::size_t switches, std::size_t hosts) {
  if (hosts == 0 || hosts > kMaxNodes || switches == 0)
    return refuse("clos-like", fmt::format("{} switches for {} hosts: at least 1 of each and at "
                                           "most {} hosts",
                                           switches, hosts, kMaxNodes));
  std::optional<ClosLike> best;
  const auto away = [&](const ClosLike& c) {
    return c.switches() > switches ? c.switches() - switches : switches - c.switches();
  };
  for (std::size_t h = 1; h < kPorts; ++h) {
    ClosLike c{.hosts_per_tor = h, .tors = rounded_up(hosts, h)};
    c.pods = rounded_up(c.tors, kTorsPerPod);
    c.aggs = c.pods * (kPorts - h);
    c.cores = rounded_up(c.aggs, 2);
    if (c.pods > kPorts || (c.cores < kPorts - kTorsPerPod && c.pods > 1)) continue;
    if (!best || away(c) < away(*best)) best = c;
  }
  if (!best)
    return refuse("clos-like", fmt::format("{} hosts need more than {} pods of {} ToRs: at most {} "
                                           "hosts",
                                           hosts, kPorts, kTorsPerPod, kPorts * kTorsPerPod * 31));
  return *best;
}

Result<Fabric> clos_like(std::size_t switches, std::size_t hosts, const LinkQuality& quality) {
  const auto p = clos_like_parameters(switches, hosts);
  if (!p) return fail(p.error());
  Builder b(quality);
  const std::size_t core = b.add("core", Role::kSwitch, p->cores);
  const std::size_t agg = b.add("agg", Role::kSwitch, p->aggs);
  const std::size_t tor = b.add("tor", Role::kSwitch, p->tors);
  const std::size_t host = b.add("host", Role::kHost, hosts);
  const std::size_t aggs_per_pod = p->aggs / p->pods;
  for (std::size_t h = 0; h < hosts; ++h) b.cable(host + h, tor + h * p->tors / hosts);
  for (std::size_t t = 0; t < p->tors; ++t)
    for (std::size_t a = 0; a < aggs_per_pod; ++a)
      b.cable(tor + t, agg + t / kTorsPerPod * aggs_per_pod + a);
  constexpr std::size_t kUplinks = kPorts - kTorsPerPod;
  for (std::size_t a = 0; a < p->aggs; ++a)  // the uplinks of a pod go round the cores
    for (std::size_t u = 0; u < kUplinks; ++u)
      b.cable(agg + a, core + (a % aggs_per_pod * kUplinks + u) % p->cores);
  return b.finish(
      fmt::format("clos-like {}: {} ToR + {} + {}", switches, p->tors, p->aggs, p->cores));
}

}  // namespace lldp::lab
