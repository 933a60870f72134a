// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>

#include "base/count.hpp"
#include "lab/commands/options.hpp"
#include "lab/live/agents.hpp"
#include "lab/live/ending.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/lossless.hpp"
#include "lab/live/picture.hpp"
#include "lab/live/switches.hpp"
#include "lab/live/watcher.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/hints.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the user

namespace lldp::lab {
namespace {

using live::Watcher;

constexpr std::string_view kLiveUsage =
    "live up|run|show FABRIC [OPTION...] [-- COMMAND...]\n"
    "       lldp-level-lab live down [OPTION...]\n"
    "Runs a fabric on this machine: a network namespace per node, a veth pair per\n"
    "link, an agent in each. up: makes them. run: starts the agents that are not\n"
    "running, and waits until every level and port type is right; where the lab is\n"
    "not up, does all, runs COMMAND or waits for Ctrl-C, and takes everything down\n"
    "(needs no root). show: the fabric as it is. down: removes what was made, after\n"
    "a crash too.\n";

struct Settings {
  live::FabricPlace place{};
  std::string agent{};
  std::vector<std::string> agent_arguments{};
  std::chrono::duration<double> timeout{30};
  bool json = false;
  const live::LosslessFabric* lossless = nullptr;  ///< nothing: the kernel forwards
  live::LosslessFabric::Settings switches{};
  std::vector<std::string> command{};
};

live::PictureStyle style() {
  winsize size{};
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const bool known = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {.colour = terminal && std::getenv("NO_COLOR") == nullptr,
          .width = known ? size.ws_col : live::PictureStyle{}.width};
}

void print(const Fabric& fabric, const live::Observation& seen, bool json) {
  fmt::print("{}", json ? live::to_json(fabric, seen) : live::picture(fabric, seen, style()));
  std::fflush(stdout);
}

int up(const Settings& s, const Fabric& fabric) {
  if (s.place.own_tree)
    return complain(
        "live",
        Error{EPERM, "up", "a lab that outlives this program needs root; `live run` does not"});
  const auto made = live::build(s.place, fabric);
  return made ? kDone : complain("live", made.error());
}

int down(const Settings& s) {
  const auto manifest = live::read_manifest(s.place);
  if (!manifest) return complain("live", manifest.error());
  const auto gone = live::remove(s.place, *manifest);
  return gone ? kDone : complain("live", gone.error());
}

int show(const Settings& s, const Fabric& fabric) {
  if (const auto manifest = live::read_manifest(s.place); !manifest)
    return complain("live", manifest.error());
  Watcher watcher(s.place, fabric);
  watcher.look(Watcher::Clock::now() + std::chrono::seconds(2));
  print(fabric, watcher.seen(), s.json);
  return kDone;
}

/// A switch in each switch, and hosts that can reach each other.
Result<void> start_lossless(const Settings& s, const Fabric& fabric) {
  const auto files = s.lossless->switch_files(s.place, fabric, s.switches);
  if (!files) return fail(files.error());
  if (auto ok = s.lossless->address_hosts(s.place, fabric); !ok) return ok;
  return live::start_switches(s.place, *files, live::own_program());
}

/// Starts what does not run and waits until all is right; says so on standard error.
int run_agents(const Settings& s, const Fabric& fabric, const std::vector<std::string>& nodes) {
  Watcher watcher(s.place, fabric);
  const auto begin = Watcher::Clock::now();
  if (s.lossless != nullptr)
    if (auto ok = start_lossless(s, fabric); !ok) return complain("live", ok.error());
  const auto started = s.lossless != nullptr
                           ? s.lossless->start_agents(s.place, fabric, s.agent, s.agent_arguments)
                           : live::start_agents(s.place, fabric, nodes, s.agent, s.agent_arguments);
  if (!started) return complain("live", started.error());
  const auto limit = std::chrono::duration_cast<Watcher::Clock::duration>(s.timeout);
  bool right = watcher.wait_until_right(begin + limit);
  std::optional<Error> bare;
  if (s.lossless != nullptr && right) {
    bare = s.lossless->wait_for_rules(s.place, fabric, watcher, begin + limit);
    right = !bare;
  }
  const std::chrono::duration<double> took = Watcher::Clock::now() - begin;
  const bool located = right && watcher.wait_until_located(begin + limit);
  const std::chrono::duration<double> found = Watcher::Clock::now() - begin;
  if (live::is_ending()) return complain("live", Error{EINTR, "", "ended by a signal"});
  print(fabric, watcher.seen(), s.json);
  const auto answer_no = [](const Error& error) {
    complain("live", error);
    return kFailed;
  };
  if (bare) return answer_no(*bare);
  if (!right)
    return answer_no({0, "agents",
                      fmt::format("not all right after {:g} s: see the logs in {}",
                                  s.timeout.count(), s.place.dir)});
  if (!located) {
    const std::size_t wrong = live::wrongly_located(fabric, watcher.seen()).front();
    return answer_no({0, fabric.nodes[wrong].name,
                      fmt::format("does not know where it stands after {:g} s: see "
                                  "`lldp-level location` there",
                                  s.timeout.count())});
  }
  if (const auto why = why_no_levels(fabric)) {
    fmt::print(stderr, "{} started\n", count_text(*started, "agent"));
    return no_verdict("live", fabric.name, *why, false);
  }
  fmt::print(stderr,
             "{} started; every level and port type right after {:.3f} s, every location after "
             "{:.3f} s\n",
             count_text(*started, "agent"), took.count(), found.count());
  return kDone;
}

/// Until the process ends, or without one a signal is to end us; sees to the switches meanwhile.
void wait_for(int process, live::SwitchKeeper* keeper) {
  const UniqueFd ending = live::watch_for_ending();
  for (;;) {
    pollfd ready[] = {
        {.fd = ending.get(), .events = POLLIN, .revents = 0},
        {.fd = process, .events = POLLIN, .revents = 0},
        {.fd = keeper != nullptr ? keeper->fd() : -1, .events = POLLIN, .revents = 0}};
    poll(ready, std::size(ready), -1);
    if (ready[1].revents != 0) return;
    signalfd_siginfo signal{};
    if (ready[0].revents != 0 && read(ending.get(), &signal, sizeof signal) == sizeof signal) {
      if (process < 0) return;
      // What the terminal sends, the command has got too. A shell ends by SIGHUP alone.
      if (signal.ssi_code != SI_KERNEL)
        for (const int one : {SIGTERM, SIGHUP})
          syscall(SYS_pidfd_send_signal, process, one, nullptr, 0);
    }
    if (ready[2].revents == 0) continue;
    for (const std::string& line : keeper->mind())
      fmt::print(stderr, "lldp-level-lab live: {}\n", line);
  }
}

/// The command's exit status; without one, waits for a signal that ends us.
int hold(const Settings& s, live::SwitchKeeper* keeper) {
  if (s.command.empty()) {
    fmt::print(stderr, "the lab is up (sockets in {}); Ctrl-C takes it down\n", s.place.dir);
    wait_for(-1, keeper);
    return kDone;
  }
  std::vector<char*> argv;
  for (const std::string& word : s.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int code = posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) return complain("live", Error{code, s.command[0], std::strerror(code)});
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  wait_for(process.get(), keeper);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

/// What the switches of a lossless fabric have counted, if anything.
void tell_losses(const Settings& s, const Fabric& fabric) {
  const auto lost = s.lossless->losses(s.place, fabric, Watcher::Clock::now());
  for (const auto& [count, what] :
       {std::pair(lost.drops, "dropped for want of room"),
        std::pair(lost.missed, "missed: the machine was too slow"),
        std::pair(lost.too_long, "longer than any link carries, dropped")})
    if (count != 0)
      fmt::print(stderr, "lldp-level-lab live: {} {}\n", count_text(count, "packet"), what);
}

int run(const Settings& s, const Fabric& fabric) {
  if (const auto manifest = live::read_manifest(s.place); manifest && !manifest->own_tree)
    return run_agents(s, fabric, manifest->nodes);
  // From here on we end only after taking the lab down.
  const sigset_t ending = live::ending_signals();
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  if (s.place.own_tree)
    if (auto ok = live::enter_own_tree(s.place); !ok) return complain("live", ok.error());
  const auto made = live::build(s.place, fabric);
  if (!made) return complain("live", made.error());
  int status = run_agents(s, fabric, made->nodes);
  if (status == kDone) {
    std::optional<live::SwitchKeeper> keeper;
    if (s.lossless != nullptr)
      if (auto files = s.lossless->switch_files(s.place, fabric, s.switches))
        keeper.emplace(s.place, std::move(*files), live::own_program());
    status = hold(s, keeper ? &*keeper : nullptr);
    if (keeper && keeper->restarts() != 0)
      fmt::print(stderr, "lldp-level-lab live: switches were started again {}\n",
                 count_text(keeper->restarts(), "time"));
  }
  if (s.lossless != nullptr) tell_losses(s, fabric);
  if (auto gone = live::remove(s.place, *made); !gone) return complain("live", gone.error());
  return status;
}

}  // namespace

int run_live(const Arguments& arguments) {
  Settings s;
  bool lossless = false;
  std::string prefix;
  std::string dir;
  double timeout = s.timeout.count();
  po::options_description options("Options");
  options.add_options()("prefix", po::value(&prefix)->value_name("NAME")->default_value("lab"),
                        "namespaces are NAME-NODE; several labs can run side by side")(
      "dir", po::value(&dir)->value_name("PATH"),
      "directory of sockets, state files and logs (/run/lldp-level-lab/NAME, or below "
      "$XDG_RUNTIME_DIR)")(
      "agent",
      po::value(&s.agent)->value_name("PATH")->default_value(live::default_agent(), "lldp-leveld"),
      "run: the agent's program")(
      "agent-arg", po::value(&s.agent_arguments)->value_name("ARG"),
      "run: one more argument for every agent ({node}: its name); can be repeated")(
      "timeout", number(&timeout, 0.0, 86400.0)->value_name("S")->default_value(timeout),
      "run: give up after S seconds")("json", po::bool_switch(&s.json), "print JSON");
  if (simulator() != nullptr)
    options.add_options()(
        "lossless", po::bool_switch(&lossless),
        "run: the switches are the packet simulator's, in real time, with PFC frames")(
        "link-rate",
        number(&s.switches.megabits, 1.0, 1000.0)
            ->value_name("MBPS")
            ->default_value(s.switches.megabits),
        "lossless: of every link, in Mb/s")(
        "rules-late",
        number<std::uint32_t>(&s.switches.rules_late, 0, live::LosslessFabric::kMostLate)
            ->value_name("MS")
            ->default_value(s.switches.rules_late),
        "lossless: until a switch has rules in force, in ms");
  std::vector<std::string> words;
  if (!parse(options, kLiveUsage, arguments, words)) return kDone;
  s.timeout = std::chrono::duration<double>(timeout);
  const auto place = live::place_of(prefix, dir);
  if (!place) return complain_usage("live", to_string(place.error()));
  s.place = *place;

  const std::string action = words.empty() ? "" : words[0];
  if (action == "down") return down(s);
  if (action != "up" && action != "run" && action != "show")
    return complain_usage("live", "say `up`, `run`, `show` or `down`");
  if (words.size() < 2) return complain_usage("live", "name the fabric's file");
  if (lossless) s.lossless = simulator()->lossless;
  if (lossless && action != "run") return complain_usage("live", "--lossless is for `run`");
  s.command.assign(words.begin() + 2, words.end());
  const auto fabric = load_fabric(words[1]);
  if (!fabric) return complain("live", fabric.error());
  return action == "up" ? up(s, *fabric) : action == "show" ? show(s, *fabric) : run(s, *fabric);
}

}  // namespace lldp::lab
