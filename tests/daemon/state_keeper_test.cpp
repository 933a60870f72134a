// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/daemon/state_file.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

/// Does what it is told when the test says so.
class Slow final : public AsyncWriter {
 public:
  struct Hand {
    int asked = 0;
    Job job{};
    std::optional<Result<void>> outcome{};
    std::chrono::milliseconds waited{};
    void let() { outcome = std::exchange(job, nullptr)(); }
    void refuse(int code) { outcome = fail(Error{code, "state", std::strerror(code)}); }
  };
  explicit Slow(Hand& hand) : hand_(hand) {}
  int fd() const override { return -1; }
  void start(Job job) override {
    EXPECT_FALSE(hand_.job) << "one thing at a time";
    hand_.job = std::move(job);
    ++hand_.asked;
  }
  std::optional<Result<void>> take() override { return std::exchange(hand_.outcome, std::nullopt); }
  std::optional<Result<void>> wait(std::chrono::milliseconds most) override {
    hand_.waited += most;
    return take();
  }

 private:
  Hand& hand_;
};

/// At once.
class Quick final : public AsyncWriter {
 public:
  int fd() const override { return -1; }
  void start(Job job) override { outcome_ = job(); }
  std::optional<Result<void>> take() override { return std::exchange(outcome_, std::nullopt); }
  std::optional<Result<void>> wait(std::chrono::milliseconds) override { return take(); }

 private:
  std::optional<Result<void>> outcome_{};
};

StateKeeper quick(const std::string& path) {
  return StateKeeper(path, std::make_unique<Quick>(), std::make_unique<Quick>());
}

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
  StateKeeper keeper = quick(path);
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
  EXPECT_TRUE(keeper.finish(kept.agent, kept.now));
  EXPECT_EQ(load_state(path), kept.agent.state());
}

TEST(StateKeeper, WritesOnlyWhatHasChanged) {
  const TempDir dir;
  Kept kept;
  StateKeeper keeper = quick(dir / "state");
  ASSERT_TRUE(keeper.open());
  keeper.save(kept.agent, kept.now);
  EXPECT_FALSE(std::filesystem::exists(dir / "state"));
  keeper.note_change();
  keeper.write(kept.agent, kept.now);
  EXPECT_TRUE(std::filesystem::exists(dir / "state.new"));
  keeper.save(kept.agent, kept.now);
  EXPECT_TRUE(std::filesystem::exists(dir / "state"));
  EXPECT_FALSE(std::filesystem::exists(dir / "state.new"));
}

// A neighbor may give cause to write with every frame.
TEST(StateKeeper, WaitsForTheDiskOnceInASecondAtMost) {
  const TempDir dir;
  Kept kept;
  StateKeeper keeper = quick(dir / "state");
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
  EXPECT_TRUE(keeper.finish(kept.agent, kept.now));
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
  void let() {
    disk.let();
    turn();
  }
  bool exists(const char* suffix) const { return std::filesystem::exists(path + suffix); }
  TempDir dir{};
  std::string path = dir / "state";
  Slow::Hand disk{};
  StateKeeper keeper{path, std::make_unique<Quick>(), std::make_unique<Slow>(disk)};
};

// The frames of all ports waited with it.
TEST(StateKeeper, NobodyWaitsForABusyDisk) {
  Busy busy;
  busy.change("a");
  EXPECT_EQ(busy.disk.asked, 1);
  EXPECT_FALSE(busy.exists(""));
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  busy.now += std::chrono::seconds(3);
  busy.change("b");
  EXPECT_EQ(busy.disk.asked, 1);
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  EXPECT_EQ(busy.disk.waited, std::chrono::milliseconds(0));
  busy.disk.job = [] { return Result<void>(); };  // as if it had begun before that was written
  busy.let();
  EXPECT_EQ(busy.disk.asked, 2);
  busy.let();
  EXPECT_TRUE(busy.exists(""));
  EXPECT_FALSE(busy.exists(".new"));
  EXPECT_EQ(busy.keeper.next_deadline(), std::nullopt);
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_TRUE(busy.keeper.finish(busy.agent, busy.now));
  EXPECT_EQ(busy.disk.waited, std::chrono::milliseconds(0)) << "there was nothing to wait for";
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
  busy.let();
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_EQ(busy.keeper.next_deadline(), std::nullopt);
}

