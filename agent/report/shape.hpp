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

}  // namespace lldp::report
