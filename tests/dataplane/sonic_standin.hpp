// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/sonic/buffers.hpp"
#include "dataplane/sonic/maps.hpp"
#include "tests/dataplane/sonic_server.hpp"

/// SONiC's buffer manager and orchagent as far as QoS goes. Each is told of keys by Redis, reads
/// rows when it runs and not when they were written, and runs when the test says so.
namespace lldp::dataplane {

/// What is waiting for a consumer, as Consumer::addToSync() has it: a deletion, then a row; what is
/// written to a row that waits is added to it, and fields that went meanwhile stay.
struct ToSync {
  bool deleted = false;
  std::optional<sonic::Row> row{};
};
using ToSyncs = std::map<std::string, ToSync>;

/// Follows one database.
class Follower {
 public:
  Follower(Server& server, int database) : server_(server), events_(server.socket(), database) {
    all();
  }
  /// As after a start: every key that is there.
  void all() {
    for (const std::string& key : server_.keys(kConfig, "*|*")) note(key, "hset");
  }
  [[nodiscard]] ToSyncs& take() {
    if (!events_.connected()) {
      events_.connect();
      all();
    }
    for (const auto& [key, operation] : events_.take()) note(key, operation);
    return waiting_;
  }

 private:
  void note(const std::string& key, const std::string& operation) {
    if (operation == "del") {
      waiting_[key] = {.deleted = true};
      return;
    }
    sonic::Row row = server_.row(kConfig, key);
    if (row.empty()) return;  // gone meanwhile: its deletion is told
    ToSync& at = waiting_[key];
    if (at.row)
      for (auto& [field, value] : row) (*at.row)[field] = value;
    else
      at.row = std::move(row);
  }
  Server& server_;
  KeyEvents events_;
  ToSyncs waiting_{};
};

/// cfgmgr/buffermgr.cpp, the static model. Where LLDP_BUFFERMGRD names SONiC's own program, that
/// one runs in its place: it reads /run/redis/sonic-db, so in a mount namespace of its own.
class BufferManager {
 public:
  explicit BufferManager(Server& server) : server_(server), follower_(server, kConfig) {
    if (const char* program = std::getenv("LLDP_BUFFERMGRD")) own_.emplace(program, server);
  }
  static constexpr const char* kProfile = "pg_lossless_100000_5m_profile";

  void run() {
    if (own_) return own_->settle();
    for (auto& [key, what] : std::exchange(follower_.take(), {})) {
      if (key.starts_with("PORT_QOS_MAP|") && what.row && what.row->contains("pfc_enable"))
        see(key.substr(13), what.row->at("pfc_enable"));
      if (key.starts_with("PORT|") && what.row) ports_.insert(key.substr(5));
    }
    // A port's own row is tried again until there is a pool.
    std::erase_if(ports_, [&](const std::string& port) {
      const auto pfc = pfc_.find(port);
      return pfc == pfc_.end() || make(port, pfc->second);
    });
  }

 private:
  class Own {
   public:
    Own(const char* program, const Server& server) : program_(program), server_(server) {
      std::ofstream(lookup()) << "100000 5m 73552 18432 55120 0\n";
      start();
      settle();
    }
    ~Own() {
      if (pid_ <= 0) return;
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
    /// It has no end that could be waited for. One that ended, as it does when Redis goes, is
    /// started anew, as supervisor does.
    void settle() {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) start();
    }

