// SPDX-License-Identifier: Apache-2.0
// What the daemon gives up, and what it tells when it hangs.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "os/fd.hpp"
#include "os/unix_address.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Hardening : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    space_.emplace();
  }
  std::optional<Namespace> space_;
};

/// /proc/PID/status. The agent's process is ip(8)'s, which has become the daemon.
std::map<std::string, std::string> status_of(pid_t pid) {
  std::map<std::string, std::string> out;
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (const auto colon = line.find(":\t"); colon != line.npos)
      out[line.substr(0, colon)] = line.substr(colon + 2);
  return out;
}

TEST_F(Hardening, RootKeepsFourCapabilitiesAndNoWayToMore) {
  Agent agent(*space_);
  auto status = status_of(agent.process().pid());
  const std::string four = "000000c000003000";  // NET_ADMIN 12, NET_RAW 13, PERFMON 38, BPF 39
  EXPECT_EQ(status["CapPrm"], four);
  EXPECT_EQ(status["CapEff"], four);
  EXPECT_EQ(status["CapBnd"], four);
  EXPECT_EQ(status["CapInh"], "0000000000000000");
  EXPECT_EQ(status["CapAmb"], "0000000000000000");
  EXPECT_EQ(status["NoNewPrivs"], "1");
  EXPECT_EQ(status["Seccomp"], "2");  // a filter
}

