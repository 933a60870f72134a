// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sai/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "os/file.hpp"
#include "os/shared_library.hpp"

namespace lldp::dataplane::sai {
namespace {

constexpr std::size_t kMaxPorts = 1024;
constexpr std::uint32_t kMaxEntries = 1 << 16;  ///< of all ACLs, to look through

struct Kind {
  sai_attr_id_t port_attribute = 0;
  int type = 0;  ///< of the map
};
constexpr std::array<Kind, std::size(kMapKinds)> kKinds = {
    {{SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP, SAI_QOS_MAP_TYPE_DSCP_TO_TC},
     {SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP, SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP},
     {SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP, SAI_QOS_MAP_TYPE_TC_TO_QUEUE},
     {SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP, SAI_QOS_MAP_TYPE_TC_TO_PRIORITY_GROUP}}};

/// What the chip's profile says, for libsai, which asks by functions without a context.
std::map<std::string, std::string, std::less<>>& profile() {
  static std::map<std::string, std::string, std::less<>> values;
  return values;
}
const char* profile_value(sai_switch_profile_id_t, const char* variable) {
  const auto at = variable == nullptr ? profile().end() : profile().find(variable);
  return at == profile().end() ? nullptr : at->second.c_str();
}
int next_profile_value(sai_switch_profile_id_t, const char** variable, const char** value) {
  static auto next = profile().cbegin();
  if (value == nullptr) {
    next = profile().cbegin();
    return 0;
  }
  if (variable == nullptr || next == profile().cend()) return -1;
  *variable = next->first.c_str();
  *value = next->second.c_str();
  ++next;
  return 0;
}
constexpr sai_service_method_table_t kServices{profile_value, next_profile_value};

Result<void> read_profile(const std::string& path) {
  if (path.empty()) return {};
  const auto file = read_file(path);
  if (!file) return fail(file.error());
  for (std::string_view rest = *file; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == line.npos) continue;
    profile().insert_or_assign(std::string(line.substr(0, equals)),
                               std::string(line.substr(equals + 1)));
  }
  return {};
}

std::string name_of(long status) {
  switch (status) {
    case SAI_STATUS_FAILURE:
      return "SAI_STATUS_FAILURE";
    case SAI_STATUS_NOT_SUPPORTED:
      return "SAI_STATUS_NOT_SUPPORTED";
    case SAI_STATUS_NO_MEMORY:
      return "SAI_STATUS_NO_MEMORY";
    case SAI_STATUS_INSUFFICIENT_RESOURCES:
      return "SAI_STATUS_INSUFFICIENT_RESOURCES";
    case SAI_STATUS_INVALID_PARAMETER:
      return "SAI_STATUS_INVALID_PARAMETER";
    case SAI_STATUS_ITEM_NOT_FOUND:
      return "SAI_STATUS_ITEM_NOT_FOUND";
    case SAI_STATUS_BUFFER_OVERFLOW:
      return "SAI_STATUS_BUFFER_OVERFLOW";
    case SAI_STATUS_TABLE_FULL:
      return "SAI_STATUS_TABLE_FULL";
    case SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING:
      return "SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING";
    case SAI_STATUS_NOT_IMPLEMENTED:
      return "SAI_STATUS_NOT_IMPLEMENTED";
    case SAI_STATUS_OBJECT_IN_USE:
      return "SAI_STATUS_OBJECT_IN_USE";
    case SAI_STATUS_INVALID_OBJECT_TYPE:
      return "SAI_STATUS_INVALID_OBJECT_TYPE";
    case SAI_STATUS_INVALID_OBJECT_ID:
      return "SAI_STATUS_INVALID_OBJECT_ID";
    default:  // of attributes there are ranges of them
      return fmt::format("status -{:#x}", -status);
  }
}

/// It is not that the call failed: it always will.
bool is_unable(long status) {
  const auto in = [status](long first) { return status <= first && status > first - 0x10000; };
  return status == SAI_STATUS_NOT_IMPLEMENTED || status == SAI_STATUS_NOT_SUPPORTED ||
         in(SAI_STATUS_ATTR_NOT_IMPLEMENTED_0) || in(SAI_STATUS_ATTR_NOT_SUPPORTED_0);
}

sai_attribute_t attribute(std::int64_t id) {
  sai_attribute_t a{};
  a.id = static_cast<sai_attr_id_t>(id);
  return a;
}

/// The members of a map's keys and values that count, by its kind.
unsigned char sai_qos_map_params_t::*key_of(MapKind kind) {
  return kind == MapKind::kDscpToTc ? &sai_qos_map_params_t::dscp : &sai_qos_map_params_t::tc;
}
unsigned char sai_qos_map_params_t::*value_of(MapKind kind) {
  switch (kind) {
    case MapKind::kDscpToTc:
      return &sai_qos_map_params_t::tc;
    case MapKind::kTcToDscp:
      return &sai_qos_map_params_t::dscp;
    case MapKind::kTcToQueue:
      return &sai_qos_map_params_t::queue_index;
    case MapKind::kTcToGroup:
      break;
  }
  return &sai_qos_map_params_t::pg;
}

sai_object_list_t list_of(const std::vector<Oid>& oids) {
  static_assert(sizeof(Oid) == sizeof(sai_object_id_t));
  return {.count = static_cast<std::uint32_t>(oids.size()),
          .list = const_cast<sai_object_id_t*>(oids.data())};
}
sai_attribute_t field_of(std::int64_t id, const std::vector<Oid>& ports) {
  sai_attribute_t a = attribute(id);
  a.value.aclfield.enable = true;
  a.value.aclfield.data.objlist = list_of(ports);
  return a;
}

}  // namespace

