// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/core/alarm.hpp"
#include "agent/report/daemon_page.hpp"
#include "agent/report/manual.hpp"
#include "agent/report/text.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::ordered_json;

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || !at->is_string() ? std::string() : at->get<std::string>();
}

std::string level_of(const json& object) {
  const auto at = object.find("level");
  return at == object.end() || at->is_null() ? "no level" : "level " + at->dump();
}

/// What a port's order, rules and class depend on.
std::string explain(const json& show, const json& rules, const json& port) {
  const std::string name = text_of(port, "name");
  const json& device = show.at("device");
  std::string out = name + ": " + (port.at("up").get<bool>() ? "up" : "down") + ", order " +
                    text_of(port, "order") + ", type " + text_of(port, "type") + "\n";
  const std::string source = text_of(device, "level_source");
  out += "  device: " + text_of(device, "role") + ", " + level_of(device) +
         (source == "none" ? "" : " (" + source + ")") + "\n";
  const json& neighbors = port.at("neighbors");
  if (neighbors.empty())
    out += "  no neighbor is heard: the order is what the port remembers, or unknown\n";
  for (const json& n : neighbors) {
    const long heard = n.at("ttl").get<long>() - n.at("expires_in").get<long>();
    const std::string who = text_of(n, "system_name");
    out += "  neighbor " + (who.empty() ? text_of(n, "chassis_id") : who) + " port " +
           text_of(n, "port_id") + ": " + text_of(n, "device_type") + ", " + level_of(n) +
           ", last frame " + std::to_string(std::max(heard, 0L)) + " s ago";
    if (const auto same = n.find("unchanged_for"); same != n.end() && same->is_number())
      out += ", the same for " + same->dump() + " s";
    out += "\n";
  }
  for (const json& its : rules.at("ports")) {
    if (text_of(its, "name") != name) continue;
    out +=
        "  rules for " + text_of(its, "order") + " installed: " + text_of(its, "installed") + "\n";
    for (const json& part : its.at("parts")) {
      out += "    " + text_of(part, "part") + " " + text_of(part, "state");
      if (const std::string why = text_of(part, "text"); !why.empty()) out += ": " + why;
      out += "\n";
    }
    std::string counts;
    for (const auto& [priority, packets] : its.at("bounces").items())
      counts += (counts.empty() ? "" : ", ") + priority + ": " + packets.dump();
    out += "  packets that turned here, by priority: " + (counts.empty() ? "none" : counts) +
           "; rules reinstalled: " + its.at("restored").dump() + "\n";
  }
  for (const json& alarm : show.at("alarms"))
    if (text_of(alarm, "port") == name)
      out += "  ALARM " + text_of(alarm, "code") + ": " + text_of(alarm, "text") + "\n";
  return out;
}

}  // namespace

Result<int> explain(const Arguments& arguments) {
  const std::string& what = arguments.operands.front();
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i) {
    const auto code = static_cast<core::AlarmCode>(i);
    if (to_string(code) != what) continue;
    const auto text = report::manual_of_alarm(report::kDaemonPage, what);
    if (!text)
      return fail(Error{.where = what, .what = "is not in the manual: report this as a bug"});
    const std::string severity = "severity: " + std::string(to_string(severity_of(code))) + "\n";
    if (const auto printed = print(severity + *text); !printed) return fail(printed.error());
    return kDone;
  }
  const auto rules = ask(arguments, "org.lldplevel.Rules", {});
  if (!rules) return fail(rules.error());
  const auto show = ask(arguments, "org.lldplevel.Detail", {});
  if (!show) return fail(show.error());
  std::string text;
  try {
    const json parsed = json::parse(*show);
    for (const json& port : parsed.at("ports"))
      if (port.at("name") == escape(unescape(what).value_or(what)))
        text = explain(parsed, json::parse(*rules), port);
  } catch (const json::exception&) {
    return fail(report::not_understood());
  }
  if (text.empty())
    return fail(
        Error{.where = escape(what),
              .what = "is neither a port nor an alarm: see lldp-level show, lldp-leveld(8)"});
  if (const auto printed = print(text); !printed) return fail(printed.error());
  return kDone;
}

}  // namespace lldp::cli