TEST_F(Hardening, KeepsNothingThatItsParentLetItInherit) {
  if (::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "no setpriv here";
  const TemporaryDirectory files;
  // What a program that it ran could have by the program's own file.
  Process daemon(
      space_->inside({"setpriv", "--inh-caps", "+net_admin,+chown", support::program("lldp-leveld"),
                      "--ports", "*", "--backend", "none", "--socket", files.file("s"),
                      "--state-file", files.file("t")}),
      files.file("log"));
  ASSERT_TRUE(eventually([&] { return ::access(files.file("s").c_str(), F_OK) == 0; }))
      << daemon.output();
  EXPECT_EQ(status_of(daemon.pid())["CapInh"], "0000000000000000");
}

TEST_F(Hardening, FilterLetsAReloadReadWhateverTheFileIs) {
  Agent agent(*space_);
  std::filesystem::remove(agent.config_file());
  std::filesystem::create_symlink("/dev/null", agent.config_file());
  EXPECT_EQ(agent.call("org.lldplevel.Reload"), nlohmann::json::object());
  EXPECT_TRUE(agent.call("org.lldplevel.Show").contains("device")) << agent.log();
}

TEST_F(Hardening, FilterCanBeSwitchedOff) {
  Agent agent(*space_, {"--seccomp", "no"});
  EXPECT_EQ(status_of(agent.process().pid())["Seccomp"], "0");
}

TEST_F(Hardening, GroupOfTheControlSocketIsTheConfiguredOne) {
  Agent agent(*space_, {"--control.group", "nogroup"});  // which root is no member of
  struct stat is {};
  ASSERT_EQ(::stat(agent.socket().c_str(), &is), 0);
  EXPECT_EQ(is.st_gid, 65534U);
  EXPECT_EQ(is.st_mode & 07777, 0660U);

  const TemporaryDirectory files;
  Process refused(space_->inside({support::program("lldp-leveld"), "--socket", files.file("s"),
                                  "--state-file", files.file("t"), "--control.group", "no-such"}),
                  files.file("log"));
  EXPECT_EQ(refused.wait(), 1);
  EXPECT_EQ(
      refused.output(),
      "lldp-leveld: control.group: there is no group 'no-such': create it, or name another\n");
}

/// The daemon with this for its journal.
std::string with_journal(const TemporaryDirectory& files, const std::string& socket,
                         std::string_view options) {
  // The file that Process gives it as standard error is as good a stream as the journal's.
  return fmt::format(
      "exec 3<{0} && mount -t tmpfs none /run && mkdir -p /run/systemd/journal && "
      "mount --bind /proc/self/fd/3 /run/systemd/journal && "
      "JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) exec {1} --ports '*' --backend none "
      "--role switch --socket {2} --state-file {3} {4}",
      socket.substr(0, socket.rfind('/')), support::program("lldp-leveld"), files.file("control"),
      files.file("state"), options);
}

TEST_F(Hardening, JournalGetsTheFieldsOfAChange) {
  const TemporaryDirectory files;
  const std::string socket = files.file("socket");
  const UniqueFd journal = socket_at(socket, SOCK_DGRAM);
  const std::string script = with_journal(files, socket, "--level 1");
  space_->ip("link add p0 type veth peer name p1");  // it hears itself, and complains
  space_->ip("link set p0 up");
  space_->ip("link set p1 up");
  Process daemon(space_->inside({"sh", "-c", script}), files.file("log"));
  std::string all;
  const auto came = [&](std::string_view what) {
    char buffer[65536];
    for (ssize_t n = 0; (n = ::recv(journal.get(), buffer, sizeof buffer, 0)) > 0;)
      all.append(buffer, static_cast<std::size_t>(n)).append("\n");
    return all.find(what) != all.npos;
  };
  EXPECT_TRUE(eventually([&] {
    return came(
        "\nPRIORITY=4\nSYSLOG_IDENTIFIER=lldp-leveld\nLLDP_LEVEL_EVENT=alarm-raised\n"
        "LLDP_LEVEL_PORT=p0\nLLDP_LEVEL_ALARM=self-loop\n");
  })) << all
      << daemon.output();
  EXPECT_TRUE(all.starts_with("MESSAGE=")) << all;
  EXPECT_EQ(daemon.output(), "") << "what the journal has is not written twice";
}

TEST_F(Hardening, JournalGetsEachKindOfChangeWithItsPriority) {
  const Namespace other;
  join(*space_, other);
  const TemporaryDirectory files;
  const std::string socket = files.file("socket");
  const UniqueFd journal = socket_at(socket, SOCK_DGRAM);
  Process daemon(space_->inside({"sh", "-c", with_journal(files, socket, "")}), files.file("log"));
  std::set<std::string> priorities;  // "EVENT PRIORITY"
  const auto came = [&](const char* what) {
    char buffer[65536];
    for (ssize_t n = 0; (n = ::recv(journal.get(), buffer, sizeof buffer, 0)) > 0;) {
      const std::string entry(buffer, static_cast<std::size_t>(n));
      const auto field = [&](std::string_view name) {
        const auto at = entry.find(name);
        return at == entry.npos
                   ? std::string()
                   : entry.substr(at + name.size(), entry.find('\n', at + 1) - at - name.size());
      };
      if (const auto event = field("\nLLDP_LEVEL_EVENT="); !event.empty())
        priorities.insert(event + " " + field("\nPRIORITY="));
    }
    return std::ranges::any_of(priorities, [&](const auto& p) { return p.starts_with(what); });
  };
  {
    Agent spine(other, {"--role", "switch", "--level", "2"});
    EXPECT_TRUE(
        eventually([&] { return came("level") && came("port") && came("neighbor-added"); }));
    spine.process().signal(SIGTERM);
    EXPECT_EQ(spine.process().wait(), 0);
    EXPECT_TRUE(eventually([&] { return came("neighbor-removed") && came("alarm-raised"); }));
    spine.restart();
    EXPECT_TRUE(eventually([&] { return came("alarm-cleared"); }));
  }
  EXPECT_THAT(priorities, testing::IsSubsetOf({"alarm-cleared 5", "alarm-raised 4",
                                               "classes-extended 5", "level 5", "location 5",
                                               "neighbor-added 6", "neighbor-changed 6",
                                               "neighbor-removed 6", "place 5", "port 6"}))
      << daemon.output();
}

TEST_F(Hardening, RootWithoutItsCapabilitiesIsToldWhatItDoesNotOwn) {
  const TemporaryDirectory files;
  const std::string others = files.file("others");
  ASSERT_EQ(::mkdir(others.c_str(), 0755), 0);
  ASSERT_EQ(::chown(others.c_str(), 65534, 65534), 0);
  Process refused(space_->inside({support::program("lldp-leveld"), "--socket", others + "/s",
                                  "--state-file", files.file("t")}),
                  files.file("log"));
  EXPECT_EQ(refused.wait(), 1);
  EXPECT_EQ(refused.output(), "lldp-leveld: " + others +
                                  "/s.lock: cannot be opened: Permission denied: its directory "
                                  "must belong to the user that the daemon runs as\n");
}

// As in a container that is given none.
TEST_F(Hardening, WithoutSysTheAlarmNamesTheFileThatIsMissing) {
  const Namespace other;
  join(*space_, other);
  const TemporaryDirectory files;
  const Process daemon(
      space_->inside({"sh", "-c", "mount -t tmpfs -o ro none /sys && exec \"$@\"", "sh",
                      support::program("lldp-leveld"), "--ports", "p0", "--role", "switch",
                      "--backend", "bpf", "--qos.lossless", "slides", "--socket", files.file("s"),
                      "--state-file", files.file("t")}),
      files.file("log"));
  EXPECT_TRUE(eventually([&] { return daemon.output().find("ready") != std::string::npos; }));
  EXPECT_THAT(daemon.output(),
              HasSubstr("p0: alarm dataplane: p0: add classify: /sys/devices/system/cpu/possible "
                        "cannot be read: No such file or directory: let the container see /sys\n"));
}

TEST_F(Hardening, OneShotRemovesTheRulesOfADeadDaemonAndNothingElse) {
  const Namespace other;
  join(*space_, other, 2);
  run(space_->inside({"tc", "qdisc", "add", "dev", "p0", "clsact"}));
  run(space_->inside({"tc", "filter", "add", "dev", "p0", "ingress", "pref", "77", "bpf",
                      "bytecode", "1,6 0 0 0,"}));
  const TemporaryDirectory files;
  const std::string bpffs = files.file("");  // no BPF file system there: none is needed
  const std::vector<std::string> command{
      support::program("lldp-leveld"), "--remove-rules", "--config", "/dev/null", "--bpffs", bpffs};
  const auto rules = [&](std::string_view port) {
    return run(space_->inside({"tc", "filter", "show", "dev", std::string(port), "ingress"}));
  };
  {
    Agent agent(*space_,
                {"--backend", "bpf", "--role", "switch", "--level", "2", "--bpffs", bpffs});
    ASSERT_TRUE(eventually([&] { return rules("p1").find("lldp-level") != std::string::npos; }));
    Process beside(space_->inside(command), files.file("log"));
    EXPECT_EQ(beside.wait(), 1);
    EXPECT_EQ(beside.output(), "lldp-leveld: process " + std::to_string(agent.process().pid()) +
                                   " is an lldp-leveld of this network namespace, and puts back "
                                   "what rules it had: stop it first\n");
    ASSERT_TRUE(eventually([&] {
      return rules("p0").find("lldp-level") != std::string::npos &&
             rules("p1").find("lldp-level") != std::string::npos;
    }));
    agent.process().signal(SIGKILL);
    agent.process().wait();
  }
  EXPECT_THAT(rules("p0"), HasSubstr("lldp-level"));
  const auto remove = [&] { return run(space_->inside(command)); };
  EXPECT_EQ(remove(), "");
  EXPECT_THAT(rules("p0"), Not(HasSubstr("lldp-level")));
  EXPECT_THAT(rules("p0"), HasSubstr("pref 77 "));
  EXPECT_EQ(rules("p1"), "");
  EXPECT_EQ(remove(), "") << "nothing to remove is no error";
}

TEST_F(Hardening, StateFileIsWrittenAsSoonAsTheDiskTakesIt) {
  const TemporaryDirectory files;
  const std::string state = files.file("later/state");
  Agent agent(*space_, {"--state-file", state});
  agent.write_config("chassis-id = mine\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(
      eventually([&] { return agent.log().find("cannot be written") != std::string::npos; }));
  ASSERT_EQ(::mkdir(files.file("later").c_str(), 0755), 0);
  EXPECT_TRUE(eventually([&] { return std::ifstream(state).good(); })) << agent.log();
  const std::string log = agent.log();
  EXPECT_EQ(log.find("cannot be written"), log.rfind("cannot be written")) << "told more than once";
}

/// A disk of 64 kB of its own.
class SmallDisk {
 public:
  SmallDisk() {
    run({"mount", "-t", "tmpfs", "-o", "size=64k,mode=0755", "none", files_.file("")});
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() { run({"umount", "-l", files_.file("")}); }
  void fill() const {
    std::ofstream big(files_.file("big"));
    while (big << std::string(4096, 'x') << std::flush) continue;
  }
  void clear() const { ::unlink(files_.file("big").c_str()); }
  [[nodiscard]] std::string file(std::string_view name) const { return files_.file(name); }

 private:
  TemporaryDirectory files_;
};

TEST_F(Hardening, FullDiskIsAnAlarmUntilThereIsRoomAgain) {
  const Namespace other;
  join(*space_, other);
  const SmallDisk disk;
  const TemporaryDirectory files;
  Agent agent(*space_, {"--state-file", disk.file("state"), "--role", "host"});
  const auto alarms = [&] { return agent.show()["alarms"].dump(); };
  const auto check = [&] {
    Process asked({support::program("lldp-level"), "check", "--socket", agent.socket()},
                  files.file("check"));
    return asked.wait();
  };
  ASSERT_TRUE(eventually([&] { return std::ifstream(disk.file("state")).good(); }));
  EXPECT_EQ(check(), 0);
  disk.fill();
  agent.write_config("chassis-id = mine\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return alarms().find("\"state\"") != std::string::npos; }));
  EXPECT_THAT(alarms(), HasSubstr("state: cannot be written: No space left on device"));
  EXPECT_EQ(check(), 1);
  disk.clear();
  EXPECT_TRUE(eventually([&] { return alarms() == "[]"; })) << alarms();
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(agent.log(), HasSubstr("alarm state cleared"));
}

