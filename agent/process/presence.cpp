// SPDX-License-Identifier: Apache-2.0
#include "agent/process/presence.hpp"

#include <linux/capability.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "os/file.hpp"
#include "os/unix_address.hpp"

namespace lldp::io {
namespace {

/// An abstract name: of the network namespace, not of a file system, and gone with its process.
constexpr std::string_view kName{"\0lldp-leveld", 12};
/// Of those who looked who it is; they are never answered.
constexpr int kBacklog = 4;

/// CAP_NET_ADMIN, without which no daemon works, and where it is worth anything: anybody has it in
/// a user namespace of his own, whose map of users is another.
bool may_administer(pid_t process) {
  const std::string proc = "/proc/" + std::to_string(process);
  const auto theirs = read_file(proc + "/uid_map");
  if (!theirs || *theirs != read_file("/proc/self/uid_map").value_or("")) return false;
  const std::string status = read_file(proc + "/status").value_or("");
  constexpr std::string_view kField = "\nCapPrm:\t";
  const auto at = status.find(kField);
  if (at == std::string::npos) return false;
  const auto capabilities = std::strtoull(status.c_str() + at + kField.size(), nullptr, 16);
  return (capabilities >> CAP_NET_ADMIN & 1U) != 0;
}

}  // namespace

std::optional<std::string> Presence::other() {
  const auto there = unix_address(kName);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::connect(fd.get(), there->get(), there->size) != 0)
    // Too many have looked who it is: it is there all the same.
    return errno == EAGAIN ? std::optional("another process") : std::nullopt;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "another process";
  const bool known = peer.pid > 0;  // of this PID namespace
  // Anybody may take the name; of one whom a container does not see, nobody here can say what he
  // may.
  if (peer.uid != 0 && peer.uid != ::geteuid() && known && !may_administer(peer.pid))
    return std::nullopt;
  return known ? "process " + std::to_string(peer.pid) : "another process";
}

Result<Presence> Presence::announce() {
  const auto address = unix_address(kName);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd && ::bind(fd.get(), address->get(), address->size) == 0 &&
      ::listen(fd.get(), kBacklog) == 0)
    return Presence(std::move(fd));
  if (errno != EADDRINUSE) return fail(Error{errno, "presence", std::strerror(errno)});
  const auto who = other();
  if (!who)
    return fail(Error{EADDRINUSE, "presence",
                      "a process without rights has taken the name @lldp-leveld (ss -xlp): whoever "
                      "removes rules is not told that this daemon puts them back"});
  return fail(Error{EADDRINUSE, "ports",
                    *who +
                        " is an lldp-leveld of this network namespace too: on a port of both they "
                        "fight over its rules"});
}

}  // namespace lldp::io
