// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "lab/collect/dialects.hpp"

namespace lldp::lab::collect {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

auto refuse(std::string where, std::string what) {
  return fail(Error{0, std::move(where), std::move(what)});
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Where the value that begins at `from` ends; npos: it does not.
std::size_t end_of_value(std::string_view text, std::size_t from) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// JSON objects, one after the other.
Result<std::vector<Json>> read_objects(std::string_view text) {
  std::vector<Json> objects;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    if (text[at] != '{')
      return refuse(fmt::format("line {}", line_of(text, at)), "not a JSON object");
    const std::size_t end = end_of_value(text, at);
    if (end == std::string_view::npos)
      return refuse(fmt::format("line {}", line_of(text, text.size() - 1)),
                    "cut off: the JSON object has no end");
    try {
      objects.push_back(Json::parse(text.substr(at, end - at)));
    } catch (const Json::parse_error& e) {
      const std::size_t read = std::min(at + (e.byte > 0 ? e.byte - 1 : 0), text.size());
      return refuse(fmt::format("line {}", line_of(text, read)), "not JSON");
    } catch (const Json::out_of_range&) {  // a number that no double holds
      return refuse(fmt::format("line {}", line_of(text, at)), "a number is out of range");
    }
    at = text.find_first_not_of(kBlank, end);
  }
  return objects;
}

/// An agent's answers have a version; there is one so far.
Result<bool> is_agents(const Json& answer, const char* member) {
  if (find(answer, member) == nullptr || find(answer, "ports") == nullptr) return false;
  const Json* version = find(answer, "version");
  if (version == nullptr) return refuse("version", "missing");
  if (*version != 1)
    return refuse("version", fmt::format("{} is not known here: only 1 is", version->dump()));
  return true;
}

Result<void> add(const Json& object, Device& device, bool& known) {
  const auto show = is_agents(object, "device");
  if (!show) return fail(show.error());
  if (*show) return known = true, add_show(object, device);
  if (is_lldpcli(object)) return known = true, add_lldpcli(object, device);
  if (is_sonic_database(object)) return known = true, add_sonic_database(object, device);
  return {};
}

}  // namespace

Result<Device> read_device(std::string_view text, const std::string& source) {
  Device device{.source = source};
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return refuse("", "empty");
  if (text[first] != '{') {
    if (!is_sonic_table(text)) return refuse("", "neither JSON nor SONiC's `show lldp table`");
    if (auto ok = add_sonic_table(text, device); !ok) return fail(ok.error());
  } else {
    const auto objects = read_objects(text);
    if (!objects) return fail(objects.error());
    bool known = false;
    for (const Json& object : *objects)
      if (auto ok = add(object, device, known); !ok) return fail(ok.error());
    if (!known)
      return refuse("", "not an answer of `lldp-level show --json`, lldpcli or a dump of APPL_DB");
    for (const Json& object : *objects) {
      const auto rules = is_agents(object, "backend");
      if (!rules) return fail(rules.error());
      if (!*rules) continue;
      if (auto ok = add_rules(object, device); !ok) return fail(ok.error());
    }
  }
  if (device.name.empty() && device.chassis.empty()) device.name = escape(source);
  return device;
}

}  // namespace lldp::lab::collect
