// SPDX-License-Identifier: Apache-2.0
// The filter that is shipped, in a child of the test: what the daemon's builds with sanitizers add
// to it is in the tests that run the daemon.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/places.hpp"

namespace lldp::io {
namespace {

constexpr sock_filter kFilter[] = {
#include "agent/process/syscall_filter.inc"
};
constexpr sock_filter kFilterWithIp[] = {
#include "agent/process/syscall_filter_ip.inc"
};

constexpr int kKilled = -1;

/// What `call` fails with under the filter: 0 when it does not, kKilled when the kernel ends it.
int outcome_of(long (*call)(), std::span<const sock_filter> filter) {
  const pid_t child = ::fork();
  if (child == 0) {
    const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                             .filter = const_cast<sock_filter*>(filter.data())};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
      ::_exit(255);
    errno = 0;
    const int code = call() < 0 ? errno : 0;
    ::syscall(SYS_exit_group, code);  // _exit(2) would let AddressSanitizer in once more
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? kKilled : 1000 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

long map(int protection) {
  return ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
                                                                                             : 0;
}
long protect(int protection) {
  alignas(4096) static char page[4096];
  return ::mprotect(page, sizeof page, protection);
}
long write_into(pid_t process, long call) {
  char octet = 0;
  const iovec part{&octet, 1};
  return ::syscall(call, process, &part, 1, &part, 1, 0);
}
#ifdef __x86_64__
/// getpid(2) by the other gate of the kernel, whose numbers are those of 32-bit programs.
long call_as_32_bit_program() {
  long result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "memory");
  return result;
}
/// Some kernels have that gate shut (ia32_emulation=off): then there is nothing to be filtered.
bool serves_32_bit_programs() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    call_as_32_bit_program();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status);
}
#endif
long bpf(bpf_cmd command) { return ::syscall(SYS_bpf, command, nullptr, 0); }

struct Case {
  const char* name = "";
  long (*call)() = nullptr;
  int outcome = 0;
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};
class SyscallFilter : public testing::TestWithParam<Case> {};
TEST_P(SyscallFilter, Answers) {
#ifdef __x86_64__
  if (GetParam().call == call_as_32_bit_program && !serves_32_bit_programs())
    GTEST_SKIP() << "this kernel answers no 32-bit programs";
#endif
  EXPECT_EQ(outcome_of(GetParam().call, kFilter), GetParam().outcome);
}

const Case kCases[] = {
    {"UnixSocket", [] { return long{::socket(AF_UNIX, SOCK_STREAM, 0)}; }, 0},
    {"NetlinkSocket", [] { return long{::socket(AF_NETLINK, SOCK_RAW, 0)}; }, 0},
    {"InternetSocket", [] { return long{::socket(AF_INET, SOCK_STREAM, 0)}; }, EPERM},
    {"RoutedPacketSocket", [] { return long{::socket(AF_INET6, SOCK_RAW, 0)}; }, EPERM},
    {"VirtualMachineSocket", [] { return long{::socket(AF_VSOCK, SOCK_STREAM, 0)}; }, EPERM},
    {"ReadingAFile", [] { return long{::open("/dev/null", O_RDONLY)}; }, 0},
    {"Memory", [] { return map(PROT_READ | PROT_WRITE); }, 0},
    {"ALibrary", [] { return map(PROT_READ | PROT_EXEC); }, 0},
    {"MemoryWrittenAndRun", [] { return map(PROT_WRITE | PROT_EXEC); }, EPERM},
    {"MemoryWrittenThenRun", [] { return protect(PROT_READ | PROT_EXEC); }, EPERM},
    {"MemoryMadeReadOnly", [] { return protect(PROT_READ); }, 0},
    {"Program", [] { return long{::execl("/bin/true", "true", nullptr)}; }, kKilled},
    {"Tracing", [] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }, kKilled},
    {"ReadingAnothersMemory", [] { return write_into(::getppid(), SYS_process_vm_readv); },
     kKilled},
    {"WritingAnothersMemory", [] { return write_into(::getppid(), SYS_process_vm_writev); },
     kKilled},
    {"ProgramByDescriptor", [] { return ::syscall(SYS_execveat, -1, "", nullptr, nullptr, 0); },
     kKilled},
#ifdef __x86_64__
    {"CallOfAnotherArchitecture", call_as_32_bit_program, kKilled},
