// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/expect.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/config/config.hpp"
#include "agent/config/helper.hpp"
#include "agent/control/connection.hpp"
#include "agent/report/text.hpp"
#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::ordered_json;

using Printer = Result<std::string> (*)(std::string_view, const report::Style&);

Result<int> ask_and_print(const Arguments& arguments, std::string_view method, Printer printer) {
  const auto answer = ask(arguments, method, arguments.operands);
  if (!answer) return fail(answer.error());
  const auto missing = not_there(arguments.operands, *answer);
  if (!missing) return fail(missing.error());
  if (!missing->empty() && missing->size() == arguments.operands.size())
    return fail(no_such_ports(*missing));
  const auto text =
      arguments.json ? Result<std::string>(*answer + "\n") : printer(*answer, terminal_style());
  if (!text) return fail(text.error());
  if (const auto printed = print(*text); !printed) return fail(printed.error());
  if (!missing->empty()) return fail(no_such_ports(*missing));
  return kDone;
}

/// What is asked to be done, and answers with nothing; the operands are ports.
Result<int> command(const Arguments& arguments, std::string_view method) {
  const auto answer = ask(arguments, method, arguments.operands);
  if (!answer) return fail(answer.error());
  return kDone;
}

/// What `wait` waits for.
struct Goal {
  std::optional<Level> level{};
  bool is_protected = false;
  std::vector<std::pair<std::string, std::string>> types{};  ///< port, type

  /// What is not so yet, in words; empty: all is. `answer`: the daemon's, of `show`.
  [[nodiscard]] Result<std::string> missing(const std::string& answer) const {
    try {
      return missing(json::parse(answer));
    } catch (const json::exception&) {
      return fail(report::not_understood());
    }
  }
  [[nodiscard]] std::vector<std::string> ports() const {
    std::vector<std::string> out;
    for (const auto& [port, type] : types) out.push_back(port);
    return out;
  }

 private:
  [[nodiscard]] std::string missing(const json& show) const {
    std::string out;
    const auto miss = [&](const std::string& what, const std::string& is, const std::string& want) {
      out += (out.empty() ? "" : ", ") + what + " is " + is + ", not " + want;
    };
    if (level) {
      const json& now = show.at("device").at("level");
      if (now != level->value())
        miss("level", now.is_null() ? "none" : now.dump(), std::to_string(level->value()));
    }
    if (is_protected) {
      const auto state = show.at("protection").at("state").get<std::string>();
      if (state != "active") miss("protection", state, "active");
    }
    for (const auto& [name, type] : types) {
      std::string is = "not there";
      for (const json& port : show.at("ports"))
        if (port.at("name") == name) is = port.at("type").get<std::string>();
      if (is != type) miss(name, is, type);
    }
    return out;
  }
};

Result<Goal> goal_of(const Arguments& arguments) {
  Goal goal{.level = arguments.level, .is_protected = arguments.is_protected};
  for (const std::string& port : arguments.ports) {
    const std::size_t equals = port.find('=');
    const std::string type = port.substr(std::min(equals, port.size() - 1) + 1);
    if (equals == port.npos || equals == 0 ||
        (type != "uplink" && type != "downlink" && type != "crosslink" && type != "unmarked"))
      return fail(usage_error(
          "--port takes PORT=TYPE, and TYPE is uplink, downlink, crosslink or unmarked"));
    goal.types.emplace_back(port.substr(0, equals), type);
  }
  return goal;
}

}  // namespace

Result<int> stats(const Arguments& arguments) {
  return ask_and_print(arguments, "org.lldplevel.Stats", report::stats_text);
}

Result<int> rules(const Arguments& arguments) {
  return ask_and_print(arguments, "org.lldplevel.Rules", report::rules_text);
}

Result<int> mute(const Arguments& arguments) {
  if (arguments.lasts.empty()) return fail(usage_error("mute wants --for TIME"));
  const json parameters = {
      {"alarm", arguments.operands[0]},
      {"port", arguments.operands.size() > 1 ? arguments.operands[1] : std::string()},
      {"seconds", arguments.lasts}};
  const auto answer = call(arguments, "org.lldplevel.Mute",
                           parameters.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!answer) return fail(answer.error());
  return kDone;
}

Result<int> config(const Arguments& arguments) {
  return ask_and_print(arguments, "org.lldplevel.Config", report::config_text);
}

Result<int> reload(const Arguments& arguments) {
  return ask_and_print(arguments, "org.lldplevel.Reload", report::reload_text);
}
Result<int> forget(const Arguments& arguments) {
  return command(arguments, "org.lldplevel.Forget");
}
Result<int> update(const Arguments& arguments) {
  return command(arguments, "org.lldplevel.Update");
}
Result<int> pause(const Arguments& arguments) { return command(arguments, "org.lldplevel.Pause"); }
Result<int> resume(const Arguments& arguments) {
  return command(arguments, "org.lldplevel.Resume");
}

namespace {

Result<int> accept_pfc(const Arguments& arguments, const char* method) {
  if (arguments.operands[0] != "pfc")
    return fail(usage_error("'" + arguments.operands[0] + "' cannot be accepted or rejected: pfc"));
  const json parameters = {{"port", arguments.operands[1]}};
  const auto answer =
      call(arguments, method, parameters.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!answer) return fail(answer.error());
  return kDone;
}

}  // namespace