TEST_F(Hardening, SecondDaemonIsToldWhoHasItsStateFile) {
  Agent first(*space_);
  const TemporaryDirectory files;
  const auto second = [&](const std::string& state, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {support::program("lldp-leveld"), "--socket", files.file("control"),
                               "--backend", "none", "--ports", "none", "--state-file", state});
    return Process(space_->inside(more), files.file("log"));
  };
  Process refused = second(first.state_file());
  EXPECT_EQ(refused.wait(), 1);
  EXPECT_EQ(refused.output(),
            "lldp-leveld: " + first.state_file() + ": process " +
                std::to_string(first.process().pid()) +
                " keeps its state here: stop it, or give this daemon its own --state-file and "
                "--socket\n");
  EXPECT_EQ(first.show()["alarms"].dump().find("\"state\""), std::string::npos);
  // With a file of its own it may have ports of its own, and both may fight over one.
  const std::string hint =
      "ports: process " + std::to_string(first.process().pid()) +
      " is an lldp-leveld of this network namespace too: on a port of both, each removes "
      "the rules of the other\n";
  {
    Process beside = second(files.file("state"));
    EXPECT_TRUE(eventually([&] { return beside.output().find("ready") != std::string::npos; }));
    EXPECT_THAT(beside.output(), HasSubstr(hint));
  }
  Process dry = second(files.file("dry"), {"--dry-run"});
  EXPECT_TRUE(eventually([&] { return dry.output().rfind("ready") > dry.output().rfind(hint); }))
      << dry.output();
}

