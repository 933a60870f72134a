// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

#include "agent/core/location.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

/// What was asked of the disk, in that order; a test sees in it what only a loss of power would
/// show.
struct Disk {
  std::vector<std::string> calls{};
  int fsync_fails_with = 0;  ///< errno
  std::function<void()> at_fsync{};
};
Disk& disk() {
  static Disk all;
  return all;
}

}  // namespace

// Found before the C library's own.
extern "C" int fsync(int fd) {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored);
  disk().calls.push_back("fsync " + path.filename().string());
  if (const auto meanwhile = disk().at_fsync) meanwhile();
  errno = disk().fsync_fails_with;
  return errno != 0 ? -1 : static_cast<int>(::syscall(SYS_fsync, fd));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  disk().calls.push_back("rename " + std::filesystem::path(from).filename().string());
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

namespace lldp::io {
namespace {

Result<void> write_state(const std::string& path, const core::State& state) {
  const auto text = state_text(state);
  return text ? io::write_state(path, *text) : fail(text.error());
}
Result<void> save_state(const std::string& path, const core::State& state) {
  auto written = write_state(path, state);
  return written ? commit_state(path) : written;
}

core::State leaf() {
  using Kind = core::PortMemory::Kind;
  const ChassisId own = chassis_id_from_mac({2, 0, 0, 0, 0, 1});
  const ChassisId spine = chassis_id_from_mac({2, 0, 0, 0, 0, 2});
  return {
      .chassis_id = own,
      .level = Level::of<1>(),
      .supported = std::chrono::hours(24),
      .surroundings = {0x0123456789abcdef, 0xfedcba9876543210},
      .agent = 0xabc,
      .rank_id = own,
      .boot = 7,
      .rank = Position{Level::of<1>(), own},
      .bound = Position{Level::of<2>(), own},
      .births = 3,
      .role = Role::kSwitch,
      .ports = {{.name = "swp1",
                 .memory = {.kind = Kind::kHost},
                 .ifindex = *Ifindex::make(7),
                 .carrier_changes = 2,
                 .ever_heard = true,
                 .in_force = Order::kDown},
                {.name = "swp2",
                 .memory = {.kind = Kind::kSwitch, .at = {Level::of<2>(), spine}},
                 .ifindex = *Ifindex::make(8),
                 .carrier_changes = 0,
                 .agents = {{.agent = 0xdef,
                             .chassis = spine,
                             .belief = Position{Level::of<1>(), own},
                             .birth = 3,
                             .boot = 9,
                             .session = 5,
                             .sequence = 4,
                             .bound = Position{Level::of<2>(), spine},
                             .heard = true,
                             .speaks = true,
                             .counted = true,
                             .acknowledged = 4}},
                 .others = Position{},
                 .ever_heard = true,
                 .born_before = 2,
                 .in_force = Order::kUp,
                 .requested = 2},
                {.name = "swp3", .memory = {.kind = Kind::kAbove}, .ifindex = *Ifindex::make(9)},
                {.name = "swp4",
                 .memory = {.kind = Kind::kLeft},
                 .ifindex = *Ifindex::make(10),
                 .carrier_changes = 3}}};
}
constexpr const char* kLeaf =
    "lldp-level-state 3\nchassis-id 4 020000000001\nrole switch\nlevel 1\nsupported 86400\n"
    "agent 0000000000000abc\nrank-id 4 020000000001\nstart 7\nrank 1:4:020000000001\n"
    "bound 2:4:020000000001\nbirths 3\n"
    "near 0123456789abcdef\nnear fedcba9876543210\nboot here\n"
    "port swp1 7 2 host\norder 1 0 1 0 -\n"
    "port swp2 8 0 switch 2 4 020000000002\norder 2 2 1 2 0\n"
    "knows 0000000000000def 4:020000000002 1:4:020000000001 3 9 5 4 2:4:020000000002 14 4\n"
    "port swp3 9 - above\norder 0 0 0 0 -\nport swp4 10 3 left\norder 0 0 0 0 -\n"
    "end\n";
std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}
bool exists(const std::string& path) { return std::filesystem::exists(path); }

TEST(StateFile, IsReadAsItWasSaved) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", leaf()));
  EXPECT_EQ(load_state(dir / "state"), leaf());
  EXPECT_FALSE(exists(dir / "state.new"));
}

TEST(StateText, IsWhatTheManualSays) {
  EXPECT_EQ(format_state(leaf(), "here"), kLeaf);
  EXPECT_EQ(parse_state(kLeaf, "here"), leaf());
}

