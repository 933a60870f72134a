// SPDX-License-Identifier: Apache-2.0
// The live lab, with namespaces of its own and the real daemon; needs root.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "dataplane/bpf/pins.hpp"
#include "dataplane/factory.hpp"
#include "lab/collect/report.hpp"
#include "lab/collect/sources.hpp"
#include "lab/live/agents.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/watcher.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/generators.hpp"
#include "qos/proof.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

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
    for (const Node& node : fabric_.nodes) nodes_.push_back(node.name);
  }
  void TearDown() override {
    if (const auto manifest = read_manifest(place_)) (void)remove(place_, *manifest);
    fs::remove_all(dir_);
  }
  void expect_nothing_left() {
    for (const std::string& node : nodes_)
      EXPECT_FALSE(fs::exists(place_.namespace_path(node))) << node;
    EXPECT_FALSE(fs::exists(dir_));
  }
  bool wait_until_right() {
    Watcher watcher(place_, fabric_);
    return watcher.wait_until_right(Watcher::Clock::now() + 20s);
  }
  Result<std::size_t> start() {
    return start_agents(place_, fabric_, nodes_, support::program("lldp-leveld"),
                        {"--backend", "none"});
  }

  Fabric fabric_ = *clos({.switches = {2, 2, 1}, .pods = {2}, .hosts = 2});
  std::string dir_ = (fs::temp_directory_path() / ("lldpt" + std::to_string(getpid()))).string();
  FabricPlace place_{};
  std::vector<std::string> nodes_{};
};

TEST_F(Live, LearnsItsLevelsRestartsAnAgentAndLeavesNothingBehind) {
  const auto made = build(place_, fabric_);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->nodes, nodes_);
  EXPECT_EQ(read_manifest(place_), *made);
  ASSERT_EQ(start(), fabric_.nodes.size());
  EXPECT_TRUE(wait_until_right());
  EXPECT_EQ(start(), 0U) << "all run already";

  stop_agents(place_, {"agg1"});
  EXPECT_EQ(start(), 1U);
  EXPECT_TRUE(wait_until_right());

  const auto removed = remove(place_, *made);
  EXPECT_TRUE(removed) << to_string(removed.error());
  expect_nothing_left();
}

TEST_F(Live, TakesWhatAgentsKeptInTheBpfFileSystemWithIt) {
  const auto made = build(place_, fabric_);
  ASSERT_TRUE(made) << to_string(made.error());
  std::string kept;
  {
    const KeepNamespace home;
    ASSERT_TRUE(enter(place_, "agg1"));
    const auto pins = dataplane::bpf::Pins::open(dataplane::BpfOptions{}.bpffs);
    if (!pins) GTEST_SKIP() << "no BPF file system that this user may write";
    pins->mark("rules");
    kept = pins->directory();
  }
  ASSERT_TRUE(fs::exists(kept));
  EXPECT_TRUE(remove(place_, *made));
  EXPECT_FALSE(fs::exists(kept)) << kept;
}

TEST_F(Live, IsCleanedUpAfterAStartThatWasKilledHalfWay) {
  Fabric half = fabric_;
  half.nodes.resize(2);  // so far the killed one had come
  half.links.clear();
  {
    auto writer = ManifestWriter::begin(place_);
    ASSERT_TRUE(writer) << to_string(writer.error());
    ASSERT_TRUE(make(place_, half, *writer));
    ASSERT_TRUE(writer->make_dir(nodes_[2]));
  }
  std::ofstream(place_.manifest(), std::ios::app) << "node " << nodes_[2];  // and no end of line
  const auto manifest = read_manifest(place_);
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  EXPECT_EQ(manifest->dirs, (std::vector{nodes_[0], nodes_[1], nodes_[2]}));
  EXPECT_EQ(manifest->nodes, (std::vector{nodes_[0], nodes_[1]}));
  EXPECT_TRUE(remove(place_, *manifest));
  expect_nothing_left();
}

TEST_F(Live, LeavesADirectoryAloneThatItDidNotMake) {
  fs::create_directories(place_.node_dir("agg1"));
  std::ofstream(place_.node_dir("agg1") + "/thesis.txt") << "x\n";
  const auto made = build(place_, fabric_);
  ASSERT_FALSE(made);
  EXPECT_EQ(to_string(made.error()), place_.node_dir("agg1") +
                                         ": is there already, and not of this lab: give another "
                                         "--dir");
  EXPECT_TRUE(fs::exists(place_.node_dir("agg1") + "/thesis.txt"));
  fs::remove_all(place_.node_dir("agg1"));
  fs::remove(dir_);  // and nothing else was in it
  expect_nothing_left();
}

