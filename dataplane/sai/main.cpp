// SPDX-License-Identifier: Apache-2.0
// The process with a vendor's libsai: lldp-level-sai LIBRARY [PROFILE]. Asked by the daemon over
// standard input, a socket of whole messages; ends with it.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <variant>

#include "dataplane/sai/library.hpp"

namespace {

using namespace lldp::dataplane::sai;

constexpr int kSocket = 0;
constexpr auto kSignOfLife = std::chrono::milliseconds(250);

bool tell(const Answer& answer) {
  const std::string text = format(answer);
  return ::send(kSocket, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

int run(const std::string& path, const std::string& profile) {
  auto told = std::chrono::steady_clock::now();
  auto library = SaiLibrary::open(path, profile, [&](const Answer& meanwhile) {
    pollfd daemon{.fd = kSocket, .events = 0, .revents = 0};
    if (::poll(&daemon, 1, 0) > 0 && (daemon.revents & POLLHUP) != 0) ::_exit(0);
    const auto now = std::chrono::steady_clock::now();
    if (std::holds_alternative<Busy>(meanwhile) && now - told < kSignOfLife) return;
    told = now;
    tell(meanwhile);
  });
  std::string text(kMaxMessage, '\0');
  while (true) {
    const ssize_t size = ::recv(kSocket, text.data(), text.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return 0;  // the daemon has ended
    told = std::chrono::steady_clock::now();
    if (!library) {  // said once: the daemon starts us again when it is worth another try
      tell(Refused{to_string(library.error())});
      return 1;
    }
    const auto request = parse_request({text.data(), static_cast<std::size_t>(size)});
    Answer answer = request ? (*library)->answer(*request) : Refused{to_string(request.error())};
    if (!tell(answer)) {
      if (errno != EMSGSIZE || !tell(Refused{"libsai: has more ports than fit into a message"}))
        return 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: lldp-level-sai LIBRARY [PROFILE], started by lldp-leveld\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_NAME, "lldp-level-sai");
  std::signal(SIGPIPE, SIG_IGN);
  // It ends with its connection, between two calls: within one it would keep its vendor's locks.
  // Neither the daemon's end nor a stop of the whole service cuts one off; SIGKILL does.
  std::signal(SIGTERM, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, 0);
  try {
    return run(argv[1], argc == 3 ? argv[2] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lldp-level-sai: %s\n", e.what());
    return 1;
  }
}
