// SPDX-License-Identifier: Apache-2.0
// What happens between a back end and Redis: the connection breaks after every so many octets, or
// somebody else writes before an answer. Nothing is half done, and nothing lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "os/fd.hpp"
#include "os/unix_address.hpp"
#include "tests/dataplane/chip.hpp"
#include "tests/dataplane/sonic_box.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::dataplane {
namespace {

/// Stands between a back end and Redis, one connection after the other.
class Between {
 public:
  enum Way : std::size_t { kAsked, kAnswered };

  Between(const std::string& path, std::string server)
      : listener_(socket_at(path, SOCK_STREAM, 8)), server_(std::move(server)) {}
  ~Between() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(end_.get(), &one, sizeof one), ssize_t{sizeof one});
    thread_.join();
  }
  /// So many octets more pass that way; then both ends see it close, and the next connection is
  /// whole again.
  void cut_after(Way way, std::int64_t octets) { left_[way] = octets; }
  /// The connection has been cut since.
  [[nodiscard]] bool has_cut(Way way) const { return left_[way] == kWhole; }
  /// Does that whenever these octets are asked, before they arrive.
  void before(std::string octets, std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    octets_ = std::move(octets);
    what_ = std::move(what);
  }
  void make_whole() { left_[kAsked] = left_[kAnswered] = kWhole; }
  [[nodiscard]] std::int64_t passed(Way way) const { return passed_[way]; }

 private:
  static constexpr std::int64_t kWhole = -1;

  void run() {
    for (;;) {
      std::array<pollfd, 4> ready{};
      const int fds[] = {end_.get(), client_ ? -1 : listener_.get(), client_.get(), redis_.get()};
      for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = {fds[i], POLLIN, 0};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[0].revents != 0) return;
      if (ready[1].revents != 0) accept_one();
      if (ready[2].revents != 0) pass(kAsked, client_, redis_);
      if (client_ && ready[3].revents != 0) pass(kAnswered, redis_, client_);
    }
  }
  void accept_one() {
    client_ = UniqueFd(::accept(listener_.get(), nullptr, nullptr));
    redis_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto at = unix_address(server_);
    if (!at || ::connect(redis_.get(), at->get(), at->size) != 0) close_both();
  }
  void pass(Way way, const UniqueFd& from, const UniqueFd& to) {
    std::array<char, 4096> octets{};
    const std::int64_t left = left_[way];
    const auto most =
        left == kWhole ? octets.size() : std::min(octets.size(), static_cast<std::size_t>(left));
    const ssize_t n = most == 0 ? 0 : ::read(from.get(), octets.data(), most);
    if (most == 0) left_[way] = kWhole;
    if (way == kAsked && n > 0) look_at({octets.data(), static_cast<std::size_t>(n)});
    if (n <= 0 || ::send(to.get(), octets.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) != n)
      return close_both();
    passed_[way] += n;
    if (left != kWhole) left_[way] = left - n;
  }
  void look_at(std::string_view asked) {
    const std::lock_guard lock(mutex_);
    if (what_ && asked.find(octets_) != asked.npos) what_();
  }
  void close_both() {
    client_ = UniqueFd();
    redis_ = UniqueFd();
  }

  UniqueFd listener_;
  std::string server_;
  UniqueFd end_{::eventfd(0, EFD_CLOEXEC)};
  UniqueFd client_{};
  UniqueFd redis_{};
  std::array<std::atomic<std::int64_t>, 2> left_{kWhole, kWhole};
  std::array<std::atomic<std::int64_t>, 2> passed_{};
  std::mutex mutex_;
  std::string octets_{};
  std::function<void()> what_{};
  std::thread thread_{[this] { run(); }};
};

class SonicBetween : public ChipTest {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    between_.emplace(box_.path("between.sock"), box_.socket());
    SonicOptions options = box_.options();
    options.redis = box_.path("between.sock");
    auto backend = make_backend("sonic", {.sonic = options});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
  }
  void TearDown() override {
    ChipTest::TearDown();
    between_.reset();
  }
  PortRef port(int i) const override {
    return {*Ifindex::make(7U + static_cast<unsigned>(i)), Box::name_of(i)};
  }

  Box box_{2};
  std::optional<Between> between_;
};