TEST_F(Live, LeavesANamespaceAloneThatItDidNotMake) {
  const std::string strange = place_.namespace_path("agg1");
  fs::create_directories(fs::path(strange).parent_path());
  std::ofstream(strange) << "";
  const auto made = build(place_, fabric_);
  ASSERT_FALSE(made);
  EXPECT_EQ(to_string(made.error()),
            strange + ": is there already, and not of this lab: give another --prefix");
  EXPECT_TRUE(fs::exists(strange));
  fs::remove(strange);
  expect_nothing_left();
}

TEST_F(Live, LeavesALabAloneThatHasTheSameNamesInAnotherDirectory) {
  const auto first = build(place_, fabric_);
  ASSERT_TRUE(first) << to_string(first.error());
  FabricPlace other = place_;
  other.dir += "-other";
  EXPECT_FALSE(build(other, fabric_));
  EXPECT_FALSE(fs::exists(other.dir));
  for (const std::string& node : nodes_) EXPECT_TRUE(fs::exists(place_.namespace_path(node)));
}

TEST_F(Live, RefusesTheManifestOfAnotherLab) {
  ASSERT_TRUE(ManifestWriter::begin(place_));
  FabricPlace other = place_;
  other.prefix += "b";
  const auto manifest = read_manifest(other);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(to_string(manifest.error()), other.prefix + ": the lab in " + place_.dir +
                                             " is another one: give --prefix " + place_.prefix);
}

TEST_F(Live, BeginsThoughOneOfOurNumberDiedWritingHere) {
  std::filesystem::create_directories(place_.dir);
  std::ofstream(place_.manifest() + "." + std::to_string(getpid())) << "half";
  const auto writer = ManifestWriter::begin(place_);
  EXPECT_TRUE(writer) << to_string(writer.error());
}

TEST_F(Live, RefusesASecondLabInTheSamePlaceAndANameThatDoesNotFit) {
  ASSERT_TRUE(ManifestWriter::begin(place_));
  const auto second = ManifestWriter::begin(place_);
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
}

/// FC+ of 12 switches, whose agents are told the layers of their ports.
class LiveExpander : public Live {
 protected:
  LiveExpander() { fabric_ = *fcplus({.switches = 12, .ports = 6, .hosts_per_switch = 1}); }

  /// What `show` and `rules` of each node print, NODE.show.json and NODE.rules.json.
  void ask_all(const TempDir& into) {
    std::string script;
    for (const std::string& node : nodes_)
      for (const char* what : {"show", "rules"})
        script += support::program("lldp-level") + " --socket " + place_.socket(node) + " " + what +
                  " --json > " + into.path() + "/" + node + "." + what + ".json" + " & ";
    EXPECT_EQ(std::system((script + "wait").c_str()), 0);
  }
};
TEST_F(LiveExpander, IsCollectedFromItsSwitchesAndProvedWithTwoPriorities) {
  const auto made = build(place_, fabric_);
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(
      start_agents(place_, fabric_, nodes_, support::program("lldp-leveld"), {"--backend", "bpf"}),
      fabric_.nodes.size());
  std::vector<std::size_t> all(fabric_.nodes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Watcher watcher(place_, fabric_);
  ASSERT_EQ(watcher.wait_until_settled(all, true, Watcher::Clock::now() + 60s), std::nullopt);

  const TempDir told;
  ask_all(told);
  const auto devices = collect::read_files({told.path()});
  EXPECT_THAT(devices.findings, testing::IsEmpty());
  const auto collected = collect::assemble(devices.devices, {});
  ASSERT_TRUE(collected) << to_string(collected.error());
  EXPECT_FALSE(collected->has_problems()) << collect::to_text(*collected);
  EXPECT_EQ(collected->devices_told, 24U);
  EXPECT_EQ(collected->two_sided, 48U);
  EXPECT_EQ(collected->fabric.links.size(), 48U);

  // As the switches' own orders have it, and no other class of any port than its layers give it.
  const auto graph = switch_graph(collected->fabric, Span::kAsSet);
  const auto by_layers = switch_graph(collected->fabric, Span::kLayers);
  ASSERT_TRUE(graph && by_layers);
  EXPECT_EQ(graph->links.size(), 36U);
  for (std::size_t l = 0; l < graph->forwarding.links.size(); ++l) {
    EXPECT_EQ(graph->forwarding.links[l].at_a, by_layers->forwarding.links[l].at_a) << l;
    EXPECT_EQ(graph->forwarding.links[l].at_b, by_layers->forwarding.links[l].at_b) << l;
  }
  const auto prove_with = [&](std::size_t priorities, qos::OnTurn on_turn) {
    return qos::prove(graph->forwarding, qos::Policy::with_lossless(priorities), on_turn);
  };
  EXPECT_TRUE(prove_with(2, qos::OnTurn::kChangesClass).deadlock_free());
  EXPECT_FALSE(prove_with(2, qos::OnTurn::kStaysInLastClass).deadlock_free());
}

}  // namespace
}  // namespace lldp::lab::live
