// SPDX-License-Identifier: Apache-2.0
// The live lab, with namespaces of its own and the real daemon; needs root.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lab/live/agents.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/watcher.hpp"
#include "lab/topology/generators.hpp"
#include "tests/support/places.hpp"

namespace lldp::lab::live {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Live : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "namespaces that others see need root";
    const auto place = place_of("lldpt" + std::to_string(getpid()), dir_);
    ASSERT_TRUE(place) << to_string(place.error());
    if (place->own_tree) GTEST_SKIP() << "namespaces that others see need the machine's own root";
    place_ = *place;
    for (const Node& node : fabric_.nodes) manifest_.nodes.push_back(node.name);
  }
  void TearDown() override {
    if (read_manifest(place_)) (void)remove(place_, manifest_);
  }
  void expect_nothing_left() {
    for (const std::string& node : manifest_.nodes)
      EXPECT_FALSE(fs::exists(place_.namespace_path(node))) << node;
    EXPECT_FALSE(fs::exists(dir_));
  }
  bool wait_until_right() {
    Watcher watcher(place_, fabric_);
    return watcher.wait_until_right(Watcher::Clock::now() + 20s);
  }
  Result<std::size_t> start() {
    return start_agents(place_, fabric_, manifest_.nodes, support::program("lldp-leveld"),
                        {"--backend", "none"});
  }

  Fabric fabric_ = *clos({.switches = {2, 2, 1}, .pods = {2}, .hosts = 2});
  std::string dir_ = (fs::temp_directory_path() / ("lldpt" + std::to_string(getpid()))).string();
  Place place_{};
  Manifest manifest_{};
};

TEST_F(Live, LearnsItsLevelsRestartsAnAgentAndLeavesNothingBehind) {
  ASSERT_TRUE(write_manifest(place_, manifest_));
  const auto made = make(place_, fabric_);
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(start(), fabric_.nodes.size());
  EXPECT_TRUE(wait_until_right());
  EXPECT_EQ(start(), 0U) << "all run already";

  stop_agents(place_, {"agg1"});
  EXPECT_EQ(start(), 1U);
  EXPECT_TRUE(wait_until_right());

  const auto removed = remove(place_, manifest_);
  EXPECT_TRUE(removed) << to_string(removed.error());
  expect_nothing_left();
}

TEST_F(Live, IsCleanedUpAfterAStartThatWasKilledHalfWay) {
  ASSERT_TRUE(write_manifest(place_, manifest_));
  Fabric half = fabric_;
  half.nodes.resize(2);  // so far the killed one had come
  half.links.clear();
  ASSERT_TRUE(make(place_, half));
  const auto manifest = read_manifest(place_);
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  EXPECT_EQ(manifest->nodes, manifest_.nodes);
  EXPECT_TRUE(remove(place_, *manifest));
  expect_nothing_left();
}

TEST_F(Live, RefusesASecondLabInTheSamePlaceAndANameThatDoesNotFit) {
  ASSERT_TRUE(write_manifest(place_, manifest_));
  const auto second = write_manifest(place_, manifest_);
  ASSERT_FALSE(second);
  EXPECT_EQ(to_string(second.error()),
            place_.prefix +
                ": this lab is up: take it down first (`live down`) or give another --prefix");
  fabric_.links[0].ends[0].port = "a-name-of-16-oct";
  EXPECT_EQ(
      to_string(check_names(place_, fabric_).error()),
      "host1:a-name-of-16-oct: no name for an interface: use up to 15 letters, digits and `-_.`");
  std::ofstream(place_.manifest()) << "something else\n";
  EXPECT_EQ(to_string(read_manifest(place_).error()),
            place_.manifest() + ": not the manifest of a lab: remove it by hand");
  fs::remove_all(dir_);
}

}  // namespace
}  // namespace lldp::lab::live
