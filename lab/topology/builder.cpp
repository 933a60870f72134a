// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/builder.hpp"

#include <fmt/format.h>

namespace lldp::lab {

std::size_t Builder::add(std::string_view prefix, Role role, std::size_t count, bool relays) {
  const std::size_t first = fabric_.nodes.size();
  for (std::size_t i = 1; i <= count; ++i) add_one(fmt::format("{}{}", prefix, i), role, relays);
  return first;
}

std::size_t Builder::add_one(std::string name, Role role, bool relays) {
  fabric_.nodes.push_back({.name = std::move(name), .role = role, .relays = relays});
  ports_used_.push_back(0);
  return fabric_.nodes.size() - 1;
}

void Builder::cable(std::size_t lower, std::size_t upper) {
  fabric_.links.push_back({.ends = {end(lower), end(upper)},
                           .rate_bps = quality_.rate_bps,
                           .delay_ns = quality_.delay_ns});
}

void Builder::cable(std::size_t lower, std::size_t upper, std::uint64_t rate_bps) {
  cable(lower, upper);
  fabric_.links.back().rate_bps = rate_bps;
}

void Builder::cable(std::size_t lower, qos::Layer lower_layer, std::size_t upper,
                    qos::Layer upper_layer) {
  cable(lower, upper);
  fabric_.links.back().ends[0].layer = lower_layer;
  fabric_.links.back().ends[1].layer = upper_layer;
}

void Builder::hosts(std::size_t first, std::size_t count, std::size_t each) {
  const std::size_t host = add("host", Role::kHost, count * each);
  for (std::size_t i = 0; i < count * each; ++i) cable(host + i, first + i / each);
}

Result<Fabric> Builder::finish(std::string name) {
  fabric_.name = std::move(name);
  return complete(std::move(fabric_));
}

LinkEnd Builder::end(std::size_t node) {
  const std::size_t n = ports_used_[node]++;
  return fabric_.nodes[node].role == Role::kHost ? LinkEnd{node, fmt::format("eth{}", n)}
                                                 : LinkEnd{node, fmt::format("swp{}", n + 1)};
}

}  // namespace lldp::lab
