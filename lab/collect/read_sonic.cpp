// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "lab/collect/dialects.hpp"

namespace lldp::lab::collect {
namespace {

constexpr std::string_view kEntry = "LLDP_ENTRY_TABLE:";
constexpr std::string_view kSelf = "LLDP_LOC_CHASSIS";
/// The port of SONiC's management network, where all devices hear each other.
constexpr std::string_view kManagement = "eth0";

/// Capabilities as the wire has them, `28 00`: IEEE 802.1AB-2016 8.5.8.1, the first bit first.
std::optional<Role> role_from_octets(std::string_view text) {
  constexpr unsigned kBridge = 0x20;
  constexpr unsigned kRouter = 0x08;
  if (text.size() < 2) return std::nullopt;
  unsigned octet = 0;
  for (const char c : text.substr(0, 2)) {
    const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    if (digit == std::string_view::npos) return std::nullopt;
    octet = octet << 4 | static_cast<unsigned>(digit);
  }
  if (octet == 0) return std::nullopt;
  return (octet & (kBridge | kRouter)) != 0 ? Role::kSwitch : Role::kHost;
}

/// `BR`, as `show lldp table` has them.
std::optional<Role> role_from_letters(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text.find_first_of("BR") != std::string_view::npos ? Role::kSwitch : Role::kHost;
}

/// The fields of a row: below `value` in a dump, the row itself in older ones.
const Json& fields_of(const Json& row) {
  const Json* value = find(row, "value");
  return value != nullptr && value->is_object() ? *value : row;
}

std::string field(const Json& row, const char* name) { return escape(text_at(row, name)); }

/// A device heard on the management port is no neighbor in the fabric.
void add(std::map<std::string, Port>& ports, const std::string& name, HeardNeighbor heard) {
  if (name == kManagement) return;
  Port& port = ports.try_emplace(name, Port{.name = name}).first->second;
  port.heard.push_back(std::move(heard));
}

void keep(std::map<std::string, Port>& ports, Device& device) {
  device.dialect = AgentKind::kSonic;
  if (!device.role) device.role = Role::kSwitch;
  for (auto& [name, port] : ports) device.ports.push_back(std::move(port));
}

}  // namespace

bool is_sonic_database(const Json& dump) {
  if (!dump.is_object()) return false;
  if (dump.contains(std::string(kSelf))) return true;
  const auto it = dump.begin();
  return it != dump.end() &&
         std::any_of(dump.items().begin(), dump.items().end(),
                     [](const auto& e) { return e.key().compare(0, kEntry.size(), kEntry) == 0; });
}

Result<void> add_sonic_database(const Json& dump, Device& device) {
  std::map<std::string, Port> ports;
  for (const auto& [key, row] : dump.items()) {
    if (key == kSelf) {
      const Json& self = fields_of(row);
      device.chassis = field(self, "lldp_loc_chassis_id");
      device.name = field(self, "lldp_loc_sys_name");
      continue;
    }
    if (key.compare(0, kEntry.size(), kEntry) != 0) continue;
    const Json& entry = fields_of(row);
    const std::string port = escape(std::string_view(key).substr(kEntry.size()));
    if (port.empty()) {
      device.left_out.push_back({"", std::string(kEntry) + " names no port"});
      continue;
    }
    HeardNeighbor heard{.chassis = field(entry, "lldp_rem_chassis_id"),
                        .name = field(entry, "lldp_rem_sys_name"),
                        .port = field(entry, "lldp_rem_port_id"),
                        .description = field(entry, "lldp_rem_port_desc"),
                        .role = role_from_octets(text_at(entry, "lldp_rem_sys_cap_enabled"))};
    if (!heard.chassis.empty() || !heard.name.empty())
      add(ports, port, std::move(heard));
    else if (port != kManagement)
      device.left_out.push_back({port, "a neighbor without a chassis"});
  }
  keep(ports, device);
  return {};
}

bool is_sonic_table(std::string_view text) {
  return text.find("LocalPort ") != std::string_view::npos &&
         text.find("RemoteDevice") != std::string_view::npos;
}

Result<void> add_sonic_table(std::string_view text, Device& device) {
  std::map<std::string, Port> ports;
  std::vector<std::string> names;    // of the columns
  std::vector<std::size_t> columns;  // where they begin
  std::optional<std::size_t> total;
  std::size_t rows = 0;
  std::size_t number = 0;
  const auto cell = [&](std::string_view line, std::string_view name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::string();
    const auto i = static_cast<std::size_t>(at - names.begin());
    if (columns[i] >= line.size()) return std::string();
    const std::size_t end = i + 1 < columns.size() ? columns[i + 1] : line.size();
    std::string_view value = line.substr(columns[i], end - columns[i]);
    const std::size_t last = value.find_last_not_of(" \r");
    return escape(value.substr(0, last == std::string_view::npos ? 0 : last + 1));
  };
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    from = end + 1;
    ++number;
    constexpr std::string_view kTotal = "Total entries displayed:";
    if (line.substr(0, 10) == "LocalPort ") {
      names = split_list(line, ' ');
      columns.clear();  // a second head needs a second rule
    } else if (!names.empty() && columns.empty() && line.substr(0, 2) == "--") {
      for (std::size_t i = 0; i < line.size(); ++i)
        if (line[i] == '-' && (i == 0 || line[i - 1] == ' ')) columns.push_back(i);
      if (columns.size() != names.size())
        return fail(Error{0, fmt::format("line {}", number), "the columns have no names"});
    } else if (line.substr(0, kTotal.size()) == kTotal) {
      const auto words = split_list(line.substr(kTotal.size()), ' ');
      if (!words.empty() && words[0].size() < 10 &&
          words[0].find_first_not_of("0123456789") == std::string::npos)
        total = std::stoul(words[0]);
    } else if (!columns.empty() && line.substr(0, 2) != "--" && !line.empty() && line[0] != ' ') {
      const std::string port = cell(line, "LocalPort");
      HeardNeighbor heard{.name = cell(line, "RemoteDevice"),
                          .port = cell(line, "RemotePortID"),
                          .description = cell(line, "RemotePortDescr"),
                          .role = role_from_letters(cell(line, "Capability"))};
      ++rows;
      if (heard.name.empty()) heard.chassis = heard.port;  // most often a network card's address
      if (port.empty() || (heard.name.empty() && heard.chassis.empty()))
        device.left_out.push_back(
            {port, fmt::format("line {} names no {}", number, port.empty() ? "port" : "device")});
      else
        add(ports, port, std::move(heard));
    }
  }
  if (columns.empty()) return fail(Error{0, "", "cut off: the table has no rows"});
  if (!total) return fail(Error{0, "", "cut off: it does not end with the number of its entries"});
  if (*total != rows)
    return fail(Error{0, "", fmt::format("cut off: {} of {} entries", rows, *total)});
  keep(ports, device);
  return {};
}

}  // namespace lldp::lab::collect
