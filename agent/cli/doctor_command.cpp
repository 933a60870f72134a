// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <thread>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/doctor.hpp"
#include "agent/cli/doctor_probe.hpp"
#include "agent/cli/terminal.hpp"

namespace lldp::cli {
namespace {

constexpr std::chrono::seconds kLook{1};  ///< between two of --watch

Result<Health> look(const Arguments& arguments, Probe& probe) {
  const auto rules = ask(arguments, "org.lldplevel.Rules", {});
  if (!rules) return fail(rules.error());
  const auto show = ask(arguments, "org.lldplevel.Detail", arguments.operands);
  if (!show) return fail(show.error());
  return examine(
      *show, *rules,
      [&](const std::string& port, unsigned ifindex) { return probe.look_at(port, ifindex); },
      arguments.operands);
}

/// Until stopped: prints findings when they change, and which end pauses which priority. Ports come
/// and go, and so may the daemon: the next daemon is asked then.
Result<void> follow(const Arguments& arguments, Probe& probe, Health before) {
  std::string said;
  for (;;) {
    std::this_thread::sleep_for(kLook);
    auto now = look(arguments, probe);
    if (!now) {
      if (const std::string why = to_string(now.error()); why != said) {
        std::fprintf(stderr, "lldp-level: %s: asked again every second\n", why.c_str());
        said = why;
      }
      continue;
    }
    said.clear();
    if (const std::string changes = health_changes(before, *now, terminal_style());
        !changes.empty())
      if (auto printed = print(arguments.json ? health_json(*now) + "\n" : changes); !printed)
        return printed;
    before = std::move(*now);
  }
}

}  // namespace

Result<int> doctor(const Arguments& arguments) {
  auto probe = Probe::open();
  if (!probe) return fail(probe.error());
  auto health = look(arguments, *probe);
  if (health)
    if (auto there = all_there(arguments, arguments.operands); !there) health = fail(there.error());
  if (!health) {
    // 1 and 2 are about the path; an unknown state, as of a port that does not exist, is neither.
    std::fprintf(stderr, "lldp-level: %s\n", to_string(health.error()).c_str());
    return kNoDaemon;
  }
  if (auto printed = print(arguments.json ? health_json(*health) + "\n"
                                          : health_text(*health, terminal_style()));
      !printed)
    return fail(printed.error());
  const int status = health->status();
  if (arguments.watch)
    if (auto followed = follow(arguments, *probe, std::move(*health)); !followed)
      return fail(followed.error());
  return status;
}

}  // namespace lldp::cli
