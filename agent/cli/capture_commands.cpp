// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <iostream>

#include "agent/cli/command.hpp"
#include "agent/cli/decode.hpp"
#include "agent/cli/replay.hpp"
#include "agent/report/oui.hpp"

namespace lldp::cli {
namespace {

Result<int> finish(const Result<void>& done) {
  std::cout.flush();
  if (!done) return fail(done.error());
  if (!std::cout) return fail(Error{errno, "standard output", "cannot be written"});
  return kDone;
}

}  // namespace

Result<int> decode(const Arguments& arguments) {
  return finish(
      decode_capture(arguments.operands.front(), arguments.json, {}, std::cout, report::oui_owner));
}

Result<int> replay(const Arguments& arguments) {
  if (arguments.ports.size() != 1 || arguments.ports.front().find('=') != std::string::npos)
    return fail(usage_error("replay wants --port NAME, once"));
  const auto notes = replay_capture(arguments.operands.front(), arguments.ports.front(),
                                    arguments.own, arguments.json, {}, std::cout);
  if (!notes) return finish(fail(notes.error()));
  for (const std::string& note : *notes) std::cerr << "lldp-level: " << note << '\n';
  return finish({});
}

}  // namespace lldp::cli
