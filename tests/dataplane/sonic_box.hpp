// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataplane/factory.hpp"
#include "dataplane/sonic/memory.hpp"
#include "tests/dataplane/sonic_server.hpp"
#include "tests/dataplane/sonic_standin.hpp"

/// A SONiC box as the sonic back end sees one: a Redis server of one's own with SONiC's layout of
/// databases, and a stand-in for the processes that make SAI objects of what CONFIG_DB says.
namespace lldp::dataplane {

/// A SONiC box of some ports, as its image comes: every port has the maps AZURE.
class Box : public Server {
 public:
  explicit Box(int ports = 4, int tcp_port = 0) : Server(tcp_port), ports_(ports) {
    if (!runs()) return;
    std::ofstream(path("database_config.json")) << nlohmann::json{
        {"INSTANCES",
         {{"redis", {{"unix_socket_path", socket()}, {"hostname", "127.0.0.1"}, {"port", 6379}}}}},
        {"DATABASES",
         {{"CONFIG_DB", {{"id", kConfig}, {"separator", "|"}, {"instance", "redis"}}},
          {"ASIC_DB", {{"id", kAsic}, {"separator", ":"}, {"instance", "redis"}}},
          {"COUNTERS_DB", {{"id", kCounters}, {"separator", ":"}, {"instance", "redis"}}},
          {"STATE_DB", {{"id", kState}, {"separator", "|"}, {"instance", "redis"}}}}}};
    ask(kConfig, {"HSET", "VERSIONS|DATABASE", "VERSION", "version_202505_01"});
    for (int i = 0; i < ports; ++i) {
      const std::string name = name_of(i);
      ask(kConfig, {"HSET", "PORT|" + name, "alias", "etp" + std::to_string(i + 1), "lanes",
                    "1,2,3,4", "speed", "100000", "admin_status", "up"});
      const std::string oid = "oid:0x10000000000" + std::to_string(100 + i);
      ask(kCounters, {"HSET", "COUNTERS_PORT_NAME_MAP", name, oid});
      counters("QUEUE", "oid:0x15000000000", i, oid, kQueues);
      counters("PG", "oid:0x1a000000000", i, oid, 8);
      ask(kAsic,
          {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid, "SAI_PORT_ATTR_SPEED", "100000"});
    }
    load_buffers();
    load_qos();
    buffermgrd_.emplace(*this);
    swss_.emplace(*this);
    settle();
  }
  static std::string name_of(int i) { return "Ethernet" + std::to_string(4 * i); }
  SonicOptions options() const {
    return {.config = path("database_config.json"), .memory = path("notes")};
  }
  /// What is kept of the ports.
  sonic::Memory notes() const {
    std::ifstream file(path("notes"));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto notes = sonic::parse_memory(text);
    return notes ? *notes : sonic::Memory();
  }
  void set_notes(const sonic::Memory& notes) const {
    std::ofstream(path("notes")) << sonic::format(notes);
  }

  /// The object of a queue (QUEUE) or priority group (PG) of a port.
  std::string object_of(const std::string& kind, int port, int number) {
    return row(kCounters, "COUNTERS_" + kind + "_NAME_MAP")
        .at(name_of(port) + ":" + std::to_string(number));
  }

