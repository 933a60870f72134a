// SPDX-License-Identifier: Apache-2.0
// A libsai for tests: keeps objects, holds who uses it to SAI's rules (types, references in use,
// what must be given and what may not be set), and can be told to hang, to crash, and to refuse.
#include <csignal>
#include <ctime>
#include <stdexcept>

#include "dataplane/sai/api.hpp"
#include "tests/dataplane/fake_sai/chip.hpp"

namespace {

using lldp::fake_sai::Chip;
using lldp::fake_sai::Object;
using lldp::fake_sai::PortSet;

Chip* chip = nullptr;
constexpr sai_object_id_t kSwitch = 0x21;
constexpr int kPort = SAI_OBJECT_TYPE_PORT, kMap = SAI_OBJECT_TYPE_QOS_MAP,
              kTable = SAI_OBJECT_TYPE_ACL_TABLE, kEntry = SAI_OBJECT_TYPE_ACL_ENTRY,
              kHostif = SAI_OBJECT_TYPE_HOSTIF;
using Status = sai_status_t;

Status status(long s) { return static_cast<Status>(s); }

void sleep_ms(int ms) {
  const timespec t{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000L};
  ::nanosleep(&t, nullptr);
}
void called() {
  ++chip->cut_off;
  if (const int ms = chip->slow; ms != 0) sleep_ms(ms);
  if (const int ms = chip->hang.exchange(0); ms != 0) sleep_ms(ms);
  --chip->cut_off;
}
Status refusal() {
  const long other = chip->refuse_with;
  return status(other != 0 ? other : SAI_STATUS_INSUFFICIENT_RESOURCES);
}
/// What it says to a call that reads something before it looks at it.
Status reading() {
  called();
  ++chip->reads;
  return chip->refuse_read_at > 0 && --chip->refuse_read_at == 0 ? refusal() : SAI_STATUS_SUCCESS;
}
/// What it says to a call that sets something before it looks at it.
Status setting() {
  called();
  if (chip->refuse_at > 0 && --chip->refuse_at == 0) {
    if (chip->refuse_on) chip->refuse_at = 1;
    return refusal();
  }
  ++chip->sets;
  if (chip->end_at > 0 && --chip->end_at == 0) ::raise(SIGKILL);
  if (chip->throws.exchange(false)) throw std::runtime_error("the driver's own exception");
  if (chip->crash > 0 && chip->crash-- > 0) {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer of its user's would tell of it
    ::raise(SIGSEGV);
  }
  return SAI_STATUS_SUCCESS;
}

/// Which of a port's maps, or -1, and the type it has to have.
int map_index(sai_attr_id_t id) {
  switch (id) {
    case SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP:
      return 0;
    case SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP:
      return 1;
    case SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP:
      return 2;
    case SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP:
      return 3;
    default:
      return -1;
  }
}
constexpr int kTypes[] = {SAI_QOS_MAP_TYPE_DSCP_TO_TC, SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP,
                          SAI_QOS_MAP_TYPE_TC_TO_QUEUE, SAI_QOS_MAP_TYPE_TC_TO_PRIORITY_GROUP};

const sai_attribute_t* find(uint32_t count, const sai_attribute_t* list, int id) {
  for (uint32_t i = 0; i < count; ++i)
    if (list[i].id == static_cast<sai_attr_id_t>(id)) return &list[i];
  return nullptr;
}

// Switch.

Status create_switch(sai_object_id_t* id, uint32_t count, const sai_attribute_t* list) {
  called();
  const sai_attribute_t* init = find(count, list, SAI_SWITCH_ATTR_INIT_SWITCH);
  if (init == nullptr) return status(SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING);
  if (init->value.booldata) chip->initialized = true;
  *id = kSwitch;
  return SAI_STATUS_SUCCESS;
}
Status set_switch(sai_object_id_t id, const sai_attribute_t* a) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  if (id != kSwitch) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (chip->no_acl || a->id != SAI_SWITCH_ATTR_INGRESS_ACL)
    return status(SAI_STATUS_NOT_IMPLEMENTED);
  if (a->value.oid != 0 && chip->find(a->value.oid, kTable) == nullptr)
    return status(SAI_STATUS_INVALID_OBJECT_ID);
  chip->bound = a->value.oid;
  return SAI_STATUS_SUCCESS;
}
Status get_switch(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  if (id != kSwitch || count != 1) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (list->id == SAI_SWITCH_ATTR_QOS_MAX_NUMBER_OF_TRAFFIC_CLASSES && chip->traffic_classes != 0) {
    list->value.u8 = static_cast<std::uint8_t>(chip->traffic_classes);
    return SAI_STATUS_SUCCESS;
  }
  if (chip->no_acl || list->id != SAI_SWITCH_ATTR_INGRESS_ACL)
    return status(SAI_STATUS_NOT_IMPLEMENTED);
  if (chip->only_what_was_set && chip->bound == 0) return status(SAI_STATUS_ATTR_NOT_SUPPORTED_0);
  list->value.oid = chip->bound;
  return SAI_STATUS_SUCCESS;
}

