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
  if (const auto there = all_there(arguments.operands, *show); !there) return fail(there.error());
  return examine(*show, *rules, [&](const std::string& port, unsigned ifindex) {
    return probe.look_at(port, ifindex);
  });
}

Result<void> print_health(const Arguments& arguments, const Health& health) {
  return print(arguments.json ? health_json(health) + "\n" : health_text(health, terminal_style()));
}

/// Until it is stopped: what is found when it changes, and who pauses whom.
Result<void> follow(const Arguments& arguments, Probe& probe, Health before) {
  for (;;) {
    std::this_thread::sleep_for(kLook);
    auto now = look(arguments, probe);
    if (!now) return fail(now.error());
    const std::string pauses = pauses_since(before, *now);
    bool differs = before.ports.size() != now->ports.size();
    for (std::size_t i = 0; i < now->ports.size() && !differs; ++i)
      differs = before.ports[i].findings != now->ports[i].findings ||
                before.ports[i].name != now->ports[i].name;
    if (differs || (arguments.json && !pauses.empty())) {
      if (auto printed = print_health(arguments, *now); !printed) return printed;
    } else if (!pauses.empty()) {
      if (auto printed = print(pauses); !printed) return printed;
    }
    before = std::move(*now);
  }
}

}  // namespace

Result<int> doctor(const Arguments& arguments) {
  auto probe = Probe::open();
  if (!probe) return fail(probe.error());
  auto health = look(arguments, *probe);
  if (!health) {
    // 1 and 2 are about the path; that nothing can be said is neither.
    std::fprintf(stderr, "lldp-level: %s\n", to_string(health.error()).c_str());
    return kNoDaemon;
  }
  if (auto printed = print_health(arguments, *health); !printed) return fail(printed.error());
  const int status = health->status();
  if (arguments.watch)
    if (auto followed = follow(arguments, *probe, std::move(*health)); !followed)
      return fail(followed.error());
  return status;
}

}  // namespace lldp::cli