TEST(StateKeeper, WhatABusyDiskRefusesInTheEndIsSaidAndTriedAgain) {
  Busy busy;
  busy.change("a");
  busy.disk.job = nullptr;
  busy.disk.refuse(EIO);
  busy.turn();
  EXPECT_EQ(busy.alarm(), "state: Input/output error; what changes meanwhile is lost at a restart");
  EXPECT_TRUE(busy.keeper.unsaved());
  busy.keeper.retry();
  busy.turn();
  EXPECT_EQ(busy.disk.asked, 1) << "not within a second";
  EXPECT_NE(busy.alarm(), std::nullopt) << "written is not kept";
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  EXPECT_EQ(busy.disk.asked, 2);
  EXPECT_NE(busy.alarm(), std::nullopt);
  busy.let();
  EXPECT_EQ(busy.alarm(), std::nullopt);
}

// What was refused meanwhile is not done by what was begun before.
TEST(StateKeeper, AnswerToWhatWasWrittenBeforeDoesNotSpeakForWhatCouldNotBe) {
  Busy busy;
  busy.change("a");
  std::filesystem::create_directory(busy.path + ".part");
  busy.change("b");
  busy.let();
  EXPECT_TRUE(busy.keeper.unsaved());
  EXPECT_NE(busy.alarm(), std::nullopt);
  std::filesystem::remove(busy.path + ".part");
  busy.now += StateKeeper::kCommitInterval;
  busy.keeper.retry();
  busy.turn();
  busy.let();
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
}

// The disk is asked to keep the last that could be written, whatever could not be after it.
TEST(StateKeeper, WhatWasWrittenIsKeptThoughTheNextCannotBe) {
  Busy busy;
  busy.change("a");
  busy.let();
  busy.now += std::chrono::milliseconds(1);
  busy.change("b");
  const core::State second = busy.agent.state();
  std::filesystem::create_directory(busy.path + ".part");
  busy.change("c");
  EXPECT_TRUE(busy.keeper.unsaved());
  EXPECT_TRUE(busy.exists(".new"));
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  ASSERT_EQ(busy.disk.asked, 2);
  busy.let();
  EXPECT_FALSE(busy.exists(".new"));
  EXPECT_EQ(load_state(busy.path), second);
}

TEST(StateKeeper, WhatTheCommitBeforeHasTakenAlongIsKept) {
  Busy busy;
  busy.change("a");
  busy.change("b");
  busy.let();  // asked for a, the disk has kept b
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  ASSERT_EQ(busy.disk.asked, 2);
  busy.let();
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_FALSE(busy.keeper.unsaved());
}

TEST(StateKeeper, WhatARefusedCommitHasTakenAlongIsWrittenAgain) {
  Busy busy;
  busy.change("a");
  busy.change("b");
  std::filesystem::remove(busy.path + ".new");  // taken, and then refused
  busy.disk.refuse(EIO);
  busy.disk.job = nullptr;
  busy.turn();
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  ASSERT_EQ(busy.disk.asked, 2);
  busy.let();
  EXPECT_TRUE(busy.alarm()) << "nothing is there to be kept";
  busy.keeper.retry();
  busy.now += StateKeeper::kCommitInterval;
  busy.turn();
  ASSERT_EQ(busy.disk.asked, 3);
  busy.let();
  EXPECT_EQ(busy.alarm(), std::nullopt);
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
}

/// A file system that is frozen for a snapshot, or whose device hangs, takes nothing.
struct Frozen : Kept {
  Frozen() { EXPECT_TRUE(keeper.open()); }
  void change(const char* port) {
    agent.set_link({.ifindex = Ifindex::of<1>(), .name = port, .up = true}, now, out);
    keeper.note_change();
    keeper.write(agent, now);
  }
  void turn() {
    keeper.save(agent, now);
    keeper.tell(agent, now, out);
  }
  TempDir dir{};
  std::string path = dir / "state";
  Slow::Hand writer{};
  StateKeeper keeper{path, std::make_unique<Slow>(writer), std::make_unique<Quick>()};
};

TEST(StateKeeper, FrozenFileSystemHoldsUpOneFrameAndNoOther) {
  Frozen frozen;
  frozen.change("a");
  EXPECT_EQ(frozen.writer.waited, StateKeeper::kWritePatience);
  const core::State first = frozen.agent.state();
  frozen.change("b");
  frozen.turn();
  EXPECT_EQ(frozen.writer.waited, StateKeeper::kWritePatience) << "that was enough";
  EXPECT_EQ(frozen.writer.asked, 1);
  frozen.writer.let();
  frozen.turn();
  EXPECT_EQ(load_state(frozen.path), first);
  EXPECT_EQ(frozen.writer.asked, 2) << "what has changed meanwhile";
  frozen.writer.let();
  frozen.now += StateKeeper::kCommitInterval;
  frozen.turn();
  EXPECT_EQ(load_state(frozen.path), frozen.agent.state());
  EXPECT_FALSE(std::filesystem::exists(frozen.path + ".new"));
  EXPECT_EQ(frozen.keeper.next_deadline(), std::nullopt);
  EXPECT_EQ(frozen.alarm(), std::nullopt);
}