// Ports and host interfaces.

/// The mask that the attribute is of, or null: it is another one, or not one of this chip's.
std::uint8_t* pfc_of(Object& port, sai_attr_id_t id) {
  if (chip->no_pfc) return nullptr;
  if (id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL) return chip->separate_pfc ? nullptr : &port.pfc;
  if (!chip->separate_pfc) return nullptr;
  return id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_RX   ? &port.pfc
         : id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX ? &port.pfc_tx
                                                        : nullptr;
}
Status set_port(sai_object_id_t id, const sai_attribute_t* a) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* port = chip->find(id, kPort);
  if (port == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (chip->refuse_set == static_cast<int>(a->id)) return refusal();
  if (std::uint8_t* mask = pfc_of(*port, a->id)) {
    *mask = a->value.u8;
    return SAI_STATUS_SUCCESS;
  }
  const int map = map_index(a->id);
  if (map < 0 || (map == 1 && chip->no_rewriting)) return status(SAI_STATUS_NOT_IMPLEMENTED);
  if (a->value.oid != 0) {
    const Object* object = chip->find(a->value.oid);
    if (object == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
    if (object->type != kMap) return status(SAI_STATUS_INVALID_OBJECT_TYPE);
    if (object->map_type != kTypes[map]) return status(SAI_STATUS_INVALID_PARAMETER);
  }
  port->maps[map] = a->value.oid;
  return SAI_STATUS_SUCCESS;
}
Status get_port(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* port = chip->find(id, kPort);
  if (port == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  for (uint32_t i = 0; i < count; ++i) {
    const int map = map_index(list[i].id);
    if (const std::uint8_t* mask = pfc_of(*port, list[i].id);
        mask != nullptr && !(chip->only_what_was_set && *mask == 0))
      list[i].value.u8 = *mask;
    else if (list[i].id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE)
      list[i].value.s32 = chip->separate_pfc ? SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE
                                             : SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_COMBINED;
    else if (list[i].id == SAI_PORT_ATTR_UPDATE_DSCP)
      list[i].value.booldata = !chip->keeps_dscps;
    else if (map >= 0 && !(map == 1 && chip->no_rewriting) &&
             !(chip->only_what_was_set && port->maps[map] == 0))
      list[i].value.oid = port->maps[map];
    else
      return status(SAI_STATUS_NOT_IMPLEMENTED);
  }
  return SAI_STATUS_SUCCESS;
}
Status get_hostif(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  const Object* hostif = chip->find(id, kHostif);
  if (hostif == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i].id == SAI_HOSTIF_ATTR_TYPE)
      list[i].value.s32 = SAI_HOSTIF_TYPE_NETDEV;
    else if (list[i].id == SAI_HOSTIF_ATTR_OBJ_ID)
      list[i].value.oid = hostif->of;
    else
      std::memcpy(list[i].value.chardata, hostif->name, sizeof hostif->name);
  }
  return SAI_STATUS_SUCCESS;
}

// QoS maps.

