// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cabling/rails.hpp"
#include "lab/collect/device.hpp"
#include "lab/report/fabric_picture.hpp"

/// The rails of a whole fabric: where the NICs of its hosts lead, against what most of them do.
namespace lldp::lab::collect {

struct NicFinding {
  std::string host{};
  std::string nic{};
  std::string leaf{};                     ///< where it leads
  std::string port{};                     ///< of the leaf
  std::array<std::string, 2> exchange{};  ///< the plugs to exchange; empty: not known
  std::string text{};
  friend bool operator==(const NicFinding&, const NicFinding&) = default;
};

struct RailCheck {
  std::size_t hosts = 0;  ///< with two NICs or more of one group whose leaves are known
  std::vector<cabling::RailDesign> designs{};  ///< that are held against them
  std::vector<NicFinding> findings{};          ///< one for two cables to exchange
  /// False too where no host was held against any design: nothing is known to be right then.
  [[nodiscard]] bool is_right() const { return hosts != 0 && !designs.empty() && findings.empty(); }
};

/// A NIC leads to the wrong leaf if most hosts on the other leaves of its host have their NIC of
/// this name on another one; where same-leaf is the design, if the other NICs of its group lead to
/// another one. Two such NICs that are each on the other's leaf are one finding.
/// `design`: what the NICs of one group have in common; nothing: each design that more than half of
/// the hosts keep. A group is what the agent tells of its NIC; where a host tells no group, all of
/// its NICs are one.
[[nodiscard]] RailCheck check_rails(const Fabric& fabric, const std::vector<Device>& devices,
                                    std::optional<cabling::RailDesign> design);

[[nodiscard]] std::string to_table(const RailCheck& check);
/// One object: `hosts`, `designs`, `findings`.
[[nodiscard]] std::string to_json(const RailCheck& check);
/// Sets off what was found in the picture of the fabric that was collected.
void add_marks(const RailCheck& check, const Fabric& fabric, Marks& marks);

}  // namespace lldp::lab::collect
