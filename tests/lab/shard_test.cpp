// SPDX-License-Identifier: Apache-2.0
#include "lab/sweep/shard.hpp"

#include <gtest/gtest.h>

#include <map>

namespace lldp::lab::sweep {
namespace {

std::string shown(std::string_view text, std::map<std::string, std::string> environment = {}) {
  const auto shard = shard_from(text, [&](const char* name) -> std::optional<std::string> {
    const auto it = environment.find(name);
    return it == environment.end() ? std::nullopt : std::optional(it->second);
  });
  if (!shard) return to_string(shard.error());
  return std::to_string(shard->index) + " of " + std::to_string(shard->count) + " from " +
         std::to_string(shard->base);
}

TEST(Shard, CountsFromOne) {
  EXPECT_EQ(shown("1/1"), "0 of 1 from 1");
  EXPECT_EQ(shown("16/16"), "15 of 16 from 1");
  for (const char* wrong : {"", "0/3", "4/3", "1", "1/", "/3", "-1/3", "1/3x", "1/0"})
    EXPECT_EQ(shown(wrong), "--shard: `" + std::string(wrong) +
                                "` is not I/N (the first is 1/N), auto or auto/N");
}

TEST(Shard, TakesWhatTheSchedulerTells) {
  EXPECT_EQ(shown("auto", {{"SLURM_ARRAY_TASK_ID", "7"},
                           {"SLURM_ARRAY_TASK_MIN", "5"},
                           {"SLURM_ARRAY_TASK_COUNT", "4"}}),
            "2 of 4 from 5");
  EXPECT_EQ(shown("auto/9", {{"SLURM_ARRAY_TASK_ID", "7"}}),
            "7 of 9 from 0");  // a part of an array runs again
  EXPECT_EQ(shown("auto/8", {{"JOB_COMPLETION_INDEX", "0"}}), "0 of 8 from 0");
  EXPECT_EQ(shown("auto", {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            "3 of 4 from 0");
}

TEST(Shard, SaysWhatIsMissing) {
  EXPECT_EQ(shown("auto", {{"JOB_COMPLETION_INDEX", "0"}}),
            "--shard: Kubernetes tells no number of completions: say auto/N");
  EXPECT_EQ(shown("auto", {{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}),
            "--shard: SLURM_ARRAY_TASK_ID, _MIN and _COUNT (an array without gaps is needed) make "
            "no sense "
            "together");
  EXPECT_EQ(shown("auto/4", {{"SLURM_ARRAY_TASK_ID", "4"}}),  // the fifth
            "--shard: SLURM_ARRAY_TASK_ID, _MIN and _COUNT (an array without gaps is needed) make "
            "no sense together");
  EXPECT_EQ(shown("auto", {{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            "--shard: OMPI_COMM_WORLD_RANK and _SIZE make no sense together");
  EXPECT_EQ(shown("auto/x"), "--shard: auto/N: N is no number");
}

TEST(Shard, NamesNumbersAsSbatchTakesThem) {
  EXPECT_EQ(to_array({}), "");
  EXPECT_EQ(to_array({4}), "4");
  EXPECT_EQ(to_array({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace lldp::lab::sweep
