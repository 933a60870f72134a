// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "agent/daemon/state_file.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

/// A disk that answers when the test says so.
class SlowDisk final : public FileSync {
 public:
  struct Hand {
    int asked = 0;
    std::optional<int> answer{};
  };
  explicit SlowDisk(Hand& hand) : hand_(hand) {}
  int fd() const override { return -1; }
  void start(int) override { ++hand_.asked; }
  std::optional<int> take() override { return std::exchange(hand_.answer, std::nullopt); }
  int wait() override { return take().value_or(0); }

 private:
  Hand& hand_;
};

/// One that answers at once, by fsync(2).
class QuickDisk final : public FileSync {
 public:
  int fd() const override { return -1; }
  void start(int file) override { answer_ = ::fsync(file) == 0 ? 0 : errno; }
  std::optional<int> take() override { return std::exchange(answer_, std::nullopt); }
  int wait() override { return take().value_or(0); }

 private:
  std::optional<int> answer_{};
};

/// A switch that has something to keep.
struct Kept {
  Kept() { agent.set_link({.ifindex = Ifindex::of<1>(), .name = "swp1", .up = true}, now, out); }
  /// The text of the alarm, or nothing.
  std::optional<std::string> alarm() {
    for (const core::Alarm& a : agent.snapshot(now).alarms)
      if (a.code == core::AlarmCode::kState) return a.text;
    return std::nullopt;
  }
  TimePoint now{std::chrono::seconds(1000)};
  core::Actions out{};
  core::Agent agent{core::Settings{}, {}, now};
};

TEST(StateKeeper, WhatCannotBeWrittenIsAnAlarmUntilItIs) {
  const TempDir dir;
  const std::string path = dir / "later/state";
  Kept kept;
  StateKeeper keeper(path, std::make_unique<QuickDisk>());
  ASSERT_TRUE(keeper.open()) << "no reason not to start";
  keeper.save(kept.agent, kept.now);  // without a change: the first sign of it
  EXPECT_TRUE(keeper.unsaved());
  keeper.tell(kept.agent, kept.now, kept.out);
  EXPECT_EQ(kept.alarm(), path +
                              ": cannot be written: No such file or directory; what changes "
                              "meanwhile is lost at a restart");
  kept.out.clear();
  keeper.save(kept.agent, kept.now);  // nothing new, and nobody asked for another try
  keeper.retry();
  keeper.save(kept.agent, kept.now);
  keeper.tell(kept.agent, kept.now, kept.out);
  EXPECT_TRUE(kept.out.events.empty()) << "told once";

  std::filesystem::create_directory(dir / "later");
  keeper.retry();
  keeper.save(kept.agent, kept.now);
  EXPECT_FALSE(keeper.unsaved());
  keeper.tell(kept.agent, kept.now, kept.out);
  EXPECT_EQ(kept.alarm(), std::nullopt);
  EXPECT_EQ(load_state(path), kept.agent.state());
}

TEST(StateKeeper, WhatTheDiskRefusedIsTriedOnceMoreAtTheEnd) {
  const TempDir dir;
  const std::string path = dir / "later/state";
  Kept kept;
  StateKeeper keeper(path);
  ASSERT_TRUE(keeper.open());
  keeper.save(kept.agent, kept.now);
  ASSERT_TRUE(keeper.unsaved());
  std::filesystem::create_directory(dir / "later");
  keeper.finish(kept.agent);
  EXPECT_EQ(load_state(path), kept.agent.state());
}

TEST(StateKeeper, WritesOnlyWhatHasChanged) {
  const TempDir dir;
  Kept kept;
  StateKeeper keeper(dir / "state", std::make_unique<QuickDisk>());
  ASSERT_TRUE(keeper.open());
  keeper.save(kept.agent, kept.now);
  EXPECT_FALSE(std::filesystem::exists(dir / "state"));
  keeper.note_change();
  keeper.write(kept.agent);
  EXPECT_TRUE(std::filesystem::exists(dir / "state.new"));
  keeper.save(kept.agent, kept.now);
  EXPECT_TRUE(std::filesystem::exists(dir / "state"));
  EXPECT_FALSE(std::filesystem::exists(dir / "state.new"));
}

