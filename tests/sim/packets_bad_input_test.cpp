// SPDX-License-Identifier: Apache-2.0
// What a user can ask for and cannot be: each is one line that says where, and what to do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "lab/topology/hpcc.hpp"
#include "lab/topology/json.hpp"
#include "packets_plans.hpp"
#include "sim/packets/plan_file.hpp"
#include "sim/packets/workload/foreign.hpp"

namespace lldp::lab::packets {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal_by_credits(const CbfcSettings& cbfc) {
  Plan plan = of_case("case1", 2, 1, ProtectionScheme::kDownUp, kMillisecond);
  plan.settings.flow_control = FlowControlKind::kCbfc;
  plan.settings.cbfc = cbfc;
  const auto outcome = run(plan);
  return outcome ? "taken" : to_string(outcome.error());
}

TEST(BadInput, ZeroCredits) {
  EXPECT_EQ(refusal_by_credits({.credit_limit = 0}),
            "settings.cbfc.credit_limit: 0: a frame of 1048 octets takes 5: give at least so many");
}

TEST(BadInput, AChannelThatNoClassUses) {
  EXPECT_EQ(refusal_by_credits({.virtual_channels = 3}),
            "settings.cbfc.virtual_channels: 3: there are 2 lossless classes, so no class uses the "
            "last: give 1 to 2");
}

TEST(BadInput, AnErrorRateOfOne) {
  const auto by_file = fabric_from_hpcc("3 1 2\n2\n0 2 1Gbps 1us 1\n1 2 1Gbps 1us 0\n");
  ASSERT_FALSE(by_file);
  EXPECT_THAT(to_string(by_file.error()),
              HasSubstr("line 3: an error rate of 1: no frame would arrive: leave the link out"));
  const auto by_settings = plan_from_json(
      fmt::format(R"({{"fabric": {}, "settings": {{"loss_ppb": 1000000000}}, "flows": []}})",
                  to_json(*fat_tree(4))),
      files_in(""), {}, WithoutFlows::kTaken);
  ASSERT_FALSE(by_settings);
  EXPECT_THAT(to_string(by_settings.error()), HasSubstr("settings.loss_ppb: "));
}

TEST(BadInput, AGoalTraceThatWaitsForItself) {
  auto fabric = fabric_from_hpcc("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n");
  ASSERT_TRUE(fabric);
  Plan plan{.fabric = std::move(*fabric)};
  const auto added = add_foreign_traffic(
      plan,
      "num_ranks 2\nrank 0 {\nr: recv 5b from 1\ns: send 5b to 1\ns requires r\n}\n"
      "rank 1 {\nr: recv 5b from 0\ns: send 5b to 0\ns requires r\n}\n",
      HostTransport::kGoBackN);
  ASSERT_FALSE(added);
  EXPECT_THAT(to_string(added.error()), HasSubstr("line 3: waits for itself in a circle"));
}

/// It is told by its size: nothing of it is read.
TEST(BadInput, AFlowFileOfTenGigabytes) {
  const std::string path = testing::TempDir() + "/ten-gigabytes.cm";
  std::ofstream(path).close();
  std::filesystem::resize_file(path, 10'000'000'000);  // a hole, which takes no room
  const auto text = files_in(testing::TempDir()).text("ten-gigabytes.cm");
  std::filesystem::remove(path);
  ASSERT_FALSE(text);
  EXPECT_THAT(to_string(text.error()),
              AllOf(HasSubstr("ten-gigabytes.cm: has 10000000000 octets: at most 1073741824 are "
                              "read: split it"),
                    Not(HasSubstr("\n"))));
}

/// What has been simulated until then is told.
TEST(BadInput, MemoryThatRunsOut) {
  const Plan plan = of_case("case1", 1, 1, ProtectionScheme::kDownUp, 2 * kMillisecond);
  const Hooks hooks{.sample_every = kMillisecond, .sample = [](const Network& n) {
                      if (n.now >= kMillisecond) throw std::bad_alloc();
                    }};
  const auto o = run(plan, hooks);
  ASSERT_TRUE(o);
  EXPECT_TRUE(o->memory_ran_out);
  EXPECT_TRUE(o->stopped);
  EXPECT_EQ(o->duration, kMillisecond);
  ASSERT_EQ(o->flows.size(), 2U);
  for (const FlowResult& f : o->flows) EXPECT_GT(f.received_octets, 1'000'000U);
  EXPECT_GT(o->count.hops, 1000U);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsShadowed = true;
#elif defined(__has_feature)
constexpr bool kMemoryIsShadowed =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kMemoryIsShadowed = false;
#endif

/// From now on this process gets `more` octets, and then none.
void limit_memory(std::uint64_t more) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{.rlim_cur = pages * 4096 + more, .rlim_max = RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// Whichever of two threads it is that wants more: all come to rest, and the results are there.
TEST(BadInput, MemoryThatRunsOutInAThread) {
  if (kMemoryIsShadowed) GTEST_SKIP() << "a sanitizer's own memory would be limited";
  Plan plan;
  plan.fabric = *fat_tree(4);
  plan.settings.flow_control = FlowControlKind::kOff;
  plan.settings.buffer_octets = 4'000'000'000;
  plan.duration = kSecond;
  std::vector<std::size_t> hosts;
  for (std::size_t i = 0; i < plan.fabric.nodes.size(); ++i)
    if (plan.fabric.nodes[i].role == Role::kHost) hosts.push_back(i);
  // Three of a pod fill the queue before the fourth: of the first pod, and of the last.
  for (const std::size_t first : {std::size_t{0}, hosts.size() - 4}) {
    plan.flows.clear();
    for (std::size_t i = 1; i < 4; ++i)
      plan.flows.push_back({.way = {.name = {"f"}, .from = hosts[first + i], .to = hosts[first]}});
    bool limited = false;
    const Hooks hooks{.go_on = [&](const Network& n) {
      if (n.now >= kMillisecond / 2 && !std::exchange(limited, true)) limit_memory(1 << 20);
      return true;
    }};
    EXPECT_EXIT(
        {
          const auto o = run(plan, hooks, 2);
          if (o && o->memory_ran_out && o->stopped && o->duration > kMillisecond / 2 &&
              o->duration < plan.duration && o->flows[0].received_octets > 1'000'000)
            fmt::print(stderr, "results so far\n");
          std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^results so far\n$")
        << first;
  }
}

TEST(OneThread, WhereLinksAreShorterThanWhatThreadsGain) {
  Plan plan = of_case("case1", 1, 1, ProtectionScheme::kDownUp, kMillisecond);
  EXPECT_EQ(needs_one_thread(plan, {}), "");
  for (Link& link : plan.fabric.links) link.delay_ns = 1;
  EXPECT_THAT(needs_one_thread(plan, {}), HasSubstr("threads would wait for each other"));
}

}  // namespace
}  // namespace lldp::lab::packets