  [[nodiscard]] Orchagent& swss() { return *swss_; }
  [[nodiscard]] BufferManager& buffermgrd() { return *buffermgrd_; }
  /// swss is started anew: it has forgotten everything, and the ASIC too.
  void restart_swss() {
    const bool rewrites = swss_->rewrites;
    for (const char* kind : {"QOS_MAP", "BUFFER_PROFILE", "INGRESS_PRIORITY_GROUP", "QUEUE"})
      for (const std::string& key :
           keys(kAsic, std::string("ASIC_STATE:SAI_OBJECT_TYPE_") + kind + ":*"))
        ask(kAsic, {"DEL", key});
    for (const std::string& key : keys(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_PORT:*")) {
      ask(kAsic, {"DEL", key});
      ask(kAsic, {"HSET", key, "SAI_PORT_ATTR_SPEED", "100000"});
    }
    buffermgrd_.emplace(*this);
    swss_.emplace(*this);
    swss_->rewrites = rewrites;
  }
  /// Both processes do all that they were told of, and what that makes the other do.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      buffermgrd_->run();
      swss_->run();
    }
  }
  /// Makes the ASIC as CONFIG_DB says, but for the tables it does not know.
  void orchagent(const std::set<std::string>& ignores = {}) {
    swss_->ignores = ignores;
    swss_->all();
    settle();
  }
  /// What `config qos clear` deletes, table by table; TC_TO_DSCP_MAP stays.
  void clear_qos() {
    for (const char* table :
         {"PORT_QOS_MAP", "QUEUE", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_PRIORITY_GROUP",
          "TC_TO_QUEUE_MAP", "DSCP_TO_TC_MAP", "MPLS_TC_TO_TC_MAP", "SCHEDULER",
          "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "WRED_PROFILE", "CABLE_LENGTH", "BUFFER_PG",
          "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST",
          "BUFFER_PROFILE", "BUFFER_POOL"})
      for (const std::string& key : keys(kConfig, std::string(table) + "|*"))
        ask(kConfig, {"DEL", key});
  }
  /// What the template of the image writes: buffers first, then QoS.
  void load_buffers() {
    const auto set = [&](std::vector<std::string> words) {
      words.insert(words.begin(), "HSET");
      ask(kConfig, words);
    };
    std::vector<std::string> cables{"CABLE_LENGTH|AZURE"};
    for (int i = 0; i < ports_; ++i) cables.insert(cables.end(), {name_of(i), "5m"});
    set(cables);
    set({"BUFFER_POOL|ingress_lossless_pool", "type", "ingress", "mode", "dynamic", "size",
         "10875072"});
    set({"BUFFER_POOL|egress_lossless_pool", "type", "egress", "mode", "static", "size",
         "15982720"});
    set({"BUFFER_POOL|egress_lossy_pool", "type", "egress", "mode", "dynamic", "size", "9243812"});
    set({"BUFFER_PROFILE|ingress_lossy_profile", "pool", "ingress_lossless_pool", "size", "0",
         "dynamic_th", "3"});
    set({"BUFFER_PROFILE|egress_lossless_profile", "pool", "egress_lossless_pool", "size", "0",
         "static_th", "15982720"});
    set({"BUFFER_PROFILE|egress_lossy_profile", "pool", "egress_lossy_pool", "size", "1518",
         "dynamic_th", "3"});
    for (int i = 0; i < ports_; ++i) {
      set({"BUFFER_PG|" + name_of(i) + "|0", "profile", "ingress_lossy_profile"});
      set({"BUFFER_QUEUE|" + name_of(i) + "|0-1", "profile", "egress_lossy_profile"});
      // 3 and 4 are the image's; an operator has prepared the others.
      set({"BUFFER_QUEUE|" + name_of(i) + "|2-6", "profile", "egress_lossless_profile"});
    }
  }
  void load_qos() {
    load_maps();
    for (int i = 0; i < ports_; ++i) load_port_qos(i);
  }
  void load_maps() {
    std::vector<std::string> dscps{"HSET", "DSCP_TO_TC_MAP|AZURE"};
    for (int d = 0; d < 64; ++d)
      dscps.insert(dscps.end(), {std::to_string(d), d == 8    ? "0"
                                                    : d == 46 ? "5"
                                                    : d == 48 ? "6"
                                                    : d == 3  ? "3"
                                                    : d == 4  ? "4"
                                                              : "1"});
    ask(kConfig, dscps);
    for (const char* table : {"TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"}) {
      std::vector<std::string> row{"HSET", std::string(table) + "|AZURE"};
      for (int tc = 0; tc < 8; ++tc)
        row.insert(row.end(), {std::to_string(tc), std::to_string(tc)});
      ask(kConfig, row);
    }
  }
  void load_port_qos(int i) {
    ask(kConfig, {"HSET", "PORT_QOS_MAP|" + name_of(i), "dscp_to_tc_map", "AZURE",
                  "tc_to_queue_map", "AZURE", "pfc_enable", "3,4", "pfc_to_queue_map", "AZURE"});
  }

 private:
  static constexpr int kQueues = 20;  ///< as Broadcom's: the second half is for multicast
  /// What orchagent tells of a port's queues or priority groups, so that they are counted.
  void counters(const std::string& kind, const std::string& first, int port,
                const std::string& port_oid, int n) {
    const std::string table = "COUNTERS_" + kind + "_";
    for (int i = 0; i < n; ++i) {
      const std::string oid = first + std::to_string(1000 * (port + 1) + i);
      ask(kCounters, {"HSET", table + "NAME_MAP", name_of(port) + ":" + std::to_string(i), oid});
      ask(kCounters, {"HSET", table + "PORT_MAP", oid, port_oid});
      ask(kCounters, {"HSET", table + "INDEX_MAP", oid, std::to_string(i)});
      if (kind == "QUEUE")
        ask(kCounters, {"HSET", table + "TYPE_MAP", oid,
                        i < n / 2 ? "SAI_QUEUE_TYPE_UNICAST" : "SAI_QUEUE_TYPE_MULTICAST"});
    }
  }

  int ports_;
  std::optional<BufferManager> buffermgrd_{};
  std::optional<Orchagent> swss_{};
};

}  // namespace lldp::dataplane