// A neighbour may give cause to write with every frame.
TEST(StateKeeper, WaitsForTheDiskOnceInASecondAtMost) {
  const TempDir dir;
  Kept kept;
  StateKeeper keeper(dir / "state", std::make_unique<QuickDisk>());
  ASSERT_TRUE(keeper.open());
  const auto change = [&](const char* port) {
    kept.agent.set_link({.ifindex = Ifindex::of<1>(), .name = port, .up = true}, kept.now,
                        kept.out);
    keeper.note_change();
    keeper.save(kept.agent, kept.now);
  };
  const auto committed = [&] { return !std::filesystem::exists(dir / "state.new"); };
  EXPECT_EQ(keeper.next_deadline(), std::nullopt);
  change("a");
  EXPECT_TRUE(committed());
  EXPECT_EQ(keeper.next_deadline(), std::nullopt);
  const TimePoint due = kept.now + StateKeeper::kCommitInterval;
  kept.now += std::chrono::milliseconds(1);
  change("b");
  EXPECT_FALSE(committed());
  EXPECT_EQ(load_state(dir / "state"), kept.agent.state()) << "what was told is found";
  EXPECT_EQ(keeper.next_deadline(), due);
  kept.now = due;
  keeper.save(kept.agent, kept.now);
  EXPECT_TRUE(committed());
  EXPECT_EQ(keeper.next_deadline(), std::nullopt);
  change("c");
  EXPECT_FALSE(committed());
  keeper.finish(kept.agent);
  EXPECT_TRUE(committed());
  EXPECT_EQ(load_state(dir / "state"), kept.agent.state());
}

struct Busy : Kept {
  Busy() { EXPECT_TRUE(keeper.open()); }
  void change(const char* port) {
    agent.set_link({.ifindex = Ifindex::of<1>(), .name = port, .up = true}, now, out);
    keeper.note_change();
    turn();
  }
  void turn() {
    keeper.save(agent, now);
    keeper.tell(agent, now, out);
  }
  void answer(int code) {
    hand.answer = code;
    turn();
  }
  bool exists(const char* suffix) const { return std::filesystem::exists(path + suffix); }
  TempDir dir{};
  std::string path = dir / "state";
  SlowDisk::Hand hand{};
  StateKeeper keeper{path, std::make_unique<SlowDisk>(hand)};
};

// The frames of all ports waited with it.
TEST(StateKeeper, NobodyWaitsForABusyDisk) {
  Busy busy;
  busy.change("a");
  EXPECT_EQ(busy.hand.asked, 1);
  EXPECT_FALSE(busy.exists(""));
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  const core::State first = busy.agent.state();
  busy.now += std::chrono::seconds(3);
  busy.change("b");
  EXPECT_EQ(busy.hand.asked, 1) << "one thing at a time";
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  busy.answer(0);
  EXPECT_TRUE(busy.exists(""));
  EXPECT_FALSE(busy.exists(".sync"));
  EXPECT_EQ(busy.hand.asked, 2) << "the directory";
  EXPECT_TRUE(busy.exists(".new")) << "waits for its turn";
  busy.answer(0);
  EXPECT_EQ(busy.hand.asked, 3);
  EXPECT_FALSE(busy.exists(".new"));
  EXPECT_TRUE(busy.exists(".sync"));
  busy.keeper.finish(busy.agent);
  EXPECT_FALSE(busy.exists(".sync"));
  EXPECT_EQ(busy.hand.asked, 4);
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  EXPECT_EQ(busy.keeper.next_deadline(), std::nullopt);
  EXPECT_EQ(busy.alarm(), std::nullopt);
}

