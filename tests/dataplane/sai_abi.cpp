// SPDX-License-Identifier: Apache-2.0
// Prints the sizes, offsets and numbers of SAI's interface that the helper goes by: by our own
// declarations, or by the SAI project's headers.
#include <cstddef>
#include <cstdio>

#include "dataplane/sai/api.hpp"

#define SAY(x) std::printf("%s = %lld\n", #x, static_cast<long long>(x))

int main() {
  SAY(SAI_API_VERSION);
  SAY(SAI_API_SWITCH);
  SAY(SAI_API_PORT);
  SAY(SAI_API_ACL);
  SAY(SAI_API_HOSTIF);
  SAY(SAI_API_QOS_MAP);
  SAY(SAI_HOSTIF_NAME_SIZE);
  SAY(SAI_STATUS_SUCCESS);
  SAY(SAI_STATUS_FAILURE);
  SAY(SAI_STATUS_NOT_SUPPORTED);
  SAY(SAI_STATUS_NO_MEMORY);
  SAY(SAI_STATUS_INSUFFICIENT_RESOURCES);
  SAY(SAI_STATUS_INVALID_PARAMETER);
  SAY(SAI_STATUS_ITEM_NOT_FOUND);
  SAY(SAI_STATUS_BUFFER_OVERFLOW);
  SAY(SAI_STATUS_TABLE_FULL);
  SAY(SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING);
  SAY(SAI_STATUS_NOT_IMPLEMENTED);
  SAY(SAI_STATUS_OBJECT_IN_USE);
  SAY(SAI_STATUS_INVALID_OBJECT_TYPE);
  SAY(SAI_STATUS_INVALID_OBJECT_ID);
  SAY(SAI_STATUS_ATTR_NOT_IMPLEMENTED_0);
  SAY(SAI_STATUS_ATTR_NOT_SUPPORTED_0);
  SAY(SAI_OBJECT_TYPE_PORT);
  SAY(SAI_OBJECT_TYPE_ACL_TABLE);
  SAY(SAI_OBJECT_TYPE_ACL_ENTRY);
  SAY(SAI_OBJECT_TYPE_HOSTIF);
  SAY(SAI_OBJECT_TYPE_QOS_MAP);
  SAY(SAI_OBJECT_TYPE_SWITCH);
  SAY(SAI_SWITCH_ATTR_INGRESS_ACL);
  SAY(SAI_SWITCH_ATTR_QOS_MAX_NUMBER_OF_TRAFFIC_CLASSES);
  SAY(SAI_SWITCH_ATTR_INIT_SWITCH);
  SAY(SAI_PORT_ATTR_UPDATE_DSCP);
  SAY(SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP);
  SAY(SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP);
  SAY(SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP);
  SAY(SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP);
  SAY(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE);
  SAY(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL);
  SAY(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_RX);
  SAY(SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX);
  SAY(SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE);
  SAY(SAI_HOSTIF_ATTR_TYPE);
  SAY(SAI_HOSTIF_ATTR_OBJ_ID);
  SAY(SAI_HOSTIF_ATTR_NAME);
  SAY(SAI_HOSTIF_TYPE_NETDEV);
  SAY(SAI_QOS_MAP_ATTR_TYPE);
  SAY(SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST);
  SAY(SAI_QOS_MAP_TYPE_DSCP_TO_TC);
  SAY(SAI_QOS_MAP_TYPE_TC_TO_QUEUE);
  SAY(SAI_QOS_MAP_TYPE_TC_AND_COLOR_TO_DSCP);
  SAY(SAI_QOS_MAP_TYPE_TC_TO_PRIORITY_GROUP);
  SAY(SAI_ACL_TABLE_ATTR_ACL_STAGE);
  SAY(SAI_ACL_TABLE_ATTR_ACL_BIND_POINT_TYPE_LIST);
  SAY(SAI_ACL_TABLE_ATTR_ACL_ACTION_TYPE_LIST);
  SAY(SAI_ACL_TABLE_ATTR_FIELD_IN_PORTS);
  SAY(SAI_ACL_TABLE_ATTR_FIELD_OUT_PORTS);
  SAY(SAI_ACL_TABLE_ATTR_FIELD_DSCP);
  SAY(SAI_ACL_ENTRY_ATTR_TABLE_ID);
  SAY(SAI_ACL_ENTRY_ATTR_PRIORITY);
  SAY(SAI_ACL_ENTRY_ATTR_ADMIN_STATE);
  SAY(SAI_ACL_ENTRY_ATTR_FIELD_IN_PORTS);
  SAY(SAI_ACL_ENTRY_ATTR_FIELD_OUT_PORTS);
  SAY(SAI_ACL_ENTRY_ATTR_FIELD_DSCP);
  SAY(SAI_ACL_ENTRY_ATTR_ACTION_SET_TC);
  SAY(SAI_ACL_ENTRY_ATTR_ACTION_SET_DSCP);
  SAY(SAI_ACL_ACTION_TYPE_SET_TC);
  SAY(SAI_ACL_ACTION_TYPE_SET_DSCP);
  SAY(SAI_ACL_STAGE_INGRESS);
  SAY(SAI_ACL_BIND_POINT_TYPE_SWITCH);
  SAY(SAI_PACKET_COLOR_GREEN);
  SAY(SAI_PACKET_COLOR_RED);
  SAY(sizeof(sai_status_t));
  SAY(sizeof(sai_attr_id_t));
  SAY(sizeof(sai_object_id_t));
  SAY(sizeof(sai_api_version_t));
  SAY(sizeof(sai_attribute_t));
  SAY(offsetof(sai_attribute_t, value));
  SAY(sizeof(sai_object_list_t));
  SAY(sizeof(sai_s32_list_t));
  SAY(sizeof(sai_object_key_t));
  SAY(sizeof(sai_attr_capability_t));
  SAY(offsetof(sai_attr_capability_t, create_implemented));
  SAY(offsetof(sai_attr_capability_t, set_implemented));
  SAY(sizeof(sai_qos_map_params_t));
  SAY(offsetof(sai_qos_map_params_t, tc));
  SAY(offsetof(sai_qos_map_params_t, dscp));
  SAY(offsetof(sai_qos_map_params_t, pg));
  SAY(offsetof(sai_qos_map_params_t, queue_index));
  SAY(offsetof(sai_qos_map_params_t, color));
  SAY(sizeof(sai_qos_map_t));
  SAY(sizeof(sai_qos_map_list_t));
  SAY(sizeof(sai_acl_field_data_t));
  SAY(offsetof(sai_acl_field_data_t, mask));
  SAY(offsetof(sai_acl_field_data_t, data));
  SAY(sizeof(sai_acl_action_data_t));
  SAY(offsetof(sai_acl_action_data_t, parameter));
  SAY(offsetof(sai_service_method_table_t, profile_get_next_value));
  SAY(offsetof(sai_switch_api_t, create_switch));
  SAY(offsetof(sai_switch_api_t, set_switch_attribute));
  SAY(offsetof(sai_switch_api_t, get_switch_attribute));
  SAY(offsetof(sai_port_api_t, set_port_attribute));
  SAY(offsetof(sai_port_api_t, get_port_attribute));
  SAY(offsetof(sai_hostif_api_t, get_hostif_attribute));
  SAY(offsetof(sai_qos_map_api_t, create_qos_map));
  SAY(offsetof(sai_qos_map_api_t, remove_qos_map));
  SAY(offsetof(sai_qos_map_api_t, get_qos_map_attribute));
  SAY(offsetof(sai_acl_api_t, create_acl_table));
  SAY(offsetof(sai_acl_api_t, remove_acl_table));
  SAY(offsetof(sai_acl_api_t, get_acl_table_attribute));
  SAY(offsetof(sai_acl_api_t, create_acl_entry));
  SAY(offsetof(sai_acl_api_t, remove_acl_entry));
  SAY(offsetof(sai_acl_api_t, set_acl_entry_attribute));
  SAY(offsetof(sai_acl_api_t, get_acl_entry_attribute));
}
