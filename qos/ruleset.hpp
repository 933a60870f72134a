// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/fabric.hpp"
#include "qos/policy.hpp"

namespace lldp::qos {

using lldp::Layer;

/// All that the rules need to know of a port.
struct PortClass {
  Order order = Order::kUnknown;  ///< where the far end of its link stands
  Layer near{};                   ///< layer of the virtual switch that owns the port
  /// The link leads to a host, which forwards nothing: spare classes leave as the application class
  /// of their chain (`qos.restore`). Counts while the port is down, and is out of force before it
  /// is anything else.
  bool restore = false;
  /// It stands on other interfaces, as a VLAN does, whose packets have met those rules already.
  bool stacked = false;
  /// Bit n: the class of priority n crosses the port as the lossy one, in either direction, for a
  /// DSCP of it leads to another priority at the far end. Nothing is restored there.
  std::uint8_t lossy = 0;
  /// Of a stacked port whose order is not known: packets keep what the rules below have given them.
  [[nodiscard]] constexpr bool passive() const { return stacked && order == Order::kUnknown; }
  [[nodiscard]] constexpr bool restores() const {
    return restore && order == Order::kDown && lossy == 0;
  }
  [[nodiscard]] constexpr bool lets_cross(Priority lossless) const {
    return order != Order::kShut && (lossy >> lossless.value() & 1) == 0;
  }
  friend bool operator==(const PortClass&, const PortClass&) = default;
};

/// The class of a port of layer `near` that is linked to layer `far` of a neighbor. Layers stand
/// for levels here: equal ones go by chassis ID; a device's link to its own layer has no order.
[[nodiscard]] PortClass class_of_span(Layer near, const ChassisId& self, Layer far,
                                      const ChassisId& neighbor);

/// A packet's way through a device has three moves: the link it came by, the inside of the device
/// (near layer of `in` to near layer of `out`), and the link it leaves by. It turns if a descent is
/// followed by an ascent among them; that happens at most once in a device. In a Clos switch,
/// where the inside is level: it came in by an up port and leaves by an up port. Never to or from
/// an unknown port, nor a shut one, which no lossless packet crosses.
[[nodiscard]] constexpr bool turns(PortClass in, PortClass out) {
  const auto is_ordered = [](Order o) { return o == Order::kUp || o == Order::kDown; };
  if (!is_ordered(in.order) || !is_ordered(out.order)) return false;
  const bool leaves_ascending = out.order == Order::kUp;
  if (in.order == Order::kUp) return leaves_ascending || out.near > in.near;  // it came descending
  return leaves_ascending && out.near < in.near;
}

/// What the ingress of a port writes on a packet, so that any egress can tell whether it turns.
/// 0 is no tag: nothing that comes in here ever turns. In a Clos, up ports have tag 1, others none.
using Tag = Bounded<struct TagTag, std::uint8_t, 63>;
[[nodiscard]] Tag tag_of(PortClass port);

/// The rules of one port, complete: no port's rules depend on another port, so a change of one port
/// is a change of one Ruleset. A back end that matches pairs of ports asks turns(in, out) instead
/// of using the tags; the two agree.
struct Ruleset {
  PortClass port{};
  /// Ingress: a packet with this DSCP gets this priority; other packets keep theirs. Has a row for
  /// each DSCP of each lossless class, as Policy::turns() has them (the lossy priority where the
  /// class does not cross the port), and one for the lossy class unless its DSCP is the default 0.
  std::vector<Class> ingress{};
  /// Ingress: what happens to a packet by its DSCP, beside its priority. Empty unless the port is
  /// shut, or some classes do not cross it; then `leaving` has the same.
  std::vector<Remap> entering{};
  Tag tag{};  ///< ingress: write it; 0: leave the packet alone
  /// Egress: bit t set means that a packet with tag t turns here. Bit 0 is never set.
  std::uint64_t turning_tags = 0;
  /// Egress: what happens to a packet that turns, by its DSCP; other DSCPs are left alone. Empty
  /// where nothing can turn.
  std::vector<Remap> remaps{};
  /// Egress: what happens to a packet that does not turn, by its DSCP: a port to a host restores,
  /// one that a class does not cross makes its packets lossy. Empty elsewhere.
  std::vector<Remap> leaving{};
  std::uint8_t pfc_enable = 0;  ///< bit n: PFC on for priority n; no spares where they are restored
  Class lossy{};                ///< the class after the last of each chain
  /// Ports of this device have layers: what turns here depends on more than which ports are up.
  bool layered = false;

  [[nodiscard]] bool turns_from(Tag in) const { return (turning_tags >> in.value() & 1) != 0; }
  friend bool operator==(const Ruleset&, const Ruleset&) = default;
};

/// The rules of one port of a switch. A host forwards nothing: give its ports class unknown, and
/// they get the ingress map and PFC alone.
[[nodiscard]] Ruleset compile(const Policy& policy, PortClass port, bool layered = false);

/// What becomes of a packet of class `c` on its way from `in` to `out`: the rules as a table. A
/// packet that comes by a shut port is of the lossy class before it leaves by any.
[[nodiscard]] Class remap(const Policy& policy, PortClass in, PortClass out, Class c);

/// The plan for a person: one line per rule, each beginning with `port`.
[[nodiscard]] std::string to_string(const Ruleset& rules, std::string_view port);

}  // namespace lldp::qos
