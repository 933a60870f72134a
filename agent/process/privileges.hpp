// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

/// What the daemon gives up, for good, before it reads the first octet of the network. In this
/// order: join_group() while it may, drop_capabilities() before anything is opened, so that what is
/// missing shows at once, filter_syscalls() when everything is open.
namespace lldp::io {

/// The group's number, its members' number among the process's own if it may add it; an empty name
/// is no group.
[[nodiscard]] Result<std::optional<std::uint32_t>> join_group(const std::string& name);

/// Root without its capabilities may use lldpd's control socket only as a member of its group. For
/// another user, the installation sets up the membership.
void join_group_of_lldpd(const std::string& socket);

/// Of the capabilities that it was started with, the process keeps CAP_NET_RAW, CAP_NET_ADMIN,
/// CAP_BPF and CAP_PERFMON; what it runs gets none, and no privilege by any other way
/// (no_new_privs). User 0 is then a user like any other: it opens what it owns.
[[nodiscard]] Result<void> drop_capabilities();

/// From now on the kernel refuses every system call that is not on the list of syscall_filter.cpp;
/// `with_ip`: TCP sockets are on it.
[[nodiscard]] Result<void> filter_syscalls(bool with_ip);

}  // namespace lldp::io