Result<void> SaiLibrary::done(long status, const char* what) {
  meanwhile_(Busy{});
  if (status == SAI_STATUS_SUCCESS) return {};
  const Error refused{static_cast<int>(status), "libsai",
                      fmt::format("{} of {}", name_of(status), what)};
  if (status == SAI_STATUS_NO_MEMORY || status == SAI_STATUS_INSUFFICIENT_RESOURCES)
    short_of_ = refused;
  return fail(refused);
}

Result<std::unique_ptr<SaiLibrary>> SaiLibrary::open(const std::string& path,
                                                     const std::string& profile_path,
                                                     Tell meanwhile) {
  if (auto read = read_profile(profile_path); !read) return fail(read.error());
  SharedLibrary library{path.c_str()};
  if (!library.is_loaded()) return fail(Error{0, "sai.library", escape(::dlerror())});
  decltype(&sai_api_initialize) initialize = nullptr;
  decltype(&sai_api_query) query = nullptr;
  decltype(&sai_query_api_version) version = nullptr;
  std::unique_ptr<SaiLibrary> self(new SaiLibrary(std::move(meanwhile)));
  library.find(initialize, "sai_api_initialize");
  library.find(query, "sai_api_query");
  library.find(version, "sai_query_api_version");
  library.find(self->keys_, "sai_get_object_key");
  library.find(self->capability_, "sai_query_attribute_capability");
  if (const char* missing = library.missing())
    return fail(
        Error{0, path, fmt::format("has no {}: it is no libsai of SAI 1.10 or later", missing)});
  // The layout of its structures changes with the release, and only this one is known here. So it
  // is asked before all else; some answer only after they are initialized (SONiC's virtual one).
  sai_api_version_t has{};
  const bool early = version(&has) == SAI_STATUS_SUCCESS;
  Result<void> begun;
  if (!early) {
    begun = self->done(initialize(0, &kServices), "sai_api_initialize");
    if (begun) begun = self->done(version(&has), "sai_query_api_version");
    if (!begun) return fail(begun.error());
  }
  const auto text = [](sai_api_version_t v) {
    return fmt::format("{}.{}", v / 10000, v / 100 % 100);
  };
  if (has / 100 != SAI_API_VERSION / 100)
    return fail(Error{0, path,
                      fmt::format("speaks SAI {}, and lldp-level-sai was built for {}: build it "
                                  "with -DLLDP_LEVEL_SAI_HEADERS= of that release",
                                  text(has), text(SAI_API_VERSION))});
  self->known_.release = text(has);
  if (early) begun = self->done(initialize(0, &kServices), "sai_api_initialize");
  if (!begun) return fail(begun.error());
  const auto table = [&]<class T>(const T*& api, sai_api_t which, const char* what) {
    void* found = nullptr;
    auto asked = self->done(query(which, &found), what);
    if (asked && found == nullptr)
      return Result<void>(fail(Error{0, "libsai", "no " + std::string(what)}));
    api = static_cast<const T*>(found);
    return asked;
  };
  for (const auto& asked : {table(self->switch_api_, SAI_API_SWITCH, "the switch API"),
                            table(self->port_api_, SAI_API_PORT, "the port API"),
                            table(self->hostif_api_, SAI_API_HOSTIF, "the host interface API"),
                            table(self->map_api_, SAI_API_QOS_MAP, "the QoS map API")})
    if (!asked) return fail(asked.error());
  if (!table(self->acl_api_, SAI_API_ACL, "the ACL API")) self->acl_api_ = nullptr;
  if (auto connected = self->connect(); !connected) return fail(connected.error());
  self->query_capabilities();
  return self;
}

