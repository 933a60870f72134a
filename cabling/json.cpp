// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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
  constexpr std::string_view kRead[] = {"id",     "source", "target", "ports",
                                        "layers", "orders", "aliases"};
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

/// What `all` says of the end `e`, at the node `name`. Where both ends are at one node, its value
/// is a list of two.
const Json* of_end(const Json* all, const std::string& name, std::size_t e, bool loop) {
  const Json* value = all != nullptr ? find(*all, name) : nullptr;
  if (!loop || value == nullptr) return value;
  return value->is_array() && value->size() == 2 && !(*value)[e].is_null() ? &(*value)[e] : nullptr;
}

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> all;
  if (list != nullptr && list->is_array())
    for (const Json& value : *list)
      if (value.is_string()) all.push_back(value.get<std::string>());
  return all;
}

Result<Link> read_link(const Json& entry, const std::string& where, const Index& index) {
  if (!entry.is_object()) return refuse(where, "not an object");
  const Json* ports = find(entry, "ports");
  const Json* layers = find(entry, "layers");
  const Json* orders = find(entry, "orders");
  const Json* aliases = find(entry, "aliases");
  for (const auto& [all, what] :
       {std::pair{layers, "layers"}, std::pair{orders, "orders"}, std::pair{aliases, "aliases"}})
    if (auto ok = check_ends(all, what, entry); !ok)
      return refuse(where, ok.error().where + ": " + ok.error().what);
  Link link{.attributes = attributes_of(entry)};
  const bool loop = name_of(find(entry, "source")) == name_of(find(entry, "target"));
  const char* keys[] = {"source", "target"};
  for (std::size_t e = 0; e < 2; ++e) {
    const auto name = name_of(find(entry, keys[e]));
    if (!name) return refuse(where, std::string("no ") + keys[e]);
    const auto node = index.find(*name);
    if (node == index.end())
      return refuse(where, std::string(keys[e]) + " " + escape(*name) + " is no node");
    const Json* port = of_end(ports, *name, e, loop);
    if (ports != nullptr && (port == nullptr || !port->is_string()))
      return refuse(where, "the port on " + escape(*name) + " is not in ports" +
                               (loop ? ": a link to itself has [\"port\", \"port\"] there" : ""));
    const auto text = [&](const Json* all) {
      const Json* value = of_end(all, *name, e, loop);
      return value != nullptr ? text_of(*value).value_or("?") : std::string();
    };
    link.ends[e] = {.node = node->second,
                    .port = port != nullptr ? port->get<std::string>() : std::string(),
                    .layer = text(layers),
                    .order = text(orders),
                    .aliases = texts_of(of_end(aliases, *name, e, loop)),
                    .unnamed = port == nullptr};
  }
  return link;
}

/// Gives ports that have no name one after the neighbor: `to-leaf1`, `to-leaf1-2`.
void name_ports(Drawing& drawing) {
  const auto unnamed = std::count_if(drawing.links.begin(), drawing.links.end(),
                                     [](const Link& link) { return link.ends[0].unnamed; });
  if (unnamed == 0) return;
  std::vector<std::unordered_set<std::string>> taken(drawing.nodes.size());
  for (const Link& link : drawing.links)
    for (const End& end : link.ends)
      if (!end.unnamed) taken[end.node].insert(end.port);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> parallel;
  for (Link& link : drawing.links)
    for (std::size_t e = 0; e < 2; ++e) {
      End& end = link.ends[e];
      if (!end.unnamed) continue;
      const std::size_t far = link.ends[1 - e].node;
      const std::string base = "to-" + drawing.nodes[far].name;
      std::size_t& n = parallel[{end.node, far}];
      do {
        end.port = ++n == 1 ? base : base + "-" + std::to_string(n);
      } while (!taken[end.node].insert(end.port).second);
    }
  drawing.notes.push_back(std::to_string(unnamed) + (unnamed == 1 ? " link has" : " links have") +
                          " no `ports`: the ports are called after their neighbors, as to-leaf1");
}

Result<Json> parse(std::string_view text) {
  if (is_too_deep(text))
    return refuse("fabric", "nested more than " + std::to_string(kDeepestJson) + " levels deep");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {  // tells how many octets it has read
    const auto read = text.substr(0, std::min(e.byte, text.size()));
    const bool cut = e.byte > text.size() && text.find_first_not_of(" \t\r\n") != text.npos;
    return refuse("line " + std::to_string(1 + std::count(read.begin(), read.end(), '\n')),
                  cut ? "cut off: the JSON has no end: write the file again" : "not JSON");
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
  name_ports(drawing);
  return drawing;
}

}  // namespace lldp::cabling
