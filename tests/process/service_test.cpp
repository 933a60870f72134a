// SPDX-License-Identifier: Apache-2.0
#include "agent/process/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "agent/process/usage.hpp"
#include "os/fd.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::io {
namespace {

using namespace std::chrono_literals;

/// A variable of the environment, as it was again afterwards.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// systemd's end of NOTIFY_SOCKET.
class Manager {
 public:
  explicit Manager(const std::string& name)
      : name_(name),
        socket_(socket_at(name.front() == '@' ? '\0' + name.substr(1) : name, SOCK_DGRAM)) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The next datagram; empty if there is none.
  [[nodiscard]] std::string told() const {
    std::array<char, 256> text{};
    const ssize_t n = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return n < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(n));
  }

 private:
  std::string name_;
  UniqueFd socket_;
};

TEST(Service, TellsTheManagerWhatItDoes) {
  const TempDir dir;
  for (const std::string& name :
       {dir / "notify", "@lldp-level-test-" + std::to_string(::getpid())}) {
    const Manager manager(name);
    const Variable socket("NOTIFY_SOCKET", name);
    Service service;
    service.ready();
    EXPECT_EQ(manager.told(), "READY=1");
    service.alive();
    EXPECT_EQ(manager.told(), "WATCHDOG=1");
    service.stopping();
    EXPECT_EQ(manager.told(), "STOPPING=1");
  }
}

TEST(Service, TellsWhenItBeganToReload) {
  const TempDir dir;
  const Manager manager(dir / "notify");
  const Variable socket("NOTIFY_SOCKET", manager.name());
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const auto before = now();
  Service().reloading();
  const std::string told = manager.told();
  constexpr std::string_view kBegin = "RELOADING=1\nMONOTONIC_USEC=";  // sd_notify(3)
  ASSERT_EQ(told.substr(0, kBegin.size()), kBegin);
  const auto at = std::stoll(told.substr(kBegin.size()));
  EXPECT_LE(before, at);
  EXPECT_LE(at, now());
}

// The queue is that of all services: one manager that hangs would hold up every fabric. But a start
// or a reload of which it never hears is a failure to it.
TEST(Service, WaitsForNoManagerThatHangsAndOwesItWhatItMustHear) {
  ::alarm(20);  // it would wait for ever
  const TempDir dir;
  const Manager manager(dir / "notify");
  const Variable socket("NOTIFY_SOCKET", manager.name());
  Service service;
  for (int i = 0; i < 10'000; ++i) service.alive();
  EXPECT_FALSE(service.owes()) << "that is said again anyway";
  service.ready();
  EXPECT_TRUE(service.owes());
  service.reloading();
  service.ready();
  service.retry();
  EXPECT_TRUE(service.owes());
  EXPECT_EQ(manager.told(), "WATCHDOG=1");
  int more = 0;
  while (manager.told() == "WATCHDOG=1") ++more;
  EXPECT_LT(more, 9'999);
  service.retry();
  EXPECT_FALSE(service.owes());
  EXPECT_THAT(manager.told(), testing::StartsWith("RELOADING=1"));
  EXPECT_EQ(manager.told(), "READY=1");
  EXPECT_EQ(manager.told(), "") << "each once";
  service.alive();
  EXPECT_EQ(manager.told(), "WATCHDOG=1") << "once it hears again";
  ::alarm(0);
}

TEST(Service, WhoStopsOwesNothingElse) {
  const TempDir dir;
  const Manager manager(dir / "notify");
  const Variable socket("NOTIFY_SOCKET", manager.name());
  Service service;
  {
    const support::NoDescriptors none;
    service.ready();
    EXPECT_TRUE(service.owes());
    service.stopping();
  }
  service.retry();
  EXPECT_EQ(manager.told(), "STOPPING=1");
  EXPECT_EQ(manager.told(), "");
}

TEST(Service, IsMuteWithoutAManagerOrWithOneThatIsNotThere) {
  const TempDir dir;
  Service().ready();
  for (const std::string& name : {dir / "nobody", std::string(200, 'x'), std::string()}) {
    const Variable socket("NOTIFY_SOCKET", name);
    Service().ready();
  }
}

TEST(Service, IsAliveTwiceInWhatTheWatchdogAllowsItsProcess) {
  EXPECT_EQ(Service().watchdog(), std::nullopt);
  const Variable allowed("WATCHDOG_USEC", "3000000");
  EXPECT_EQ(Service().watchdog(), 1500ms);
  {
    const Variable ours("WATCHDOG_PID", std::to_string(::getpid()));
    EXPECT_EQ(Service().watchdog(), 1500ms);
  }
  const Variable others("WATCHDOG_PID", std::to_string(::getppid()));
  EXPECT_EQ(Service().watchdog(), std::nullopt);
}

TEST(Service, TakesNoWatchdogFromNonsense) {
  for (const char* text : {"", "0", "1", "-5", "soon"}) {
    const Variable allowed("WATCHDOG_USEC", text);
    EXPECT_EQ(Service().watchdog(), std::nullopt) << text;
  }
}

TEST(Usage, CountsWhatTheProcessTakes) {
  const TimePoint earliest = boot_time();
  const Usage usage;
  // The wall clock stands at 1970, as on a switch without a battery, until NTP has set it.
  const auto at_1970 = usage.now({.wall = {}, .boot = boot_time()});
  EXPECT_LE(at_1970.started, std::chrono::system_clock::time_point());
  const report::WallClock clock{.wall = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31),
                                .boot = boot_time()};
  const auto before = usage.now(clock);
  EXPECT_LE(before.started, clock.wall);
  EXPECT_GE(before.started, clock.at(earliest));
  EXPECT_GT(before.resident_octets, 1U << 20);
  EXPECT_LT(before.resident_octets, std::uint64_t{16} << 30);
  constexpr std::size_t kMore = 32U << 20;
  const std::string more(kMore, 'x');
  EXPECT_GE(usage.now(clock).resident_octets, before.resident_octets + kMore / 2);
  volatile unsigned work = 0;
  while (usage.now(clock).cpu < before.cpu + 20ms)
    for (int i = 0; i < 10'000; ++i) work = work + 1;
  EXPECT_EQ(usage.now(clock).started, before.started);
  EXPECT_EQ(more.size(), kMore);
}

}  // namespace
}  // namespace lldp::io
