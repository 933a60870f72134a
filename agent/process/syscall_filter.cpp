// SPDX-License-Identifier: Apache-2.0
// Writes the daemon's seccomp filter as the elements of an array of sock_filter. Runs while the
// daemon is built: libseccomp knows the names of the calls on every architecture and makes a
// program that decides quickly, but to have it in the daemon would cost 75 kB of memory.
//
//   syscall_filter shipped|sanitized [ip]
//
// shipped: a call that is not listed fails with EPERM, and the kernel logs it: an unforeseen call
// (of a newer C library) must not pass, and must not end the agent of a fabric either. sanitized:
// for builds with AddressSanitizer, whose leak check stops all threads by ptrace(2): also allows
// the calls of that check; and a call that is not listed ends the daemon, so that every test that
// runs it says whether the list is complete.
//
// ip: for a back end that is reached by TCP, sockets of that family too.
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// Whatever their arguments are. Of a call with several names, those of other architectures, and of
// C libraries older and newer than ours, stand beside it.
constexpr const char* kAllowed[] = {
    // Descriptors. The state file is replaced, hence the calls that write and rename; which files,
    // no filter sees: that is the file system's, and the unit's ProtectSystem.
    "read", "readv", "pread64", "write", "writev", "close", "lseek", "_llseek", "fcntl", "fcntl64",
    "open", "openat", "fsync", "fdatasync", "getdents", "getdents64", "access", "faccessat",
    "faccessat2", "stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "newfstatat",
    "fstatat64", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "readlink", "readlinkat",
    "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2",
    // The loop: frames, links, clients and time.
    "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "ppoll_time64",
    "epoll_create1", "timerfd_create", "timerfd_settime", "timerfd_settime64", "clock_gettime",
    "clock_gettime64", "gettimeofday", "time", "bind", "connect", "accept", "accept4", "shutdown",
    "getsockopt", "setsockopt", "getsockname", "getpeername", "sendto", "recvfrom", "recv", "send",
    "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "recvmmsg_time64",
    // To notice that lldpd comes.
    "inotify_init1", "inotify_add_watch",
    // The beginnings of a thread: it may run for the first time when the filter is there.
    "set_robust_list", "rseq",
    // Memory, signals, the end.
    "brk", "munmap", "mremap", "madvise", "futex", "futex_time64", "getrandom", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sigreturn", "restart_syscall", "tgkill", "exit",
    "exit_group", "wait4", "waitid",
    // Questions that tell nothing of others.
    "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getuid32", "geteuid32",
    "getgid32", "getegid32", "uname"};

/// What AddressSanitizer and its leak check do besides.
constexpr const char* kSanitizer[] = {
    "clone",       "clone3", "ptrace",          "prctl",     "sigaltstack",
    "sched_yield", "mmap",   "mprotect",        "getppid",   "prlimit64",
    "pipe",        "pipe2",  "clock_nanosleep", "nanosleep", "sched_getaffinity"};

/// Never called by us or a library: a process that makes these calls has been taken over.
constexpr const char* kDeadly[] = {"execve", "execveat", "ptrace", "process_vm_readv",
                                   "process_vm_writev"};

void check(int result, const std::string& what) {
  if (result < 0) throw std::runtime_error(what + ": " + std::strerror(-result));
}

