// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/pins.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <sstream>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::string_view kDirectoryOfOurs = "/lldp-level";
constexpr int kNetnsCookie = 71;  ///< SO_NETNS_COOKIE, Linux 5.14

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Its files, or the directories in it.
std::vector<std::string> entries_of(const std::string& directory, bool directories) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr)
    if (entry->d_name[0] != '.' && (entry->d_type == DT_DIR) == directories)
      names.emplace_back(entry->d_name);
  return names;
}

/// Sticky and open to all, as /tmp: daemons of several users may stand side by side.
void make_shared_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) ::chmod(path.c_str(), 01777);
}

bool is_bpffs(const std::string& path) {
  struct statfs fs {};
  return ::statfs(path.c_str(), &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
}

/// Every directory from `base` down to `below` was made by root, by us, or where only the owner of
/// the parent could make one. A BPF file system is mounted writable for all, as /tmp is, unless a
/// mount option says otherwise.
bool is_safe(const std::string& base, const std::string& below) {
  struct stat parent {};
  if (::stat(base.c_str(), &parent) != 0) return false;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = below.find('/', end + 1);
    struct stat entry {};
    if (::lstat((base + below.substr(0, end)).c_str(), &entry) != 0) return errno == ENOENT;
    const bool open_to_others = (parent.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    const bool known =
        entry.st_uid == 0 || entry.st_uid == ::geteuid() || entry.st_uid == parent.st_uid;
    if (!S_ISDIR(entry.st_mode) || (open_to_others && !known)) return false;
    parent = entry;
  }
  return true;
}

bool may_write(const std::string& directory) {
  return ::access(directory.c_str(), W_OK | X_OK) == 0;
}

/// Where this process sees BPF file systems.
std::vector<std::string> mounts() {
  std::vector<std::string> points;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto end = line.find(" - bpf ");
    if (end == std::string::npos) continue;
    std::istringstream words(line.substr(0, end));
    std::string point;
    for (int i = 0; i < 5; ++i) words >> point;
    points.push_back(point);
  }
  return points;
}

/// The directories of this name that are not `own`. The service has a directory of the BPF file
/// system for one of its own, so ours may stand a level higher or deeper.
std::vector<std::string> elsewhere(const std::string& name, const std::string& own) {
  std::vector<std::string> found;
  const auto number = [](const std::string& path) {
    struct stat s {};
    return ::stat(path.c_str(), &s) == 0 ? std::optional(std::pair(s.st_dev, s.st_ino))
                                         : std::nullopt;
  };
  for (const std::string& mount : mounts()) {
    for (const char* below : {"", "/lldp-level", "/lldp-level/lldp-level"}) {
      const std::string path = mount + below + "/" + name;
      if (may_write(path) && is_safe(mount, std::string(below) + "/" + name) &&
          number(path) != number(own))
        found.push_back(path);
    }
  }
  return found;
}

/// True for a link to a program that runs on an interface of this namespace.
bool is_at_work(const UniqueFd& link) {
  const auto info = link_info(link);
  return info && is_attached(*info).value_or(false);
}

}  // namespace

Namespace Namespace::current() {
  Namespace self;
  struct stat file {};
  if (::stat("/proc/thread-self/ns/net", &file) == 0) self.file = file.st_ino;
  const UniqueFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(any.get(), SOL_SOCKET, kNetnsCookie, &cookie, &size) == 0) self.cookie = cookie;
  return self;
}

std::string Namespace::name() const {
  return cookie ? fmt::format("{}-{}", file, *cookie) : std::to_string(file);
}

bool Namespace::is_predecessor(std::string_view other) const {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(other.data(), other.data() + other.size(), number);
  const bool whole = end == other.data() + other.size() || *end == '-';
  return cookie && error == std::errc() && whole && number == file && other != name();
}

std::optional<Pins> Pins::open(const std::string& bpffs) {
  const Namespace here = Namespace::current();
  if (here.file == 0) return std::nullopt;
  const std::string ours = bpffs + std::string(kDirectoryOfOurs);
  const Pins pins(ours + "/" + here.name());
  bool usable = false;
  if (is_bpffs(bpffs)) {
    make_shared_directory(ours);
    usable = is_safe(bpffs, std::string(kDirectoryOfOurs) + "/" + here.name());
    usable = usable && (may_write(pins.directory_) || (errno == ENOENT && may_write(ours)));
  }
  for (const std::string& other : elsewhere(here.name(), pins.directory_)) {
    if (!usable) return Pins(other);
    pins.take_from(Pins(other));
  }
  if (!usable) return std::nullopt;
  pins.bury(here);
  return pins;
}