TEST(StateKeeper, FrozenFileSystemIsAnAlarmUntilItIsNot) {
  Frozen frozen;
  frozen.change("a");
  EXPECT_EQ(frozen.keeper.next_deadline(), frozen.now + StateKeeper::kPatience);
  frozen.now += StateKeeper::kPatience;
  frozen.turn();
  EXPECT_EQ(frozen.alarm(), frozen.path +
                                ": the disk has not answered for 10 s; what changes meanwhile is "
                                "lost at a restart");
  EXPECT_EQ(frozen.keeper.next_deadline(), std::nullopt) << "told once";
  frozen.writer.let();
  frozen.turn();
  EXPECT_EQ(frozen.alarm(), std::nullopt);
}

// The daemon would end with the disk, and no other one could begin.
TEST(StateKeeper, EndIsNotHeldUpForEver) {
  Frozen frozen;
  frozen.change("a");
  frozen.change("b");
  const auto first = frozen.keeper.finish(frozen.agent, frozen.now);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().what, frozen.path +
                                    ": the disk has not answered for 10 s; what changes meanwhile "
                                    "is lost at a restart");
  EXPECT_LE(frozen.writer.waited, StateKeeper::kPatience * 2 + StateKeeper::kWritePatience);
  StateKeeper next(frozen.path);
  EXPECT_TRUE(next.open()) << "the right is another's";

  Busy busy;
  busy.change("a");
  const auto second = busy.keeper.finish(busy.agent, busy.now);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, testing::EndsWith("lost if the power goes"));

  Kept kept;
  StateKeeper full = quick(busy.dir / "nowhere/state");
  ASSERT_TRUE(full.open());
  const auto third = full.finish(kept.agent, kept.now);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().what, testing::HasSubstr("cannot be written"));
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

/// A switch whose state is in its file, and half a minute later.
struct Settled : Kept {
  explicit Settled(const std::string& path, bool loads = true) : keeper(quick(path)) {
    EXPECT_TRUE(keeper.open());
    EXPECT_EQ(keeper.load().has_value(), loads);
    keeper.note_change();
    keeper.save(agent, now);
    EXPECT_EQ(load_state(path), agent.state());
  }
  void pass(Duration time) {
    now += time;
    keeper.save(agent, now);  // looks
    keeper.save(agent, now);  // and sees to it
    keeper.tell(agent, now, out);
  }
  StateKeeper keeper;
};

TEST(StateKeeper, AFileThatIsRemovedIsWrittenAnew) {
  const TempDir dir;
  const std::string path = dir / "state";
  Settled settled(path);
  std::filesystem::remove(path);
  settled.pass(StateKeeper::kLook - Duration(1));
  EXPECT_FALSE(std::filesystem::exists(path));
  testing::internal::CaptureStderr();
  settled.pass(Duration(1));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr(path + ": was removed by another program; written again"));
  EXPECT_EQ(load_state(path), settled.agent.state());
  testing::internal::CaptureStderr();
  settled.pass(StateKeeper::kLook);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it is there";
}

// Two would write over each other's state.
TEST(StateKeeper, ALockThatIsRemovedIsTakenAnew) {
  const TempDir dir;
  const std::string path = dir / "state";
  Settled settled(path);
  std::filesystem::remove(path + ".lock");
  testing::internal::CaptureStderr();
  settled.pass(StateKeeper::kLook);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr(path + ".lock: was removed by another program; made again"));
  EXPECT_TRUE(std::filesystem::exists(path + ".lock"));
  EXPECT_EQ(settled.alarm(), std::nullopt);
  const pid_t other = ::fork();
  if (other == 0) ::_exit(StateKeeper(path).open() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 1) << "it is ours again";
  settled.pass(StateKeeper::kLook);
  EXPECT_EQ(settled.alarm(), std::nullopt);
}