Result<void> SaiLibrary::connect() {
  sai_attribute_t init = attribute(SAI_SWITCH_ATTR_INIT_SWITCH);
  init.value.booldata = false;  // another program's chip: to initialize it would stop all traffic
  return done(switch_api_->create_switch(&switch_, 1, &init), "connecting to the switch");
}

bool SaiLibrary::can(sai_object_type_t type, sai_attr_id_t id, bool create) {
  sai_attr_capability_t capability{};
  const long status = capability_(switch_, type, id, &capability);
  meanwhile_(Busy{});
  // A library that cannot be asked may still be able: trying shows it.
  if (status != SAI_STATUS_SUCCESS) return true;
  return create ? capability.create_implemented : capability.set_implemented;
}

void SaiLibrary::query_capabilities() {
  for (const MapKind kind : kMapKinds)
    known_.can_map[index(kind)] =
        can(SAI_OBJECT_TYPE_PORT, kKinds[index(kind)].port_attribute, false);
  known_.can_pfc = can(SAI_OBJECT_TYPE_PORT, SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL, false) ||
                   can(SAI_OBJECT_TYPE_PORT, SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX, false);
  sai_attribute_t most = attribute(SAI_SWITCH_ATTR_QOS_MAX_NUMBER_OF_TRAFFIC_CLASSES);
  if (switch_api_->get_switch_attribute(switch_, 1, &most) == SAI_STATUS_SUCCESS)
    known_.traffic_classes = most.value.u8;
  known_.can_acl =
      acl_api_ != nullptr && can(SAI_OBJECT_TYPE_SWITCH, SAI_SWITCH_ATTR_INGRESS_ACL, false);
  for (const auto id : {SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS, SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS,
                        SAI_ACL_ENTRY_ATTR_FIELD_DSCP, SAI_ACL_ENTRY_ATTR_ACTION_SET_TC,
                        SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP})
    known_.can_acl =
        known_.can_acl && can(SAI_OBJECT_TYPE_ACL_ENTRY, static_cast<sai_attr_id_t>(id), true);
}

Answer SaiLibrary::answer(const Request& request) {
  struct Do {
    SaiLibrary& self;
    static Answer told(const Result<void>& done) {
      return done ? Answer(Done{}) : Answer(Refused{to_string(done.error())});
    }
    Answer operator()(const Read& r) const {
      auto view = self.read(r);
      return view ? Answer(std::move(*view)) : Answer(Refused{to_string(view.error())});
    }
    Answer operator()(const Map& m) const {
      const auto made = self.make(m);
      return made ? Answer(Done{*made}) : Answer(Refused{to_string(made.error())});
    }
    Answer operator()(const Drop& d) const { return told(self.drop(d.map)); }
    Answer operator()(const Set& s) const { return told(self.set(s)); }
    Answer operator()(const SetAcl& s) const {
      auto acl = self.set_acl(s);
      return acl ? Answer(std::move(*acl)) : Answer(Refused{to_string(acl.error())});
    }
  };
  short_of_.reset();
  return std::visit(Do{*this}, request);
}

