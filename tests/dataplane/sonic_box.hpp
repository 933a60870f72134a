// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hiredis/hiredis.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "dataplane/factory.hpp"
#include "dataplane/sonic/maps.hpp"

extern char** environ;

/// A SONiC box as the sonic back end sees one: a Redis server of one's own with SONiC's layout of
/// databases, and an orchagent of a few lines that makes SAI objects of what CONFIG_DB says.
namespace lldp::dataplane {

inline constexpr int kAsic = 1;
inline constexpr int kCounters = 2;
inline constexpr int kConfig = 4;

/// A Redis server in a directory of its own.
class Server {
 public:
  /// `port`: it listens there too, on loopback.
  explicit Server(int port = 0) : port_(port) {
    std::string path = std::filesystem::temp_directory_path() / "lldp-redis-XXXXXX";
    directory_ = ::mkdtemp(path.data());
    start();
  }
  ~Server() {
    stop();
    std::filesystem::remove_all(directory_);
  }
  [[nodiscard]] bool runs() const { return context_ != nullptr; }
  [[nodiscard]] std::string socket() const { return directory_ + "/redis.sock"; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void start() {
    const std::string socket_path = socket();
    const std::string log = path("log");
    const std::string port = std::to_string(port_);
    const char* words[] = {"redis-server",
                           "--port",
                           port.c_str(),
                           "--bind",
                           "127.0.0.1",
                           "--unixsocket",
                           socket_path.c_str(),
                           "--dir",
                           directory_.c_str(),
                           "--appendonly",
                           "yes",
                           "--save",
                           "",
                           "--logfile",
                           log.c_str(),
                           "--loglevel",
                           "warning",
                           nullptr};
    if (::posix_spawnp(&pid_, words[0], nullptr, nullptr, const_cast<char**>(words), environ) !=
        0) {
      pid_ = 0;
      return;
    }
    for (int i = 0; i < 500 && context_ == nullptr; ++i) {
      context_.reset(::redisConnectUnix(socket_path.c_str()));
      if (context_->err != 0) context_ = nullptr;
      if (context_ == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void stop() {
    context_ = nullptr;
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void pause(bool paused) const { ::kill(pid_, paused ? SIGSTOP : SIGCONT); }

  /// The reply as words, one after the other.
  std::vector<std::string> ask(int database, const std::vector<std::string>& words) {
    raw({"SELECT", std::to_string(database)});
    return raw(words);
  }
  sonic::Row row(int database, const std::string& key) {
    const auto words = ask(database, {"HGETALL", key});
    sonic::Row row;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) row[words[i]] = words[i + 1];
    return row;
  }
  std::vector<std::string> keys(int database, const std::string& pattern) {
    auto found = ask(database, {"KEYS", pattern});
    std::ranges::sort(found);
    return found;
  }
  /// Commands that wrote, so far.
  std::size_t writes() {
    std::size_t n = 0;
    for (const std::string& line : raw({"INFO", "commandstats"}))
      for (const char* write : {"cmdstat_hset:calls=", "cmdstat_hdel:calls=", "cmdstat_del:calls="})
        if (const auto at = line.find(write); at != line.npos)
          n += std::stoul(line.substr(at + std::string(write).size()));
    return n;
  }

 private:
  struct Free {
    void operator()(redisContext* c) const { ::redisFree(c); }
    void operator()(redisReply* r) const { ::freeReplyObject(r); }
  };
  std::vector<std::string> raw(const std::vector<std::string>& words) {
    std::vector<const char*> at;
    std::vector<std::size_t> sizes;
    for (const std::string& w : words) {
      at.push_back(w.data());
      sizes.push_back(w.size());
    }
    const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(
        ::redisCommandArgv(context_.get(), static_cast<int>(at.size()), at.data(), sizes.data())));
    std::vector<std::string> out;
    const auto take = [&](const redisReply* r) {
      out.emplace_back(r->str != nullptr ? std::string(r->str, static_cast<std::size_t>(r->len))
                                         : "");
    };
    if (!reply) return out;
    if (reply->type != REDIS_REPLY_ARRAY) take(reply.get());
    for (std::size_t i = 0; i < reply->elements; ++i) take(reply->element[i]);
    return out;
  }
  int port_;
  std::string directory_;
  pid_t pid_ = 0;
  std::unique_ptr<redisContext, Free> context_;
};

/// A SONiC box of some ports, as its image comes: everybody has the maps AZURE.
class Box : public Server {
 public:
  explicit Box(int ports = 4, int tcp_port = 0) : Server(tcp_port) {
    if (!runs()) return;
    std::ofstream(path("database_config.json")) << nlohmann::json{
        {"INSTANCES",
         {{"redis", {{"unix_socket_path", socket()}, {"hostname", "127.0.0.1"}, {"port", 6379}}}}},
        {"DATABASES",
         {{"CONFIG_DB", {{"id", kConfig}, {"separator", "|"}, {"instance", "redis"}}},
          {"ASIC_DB", {{"id", kAsic}, {"separator", ":"}, {"instance", "redis"}}},
          {"COUNTERS_DB", {{"id", kCounters}, {"separator", ":"}, {"instance", "redis"}}}}}};
    std::vector<std::string> dscps{"HSET", "DSCP_TO_TC_MAP|AZURE"};
    for (int d = 0; d < 64; ++d)
      dscps.insert(dscps.end(), {std::to_string(d), d == 8    ? "0"
                                                    : d == 46 ? "5"
                                                    : d == 48 ? "6"
                                                    : d == 3  ? "3"
                                                    : d == 4  ? "4"
                                                              : "1"});
    ask(kConfig, dscps);
    std::vector<std::string> queues{"HSET", "TC_TO_QUEUE_MAP|AZURE"};
    for (int tc = 0; tc < 8; ++tc)
      queues.insert(queues.end(), {std::to_string(tc), std::to_string(tc)});
    ask(kConfig, queues);
    for (int i = 0; i < ports; ++i) {
      const std::string name = name_of(i);
      ask(kConfig,
          {"HSET", "PORT|" + name, "alias", "etp" + std::to_string(i + 1), "lanes", "1,2,3,4"});
      ask(kConfig, {"HSET", "PORT_QOS_MAP|" + name, "dscp_to_tc_map", "AZURE", "tc_to_queue_map",
                    "AZURE", "pfc_enable", "3,4", "pfc_to_queue_map", "AZURE"});
      const std::string oid = "oid:0x10000000000" + std::to_string(100 + i);
      ask(kCounters, {"HSET", "COUNTERS_PORT_NAME_MAP", name, oid});
      counters("QUEUE", "oid:0x15000000000", i, oid, kQueues);
      counters("PG", "oid:0x1a000000000", i, oid, 8);
      ask(kAsic,
          {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid, "SAI_PORT_ATTR_SPEED", "100000"});
    }
  }
  static std::string name_of(int i) { return "Ethernet" + std::to_string(4 * i); }
  SonicOptions options() const { return {.config = path("database_config.json")}; }

  /// The object of a queue (QUEUE) or priority group (PG) of a port.
  std::string object_of(const std::string& kind, int port, int number) {
    return row(kCounters, "COUNTERS_" + kind + "_NAME_MAP")
        .at(name_of(port) + ":" + std::to_string(number));
  }

  /// Makes the ASIC as CONFIG_DB says, but for the tables it does not know.
  void orchagent(const std::set<std::string>& ignores = {}) {
    struct Kind {
      const char *field, *table, *attribute, *key, *value;
    };
    for (const Kind& k :
         {Kind{"dscp_to_tc_map", "DSCP_TO_TC_MAP", "DSCP_TO_TC_MAP", "dscp", "tc"},
          Kind{"tc_to_dscp_map", "TC_TO_DSCP_MAP", "TC_AND_COLOR_TO_DSCP_MAP", "tc", "dscp"},
          Kind{"tc_to_queue_map", "TC_TO_QUEUE_MAP", "TC_TO_QUEUE_MAP", "tc", "qidx"},
          Kind{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_PRIORITY_GROUP_MAP", "tc",
               "pg"}}) {
      if (ignores.contains(k.table)) continue;
      for (const auto& [port, oid] : row(kCounters, "COUNTERS_PORT_NAME_MAP")) {
        const sonic::Row maps = row(kConfig, "PORT_QOS_MAP|" + port);
        const std::string object = "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid;
        const std::string attribute = std::string("SAI_PORT_ATTR_QOS_") + k.attribute;
        const auto mask = [&] {
          unsigned bits = 0;
          for (char c : maps.contains("pfc_enable") ? maps.at("pfc_enable") : "")
            if (c != ',') bits |= 1U << (c - '0');
          return std::to_string(bits);
        };
        ask(kAsic, {"HSET", object, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", mask()});
        if (!maps.contains(k.field)) {
          ask(kAsic, {"HSET", object, attribute, "oid:0x0"});
          continue;
        }
        nlohmann::json list = nlohmann::json::array();
        for (const auto& [key, value] : row(kConfig, std::string(k.table) + "|" + maps.at(k.field)))
          list.push_back({{"key", {{k.key, std::stoi(key)}, {"color", "SAI_PACKET_COLOR_GREEN"}}},
                          {"value", {{k.value, std::stoi(value)}}}});
        const std::string map =
            "oid:0x14" + std::to_string(std::hash<std::string>()(k.table + maps.at(k.field)));
        ask(kAsic, {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + map,
                    "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST",
                    nlohmann::json{{"count", list.size()}, {"list", list}}.dump()});
        ask(kAsic, {"HSET", object, attribute, map});
      }
    }
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
};

}  // namespace lldp::dataplane