   private:
    [[nodiscard]] std::string lookup() const { return server_.path("pg_profile_lookup.ini"); }
    void start() {
      nlohmann::json databases;
      for (const auto& [name, id] : std::map<std::string, int>{{"APPL_DB", 0},
                                                               {"ASIC_DB", kAsic},
                                                               {"COUNTERS_DB", kCounters},
                                                               {"LOGLEVEL_DB", 3},
                                                               {"CONFIG_DB", kConfig},
                                                               {"FLEX_COUNTER_DB", 5},
                                                               {"STATE_DB", kState},
                                                               {"APPL_STATE_DB", 14}})
        databases[name] = {{"id", id},
                           {"separator", id == kConfig || id == kState ? "|" : ":"},
                           {"instance", "redis"}};
      std::filesystem::create_directories("/run/redis/sonic-db");
      std::ofstream("/run/redis/sonic-db/database_config.json") << nlohmann::json{
          {"INSTANCES",
           {{"redis",
             {{"unix_socket_path", server_.socket()}, {"hostname", "127.0.0.1"}, {"port", 6379}}}}},
          {"DATABASES", databases},
          {"VERSION", "1.0"}};
      const std::string table = lookup();
      const char* words[] = {program_.c_str(), "-l", table.c_str(), nullptr};
      if (::posix_spawn(&pid_, words[0], nullptr, nullptr, const_cast<char**>(words), environ) != 0)
        pid_ = 0;
    }
    std::string program_;
    const Server& server_;
    pid_t pid_ = 0;
  };
  void see(const std::string& port, const std::string& pfc) {
    const auto [at, fresh] = pfc_.try_emplace(port, pfc);
    if (!fresh && std::exchange(at->second, pfc) == pfc) return;
    (void)make(port, pfc);  // what comes of it is not looked at
  }
  /// False: there is no pool.
  bool make(const std::string& port, const std::string& pfc) {
    const std::string profile = std::string("BUFFER_PROFILE|") + kProfile;
    if (server_.row(kConfig, profile).empty()) {
      if (server_.row(kConfig, "BUFFER_POOL|ingress_lossless_pool").empty()) return false;
      server_.ask(kConfig, {"HSET", profile, "pool", "ingress_lossless_pool", "xon", "18432",
                            "xoff", "55120", "size", "73552", "dynamic_th", "0"});
    }
    const unsigned mask = sonic::mask_of_list(pfc);
    for (unsigned p = 0; p < 8; ++p) {
      if ((mask >> p & 1U) == 0) continue;
      unsigned last = p;
      while (last < 7 && (mask >> (last + 1) & 1U) != 0) ++last;
      const std::string range =
          last == p ? std::to_string(p) : std::to_string(p) + "-" + std::to_string(last);
      server_.ask(kConfig, {"HSET", "BUFFER_PG|" + port + "|" + range, "profile", kProfile});
      p = last;
    }
    return true;
  }
  Server& server_;
  Follower follower_;
  std::map<std::string, std::string> pfc_{};
  std::set<std::string> ports_{};  ///< whose own rows wait
  std::optional<Own> own_{};
};

/// orchagent's QosOrch, BufferOrch and PfcWdSwOrch.
class Orchagent {
 public:
  explicit Orchagent(Server& server) : server_(server), follower_(server, kConfig) {}

  std::set<std::string> ignores{};  ///< tables that this release or ASIC does not take
  bool rewrites = true;             ///< SAI_PORT_ATTR_UPDATE_DSCP is true
  bool asymmetric = false;          ///< pfc_asym is on
  /// Everything is looked at again.
  void all() { follower_.all(); }
  /// Priorities that the watchdog of the port looks at.
  [[nodiscard]] unsigned watched(const std::string& port) const {
    const auto at = watched_.find(port);
    return at == watched_.end() ? 0U : at->second;
  }

  void run() {
    ToSyncs& waiting = follower_.take();
    // Maps and profiles first, the ports' rows after them, then what goes by these.
    for (const char* table :
         {"DSCP_TO_TC_MAP|", "TC_TO_DSCP_MAP|", "TC_TO_QUEUE_MAP|", "TC_TO_PRIORITY_GROUP_MAP|",
          "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|", "MAP_PFC_PRIORITY_TO_QUEUE|", "BUFFER_PROFILE|",
          "PORT_QOS_MAP|", "BUFFER_PG|", "BUFFER_QUEUE|", "PFC_WD|"})
      each(waiting, table);
    // A map that was in use when its row went.
    for (const std::string& key : std::set<std::string>(leaving_))
      if (!is_used(key)) remove_object(key);
    std::erase_if(waiting, [](const auto& entry) {
      const auto bar = entry.first.find('|');
      return !entry.first.starts_with("BUFFER_") &&
             entry.first.substr(0, bar).find("_MAP") == std::string::npos &&
             !entry.first.starts_with("MAP_PFC_");
    });
  }