Result<View> SaiLibrary::read(const Read& what) {
  View view = known_;
  std::uint32_t count = 0;
  const long sized = keys_(switch_, SAI_OBJECT_TYPE_HOSTIF, &count, nullptr);
  meanwhile_(Busy{});
  if (sized != SAI_STATUS_SUCCESS && sized != SAI_STATUS_BUFFER_OVERFLOW)
    return fail(done(sized, "the list of host interfaces").error());
  std::vector<sai_object_key_t> keys(std::min<std::size_t>(count, kMaxPorts));
  count = static_cast<std::uint32_t>(keys.size());
  if (auto listed = done(keys_(switch_, SAI_OBJECT_TYPE_HOSTIF, &count, keys.data()),
                         "the list of host interfaces");
      !listed)
    return fail(listed.error());
  keys.resize(std::min<std::size_t>(count, keys.size()));
  for (const sai_object_key_t& key : keys) {
    std::array attributes{attribute(SAI_HOSTIF_ATTR_TYPE), attribute(SAI_HOSTIF_ATTR_OBJ_ID),
                          attribute(SAI_HOSTIF_ATTR_NAME)};
    if (!done(hostif_api_->get_hostif_attribute(key.key.object_id, attributes.size(),
                                                attributes.data()),
              "a host interface") ||
        attributes[0].value.s32 != SAI_HOSTIF_TYPE_NETDEV)
      continue;  // of another kind, or gone meanwhile
    const char* name = attributes[2].value.chardata;
    const std::string port_name(name, std::find(name, name + SAI_HOSTIF_NAME_SIZE, '\0'));
    // Of a VLAN or a LAG there is one too.
    if (auto port = read_port(attributes[1].value.oid)) view.ports[port_name] = *port;
  }
  for (const auto& [name, port] : view.ports)
    for (const Oid map : port.maps)
      if (map != 0 && !view.maps.contains(map)) {
        auto found = read_map(map);
        if (found)
          view.maps[map] = std::move(*found);
        else if (found.error().code != 0 && !is_unable(found.error().code))
          return fail(found.error());  // it is there, for a port has it
      }
  for (const Oid map : what.maps)
    if (!view.maps.contains(map))
      if (auto found = read_map(map)) view.maps[map] = std::move(*found);
  if (view.can_acl)
    if (auto read = read_binding(what.acl, view); !read) return fail(read.error());
  if (short_of_) return fail(*short_of_);
  return view;
}

Result<void> SaiLibrary::read_binding(const Acl& known, View& view) {
  sai_attribute_t bound = attribute(SAI_SWITCH_ATTR_INGRESS_ACL);
  const long status = switch_api_->get_switch_attribute(switch_, 1, &bound);
  if (is_unable(status)) {  // whose ACL is bound is not known: none of ours is put in its place
    view.can_acl = false;
    return {};
  }
  if (auto asked = done(status, "the switch's ACL"); !asked) return asked;
  view.bound = bound.value.oid;
  view.acl = read_acl(known);
  if (view.acl.table == 0 && view.bound != 0) view.acl = recognize(view.bound);
  return {};
}

