// SPDX-License-Identifier: Apache-2.0
#include "lab/live/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the user

namespace lldp::lab::live {
namespace {

/// The arguments of a process; empty when it is gone.
std::vector<std::string> command_line(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(std::move(word));
  return words;
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
    // A session of its own: Ctrl-C of the terminal goes to this process alone, which then stops the
    // child in order. No signal stays blocked, though this process may block some.
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

Result<void> spawn(const std::vector<std::string>& words, const std::string& log) {
  return SpawnActions(log).spawn(words);
}

std::string last_line(const std::string& log) {
  std::ifstream in(log);
  std::string last = "its log is empty";
  for (std::string line; std::getline(in, line);) last = line;
  return last;
}

Processes find_processes(
    const std::function<std::string(const std::vector<std::string>& words)>& node_of) {
  Processes found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{}) continue;
    // Opened before the command line is read: a process that ends in between is not mistaken for
    // another of the same number.
    UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    std::string node = node_of(command_line(pid));
    if (process && !node.empty()) found.emplace(std::move(node), std::move(process));
  }
  return found;
}

void end_processes(const Processes& processes) {
  for (const auto& [node, process] : processes) send_signal(process, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (const auto& [node, process] : processes)
    if (!wait_for_end(process, deadline)) send_signal(process, SIGKILL);
  reap();
}

void kill_processes(const Processes& processes) {
  for (const auto& [node, process] : processes) send_signal(process, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (const auto& [node, process] : processes) static_cast<void>(wait_for_end(process, deadline));
  reap();
}

}  // namespace lldp::lab::live