Status create_map(sai_object_id_t* id, sai_object_id_t switch_id, uint32_t count,
                  const sai_attribute_t* list) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  const sai_attribute_t* type = find(count, list, SAI_QOS_MAP_ATTR_TYPE);
  const sai_attribute_t* map = find(count, list, SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST);
  if (type == nullptr || map == nullptr) return status(SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING);
  if (switch_id != kSwitch) return status(SAI_STATUS_INVALID_OBJECT_ID);
  Object* object = map->value.qosmap.count <= 256 ? chip->add(kMap) : nullptr;
  if (object == nullptr) return status(SAI_STATUS_INSUFFICIENT_RESOURCES);
  object->map_type = type->value.s32;
  for (uint32_t i = 0; i < map->value.qosmap.count; ++i) {
    const sai_qos_map_t& from = map->value.qosmap.list[i];
    auto& to = object->pairs[i];
    const bool of_dscp = object->map_type == SAI_QOS_MAP_TYPE_DSCP_TO_TC;
    to.key = of_dscp ? from.key.dscp : from.key.tc;
    to.color = static_cast<uint8_t>(from.key.color);
    to.value = of_dscp                                                     ? from.value.tc
               : object->map_type == SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP ? from.value.dscp
               : object->map_type == SAI_QOS_MAP_TYPE_TC_TO_QUEUE          ? from.value.queue_index
                                                                           : from.value.pg;
    const int most_key = of_dscp ? 63 : 7;
    const int most = object->map_type == SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP ? 63 : 7;
    if (to.key > most_key || to.value > most) {
      object->type = 0;
      return status(SAI_STATUS_INVALID_PARAMETER);
    }
  }
  object->count = map->value.qosmap.count;
  *id = object->oid;
  return SAI_STATUS_SUCCESS;
}
Status remove_map(sai_object_id_t id) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* map = chip->find(id, kMap);
  if (map == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  for (const Object& o : chip->objects)
    if (o.type == kPort)
      for (const uint64_t used : o.maps)
        if (used == id) return status(SAI_STATUS_OBJECT_IN_USE);
  map->type = 0;
  return SAI_STATUS_SUCCESS;
}
Status get_map(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  const Object* map = chip->find(id, kMap);
  if (map == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i].id == SAI_QOS_MAP_ATTR_TYPE) {
      list[i].value.s32 = map->map_type;
      continue;
    }
    sai_qos_map_list_t& out = list[i].value.qosmap;
    const bool fits = out.count >= map->count;
    out.count = map->count;
    if (!fits) return status(SAI_STATUS_BUFFER_OVERFLOW);
    for (uint32_t k = 0; k < map->count; ++k) {
      sai_qos_map_t entry{};
      const auto& pair = map->pairs[k];
      const bool of_dscp = map->map_type == SAI_QOS_MAP_TYPE_DSCP_TO_TC;
      (of_dscp ? entry.key.dscp : entry.key.tc) = pair.key;
      entry.key.color = static_cast<sai_packet_color_t>(pair.color);
      (of_dscp                                                  ? entry.value.tc
       : map->map_type == SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP ? entry.value.dscp
       : map->map_type == SAI_QOS_MAP_TYPE_TC_TO_QUEUE          ? entry.value.queue_index
                                                                : entry.value.pg) = pair.value;
      out.list[k] = entry;
    }
  }
  return SAI_STATUS_SUCCESS;
}

// ACL.

