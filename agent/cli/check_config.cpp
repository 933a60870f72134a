// SPDX-License-Identifier: Apache-2.0
#include <grp.h>
#include <unistd.h>

#include <cstdio>

#include "agent/cli/command.hpp"
#include "agent/config/config.hpp"
#include "base/text.hpp"
#include "cabling/drawing.hpp"
#include "os/file.hpp"

namespace lldp::cli {
namespace {

/// What a configuration without a mistake in it names, and this machine has not.
config::Errors missing_here(const config::Config& config) {
  config::Errors out;
  if (!config.expect.empty()) {
    const auto text = read_file(config.expect);
    const auto drawing = text ? cabling::read(*text) : fail(Error{});
    if (!text)
      out.push_back({.where = "expect", .what = to_string(text.error())});
    else if (!drawing)
      out.push_back({.where = "expect", .what = config.expect + ": " + to_string(drawing.error())});
  }
  if (!config.control_group.empty() && ::getgrnam(config.control_group.c_str()) == nullptr)
    out.push_back({.where = "control.group",
                   .what = "there is no group '" + escape(config.control_group) +
                           "': create it, or name another"});
  return out;
}

}  // namespace

Result<int> check_config(const Arguments& arguments) {
  config::Invocation invocation;
  if (!arguments.operands.empty()) invocation.file = arguments.operands.front();
  const auto config = config::load(invocation);
  const config::Errors errors = config ? missing_here(*config) : config.error();
  for (const Error& error : errors)
    std::fprintf(stderr, "lldp-level: %s\n", to_string(error).c_str());
  if (!errors.empty()) return kFailed;
  const std::string file = invocation.file.value_or(std::string(config::kDefaultFile));
  const bool there = ::access(file.c_str(), F_OK) == 0;
  std::printf("%s: %s\n", file.c_str(), there ? "fine" : "not there: the defaults are used");
  return kDone;
}

}  // namespace lldp::cli
