// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sai/messages.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"

namespace lldp::dataplane::sai {
namespace {

using nlohmann::json;

constexpr const char* kMapNames[] = {"dscp-to-tc", "tc-to-dscp", "tc-to-queue", "tc-to-group"};
constexpr std::size_t kMaxText = 1024;

std::string dump(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const QosMap& map) {
  json pairs = json::array();
  for (const auto& [key, value] : map) pairs.push_back({key, value});
  return pairs;
}
json json_of(const Map& map) {
  return {{"kind", kMapNames[index(map.kind)]}, {"numbers", json_of(map.numbers)}};
}
json json_of(const std::vector<Turn>& turns) {
  json out = json::array();
  for (const Turn& t : turns) out.push_back({t.dscp, t.tc, t.to});
  return out;
}
json json_of(const Acl& acl) {
  return {{"table", acl.table},
          {"entries", acl.entries},
          {"turns", json_of(acl.turns)},
          {"ports", acl.ports}};
}
json json_of(const Port& port) {
  return {{"oid", port.oid}, {"maps", port.maps}, {"pfc", port.pfc}, {"rewrites", port.rewrites}};
}
json json_of(const std::map<Oid, Map>& maps) {
  json out = json::array();
  for (const auto& [oid, map] : maps) {
    json one = json_of(map);
    one["oid"] = oid;
    out.push_back(std::move(one));
  }
  return out;
}

// Those that follow throw what json does where it is another thing; parse() catches it.

[[noreturn]] void reject() { throw json::other_error::create(0, "range", nullptr); }

std::uint64_t number(const json& value, std::uint64_t most) {
  if (!value.is_number_unsigned()) reject();
  const auto n = value.get<std::uint64_t>();
  if (n > most) reject();
  return n;
}
unsigned small(const json& value, unsigned most = 255) {
  return static_cast<unsigned>(number(value, most));
}
Oid oid(const json& value) { return number(value, UINT64_MAX); }
std::string text(const json& value) {
  auto out = value.get<std::string>();
  if (out.size() > kMaxText) reject();
  return out;
}
MapKind kind(const json& value) {
  const auto name = value.get<std::string>();
  for (const MapKind k : kMapKinds)
    if (name == kMapNames[index(k)]) return k;
  reject();
}
const json& list(const json& value) {
  if (!value.is_array()) reject();
  return value;
}
std::vector<Oid> oids(const json& value) {
  std::vector<Oid> out;
  for (const json& one : list(value)) out.push_back(oid(one));
  return out;
}
Map map_of(const json& value) {
  Map map{.kind = kind(value.at("kind"))};
  for (const json& pair : list(value.at("numbers")))
    map.numbers[small(pair.at(0))] = small(pair.at(1));
  return map;
}
std::map<Oid, Map> maps_of(const json& value) {
  std::map<Oid, Map> maps;
  for (const json& one : list(value)) maps[oid(one.at("oid"))] = map_of(one);
  return maps;
}
std::vector<Turn> turns_of(const json& value) {
  std::vector<Turn> turns;
  for (const json& one : list(value))
    turns.push_back({small(one.at(0)), small(one.at(1)), small(one.at(2))});
  return turns;
}
Acl acl_of(const json& value) {
  return {.table = oid(value.at("table")),
          .entries = oids(value.at("entries")),
          .turns = turns_of(value.at("turns")),
          .ports = oids(value.at("ports"))};
}
Port port_of(const json& value) {
  Port port{.oid = oid(value.at("oid")),
            .pfc = small(value.at("pfc")),
            .rewrites = value.at("rewrites").get<bool>()};
  for (const MapKind k : kMapKinds) port.maps[index(k)] = oid(list(value.at("maps")).at(index(k)));
  return port;
}
View view_of(const json& value) {
  View view{.release = text(value.at("release")),
            .can_pfc = value.at("can-pfc").get<bool>(),
            .can_acl = value.at("can-acl").get<bool>(),
            .traffic_classes = small(value.at("traffic-classes")),
            .maps = maps_of(value.at("maps")),
            .bound = oid(value.at("bound")),
            .acl = acl_of(value.at("acl"))};
  for (const MapKind k : kMapKinds)
    view.can_map[index(k)] = list(value.at("can-map")).at(index(k)).get<bool>();
  for (const auto& [name, port] : value.at("ports").items()) view.ports[name] = port_of(port);
  return view;
}

template <class T, class Read>
Result<T> parse(std::string_view message, const char* where, Read read) {
  try {
    return read(parse_json<json>(message));
  } catch (const json::exception&) {
    return fail(Error{0, where, "says what is no message of its"});
  }
}

struct RequestText {
  json operator()(const Read& r) const {
    return {{"do", "read"}, {"maps", r.maps}, {"acl", json_of(r.acl)}};
  }
  json operator()(const Map& m) const { return {{"do", "make"}, {"map", json_of(m)}}; }
  json operator()(const Drop& d) const { return {{"do", "drop"}, {"map", d.map}}; }
  json operator()(const Set& s) const {
    json maps = json::array();
    for (const auto& [k, object] : s.maps) maps.push_back({kMapNames[index(k)], object});
    json out{{"do", "set"}, {"port", s.port}, {"maps", maps}};
    if (s.pfc) out["pfc"] = *s.pfc;
    if (s.pfc_first) out["pfc-first"] = true;
    return out;
  }
  json operator()(const SetAcl& s) const {
    return {
        {"do", "acl"}, {"acl", json_of(s.acl)}, {"turns", json_of(s.turns)}, {"ports", s.ports}};
  }
};
struct AnswerText {
  json operator()(const Busy&) const { return {{"is", "busy"}}; }
  json operator()(const Making& m) const { return {{"is", "making"}, {"acl", json_of(m.acl)}}; }
  json operator()(const Refused& r) const {
    return {{"is", "refused"}, {"why", r.why.substr(0, kMaxText)}};
  }
  json operator()(const Done& d) const { return {{"is", "done"}, {"made", d.made}}; }
  json operator()(const View& v) const {
    json ports = json::object();
    for (const auto& [name, port] : v.ports) ports[name] = json_of(port);
    return {{"is", "view"},         {"release", v.release},
            {"can-map", v.can_map}, {"can-pfc", v.can_pfc},
            {"can-acl", v.can_acl}, {"traffic-classes", v.traffic_classes},
            {"ports", ports},       {"maps", json_of(v.maps)},
            {"bound", v.bound},     {"acl", json_of(v.acl)}};
  }
  json operator()(const Acl& a) const { return {{"is", "acl"}, {"acl", json_of(a)}}; }
};

}  // namespace

std::string format(const Request& request) { return dump(std::visit(RequestText{}, request)); }
std::string format(const Answer& answer) { return dump(std::visit(AnswerText{}, answer)); }

Result<Request> parse_request(std::string_view message) {
  return parse<Request>(message, "the daemon", [](const json& all) -> Request {
    const auto what = all.at("do").get<std::string>();
    if (what == "read") return Read{oids(all.at("maps")), acl_of(all.at("acl"))};
    if (what == "make") return map_of(all.at("map"));
    if (what == "drop") return Drop{oid(all.at("map"))};
    if (what == "acl")
      return SetAcl{acl_of(all.at("acl")), turns_of(all.at("turns")), oids(all.at("ports"))};
    if (what != "set") reject();
    Set set{.port = oid(all.at("port"))};
    for (const json& one : list(all.at("maps")))
      set.maps.emplace_back(kind(one.at(0)), oid(one.at(1)));
    if (all.contains("pfc")) set.pfc = small(all.at("pfc"));
    set.pfc_first = all.value("pfc-first", false);
    return set;
  });
}

Result<Answer> parse_answer(std::string_view message) {
  return parse<Answer>(message, "libsai's process", [](const json& all) -> Answer {
    const auto what = all.at("is").get<std::string>();
    if (what == "busy") return Busy{};
    if (what == "making") return Making{acl_of(all.at("acl"))};
    if (what == "refused") return Refused{text(all.at("why"))};
    if (what == "done") return Done{oid(all.at("made"))};
    if (what == "acl") return acl_of(all.at("acl"));
    if (what != "view") reject();
    return view_of(all);
  });
}

std::string format(const Memory& memory) {
  json ports = json::object();
  for (const auto& [name, original] : memory.ports)
    ports[name] = {{"before", json_of(original.before)}, {"pfc", original.pfc}};
  return json{{"version", 1},
              {"ports", ports},
              {"maps", json_of(memory.maps)},
              {"acl", json_of(memory.acl)}}
             .dump(1, ' ', true, json::error_handler_t::replace) +
         "\n";
}

Result<Memory> parse_memory(std::string_view message) {
  auto memory = parse<Memory>(message, "", [](const json& all) {
    Memory out;
    if (small(all.at("version")) != 1) return out;
    for (const auto& [name, port] : all.at("ports").items())
      out.ports[name] = {.before = port_of(port.at("before")), .pfc = small(port.at("pfc"))};
    out.maps = maps_of(all.at("maps"));
    out.acl = acl_of(all.at("acl"));
    return out;
  });
  if (!memory)
    return fail(Error{.what = "is damaged: what the ports had before is not known any more"});
  return memory;
}

}  // namespace lldp::dataplane::sai
