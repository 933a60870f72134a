// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "os/fd.hpp"
#include "os/file.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using std::chrono::seconds;
constexpr Ifindex kPort = Ifindex::of<3>();
constexpr auto kTopic = LogGate::Topic::kChange;
constexpr TimePoint kStart{seconds{1000}};

TEST(Log, WritesOneLineEach) {
  testing::internal::CaptureStderr();
  log(Severity::kNotice, "a line");
  log(Severity::kError, Error{EPERM, "swp1", "cannot be had"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: a line\nlldp-leveld: swp1: cannot be had\n");
}

/// Standard error is a pipe that nobody reads, until this goes.
class StuckReader {
 public:
  StuckReader() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    from_ = UniqueFd(ends[0]);
    const UniqueFd to(ends[1]);
    ::fcntl(to.get(), F_SETPIPE_SZ, 16384);
    ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
    ::dup2(to.get(), STDERR_FILENO);
  }
  StuckReader(const StuckReader&) = delete;
  StuckReader& operator=(const StuckReader&) = delete;
  ~StuckReader() { ::dup2(before_.get(), STDERR_FILENO); }
  std::string read() const {
    std::string text(1 << 16, '\0');
    const ssize_t n = ::read(from_.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    return text;
  }

 private:
  UniqueFd before_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
  UniqueFd from_{};
};

// A journal that hung took the daemon, and so the fabric, along.
TEST(Log, WaitsForNobodyAndSaysWhatWasLeftOut) {
  ::alarm(20);  // it would wait for ever
  const StuckReader reader;
  const std::string long_line(1000, 'x');
  for (int i = 0; i < 200; ++i) log(Severity::kInfo, long_line);
  const auto taken = std::ranges::count(reader.read(), '\n');
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 200);
  log(Severity::kInfo, "next");
  log(Severity::kInfo, "last");
  EXPECT_EQ(reader.read(),
            fmt::format("lldp-leveld: {} lines left out: standard error took no data\n"
                        "lldp-leveld: next\nlldp-leveld: last\n",
                        200 - taken));
  ::alarm(0);
}

// It says that it takes more as long as there is room for an octet.
TEST(Log, WaitsForNoTerminalThatNobodyReads) {
  const UniqueFd reader(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(reader);
  ASSERT_EQ(::grantpt(reader.get()) | ::unlockpt(reader.get()), 0);
  const UniqueFd terminal(::open(::ptsname(reader.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);
  const UniqueFd before(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  ::alarm(20);  // it would wait for ever
  ::dup2(terminal.get(), STDERR_FILENO);
  for (int i = 0; i < 2000; ++i) log(Severity::kInfo, std::string(57, 'x'));
  std::string text(1 << 16, '\0');
  ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  while (::read(reader.get(), text.data(), text.size()) > 0) {
  }
  log(Severity::kInfo, "next");
  // The kernel brings it to the other end when it likes.
  std::string said;
  while (!said.ends_with("next\r\n")) {
    const ssize_t n = ::read(reader.get(), text.data(), text.size());
    if (n > 0)
      said.append(text, 0, static_cast<std::size_t>(n));
    else
      ::usleep(1000);
  }
  ::dup2(before.get(), STDERR_FILENO);
  ::alarm(0);
  EXPECT_THAT(said, testing::HasSubstr(" lines left out: standard error took no data\r\n"));
  EXPECT_THAT(said, testing::EndsWith("lldp-leveld: next\r\n"));
}

/// Standard error is a file, in which there is room for no more than so many octets; what is above
/// it in the process' limit is what a full disk is.
class SmallDisk {
 public:
  SmallDisk() {
    ::dup2(file_.get(), STDERR_FILENO);
    ::getrlimit(RLIMIT_FSIZE, &before_limit_);
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_limit_);
    std::signal(SIGXFSZ, before_handler_);
    ::dup2(before_.get(), STDERR_FILENO);
  }
  void holds(rlim_t octets) const {
    const rlimit limit{octets, before_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  void holds_all() const { ::setrlimit(RLIMIT_FSIZE, &before_limit_); }
  std::string read() const { return *read_file(directory_ / "log"); }

 private:
  TempDir directory_{};
  UniqueFd before_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
  UniqueFd file_{
      ::open((directory_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  rlimit before_limit_{};
  void (*before_handler_)(int) = nullptr;
};

// They were gone, and the next was glued to what there was of the first.
TEST(Log, CountsWhatAFullDiskDoesNotTake) {
  std::string text;
  {
    const SmallDisk disk;
    log(Severity::kInfo, "first");
    disk.holds(disk.read().size() + 14);
    log(Severity::kInfo, "torn");
    log(Severity::kInfo, "gone");
    disk.holds_all();
    log(Severity::kInfo, "next");
    text = disk.read();
  }
  EXPECT_EQ(text,
            "lldp-leveld: first\nlldp-leveld: t\n"
            "lldp-leveld: 2 lines left out: standard error took no data\nlldp-leveld: next\n");
}

// Of a terminal it says that nobody is there any more; a disk's were not counted.
TEST(Log, CountsWhatADiskFailsToWrite) {
  std::string text;
  {
    const SmallDisk disk;
    const UniqueFd file(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    const UniqueFd broken(::open("/proc/self/mem", O_WRONLY | O_CLOEXEC));  // nothing is at 0
    ::dup2(broken.get(), STDERR_FILENO);
    log(Severity::kInfo, "gone");
    ::dup2(file.get(), STDERR_FILENO);
    log(Severity::kInfo, "next");
    text = disk.read();
  }
  EXPECT_EQ(text, "lldp-leveld: 1 line left out: standard error took no data\nlldp-leveld: next\n");
}

// A log on a file system that was frozen for a snapshot stopped the daemon.
TEST(Log, WaitsForNoDiskOnceItIsWrittenAside) {
  ::alarm(20);  // it would wait for ever
  const std::string long_line(1000, 'x');
  std::string text;
  {
    const SmallDisk disk;
    log_aside();
    log(Severity::kInfo, "first");
    log_settle();
    EXPECT_EQ(disk.read(), "lldp-leveld: first\n");
    const StuckReader frozen;  // takes the place of the file
    for (int i = 0; i < 200; ++i) log(Severity::kInfo, long_line);
    log_settle();
    std::string taken;
    while (std::ranges::count(taken, '\n') < 20) taken += frozen.read();
    for (std::string more = taken; !more.empty(); taken += more) {
      ::usleep(50'000);
      more = frozen.read();
    }
    const auto lines = std::ranges::count(taken, '\n');
    EXPECT_LT(lines, 200);
    log(Severity::kInfo, "next");
    log(Severity::kInfo, "last");
    while (!text.ends_with("last\n")) text += frozen.read();
    EXPECT_EQ(text, fmt::format("lldp-leveld: {} lines left out: standard error took no data\n"
                                "lldp-leveld: next\nlldp-leveld: last\n",
                                200 - lines));
    log_aside();  // it is no file any more
  }
  ::alarm(0);
}

// 512 ports tell of themselves in one turn; what the thread has not come to is not lost for that.
TEST(Log, ATurnThatTellsMuchLosesNothingOnADiskThatWrites) {
  const std::string long_line(1000, 'x');
  const UniqueFd error(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  const UniqueFd file(::memfd_create("log", MFD_CLOEXEC));
  ::dup2(file.get(), STDERR_FILENO);
  log_aside();
  for (int i = 0; i < 2000; ++i) log(Severity::kInfo, long_line);
  log_settle();
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  ::dup2(error.get(), STDERR_FILENO);
  log_aside();  // its own again
  EXPECT_EQ(size, 2000 * static_cast<off_t>(std::string_view("lldp-leveld: \n").size() + 1000));
}

// It took lines as fast as one at a time is written, and lost them when many waited for it.
TEST(Log, ATurnThatTellsMuchLosesNothingOnASlowDiskEither) {
  const std::string long_line(1000, 'x');
  const UniqueFd error(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  const UniqueFd file(::memfd_create("log", MFD_CLOEXEC));
  ::dup2(file.get(), STDERR_FILENO);
  log_aside();
  std::array<int, 2> ends{};  // its place is taken by what needs 200 ms for what may wait
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  std::ptrdiff_t lines = 0;
  std::thread slow([&] {
    std::array<char, 4096> octets{};
    for (ssize_t n = 0; (n = ::read(ends[0], octets.data(), octets.size())) > 0;) {
      lines += std::count(octets.begin(), octets.begin() + n, '\n');
      ::usleep(12'000);
    }
  });
  for (int i = 0; i < 120; ++i) log(Severity::kInfo, long_line);
  log_settle();
  ::dup2(error.get(), STDERR_FILENO);
  log_aside();  // its own again
  slow.join();
  ::close(ends[0]);
  EXPECT_EQ(lines, 120);
}

TEST(LogGate, AdmitsABurstAndThenOneLinePerInterval) {
  LogGate gate;
  for (std::uint32_t i = 0; i < LogGate::kBurst; ++i)
    EXPECT_EQ(gate.admit(kPort, kTopic, kStart), 0U);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + seconds{9}), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + LogGate::kInterval), 2U);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + LogGate::kInterval), std::nullopt);
}

TEST(LogGate, FillsUpToABurstAndNoFurther) {
  LogGate gate;
  while (gate.admit(kPort, kTopic, kStart)) {
  }
  const TimePoint later = kStart + 1000 * LogGate::kInterval;
  EXPECT_EQ(gate.admit(kPort, kTopic, later), 1U);
  for (std::uint32_t i = 1; i < LogGate::kBurst; ++i)
    EXPECT_EQ(gate.admit(kPort, kTopic, later), 0U);
  EXPECT_EQ(gate.admit(kPort, kTopic, later), std::nullopt);
}

TEST(LogGate, CountsEachPortForItself) {
  LogGate gate;
  while (gate.admit(kPort, kTopic, kStart)) {
  }
  EXPECT_EQ(gate.admit(Ifindex::of<4>(), kTopic, kStart), 0U);
  gate.forget(kPort);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart), 0U);
}

TEST(LogGate, NoTopicHidesAnother) {
  LogGate gate;
  const Ifindex device;  // whoever makes the location flap spends that of the location alone
  while (gate.admit(device, LogGate::Topic::kLocation, kStart)) {
  }
  EXPECT_EQ(gate.admit(device, LogGate::Topic::kAlarm, kStart), 0U);
  EXPECT_EQ(gate.admit(device, LogGate::Topic::kChange, kStart), 0U);
}

}  // namespace
}  // namespace lldp::io
