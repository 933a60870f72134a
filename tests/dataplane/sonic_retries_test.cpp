// SPDX-License-Identifier: Apache-2.0
// A Redis that takes connections and is none.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "dataplane/factory.hpp"
#include "os/fd.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;

/// Hands over every connection that the back end makes, until `enough`; how long that took.
std::chrono::steady_clock::duration connections(const std::function<void(UniqueFd)>& take,
                                                const std::function<bool()>& enough) {
  const TempDir files;
  const std::string path = files / "redis";
  const UniqueFd listener = socket_at(path, SOCK_STREAM, 8);
  const auto start = std::chrono::steady_clock::now();
  const auto backend = make_backend("sonic", {.sonic = {.redis = path, .config = "/none"}});
  EXPECT_TRUE(backend);
  while (backend && !enough()) {
    pollfd ready[] = {{.fd = listener.get(), .events = POLLIN, .revents = 0},
                      {.fd = (*backend)->events(), .events = POLLIN, .revents = 0}};
    ::poll(ready, 2, 1000);
    if (ready[0].revents != 0) take(UniqueFd(::accept(listener.get(), nullptr, nullptr)));
    (void)(*backend)->take_events();
  }
  return std::chrono::steady_clock::now() - start;
}

// One that closes them is not asked ten times a second for ever.
TEST(SonicRetries, AreEachTwiceAsFarAway) {
  int attempts = 0;
  const auto took =
      connections([&](const UniqueFd&) { ++attempts; }, [&] { return attempts == 5; });
  EXPECT_GE(took, 1500ms);  // 100, 200, 400 and 800 ms lie between the five
}

// The connection may be dead for good, though nobody has said so: the far end has lost its power.
TEST(SonicRetries, LeaveAConnectionThatDoesNotAnswerForANewOne) {
  std::vector<UniqueFd> clients;
  bool closed = false;
  (void)connections(
      [&](UniqueFd client) {
        clients.push_back(std::move(client));
        std::array<char, 4096> asked{};
        ssize_t size = 1;
        while (clients.size() == 2 && size > 0)
          size = ::recv(clients[0].get(), asked.data(), asked.size(), MSG_DONTWAIT);
        closed = size == 0;
      },
      [&] { return clients.size() == 2; });
  EXPECT_TRUE(closed) << "the old one is not";
}

}  // namespace
}  // namespace lldp::dataplane
