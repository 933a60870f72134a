// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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

// The exit status of every subcommand; lldp-level-lab(1) has the table.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  ///< the answer is no: a cycle, a deadlock, a value that is off
inline constexpr int kUsage = 2;   ///< it could not run: the command line, a file, the machine
inline constexpr int kNoVerdict = 3;  ///< it ran, and there is no answer

int run_attack(const Arguments& arguments);
int run_collect(const Arguments& arguments);
int run_config(const Arguments& arguments);
int run_converge(const Arguments& arguments);
int run_live(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_prove(const Arguments& arguments);
int run_topo(const Arguments& arguments);
int run_whatif(const Arguments& arguments);

namespace live {
class LosslessFabric;
}
/// What the simulator's rooms (sim/) add to the program.
struct Simulator {
  std::span<const Command> commands{};
  const live::LosslessFabric* lossless = nullptr;
};
/// Nothing in a build without them (LLDP_SIM=OFF).
const Simulator* simulator();

/// Prints `lldp-level-lab COMMAND: what` on standard error; returns kUsage.
int complain(std::string_view command, const Error& error);
/// The same for a command line that makes no sense; returns kUsage.
int complain_usage(std::string_view command, std::string_view what);
/// Says that there is no verdict, and why: on standard error, or as JSON; returns kNoVerdict.
int no_verdict(std::string_view command, std::string_view file, std::string_view why, bool json);

}  // namespace lldp::lab
