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

/// Abstract names: of the network namespace, not of a file system, and gone with their process.
/// Each daemon has one, so that the first one sees the second, too.
constexpr std::string_view kName{"\0lldp-leveld", 12};
constexpr int kNames = 8;

std::string name_of(int number) {
  std::string name(kName);
  return number == 0 ? name : name + '.' + std::to_string(number);
}

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

/// The daemon that has the name, in words.
std::optional<std::string> holder(const std::string& name) {
  const auto there = unix_address(name);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return "another process";  // for all that can be told
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::connect(fd.get(), there->get(), there->size) != 0)
    // EAGAIN: too many have looked who it is; it is there all the same.
    return errno == ECONNREFUSED ? std::nullopt : std::optional("another process");
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "another process";
  const bool known = peer.pid > 0;  // of this PID namespace
  // Anybody may take the name; of one whom a container does not see, nobody here can say what he
  // may.
  if (peer.uid != 0 && peer.uid != ::geteuid() && known && !may_administer(peer.pid))
    return std::nullopt;
  return known ? "process " + std::to_string(peer.pid) : "another process";
}

/// Of the daemons that have the names but this one.
std::optional<std::string> any_holder(int but) {
  for (int number = 0; number < kNames; ++number)
    if (number != but)
      if (auto who = holder(name_of(number))) return who;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Presence::other() { return any_holder(-1); }

bool Presence::is_alone() const { return !any_holder(number_); }

Result<Presence> Presence::announce() {
  for (int number = 0; number < kNames; ++number) {
    const auto address = unix_address(name_of(number));
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && ::bind(fd.get(), address->get(), address->size) == 0 &&
        ::listen(fd.get(), kBacklog) == 0)
      return Presence(std::move(fd), number);
    if (errno != EADDRINUSE) return fail(Error{errno, "presence", std::strerror(errno)});
  }
  return fail(Error{EADDRINUSE, "presence",
                    "the names @lldp-leveld to @lldp-leveld.7 are taken (ss -xlp): whoever removes "
                    "rules is not told that this daemon puts them back"});
}

}  // namespace lldp::io