TEST(StateKeeper, WhoTookARemovedLockKeepsTheFile) {
  const TempDir dir;
  const std::string path = dir / "state";
  Settled settled(path);
  std::filesystem::remove(path + ".lock");
  {
    const Other other(path);
    settled.pass(StateKeeper::kLook);
    EXPECT_THAT(
        settled.alarm().value_or(""),
        testing::HasSubstr("process " + std::to_string(other.pid()) + " keeps its state here"));
    std::filesystem::remove(path);
    settled.keeper.note_change();
    settled.pass(StateKeeper::kLook);
    EXPECT_FALSE(std::filesystem::exists(path)) << "it is another's";
  }
  settled.keeper.retry();
  settled.pass(Duration(1));
  EXPECT_EQ(settled.alarm(), std::nullopt);
  EXPECT_EQ(load_state(path), settled.agent.state());
}

TEST(StateKeeper, AFileThatNeverWasIsNotMissed) {
  const TempDir dir;
  Kept kept;
  StateKeeper keeper = quick(dir / "state");
  ASSERT_TRUE(keeper.open());
  ASSERT_TRUE(keeper.load());
  for (int i = 0; i < 3; ++i) {
    keeper.save(kept.agent, kept.now);
    kept.now += StateKeeper::kLook;
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "state"));
}

TEST(StateKeeper, WhatALookIsAtWhenTheEndComesIsSeenToBeforeIt) {
  Busy busy;
  busy.change("a");
  busy.let();
  busy.now += StateKeeper::kLook;
  busy.turn();
  ASSERT_EQ(busy.disk.asked, 2) << "looks";
  std::filesystem::remove(busy.path);
  busy.disk.let();
  EXPECT_FALSE(busy.keeper.finish(busy.agent, busy.now)) << "the disk of the test does not answer";
  EXPECT_EQ(load_state(busy.path), busy.agent.state());
}

// A look takes nothing along: what was written meanwhile and is gone is not kept.
TEST(StateKeeper, WhatWasWrittenDuringALookIsNotTakenForKept) {
  Busy busy;
  busy.change("a");
  busy.let();
  busy.now += StateKeeper::kLook;
  busy.turn();
  busy.change("b");
  busy.let();  // the look; then b is to be kept
  ASSERT_EQ(busy.disk.asked, 3);
  std::filesystem::remove(busy.path + ".new");
  busy.let();
  EXPECT_TRUE(busy.alarm());
}

TEST(StateKeeper, WhatIsNoFileIsRefusedAndLeftAsItIs) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "directory");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  std::ofstream(dir / "file") << "mine";
  std::filesystem::create_symlink("file", dir / "link");
  std::filesystem::create_symlink("none", dir / "dangling");
  for (const auto& [name, kind] : {std::pair{"directory", "a directory"},
                                   {"pipe", "a pipe"},
                                   {"link", "a symbolic link"},
                                   {"dangling", "a symbolic link"}}) {
    const std::string path = dir / name;
    const auto before = std::filesystem::symlink_status(path).type();
    const auto opened = quick(path).open();
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(to_string(opened.error()),
              path + ": is " + kind +
                  ", and would be replaced by the state file: name a file in state-file");
    EXPECT_EQ(std::filesystem::symlink_status(path).type(), before);
    EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
  }
  EXPECT_EQ(to_string(quick("/dev/null").open().error()),
            "/dev/null: is a device, and would be replaced by the state file: name a file in "
            "state-file");
}

TEST(StateKeeper, ADamagedFileIsAnAlarmUntilItIsTakenAway) {
  const TempDir dir;
  const std::string path = dir / "state";
  std::ofstream(path) << "nonsense\n";
  Kept kept;
  StateKeeper keeper = quick(path);
  ASSERT_TRUE(keeper.open());
  ASSERT_FALSE(keeper.load());
  keeper.note_change();
  keeper.save(kept.agent, kept.now);
  keeper.tell(kept.agent, kept.now, kept.out);
  EXPECT_EQ(
      kept.alarm(),
      path + ": was damaged or could not be read, and was set aside as " + path +
          ".corrupt: a switch that was silent at the start is not known; remove that file when all "
          "neighbors are heard again");
  Settled again(path);
  again.keeper.tell(again.agent, again.now, again.out);
  EXPECT_TRUE(again.alarm()) << "a restart does not hide it";
  std::filesystem::remove(path + ".corrupt");
  again.pass(StateKeeper::kLook);
  EXPECT_EQ(again.alarm(), std::nullopt);
}

}  // namespace
}  // namespace lldp::io