bool take(PortSet& to, const sai_attribute_t& from) {
  const auto& list = from.value.aclfield.data.objlist;
  if (list.count > lldp::fake_sai::kPorts) return false;
  for (uint32_t i = 0; i < list.count; ++i) {
    if (chip->find(list.list[i], kPort) == nullptr) return false;
    to.ports[i] = list.list[i];
  }
  to.count = list.count;
  return true;
}
Status create_table(sai_object_id_t* id, sai_object_id_t, uint32_t count,
                    const sai_attribute_t* list) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  if (chip->no_acl) return status(SAI_STATUS_NOT_IMPLEMENTED);
  for (const int needed : {SAI_ACL_TABLE_ATTR_ACL_STAGE, SAI_ACL_TABLE_ATTR_FIELD_IN_PORTS,
                           SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS, SAI_ACL_TABLE_ATTR_FIELD_DSCP})
    if (find(count, list, needed) == nullptr) return status(SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING);
  Object* table = chip->add(kTable);
  if (table == nullptr) return status(SAI_STATUS_INSUFFICIENT_RESOURCES);
  table->by_out_ports = true;
  *id = table->oid;
  return SAI_STATUS_SUCCESS;
}
Status remove_table(sai_object_id_t id) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* table = chip->find(id, kTable);
  if (table == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (chip->bound == id) return status(SAI_STATUS_OBJECT_IN_USE);
  for (const Object& o : chip->objects)
    if (o.type == kEntry && o.of == id) return status(SAI_STATUS_OBJECT_IN_USE);
  table->type = 0;
  return SAI_STATUS_SUCCESS;
}
Status get_table(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  const Object* table = chip->find(id, kTable);
  if (table == nullptr || count != 1) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (list->id == SAI_ACL_TABLE_ATTR_ACL_STAGE)
    list->value.s32 = SAI_ACL_STAGE_INGRESS;
  else
    list->value.booldata = list->id != SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS || table->by_out_ports;
  return SAI_STATUS_SUCCESS;
}
Status create_entry(sai_object_id_t* id, sai_object_id_t, uint32_t count,
                    const sai_attribute_t* list) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  const sai_attribute_t* table = find(count, list, SAI_ACL_ENTRY_ATTR_TABLE_ID);
  const sai_attribute_t* in = find(count, list, SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS);
  const sai_attribute_t* out = find(count, list, SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS);
  const sai_attribute_t* dscp = find(count, list, SAI_ACL_ENTRY_ATTR_FIELD_DSCP);
  const sai_attribute_t* tc = find(count, list, SAI_ACL_ENTRY_ATTR_ACTION_SET_TC);
  const sai_attribute_t* to = find(count, list, SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP);
  if (table == nullptr) return status(SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING);
  if (chip->find(table->value.oid, kTable) == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (in == nullptr || out == nullptr || dscp == nullptr || tc == nullptr || to == nullptr ||
      !dscp->value.aclfield.enable || dscp->value.aclfield.mask.u8 != 63 ||
      !tc->value.aclaction.enable || tc->value.aclaction.parameter.u8 > 7)
    return status(SAI_STATUS_INVALID_PARAMETER);
  Object* entry = chip->add(kEntry);
  if (entry == nullptr) return status(SAI_STATUS_INSUFFICIENT_RESOURCES);
  entry->of = table->value.oid;
  entry->dscp = dscp->value.aclfield.data.u8;
  entry->tc = tc->value.aclaction.parameter.u8;
  entry->to = to->value.aclaction.parameter.u8;
  if (!take(entry->in, *in) || !take(entry->out, *out)) {
    entry->type = 0;
    return status(SAI_STATUS_INVALID_OBJECT_ID);
  }
  *id = entry->oid;
  return SAI_STATUS_SUCCESS;
}
Status remove_entry(sai_object_id_t id) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* entry = chip->find(id, kEntry);
  if (entry == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  entry->type = 0;
  return SAI_STATUS_SUCCESS;
}
Status set_entry(sai_object_id_t id, const sai_attribute_t* a) {
  if (const Status refused = setting(); refused != SAI_STATUS_SUCCESS) return refused;
  Object* entry = chip->find(id, kEntry);
  if (entry == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  if (a->id == SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS)
    return take(entry->in, *a) ? SAI_STATUS_SUCCESS : status(SAI_STATUS_INVALID_OBJECT_ID);
  if (a->id == SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS)
    return take(entry->out, *a) ? SAI_STATUS_SUCCESS : status(SAI_STATUS_INVALID_OBJECT_ID);
  return status(SAI_STATUS_INVALID_PARAMETER);  // what is given once, at the creation
}
Status get_entry(sai_object_id_t id, uint32_t count, sai_attribute_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  const Object* entry = chip->find(id, kEntry);
  if (entry == nullptr) return status(SAI_STATUS_INVALID_OBJECT_ID);
  for (uint32_t i = 0; i < count; ++i) {
    sai_attribute_t& a = list[i];
    if (find(i, list, static_cast<int>(a.id)) != nullptr)  // more are said to be there than are
      return status(SAI_STATUS_INVALID_PARAMETER);
    if (a.id == SAI_ACL_ENTRY_ATTR_TABLE_ID)
      a.value.oid = entry->of;
    else if (a.id == SAI_ACL_ENTRY_ATTR_FIELD_DSCP)
      a.value.aclfield = {.enable = true, .mask = {.u8 = 63}, .data = {.u8 = entry->dscp}};
    else if (a.id == SAI_ACL_ENTRY_ATTR_ACTION_SET_TC)
      a.value.aclaction = {.enable = true, .parameter = {.u8 = entry->tc}};
    else if (a.id == SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP)
      a.value.aclaction = {.enable = true, .parameter = {.u8 = entry->to}};
    else {
      const PortSet& set = a.id == SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS ? entry->in : entry->out;
      auto& out = a.value.aclfield.data.objlist;
      if (out.count < set.count) return status(SAI_STATUS_BUFFER_OVERFLOW);
      out.count = set.count;
      std::memcpy(out.list, set.ports, set.count * sizeof set.ports[0]);
    }
  }
  return SAI_STATUS_SUCCESS;
}

template <class T>
void* table() {
  static T functions{};
  return &functions;
}

}  // namespace