std::string Pins::why_none(const std::string& bpffs) {
  const std::string below = std::string(kDirectoryOfOurs) + "/" + Namespace::current().name();
  if (!is_bpffs(bpffs) || is_safe(bpffs, below)) return "no BPF file system";
  return bpffs + std::string(kDirectoryOfOurs) +
         " was made by another user: remove it, and restart the daemon";
}

std::optional<std::uint64_t> Pins::file_system() const {
  struct stat s {};
  const std::string bpffs = parent_of(parent_of(directory_));
  return is_bpffs(bpffs) && ::stat(bpffs.c_str(), &s) == 0 ? std::optional(s.st_dev) : std::nullopt;
}

void Pins::take_from(const Pins& other) const {
  for (const std::string& name : other.names()) {
    const auto object = get_pinned(other.path(name));
    const auto done = object ? put(*object, name) : fail(object.error());
    // What cannot be kept here stays, and at work; what is here already is to be the only one.
    if (done || done.error().code == EEXIST) other.remove(name);
  }
  for (const std::string& name : other.marks()) {
    mark(name);
    other.unmark(name);
  }
  ::rmdir(other.directory_.c_str());
  ::rmdir(parent_of(other.directory_).c_str());
}

void Pins::bury(const Namespace& of) const {
  const std::string ours = parent_of(directory_);
  for (const std::string& name : entries_of(ours, true)) {
    const Pins dead(ours + "/" + name);
    if (!of.is_predecessor(name)) {
      // A daemon takes the files of an interface that goes: these went with their namespace.
      if (name != of.name() && dead.has_only_dead_links()) dead.clear();
      continue;
    }
    // An interface that outlived its namespace is in this one now, with the programs it had.
    for (const std::string& file : dead.names())
      if (const auto link = get_pinned(dead.path(file)); link && is_at_work(*link))
        (void)put(*link, file);
    dead.clear();
  }
}

bool Pins::has_only_dead_links() const {
  bool any = false;
  for (const std::string& file : names()) {
    if (!file.starts_with(kLink)) continue;
    const auto link = get_pinned(path(file));
    const auto info = link ? link_info(*link) : fail(Error{});
    if (!info || info->ifindex != 0) return false;
    any = true;
  }
  return any;
}

std::string Pins::path(std::string_view name) const { return directory_ + "/" + std::string(name); }

std::vector<std::string> Pins::names() const { return entries_of(directory_, false); }

std::vector<std::string> Pins::marks() const { return entries_of(directory_, true); }

Result<void> Pins::put(const UniqueFd& object, std::string_view name) const {
  need_directory();
  const std::string ours = parent_of(directory_);
  if (!is_safe(parent_of(ours), directory_.substr(parent_of(ours).size())))
    return fail(Error{EPERM, directory_, "was made by another user"});
  return pin(object, path(name));
}

void Pins::remove(std::string_view name) const { ::unlink(path(name).c_str()); }

void Pins::need_directory() const {
  // Unmounted, the place is the file system's below.
  if (!is_bpffs(parent_of(parent_of(directory_)))) return;
  make_shared_directory(parent_of(directory_));
  ::mkdir(directory_.c_str(), 0700);
}

void Pins::mark(std::string_view name) const {
  need_directory();
  ::mkdir(path(name).c_str(), 0700);
}

void Pins::unmark(std::string_view name) const { ::rmdir(path(name).c_str()); }

bool Pins::is_marked(std::string_view name) const {
  return ::access(path(name).c_str(), F_OK) == 0;
}

void Pins::clear() const {
  for (const std::string& name : names()) remove(name);
  for (const std::string& name : marks()) unmark(name);
  ::rmdir(directory_.c_str());
  ::rmdir(parent_of(directory_).c_str());  // fails while others are there
}

}  // namespace lldp::dataplane::bpf
