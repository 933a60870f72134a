// SPDX-License-Identifier: Apache-2.0
#include "agent/report/formats.hpp"

#include "agent/report/shape.hpp"

namespace lldp::report {
namespace {

void flatten(const json& value, const std::string& path, std::string& out) {
  const std::string dot = path.empty() ? "" : ".";
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) flatten(member, path + dot + key, out);
  } else if (value.is_array()) {
    std::size_t number = 0;
    for (const json& element : value) {
      const bool by_name = path == "ports" && element.contains("name");
      flatten(element, path + dot + (by_name ? str(element, "name") : std::to_string(number)), out);
      ++number;
    }
  } else {
    out += path + '=' +
           (value.is_null()     ? std::string()
            : value.is_string() ? value.get<std::string>()
                                : value.dump()) +
           '\n';
  }
}

constexpr const char* kPortColumns[] = {"name", "up", "type", "order", "admin"};
constexpr const char* kNeighborColumns[] = {"system_name",      "chassis_id",  "port_id",
                                            "port_description", "device_type", "level",
                                            "port_type",        "ttl",         "expires_in"};

std::string cell(const json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  if (text.find_first_of("=+-@") == 0) text.insert(0, 1, '\'');
  if (text.find_first_of("\",\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

Result<std::string> keyvalue(std::string_view text) {
  return with_json(text, [](const json& show) {
    std::string out;
    flatten(show, "", out);
    return out;
  });
}

Result<std::string> csv(std::string_view text) {
  return with_json(text, [](const json& show) {
    std::string out = "port,up,type,order,admin";
    for (const char* column : kNeighborColumns) out += std::string(",") + column;
    out += "\r\n";
    for (const json& port : show.at("ports")) {
      std::string start;
      for (const char* column : kPortColumns)
        start += (start.empty() ? "" : ",") + cell(port.at(column));
      if (port.at("neighbors").empty())
        out += start + std::string(std::size(kNeighborColumns), ',') + "\r\n";
      for (const json& neighbor : port.at("neighbors")) {
        out += start;
        for (const char* column : kNeighborColumns) out += ',' + cell(neighbor.at(column));
        out += "\r\n";
      }
    }
    return out;
  });
}

}  // namespace lldp::report
