// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/picture.hpp"

#include "lab/report/fabric_picture.hpp"

namespace lldp::lab::whatif {

std::string to_svg(const Fabric& fabric, const Routes& routes,
                   const std::vector<std::uint32_t>& set, const Effect& effect,
                   const std::vector<Arc>& cycle) {
  Marks marks;
  for (const std::uint32_t l : set) marks.failed.push_back(routes.link_of(l));
  for (const Arc a : cycle) {
    const std::size_t link = routes.link_of(a / 2);
    const bool forth = fabric.links[link].ends[0].node == routes.node_of(routes.tail(a));
    marks.cycle.push_back({link, forth ? std::size_t{0} : std::size_t{1}});
  }
  for (const auto& [at, to] : effect.bounces) marks.turning.push_back(routes.node_of(at));
  return fabric_picture(fabric, marks);
}

}  // namespace lldp::lab::whatif
