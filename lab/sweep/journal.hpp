// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/sweep/shard.hpp"
#include "os/fd.hpp"

/// Results of a sweep: a file of JSON lines to which lines are only ever added, one a task.
namespace lldp::lab::sweep {

using Json = nlohmann::ordered_json;

/// What makes results comparable. Two runs with the same hash give the same line for a task.
struct RunIdentity {
  std::string program{};  ///< and its version
  Json scenario{};        ///< everything that decides the results, the seed among it
  std::size_t tasks = 0;
  /// Of all three, in hexadecimal.
  [[nodiscard]] std::string hash() const;
};

/// 64 bits in hexadecimal (FNV-1a): for telling apart, not for safety.
[[nodiscard]] std::string hash_of(std::string_view text);

/// A shard's own file. A run that is started again goes on where the one before stopped; a line
/// that was torn is made anew.
class ResultsFile {
 public:
  /// Creates it, or reads what is there. Refuses a file of another hash, or one that another
  /// process writes.
  [[nodiscard]] static Result<ResultsFile> open(const std::string& path,
                                                const RunIdentity& identity, const Shard& shard);
  [[nodiscard]] bool has(std::size_t task) const { return done_[task]; }
  /// One line, by one write.
  [[nodiscard]] Result<void> add(std::size_t task, const Json& result);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ResultsFile(std::string path, std::string hash, std::size_t tasks)
      : path_(std::move(path)), hash_(std::move(hash)), done_(tasks) {}

  std::string path_;
  std::string hash_;
  std::vector<bool> done_;
  UniqueFd file_{};
};

/// What several files hold together.
struct Merged {
  Json identity{};              ///< program, scenario, tasks, hash: the same in all
  std::vector<Json> results{};  ///< by task; null: missing
  std::vector<std::size_t> missing{};
  std::size_t shards = 1;
  std::size_t base = 1;
  /// Which shards are to run again, as `sbatch --array` takes them.
  [[nodiscard]] std::string missing_shards() const;
};

/// Refuses files of different hashes, a task with two results, and a line that is not one of a
/// journal; a torn last line is passed over. Errors name the file and the line.
[[nodiscard]] Result<Merged> merge(const std::vector<std::string>& paths);

}  // namespace lldp::lab::sweep
