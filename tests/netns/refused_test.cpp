// SPDX-License-Identifier: Apache-2.0
// A kernel that refuses the daemon one thing it asks for when it starts: it ends with a line that
// says what, or does without.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <vector>

#include "tests/netns/refusal.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class StartRefused : public testing::TestWithParam<Refusal> {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    a_.emplace();
    b_.emplace();
    join(*a_, *b_);
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void start() {
    std::ofstream(files_.file("conf"))
        << "ports = *\nrole = switch\nlevel = 1\nbackend = print\nqos.lossless = slides\n";
    const std::vector<std::string> words{
        support::program("lldp-leveld"), "--config",     files_.file("conf"), "--socket",
        files_.file("control"),          "--state-file", files_.file("state")};
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const std::string log = files_.file("log");
    const Inside in(*a_);
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ != 0) return;
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    if (refuse(GetParam())) ::execv(argv.front(), argv.data());
    ::_exit(99);
  }
  std::string log() {
    std::ifstream in(files_.file("log"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Its exit status once it has ended.
  std::optional<int> ended() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
  TemporaryDirectory files_;
  pid_t pid_ = -1;
};

using EndsWithoutIt = StartRefused;
TEST_P(EndsWithoutIt, AndSaysWhatItWas) {
  start();
  std::optional<int> status;
  ASSERT_TRUE(eventually([&] { return (status = ended()).has_value(); })) << log();
  EXPECT_THAT(*status, AnyOf(1, 2)) << log();
  EXPECT_THAT(log(), HasSubstr(GetParam().says));
  EXPECT_THAT(log(), Not(HasSubstr("ready: ")));
}

using ServesWithoutIt = StartRefused;
TEST_P(ServesWithoutIt, AndSaysWhatIsMissing) {
  start();
  EXPECT_TRUE(eventually([&] {
    const std::string said = log();
    return said.find("ready: ") != said.npos && said.find(GetParam().says) != said.npos;
  })) << log();
  EXPECT_FALSE(ended());
}

constexpr Refusal kEnds[] = {
    {"Timer", SYS_timerfd_create, {}, {}, {}, "timer: Input/output error"},
    {"EpollSet", SYS_epoll_create1, {}, {}, {}, "epoll set: Input/output error"},
    {"EpollEntry", SYS_epoll_ctl, {}, {}, {}, "Input/output error"},
    {"PacketSocket", SYS_socket, AF_PACKET, {}, {}, "packet socket: Input/output error"},
    {"NetlinkSocket", SYS_socket, AF_NETLINK, {}, {}, "rtnetlink: connect: "},
    {"UnixSocket",
     SYS_socket,
     AF_UNIX,
     {},
     {},
     "control: no socket can be had: Input/output error"},
    {"BeingBound", SYS_bind, {}, {}, {}, "rtnetlink: connect: "},
    {"BeingConnectedTo",
     SYS_listen,
     {},
     {},
     {},
     "control: the control socket cannot be opened: Input/output error"},
    {"ModeOfTheSocket",
     SYS_chmod,
     {},
     {},
     {},
     "control: the control socket cannot be opened: Input/output error"},
    {"NameOfTheSocket",
     SYS_rename,
     {},
     {},
     {},
     "control: the control socket cannot be opened: Input/output error"},
    {"FewerCapabilities",
     SYS_capset,
     {},
     {},
     {},
     "capabilities: cannot be dropped: Input/output error"},
    {"FewerPrivileges", SYS_prctl, {}, {}, {}, "privileges: kept: Input/output error"},
    {"Question", SYS_sendmsg, {}, {}, {}, "rtnetlink: list of interfaces: "},
    {"Answer", SYS_recvmsg, {}, {}, {}, "rtnetlink: list of interfaces: "},
    {"NewsOfLinks",
     SYS_setsockopt,
     {},
     SOL_NETLINK,
     NETLINK_ADD_MEMBERSHIP,
     "rtnetlink: subscribe: "},
};
INSTANTIATE_TEST_SUITE_P(Of, EndsWithoutIt, testing::ValuesIn(kEnds),
                         [](const auto& one) { return std::string(one.param.name); });

constexpr Refusal kServes[] = {
    {"StateOnDisk",
     SYS_openat,
     {},
     {},
     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
     "alarm state: "},
    {"DiskThatNobodyWaitsFor", SYS_clone3, {}, {}, {}, "ready: "},
    {"NewsOfTheDisk", SYS_eventfd2, {}, {}, {}, "ready: "},
    {"Frames", SYS_sendmmsg, {}, {}, {}, "p0: frame not sent: Input/output error"},
    {"LockOfTheState", SYS_fcntl, {}, F_SETLK, {}, "ready: "},
    {"Groups", SYS_setsockopt, {}, SOL_PACKET, {}, "ready: "},
    {"BuffersAsLargeAsWanted", SYS_setsockopt, {}, SOL_SOCKET, SO_RCVBUFFORCE, "ready: "},
    {"WordsOfTheKernel", SYS_setsockopt, {}, SOL_NETLINK, NETLINK_EXT_ACK, "ready: "},
    {"Drivers", SYS_ioctl, {}, {}, {}, "ready: "},
};
INSTANTIATE_TEST_SUITE_P(Of, ServesWithoutIt, testing::ValuesIn(kServes),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace lldp::netns
