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

/// Reads SONiC's database_config.json; without that file, the usual databases. `redis` replaces the
/// server that the file names, unless it is empty.
[[nodiscard]] Result<Databases> find_databases(const std::string& config, const std::string& redis);

/// Asks for all rows whose keys are like these, in one answer, which rows_of() reads.
[[nodiscard]] Redis::Command ask_for_rows(const std::vector<std::string>& patterns);
/// No rows if the reply is not such an answer.
[[nodiscard]] Rows rows_of(const redisReply* reply);
/// The reply to HGETALL as a row.
[[nodiscard]] Row row_of(const redisReply* reply);
/// A reply's text; empty: it has none.
[[nodiscard]] std::string text_of(const redisReply* reply);

}  // namespace lldp::dataplane::sonic
