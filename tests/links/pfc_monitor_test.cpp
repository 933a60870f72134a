// SPDX-License-Identifier: Apache-2.0
#include "agent/links/pfc_monitor.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "os/dcbnl.hpp"

namespace lldp::io {
namespace {

/// What waits on the other ends is what the kernel answers, and what it tells.
class PfcMonitorTest : public testing::Test {
 protected:
  static std::array<UniqueFd, 2> pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
              0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
  static void send(const UniqueFd& to, const Bytes& message) {
    EXPECT_EQ(::send(to.get(), message.data(), message.size(), 0), ssize_t(message.size()));
  }
  /// A driver says of a port what a change of it would say.
  static Bytes says(const char* port, std::optional<std::uint8_t> pfc, std::uint32_t sequence = 0) {
    return dcbnl::set_request(port, sequence, pfc, {});
  }
  std::vector<std::string> told() {
    std::vector<std::string> names;
    monitor_.receive([&](std::string_view name) { names.emplace_back(name); });
    return names;
  }

  std::array<UniqueFd, 2> events_ = pair();
  std::array<UniqueFd, 2> requests_ = pair();
  PfcMonitor monitor_{std::move(events_[0]), std::move(requests_[0])};
};

TEST_F(PfcMonitorTest, EachQuestionGetsItsOwnAnswer) {
  Bytes late = says("p0", 0x01, 7);  // of a question that was given up, and the answer behind it
  const Bytes answer = says("p0", 0x60, 1);
  late.insert(late.end(), answer.begin(), answer.end());
  send(requests_[1], late);
  send(requests_[1], says("p1", 0x08, 2));
  send(requests_[1], says("p1", std::nullopt, 3));
  const auto p0 = monitor_.ask("p0");
  ASSERT_TRUE(p0);
  EXPECT_EQ(p0->enabled, 0x60);
  const auto p1 = monitor_.ask("p1");
  ASSERT_TRUE(p1);
  EXPECT_EQ(p1->enabled, 0x08);
  EXPECT_FALSE(monitor_.ask("p1")) << "its driver says nothing of PFC";
  EXPECT_FALSE(monitor_.ask("p1")) << "nobody waits for what has not come";
}

TEST_F(PfcMonitorTest, ReadsTheMapOfDscps) {
  const std::vector<dcbnl::App> apps{{dcbnl::kDscp, 3, 26},
                                     {dcbnl::kDscp, 3, 24},
                                     {dcbnl::kDscp, 0, 63},
                                     {dcbnl::kDscp, 1, 64},  // no DSCP
                                     {1, 3, 0x8915}};
  send(requests_[1], dcbnl::set_request("p0", 1, 0x08, apps));
  const PfcMonitor::State state = monitor_.read("p0");
  ASSERT_TRUE(state.pfc);
  EXPECT_EQ(state.pfc->enabled, 0x08);
  EXPECT_EQ(state.dscps[3], 1U << 26 | 1U << 24);
  EXPECT_EQ(state.dscps[0], std::uint64_t{1} << 63);
  EXPECT_EQ(state.dscps[1], 0U);
}

TEST_F(PfcMonitorTest, TellsWhosePfcWasChangedAndNothingElse) {
  EXPECT_EQ(told(), std::vector<std::string>{});
  Bytes both = says("p0", 0x60);
  const Bytes second = says("p1", 0);
  both.insert(both.end(), second.begin(), second.end());
  send(events_[1], both);
  send(events_[1], says("p2", std::nullopt));  // of ETS or the APP table
  send(events_[1], says("p3", 0x10));
  EXPECT_EQ(told(), (std::vector<std::string>{"p0", "p1", "p3"}));
  EXPECT_EQ(told(), std::vector<std::string>{});
}

}  // namespace
}  // namespace lldp::io