Result<Port> SaiLibrary::read_port(Oid oid) {
  // What was never set is there none of, to a library that cannot tell (SONiC's virtual one). One
  // that cannot tell what was set either never says that it is done.
  Port port{.oid = oid};
  for (const MapKind kind : kMapKinds) {
    if (!known_.can_map[index(kind)]) continue;
    sai_attribute_t map = attribute(kKinds[index(kind)].port_attribute);
    const long status = port_api_->get_port_attribute(oid, 1, &map);
    if (is_unable(status)) continue;
    if (auto asked = done(status, "a port's map"); !asked) return fail(asked.error());
    port.maps[index(kind)] = map.value.oid;
  }
  if (known_.can_map[index(MapKind::kTcToDscp)]) {
    sai_attribute_t rewrites = attribute(SAI_PORT_ATTR_UPDATE_DSCP);
    port.rewrites = port_api_->get_port_attribute(oid, 1, &rewrites) == SAI_STATUS_SUCCESS &&
                    rewrites.value.booldata;
  }
  if (!known_.can_pfc) return port;
  const bool separate = is_pfc_separate(oid);
  const auto get = [&](std::int64_t id) -> Result<unsigned> {
    sai_attribute_t mask = attribute(id);
    const long status = port_api_->get_port_attribute(oid, 1, &mask);
    if (is_unable(status)) return 0U;
    if (auto asked = done(status, "a port's PFC"); !asked) return fail(asked.error());
    return mask.value.u8;
  };
  const auto pfc =
      get(separate ? SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_RX : SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL);
  const auto sent = separate ? get(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX) : pfc;
  if (!pfc || !sent) return fail(pfc ? sent.error() : pfc.error());
  port.pfc = *pfc & *sent;
  return port;
}

Result<Map> SaiLibrary::read_map(Oid oid) {
  std::array<sai_qos_map_t, 256> list{};
  std::array attributes{attribute(SAI_QOS_MAP_ATTR_TYPE),
                        attribute(SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST)};
  attributes[1].value.qosmap = {.count = list.size(), .list = list.data()};
  if (auto asked =
          done(map_api_->get_qos_map_attribute(oid, attributes.size(), attributes.data()), "a map");
      !asked)
    return fail(asked.error());
  const auto kind = std::ranges::find(kKinds, attributes[0].value.s32, &Kind::type);
  if (kind == kKinds.end()) return fail(Error{0, "libsai", "a map of another kind"});
  Map map{.kind = kMapKinds[kind - kKinds.begin()]};
  const std::size_t count = std::min<std::size_t>(attributes[1].value.qosmap.count, list.size());
  for (std::size_t i = 0; i < count; ++i)
    if (list[i].key.color == SAI_PACKET_COLOR_GREEN || map.kind != MapKind::kTcToDscp)
      map.numbers[list[i].key.*key_of(map.kind)] = list[i].value.*value_of(map.kind);
  return map;
}

Result<Oid> SaiLibrary::make(const Map& map) {
  std::vector<sai_qos_map_t> list;
  for (const auto& [key, value] : map.numbers) {
    sai_qos_map_t entry{};
    entry.key.*key_of(map.kind) = static_cast<std::uint8_t>(key);
    entry.value.*value_of(map.kind) = static_cast<std::uint8_t>(value);
    // Whatever colour a meter gives a packet, it turns alike.
    const bool coloured = map.kind == MapKind::kTcToDscp;
    for (const auto color :
         {SAI_PACKET_COLOR_GREEN, SAI_PACKET_COLOR_YELLOW, SAI_PACKET_COLOR_RED}) {
      entry.key.color = color;
      list.push_back(entry);
      if (!coloured) break;
    }
  }
  std::array attributes{attribute(SAI_QOS_MAP_ATTR_TYPE),
                        attribute(SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST)};
  attributes[0].value.s32 = kKinds[index(map.kind)].type;
  attributes[1].value.qosmap = {.count = static_cast<std::uint32_t>(list.size()),
                                .list = list.data()};
  sai_object_id_t made = SAI_NULL_OBJECT_ID;
  if (auto asked =
          done(map_api_->create_qos_map(&made, switch_, attributes.size(), attributes.data()),
               "making a QoS map");
      !asked)
    return fail(asked.error());
  return made;
}

Result<void> SaiLibrary::drop(Oid map) {
  return done(map_api_->remove_qos_map(map), "removing a QoS map");
}

bool SaiLibrary::is_pfc_separate(Oid port) {
  sai_attribute_t mode = attribute(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE);
  const auto asked = done(port_api_->get_port_attribute(port, 1, &mode), "a port's mode of PFC");
  // A library that does not know the mode uses the default.
  return asked && mode.value.s32 == SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE;
}

