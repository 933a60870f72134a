// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "lab/collect/dialects.hpp"

namespace lldp::lab::collect {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

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
    if (is_too_deep(text.substr(at, end - at)))
      return refuse(fmt::format("line {}", line_of(text, at)),
                    fmt::format("nested more than {} levels deep", kDeepestJson));
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
    return refuse("version",
                  fmt::format("{} is not known here: only 1 is", escape(version->dump())));
  return true;
}

enum class Known : std::uint8_t { kNothing, kDevice, kRules };

/// Adds what an object says of the device; rules are left for later.
Result<Known> add(const Json& object, Device& device) {
  const auto added = [](Result<void> ok) -> Result<Known> {
    if (!ok) return fail(ok.error());
    return Known::kDevice;
  };
  const auto show = is_agents(object, "device");
  if (!show) return fail(show.error());
  if (*show) return added(add_show(object, device));
  if (is_lldpcli(object)) return added(add_lldpcli(object, device));
  if (is_sonic_database(object)) return added(add_sonic_database(object, device));
  const auto rules = is_agents(object, "backend");
  if (!rules) return fail(rules.error());
  return *rules ? Known::kRules : Known::kNothing;
}

auto told_nothing() {
  return refuse("", "not an answer of `lldp-level show --json`, lldpcli or a dump of APPL_DB");
}

/// What is read of one device.
struct DeviceReading {
  Device device{};
  std::vector<std::pair<std::string, Json>> rules{};  ///< and where they stand
  bool told = false;                                  ///< it told something beside rules
};

/// Adds one text; its rules are put aside.
Result<void> add(const Printed& printed, DeviceReading& to) {
  const std::string_view text = printed.text;
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return refuse("", "empty");
  if (text[first] != '{') {
    if (!is_sonic_table(text)) return refuse("", "neither JSON nor SONiC's `show lldp table`");
    to.told = true;
    return add_sonic_table(text, to.device);
  }
  auto objects = read_objects(text);
  if (!objects) return fail(objects.error());
  const std::size_t before = to.rules.size();
  for (Json& object : *objects) {
    const auto known = add(object, to.device);
    if (!known) return fail(known.error());
    if (*known == Known::kNothing)
      return printed.rules ? refuse("", "no answer of `lldp-level rules --json`") : told_nothing();
    to.told |= *known == Known::kDevice;
    if (*known == Known::kRules) to.rules.emplace_back(printed.where, std::move(object));
  }
  if (printed.rules && to.rules.size() == before)
    return refuse("", "no answer of `lldp-level rules --json`");
  return {};
}

auto failed_at(const std::string& where, Error e) {
  if (!where.empty()) e.where = where + (e.where.empty() ? "" : ": ") + e.where;
  return fail(std::move(e));
}

}  // namespace

Result<Device> read_device(const std::vector<Printed>& texts, const std::string& source) {
  DeviceReading reading{.device = {.source = source}};
  for (const Printed& printed : texts)
    if (auto ok = add(printed, reading); !ok) return failed_at(printed.where, ok.error());
  if (!reading.told) return told_nothing();
  for (const auto& [where, rules] : reading.rules)
    if (auto ok = add_rules(rules, reading.device); !ok) return failed_at(where, ok.error());
  Device& device = reading.device;
  if (device.name.empty() && device.chassis.empty()) device.name = escape(source);
  return std::move(device);
}

Result<Device> read_device(std::string_view text, const std::string& source) {
  return read_device({{.text = std::string(text)}}, source);
}

}  // namespace lldp::lab::collect
