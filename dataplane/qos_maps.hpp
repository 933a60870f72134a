// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "qos/ruleset.hpp"

/// The rules as the QoS maps of a switch chip's ports. Pure.
namespace lldp::dataplane {

/// The four maps of a port that the rules need, in the order in which they are set.
enum class MapKind : std::uint8_t {
  kDscpToTc,
  kTcToDscp,  ///< ports that rewrite alone have one: up ones, shut ones, and where spares return
  kTcToQueue,
  kTcToGroup,  ///< priority group
};
inline constexpr MapKind kMapKinds[] = {MapKind::kDscpToTc, MapKind::kTcToDscp, MapKind::kTcToQueue,
                                        MapKind::kTcToGroup};
[[nodiscard]] constexpr std::size_t index(MapKind kind) { return static_cast<std::size_t>(kind); }
/// Which part of the rules the map does.
[[nodiscard]] constexpr Part part_of(MapKind kind) {
  switch (kind) {
    case MapKind::kDscpToTc:
      return Part::kClassify;
    case MapKind::kTcToDscp:
    case MapKind::kTcToQueue:
      return Part::kRemap;
    case MapKind::kTcToGroup:
      break;
  }
  return Part::kQueues;
}

/// Traffic classes of a chip that does not tell its number.
inline constexpr unsigned kUsualTrafficClasses = 8;
/// Of any chip: more are not used.
inline constexpr unsigned kMostTrafficClasses = 16;
/// The lossless classes that a chip with so many traffic classes can have (maps_of()).
[[nodiscard]] constexpr unsigned most_lossless(unsigned traffic_classes) {
  return (traffic_classes < kMostTrafficClasses ? traffic_classes : kMostTrafficClasses) / 2;
}

using QosMap = std::map<unsigned, unsigned>;
/// By kind; an empty one is not there.
using QosMaps = std::array<QosMap, std::size(kMapKinds)>;

/// A lossy DSCP that leaves by another queue than without the rules.
struct MovedDscp {
  Dscp dscp{};
  unsigned from = 0;
  unsigned to = 0;
  friend bool operator==(const MovedDscp&, const MovedDscp&) = default;
};

/// What the rules cost lossy DSCPs.
struct MapCosts {
  /// DSCPs with a traffic class of their own before, for which none is left: they leave up ports as
  /// the lossy class does.
  std::vector<Dscp> collapsed{};
  std::vector<MovedDscp> moved{};
  friend bool operator==(const MapCosts&, const MapCosts&) = default;
};

/// What one port needs.
struct PortMaps {
  QosMaps maps{};
  MapCosts costs{};
  /// Spares are not restored on this port to a host: to rewrite DSCPs there would collapse others.
  bool last_hop_lossy = false;
  /// The priority of the spare that has one traffic class whichever way a packet of it came. What
  /// came from below in it and goes on upwards is taken for what turns, and becomes lossy.
  std::optional<unsigned> merged{};
};

/// The traffic class carries whether a packet came in by an up port: each lossless class has one
/// traffic class for either way, its priority, and another for packets from above. Where such a
/// packet leaves, it becomes the next class at an up port, and stays the same at any other. A port
/// of unknown order has the maps of a down port: nothing turns there. At a port that restores, both
/// traffic classes of a spare leave as its application class does; at a shut port those of all
/// classes leave as the lossy one; a packet that comes in there has the lossy one's, and keeps its
/// DSCP where it leaves by a down port. A class of several DSCPs leaves a port that rewrites with
/// its DSCP to write. Lossy priority 0 is what nothing classifies: it keeps its queue.
/// `before`: the port's own maps, which tell the lossy DSCPs that are in use apart. `classes`:
/// traffic classes of the chip; where it is short of them, the last spares have one each
/// whichever way they came, and what came from below in such a spare is lossy once it goes up.
[[nodiscard]] Result<PortMaps> maps_of(const qos::Ruleset& rules, const QosMaps& before,
                                       unsigned classes = kUsualTrafficClasses);

/// What is lost between two ports, by PortMaps::merged.
[[nodiscard]] std::optional<PartReading> crossing_limit(const qos::Ruleset& in,
                                                        const qos::Ruleset& out,
                                                        std::optional<unsigned> merged);

/// How a part stands whose map (`name`) is in the chip, which does not say that it rewrites by it.
[[nodiscard]] PartReading rewrite_unverified(Part part, std::string_view name);
/// How a part with PortMaps::last_hop_lossy stands.
[[nodiscard]] PartReading last_hop_lossy(Part part);

/// A line for the operator: the priorities on which these rules have turned PFC off.
[[nodiscard]] std::string pfc_taken_text(unsigned taken);

/// "3, 5": the priorities of a mask.
[[nodiscard]] std::string priorities_text(unsigned mask, const char* between = ", ");

}  // namespace lldp::dataplane