Result<void> SaiLibrary::set_map(Oid port, MapKind kind, Oid map) {
  sai_attribute_t a = attribute(kKinds[index(kind)].port_attribute);
  a.value.oid = map;
  return done(port_api_->set_port_attribute(port, &a), "setting a port's map");
}

Result<void> SaiLibrary::set_pfc(Oid port, unsigned mask) {
  const bool separate = is_pfc_separate(port);
  const auto set_one = [&](std::int64_t id) {
    sai_attribute_t a = attribute(id);
    a.value.u8 = static_cast<std::uint8_t>(mask);
    return done(port_api_->set_port_attribute(port, &a), "setting a port's PFC");
  };
  if (!separate) return set_one(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL);
  if (auto set = set_one(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_RX); !set) return set;
  return set_one(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX);
}

Result<void> SaiLibrary::set(const Set& what) {
  const auto before = read_port(what.port);
  if (!before) return fail(before.error());
  Result<void> outcome;
  struct Step {
    std::function<Result<void>()> go;
    std::function<Result<void>()> back;
  };
  std::vector<Step> steps;
  for (const auto& [kind, map] : what.maps)
    steps.push_back(
        {[&, kind = kind, map = map] { return set_map(what.port, kind, map); },
         [&, kind = kind] { return set_map(what.port, kind, before->maps[index(kind)]); }});
  if (what.pfc)
    steps.insert(what.pfc_first ? steps.begin() : steps.end(),
                 {[&] { return set_pfc(what.port, *what.pfc); },
                  [&] { return set_pfc(what.port, before->pfc); }});
  for (auto step = steps.begin(); outcome && step != steps.end(); ++step) {
    outcome = step->go();
    // The one that failed too: it may have been done by halves.
    for (auto done = step; !outcome; --done) {
      (void)done->back();
      if (done == steps.begin()) break;
    }
  }
  return outcome;
}

bool SaiLibrary::looks_ours(Oid table) {
  sai_attribute_t stage = attribute(SAI_ACL_TABLE_ATTR_ACL_STAGE);
  if (!done(acl_api_->get_acl_table_attribute(table, 1, &stage), "an ACL table") ||
      stage.value.s32 != SAI_ACL_STAGE_INGRESS)
    return false;
  for (const auto id : {SAI_ACL_TABLE_ATTR_FIELD_IN_PORTS, SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS,
                        SAI_ACL_TABLE_ATTR_FIELD_DSCP}) {
    sai_attribute_t field = attribute(id);
    const long status = acl_api_->get_acl_table_attribute(table, 1, &field);
    if (is_unable(status)) continue;  // a value that cannot be read does not contradict
    if (!done(status, "an ACL table") || !field.value.booldata) return false;
  }
  return true;
}

Acl SaiLibrary::read_acl(const Acl& known) {
  Acl acl;
  if (known.table == 0 || !looks_ours(known.table)) return acl;
  acl.table = known.table;
  for (const Oid entry : known.entries) {
    std::array<std::array<sai_object_id_t, kMaxPorts>, 2> lists{};
    std::array attributes{attribute(SAI_ACL_ENTRY_ATTR_TABLE_ID),
                          attribute(SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS),
                          attribute(SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS),
                          attribute(SAI_ACL_ENTRY_ATTR_FIELD_DSCP),
                          attribute(SAI_ACL_ENTRY_ATTR_ACTION_SET_TC),
                          attribute(SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP)};
    for (std::size_t i : {0U, 1U})
      attributes[i + 1].value.aclfield.data.objlist = {.count = kMaxPorts, .list = lists[i].data()};
    if (!done(acl_api_->get_acl_entry_attribute(entry, attributes.size(), attributes.data()),
              "an entry of our ACL") ||
        attributes[0].value.oid != known.table)
      continue;
    const auto ports = [&](std::size_t i) {
      const auto& list = attributes[i].value.aclfield.data.objlist;
      const std::size_t n = std::min<std::size_t>(list.count, kMaxPorts);
      std::vector<Oid> out(lists[i - 1].begin(),
                           lists[i - 1].begin() + static_cast<std::ptrdiff_t>(n));
      std::ranges::sort(out);
      return out;
    };
    // Equal in all of them, or they are not as we left them.
    const auto in = ports(1);
    if (acl.entries.empty()) acl.ports = in;
    const bool as_made =
        attributes[3].value.aclfield.enable && attributes[3].value.aclfield.mask.u8 == Dscp::kMax &&
        attributes[4].value.aclaction.enable && attributes[5].value.aclaction.enable;
    if (!as_made || in != acl.ports || ports(2) != acl.ports) acl.ports.clear();
    acl.entries.push_back(entry);
    acl.turns.push_back({attributes[3].value.aclfield.data.u8,
                         attributes[4].value.aclaction.parameter.u8,
                         attributes[5].value.aclaction.parameter.u8});
  }
  return acl;
}

