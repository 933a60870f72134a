// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/hash_index.hpp"
#include "base/text.hpp"
#include "cabling/drawing.hpp"
#include "cabling/json_document.hpp"

namespace lldp::cabling {
namespace {

using Kind = JsonValue::Kind;

auto refuse(std::string where, std::string what) {
  return fail(Error{0, std::move(where), std::move(what)});
}

/// A node's id as a name: networkx makes numbers of its own graphs' nodes.
std::optional<std::string_view> name_of(const JsonValue* id) {
  return id != nullptr && (id->is(Kind::kString) || id->is(Kind::kWhole)) ? id->text()
                                                                          : std::nullopt;
}

/// A value with parts is stored as JSON: code that knows the attribute can refuse it.
Attributes attributes_of(const JsonValue& entry) {
  const auto is_one = [](const JsonMember& m) {
    constexpr std::string_view kRead[] = {"id",     "source", "target", "ports",
                                          "layers", "orders", "aliases"};
    return !m.value.is(Kind::kNull) &&
           std::find(std::begin(kRead), std::end(kRead), *m.name.text()) == std::end(kRead);
  };
  Attributes all;
  all.reserve(static_cast<std::size_t>(std::ranges::count_if(entry.members(), is_one)));
  for (const JsonMember& m : entry.members()) {
    if (!is_one(m)) continue;
    const auto text = m.value.text();
    all.set(*m.name.text(), text ? std::string(*text) : m.value.dump());
  }
  return all;
}

/// The nodes of a drawing by their names.
class Index {
  static std::size_t hash(std::string_view name) { return std::hash<std::string_view>{}(name); }
  [[nodiscard]] auto same(std::string_view name) const {
    return [this, name](std::uint32_t n) { return nodes_[n].name == name; };
  }

 public:
  Index(const std::vector<Node>& nodes, std::size_t most) : nodes_(nodes), by_name_(most) {}
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    return by_name_.find(hash(name), same(name));
  }
  /// The last of the nodes; false: another one has its name.
  bool insert_last() {
    const std::string& name = nodes_.back().name;
    return !by_name_.insert(hash(name), static_cast<std::uint32_t>(nodes_.size() - 1), same(name));
  }

 private:
  const std::vector<Node>& nodes_;
  HashIndex by_name_;
};

/// The nodes that a link joins, by the names that its JSON has for them.
struct Named {
  std::optional<std::string_view> ends[2]{};
  [[nodiscard]] bool loop() const { return ends[0] == ends[1]; }
};

/// What a link may say of its two ends, by their nodes' names.
Result<void> check_ends(const JsonValue* all, const char* what, const Named& named) {
  if (all == nullptr) return {};
  if (!all->is(Kind::kObject)) return fail(Error{0, what, "not an object"});
  for (const auto& [name, value] : all->members())
    if (name.text() != named.ends[0] && name.text() != named.ends[1])
      return fail(Error{0, what, escape(*name.text()) + " is at neither end"});
  return {};
}

/// What `all` says of the end `e`, at the node `name`. Where both ends are at one node, its value
/// is a list of two.
const JsonValue* of_end(const JsonValue* all, std::string_view name, std::size_t e, bool loop) {
  const JsonValue* value = all != nullptr ? all->find(name) : nullptr;
  if (!loop || value == nullptr) return value;
  const auto both = value->members();
  if (!value->is(Kind::kList) || both.size() != 2 || both[e].value.is(Kind::kNull)) return nullptr;
  return &both[e].value;
}

std::vector<std::string> texts_of(const JsonValue* list) {
  std::vector<std::string> all;
  if (list != nullptr && list->is(Kind::kList))
    for (const auto& [_, value] : list->members())
      if (value.is(Kind::kString)) all.emplace_back(*value.text());
  return all;
}

/// `place` makes the entry's place in the file, for an error.
template <class Place>
Result<Link> read_link(const JsonValue& entry, const Place& place, const Index& index) {
  if (!entry.is(Kind::kObject)) return refuse(place(), "not an object");
  const Named named{{name_of(entry.find("source")), name_of(entry.find("target"))}};
  const JsonValue* ports = entry.find("ports");
  const JsonValue* layers = entry.find("layers");
  const JsonValue* orders = entry.find("orders");
  const JsonValue* aliases = entry.find("aliases");
  for (const auto& [all, what] :
       {std::pair{layers, "layers"}, std::pair{orders, "orders"}, std::pair{aliases, "aliases"}})
    if (auto ok = check_ends(all, what, named); !ok)
      return refuse(place(), ok.error().where + ": " + ok.error().what);
  Link link{.attributes = attributes_of(entry)};
  const bool loop = named.loop();
  const char* keys[] = {"source", "target"};
  for (std::size_t e = 0; e < 2; ++e) {
    const auto& name = named.ends[e];
    if (!name) return refuse(place(), std::string("no ") + keys[e]);
    const auto node = index.find(*name);
    if (!node) return refuse(place(), std::string(keys[e]) + " " + escape(*name) + " is no node");
    const JsonValue* port = of_end(ports, *name, e, loop);
    if (ports != nullptr && (port == nullptr || !port->is(Kind::kString)))
      return refuse(place(), "the port on " + escape(*name) + " is not in ports" +
                                 (loop ? ": a link to itself has [\"port\", \"port\"] there" : ""));
    const auto text = [&](const JsonValue* all) {
      const JsonValue* value = of_end(all, *name, e, loop);
      return std::string(value != nullptr ? value->text().value_or("?") : std::string_view());
    };
    link.ends[e] = {.node = *node,
                    .port = std::string(port != nullptr ? *port->text() : std::string_view()),
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

}  // namespace

Result<Drawing> read_json(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  if (!document) return fail(document.error());
  const JsonValue& whole = document->root();
  if (!whole.is(Kind::kObject)) return refuse("fabric", "not a node-link object");
  Drawing drawing;
  if (const JsonValue* graph = whole.find("graph"))
    if (const JsonValue* name = graph->find("name"); name != nullptr && name->is(Kind::kString))
      drawing.name = *name->text();
  const JsonValue* nodes = whole.find("nodes");
  const JsonValue* links = whole.find("links");
  if (links == nullptr) links = whole.find("edges");
  if (nodes == nullptr || !nodes->is(Kind::kList)) return refuse("fabric", "no list of nodes");
  if (links == nullptr || !links->is(Kind::kList)) return refuse("fabric", "no list of links");
  Index index(drawing.nodes, nodes->members().size());
  drawing.nodes.reserve(nodes->members().size());
  for (const auto& [_, entry] : nodes->members()) {
    const auto name = name_of(entry.find("id"));
    if (!name)
      return refuse("nodes[" + std::to_string(drawing.nodes.size()) + "]",
                    "no id (a string or a whole number)");
    drawing.nodes.push_back({std::string(*name), attributes_of(entry)});
    if (!index.insert_last()) return refuse(escape(*name), "two nodes have this name");
  }
  drawing.links.reserve(links->members().size());
  for (const auto& [_, entry] : links->members()) {
    const auto place = [&] { return "links[" + std::to_string(drawing.links.size()) + "]"; };
    auto link = read_link(entry, place, index);
    if (!link) return fail(link.error());
    link->entry = drawing.links.size();
    drawing.links.push_back(std::move(*link));
  }
  name_ports(drawing);
  return drawing;
}

}  // namespace lldp::cabling