Result<int> accept(const Arguments& arguments) {
  return accept_pfc(arguments, "org.lldplevel.AcceptPfc");
}
Result<int> reject(const Arguments& arguments) {
  return accept_pfc(arguments, "org.lldplevel.RejectPfc");
}

Result<int> set(const Arguments& arguments) {
  const json parameters = {{"key", arguments.operands[0]}, {"value", arguments.operands[1]}};
  const auto answer = call(arguments, "org.lldplevel.Set",
                           parameters.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!answer) return fail(answer.error());
  return kDone;
}

Result<int> wait(const Arguments& arguments) {
  const auto goal = goal_of(arguments);
  if (!goal) return fail(goal.error());
  control::Deadline deadline;
  if (arguments.timeout) deadline = std::chrono::steady_clock::now() + *arguments.timeout;
  std::string missing;
  const auto too_late = [&](const Error& error) {
    return missing.empty() ? error
                           : Error{ETIMEDOUT, arguments.socket,
                                   "not in time: " + missing + ": see lldp-level show"};
  };
  while (true) {
    auto connection = control::open_when_there(arguments.socket, deadline, control::kPatience);
    if (!connection)
      return fail(control::is_no_daemon(connection.error()) ? too_late(connection.error())
                                                            : connection.error());
    const auto asked = connection->call("org.lldplevel.Watch", "{}", true);
    // How it is now takes a moment to be said, and --timeout 0 asks just that.
    auto until = deadline;
    if (until) until = std::max(*until, std::chrono::steady_clock::now() + control::kPatience);
    while (true) {
      const auto answer = asked ? connection->next(until) : fail(asked.error());
      until = deadline;
      if (!answer && answer.error().code == ETIMEDOUT) return fail(too_late(answer.error()));
      if (!answer && !control::is_hang_up(answer.error())) return fail(answer.error());
      if (!answer) {  // the daemon restarts: wait for the next
        const auto next = std::chrono::steady_clock::now() + control::kPause;
        if (deadline && *deadline <= next) return fail(too_late(answer.error()));
        std::this_thread::sleep_until(next);
        break;
      }
      auto now_missing = goal->missing(*answer);
      if (!now_missing) return fail(now_missing.error());
      if (now_missing->empty()) return kDone;
      // Without a limit, a mistyped name would be waited for for ever.
      if (!deadline)
        if (const auto there = all_there(goal->ports(), *answer); !there)
          return fail(there.error());
      missing = std::move(*now_missing);
    }
  }
}

Result<int> check(const Arguments& arguments) {
  // A monitor gives a plugin some 10 s; a daemon that hangs is to be told before.
  constexpr std::chrono::seconds kCheckPatience{2};
  // The daemon reads back unreported changes every few seconds. A question for its rules makes it
  // read now, so that its next answer is up to date.
  auto answer = ask(arguments, "org.lldplevel.Rules", {}, kCheckPatience);
  if (answer) answer = ask(arguments, "org.lldplevel.Show", {}, kCheckPatience);
  const auto verdict =
      answer ? report::check(*answer) : Result<report::Verdict>(fail(answer.error()));
  // Monitoring reads standard output alone, whatever went wrong.
  const std::string line =
      verdict ? verdict->line : report::plugin_line("UNKNOWN", to_string(verdict.error()));
  if (const auto printed = print(line + "\n"); !printed) {
    std::fprintf(stderr, "lldp-level: %s\n", to_string(printed.error()).c_str());
    return kNoDaemon;  // the verdict could not be printed
  }
  if (!verdict) return kNoDaemon;
  return static_cast<int>(verdict->status);
}

Result<int> metrics(const Arguments& arguments) {
  // A program of its own, which takes this one's place and its name.
  const std::string path = config::helper_path("lldp-level-exporter");
  const char* listen = arguments.listen.empty() ? nullptr : arguments.listen.c_str();
  ::execl(path.c_str(), "lldp-level", arguments.socket.c_str(), listen, nullptr);
  return fail(Error{errno, path, "cannot be run: " + std::string(std::strerror(errno))});
}

Result<int> expect(const Arguments& arguments) {
  const std::string& file = arguments.operands.front();
  const auto in_file = [&](Error error) {
    error.where = file + ": " + error.where;
    return fail(std::move(error));
  };
  const auto text = read_file(file);
  if (!text) return fail(text.error());
  const auto drawing = cabling::read_plan(*text);
  if (!drawing) return in_file(drawing.error());
  for (const std::string& note : cabling::first_notes(*drawing))
    std::fprintf(stderr, "lldp-level: %s: %s\n", file.c_str(), note.c_str());
  const auto show = ask(arguments, "org.lldplevel.Show", {});
  if (!show) return fail(show.error());
  const auto cabling = check_cabling(*drawing, *show, arguments.as);
  if (!cabling) return in_file(cabling.error());
  const auto printed = print(arguments.json ? cabling_json(*cabling) + "\n"
                                            : cabling_text(*cabling, terminal_style()));
  if (!printed) return fail(printed.error());
  return cabling->as_expected() ? kDone : kFailed;
}

}  // namespace lldp::cli
