// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/ssh.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <list>

#include "base/text.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

namespace lldp::lab::collect {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxComplaint = 65536;  ///< octets of standard error that are kept

/// One ssh, which has its own process group. It is done when its process has ended: what it left
/// running (a shared connection) may hold its pipes for hours.
struct Child {
  std::size_t host = 0;
  pid_t pid = -1;
  UniqueFd process{};
  UniqueFd out{};
  UniqueFd err{};
  std::string said{};
  std::string complaint{};
  Clock::time_point deadline{};
  std::string failure{};
};

Error error_of(const std::string& host, std::string what) {
  return {0, escape(host), std::move(what)};
}

/// The last line of what was said, for an error of one line.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of("\r\n", end);
  const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
  return escape(text.substr(from, end + 1 - from));
}

Result<Child> start(std::size_t index, const std::string& host, const SshSettings& settings) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(error_of(host, std::strerror(errno)));
  Child child{.host = index, .out = UniqueFd(out[0])};
  const UniqueFd out_there(out[1]);
  if (pipe2(err.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(error_of(host, std::strerror(errno)));
  child.err = UniqueFd(err[0]);
  const UniqueFd err_there(err[1]);
  for (const int there : {out[1], err[1]}) fcntl(there, F_SETFL, 0);  // ssh may wait for us
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string connect_timeout = fmt::format(
      "ConnectTimeout={}", std::max(1L, std::lround(std::ceil(settings.timeout.count()))));
  const char* const words[] = {
      "ssh", "-o",         "BatchMode=yes",          "-o",   connect_timeout.c_str(),
      "--",  host.c_str(), settings.command.c_str(), nullptr};
  const pid_t parent = getpid();
  child.pid = fork();
  if (child.pid < 0) return fail(error_of(host, std::strerror(errno)));
  if (child.pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    dup2(nothing.get(), STDIN_FILENO);
    dup2(out_there.get(), STDOUT_FILENO);
    dup2(err_there.get(), STDERR_FILENO);
    execvp("ssh", const_cast<char* const*>(words));
    const char* const why = std::strerror(errno);
    (void)!write(STDERR_FILENO, why, std::strlen(why));
    _exit(127);
  }
  setpgid(child.pid, child.pid);
  child.process = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  child.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(settings.timeout);
  return child;
}

/// Reads what is there; closes at its end.
void read_all(UniqueFd& from, std::string& into, std::size_t most, bool& too_long) {
  std::array<char, 65536> buffer{};
  while (from) {
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      from = UniqueFd();
      return;
    }
    const std::size_t room = most - std::min(most, into.size());
    into.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
    if (static_cast<std::size_t>(n) > room) {
      too_long = true;
      return;
    }
  }
}

void read_all(Child& child) {
  bool too_long = false;
  read_all(child.out, child.said, kMaxFileOctets, too_long);
  if (too_long) child.failure = "too long an answer";
  read_all(child.err, child.complaint, kMaxComplaint, too_long);
}

Result<std::string> outcome_of(Child& child, const std::string& host) {
  if (!child.failure.empty()) {
    kill(-child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
    return fail(error_of(host, child.failure));
  }
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(child.said);
  const std::string why = last_line(child.complaint);
  const std::string how = WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status));
  return fail(error_of(host, why.empty() ? how : fmt::format("{} ({})", why, how)));
}

class Asking {
 public:
  Asking(const std::vector<std::string>& hosts, const SshSettings& settings)
      : hosts_(hosts),
        settings_(settings),
        answers_(hosts.size(), Result<std::string>(std::string())) {}

  std::vector<Result<std::string>> run(const std::function<void(std::size_t)>& progress) {
    std::size_t next = 0;
    std::size_t done = 0;
    while (done < hosts_.size()) {
      for (; next < hosts_.size() && children_.size() < std::max<std::size_t>(1, settings_.at_once);
           ++next) {
        auto child = start(next, hosts_[next], settings_);
        if (child) {
          children_.push_back(std::move(*child));
        } else {
          answers_[next] = fail(child.error());
          ++done;
        }
      }
      wait();
      done += reap();
      if (progress) progress(done);
    }
    return std::move(answers_);
  }

 private:
  void wait() {
    std::vector<pollfd> fds;
    auto first = Clock::time_point::max();
    for (const Child& c : children_) {
      first = std::min(first, c.deadline);
      for (const UniqueFd* fd : {&c.process, &c.out, &c.err})
        fds.push_back({fd->get(), POLLIN, 0});  // -1 is passed over
    }
    if (fds.empty()) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::clamp<long>(left, 0, 60'000)));
    auto fd = fds.begin();
    for (Child& c : children_) {
      const bool ended = fd->revents != 0;
      fd += 3;
      read_all(c);
      if (ended) c.process = UniqueFd();
    }
  }

  std::size_t reap() {
    std::size_t reaped = 0;
    const auto now = Clock::now();
    for (auto c = children_.begin(); c != children_.end();) {
      if (c->process && now >= c->deadline && c->failure.empty())
        c->failure = fmt::format("no answer within {} s", settings_.timeout.count());
      if (c->process && c->failure.empty()) {
        ++c;
        continue;
      }
      answers_[c->host] = outcome_of(*c, hosts_[c->host]);
      c = children_.erase(c);
      ++reaped;
    }
    return reaped;
  }

  const std::vector<std::string>& hosts_;
  const SshSettings& settings_;
  std::vector<Result<std::string>> answers_;
  std::list<Child> children_{};
};

}  // namespace

std::vector<Result<std::string>> ask_by_ssh(const std::vector<std::string>& hosts,
                                            const SshSettings& settings,
                                            const std::function<void(std::size_t)>& progress) {
  return Asking(hosts, settings).run(progress);
}

}  // namespace lldp::lab::collect
