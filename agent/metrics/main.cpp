// SPDX-License-Identifier: Apache-2.0
// lldp-level-exporter: what a daemon knows, for Prometheus. Started by `lldp-level metrics` and by
// lldp-leveld; a program of its own because the daemon has capabilities that nothing which listens
// on the network shall have, and because the libraries would slow down every start of lldp-level.
#include <fcntl.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>

#include "agent/config/listen.hpp"
#include "agent/control/source.hpp"
#include "agent/metrics/metrics.hpp"
#include "agent/metrics/server.hpp"
#include "os/file.hpp"

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

Result<Families> scrape(control::DaemonSource& daemon,
                        std::optional<ethtool::PriorityCounters>& counters) {
  auto said = daemon.ask({"org.varlink.service.GetInfo", "org.lldplevel.Rules",
                          "org.lldplevel.Show",  // by what Rules found
                          "org.lldplevel.Stats"},
                         kPatience);
  if (!said) return fail(said.error());
  auto& [info, rules, show, stats] = *said;
  DriverCounts drivers;
  if (counters) {
    counters->forget_unread();
    drivers = [&](const std::string& port, unsigned ifindex, std::uint64_t state) {
      return counters->read(port, ifindex, state);
    };
  }
  return families({.info = std::move(info),
                   .show = std::move(show),
                   .stats = std::move(stats),
                   .rules = std::move(rules)},
                  drivers);
}

/// The drivers' counters in this network namespace; nothing where it cannot be asked.
std::optional<ethtool::PriorityCounters> drivers() {
  auto ask = ethtool::open();
  return ask ? std::optional<ethtool::PriorityCounters>(std::move(*ask)) : std::nullopt;
}

/// For the server. What went wrong is told when it begins, not at every scrape.
std::string metrics(control::DaemonSource& daemon,
                    std::optional<ethtool::PriorityCounters>& counters) {
  const auto scraped = scrape(daemon, counters);
  if (const auto wrong = daemon.news(scraped)) complain(*wrong);
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, scraped ? *scraped : no_daemon());
  return std::move(out).str();
}

int print_once(control::DaemonSource& daemon) {
  auto counters = drivers();
  const auto scraped = scrape(daemon, counters);
  prometheus::TextSerializer().Serialize(std::cout, scraped ? *scraped : no_daemon());
  std::cout.flush();
  if (!scraped) return complain(to_string(scraped.error())), kFailed;
  if (!std::cout) return complain("standard output: cannot be written"), kFailed;
  return kDone;
}

/// Serves until SIGTERM or SIGINT, or until the daemon that gave us its connection closes it.
[[nodiscard]] int serve(control::DaemonSource& daemon, const std::string& address) {
  // At once, even in the middle of a scrape: there is nothing to put in order.
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { ::_exit(kDone); });
  boost::asio::io_context loop(1);
  auto counters = drivers();
  const auto server = Server::open(loop, address, [&] { return metrics(daemon, counters); });
  if (!server) return complain(to_string(server.error())), kFailed;
  boost::asio::posix::stream_descriptor given(loop);
  const std::function<void()> watch = [&] {
    given.async_wait(boost::asio::posix::stream_descriptor::wait_read, [&](auto) {
      if (!daemon.stays()) return loop.stop();
      watch();
    });
  };
  if (daemon.given()) {
    given.assign(STDIN_FILENO);
    watch();
  }
  loop.run();
  complain("lldp-leveld: hung up");
  std::fflush(stderr);
  ::_exit(kFailed);
}

int run(int argc, char** argv) {
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::puts(
        "usage: lldp-level-exporter SOCKET|- [ADDRESS:PORT]\n"
        "What lldp-level metrics becomes: prints what the daemon knows, in the terms of\n"
        "Prometheus, or answers it by HTTP.");
    return flush_output("lldp-level-exporter");
  }
  if (word == "--version" || word == "-V") {
    std::puts("lldp-level-exporter " LLDP_VERSION);
    return flush_output("lldp-level-exporter");
  }
  if (argc != 2 && argc != 3) {
    complain("use: lldp-level-exporter SOCKET|- [ADDRESS:PORT]; people use lldp-level metrics");
    return kUsage;
  }
  control::DaemonSource daemon(argv[1]);
  if (argc == 2) return print_once(daemon);
  const auto address = config::parse_listen(argv[2]);
  if (!address) return complain(to_string(address.error())), kUsage;
  return serve(daemon, *address);
}

}  // namespace
}  // namespace lldp::metrics

int main(int argc, char** argv) {
  lldp::hold_standard_streams("/", O_PATH);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return lldp::metrics::run(argc, argv);
  } catch (const std::exception& e) {  // ours throws nothing; the server's library may
    lldp::metrics::complain(e.what());
    return lldp::metrics::kFailed;
  }
}
