// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/text.hpp"
#include "cabling/drawing.hpp"

namespace lldp::cabling {
namespace {

using Json = nlohmann::json;

auto refuse(std::string where, std::string what) {
  return fail(Error{0, std::move(where), std::move(what)});
}

/// A string, a number, true or false as text; nothing for what has parts.
std::optional<std::string> text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

/// A node's id as a name: networkx makes numbers of its own graphs' nodes.
std::optional<std::string> name_of(const Json* id) {
  return id != nullptr && (id->is_string() || id->is_number_integer()) ? text_of(*id)
                                                                       : std::nullopt;
}

const Json* find(const Json& object, const std::string& key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

/// A value with parts is stored as JSON: code that knows the attribute can refuse it.
Attributes attributes_of(const Json& entry) {
  constexpr std::string_view kRead[] = {"id", "source", "target", "ports", "layers", "orders"};
  Attributes all;
  for (const auto& [name, value] : entry.items()) {
    if (value.is_null() || std::find(std::begin(kRead), std::end(kRead), name) != std::end(kRead))
      continue;
    all.set(name,
            text_of(value).value_or(value.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  return all;
}

using Index = std::unordered_map<std::string, std::size_t>;

/// What a link may say of its two ends, by their nodes' names.
Result<void> check_ends(const Json* all, const char* what, const Json& entry) {
  if (all == nullptr) return {};
  if (!all->is_object()) return fail(Error{0, what, "not an object"});
  for (const auto& [name, value] : all->items())
    if (name != name_of(find(entry, "source")) && name != name_of(find(entry, "target")))
      return fail(Error{0, what, escape(name) + " is at neither end"});
  return {};
}

Result<Link> read_link(const Json& entry, const std::string& where, const Index& index) {
  if (!entry.is_object()) return refuse(where, "not an object");
  const Json* ports = find(entry, "ports");
  const Json* layers = find(entry, "layers");
  const Json* orders = find(entry, "orders");
  for (const auto& [all, what] : {std::pair{layers, "layers"}, std::pair{orders, "orders"}})
    if (auto ok = check_ends(all, what, entry); !ok)
      return refuse(where, ok.error().where + ": " + ok.error().what);
  Link link{.attributes = attributes_of(entry)};
  const char* keys[] = {"source", "target"};
  for (std::size_t e = 0; e < 2; ++e) {
    const auto name = name_of(find(entry, keys[e]));
    if (!name) return refuse(where, std::string("no ") + keys[e]);
    const auto node = index.find(*name);
    if (node == index.end())
      return refuse(where, std::string(keys[e]) + " " + escape(*name) + " is no node");
    const Json* port = ports != nullptr ? find(*ports, *name) : nullptr;
    if (port == nullptr || !port->is_string())
      return refuse(where, "the port on " + escape(*name) + " is not in ports");
    const auto of_end = [&](const Json* all) {
      const Json* value = all != nullptr ? find(*all, *name) : nullptr;
      return value != nullptr ? text_of(*value).value_or("?") : std::string();
    };
    link.ends[e] = {node->second, port->get<std::string>(), of_end(layers), of_end(orders)};
  }
  return link;
}

Result<Json> parse(std::string_view text) {
  if (is_too_deep(text))
    return refuse("fabric", "nested more than " + std::to_string(kDeepestJson) + " levels deep");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {  // tells how many octets it has read
    const auto read = text.substr(0, std::min(e.byte, text.size()));
    return refuse("line " + std::to_string(1 + std::count(read.begin(), read.end(), '\n')),
                  "not JSON");
  } catch (const Json::out_of_range&) {  // a number that no double holds; tells no place
    return refuse("fabric", "a number is out of range");
  }
}

}  // namespace

Result<Drawing> read_json(std::string_view text) {
  const auto parsed = parse(text);
  if (!parsed) return fail(parsed.error());
  const Json& j = *parsed;
  if (!j.is_object()) return refuse("fabric", "not a node-link object");
  Drawing drawing;
  if (const Json* graph = find(j, "graph"))
    if (const Json* name = find(*graph, "name"); name != nullptr && name->is_string())
      drawing.name = name->get<std::string>();
  const Json* nodes = find(j, "nodes");
  const Json* links = find(j, "links");
  if (links == nullptr) links = find(j, "edges");
  if (nodes == nullptr || !nodes->is_array()) return refuse("fabric", "no list of nodes");
  if (links == nullptr || !links->is_array()) return refuse("fabric", "no list of links");
  const auto place = [](const char* list, std::size_t i) {
    return std::string(list) + "[" + std::to_string(i) + "]";
  };
  Index index;
  for (const Json& entry : *nodes) {
    const auto name = name_of(find(entry, "id"));
    if (!name)
      return refuse(place("nodes", drawing.nodes.size()), "no id (a string or a whole number)");
    if (!index.emplace(*name, drawing.nodes.size()).second)
      return refuse(escape(*name), "two nodes have this name");
    drawing.nodes.push_back({*name, attributes_of(entry)});
  }
  for (const Json& entry : *links) {
    auto link = read_link(entry, place("links", drawing.links.size()), index);
    if (!link) return fail(link.error());
    drawing.links.push_back(std::move(*link));
  }
  return drawing;
}

}  // namespace lldp::cabling
