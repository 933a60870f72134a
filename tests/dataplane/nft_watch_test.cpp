// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/nft_watch.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "tests/dataplane/private_net.hpp"

namespace lldp::dataplane {
namespace {

constexpr std::chrono::hours kForever{24};

/// nftables of a namespace without rules.
class NftWatch : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    if (!sh("nft flush ruleset 2>/dev/null")) GTEST_SKIP() << "no nftables in this kernel";
  }
  void TearDown() override { sh("nft flush ruleset 2>/dev/null"); }
  void open(std::chrono::nanoseconds pause) {
    auto watch = bpf::NftWatch::open(pause);
    ASSERT_TRUE(watch) << to_string(watch.error());
    watch_.emplace(std::move(*watch));
  }
  static bool change() { return sh("nft 'add table ip t; add chain ip t c'"); }
  [[nodiscard]] bool is_readable(int wait_ms = 0) const {
    pollfd ready{.fd = watch_->fd(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, wait_ms) == 1;
  }
  /// Within a minute, over whatever else wakes it.
  bool tells() {
    for (int i = 0; i < 1000 && is_readable(60'000); ++i)
      if (watch_->take()) return true;
    return false;
  }

  std::optional<bpf::NftWatch> watch_;
};

TEST_F(NftWatch, HearsOfARulesetOnceHoweverManyItsRules) {
  const auto socket = bpf::NftWatch::open_socket();
  ASSERT_TRUE(socket) << to_string(socket.error());
  std::string rules = "add table ip t\nadd chain ip t c\n";
  for (int i = 0; i < 500; ++i) rules += "add rule ip t c ip saddr 192.0.2.1 counter\n";
  FILE* nft = ::popen("nft -f -", "w");
  ASSERT_NE(nft, nullptr);
  std::fputs(rules.c_str(), nft);
  ASSERT_EQ(::pclose(nft), 0);
  std::array<char, 1024> room{};
  EXPECT_GT(::recv(socket->get(), room.data(), room.size(), MSG_DONTWAIT), 0);
  EXPECT_EQ(::recv(socket->get(), room.data(), room.size(), MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN) << "and none was lost";
}

TEST_F(NftWatch, TellsOnceAndRestsThen) {
  open(kForever);
  EXPECT_FALSE(is_readable());
  EXPECT_FALSE(watch_->take());
  ASSERT_TRUE(change());
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(watch_->take());
  EXPECT_FALSE(is_readable());
  EXPECT_FALSE(watch_->take());
  ASSERT_TRUE(change());
  EXPECT_FALSE(is_readable()) << "it rests";
  EXPECT_FALSE(watch_->take());
}

TEST_F(NftWatch, TellsAfterItsRestOfWhatCameMeanwhile) {
  open(std::chrono::seconds(1));
  ASSERT_TRUE(change());
  EXPECT_TRUE(watch_->take());
  ASSERT_TRUE(change());
  EXPECT_TRUE(tells());
  ASSERT_TRUE(change());
  EXPECT_TRUE(tells()) << "and goes on";
}

TEST_F(NftWatch, TellsOfMoreTransactionsThanItsSocketHolds) {
  open(std::chrono::milliseconds(1));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(change());
  EXPECT_TRUE(watch_->take());
  while (is_readable(100)) EXPECT_FALSE(watch_->take()) << "they were taken together";
  ASSERT_TRUE(change());
  EXPECT_TRUE(tells());
}

}  // namespace
}  // namespace lldp::dataplane
