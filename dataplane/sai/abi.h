// SPDX-License-Identifier: Apache-2.0
#pragma once

/* What the helper uses of the Switch Abstraction Interface, as the published interface of release
   1.18 has it, for a build without the SAI project's own headers (-DLLDP_LEVEL_SAI_HEADERS). Sizes,
   members and numbers are those of the C ABI; tests/dataplane/sai_abi.cpp holds them against the
   real headers. Of tables of functions only what stands before the last one used is here. */

#include <stdbool.h>
#include <stdint.h>

#define SAI_API_VERSION 11800

typedef int32_t sai_status_t;
typedef uint32_t sai_attr_id_t;
typedef uint64_t sai_object_id_t;
typedef uint64_t sai_api_version_t;
typedef uint32_t sai_switch_profile_id_t;

#define SAI_NULL_OBJECT_ID 0L
#define SAI_HOSTIF_NAME_SIZE 16

#define SAI_STATUS_SUCCESS 0
#define SAI_STATUS_FAILURE (-0x1L)
#define SAI_STATUS_NOT_SUPPORTED (-0x2L)
#define SAI_STATUS_NO_MEMORY (-0x3L)
#define SAI_STATUS_INSUFFICIENT_RESOURCES (-0x4L)
#define SAI_STATUS_INVALID_PARAMETER (-0x5L)
#define SAI_STATUS_ITEM_NOT_FOUND (-0x7L)
#define SAI_STATUS_BUFFER_OVERFLOW (-0x8L)
#define SAI_STATUS_TABLE_FULL (-0xDL)
#define SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING (-0xEL)
#define SAI_STATUS_NOT_IMPLEMENTED (-0xFL)
#define SAI_STATUS_OBJECT_IN_USE (-0x11L)
#define SAI_STATUS_INVALID_OBJECT_TYPE (-0x12L)
#define SAI_STATUS_INVALID_OBJECT_ID (-0x13L)
#define SAI_STATUS_ATTR_NOT_IMPLEMENTED_0 (-0x30000L)
#define SAI_STATUS_ATTR_NOT_SUPPORTED_0 (-0x50000L)

typedef enum _sai_api_t {
  SAI_API_SWITCH = 1,
  SAI_API_PORT = 2,
  SAI_API_ACL = 11,
  SAI_API_HOSTIF = 12,
  SAI_API_QOS_MAP = 19
} sai_api_t;

typedef enum _sai_object_type_t {
  SAI_OBJECT_TYPE_NULL = 0,
  SAI_OBJECT_TYPE_PORT = 1,
  SAI_OBJECT_TYPE_ACL_TABLE = 7,
  SAI_OBJECT_TYPE_ACL_ENTRY = 8,
  SAI_OBJECT_TYPE_HOSTIF = 13,
  SAI_OBJECT_TYPE_QOS_MAP = 20,
  SAI_OBJECT_TYPE_SWITCH = 33
} sai_object_type_t;

enum {
  SAI_SWITCH_ATTR_INGRESS_ACL = 42,
  SAI_SWITCH_ATTR_QOS_MAX_NUMBER_OF_TRAFFIC_CLASSES = 44,
  SAI_SWITCH_ATTR_INIT_SWITCH = 116
};
enum {
  SAI_PORT_ATTR_UPDATE_DSCP = 53,
  SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP = 74,
  SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP = 76,
  SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP = 78,
  SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP = 79,
  SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE = 85,
  SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL = 86,
  SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_RX = 87,
  SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX = 88
};
enum {
  SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_COMBINED = 0,
  SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE = 1
};
enum { SAI_HOSTIF_ATTR_TYPE = 0, SAI_HOSTIF_ATTR_OBJ_ID = 1, SAI_HOSTIF_ATTR_NAME = 2 };
enum { SAI_HOSTIF_TYPE_NETDEV = 0 };
enum { SAI_QOS_MAP_ATTR_TYPE = 0, SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST = 1 };
enum {
  SAI_QOS_MAP_TYPE_DSCP_TO_TC = 2,
  SAI_QOS_MAP_TYPE_TC_TO_QUEUE = 4,
  SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP = 5,
  SAI_QOS_MAP_TYPE_TC_TO_PRIORITY_GROUP = 7
};
enum {
  SAI_ACL_TABLE_ATTR_ACL_STAGE = 0,
  SAI_ACL_TABLE_ATTR_ACL_BIND_POINT_TYPE_LIST = 1,
  SAI_ACL_TABLE_ATTR_ACL_ACTION_TYPE_LIST = 3,
  SAI_ACL_TABLE_ATTR_FIELD_IN_PORTS = 4106,
  SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS = 4107,
  SAI_ACL_TABLE_ATTR_FIELD_DSCP = 4126
};
enum {
  SAI_ACL_ENTRY_ATTR_TABLE_ID = 0,
  SAI_ACL_ENTRY_ATTR_PRIORITY = 1,
  SAI_ACL_ENTRY_ATTR_ADMIN_STATE = 2,
  SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS = 4106,
  SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS = 4107,
  SAI_ACL_ENTRY_ATTR_FIELD_DSCP = 4126,
  SAI_ACL_ENTRY_ATTR_ACTION_SET_TC = 8202,
  SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP = 8214
};
enum { SAI_ACL_ACTION_TYPE_SET_TC = 10, SAI_ACL_ACTION_TYPE_SET_DSCP = 22 };
enum { SAI_ACL_STAGE_INGRESS = 0 };
enum { SAI_ACL_BIND_POINT_TYPE_SWITCH = 4 };
typedef enum _sai_packet_color_t {
  SAI_PACKET_COLOR_GREEN,
  SAI_PACKET_COLOR_YELLOW,
  SAI_PACKET_COLOR_RED
} sai_packet_color_t;

