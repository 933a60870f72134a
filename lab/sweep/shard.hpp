// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lldp::lab::sweep {

/// One of so many parts of a sweep. There is no scheduler of our own: Slurm, Kubernetes, MPI or GNU
/// parallel start the parts, and each takes its tasks by their numbers.
struct Shard {
  std::size_t index = 0;  ///< from 0
  std::size_t count = 1;
  std::size_t base = 1;  ///< number of the first shard as the starter counts: for messages
  [[nodiscard]] bool has(std::size_t task) const { return task % count == index; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The value of a variable of the environment; nullopt: it is not set.
using Environment = std::function<std::optional<std::string>(const char*)>;
[[nodiscard]] std::optional<std::string> process_environment(const char* name);

/// `3/16`: the third of 16. `auto`: as a Slurm array (SLURM_ARRAY_TASK_ID, _MIN, _COUNT) or Open
/// MPI (OMPI_COMM_WORLD_RANK, _SIZE) started us; `auto/16` in a Kubernetes Indexed Job, which tells
/// its index alone (JOB_COMPLETION_INDEX).
[[nodiscard]] Result<Shard> shard_from(std::string_view text, const Environment& environment);

/// Numbers as `sbatch --array` takes them: `0-3,7`.
[[nodiscard]] std::string to_array(const std::vector<std::size_t>& rising);

}  // namespace lldp::lab::sweep
