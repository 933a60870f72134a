// SPDX-License-Identifier: Apache-2.0
#include "lab/live/agents.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/topology/forwarding.hpp"
#include "os/fd.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the user

namespace lldp::lab::live {
namespace {

/// Stands for the node's name in arguments for all.
constexpr std::string_view kNodeMark = "{node}";

/// The arguments of a process; empty when it is gone.
std::vector<std::string> command_line(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(std::move(word));
  return words;
}

/// The agents that run, by their node. Held by pidfd, opened before the command line is read: a
/// process that ends in between is not mistaken for another of the same number.
std::map<std::string, UniqueFd> find_agents(const Place& place,
                                            const std::vector<std::string>& nodes) {
  std::map<std::string, std::string> node_of;
  for (const std::string& node : nodes) node_of.emplace(place.socket(node), node);
  std::map<std::string, UniqueFd> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{}) continue;
    UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    const auto words = command_line(pid);
    const auto after = [&](std::string_view option) {
      const auto at = std::find(words.begin(), words.end(), option);
      return at == words.end() || at + 1 == words.end() ? std::string() : *(at + 1);
    };
    const auto node = node_of.find(after("--socket"));
    if (process && node != node_of.end() && after("--state-file") == place.state_file(node->second))
      found.emplace(node->second, std::move(process));
  }
  return found;
}

class SpawnActions {
 public:
  explicit SpawnActions(const std::string& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    // A session of its own: the terminal's Ctrl-C is for us, who then stop it in good order. And no
    // signal blocked, as we may have some.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  Result<void> spawn(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int code = posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(), environ);
    if (code == 0) return {};
    return fail(Error{code, words[0], std::strerror(code)});
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// What the agent of a switch in a layered expander is told of its ports.
std::vector<std::string> layer_arguments(const Fabric& fabric, const std::string& node) {
  std::vector<std::string> words;
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e)
      if (const auto layers = layers_of(link, e);
          layers && fabric.nodes[link.ends[e].node].name == node)
        words.push_back(fmt::format("--port.{}.layers={}", link.ends[e].port, to_string(*layers)));
  return words;
}

/// True if the process has ended by `deadline`.
bool wait_for_end(const UniqueFd& process, std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd p{process.get(), POLLIN, 0};
  return poll(&p, 1, static_cast<int>(std::max(left, milliseconds(0)).count())) > 0;
}

void send_signal(const UniqueFd& process, int signal) {
  syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::string default_agent() {
  std::error_code error;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "lldp-leveld";
  return std::filesystem::exists(beside, error) ? beside.string() : "lldp-leveld";
}

Result<std::size_t> start_agents(const Place& place, const Fabric& fabric,
                                 const std::vector<std::string>& nodes, const std::string& agent,
                                 const std::vector<std::string>& arguments) {
  const auto running = find_agents(place, nodes);
  std::map<std::string_view, Role> roles;
  for (const Node& node : fabric.nodes) roles.emplace(node.name, node.role);
  const KeepNamespace home;
  std::size_t started = 0;
  for (const std::string& node : nodes) {
    if (running.count(node) != 0) continue;
    // The child is in the namespace that its parent was in when it was made: no shell, no wrapper.
    if (auto ok = enter(place, node); !ok) return fail(ok.error());
    // Nothing in a namespace is physical: neither ports nor role would be found there.
    std::vector<std::string> words{agent,
                                   "--socket",
                                   place.socket(node),
                                   "--state-file",
                                   place.state_file(node),
                                   "--system-name",
                                   node,
                                   "--ports",
                                   "*"};
    if (const auto role = roles.find(node); role != roles.end())
      words.insert(words.end(), {"--role", std::string(to_string(role->second))});
    for (std::string& word : layer_arguments(fabric, node)) words.push_back(std::move(word));
    for (std::string word : arguments) {
      if (const auto at = word.find(kNodeMark); at != word.npos)
        word.replace(at, kNodeMark.size(), node);
      words.push_back(std::move(word));
    }
    if (auto ok = SpawnActions(place.log(node)).spawn(words); !ok) return fail(ok.error());
    ++started;
  }
  return started;
}

void stop_agents(const Place& place, const std::vector<std::string>& nodes) {
  const auto agents = find_agents(place, nodes);
  for (const auto& [node, process] : agents) send_signal(process, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (const auto& [node, process] : agents)
    if (!wait_for_end(process, deadline)) send_signal(process, SIGKILL);
  reap();
}

void kill_agents(const Place& place, const std::vector<std::string>& nodes) {
  const auto agents = find_agents(place, nodes);
  for (const auto& [node, process] : agents) send_signal(process, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (const auto& [node, process] : agents) static_cast<void>(wait_for_end(process, deadline));
  reap();
}

}  // namespace lldp::lab::live