extern "C" {

sai_status_t sai_api_initialize(uint64_t, const sai_service_method_table_t* services) {
  const char* path = services->profile_get_value(0, lldp::fake_sai::kFileKey);
  if (path == nullptr) return status(SAI_STATUS_INVALID_PARAMETER);
  // As vendors' ones do, it walks through all of the profile, and more than once.
  std::string profile;
  for (int walk = 0; walk < 2; ++walk) {
    profile.clear();
    const char* variable = nullptr;
    const char* value = nullptr;
    services->profile_get_next_value(0, nullptr, nullptr);
    while (services->profile_get_next_value(0, &variable, &value) == 0)
      profile.append(variable).append("=").append(value).append("\n");
  }
  chip = lldp::fake_sai::open(path);
  if (chip == nullptr) return status(SAI_STATUS_FAILURE);
  profile.copy(chip->profile, sizeof chip->profile - 1);
  called();
  return SAI_STATUS_SUCCESS;
}

sai_status_t sai_query_api_version(sai_api_version_t* version) {
  // Asked before the chip is known.
  if (chip == nullptr && std::getenv("FAKE_SAI_LATE") != nullptr) return SAI_STATUS_FAILURE;
  const char* other = std::getenv("FAKE_SAI_VERSION");
  *version = other != nullptr ? std::strtoull(other, nullptr, 10) : SAI_API_VERSION;
  return SAI_STATUS_SUCCESS;
}

sai_status_t sai_api_query(sai_api_t api, void** out) {
  auto* switches = static_cast<sai_switch_api_t*>(table<sai_switch_api_t>());
  switches->create_switch = create_switch;
  switches->set_switch_attribute = set_switch;
  switches->get_switch_attribute = get_switch;
  auto* ports = static_cast<sai_port_api_t*>(table<sai_port_api_t>());
  ports->set_port_attribute = set_port;
  ports->get_port_attribute = get_port;
  auto* hostifs = static_cast<sai_hostif_api_t*>(table<sai_hostif_api_t>());
  hostifs->get_hostif_attribute = get_hostif;
  auto* maps = static_cast<sai_qos_map_api_t*>(table<sai_qos_map_api_t>());
  maps->create_qos_map = create_map;
  maps->remove_qos_map = remove_map;
  maps->get_qos_map_attribute = get_map;
  auto* acls = static_cast<sai_acl_api_t*>(table<sai_acl_api_t>());
  acls->create_acl_table = create_table;
  acls->remove_acl_table = remove_table;
  acls->get_acl_table_attribute = get_table;
  acls->create_acl_entry = create_entry;
  acls->remove_acl_entry = remove_entry;
  acls->set_acl_entry_attribute = set_entry;
  acls->get_acl_entry_attribute = get_entry;
  *out = api == SAI_API_SWITCH   ? static_cast<void*>(switches)
         : api == SAI_API_PORT   ? static_cast<void*>(ports)
         : api == SAI_API_HOSTIF ? static_cast<void*>(hostifs)
         : api == SAI_API_ACL    ? static_cast<void*>(acls)
                                 : static_cast<void*>(maps);
  return SAI_STATUS_SUCCESS;
}

sai_status_t sai_query_attribute_capability(sai_object_id_t, sai_object_type_t type,
                                            sai_attr_id_t id, sai_attr_capability_t* out) {
  called();
  if (chip->no_capabilities) return status(SAI_STATUS_NOT_IMPLEMENTED);
  const bool rewriting = type == SAI_OBJECT_TYPE_PORT && map_index(id) == 1;
  const bool pfc = type == SAI_OBJECT_TYPE_PORT && (id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL ||
                                                    id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX);
  const bool acl = type == SAI_OBJECT_TYPE_ACL_ENTRY || type == SAI_OBJECT_TYPE_SWITCH;
  const bool of_the_other_mode = (id == SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL) == chip->separate_pfc;
  const bool can = !(rewriting && chip->no_rewriting) &&
                   !(pfc && (chip->no_pfc || of_the_other_mode)) && !(acl && chip->no_acl);
  // Ports and the switch are there; an entry is made with all that it has.
  const bool made = type == SAI_OBJECT_TYPE_ACL_ENTRY;
  *out = {
      .create_implemented = can && made, .set_implemented = can && !made, .get_implemented = can};
  return SAI_STATUS_SUCCESS;
}

sai_status_t sai_get_object_key(sai_object_id_t, sai_object_type_t type, uint32_t* count,
                                sai_object_key_t* list) {
  if (const Status refused = reading(); refused != SAI_STATUS_SUCCESS) return refused;
  uint32_t n = 0;
  for (const Object& o : chip->objects)
    if (o.type == static_cast<int>(type)) ++n;
  const bool fits = *count >= n;
  *count = n;
  if (!fits) return status(SAI_STATUS_BUFFER_OVERFLOW);
  n = 0;
  for (const Object& o : chip->objects)
    if (o.type == static_cast<int>(type)) list[n++].key.object_id = o.oid;
  return SAI_STATUS_SUCCESS;
}
}