TEST(StateKeeper, DiskThatDoesNotAnswerIsAnAlarmUntilItDoes) {
  Busy busy;
  busy.change("a");
  const TimePoint patience = busy.now + StateKeeper::kPatience;
  EXPECT_EQ(busy.keeper.next_deadline(), patience);
  busy.now = patience - std::chrono::nanoseconds(1);
  busy.turn();
  EXPECT_EQ(busy.alarm(), std::nullopt);
  busy.now = patience;
  busy.turn();
  EXPECT_EQ(busy.alarm(), busy.path +
                              ": the disk has not answered for 10 s; what changes "
                              "meanwhile is lost if the power goes");
  EXPECT_FALSE(busy.keeper.unsaved()) << "asking again would not help";
  EXPECT_EQ(busy.keeper.next_deadline(), std::nullopt) << "told once";
  busy.answer(0);
  busy.answer(0);
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_EQ(busy.keeper.next_deadline(), std::nullopt);
}

TEST(StateKeeper, WhatABusyDiskRefusesInTheEndIsSaidAndTriedAgain) {
  Busy busy;
  busy.change("a");
  busy.answer(EIO);
  EXPECT_EQ(busy.alarm(), busy.path +
                              ": cannot be written: Input/output error; what changes meanwhile is "
                              "lost at a restart");
  EXPECT_TRUE(busy.keeper.unsaved());
  EXPECT_FALSE(busy.exists(".sync"));
  busy.keeper.retry();
  busy.turn();
  EXPECT_EQ(busy.hand.asked, 1) << "not within a second";
  EXPECT_NE(busy.alarm(), std::nullopt) << "written is not kept";
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  EXPECT_EQ(busy.hand.asked, 2);
  busy.answer(0);
  EXPECT_NE(busy.alarm(), std::nullopt) << "the directory is still to come";
  busy.answer(0);
  EXPECT_EQ(busy.alarm(), std::nullopt);
}

// What was refused meanwhile is not done by what was begun before.
TEST(StateKeeper, AnswerToWhatWasWrittenBeforeDoesNotSpeakForWhatCouldNotBe) {
  Busy busy;
  busy.change("a");
  std::filesystem::create_directory(busy.path + ".part");
  busy.change("b");
  busy.answer(0);
  busy.answer(0);
  EXPECT_TRUE(busy.keeper.unsaved());
  EXPECT_NE(busy.alarm(), std::nullopt);
  std::filesystem::remove(busy.path + ".part");
  busy.now += StateKeeper::kCommitInterval;
  busy.keeper.retry();
  busy.turn();
  busy.answer(0);
  busy.answer(0);
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
}

/// Another process that has the right to the file until the object goes.
class Other {
 public:
  explicit Other(const std::string& path) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      StateKeeper keeper(path);
      const char done = keeper.open() ? 'y' : 'n';
      if (::write(ready[1], &done, 1) != 1) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    char done = 0;
    EXPECT_EQ(::read(ready[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(StateKeeper, IsToldWhoHasTheFile) {
  const TempDir dir;
  const std::string path = dir / "state";
  {
    const Other other(path);
    StateKeeper keeper(path);
    const auto opened = keeper.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(to_string(opened.error()),
              path + ": process " + std::to_string(other.pid()) +
                  " keeps its state here: stop it, or give this daemon its own --state-file and "
                  "--socket");
    StateKeeper neighbor(dir / "other");
    EXPECT_TRUE(neighbor.open()) << "another file of the directory";
  }
  StateKeeper keeper(path);
  EXPECT_TRUE(keeper.open()) << "killed, it keeps nothing";
}

TEST(StateKeeper, WhoCouldNotLockAtTheStartDoesNotOverwriteAnothersStateLater) {
  const TempDir dir;
  const std::string path = dir / "later/state";
  Kept kept;
  StateKeeper keeper(path);
  ASSERT_TRUE(keeper.open());
  std::filesystem::create_directory(dir / "later");
  const Other other(path);
  keeper.save(kept.agent, kept.now);
  EXPECT_TRUE(keeper.unsaved());
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace lldp::io
