// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/memory.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace lldp::dataplane::sonic {

using nlohmann::json;

std::string format(const Memory& memory) {
  return json{{"version", 1}, {"ports", memory}}.dump(1, ' ', true,
                                                      json::error_handler_t::replace) +
         "\n";
}

Result<Memory> parse_memory(std::string_view text) {
  try {
    const json all = parse_json<json>(text);
    if (all.at("version") != 1) return fail(Error{.what = "is of another version"});
    return all.at("ports").get<Memory>();
  } catch (const json::exception&) {
    return fail(Error{.what = "is damaged"});
  }
}

}  // namespace lldp::dataplane::sonic
