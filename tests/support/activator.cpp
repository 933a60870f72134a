// SPDX-License-Identifier: Apache-2.0
#include "tests/support/activator.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "os/unix_address.hpp"

namespace lldp::support {
namespace {

constexpr int kFirst = 3;  // sd_listen_fds(3)

[[noreturn]] void run(int listening, char* const* words) {
  while (true) {
    pollfd ready{listening, POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0) continue;
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(listening, kFirst);
      if (listening == kFirst) ::fcntl(kFirst, F_SETFD, 0);
      ::setenv("LISTEN_FDS", "1", 1);
      ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
      ::execvp(words[0], words);
      ::_exit(127);
    }
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace

Activator::Activator(std::string socket, std::vector<std::string> command)
    : socket_(std::move(socket)) {
  const int listening = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto address = unix_address(socket_);
  if (!address || ::bind(listening, address->get(), address->size) != 0 ||
      ::listen(listening, 8) != 0) {
    std::perror(socket_.c_str());
    std::abort();
  }
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(listening, words.data());
  }
  ::close(listening);
}

Activator::~Activator() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::unlink(socket_.c_str());
}

pid_t Activator::running() const {
  const std::string id = std::to_string(pid_);
  pid_t child = 0;
  std::ifstream("/proc/" + id + "/task/" + id + "/children") >> child;
  return child;
}

}  // namespace lldp::support