class Filter {
 public:
  Filter(bool sanitized)
      : context_(seccomp_init(sanitized ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM))) {
    if (context_ == nullptr) throw std::runtime_error("libseccomp refuses to begin");
    check(seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "attribute");
    check(seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2), "attribute");  // a search tree
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter() { seccomp_release(context_); }

  void rule(std::uint32_t action, const char* call, std::initializer_list<scmp_arg_cmp> when = {}) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number == __NR_SCMP_ERROR)
      throw std::runtime_error(std::string(call) + ": libseccomp does not know this call");
    check(seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(when.size()),
                                 when.begin()),
          call);
  }
  void allow(const char* call, std::initializer_list<scmp_arg_cmp> when = {}) {
    rule(SCMP_ACT_ALLOW, call, when);
  }
  /// Only with one of these values as that argument.
  template <class T>
  void allow_with(const char* call, unsigned argument, std::initializer_list<T> values) {
    for (const T value : values)
      allow(call, {{argument, SCMP_CMP_EQ, static_cast<scmp_datum_t>(value), 0}});
  }

  void print() const {
    std::array<int, 2> ends{};
    check(::pipe(ends.data()), "pipe");
    check(seccomp_export_bpf(context_, ends[1]), "export");
    ::close(ends[1]);
    for (sock_filter step{}; ::read(ends[0], &step, sizeof step) == sizeof step;)
      std::printf("{0x%04x, %u, %u, 0x%08x},\n", unsigned{step.code}, unsigned{step.jt},
                  unsigned{step.jf}, step.k);
    ::close(ends[0]);
  }

 private:
  scmp_filter_ctx context_;
};

void write(bool sanitized, bool ip) {
  Filter filter(sanitized);
  for (const char* call : kAllowed) filter.allow(call);
  if (sanitized) {
    for (const char* call : kSanitizer) filter.allow(call);
  } else {
    // Memory may be written or run, not both, nor one after the other (but a library may be
    // mapped).
    for (const char* call : {"mmap", "mmap2"}) {
      filter.allow(call, {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}});
      filter.allow(call, {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC}});
    }
    filter.allow("mprotect", {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}});
    for (const char* call : kDeadly) filter.rule(SCMP_ACT_KILL_PROCESS, call);
  }
  filter.allow_with("socket", 0, {AF_UNIX, AF_NETLINK, AF_PACKET});
  if (ip)
    for (const int family : {AF_INET, AF_INET6})
      filter.allow("socket",
                   {{0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(family), 0},
                    {1, SCMP_CMP_MASKED_EQ,
                     ~static_cast<scmp_datum_t>(SOCK_NONBLOCK | SOCK_CLOEXEC), SOCK_STREAM}});
  filter.allow_with("socketpair", 0, {AF_UNIX});  // the exporter's connection
  filter.allow_with("ioctl", 1, {FIONBIO, FIONREAD, SIOCGIFINDEX, SIOCGIFNAME, SIOCETHTOOL});
  // What dataplane/bpf asks for: its directory too, which others may have removed. And the control
  // socket, of which the same is true.
  filter.allow_with("chmod", 1, {01777, 0660});
  filter.allow_with("fchmodat", 2, {01777, 0660});
  for (const char* call : {"flock", "listen"}) filter.allow(call);
  // For a group alone: the user is "as it is".
  constexpr scmp_datum_t kUser = 0xffffffff;
  for (const char* call : {"chown", "chown32"})
    filter.allow(call, {{1, SCMP_CMP_MASKED_EQ, kUser, kUser}});
  filter.allow("fchownat", {{2, SCMP_CMP_MASKED_EQ, kUser, kUser}});
  filter.allow_with(
      "bpf", 0,
      {BPF_MAP_CREATE, BPF_MAP_FREEZE, BPF_MAP_UPDATE_ELEM, BPF_MAP_LOOKUP_ELEM, BPF_PROG_LOAD,
       BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD, BPF_OBJ_PIN,
       BPF_OBJ_GET, BPF_PROG_QUERY, BPF_LINK_CREATE, BPF_LINK_UPDATE, BPF_LINK_DETACH});
  filter.print();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc >= 2 ? argv[1] : "";
  const bool ip = argc == 3 && std::string_view(argv[2]) == "ip";
  if ((kind != "shipped" && kind != "sanitized") || argc != (ip ? 3 : 2)) {
    std::fprintf(stderr, "usage: syscall_filter shipped|sanitized [ip]\n");
    return 2;
  }
  try {
    write(kind == "sanitized", ip);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "syscall_filter: %s\n", e.what());
    return 1;
  }
  return 0;
}
