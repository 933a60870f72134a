// SPDX-License-Identifier: Apache-2.0
// Counters of priorities by ethtool, of drivers as they are and as they should not be.
#include "os/ethtool.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace lldp::ethtool {
namespace {

using What = PriorityCounter::What;

TEST(PriorityCounterName, OfEachDriver) {
  const auto is = [](std::string_view name) { return priority_counter(name); };
  const auto of = [](What what, bool received, unsigned priority) {
    return PriorityCounter{.what = what, .received = received, .priority = priority};
  };
  EXPECT_EQ(is("rx_prio5_pause"), of(What::kPauses, true, 5));                        // mlx5
  EXPECT_EQ(is("tx_priority_6_xoff.nic"), of(What::kPauses, false, 6));               // ice
  EXPECT_EQ(is("port.rx_priority_0_xoff"), of(What::kPauses, true, 0));               // i40e
  EXPECT_EQ(is("tx_pfc_ena_frames_pri7"), of(What::kPauses, false, 7));               // bnxt
  EXPECT_EQ(is("tx_pause_prio_3"), of(What::kPauses, false, 3));                      // mlxsw
  EXPECT_EQ(is("rx_prio5_packets"), of(What::kFrames, true, 5));                      // mlx5
  EXPECT_EQ(is("tx_packets_pri7"), of(What::kFrames, false, 7));                      // bnxt
  EXPECT_EQ(is("rx_frames_prio_0"), of(What::kFrames, true, 0));                      // mlxsw
  EXPECT_EQ(is("tx_prio_3_packets"), of(What::kFrames, false, 3));                    // mlx4
  EXPECT_EQ(is("rx_prio5_pause_duration"), of(What::kPausedMicroseconds, true, 5));   // mlx5
  EXPECT_EQ(is("tx_prio0_pause_duration"), of(What::kPausedMicroseconds, false, 0));  // mlx5
  EXPECT_EQ(is("pfc_pri3_rx_duration_us"), of(What::kPausedMicroseconds, true, 3));   // bnxt
  EXPECT_EQ(is("pfc_pri3_tx_duration_us"), of(What::kPausedMicroseconds, false, 3));  // bnxt
  for (const char* other :
       {"rx_prio5_pause_transition", "rx_pause", "prio5_pause", "rx_global_pause_duration",
        "rx_prio8_pause", "rx_prio10_pause", "port.rx_priority_0_xon_2xoff", "", "prio",
        "rx_prio5_bytes", "rx_packets", "rx_prio5_discard_packets", "tx_priority_0_xon_frames",
        "rx_prio9_packets", "rx_discards_frames_prio_5", "pfc_pri3_rx_transitions"})
    EXPECT_EQ(is(other), std::nullopt) << other;
  // What follows a name that ends there is not its number.
  EXPECT_EQ(is(std::string_view("rx_pause_prio3").substr(0, 13)), std::nullopt);
}

/// A driver with a table of names.
struct Driver {
  [[nodiscard]] Ask ask() {
    return [this](ifreq& request) { return answer(request); };
  }
  bool answer(ifreq& request) {
    ++calls;
    if (away) return false;
    auto* const at = request.ifr_data;
    std::uint32_t command = 0;
    std::memcpy(&command, at, sizeof command);
    if (command == ETHTOOL_GSSET_INFO) {
      const auto count = static_cast<std::uint32_t>(names.size());
      std::memcpy(at + sizeof(ethtool_sset_info), &count, sizeof count);
    } else if (command == ETHTOOL_GSTRINGS) {
      ethtool_gstrings head{};
      head.len = static_cast<std::uint32_t>(names.size());
      std::memcpy(at, &head, sizeof head);
      for (std::size_t i = 0; i < names.size(); ++i)  // without a terminator, if it is that long
        std::strncpy(at + sizeof head + i * ETH_GSTRING_LEN, names[i].c_str(), ETH_GSTRING_LEN);
    } else {
      ethtool_stats head{};
      head.n_stats = static_cast<std::uint32_t>(counts.size());
      std::memcpy(at, &head, sizeof head);
      std::memcpy(at + sizeof head, counts.data(), counts.size() * sizeof(std::uint64_t));
    }
    return true;
  }
  std::vector<std::string> names{"rx_bytes", "rx_prio3_pause", "tx_prio3_pause",
                                 "rx_prio3_pause_duration", "rx_prio3_packets"};
  std::vector<std::uint64_t> counts{1, 2, 3, 4, 5};
  std::size_t calls = 0;
  bool away = false;
};

TEST(PriorityCounters, AreReadByOneCallWhereTheTableIsKnown) {
  Driver driver;
  PriorityCounters counters(driver.ask());
  const PriorityCounts* counts = counters.read("eth0", 7);
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(driver.calls, 3U) << "number, names, counters";
  EXPECT_EQ(counts->pauses.received[3], 2U);
  EXPECT_EQ(counts->pauses.sent[3], 3U);
  EXPECT_EQ(counts->paused_microseconds.received[3], 4U);
  EXPECT_EQ(counts->frames.received[3], 5U);
  EXPECT_EQ(counts->pauses.received[4], std::nullopt);
  driver.counts[1] = 20;
  EXPECT_EQ(counters.read("eth0", 7)->pauses.received[3], 20U);
  EXPECT_EQ(driver.calls, 4U);
}

TEST(PriorityCounters, OfAnotherTableAreReadByItsNames) {
  Driver driver;
  PriorityCounters counters(driver.ask());
  ASSERT_NE(counters.read("eth0", 7, 8), nullptr);
  const auto rename = [&] {
    for (std::string& name : driver.names)
      if (const auto at = name.find("prio"); at != name.npos) ++name[at + 4];
  };
  rename();  // PFC of another priority: the driver has as many counters as before
  EXPECT_EQ(counters.read("eth0", 7, 16)->pauses.received[4], 2U);
  EXPECT_EQ(counters.read("eth0", 7, 16)->pauses.received[3], std::nullopt);
  rename();
  EXPECT_EQ(counters.read("eth0", 8, 16)->pauses.received[5], 2U) << "another interface";
  rename();
  driver.names.emplace_back("rx_prio6_bytes");
  driver.counts.push_back(6);
  EXPECT_EQ(counters.read("eth0", 8, 16)->pauses.received[6], 2U) << "one counter more";
}

TEST(PriorityCounters, ThatGoBackAreOfADriverThatWasLoadedAnew) {
  Driver driver;
  PriorityCounters counters(driver.ask());
  ASSERT_NE(counters.read("eth0", 7), nullptr);
  std::swap(driver.names[1], driver.names[2]);
  driver.counts = {0, 0, 1, 0, 0};
  const PriorityCounts* counts = counters.read("eth0", 7);
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(counts->pauses.sent[3], 0U);
  EXPECT_EQ(counts->pauses.received[3], 1U);
}

TEST(PriorityCounters, OfADriverThatIsAwayForAWhileComeBack) {
  Driver driver;
  PriorityCounters counters(driver.ask());
  driver.away = true;
  EXPECT_EQ(counters.read("eth0", 7), nullptr);
  driver.away = false;
  EXPECT_NE(counters.read("eth0", 7), nullptr);
  driver.away = true;
  EXPECT_EQ(counters.read("eth0", 7), nullptr);
  driver.away = false;
  EXPECT_NE(counters.read("eth0", 7), nullptr);
}

TEST(PriorityCounters, OfADriverWithoutPrioritiesCostNoCall) {
  Driver driver;
  driver.names = {"rx_bytes", "tx_bytes"};
  driver.counts = {1, 2};
  PriorityCounters counters(driver.ask());
  EXPECT_EQ(counters.read("eth0", 7), nullptr);
  const std::size_t before = driver.calls;
  EXPECT_EQ(counters.read("eth0", 7), nullptr);
  EXPECT_EQ(driver.calls, before);
}

TEST(PriorityCounters, OfHostileTablesAreNoneOrWhatTheNamesSay) {
  Driver driver;
  PriorityCounters counters(driver.ask());
  driver.names.clear();
  driver.counts.clear();
  EXPECT_EQ(counters.read("none", 1), nullptr);
  driver.names.assign(100'000, "rx_prio3_pause");
  driver.counts.assign(1, 1);
  EXPECT_EQ(counters.read("many", 2), nullptr);
  const std::string tail = "rx_prio3_pause";
  driver.names = {std::string(ETH_GSTRING_LEN - tail.size(), 'x') + tail};  // no terminator
  EXPECT_EQ(counters.read("full", 3)->pauses.received[3], 1U);
  driver.names = {"rx_prio3_pause", "rx_prio3_pause"};
  driver.counts = {4, 5};
  EXPECT_EQ(counters.read("twice", 4)->pauses.received[3], 9U);
  driver.names = {"\xff\xfe", std::string("rx_\0prio3_pause", 15)};
  EXPECT_EQ(counters.read("odd", 5), nullptr);
}

TEST(PriorityCounters, OfLoopbackAreNone) {
  auto ask = open();
  ASSERT_TRUE(ask);
  PriorityCounters counters(std::move(*ask));
  EXPECT_EQ(counters.read("lo", 1), nullptr);
  EXPECT_EQ(counters.read("no-such-interface-name", 9999), nullptr);
}

}  // namespace
}  // namespace lldp::ethtool
