// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/ask.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/control/connection.hpp"
#include "agent/report/text.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::ordered_json;

}  // namespace

Result<std::string> call(const Arguments& arguments, std::string_view method,
                         std::string_view parameters, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto connection = control::Connection::open(arguments.socket, patience);
  if (!connection) return fail(connection.error());
  return connection->ask(method, parameters, deadline);
}

Result<std::string> ask(const Arguments& arguments, std::string_view method,
                        const std::vector<std::string>& ports, std::chrono::milliseconds patience) {
  return call(arguments, method, control::ports_parameter(ports), patience);
}

Result<std::vector<std::string>> not_there(const std::vector<std::string>& asked,
                                           const std::string& answer) {
  std::vector<std::string> out;
  if (asked.empty()) return out;
  try {
    const json parsed = json::parse(answer);
    for (const std::string& name : asked) {
      const auto& ports = parsed.at("ports");
      const bool there = std::any_of(ports.begin(), ports.end(), [&](const json& port) {
        const auto is = unescape(port.at("name").get<std::string>());
        return is && name_match(name, *is);
      });
      if (!there) out.push_back(escape(name));
    }
  } catch (const json::exception&) {
    return fail(report::not_understood());
  }
  return out;
}

Error no_such_ports(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return {.where = list,
          .what = names.size() == 1 ? "no such port: see lldp-level show"
                                    : "no such ports: see lldp-level show"};
}

Result<void> all_there(const std::vector<std::string>& asked, const std::string& answer) {
  const auto missing = not_there(asked, answer);
  if (!missing) return fail(missing.error());
  if (!missing->empty()) return fail(no_such_ports(*missing));
  return {};
}

Result<void> all_there(const Arguments& arguments, const std::vector<std::string>& asked) {
  if (asked.empty()) return {};
  const auto answer = ask(arguments, "org.lldplevel.Show", asked);
  if (!answer) return fail(answer.error());
  return all_there(asked, *answer);
}

}  // namespace lldp::cli