std::vector<Oid> SaiLibrary::entries_of(Oid table) {
  std::vector<Oid> entries;
  std::uint32_t count = 0;
  const long sized = keys_(switch_, SAI_OBJECT_TYPE_ACL_ENTRY, &count, nullptr);
  meanwhile_(Busy{});
  if ((sized != SAI_STATUS_SUCCESS && sized != SAI_STATUS_BUFFER_OVERFLOW) || count > kMaxEntries)
    return entries;
  std::vector<sai_object_key_t> keys(count);
  if (!done(keys_(switch_, SAI_OBJECT_TYPE_ACL_ENTRY, &count, keys.data()), "the ACLs' entries"))
    return entries;
  keys.resize(std::min<std::size_t>(count, keys.size()));
  for (const sai_object_key_t& key : keys) {
    sai_attribute_t of = attribute(SAI_ACL_ENTRY_ATTR_TABLE_ID);
    if (done(acl_api_->get_acl_entry_attribute(key.key.object_id, 1, &of), "an entry of an ACL") &&
        of.value.oid == table)
      entries.push_back(key.key.object_id);
  }
  return entries;
}

Acl SaiLibrary::recognize(Oid table) {
  const Acl seen{.table = table, .entries = entries_of(table)};
  Acl acl = read_acl(seen);
  const bool ours = !acl.ports.empty() && acl.entries.size() == seen.entries.size();
  return ours ? acl : Acl{};
}

Result<void> SaiLibrary::bind(Oid table) {
  sai_attribute_t a = attribute(SAI_SWITCH_ATTR_INGRESS_ACL);
  a.value.oid = table;
  return done(switch_api_->set_switch_attribute(switch_, &a), "binding the ACL to the switch");
}

Result<Oid> SaiLibrary::make_entry(Oid table, const Turn& turn, std::uint32_t rank,
                                   const std::vector<Oid>& ports) {
  std::array attributes{attribute(SAI_ACL_ENTRY_ATTR_TABLE_ID),
                        attribute(SAI_ACL_ENTRY_ATTR_PRIORITY),
                        attribute(SAI_ACL_ENTRY_ATTR_ADMIN_STATE),
                        field_of(SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS, ports),
                        field_of(SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS, ports),
                        attribute(SAI_ACL_ENTRY_ATTR_FIELD_DSCP),
                        attribute(SAI_ACL_ENTRY_ATTR_ACTION_SET_TC),
                        attribute(SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP)};
  attributes[0].value.oid = table;
  attributes[1].value.u32 = rank;
  attributes[2].value.booldata = true;
  attributes[5].value.aclfield.enable = true;
  attributes[5].value.aclfield.mask.u8 = Dscp::kMax;
  attributes[5].value.aclfield.data.u8 = static_cast<std::uint8_t>(turn.dscp);
  attributes[6].value.aclaction.enable = true;
  attributes[6].value.aclaction.parameter.u8 = static_cast<std::uint8_t>(turn.tc);
  attributes[7].value.aclaction.enable = true;
  attributes[7].value.aclaction.parameter.u8 = static_cast<std::uint8_t>(turn.to);
  sai_object_id_t made = SAI_NULL_OBJECT_ID;
  if (auto asked =
          done(acl_api_->create_acl_entry(&made, switch_, attributes.size(), attributes.data()),
               "making an entry of the ACL");
      !asked)
    return fail(asked.error());
  return made;
}

