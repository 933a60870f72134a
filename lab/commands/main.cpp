// SPDX-License-Identifier: Apache-2.0
// lldp-level-lab: proves, simulates and runs whole fabrics with the agent's own code.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "lab/commands/command.hpp"
#include "os/file.hpp"

namespace lldp::lab {
namespace {

constexpr Command kCommands[] = {
    {"prove", "prove that a fabric cannot deadlock, or show the cycle", run_prove},
    {"collect", "make a fabric file of what its switches tell", run_collect},
    {"whatif", "let links fail: where packets turn, and whether two priorities do", run_whatif},
    {"merge", "join the results of a sweep's shards", run_merge},
    {"topo", "make a fabric file: Clos, fat-tree, FC+, BCube, rails and others", run_topo},
    {"config", "what the agent of a switch of FC+ or FC has to be told", run_config},
    {"converge", "let the agents find their levels on virtual time", run_converge},
    {"attack", "disturb random fabrics of agents, and prove them at every moment", run_attack},
    {"live", "run a fabric on this machine: namespaces, veth links, agents", run_live},
};

std::vector<Command> commands() {
  std::vector<Command> all(std::begin(kCommands), std::end(kCommands));
  if (const Simulator* sim = simulator())
    all.insert(all.end(), sim->commands.begin(), sim->commands.end());
  return all;
}

void print_usage(std::FILE* to) {
  fmt::print(to, "usage: lldp-level-lab COMMAND [OPTION...]\n");
  for (const Command& c : commands()) fmt::print(to, "  {:<11} {}\n", c.name, c.summary);
  fmt::print(to, "`lldp-level-lab COMMAND --help` lists a command's options.\n");
}

/// If standard output could not be written, the status must say so: a caller may read only the
/// status.
int written(std::string_view command, int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return complain(command, {errno, "standard output", std::strerror(errno)});
}

}  // namespace

int complain(std::string_view command, const Error& error) {
  fmt::print(stderr, "lldp-level-lab {}: {}\n", command, to_string(error));
  return kUsage;
}

int complain_usage(std::string_view command, std::string_view what) {
  fmt::print(stderr, "lldp-level-lab {0}: {1}: see `lldp-level-lab {0} --help`\n", command, what);
  return kUsage;
}

int no_verdict(std::string_view command, std::string_view file, std::string_view why, bool json) {
  if (json)
    fmt::print("{}\n",
               nlohmann::ordered_json{
                   {"version", 1}, {"file", escape(file)}, {"verdict", "none"}, {"why_none", why}}
                   .dump(2));
  fmt::print(stderr, "lldp-level-lab {}: {}: no verdict: {}\n", command, escape(file), why);
  return kNoVerdict;
}

}  // namespace lldp::lab

int main(int argc, char** argv) {
  using namespace lldp::lab;
  lldp::hold_standard_streams("/", O_PATH);
  const Arguments arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    print_usage(stderr);
    return kUsage;
  }
  if (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_usage(stdout);
    return written(arguments[0], kDone);
  }
  if (arguments[0] == "--version" || arguments[0] == "-V") {
    fmt::print("lldp-level-lab " LLDP_VERSION "\n");
    return written(arguments[0], kDone);
  }
  for (const Command& c : commands()) {
    if (c.name != arguments[0]) continue;
    try {  // what libraries throw: Program_options on a bad command line, bad_alloc
      return written(c.name, c.run({arguments.begin() + 1, arguments.end()}));
    } catch (const std::system_error& e) {  // {fmt}'s, of standard output
      return complain(c.name, {e.code().value(), "", e.what()});
    } catch (const std::bad_alloc&) {
      return complain(c.name, {ENOMEM, "", "memory ran out: take a smaller fabric or fewer flows"});
    } catch (const std::exception& e) {
      return complain_usage(c.name, e.what());
    }
  }
  fmt::print(stderr, "lldp-level-lab: no command `{}`: see `lldp-level-lab --help`\n",
             arguments[0]);
  return kUsage;
}
