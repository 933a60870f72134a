// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"
#include "qos/proof.hpp"

namespace lldp::lab {

/// What the class of a port is taken from.
enum class Span : std::uint8_t {
  kLevels,  ///< the devices' levels, as the agent does
  kLayers,  ///< the layers of the link's two ends, for layered expanders
  /// The orders by which running switches treat packets, unknown where none is told, and the layers
  /// of their ports where they have any.
  kAsSet,
};

/// The class of the port at `link.ends[end]` when every level is right. With kLayers, a link
/// between devices that forward needs layers; others have no order. By levels and layers the
/// port of a host that relays has none either: its agent has no rules for what passes through.
[[nodiscard]] Result<qos::PortClass> port_class_of(const Fabric& fabric, const Link& link,
                                                   std::size_t end, Span span);

/// The same by the layers of its link, if that joins any, else by levels.
[[nodiscard]] qos::PortClass true_class(const Fabric& fabric, const Link& link, std::size_t end);

/// What the port at `link.ends[end]` joins; nothing without layers on both ends.
[[nodiscard]] std::optional<Layers> layers_of(const Link& link, std::size_t end);
/// Whether any link joins layers: packets are not routed by levels there.
[[nodiscard]] bool has_layers(const Fabric& fabric);
/// Why a fabric is no layered expander: a link between devices that forward lacks layers, or joins
/// some that do not stand next to each other. Nothing: it is one.
[[nodiscard]] std::optional<Error> not_layered(const Fabric& fabric);

/// What forwards in a fabric and the links between, for the proof.
struct SwitchGraph {
  qos::Forwarding forwarding{};
  std::vector<std::size_t> links{};  ///< per link of `forwarding`: its index in Fabric::links
};

/// Port classes as port_class_of() has them.
[[nodiscard]] Result<SwitchGraph> switch_graph(const Fabric& fabric, Span span);

}  // namespace lldp::lab
