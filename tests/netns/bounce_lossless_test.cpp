// SPDX-License-Identifier: Apache-2.0
// The second act on lossless switches: what deadlocks there, and what does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "sim/lossless/client.hpp"
#include "tests/netns/bounce.hpp"

namespace lldp::netns {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Lossless : public Bounce {};

/// At a rate that a busy machine keeps up with, until there is a verdict. Slower links fill their
/// buffers later, so there is more time for it.
Played bounce_lossless(const std::vector<std::string>& arguments) {
  for (int rate = 8;; rate /= 2) {
    std::vector<std::string> words{"case1",       "--lossless",
                                   "--seconds",   std::to_string(24 / rate),
                                   "--link-rate", std::to_string(rate)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Played run = bounce(words);
    if (run.status != 3 || rate == 1) return run;
  }
}

TEST_F(Lossless, OneLosslessPriorityDeadlocksOnRealPackets) {
  const Played run = bounce_lossless({"--protect", "none"});
  ASSERT_EQ(run.status, 1) << run.text;
  EXPECT_EQ(run.report.at("verdict"), "deadlock");
  ASSERT_TRUE(run.report.at("deadlock")) << run.text;
  std::vector<std::string> queues;
  for (const json& q : run.report.at("queues"))
    queues.push_back(fmt::format("{}>{} {}", q.at("switch").get<std::string>(),
                                 q.at("to").get<std::string>(), q.at("priority").get<int>()));
  EXPECT_THAT(queues, UnorderedElementsAre("Leaf2>Spine1 5", "Spine1>Leaf3 5", "Leaf3>Spine2 5",
                                           "Spine2>Leaf2 5"));
  EXPECT_GT(run.report.at("still_pauses"), 0);  // refreshed for good
  EXPECT_GT(run.report.at("waiting_octets"), 0);
  EXPECT_EQ(run.report.at("drops"), 0);
}

TEST_F(Lossless, RulesOfTheAgentsKeepLosslessSwitchesFromDeadlock) {
  const Played run = bounce_lossless({});
  ASSERT_EQ(run.status, 0) << run.text;
  EXPECT_EQ(run.report.at("verdict"), "holds");
  EXPECT_FALSE(run.report.at("deadlock"));
  EXPECT_EQ(run.report.at("drops"), 0);
  EXPECT_GT(run.report.at("pauses"), 0);
  EXPECT_GT(run.report.at("turned"), 0);
  for (const json& flow : run.report.at("flows")) {
    EXPECT_GT(flow.at("sent"), 0);
    EXPECT_EQ(flow.at("received"), flow.at("sent"));
    EXPECT_EQ(flow.at("mismarked"), 0);
  }
}

TEST_F(Lossless, ADeadlockBesideASwitchThatWasLateIsNoVerdict) {
  const TemporaryDirectory files;
  // At 4 Mb/s a buffer fills in 200 ms, and the cycle closes after a second.
  Process process(
      {support::program("lldp-level-lab"), "bounce", "case1", "--lossless", "--protect", "none",
       "--link-rate", "4", "--seconds", "60", "--json", "--dir", files.file("lab")},
      files.file("output"));
  const auto switch_process = lab::lossless::SwitchClient::open(
      files.file("lab/Spine1/switch"), std::chrono::steady_clock::now() + std::chrono::seconds(20));
  ASSERT_TRUE(switch_process) << to_string(switch_process.error());
  const auto is_sending = [&] {
    const auto view = switch_process->read();
    return !view || std::any_of(view->ports.begin(), view->ports.end(),
                                [](const auto& port) { return port.second.sent > 0; });
  };
  while (!is_sending()) ::poll(nullptr, 0, 10);
  const pid_t spine = process_with(files.file("lab/Spine1/switch.json"));
  ASSERT_GT(spine, 0);
  ::kill(spine, SIGSTOP);
  ::poll(nullptr, 0, 300);
  ::kill(spine, SIGCONT);
  EXPECT_EQ(process.wait(std::chrono::seconds(60)), 3) << process.output();
  const json report = json::parse(process.output());
  EXPECT_EQ(report.at("verdict"), "none");
  EXPECT_THAT(report.at("why_none"), HasSubstr("the machine was too slow: a process was late by "));
  EXPECT_GT(report.at("late_us"), 200'000);
  EXPECT_EQ(report.at("fills_us"), 200'000);
  EXPECT_FALSE(report.at("deadlock"));
  EXPECT_EQ(report.at("queues").size(), 4U);
}

TEST_F(Lossless, EndsInGoodOrderWhenItIsToldTo) {
  const TemporaryDirectory files;
  Process process({support::program("lldp-level-lab"), "bounce", "case1", "--lossless", "--seconds",
                   "3600", "--dir", files.file("lab")},
                  files.file("output"));
  const std::string socket = files.file("lab/Leaf1/switch");
  for (int i = 0; i < 1000 && !std::filesystem::exists(socket); ++i) ::poll(nullptr, 0, 20);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(std::chrono::seconds(30)), 128 + SIGTERM) << process.output();
  EXPECT_FALSE(std::filesystem::exists(files.file("lab")));
}

TEST_F(Lossless, SaysWhichSwitchHasEnded) {
  const TemporaryDirectory files;
  Process process({support::program("lldp-level-lab"), "bounce", "case1", "--lossless", "--seconds",
                   "3600", "--timeout", "5", "--dir", files.file("lab")},
                  files.file("output"));
  pid_t leaf = -1;
  const std::string file = files.file("lab/Leaf1/switch.json");
  for (int i = 0; i < 1000 && leaf < 0; ++i) {
    ::poll(nullptr, 0, 20);
    leaf = process_with(file);
  }
  ASSERT_GT(leaf, 0);
  ::kill(leaf, SIGKILL);
  EXPECT_EQ(process.wait(std::chrono::seconds(60)), 2);
  EXPECT_THAT(process.output(), HasSubstr("Leaf1"));
}

TEST_F(Lossless, IsForTheCasesThatDeadlock) {
  EXPECT_EQ(bounce({"twice", "--lossless"}).status, 2);
  EXPECT_EQ(bounce({"case1", "--lossless", "--protect", "itsy"}).status, 2);
  EXPECT_EQ(bounce({"case1", "--lossless", "--flows", "2"}).status, 2);
}

}  // namespace
}  // namespace lldp::netns
