// SPDX-License-Identifier: Apache-2.0
#include "agent/process/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::io {
namespace {

constexpr unsigned kMostCapabilities = 32 * _LINUX_CAPABILITY_U32S_3;
constexpr std::array<unsigned, 4> kKept{CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON};

constexpr sock_filter kFilter[] = {
#include "agent/process/syscall_filter.inc"
};
constexpr sock_filter kFilterWithIp[] = {
#include "agent/process/syscall_filter_ip.inc"
};

Error failed(const char* where, const char* what) {
  const int code = errno;
  return {code, where, std::string(what) + ": " + std::strerror(code)};
}

/// Refused to a plain user: then the code that needs the group reports what to do.
void join(gid_t group) {
  std::vector<gid_t> mine(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int held = ::getgroups(static_cast<int>(mine.size()), mine.data());
  if (held < 0) return;  // it shall not lose those that it has
  mine.resize(static_cast<std::size_t>(held));
  if (std::ranges::find(mine, group) != mine.end()) return;
  mine.push_back(group);
  [[maybe_unused]] const int refused = ::setgroups(mine.size(), mine.data());
}

}  // namespace

void join_group_of_lldpd(const std::string& socket) {
  if (::geteuid() != 0) return;
  struct stat made {};
  if (::stat(socket.c_str(), &made) == 0) join(made.st_gid);
  // It may be started later. Read without the name service, whose modules would stay in memory, and
  // at once: of a file, fgetgrent(3) asks the kernel for its place twice a line.
  auto text = read_file("/etc/group");
  if (!text || text->empty()) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> groups(
      ::fmemopen(text->data(), text->size(), "r"),
      [](auto* f) { return f == nullptr ? 0 : std::fclose(f); });
  if (!groups) return;
  while (const group* entry = ::fgetgrent(groups.get())) {
    const std::string_view name(entry->gr_name);
    if (name == "_lldpd" || name == "lldpd") join(entry->gr_gid);  // Debian; others
  }
}

Result<std::optional<std::uint32_t>> join_group(const std::string& name) {
  if (name.empty()) return std::nullopt;
  errno = 0;
  const group* found = ::getgrnam(name.c_str());
  if (found == nullptr)
    return fail(Error{errno, "control.group",
                      "there is no group '" + escape(name) + "': create it, or name another"});
  join(found->gr_gid);
  return found->gr_gid;
}

Result<void> drop_capabilities() {
  // Before Linux 5.11 the rules' maps count as locked memory, and later this may not be raised.
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_MEMLOCK, &unlimited);

  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(failed("privileges", "kept"));
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // A user may not make the bounding set smaller, and with no_new_privs it bounds nothing.
  for (unsigned c = 0; c < kMostCapabilities; ++c)
    if (std::ranges::find(kKept, c) == kKept.end() && ::prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0)
      break;  // there is none of that number, or EPERM

  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0)
    return fail(failed("capabilities", "cannot be read"));
  std::array<std::uint32_t, _LINUX_CAPABILITY_U32S_3> kept{};
  for (const unsigned c : kKept) kept[CAP_TO_INDEX(c)] |= CAP_TO_MASK(c);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    sets[i].permitted &= kept[i];
    sets[i].effective = sets[i].permitted;
    sets[i].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, sets.data()) != 0)
    return fail(failed("capabilities", "cannot be dropped"));
  return {};
}

// The process stays dumpable: a core is worth more than what could be read from it, and no process
// without the same capabilities may trace it, whatever its user, capabilities(7).
Result<void> filter_syscalls(bool with_ip) {
  const std::span<const sock_filter> filter =
      with_ip ? std::span<const sock_filter>(kFilterWithIp) : std::span<const sock_filter>(kFilter);
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = const_cast<sock_filter*>(filter.data())};
  // All threads: the disk's are there already.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ||
      // Linux before 4.14, or a sandbox around us that does not know the call: without the log, and
      // for this thread, the only one that reads what strangers send.
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
    return {};
  return fail(failed("seccomp", "the system calls cannot be filtered"));
}

}  // namespace lldp::io