TEST(StateText, HasTheClassesThatWereLearned) {
  core::State state = leaf();
  state.classes = qos::parse_chains("3:dscp26+24-31>2:dscp19,4:dscp4>lossy").value();
  const std::string text = format_state(state, "here");
  const std::string line = "\nclasses 3:dscp26+24-31>2:dscp19,4:dscp4>lossy\n";
  EXPECT_THAT(text, testing::HasSubstr(line));
  EXPECT_EQ(parse_state(text, "here"), state);
  for (const char* wrong : {"\nclasses none\n", "\nclasses 3:dscp26\n", "\nclasses 8:dscp1>lossy\n",
                            "\nclasses\n", "\nclasses 3:dscp3>lossy\nclasses 4:dscp4>lossy\n"}) {
    std::string bad = text;
    bad.replace(bad.find(line), line.size(), wrong);
    EXPECT_FALSE(parse_state(bad, "here")) << wrong;
  }
}

TEST(StateText, HasTheLayersThatWereTold) {
  core::State state = leaf();
  const Layers told{Layer::of<4>(), Layer::of<3>()};
  state.ports[0].memory.own_layers = told.mirrored();
  state.ports[1].memory.layers = told;
  state.ports[1].memory.own_layers = told.mirrored();
  state.ports[2].memory = {.layers = told};
  const std::string text = format_state(state, "here");
  EXPECT_THAT(text, testing::HasSubstr("\nport swp1 7 2 layers - 3:4 host\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nport swp2 8 0 layers 4:3 3:4 switch 2 4 020000000002\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nport swp3 9 - layers 4:3 - nobody\n"));
  EXPECT_EQ(parse_state(text, "here"), state);
  for (const char* wrong : {"layers 4:3 host", "layers 4:32 - host", "layers 4 - host", "layers"}) {
    std::string bad = text;
    bad.replace(bad.find("layers - 3:4 host"), 17, wrong);
    EXPECT_FALSE(parse_state(bad, "here")) << wrong;
  }
}

TEST(StateText, HasTheLocationAndTheTiersThatWereTold) {  // docs/develop/rules.md P4
  core::State state = leaf();
  const auto tier = [](unsigned level, std::uint8_t octet) {
    return Tier{*Level::make(level), chassis_id_from_mac({2, 0, 0, 0, 0, octet}), level - 1};
  };
  state.location = {tier(1, 1), tier(2, 9)};
  state.ports[1].memory.tiers = core::octets_of(std::vector{tier(2, 9)});
  const std::string text = format_state(state, "here");
  EXPECT_THAT(text, testing::HasSubstr("\nlocation 01070402000000000100000000020704020000000009"
                                       "00000001\n"));
  const std::string port =
      "\nport swp2 8 0 tiers 02070402000000000900000001 switch 2 4 020000000002\n";
  EXPECT_THAT(text, testing::HasSubstr(port));
  EXPECT_EQ(parse_state(text, "here"), state);
  for (const char* wrong :
       {"tiers 02070402000000000900000001 host", "tiers 02070402 switch 2 4 020000000002",
        "tiers 00070402000000000 switch 2 4 020000000002", "tiers switch 2 4 020000000002"}) {
    std::string bad = text;
    bad.replace(bad.find("tiers"), bad.find("\nport swp3") - bad.find("tiers"), wrong);
    EXPECT_FALSE(parse_state(bad, "here")) << wrong;
  }
  for (const char* wrong : {"location ", "location 0", "location 0101", "port swp1 x 2 host",
                            "port swp1  2 host", "port", "port  7 2 host"})
    EXPECT_FALSE(parse_state(std::string("lldp-level-state 2\n") + wrong + "\nend\n", "here"));
}