#endif
    {"TypingIntoATerminal",
     [] { return long{::ioctl(::open("/dev/null", O_RDONLY | O_CLOEXEC), TIOCSTI, "x")}; }, EPERM},
    {"NameOfAnInterface",
     [] {
       ifreq request{};
       request.ifr_ifindex = 1;
       return long{::ioctl(::socket(AF_UNIX, SOCK_DGRAM, 0), SIOCGIFNAME, &request)};
     },
     0},
    {"NumberOfAnInterface", [] { return ::if_nametoindex("lo") == 0 ? -1L : 0L; }, 0},
    // The disk's threads may run for the first time when the filter is there.
    {"LocksOfAThread",
     [] {
       static robust_list_head head{};
       return ::syscall(SYS_set_robust_list, &head, sizeof head);
     },
     0},
    {"SequencesOfAThread", [] { return ::syscall(SYS_rseq, nullptr, 0, 0, 0); }, EINVAL},
    {"Process", [] { return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }, EPERM},
    {"Signal", [] { return long{::kill(::getppid(), 0)}; }, EPERM},
    {"Mount", [] { return long{::mount("none", "/nonexistent", "tmpfs", 0, "")}; }, EPERM},
    {"AnotherNamespace", [] { return long{::unshare(CLONE_NEWNS)}; }, EPERM},
    {"Owner", [] { return long{::chown("/nonexistent", 0, 0)}; }, EPERM},
    {"Mode", [] { return long{::chmod("/nonexistent", 04755)}; }, EPERM},
    // What it takes to make the control socket again.
    {"GroupAlone", [] { return long{::chown("/nonexistent", static_cast<uid_t>(-1), 0)}; }, ENOENT},
    {"ModeOfTheControlSocket", [] { return long{::chmod("/nonexistent", 0660)}; }, ENOENT},
    {"LockOfAFile", [] { return long{::flock(-1, LOCK_EX)}; }, EBADF},
    {"Listening", [] { return long{::listen(-1, 1)}; }, EBADF},
    {"User", [] { return long{::setuid(0)}; }, EPERM},
    {"BpfOnControlGroups", [] { return bpf(BPF_PROG_ATTACH); }, EPERM},
};
INSTANTIATE_TEST_SUITE_P(Call, SyscallFilter, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST(SyscallFilterWithIp, LetsTcpThroughAndNothingMore) {
  const auto outcome = [](long (*call)()) { return outcome_of(call, kFilterWithIp); };
  EXPECT_EQ(outcome([] { return long{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)}; }), 0);
  EXPECT_EQ(outcome([] { return long{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }), 0);
  EXPECT_EQ(outcome([] { return long{::socket(AF_INET, SOCK_DGRAM, 0)}; }), EPERM);
  EXPECT_EQ(outcome([] { return long{::socket(AF_INET6, SOCK_RAW, 0)}; }), EPERM);
  EXPECT_EQ(outcome([] { return long{::execl("/bin/true", "true", nullptr)}; }), kKilled);
}

/// What the program that writes the filters says, with how it ends.
std::pair<std::string, int> written(const std::string& arguments) {
  FILE* pipe =
      ::popen((support::program("syscall_filter") + " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  return {text, WEXITSTATUS(::pclose(pipe))};
}

template <std::size_t N>
std::string text_of(const sock_filter (&filter)[N]) {
  std::string text;
  for (const sock_filter& step : filter) {
    char line[64];
    std::snprintf(line, sizeof line, "{0x%04x, %u, %u, 0x%08x},\n", unsigned{step.code},
                  unsigned{step.jt}, unsigned{step.jf}, step.k);
    text += line;
  }
  return text;
}

TEST(SyscallFilterProgram, WritesTheFiltersThatAreBuiltIn) {
  EXPECT_EQ(written("shipped"), std::pair(text_of(kFilter), 0));
  EXPECT_EQ(written("shipped ip"), std::pair(text_of(kFilterWithIp), 0));
}

/// The elements that it writes.
std::vector<sock_filter> filter_of(const std::string& arguments) {
  std::istringstream lines(written(arguments).first);
  std::vector<sock_filter> filter;
  for (std::string line; std::getline(lines, line);) {
    unsigned code = 0, yes = 0, no = 0, value = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "{%x, %u, %u, %x},", &code, &yes, &no, &value), 4) << line;
    filter.push_back(
        {static_cast<__u16>(code), static_cast<__u8>(yes), static_cast<__u8>(no), value});
  }
  return filter;
}

TEST(SyscallFilterProgram, LetsASanitizerDoItsWorkAndNothingElseThatNobodyNamed) {
  for (const char* arguments : {"sanitized", "sanitized ip"}) {
    const std::vector<sock_filter> filter = filter_of(arguments);
    const auto outcome = [&](long (*call)()) { return outcome_of(call, filter); };
    EXPECT_EQ(outcome([] { return map(PROT_WRITE | PROT_EXEC); }), 0);
    EXPECT_EQ(outcome([] { return protect(PROT_READ | PROT_EXEC); }), 0);
    EXPECT_EQ(outcome([] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }), 0);
    EXPECT_EQ(outcome([] { return long{::socket(AF_UNIX, SOCK_STREAM, 0)}; }), 0);
    EXPECT_EQ(outcome([] { return long{::execl("/bin/true", "true", nullptr)}; }), kKilled);
    EXPECT_EQ(outcome([] { return long{::mount("none", "/nonexistent", "tmpfs", 0, "")}; }),
              kKilled);
    EXPECT_EQ(outcome([] { return long{::socket(AF_INET, SOCK_STREAM, 0)}; }),
              arguments == std::string_view("sanitized") ? kKilled : 0);
  }
}

TEST(SyscallFilterProgram, SaysHowItIsUsed) {
  const std::pair usage(std::string("usage: syscall_filter shipped|sanitized [ip]\n"), 2);
  for (const char* arguments : {"", "other", "shipped udp", "shipped ip more"})
    EXPECT_EQ(written(arguments), usage) << arguments;
}

}  // namespace
}  // namespace lldp::io
