// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "agent/report/text.hpp"

/// Inside of the room: reading of what the control socket answers.
namespace lldp::report {

using json = nlohmann::ordered_json;

/// Runs `make` on the parsed text. What the library throws on a wrong shape becomes an error here.
template <class Make>
auto with_json(std::string_view text, Make make) -> Result<decltype(make(std::declval<json&>()))> {
  try {
    json parsed = json::parse(text);
    return make(parsed);
  } catch (const json::exception&) {
    return fail(not_understood());
  }
}

inline std::string str(const json& object, const char* key) {
  return object.at(key).get<std::string>();
}

/// Since when a rise waits for the port, or the port is shut with a carrier; empty: neither, or an
/// older daemon.
inline std::string waits_since(const json& port) {
  const auto since = port.find("waits_since");
  return since == port.end() || since->is_null() ? std::string() : since->get<std::string>();
}

/// The agents that were ever heard on the port; none of an older daemon.
inline json agents_of(const json& port) { return port.value("agents", json::array()); }

/// Its chassis ID, or the agent ID where it never spoke.
inline std::string agent_name(const json& agent) {
  const json& chassis = agent.at("chassis_id");
  return chassis.is_null() ? "agent " + str(agent, "agent_id") : chassis.get<std::string>();
}

}  // namespace lldp::report