Result<void> SaiLibrary::remove_acl(const Acl& acl) {
  if (acl.table == 0) return {};
  // With those that were made and not noted any more.
  std::vector<Oid> entries = entries_of(acl.table);
  if (entries.empty()) entries = acl.entries;
  for (const Oid entry : entries)
    if (auto gone = done(acl_api_->remove_acl_entry(entry), "removing an entry of the ACL"); !gone)
      return gone;
  sai_attribute_t bound = attribute(SAI_SWITCH_ATTR_INGRESS_ACL);
  if (auto asked = done(switch_api_->get_switch_attribute(switch_, 1, &bound), "the switch's ACL");
      !asked)
    return asked;
  if (bound.value.oid == acl.table)
    if (auto freed = bind(SAI_NULL_OBJECT_ID); !freed) return freed;
  return done(acl_api_->remove_acl_table(acl.table), "removing the ACL table");
}

Result<Acl> SaiLibrary::set_acl(const SetAcl& what) {
  if (acl_api_ == nullptr) return fail(Error{0, "libsai", "has no ACLs"});
  Acl acl = read_acl(what.acl);
  if (short_of_) return fail(*short_of_);  // else a second one was made
  if (what.ports.empty()) {
    if (auto gone = remove_acl(acl); !gone) return fail(gone.error());
    return Acl{};
  }
  if (acl.table != 0 && acl.turns == what.turns) {
    for (const Oid entry : acl.entries)
      for (const auto id :
           {SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS, SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS}) {
        const sai_attribute_t field = field_of(id, what.ports);
        if (auto set = done(acl_api_->set_acl_entry_attribute(entry, &field),
                            "setting the ports of an entry of the ACL");
            !set)
          return fail(set.error());
      }
    acl.ports = what.ports;
    return acl;
  }
  // Of other classes: made anew.
  if (auto gone = remove_acl(acl); !gone) return fail(gone.error());
  acl = {};
  std::array<std::int32_t, 2> actions{SAI_ACL_ACTION_TYPE_SET_TC, SAI_ACL_ACTION_TYPE_SET_DSCP};
  std::array<std::int32_t, 1> points{SAI_ACL_BIND_POINT_TYPE_SWITCH};
  std::array attributes{attribute(SAI_ACL_TABLE_ATTR_ACL_STAGE),
                        attribute(SAI_ACL_TABLE_ATTR_ACL_BIND_POINT_TYPE_LIST),
                        attribute(SAI_ACL_TABLE_ATTR_ACL_ACTION_TYPE_LIST),
                        attribute(SAI_ACL_TABLE_ATTR_FIELD_IN_PORTS),
                        attribute(SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS),
                        attribute(SAI_ACL_TABLE_ATTR_FIELD_DSCP)};
  attributes[0].value.s32 = SAI_ACL_STAGE_INGRESS;
  attributes[1].value.s32list = {.count = points.size(), .list = points.data()};
  attributes[2].value.s32list = {.count = actions.size(), .list = actions.data()};
  for (std::size_t i : {3U, 4U, 5U}) attributes[i].value.booldata = true;
  sai_object_id_t table = SAI_NULL_OBJECT_ID;
  auto made =
      done(acl_api_->create_acl_table(&table, switch_, attributes.size(), attributes.data()),
           "making the ACL table");
  if (!made) return fail(made.error());
  acl.table = table;
  acl.ports = what.ports;
  meanwhile_(Making{acl});
  std::uint32_t rank = 0;
  for (const Turn& turn : what.turns) {
    const auto entry = make_entry(acl.table, turn, ++rank, what.ports);
    if (!entry) {
      (void)remove_acl(acl);
      return fail(entry.error());
    }
    acl.entries.push_back(*entry);
    acl.turns.push_back(turn);
    meanwhile_(Making{acl});
  }
  if (auto bound = bind(acl.table); !bound) {
    (void)remove_acl(acl);
    return fail(bound.error());
  }
  return acl;
}

}  // namespace lldp::dataplane::sai