TEST(StateText, SaysWhenALocationEndsOnTheClockThatGoesOnWhileTheMachineIsOff) {
  core::State state = leaf();
  state.location_until = TimePoint(std::chrono::seconds(500));
  const std::string text = format_state(state, "here", std::chrono::seconds(1'764'201'600));
  EXPECT_THAT(text, testing::HasSubstr("\nlocation-until 1764202100\n"));
  EXPECT_EQ(parse_state(text, "here", std::chrono::seconds(1'764'201'600)), state);
  // The machine was off for 400 s, and its clock began anew 50 s ago.
  const auto later = parse_state(text, "there", std::chrono::seconds(1'764'201'600 + 450));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->location_until, TimePoint(std::chrono::seconds(50)));
  const auto over = parse_state(text, "there", std::chrono::seconds(1'764'202'200));
  ASSERT_TRUE(over);
  EXPECT_EQ(over->location_until, TimePoint(std::chrono::seconds(-100)));
  for (const char* wrong : {"", "x", "-1", "4294967296"})
    EXPECT_FALSE(
        parse_state(std::string("lldp-level-state 2\nlocation-until ") + wrong + "\nend\n", "here"))
        << wrong;
}

TEST(StateText, OfAnotherBootNoCarrierIsKnownToHaveHeld) {
  core::State state = leaf();
  for (core::PortState& port : state.ports) port.carrier_changes.reset();
  EXPECT_EQ(parse_state(kLeaf, "there"), state);
}

TEST(StateText, OfABootThatNobodyNamesNeither) {
  const auto state = parse_state(format_state(leaf(), ""), "");
  ASSERT_TRUE(state);
  for (const core::PortState& port : state->ports) EXPECT_EQ(port.carrier_changes, std::nullopt);
}

TEST(StateText, OfAnOlderVersionGivesTheLevelAndNothingOfTheOrder) {
  const ChassisId own = chassis_id_from_mac({2, 0, 0, 0, 0, 1});
  for (const char* old : {"lldp-level-state 1\nchassis-id 4 020000000001\nlevel 2\nend\n",
                          "lldp-level-state 2\nchassis-id 4 020000000001\nlevel 2\n"
                          "place 2 4 020000000001\nports learning\nend\n"})
    EXPECT_EQ(parse_state(old, "here"), (core::State{.chassis_id = own, .level = Level::of<2>()}));
}

TEST(StateText, RefusesAnOrderThatCannotBe) {
  for (const auto& [right, wrong] : {std::pair("order 1 0 1 0 -", "order 4 0 1 0 -"),
                                     {"order 1 0 1 0 -", "order 1 16 1 0 -"},
                                     {"order 1 0 1 0 -", "order 1 0 1 0"},
                                     {"rank 1:4:020000000001", "rank 1"},
                                     {"rank 1:4:020000000001", "rank 0:4:02"},
                                     {"knows 0000000000000def", "knows 0000000000000000"},
                                     {" 14 4\n", " 16 4\n"}}) {
    std::string bad = kLeaf;
    bad.replace(bad.find(right), std::string_view(right).size(), wrong);
    EXPECT_FALSE(parse_state(bad, "here")) << wrong;
  }
}

TEST(StateText, HoldsWhatADeviceOfTheGreatestKindKeeps) {
  core::State state = leaf();
  state.surroundings.clear();
  for (std::uint64_t i = 0; i < 1024; ++i) state.surroundings.push_back(i);
  ChassisId longest{{ChassisId::kLocal, std::string(255, 'x')}};
  for (int i = 0; i < 1024; ++i)
    state.ports.push_back(
        {.name = "swp" + std::to_string(i),
         .memory = {.kind = core::PortMemory::Kind::kSwitch, .at = {Level::of<254>(), longest}},
         .ifindex = *Ifindex::make(1),
         .carrier_changes = 1});
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", state));
  EXPECT_EQ(load_state(dir / "state"), state);
}

// docs/develop/rules.md, Terms: saved first
TEST(StateFile, WhatIsWrittenIsFoundBeforeItIsDurable) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", {}));
  ASSERT_TRUE(write_state(dir / "state", leaf()));
  EXPECT_EQ(load_state(dir / "state"), leaf());
  write(dir / "state.new", content(dir / "state.new").substr(0, 60));  // the power went
  EXPECT_EQ(load_state(dir / "state"), core::State{});
  ASSERT_TRUE(write_state(dir / "state", leaf()));
  ASSERT_TRUE(commit_state(dir / "state"));
  EXPECT_FALSE(exists(dir / "state.new"));
  EXPECT_EQ(load_state(dir / "state"), leaf());
}

// While the disk takes its time, more is told.
TEST(StateFile, WhatIsWrittenWhileTheDiskIsBusyWaitsForTheNextCommit) {
  const TempDir dir;
  const std::string path = dir / "state";
  ASSERT_TRUE(save_state(path, {}));
  ASSERT_TRUE(write_state(path, leaf()));
  core::State newer = leaf();
  newer.ports.pop_back();
  disk().at_fsync = [&] {
    disk().at_fsync = nullptr;
    EXPECT_EQ(load_state(path), leaf()) << "an end now loses nothing";
    EXPECT_TRUE(write_state(path, newer));
    EXPECT_EQ(load_state(path), newer);
  };
  ASSERT_TRUE(commit_state(path));
  EXPECT_EQ(load_state(path), newer);
  ASSERT_TRUE(std::filesystem::remove(path + ".new"));
  EXPECT_EQ(load_state(path), leaf()) << "that was for good, and only that";
  EXPECT_FALSE(commit_state(path)) << "nothing was written";
}

TEST(StateFile, DirectoryThatDoesNotKnowForGoodIsSaid) {
  const TempDir dir;
  const std::string path = dir / "state";
  ASSERT_TRUE(write_state(path, leaf()));
  disk().at_fsync = [] { disk().at_fsync = [] { disk().fsync_fails_with = EIO; }; };
  const auto done = commit_state(path);
  disk() = {};
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()), path + ": cannot be made durable: Input/output error");
  EXPECT_EQ(load_state(path), leaf());
}

// The daemon would wait in its start for whoever writes to it.
TEST(StateFile, PipeInItsPlaceIsNotWaitedFor) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "state.new").c_str(), 0600), 0);
  ::alarm(20);
  EXPECT_EQ(load_state(dir / "state"), core::State{});
  ::alarm(0);
}

// Neither does one that is not written to its end: it may be the one that was told.
TEST(StateFile, WhatWasWrittenBeforeStandsUntilTheNextIsWhole) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", {}));
  ASSERT_TRUE(write_state(dir / "state", leaf()));
  ASSERT_EQ(::mkdir((dir / "state.part").c_str(), 0700), 0);  // stands where the next must go
  EXPECT_FALSE(write_state(dir / "state", core::State{}));
  EXPECT_EQ(load_state(dir / "state"), leaf());
}

TEST(StateFile, MissingOneIsAFirstStart) {
  const TempDir dir;
  EXPECT_EQ(load_state(dir / "state"), core::State{});
}

// It would be written over.
TEST(StateFile, OneThatCannotBeReadIsNoFirstStart) {
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "state").c_str(), 0700), 0);
  const auto state = load_state(dir / "state");
  ASSERT_FALSE(state);
  EXPECT_THAT(to_string(state.error()), testing::StartsWith((dir / "state") + ": "));
}

