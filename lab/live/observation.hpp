// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab::live {

struct SeenPort {
  bool up = false;
  PortType type = PortType::kUnmarked;
  std::string order{};  ///< up, down, shut, unknown
  friend bool operator==(const SeenPort&, const SeenPort&) = default;
};

/// What an agent says of itself; nothing while it is not there.
struct SeenDevice {
  bool answers = false;
  std::optional<Level> level{};
  std::string chassis_id{};
  std::map<unsigned, std::string> tiers{};  ///< where it stands: IDs by level
  std::map<std::string, SeenPort, std::less<>> ports{};
  std::string protection{};  ///< active, partial, inactive, failed
  /// Active, or partial where all that is missing is that hosts do not tell their PFC, as no veth
  /// does.
  bool is_protected = false;
  std::vector<std::string> alarms{};  ///< `crosslink swp3: text`, escaped by the agent
  friend bool operator==(const SeenDevice&, const SeenDevice&) = default;
};

/// Every node of a fabric, in its order.
using Observation = std::vector<SeenDevice>;

/// Reads the parameters of a reply to Show or Watch, org.lldplevel.
[[nodiscard]] Result<SeenDevice> device_from_json(const nlohmann::json& reply);

/// The nodes that do not stand where the fabric's links and levels put them (docs/develop/rules.md
/// P1 to P3), by the chassis IDs that the agents have.
[[nodiscard]] std::vector<std::size_t> wrongly_located(const Fabric& fabric,
                                                       const Observation& seen);

/// A port held against the truth.
struct Verdict {
  enum class Kind : std::uint8_t { kRight, kWrong, kDown, kUnseen };
  Kind kind = Kind::kUnseen;  ///< kDown: no link, and so nothing to be right or wrong
  PortType seen = PortType::kUnmarked;
  PortType truth = PortType::kUnmarked;
};
[[nodiscard]] Verdict judge(const Fabric& fabric, const SeenDevice& seen, const Adjacency& port);

/// The level, and every port up and of the right type.
[[nodiscard]] bool all_right(const Fabric& fabric, std::size_t node, const SeenDevice& seen,
                             const std::vector<Adjacency>& ports);

}  // namespace lldp::lab::live
