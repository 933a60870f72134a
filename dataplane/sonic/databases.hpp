// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/redis.hpp"

/// Where SONiC's databases are, and how rows are read of one.
namespace lldp::dataplane::sonic {

struct Databases {
  std::string redis{};  ///< path of its socket, or ADDRESS:PORT
  std::map<std::string, int> numbers{};
};

/// By SONiC's database_config.json, if it is there; else the usual ones. `redis`: of the
/// configuration, in place of what the file says; empty: as it says.
[[nodiscard]] Result<Databases> find_databases(const std::string& config, const std::string& redis);

/// Asks for all rows whose keys are like these, in one answer, which rows_of() reads.
[[nodiscard]] Redis::Command ask_for_rows(const std::vector<std::string>& patterns);
/// What is no such answer has no rows.
[[nodiscard]] Rows rows_of(const redisReply* reply);
/// Of HGETALL.
[[nodiscard]] Row row_of(const redisReply* reply);
/// A reply's text; empty: it has none.
[[nodiscard]] std::string text_of(const redisReply* reply);

}  // namespace lldp::dataplane::sonic
