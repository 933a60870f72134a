// SPDX-License-Identifier: Apache-2.0
// How lldpd is looked for, with a socket that only pretends to be its; time is moved by hand.
#include "agent/lldpd/client.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "agent/lldpd/library.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::lldpd {
namespace {

using namespace std::chrono_literals;

/// Listens where lldpd would, and hangs up on whoever comes.
class Listener {
 public:
  explicit Listener(const std::string& path, int backlog = 16)
      : fd_(socket_at(path, SOCK_STREAM, backlog)) {}
  void hang_up() const {
    while (UniqueFd(::accept(fd_.get(), nullptr, nullptr))) continue;
  }

 private:
  UniqueFd fd_;
};

class LldpdClient : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto loaded = library(); !loaded) GTEST_SKIP() << to_string(loaded.error());
    ASSERT_EQ(::mkdir(directory_.c_str(), 0755), 0);
    client_.emplace(Client::Settings{.socket = directory_ + "/socket"},
                    [](std::string_view, ByteSpan) {});
  }
  /// How long it waits before it tries again; nullopt: until something happens.
  [[nodiscard]] std::optional<Duration> pause() const {
    const auto due = client_->next_deadline();
    return due ? std::optional(*due - now_) : std::nullopt;
  }
  [[nodiscard]] bool has_news() const {
    pollfd ready{.fd = client_->fd(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 1000) > 0;
  }
  /// One attempt that finds somebody, and loses him.
  void find_and_lose(const Listener& listener) {
    client_->advance(now_);
    ASSERT_EQ(client_->state(), Client::State::kSyncing) << to_string(client_->reason());
    listener.hang_up();
    for (int i = 0; i < 100 && client_->state() != Client::State::kAbsent; ++i) {
      client_->advance(now_);
      client_->receive(now_);
    }
    ASSERT_EQ(client_->state(), Client::State::kAbsent);
  }

  TempDir dir_;
  std::string directory_ = dir_ / "lldpd";
  TimePoint now_{1000s};
  std::optional<Client> client_{};
};

TEST_F(LldpdClient, WaitsTwiceAsLongAfterEachLoss) {
  const Listener listener(directory_ + "/socket");
  for (const Duration expected :
       {Duration(100ms), Duration(200ms), Duration(400ms), Duration(800ms), Duration(1600ms),
        Duration(3200ms), Duration(6400ms), Duration(10s), Duration(10s)}) {
    find_and_lose(listener);
    EXPECT_EQ(pause(), expected);
    now_ += expected;
  }
}

TEST_F(LldpdClient, AsksOneThatIsTooBusyOnceASecondAtLeast) {
  const Listener listener(directory_ + "/socket", 0);  // with room for one, and nobody who takes it
  const auto address = unix_address(directory_ + "/socket");
  const UniqueFd first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ASSERT_EQ(::connect(first.get(), address->get(), address->size), 0);
  for (const Duration expected : {Duration(100ms), Duration(200ms), Duration(400ms),
                                  Duration(800ms), Duration(1s), Duration(1s)}) {
    client_->advance(now_);
    EXPECT_EQ(client_->reason().code, EAGAIN);
    EXPECT_EQ(pause(), expected);
    now_ += expected;
  }
}

TEST_F(LldpdClient, WaitsWhereNotAllOfItsConnectionsFindRoom) {
  for (int backlog = 0; backlog < 4; ++backlog) {  // with room for one more than that
    const std::string path = directory_ + "/socket" + std::to_string(backlog);
    const Listener listener(path, backlog);
    Client client({.socket = path}, [](std::string_view, ByteSpan) {});
    client.advance(now_);
    EXPECT_EQ(client.state(), Client::State::kAbsent) << backlog;
    EXPECT_EQ(client.reason().code, EAGAIN) << backlog;
  }
  const Listener listener(directory_ + "/socket", 4);
  client_->advance(now_);
  EXPECT_EQ(client_->state(), Client::State::kSyncing);
}

TEST_F(LldpdClient, IsToldWhenTheSocketComes) {
  client_->advance(now_);
  EXPECT_EQ(client_->reason().code, ENOENT);
  EXPECT_EQ(pause(), std::nullopt);
  const Listener listener(directory_ + "/socket");
  ASSERT_TRUE(has_news());
  client_->receive(now_);
  EXPECT_EQ(pause(), Duration(0));
}

TEST_F(LldpdClient, NoticesThatTheSocketIsTakenAway) {
  {
    const Listener listener(directory_ + "/socket");
    find_and_lose(listener);
  }
  client_->receive(now_);  // what its coming left
  EXPECT_GT(pause(), Duration(0));
  ASSERT_EQ(::unlink((directory_ + "/socket").c_str()), 0);
  ASSERT_TRUE(has_news());
  client_->receive(now_);
  EXPECT_EQ(pause(), Duration(0));
  client_->advance(now_);
  EXPECT_EQ(client_->reason().code, ENOENT);
}

TEST_F(LldpdClient, FindsASocketInADirectoryThatWasMadeAnew) {
  client_->advance(now_);
  EXPECT_EQ(pause(), std::nullopt);
  ASSERT_EQ(::rmdir(directory_.c_str()), 0);
  ASSERT_TRUE(has_news());
  client_->receive(now_);
  client_->advance(now_);
  ASSERT_TRUE(pause()) << "it waits for word from a directory that is gone";
  ASSERT_EQ(::mkdir(directory_.c_str(), 0755), 0);
  const Listener listener(directory_ + "/socket");
  now_ += *pause();
  client_->advance(now_);
  EXPECT_EQ(client_->state(), Client::State::kSyncing);
}

}  // namespace
}  // namespace lldp::lldpd
