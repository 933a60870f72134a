// SPDX-License-Identifier: Apache-2.0
// How long the back end sai waits for its process, and for whoever starts it: both played here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <deque>

#include "dataplane/factory.hpp"
#include "dataplane/sai/messages.hpp"
#include "dataplane/sai/spawner.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

/// Starts nothing: the test is the process.
class Played : public sai::Spawner {
 public:
  Played() : ended_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  [[nodiscard]] int fd() const override { return ended_fd_.get(); }
  [[nodiscard]] Result<void> start(UniqueFd connection) override {
    starts.push_back(Clock::now());
    if (refusal) return fail(*refusal);
    process = std::move(connection);
    return {};
  }
  void stop() override {
    if (!process) return;  // asked for already
    stops.push_back(Clock::now());
    end("ended by a signal");
  }
  [[nodiscard]] Result<std::optional<std::string>> ended() override {
    std::uint64_t count = 0;
    (void)!::read(ended_fd_.get(), &count, sizeof count);
    return std::exchange(how_, std::nullopt);
  }

  void end(std::string how) {
    process = UniqueFd();
    how_ = std::move(how);
    const std::uint64_t one = 1;
    (void)!::write(ended_fd_.get(), &one, sizeof one);
  }
  /// The back end's, which was made with that of the process.
  [[nodiscard]] int other_end() const {
    int type = 0;
    socklen_t size = sizeof type;
    for (int fd = process.get() - 1; fd > STDERR_FILENO; --fd)
      if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
        return fd;
    return -1;
  }
  /// The next request, if there is one.
  std::optional<sai::Request> asked() const {
    std::string text(sai::kMaxMessage, '\0');
    const ssize_t size = ::recv(process.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (size <= 0) return std::nullopt;
    return sai::parse_request({text.data(), static_cast<std::size_t>(size)}).value();
  }
  void say(const sai::Answer& answer) const {
    const std::string text = format(answer);
    ASSERT_EQ(::send(process.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  UniqueFd process{};
  std::vector<Clock::time_point> starts{};
  std::vector<Clock::time_point> stops{};
  std::optional<Error> refusal{};

 private:
  UniqueFd ended_fd_;
  std::optional<std::string> how_{};
};

class SaiProcess : public testing::Test {
 protected:
  void open(const SaiTimes& times) {
    auto opened = make_backend("sai", {.sai = {.memory = files_.path() + "/memory",
                                               .spawner = played_,
                                               .opening = 0ms,
                                               .times = times}});
    ASSERT_TRUE(opened) << to_string(opened.error());
    backend_ = std::move(*opened);
  }
  /// Lets the back end do what is due until `done`.
  template <class Done>
  bool until(Done done) {
    for (const auto end = Clock::now() + 60s; !done();) {
      if (Clock::now() > end) return false;
      pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 10);
      changes_ += backend_->take_events().changed.size();
    }
    return true;
  }
  /// It comes up.
  void answer() {
    ASSERT_TRUE(until([&] { return played_->asked().has_value(); }));
    played_->say(sai::View{.release = "1.14.0"});
    ASSERT_TRUE(until([&] { return !backend_->down(); })) << down();
  }
  std::string down() const {
    const auto why = backend_->down();
    return why ? why->what : "";
  }
  std::size_t starts() const { return played_->starts.size(); }
  /// From one start to the next.
  Clock::duration pause(std::size_t after) const {
    return played_->starts.at(after) - played_->starts.at(after - 1);
  }

  TempDir files_;
  std::shared_ptr<Played> played_ = std::make_shared<Played>();
  std::unique_ptr<Backend> backend_;
  std::size_t changes_ = 0;
};

TEST_F(SaiProcess, ThatDoesNotComeUpIsEndedAfterTheLastPatienceAndStartedAnew) {
  open({.answer = 10ms, .last = 150ms, .first_restart = 5ms});
  EXPECT_EQ(down(), "libsai has not answered yet");
  ASSERT_TRUE(until([&] { return starts() == 2; }));
  ASSERT_EQ(played_->stops.size(), 1U);
  EXPECT_GE(played_->stops[0] - played_->starts[0], 150ms)
      << "it has no answer to be late with yet";
  EXPECT_EQ(down(), "libsai's process has ended (ended by a signal): it is started anew");
  answer();
}

TEST_F(SaiProcess, ThatSaysItIsBusyWhileItComesUpIsWaitedForAnew) {
  open({.answer = 10ms, .last = 200ms, .first_restart = 5ms});
  ASSERT_TRUE(until([&] { return played_->asked().has_value(); }));
  const auto busy = Clock::now() + 150ms;
  ASSERT_TRUE(until([&] { return Clock::now() > busy; }));
  played_->say(sai::Busy{});
  ASSERT_TRUE(until([&] { return !played_->stops.empty(); }));
  EXPECT_GE(played_->stops[0] - busy, 200ms);
}

TEST_F(SaiProcess, ThatHangsIsToldOfSoonAndEndedAfterTheLastPatience) {
  open({.period = 20ms, .answer = 50ms, .last = 250ms, .first_restart = 5ms});
  answer();
  ASSERT_TRUE(until([&] { return played_->asked().has_value(); })) << "every period";
  const auto asked = Clock::now();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_GE(Clock::now() - asked, 30ms);
  EXPECT_EQ(down(),
            "libsai has not answered for 0.05 s: it is waited for, and its process started anew "
            "after 0.25 s");
  EXPECT_TRUE(played_->stops.empty());
  const auto told = Clock::now();
  ASSERT_TRUE(until([&] { return !played_->stops.empty(); }));
  EXPECT_GE(played_->stops[0] - told, 200ms);
  ASSERT_TRUE(until([&] { return starts() == 2; }));
  answer();
}

TEST_F(SaiProcess, ThatHungAndAnswersIsUpAgain) {
  open({.period = 20ms, .answer = 20ms, .last = 9s});
  answer();
  ASSERT_TRUE(until([&] { return played_->asked().has_value(); }));
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  played_->say(sai::View{.release = "1.14.0"});
  ASSERT_TRUE(until([&] { return played_->asked().has_value(); }))
      << "what was asked before was given up, and its answer may be of then";
  EXPECT_NE(down(), "");
  played_->say(sai::View{.release = "1.14.0"});
  ASSERT_TRUE(until([&] { return !backend_->down(); })) << down();
  EXPECT_TRUE(played_->stops.empty());
}

TEST_F(SaiProcess, ThatEndsAgainAndAgainIsStartedEverMoreRarely) {
  open({.first_restart = 20ms, .last_restart = 100ms});
  for (std::size_t n = 1; n <= 5; ++n) {
    played_->end("killed by signal 11");
    ASSERT_TRUE(until([&] { return starts() == n + 1; }));
  }
  EXPECT_GE(pause(1), 20ms);
  EXPECT_GE(pause(2), 40ms);
  EXPECT_GE(pause(3), 80ms);
  EXPECT_GE(pause(4), 100ms);
}

TEST_F(SaiProcess, ThatHasWorkedForLongIsStartedAtOnceAgain) {
  open({.first_restart = 60ms, .last_restart = 2s});
  const auto end = [&] {
    const std::size_t before = starts();
    played_->end("killed by signal 11");
    ASSERT_TRUE(until([&] { return starts() == before + 1; }));
  };
  for (int n = 0; n < 5; ++n) end();
  EXPECT_GE(pause(5), 960ms);
  const auto worked = Clock::now() + 2050ms;
  ASSERT_TRUE(until([&] { return Clock::now() > worked; }));
  const auto ended = Clock::now();
  end();
  EXPECT_LT(played_->starts.back() - ended, pause(5));
}

TEST_F(SaiProcess, ThatCannotBeStartedIsTriedAgainWithTheLastPauseBetween) {
  played_->refusal = Error{0, "backend sai", "no process can be had"};
  open({.first_restart = 1ms, .last_restart = 100ms});
  EXPECT_EQ(down(), "backend sai: no process can be had");
  ASSERT_TRUE(until([&] { return starts() == 2; }));
  EXPECT_GE(pause(1), 100ms);
  played_->refusal.reset();
  answer();
}

TEST_F(SaiProcess, ThatSpeaksOtherwiseIsEnded) {
  open({.first_restart = 1ms});
  ASSERT_TRUE(until([&] { return played_->asked().has_value(); }));
  ASSERT_EQ(::send(played_->process.get(), "{", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(until([&] { return starts() == 2; }));
  EXPECT_EQ(played_->stops.size(), 1U);
  answer();
}

TEST_F(SaiProcess, ThatTakesNoMoreIsEnded) {
  open({.period = 20ms, .first_restart = 1ms});
  answer();
  ASSERT_EQ(::shutdown(played_->process.get(), SHUT_RD), 0);
  ASSERT_TRUE(until([&] { return starts() == 2; }));
  EXPECT_EQ(played_->stops.size(), 1U);
  answer();
}

// Frames, timers and whoever asks have their turns too.
TEST_F(SaiProcess, ThatFloodsHasItsShareOfATurn) {
  open({.period = 9s, .answer = 9s});
  answer();
  const std::string busy = format(sai::Answer(sai::Busy{}));
  EXPECT_GT(fill(played_->process.get(), busy), 64U);
  (void)backend_->take_events();
  EXPECT_LE(fill(played_->process.get(), busy), 16U);
  EXPECT_EQ(down(), "");
}

// The kernel lacks memory for the message, or the like.
TEST_F(SaiProcess, ThatCannotBeAskedOnceIsAskedAgain) {
  open({.period = 20ms});
  answer();
  const int ours = played_->other_end();
  const UniqueFd kept(::dup(ours));
  const UniqueFd none(::eventfd(0, EFD_CLOEXEC));
  ASSERT_EQ(::dup2(none.get(), ours), ours);
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_EQ(down(), "libsai's process cannot be asked: Socket operation on non-socket");
  ASSERT_EQ(::dup2(kept.get(), ours), ours);
  answer();
  EXPECT_TRUE(played_->stops.empty());
}

}  // namespace
}  // namespace lldp::dataplane
