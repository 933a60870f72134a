// SPDX-License-Identifier: Apache-2.0
#include <grp.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
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
    const auto text = read_lasting_file(config.expect);  // as the daemon does
    const auto drawing = text ? cabling::read_plan(*text) : fail(Error{});
    if (!text)
      out.push_back({.where = "expect", .what = to_string(text.error())});
    else if (!drawing)
      out.push_back({.where = "expect", .what = config.expect + ": " + to_string(drawing.error())});
    else
      for (const std::string& note : cabling::first_notes(*drawing))
        out.push_back({.where = "expect", .what = config.expect + ": " + note});
  }
  if (!config.control_group.empty() && ::getgrnam(config.control_group.c_str()) == nullptr)
    out.push_back({.where = "control.group",
                   .what = "there is no group '" + escape(config.control_group) +
                           "': create it, or name another"});
  return out;
}

std::vector<std::string> interfaces() {
  std::vector<std::string> names;
  struct if_nameindex* all = ::if_nameindex();
  for (const auto* i = all; i != nullptr && i->if_index != 0; ++i) names.emplace_back(i->if_name);
  ::if_freenameindex(all);
  return names;
}

}  // namespace

Result<int> check_config(const Arguments& arguments) {
  config::Invocation invocation;
  if (!arguments.operands.empty()) invocation.file = arguments.operands.front();
  config::LoadedConfig reading = config::read(invocation);
  config::Errors& errors = reading.errors;
  std::ranges::move(missing_here(reading.config), std::back_inserter(errors));
  // The file may be another machine's, or ahead of its interfaces.
  for (const config::Errors& all : {errors, config::unmatched(reading.config, interfaces())})
    for (const Error& error : all)
      std::fprintf(stderr, "lldp-level: %s\n", to_string(error).c_str());
  if (!errors.empty()) return kFailed;
  const std::string file = invocation.file.value_or(std::string(config::kDefaultFile));
  const bool there = ::access(file.c_str(), F_OK) == 0;
  const auto printed = print(file + (there ? ": fine\n" : ": not there: the defaults are used\n"));
  if (!printed) return fail(printed.error());
  return kDone;
}

}  // namespace lldp::cli
