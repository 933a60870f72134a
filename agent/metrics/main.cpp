// SPDX-License-Identifier: Apache-2.0
// lldp-level-exporter: what a daemon knows, for Prometheus. Started by `lldp-level metrics` and by
// lldp-leveld; a program of its own because the daemon has capabilities that nothing which listens
// on the network shall have, and because the libraries would slow down every start of lldp-level.
#include <netdb.h>
#include <poll.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>

#include "agent/config/listen.hpp"
#include "agent/control/connection.hpp"
#include "agent/metrics/metrics.hpp"

namespace lldp::metrics {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// Less than Prometheus itself waits for a scrape (10 s), so that it hears `lldp_level_up 0`.
constexpr std::chrono::seconds kPatience{5};

using Families = std::vector<prometheus::MetricFamily>;

/// The caller's name: `lldp-level` where that has become this program.
void complain(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what.c_str());
}

Result<Families> ask(control::Connection& connection) {
  const control::Deadline deadline = std::chrono::steady_clock::now() + kPatience;
  Answers answers;
  for (const auto& [method, answer] : {std::pair("org.varlink.service.GetInfo", &answers.info),
                                       {"org.lldplevel.Show", &answers.show},
                                       {"org.lldplevel.Stats", &answers.stats},
                                       {"org.lldplevel.Rules", &answers.rules}}) {
    if (const auto asked = connection.call(method, "{}"); !asked) return fail(asked.error());
    auto said = connection.next(deadline);
    if (!said) return fail(said.error());
    *answer = std::move(*said);
  }
  return families(answers);
}

/// The daemon at a path, which may come and go, or at the other end of standard input.
class Daemon final : public prometheus::Collectable {
 public:
  explicit Daemon(std::string path) : path_(std::move(path)) {
    if (path_ == "-") given_.emplace(control::Connection::adopt(STDIN_FILENO, "lldp-leveld"));
  }
  [[nodiscard]] bool given() const { return given_.has_value(); }

  Result<Families> scrape() const {
    if (given_) return ask(*given_);
    auto connection = control::Connection::open(path_);
    if (!connection) return fail(connection.error());
    return ask(*connection);
  }

  /// Called by the server's threads. What went wrong is told when it begins, not at every scrape.
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::scoped_lock alone(mutex_);
    // In a thread with a stack of the usual size: the server's own have 100 KiB.
    auto scraped = std::async(std::launch::async, [this] { return scrape(); }).get();
    const std::string wrong = scraped ? std::string() : to_string(scraped.error());
    if (wrong != wrong_ && !wrong.empty()) complain(wrong);
    wrong_ = wrong;
    return scraped ? std::move(*scraped) : no_daemon();
  }

 private:
  std::string path_;
  mutable std::optional<control::Connection> given_;
  mutable std::mutex mutex_;
  mutable std::string wrong_;  ///< what was told last
};

int print_once(const Daemon& daemon) {
  const auto scraped = daemon.scrape();
  prometheus::TextSerializer().Serialize(std::cout, scraped ? *scraped : no_daemon());
  std::cout.flush();
  if (!scraped) return complain(to_string(scraped.error())), kFailed;
  if (!std::cout) return complain("standard output: cannot be written"), kFailed;
  return kDone;
}

/// Why one cannot listen there; the server's library would not say.
Result<void> can_listen(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool bracketed = address.front() == '[';
  const std::string host = bracketed ? address.substr(1, colon - 2) : address.substr(0, colon);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0)
    return fail(Error{EINVAL, address, "is no address"});
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  const bool good = fd >= 0 && ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                    ::bind(fd, found->ai_addr, found->ai_addrlen) == 0 && ::listen(fd, 1) == 0;
  const int code = errno;
  if (fd >= 0) ::close(fd);
  if (good) return {};
  return fail(Error{code, address, "cannot be listened at: " + std::string(std::strerror(code))});
}

/// Serves until SIGTERM or SIGINT, or until the daemon that gave us its connection closes it.
[[nodiscard]] int serve(const std::shared_ptr<Daemon>& daemon, const std::string& address) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // before the server's threads are made
  const int stopped = ::signalfd(-1, &stop, SFD_CLOEXEC);
  if (const auto free = can_listen(address); !free)
    return complain(to_string(free.error())), kFailed;
  // Four clients at once; one that is slow to ask keeps its thread for 5 s.
  prometheus::Exposer server(std::vector<std::string>{"listening_ports", address, "num_threads",
                                                      "4", "request_timeout_ms", "5000"});
  server.RegisterCollectable(daemon);
  pollfd ends[] = {{stopped, POLLIN, 0}, {daemon->given() ? STDIN_FILENO : -1, POLLRDHUP, 0}};
  while (::poll(ends, 2, -1) < 0 && errno == EINTR) continue;
  if (ends[0].revents == 0) complain("lldp-leveld: hung up");
  std::_Exit(ends[0].revents != 0 ? kDone : kFailed);  // the server takes 2 s to end its threads
}

int run(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    complain("use: lldp-level-exporter SOCKET|- [ADDRESS:PORT]; people use lldp-level metrics");
    return kUsage;
  }
  const auto daemon = std::make_shared<Daemon>(argv[1]);
  if (argc == 2) return print_once(*daemon);
  const auto address = config::parse_listen(argv[2]);
  if (!address) return complain(to_string(address.error())), kUsage;
  return serve(daemon, *address);
}

}  // namespace
}  // namespace lldp::metrics

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return lldp::metrics::run(argc, argv);
  } catch (const std::exception& e) {  // ours throws nothing; the server's library may
    lldp::metrics::complain(e.what());
    return lldp::metrics::kFailed;
  }
}