TEST(StateFile, DamagedOneIsSetAside) {
  const TempDir dir;
  write(dir / "state", "lldp-level-state 1\nlevel 1\nen");
  const auto state = load_state(dir / "state");
  ASSERT_FALSE(state);
  EXPECT_EQ(to_string(state.error()), (dir / "state") +
                                          ": damaged (line 3 is torn): set aside as " +
                                          (dir / "state.corrupt") + ", the level is learned anew");
  EXPECT_EQ(content(dir / "state.corrupt"), "lldp-level-state 1\nlevel 1\nen");
  EXPECT_EQ(load_state(dir / "state"), core::State{});
}

// docs/develop/rules.md A9: what the daemon took for a first start would be written over what is
// there.
TEST(StateFile, ThatNoDescriptorIsLeftForIsNoFirstStart) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", leaf()));
  core::State newer = leaf();
  newer.ports.pop_back();
  ASSERT_TRUE(write_state(dir / "state", newer));
  std::optional<support::NoDescriptors> none(std::in_place);
  const auto state = load_state(dir / "state");
  const auto written = write_state(dir / "state", core::State{});
  none.reset();
  ASSERT_FALSE(state);
  EXPECT_TRUE(is_passing(state.error()));
  EXPECT_FALSE(written);
  EXPECT_EQ(load_state(dir / "state"), newer);
}

TEST(StateFile, DamagedOneDoesNotPass) {
  const TempDir dir;
  write(dir / "state", "x");
  const auto state = load_state(dir / "state");
  ASSERT_FALSE(state);
  EXPECT_FALSE(is_passing(state.error()));
}

TEST(StateFile, FailedSaveLeavesTheOldContent) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", leaf()));
  ASSERT_EQ(::mkdir((dir / "state.new").c_str(), 0700), 0);  // stands where the new content must go
  const auto saved = save_state(dir / "state", {});
  ASSERT_FALSE(saved);
  EXPECT_EQ(to_string(saved.error()), (dir / "state") + ": cannot be written: Is a directory");
  EXPECT_EQ(load_state(dir / "state"), leaf());
}

