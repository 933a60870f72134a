// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lldp::lab {

using Arguments = std::vector<std::string>;

/// A subcommand of lldp-level-lab. Each lives in its own file; main.cpp holds the table.
struct Command {
  std::string_view name{};
  std::string_view summary{};
  int (*run)(const Arguments& arguments) = nullptr;  ///< returns the exit status
};

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kNoVerdict = 3;

int run_bounce(const Arguments& arguments);
int run_collect(const Arguments& arguments);
int run_config(const Arguments& arguments);
int run_converge(const Arguments& arguments);
int run_live(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_prove(const Arguments& arguments);
int run_reproduce(const Arguments& arguments);
int run_sim(const Arguments& arguments);
int run_switch(const Arguments& arguments);
int run_throughput(const Arguments& arguments);
int run_topo(const Arguments& arguments);
int run_whatif(const Arguments& arguments);

/// Prints `lldp-level-lab COMMAND: what` on standard error; returns kFailed.
int complain(std::string_view command, const Error& error);
/// The same for a command line that makes no sense; returns kUsage.
int complain_usage(std::string_view command, std::string_view what);

}  // namespace lldp::lab
