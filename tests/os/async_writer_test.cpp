// SPDX-License-Identifier: Apache-2.0
#include "os/async_writer.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <future>
#include <thread>

namespace lldp {
namespace {

using namespace std::chrono_literals;

bool readable(const AsyncWriter& aside, int milliseconds) {
  pollfd asked{.fd = aside.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, milliseconds) == 1;
}

AsyncWriter::Job ends_with(int code) {
  return [code]() -> Result<void> {
    if (code == 0) return {};
    return fail(Error{.code = code});
  };
}

TEST(AsyncWriter, TellsByItsDescriptorWhatBecameOfIt) {
  const auto aside = make_async_writer();
  ASSERT_GE(aside->fd(), 0);
  EXPECT_FALSE(aside->take()) << "nothing was started";
  EXPECT_FALSE(readable(*aside, 0));
  for (const int code : {0, EIO, 0}) {
    aside->start(ends_with(code));
    ASSERT_TRUE(readable(*aside, 10'000));
    const auto outcome = aside->take();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->has_value(), code == 0);
    EXPECT_FALSE(readable(*aside, 0)) << "taken";
    EXPECT_FALSE(aside->take()) << "once";
  }
}

TEST(AsyncWriter, OwnerGoesOnMeanwhile) {
  const auto aside = make_async_writer();
  std::promise<void> held;
  aside->start([&held]() -> Result<void> {
    held.get_future().wait();
    return {};
  });
  EXPECT_FALSE(aside->take());
  EXPECT_FALSE(readable(*aside, 0));
  EXPECT_FALSE(aside->wait(1ms));
  held.set_value();
  EXPECT_TRUE(aside->wait(10s));
  EXPECT_FALSE(aside->wait(10s)) << "there is nothing to be waited for";
}

TEST(AsyncWriter, GoesWhileItIsBusy) {
  const auto held = std::make_shared<std::promise<void>>();
  const auto done = std::make_shared<std::promise<void>>();
  auto ended = done->get_future();
  {
    const auto aside = make_async_writer();
    aside->start([held, done]() -> Result<void> {
      held->get_future().wait();
      done->set_value();
      return {};
    });
  }
  held->set_value();
  EXPECT_EQ(ended.wait_for(10s), std::future_status::ready);
}

TEST(AsyncWriter, SignalsAreTheOwners) {
  const auto aside = make_async_writer();
  sigset_t blocked{};
  aside->start([&blocked]() -> Result<void> {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return {};
  });
  ASSERT_TRUE(aside->wait(10s));
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
}

void does_at_once(AsyncWriter& aside) {
  EXPECT_LT(aside.fd(), 0);
  bool done = false;
  aside.start([&done]() -> Result<void> {
    done = true;
    return fail(Error{.code = EIO});
  });
  EXPECT_TRUE(done);
  const auto outcome = aside.wait(0ms);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, EIO);
  EXPECT_FALSE(aside.take()) << "once";
}

// As in a container that may have so many processes and no more.
TEST(AsyncWriter, WithoutAThreadItIsDoneAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    does_at_once(*make_async_writer());
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "needs root, to be somebody else";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lldp