 private:
  struct Kind {
    const char *field, *table, *attribute, *key, *value;
  };
  static constexpr Kind kKinds[] = {
      {"dscp_to_tc_map", "DSCP_TO_TC_MAP", "DSCP_TO_TC_MAP", "dscp", "tc"},
      {"tc_to_dscp_map", "TC_TO_DSCP_MAP", "TC_AND_COLOR_TO_DSCP_MAP", "tc", "dscp"},
      {"tc_to_queue_map", "TC_TO_QUEUE_MAP", "TC_TO_QUEUE_MAP", "tc", "qidx"},
      {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_PRIORITY_GROUP_MAP", "tc", "pg"},
      {"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
       "prio", "pg"},
      {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_QUEUE_MAP", "prio",
       "qidx"}};

  void each(ToSyncs& waiting, const std::string& table) {
    std::vector<std::string> keys;
    for (auto at = waiting.lower_bound(table); at != waiting.end() && at->first.starts_with(table);
         ++at)
      keys.push_back(at->first);
    // Rows of buffers come by APPL_DB, which keeps no deletion that a row of the same key follows.
    // All deletions of a portion reach the ASIC before its rows do.
    const bool by_appl_db = table.starts_with("BUFFER_");
    for (const std::string& key : keys) {
      ToSync& what = waiting.at(key);
      if (by_appl_db && what.row) what.deleted = false;
      if (by_appl_db && std::exchange(what.deleted, false)) gone(table, key);
    }
    for (const std::string& key : keys) {
      ToSync& what = waiting.at(key);
      if (std::exchange(what.deleted, false)) gone(table, key);
      if (what.row && !come(table, key, *what.row)) continue;  // need_retry
      waiting.erase(key);
    }
  }
  void gone(const std::string& table, const std::string& key) {
    if (table == "PORT_QOS_MAP|") return detach(key.substr(table.size()));
    if (table == "BUFFER_PG|" || table == "BUFFER_QUEUE|") {
      if (profiles_.erase(key) != 0) set_profile(table, key.substr(table.size()), "oid:0x0");
      return;
    }
    if (table == "PFC_WD|") {
      watched_.erase(key.substr(table.size()));
      return;
    }
    if (is_used(key))
      leaving_.insert(key);
    else
      remove_object(key);
  }
  /// False: it waits for something.
  bool come(const std::string& table, const std::string& key, const sonic::Row& row) {
    if (table == "PORT_QOS_MAP|") return attach(key.substr(table.size()), row);
    if (table == "PFC_WD|") {  // it adds to what was looked at before
      const std::string port = key.substr(table.size());
      watched_[port] |= pfcwd_[port];
      return true;
    }
    if (table == "BUFFER_PG|" || table == "BUFFER_QUEUE|") {
      const auto profile = row.find("profile");
      const auto object = profile == row.end() ? objects_.end()
                                               : objects_.find("BUFFER_PROFILE|" + profile->second);
      if (object == objects_.end() || leaving_.contains(object->first)) return false;
      if (std::exchange(profiles_[key], profile->second) != profile->second)  // else it is skipped
        set_profile(table, key.substr(table.size()), object->second);
      return true;
    }
    if (leaving_.contains(key)) return false;  // "pending remove"
    make_object(table, key, row);
    return true;
  }
  void make_object(const std::string& table, const std::string& key, const sonic::Row& row) {
    const auto [at, fresh] = objects_.try_emplace(key);
    if (fresh) at->second = "oid:0x14000000" + std::to_string(++made_ + 10'000);
    if (table == "BUFFER_PROFILE|") {
      const std::string object = "ASIC_STATE:SAI_OBJECT_TYPE_BUFFER_PROFILE:" + at->second;
      server_.ask(kAsic, {"HSET", object, "SAI_BUFFER_PROFILE_ATTR_POOL_ID", "oid:0x18"});
      if (row.contains("xoff"))
        server_.ask(kAsic, {"HSET", object, "SAI_BUFFER_PROFILE_ATTR_XOFF_TH", row.at("xoff")});
      if (row.contains("size"))
        server_.ask(kAsic, {"HSET", object, "SAI_BUFFER_PROFILE_ATTR_RESERVED_BUFFER_SIZE",
                            row.at("size")});
      return;
    }
    const auto kind = std::ranges::find_if(
        kKinds, [&](const Kind& k) { return table == std::string(k.table) + "|"; });
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [from, to] : row)
      list.push_back({{"key", {{kind->key, std::stoi(from)}, {"color", "SAI_PACKET_COLOR_GREEN"}}},
                      {"value", {{kind->value, std::stoi(to)}}}});
    server_.ask(kAsic, {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + at->second,
                        "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST",
                        nlohmann::json{{"count", list.size()}, {"list", list}}.dump()});
  }
  void remove_object(const std::string& key) {
    leaving_.erase(key);
    const auto at = objects_.find(key);
    if (at == objects_.end()) return;
    const bool profile = key.starts_with("BUFFER_PROFILE|");
    server_.ask(kAsic, {"DEL", std::string("ASIC_STATE:SAI_OBJECT_TYPE_") +
                                   (profile ? "BUFFER_PROFILE:" : "QOS_MAP:") + at->second});
    objects_.erase(at);
  }
  [[nodiscard]] bool is_used(const std::string& key) const {
    return std::ranges::any_of(
               profiles_, [&](const auto& row) { return key == "BUFFER_PROFILE|" + row.second; }) ||
           std::ranges::any_of(uses_, [&](const auto& port) {
             return std::ranges::any_of(port.second,
                                        [&](const auto& use) { return use.second == key; });
           });
  }
  std::string object_of(const std::string& port) {
    const std::string oid = server_.field(kCounters, "COUNTERS_PORT_NAME_MAP", port);
    return oid.empty() ? "" : "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid;
  }
  bool attach(const std::string& port, const sonic::Row& row) {
    const std::string object = object_of(port);
    if (object.empty()) return true;  // "Port is not found"
    std::map<std::string, std::string> uses;
    for (const Kind& k : kKinds) {
      if (!row.contains(k.field) || ignores.contains(k.table)) continue;
      std::string key = std::string(k.table) + "|" + row.at(k.field);
      if (!objects_.contains(key) || leaving_.contains(key)) return false;  // "not yet created"
      uses[k.field] = std::move(key);
    }
    for (const Kind& k : kKinds) {
      const auto use = uses.find(k.field);
      if (use == uses.end() && !uses_[port].contains(k.field)) continue;
      server_.ask(kAsic, {"HSET", object, std::string("SAI_PORT_ATTR_QOS_") + k.attribute,
                          use == uses.end() ? "oid:0x0" : objects_.at(use->second)});
    }
    uses_[port] = std::move(uses);
    if (rewrites) server_.ask(kAsic, {"HSET", object, "SAI_PORT_ATTR_UPDATE_DSCP", "true"});
    set_pfc(object, row.contains("pfc_enable") ? row.at("pfc_enable") : "");
    pfcwd_[port] =
        sonic::mask_of_list(row.contains("pfcwd_sw_enable") ? row.at("pfcwd_sw_enable") : "");
    return true;
  }
  void detach(const std::string& port) {
    const std::string object = object_of(port);
    if (object.empty()) return;
    for (const Kind& k : kKinds)
      if (uses_[port].contains(k.field))
        server_.ask(kAsic,
                    {"HSET", object, std::string("SAI_PORT_ATTR_QOS_") + k.attribute, "oid:0x0"});
    uses_.erase(port);
    set_pfc(object, "");
  }
  void set_pfc(const std::string& object, const std::string& priorities) {
    const std::string pfc = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL";
    const std::string mask = std::to_string(sonic::mask_of_list(priorities));
    if (asymmetric)
      server_.ask(kAsic,
                  {"HSET", object, pfc + "_MODE", "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE",
                   pfc + "_RX", "255", pfc + "_TX", mask});
    else
      server_.ask(kAsic, {"HSET", object, pfc, mask});
  }
  /// `where`: Ethernet0|3-4. A deletion takes the profile from the whole range, whatever other row
  /// has a part of it.
  void set_profile(const std::string& table, const std::string& where, const std::string& profile) {
    const bool group = table == "BUFFER_PG|";
    const auto bar = where.find('|');
    const unsigned mask = sonic::mask_of_range(where.substr(bar + 1));
    const char* names = group ? "COUNTERS_PG_NAME_MAP" : "COUNTERS_QUEUE_NAME_MAP";
    for (unsigned n = 0; n < 8; ++n) {
      if ((mask >> n & 1U) == 0) continue;
      const std::string oid =
          server_.field(kCounters, names, where.substr(0, bar) + ":" + std::to_string(n));
      if (oid.empty()) continue;
      server_.ask(kAsic, {"HSET",
                          std::string("ASIC_STATE:SAI_OBJECT_TYPE_") +
                              (group ? "INGRESS_PRIORITY_GROUP:" : "QUEUE:") + oid,
                          group ? "SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE"
                                : "SAI_QUEUE_ATTR_BUFFER_PROFILE_ID",
                          profile});
    }
  }

  Server& server_;
  Follower follower_;
  unsigned made_ = 0;
  std::map<std::string, std::string> objects_{};   ///< by the row's key
  std::set<std::string> leaving_{};                ///< rows that are gone while in use
  std::map<std::string, std::string> profiles_{};  ///< by the row of BUFFER_PG or BUFFER_QUEUE
  std::map<std::string, std::map<std::string, std::string>> uses_{};  ///< by port and field
  std::map<std::string, unsigned> pfcwd_{};
  std::map<std::string, unsigned> watched_{};
};

}  // namespace lldp::dataplane
