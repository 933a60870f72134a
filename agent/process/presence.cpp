// SPDX-License-Identifier: Apache-2.0
#include "agent/process/presence.hpp"

#include <linux/capability.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

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

/// Of processes that asked for the name; they are never answered.
constexpr int kBacklog = 4;

/// Of a process' `status`: the line of the field, "\nUid:\t" for example; nothing without it.
std::string_view field_of(std::string_view status, std::string_view field) {
  const auto at = status.find(field);
  if (at == std::string_view::npos) return {};
  const auto begin = at + field.size();
  return status.substr(begin, status.find('\n', begin) - begin);
}

/// Its four users, proc(5), of which the first has started it.
constexpr std::string_view kUsers = "\nUid:\t";

/// True if real, effective, saved and filesystem UID all equal `user`; rejects set-uid processes.
bool is_wholly(uid_t user, std::string_view status) {
  std::istringstream users{std::string(field_of(status, kUsers))};
  for (int way = 0; way < 4; ++way)
    if (uid_t one = 0; !(users >> one) || one != user) return false;
  return true;
}

/// CAP_NET_ADMIN, without which no daemon works, in our user namespace: every user has it in a
/// namespace of its own, whose map of users is another one.
bool may_administer(const ucred& peer) {
  const std::string proc = "/proc/" + std::to_string(peer.pid);
  const auto theirs = read_file(proc + "/uid_map");
  if (!theirs || *theirs != read_file("/proc/self/uid_map").value_or("")) return false;
  const std::string status = read_file(proc + "/status").value_or("");
  const std::string capabilities(field_of(status, "\nCapPrm:\t"));
  return is_wholly(peer.uid, status) &&
         (std::strtoull(capabilities.c_str(), nullptr, 16) >> CAP_NET_ADMIN & 1U) != 0;
}

constexpr const char* kUnseen = "another process";  ///< for all that can be told

/// A description, if the peer may be a daemon. Any user may take the name; the rights of a process
/// outside a container are not visible inside.
std::optional<std::string> as_daemon(const ucred& peer) {
  if (peer.pid <= 0) return kUnseen;  // of another PID namespace
  if (peer.uid != 0 && peer.uid != ::geteuid() && !may_administer(peer)) return std::nullopt;
  return "process " + std::to_string(peer.pid);
}

/// The daemon among the processes that listen at the name, or seem to: used when its backlog is
/// full, perhaps by malice. One walk through /proc for all of them: a user can have any number of
/// sockets that seem to listen.
std::optional<std::string> find_daemon(const std::string& name) {
  std::set<std::string> links;
  for (const std::string& inode : listening_inodes("@" + name.substr(1)))
    links.insert("socket:[" + inode + "]");
  bool is_all_seen = !links.empty();
  std::error_code none;
  for (const auto& process : std::filesystem::directory_iterator("/proc", none)) {
    const std::string number = process.path().filename().string();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    bool has_one = false;
    for (const auto& fd : std::filesystem::directory_iterator(process.path() / "fd", none))
      has_one |= links.erase(std::filesystem::read_symlink(fd.path(), none).string()) != 0;
    if (!has_one) continue;
    // Not by the owner of the process's files: those of an undumpable process belong to root.
    const std::string status = read_file(process.path() / "status").value_or("");
    const std::string user(field_of(status, kUsers));
    if (user.empty()) {  // it has ended meanwhile
      is_all_seen = false;
      continue;
    }
    if (auto who = as_daemon({.pid = std::stoi(number),
                              .uid = static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10)),
                              .gid = 0}))
      return who;
  }
  if (is_all_seen && links.empty()) return std::nullopt;
  return kUnseen;
}

/// The daemon that has the name, in words.
std::optional<std::string> holder(const std::string& name) {
  const auto there = unix_address(name);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return kUnseen;
  if (::connect(fd.get(), there->get(), there->size) != 0) {
    if (errno == ECONNREFUSED) return std::nullopt;
    return find_daemon(name);  // EAGAIN: too many have looked; it is there all the same
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return kUnseen;
  return as_daemon(peer);
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
                    "the socket names @lldp-leveld to @lldp-leveld.7 are taken (ss -xlp): "
                    "`lldp-leveld --remove-rules` will not notice that this daemon runs"});
}

}  // namespace lldp::io
