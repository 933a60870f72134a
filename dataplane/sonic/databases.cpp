// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/databases.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.hpp"
#include "os/file.hpp"

namespace lldp::dataplane::sonic {
namespace {

using nlohmann::json;

/// The member `name` if it is a string; else `otherwise`.
std::string text_or(const json& object, const char* name, const char* otherwise) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

/// SONiC's usual numbers of databases. A function, not a static object: an allocation that fails
/// before main() cannot be reported.
std::map<std::string, int> usual_databases() {
  return {{"CONFIG_DB", 4}, {"ASIC_DB", 1}, {"COUNTERS_DB", 2}, {"STATE_DB", 6}};
}
constexpr const char* kUsualSocket = "/run/redis/redis.sock";

}  // namespace

Result<Databases> find_databases(const std::string& file_name, const std::string& redis) {
  Databases found{.redis = kUsualSocket, .numbers = usual_databases()};
  const auto bad = [&](const std::string& why) {
    return fail(Error{0, file_name, why + ": name SONiC's database_config.json in sonic.config"});
  };
  if (const auto file = read_file(file_name)) {
    const json config = parse_json<json>(*file);
    if (!config.is_object()) return bad("is not JSON");
    std::set<std::string> instances;
    for (auto& [name, number] : found.numbers) {
      const json* at = config.contains("DATABASES") && config["DATABASES"].is_object() &&
                               config["DATABASES"].contains(name)
                           ? &config["DATABASES"][name]
                           : nullptr;
      if (at == nullptr || !at->is_object() || !at->contains("id") ||
          !(*at)["id"].is_number_integer())
        return bad("has no " + name);
      number = (*at)["id"].get<int>();
      instances.insert(text_or(*at, "instance", "redis"));
    }
    if (instances.size() != 1)
      return bad("has its databases in several Redis servers, which is not supported");
    const std::string instance = *instances.begin();
    if (config.contains("INSTANCES") && config["INSTANCES"].is_object() &&
        config["INSTANCES"].contains(instance) && config["INSTANCES"][instance].is_object())
      found.redis = text_or(config["INSTANCES"][instance], "unix_socket_path", kUsualSocket);
  } else if (file.error().code != ENOENT) {
    return bad(file.error().what);
  }
  if (!redis.empty()) found.redis = redis;
  return found;
}

Redis::Command ask_for_rows(const std::vector<std::string>& patterns) {
  constexpr const char* kCollect =
      "local r = {} "
      "for _, p in ipairs(ARGV) do for _, k in ipairs(redis.call('KEYS', p)) do "
      "if redis.call('TYPE', k).ok == 'hash' then "  // else it is no row of SONiC's
      "r[#r + 1] = k; r[#r + 1] = redis.call('HGETALL', k) end end end return r";
  Redis::Command command{"EVAL", kCollect, "0"};
  command.insert(command.end(), patterns.begin(), patterns.end());
  return command;
}

Rows rows_of(const redisReply* reply) {
  Rows rows;
  if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return rows;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
    rows[text_of(reply->element[i])] = row_of(reply->element[i + 1]);
  return rows;
}

Row row_of(const redisReply* reply) {
  Row row;
  if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return row;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
    row[text_of(reply->element[i])] = text_of(reply->element[i + 1]);
  return row;
}

std::string text_of(const redisReply* reply) {
  return reply != nullptr && reply->str != nullptr
             ? std::string(reply->str, static_cast<std::size_t>(reply->len))
             : "";
}

}  // namespace lldp::dataplane::sonic
