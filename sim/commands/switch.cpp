// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/options.hpp"
#include "os/file.hpp"
#include "sim/commands/commands.hpp"
#include "sim/lossless/switch_process.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kSwitchUsage =
    "switch FILE\n"
    "Is the lossless switch of the network namespace that it is started in, until\n"
    "SIGTERM: forwards IPv4 between its ports as FILE says, with Priority-based Flow\n"
    "Control, and takes rules from an agent with `backend = soft`. `live --lossless`\n"
    "and `bounce --lossless` write such files and start one in each switch.\n";

}  // namespace

int run_switch(const Arguments& arguments) {
  std::vector<std::string> words;
  if (!parse(po::options_description("Options"), kSwitchUsage, arguments, words)) return kDone;
  if (words.size() != 1) return complain_usage("switch", "name the switch's file");
  const auto text = read_file(words[0]);
  if (!text) return complain("switch", text.error());
  const auto file = lossless::parse_switch_file(*text);
  if (!file) return complain("switch", file.error());
  const auto done = lossless::run_switch(*file);
  return done ? kDone : complain("switch", done.error());
}

}  // namespace lldp::lab
