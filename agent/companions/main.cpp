// SPDX-License-Identifier: Apache-2.0
// lldp-level-launcher: a launcher that is a service of its own, with the user and the limits that
// its unit gives it. What it starts is what the configuration's file says and nothing else: not
// what the daemon asks for, which reads what strangers send.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "agent/companions/kind.hpp"
#include "agent/companions/launcher.hpp"
#include "agent/config/config.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

namespace lldp::io {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr int kListening = 3;         ///< sd_listen_fds(3)
constexpr int kNobodyComes = 10'000;  ///< ms

void complain(std::string_view what) {
  std::fprintf(stderr, "lldp-level-launcher: %.*s\n", static_cast<int>(what.size()), what.data());
}

bool was_given_a_socket() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  return pid != nullptr && count != nullptr && std::strtol(pid, nullptr, 10) == ::getpid() &&
         std::string_view(count) == "1";
}

int run(int argc, char** argv) {
  const std::string_view word = argc >= 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::puts(
        "usage: lldp-level-launcher exporter|agentx|hook [FILE [DIRECTORY]]\n"
        "Started by its socket when lldp-leveld connects there: starts what the\n"
        "configuration FILE and the files of DIRECTORY (FILE.d) say of that, and ends\n"
        "with the daemon.");
    return flush_output("lldp-level-launcher");
  }
  if (word == "--version" || word == "-V") {
    std::puts("lldp-level-launcher " LLDP_VERSION);
    return flush_output("lldp-level-launcher");
  }
  const auto* kind = std::ranges::find_if(kKinds, [&](const Kind* k) { return word == k->name; });
  if (kind == kKinds.end() || argc > 4) {
    complain("use: lldp-level-launcher exporter|agentx|hook [FILE [DIRECTORY]]; systemd does");
    return kUsage;
  }
  if (!was_given_a_socket()) {
    complain("there is no socket: start lldp-level.service, which brings it up");
    return kUsage;
  }
  // Started because the daemon connects, or restarted with the daemon, which may not need it now.
  pollfd socket{kListening, POLLIN, 0};
  if (::poll(&socket, 1, kNobodyComes) <= 0) return kDone;
  UniqueFd daemon(::accept4(kListening, nullptr, nullptr, SOCK_CLOEXEC));
  ::close(kListening);
  if (!daemon) return kDone;  // the client has gone
  // Only now: a client that connected must not wait for a launcher that cannot start.
  config::Invocation from{.file = std::string(argc >= 3 ? argv[2] : config::kDefaultFile)};
  if (argc == 4) from.drop_ins = argv[3];
  auto config = config::load(from);
  if (!config) {
    for (const Error& error : config.error()) complain(to_string(error));
    return kFailed;
  }
  const Only only{.words = (*kind)->words(*config),
                  .limit = *kind == &kHook ? kHookLimit : std::chrono::milliseconds{0},
                  .user = (*kind)->user};
  serve_launcher(std::move(daemon), only);
}

}  // namespace
}  // namespace lldp::io

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return lldp::io::run(argc, argv);
  } catch (const std::exception& e) {  // ours throws nothing; libraries may
    lldp::io::complain(e.what());
    return lldp::io::kFailed;
  }
}