/// systemd's end of NOTIFY_SOCKET.
class Notified {
 public:
  explicit Notified(const std::string& path) : fd_(socket_at(path, SOCK_DGRAM)) {}
  /// How many times what begins so has come since it was last asked.
  int count(std::string_view what) {
    int n = 0;
    char text[256];
    for (ssize_t size = 0; (size = ::recv(fd_.get(), text, sizeof text, 0)) >= 0;)
      n += std::string_view(text, static_cast<std::size_t>(size)).starts_with(what);
    return n;
  }
  [[nodiscard]] bool hears(std::string_view what, std::chrono::milliseconds patience) {
    return eventually([&] { return count(what) > 0; }, patience);
  }

 private:
  UniqueFd fd_;
};

// The daemon's loop stands, as in a call that does not return. No thread of it may go on telling
// that all is well.
TEST_F(Hardening, WatchdogHearsNothingWhileTheLoopHangs) {
  const TemporaryDirectory files;
  const std::string socket = files.file("notify");
  const std::string state = files.file("state");
  Notified systemd(socket);
  std::ofstream(files.file("conf")) << "role = switch\nports = *\n";
  const Namespace other;
  join(*space_, other);
  Process daemon(space_->inside({"env", "NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=200000",
                                 support::program("lldp-leveld"), "--config", files.file("conf"),
                                 "--socket", files.file("control"), "--state-file", state,
                                 "--backend", "print", "--chassis-id", "unchanged"}),
                 files.file("log"));
  EXPECT_TRUE(systemd.hears("READY=1", kHang)) << daemon.output();
  EXPECT_TRUE(systemd.hears("WATCHDOG=1", kHang));
  EXPECT_TRUE(systemd.hears("WATCHDOG=1", kHang)) << "it pings once only";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(systemd.hears("RELOADING=1\nMONOTONIC_USEC=", kHang));
  daemon.signal(SIGHUP);
  EXPECT_TRUE(systemd.hears("READY=1", kHang)) << "whoever reloads waits for it";

  // A pipe in the configuration's place is waited for by nobody.
  ASSERT_EQ(::unlink(files.file("conf").c_str()), 0);
  ASSERT_EQ(::mkfifo(files.file("conf").c_str(), 0600), 0);
  daemon.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return daemon.output().find("conf: is a pipe, which gives what it has once") !=
           std::string::npos;
  })) << daemon.output();

  // That thread alone.
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, daemon.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, daemon.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(::waitpid(daemon.pid(), nullptr, __WALL), daemon.pid());
  const auto silent = [&] {
    std::this_thread::sleep_for(300ms);
    return systemd.count("WATCHDOG=1") == 0;
  };
  EXPECT_TRUE(eventually(silent)) << "it pings while its loop hangs";
  EXPECT_TRUE(silent());

  ASSERT_EQ(::ptrace(PTRACE_DETACH, daemon.pid(), nullptr, nullptr), 0);
  EXPECT_TRUE(systemd.hears("WATCHDOG=1", kHang)) << daemon.output();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_TRUE(systemd.hears("STOPPING=1", kHang));
}

