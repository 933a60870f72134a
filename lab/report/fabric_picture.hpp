// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// What a picture of a fabric sets off: links by index into Fabric::links.
struct Marks {
  /// What passes a link one way.
  struct Way {
    std::size_t link = 0;
    std::size_t from = 0;  ///< the end that sends: 0 or 1
  };
  std::vector<std::size_t> failed{};
  std::vector<Way> cycle{};  ///< of buffers, each behind its link
  /// Of what is in doubt, why: links, and nodes by index into Fabric::nodes.
  std::map<std::size_t, std::string> doubtful_links{};
  std::map<std::size_t, std::string> doubtful_nodes{};
  std::vector<std::size_t> turning{};  ///< nodes at which packets turn
  std::vector<std::size_t> near{};     ///< nodes that a picture of a part has as well
  /// For a script that sets off more: a link is two lines, each from its sender to the middle, with
  /// the id `a` and twice the link's index, plus 1 for the direction from `ends[1]`; the id of a
  /// node is `n` and its index.
  bool halves = false;
};

/// A fabric as SVG: one row per level, the highest on top, in the order of the document; a flat
/// fabric's switches on a ring. Of more than 60 nodes, where anything is set off, only that and
/// what is next to it is drawn, and counted are the others; hosts are left out where there are
/// many. Every node and link tells its name to the pointer; names are written where there is room
/// for all. Below stands what the colors mean that are there, and why something is in doubt.
[[nodiscard]] std::string fabric_picture(const Fabric& fabric, const Marks& marks = {});

}  // namespace lldp::lab