TEST(StateFile, NewContentIsOnTheDiskBeforeItTakesTheOldOnesPlace) {
  const TempDir dir;
  disk() = {};
  ASSERT_TRUE(save_state(dir / "state", leaf()));
  EXPECT_THAT(disk().calls,
              testing::ElementsAre(
                  "rename state.part", "rename state.new", "fsync state.sync", "rename state.sync",
                  "fsync " + std::filesystem::path(dir.path()).filename().string()));
}

TEST(StateFile, WhatTheDiskDidNotTakeDoesNotTakeTheOldOnesPlace) {
  const TempDir dir;
  ASSERT_TRUE(save_state(dir / "state", leaf()));
  disk() = {.fsync_fails_with = EIO};
  const auto saved = save_state(dir / "state", {});
  disk() = {};
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, EIO);
  EXPECT_EQ(load_state(dir / "state"), leaf());
  EXPECT_FALSE(exists(dir / "state.new"));
  EXPECT_FALSE(exists(dir / "state.sync"));
}

TEST(StateFile, NothingIsLeftOfOneThatCannotBeReplaced) {
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "state").c_str(), 0700), 0);
  const auto saved = save_state(dir / "state", leaf());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, EISDIR);
  EXPECT_FALSE(exists(dir / "state.new"));
  EXPECT_FALSE(exists(dir / "state.sync"));
}

TEST(StateFile, FullDiskIsOneClearLine) {
  // /dev/full behind a name of its own: the open succeeds and the write says ENOSPC. O_NOFOLLOW
  // refuses the link, so the device is made where that is allowed.
  const TempDir dir;
  if (::mknod((dir / "state.part").c_str(), S_IFCHR | 0600, 0x0107) != 0)
    GTEST_SKIP() << "needs the right to make a device";
  const auto saved = save_state(dir / "state", leaf());
  if (!saved && saved.error().code == EACCES) GTEST_SKIP() << "devices do not work here";
  ASSERT_FALSE(saved);
  EXPECT_EQ(to_string(saved.error()),
            (dir / "state") + ": cannot be written: No space left on device");
}

struct DamageCase {
  const char* name = "";
  std::string text{};
  std::string error{};
  friend void PrintTo(const DamageCase& c, std::ostream* os) { *os << c.name; }
};
class DamagedText : public testing::TestWithParam<DamageCase> {};
TEST_P(DamagedText, IsRefused) {
  const auto state = parse_state(GetParam().text, "");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().where + " " + state.error().what, GetParam().error);
}
const DamageCase kDamage[] = {
    {"Empty", "", "the end is missing"},
    {"NoEnd", "lldp-level-state 1\n", "the end is missing"},
    {"OtherVersion", "lldp-level-state 4\nend\n", "line 1 is not 'lldp-level-state 3'"},
    {"LevelOutOfRange", "lldp-level-state 1\nlevel 255\nend\n", "line 2 is not understood"},
    {"LevelNegative", "lldp-level-state 1\nlevel -1\nend\n", "line 2 is not understood"},
    {"LevelTwice", "lldp-level-state 1\nlevel 1\nlevel 1\nend\n", "line 3 is not understood"},
    {"OddHex", "lldp-level-state 1\nchassis-id 4 020\nend\n", "line 2 is not understood"},
    {"EmptyChassis", "lldp-level-state 1\nchassis-id 4 \nend\n", "line 2 is not understood"},
    {"LongChassis", "lldp-level-state 1\nchassis-id 4 " + std::string(512, '0') + "\nend\n",
     "line 2 is not understood"},
    {"PortWithoutMemory", "lldp-level-state 2\nport a 1 1\nend\n", "line 2 is not understood"},
    {"PortWithTooMuch", "lldp-level-state 2\nport a 1 1 host x\nend\n", "line 2 is not understood"},
    {"SwitchWithoutLevel", "lldp-level-state 2\nport a 1 1 switch\nend\n",
     "line 2 is not understood"},
    {"PlaceWithoutLevel", "lldp-level-state 2\nplace x\nend\n", "line 2 is not understood"},
    {"RoleOfNobody", "lldp-level-state 2\nrole router\nend\n", "line 2 is not understood"},
    {"AfterTheEnd", "lldp-level-state 1\nend\nlevel 1\n", "line 3 stands after the end"},
    {"Binary", std::string("\0\xff\0\n", 4), "line 1 is not 'lldp-level-state 3'"},
};
INSTANTIATE_TEST_SUITE_P(Damage, DamagedText, testing::ValuesIn(kDamage),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::io