// A start of which the manager never hears would be one that failed.
TEST_F(Hardening, ManagerThatIsBusyHearsOfTheStartLater) {
  const TemporaryDirectory files;
  const std::string socket = files.file("notify");
  Notified systemd(socket);
  const UniqueFd other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto address = unix_address(socket);
  while (::sendto(other.get(), "X", 1, 0, address->get(), address->size) == 1) {
  }
  Process daemon(space_->inside({"env", "NOTIFY_SOCKET=" + socket, support::program("lldp-leveld"),
                                 "--ports", "none", "--socket", files.file("control"),
                                 "--state-file", files.file("state"), "--backend", "none"}),
                 files.file("log"));
  EXPECT_TRUE(eventually([&] { return daemon.output().find("ready: ") != std::string::npos; }));
  EXPECT_TRUE(systemd.hears("READY=1", kHang)) << "it is told again without any other event";
}

// What it opens first would be taken for them, and its log written there.
TEST_F(Hardening, StandardStreamsThatAreClosedAreNobodyElses) {
  const TemporaryDirectory files;
  Process daemon(space_->inside({"sh", "-c", "exec \"$0\" \"$@\" <&- >&- 2>&-",
                                 support::program("lldp-leveld"), "--ports", "none", "--socket",
                                 files.file("control"), "--state-file", files.file("state"),
                                 "--backend", "none"}),
                 files.file("log"));
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(files.file("control")); }));
  for (const char* fd : {"0", "1", "2"})
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(daemon.pid()) + "/fd/" + fd),
              "/dev/null")
        << fd;
}

}  // namespace
}  // namespace lldp::netns