class SonicCut : public SonicBetween, public testing::WithParamInterface<Between::Way> {
 protected:
  using Configured = std::map<std::string, sonic::Row>;
  /// All that is there.
  Configured configured() {
    Configured rows;
    for (const std::string& key : box_.keys(kConfig, "*")) rows[key] = box_.row(kConfig, key);
    return rows;
  }
  /// Until it is done: with one cut, at most twice. What was not done is not half done.
  void until_done(const std::vector<Configured>& whole,
                  const std::function<Result<void>()>& change) {
    for (int attempts = 0; attempts < 3; ++attempts) {
      ASSERT_TRUE(until([&] { return !backend_->down(); }));
      const auto done = change();
      if (done) return;
      EXPECT_NE(done.error().code, ETIMEDOUT) << "nobody said what came of it";
      EXPECT_THAT(whole, testing::Contains(configured()));
    }
    FAIL() << "is never done";
  }

  static Order order_of(int port) { return port == 0 ? Order::kUp : Order::kDown; }
};

TEST_P(SonicCut, LeavesAllOfAChangeOrNothingAndIsMendedByTheNext) {
  constexpr std::int64_t kPoints = 20;
  const auto way = GetParam();
  std::vector<Configured> whole{configured()};  // bare, with one port's rules, with both
  const std::int64_t before = between_->passed(way);
  for (int i : {0, 1}) {
    ASSERT_TRUE(put(i, order_of(i)));
    whole.push_back(configured());
    ASSERT_NE(whole[whole.size() - 2], whole.back());
  }
  ASSERT_TRUE(remove_all(*backend_));
  ASSERT_EQ(configured(), whole.front());
  const std::int64_t octets = between_->passed(way) - before;
  int cuts = 0;
  for (std::int64_t point = 0; point < kPoints && !HasFailure(); ++point) {
    const std::int64_t after = octets * point / kPoints + point % 7;
    SCOPED_TRACE("cut after " + std::to_string(after) + " of " + std::to_string(octets));
    between_->cut_after(way, after);
    for (int i : {0, 1}) until_done(whole, [&] { return put(i, order_of(i)); });
    EXPECT_EQ(configured(), whole.back());
    until_done(whole, [&] { return remove_all(*backend_); });
    EXPECT_EQ(configured(), whole.front());
    cuts += between_->has_cut(way) ? 1 : 0;
    between_->make_whole();
  }
  EXPECT_GE(cuts, kPoints * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Redis, SonicCut, testing::Values(Between::kAsked, Between::kAnswered),
                         [](const auto& way) {
                           return way.param == Between::kAsked ? "Asked" : "Answered";
                         });

/// Somebody else writes after what is there has been read, and before our transaction.
class SonicRace : public SonicBetween {
 protected:
  /// At each transaction but those after `last`.
  void others_set_pfc(std::string value, int last) {
    between_->before("\r\nMULTI\r\n", [this, value = std::move(value), last] {
      if (++transactions_ <= last)
        box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", value});
    });
  }
  std::string pfc() { return box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"); }

  int transactions_ = 0;
};

TEST_F(SonicRace, WhatOthersSetMeanwhileIsWhatIsPutBack) {
  others_set_pfc("3", 1);
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(transactions_, 2);
  EXPECT_EQ(pfc(), "5,6");
  ASSERT_TRUE(remove_all(*backend_));
  EXPECT_EQ(pfc(), "3");
}

TEST_F(SonicRace, WhatOthersSetOverOursWhileItGoesStays) {
  ASSERT_TRUE(put(0, Order::kUp));
  others_set_pfc("4", 1);
  ASSERT_TRUE(remove_all(*backend_));
  EXPECT_EQ(transactions_, 2);
  EXPECT_EQ(pfc(), "4");
}

TEST_F(SonicRace, WhoNeverStopsWritingIsSaidAndNotWrittenOver) {
  others_set_pfc("3", 1000);
  const auto done = put(0, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), testing::HasSubstr("another client keeps changing"));
  EXPECT_EQ(transactions_, 5);
  EXPECT_EQ(pfc(), "3");
  others_set_pfc("3", 0);
  EXPECT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(pfc(), "5,6");
}

}  // namespace
}  // namespace lldp::dataplane