typedef struct _sai_object_list_t {
  uint32_t count;
  sai_object_id_t* list;
} sai_object_list_t;
typedef struct _sai_s32_list_t {
  uint32_t count;
  int32_t* list;
} sai_s32_list_t;
typedef struct _sai_qos_map_params_t {
  uint8_t tc;
  uint8_t dscp;
  uint8_t dot1p;
  uint8_t prio;
  uint8_t pg;
  uint8_t queue_index;
  sai_packet_color_t color;
  uint8_t mpls_exp;
  uint8_t fc;
  uint8_t dei;
  uint8_t vc;
} sai_qos_map_params_t;
typedef struct _sai_qos_map_t {
  sai_qos_map_params_t key;
  sai_qos_map_params_t value;
} sai_qos_map_t;
typedef struct _sai_qos_map_list_t {
  uint32_t count;
  sai_qos_map_t* list;
} sai_qos_map_list_t;
typedef struct _sai_acl_field_data_t {
  bool enable;
  union {
    uint8_t u8;
    uint64_t u64;
    uint64_t room[2];
  } mask;
  union {
    uint8_t u8;
    uint64_t u64;
    sai_object_list_t objlist;
  } data;
} sai_acl_field_data_t;
typedef struct _sai_acl_action_data_t {
  bool enable;
  union {
    uint8_t u8;
    sai_object_id_t oid;
    uint64_t room[3];
  } parameter;
} sai_acl_action_data_t;
typedef union _sai_attribute_value_t {
  bool booldata;
  char chardata[32];
  uint8_t u8;
  uint32_t u32;
  int32_t s32;
  sai_object_id_t oid;
  sai_object_list_t objlist;
  sai_s32_list_t s32list;
  sai_qos_map_list_t qosmap;
  sai_acl_field_data_t aclfield;
  sai_acl_action_data_t aclaction;
} sai_attribute_value_t;
typedef struct _sai_attribute_t {
  sai_attr_id_t id;
  sai_attribute_value_t value;
} sai_attribute_t;
typedef union _sai_object_key_entry_t {
  sai_object_id_t object_id;
  uint64_t room[8];
} sai_object_key_entry_t;
typedef struct _sai_object_key_t {
  sai_object_key_entry_t key;
} sai_object_key_t;
typedef struct _sai_attr_capability_t {
  bool create_implemented;
  bool set_implemented;
  bool get_implemented;
} sai_attr_capability_t;

typedef sai_status_t (*sai_create_switch_fn)(sai_object_id_t*, uint32_t, const sai_attribute_t*);
typedef sai_status_t (*sai_create_object_fn)(sai_object_id_t*, sai_object_id_t, uint32_t,
                                             const sai_attribute_t*);
typedef sai_status_t (*sai_remove_object_fn)(sai_object_id_t);
typedef sai_status_t (*sai_set_attribute_fn)(sai_object_id_t, const sai_attribute_t*);
typedef sai_status_t (*sai_get_attribute_fn)(sai_object_id_t, uint32_t, sai_attribute_t*);

typedef struct _sai_switch_api_t {
  sai_create_switch_fn create_switch;
  sai_remove_object_fn remove_switch;
  sai_set_attribute_fn set_switch_attribute;
  sai_get_attribute_fn get_switch_attribute;
} sai_switch_api_t;
typedef struct _sai_port_api_t {
  sai_create_object_fn create_port;
  sai_remove_object_fn remove_port;
  sai_set_attribute_fn set_port_attribute;
  sai_get_attribute_fn get_port_attribute;
} sai_port_api_t;
typedef struct _sai_hostif_api_t {
  sai_create_object_fn create_hostif;
  sai_remove_object_fn remove_hostif;
  sai_set_attribute_fn set_hostif_attribute;
  sai_get_attribute_fn get_hostif_attribute;
} sai_hostif_api_t;
typedef struct _sai_qos_map_api_t {
  sai_create_object_fn create_qos_map;
  sai_remove_object_fn remove_qos_map;
  sai_set_attribute_fn set_qos_map_attribute;
  sai_get_attribute_fn get_qos_map_attribute;
} sai_qos_map_api_t;
typedef struct _sai_acl_api_t {
  sai_create_object_fn create_acl_table;
  sai_remove_object_fn remove_acl_table;
  sai_set_attribute_fn set_acl_table_attribute;
  sai_get_attribute_fn get_acl_table_attribute;
  sai_create_object_fn create_acl_entry;
  sai_remove_object_fn remove_acl_entry;
  sai_set_attribute_fn set_acl_entry_attribute;
  sai_get_attribute_fn get_acl_entry_attribute;
} sai_acl_api_t;

typedef const char* (*sai_profile_get_value_fn)(sai_switch_profile_id_t, const char*);
typedef int (*sai_profile_get_next_value_fn)(sai_switch_profile_id_t, const char**, const char**);
typedef struct _sai_service_method_table_t {
  sai_profile_get_value_fn profile_get_value;
  sai_profile_get_next_value_fn profile_get_next_value;
} sai_service_method_table_t;

sai_status_t sai_api_initialize(uint64_t flags, const sai_service_method_table_t* services);
sai_status_t sai_api_query(sai_api_t api, void** table);
sai_status_t sai_query_api_version(sai_api_version_t* version);
sai_status_t sai_query_attribute_capability(sai_object_id_t switch_id, sai_object_type_t type,
                                            sai_attr_id_t attribute,
                                            sai_attr_capability_t* capability);
sai_status_t sai_get_object_key(sai_object_id_t switch_id, sai_object_type_t type, uint32_t* count,
                                sai_object_key_t* list);
