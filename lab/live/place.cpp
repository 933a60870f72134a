// SPDX-License-Identifier: Apache-2.0
#include "lab/live/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "os/unix_address.hpp"

namespace lldp::lab::live {
namespace {

constexpr std::string_view kFirstLine = "lldp-level-lab 2";
constexpr std::size_t kMaxInterfaceName = 15;  // IFNAMSIZ less its NUL

Error error_of(int code, const std::string& where) { return {code, where, std::strerror(code)}; }

/// The machine's own root: the first user namespace maps every ID to itself.
bool is_root_of_machine() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  map >> inside >> outside >> count;
  return geteuid() == 0 && inside == 0 && outside == 0 && count == 0xffff'ffff;
}

/// Fit for a file name and for a line of the manifest.
bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

Result<FabricPlace> place_of(const std::string& prefix, const std::string& dir) {
  if (!is_plain(prefix))
    return fail(Error{0, "--prefix", "use up to 64 letters, digits and `-_.`"});
  FabricPlace place{.prefix = prefix, .own_tree = !is_root_of_machine()};
  if (!dir.empty()) {
    place.dir = std::filesystem::absolute(dir).lexically_normal();
    if (place.dir.back() == '/') place.dir.pop_back();
    return place;
  }
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string base = !place.own_tree ? "/run/lldp-level-lab"
                           : runtime && runtime[0] == '/'
                               ? fmt::format("{}/lldp-level-lab", runtime)
                               : fmt::format("/tmp/lldp-level-lab-{}", getuid());
  place.dir = base + "/" + prefix;
  return place;
}

Result<void> check_names(const FabricPlace& place, const Fabric& fabric) {
  for (const Node& node : fabric.nodes) {
    const std::string shown = escape(node.name);
    if (!is_plain(node.name) || node.name == "manifest")
      return fail(
          Error{0, shown, "no name for a namespace: use up to 64 letters, digits and `-_.`"});
    if (place.socket(node.name).size() > kMaxUnixName)
      return fail(Error{0, place.socket(node.name), "too long for a socket: give a shorter --dir"});
  }
  for (const Link& link : fabric.links)
    for (const LinkEnd& end : link.ends)
      if (!is_plain(end.port) || end.port.size() > kMaxInterfaceName || end.port == "lo")
        return fail(Error{0, escape(fabric.nodes[end.node].name + ":" + end.port),
                          "no name for an interface: use up to 15 letters, digits and `-_.`"});
  return {};
}

Result<ManifestWriter> ManifestWriter::begin(const FabricPlace& place) {
  std::error_code error;
  std::filesystem::create_directories(place.dir, error);
  if (error) return fail(Error{error.value(), place.dir, error.message()});
  ManifestWriter self;
  self.place_ = place;
  self.manifest_.own_tree = place.own_tree;
  // Its head is there with it: a link fails where there is one already, and does not where we died
  // writing the last one.
  const std::string unfinished = fmt::format("{}.{}", place.manifest(), getpid());
  unlink(unfinished.c_str());  // of a process that had our number and died
  self.file_ =
      UniqueFd(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!self.file_) return fail(error_of(errno, unfinished));
  auto ok = self.append(fmt::format("{}\nprefix {}\ntree {}", kFirstLine, place.prefix,
                                    place.own_tree ? "own" : "shared"));
  const bool made = ok && link(unfinished.c_str(), place.manifest().c_str()) == 0;
  const int code = errno;
  unlink(unfinished.c_str());
  if (made) return self;
  if (!ok) return fail(ok.error());
  if (code == EEXIST)
    return fail(Error{code, place.prefix,
                      "this lab is up: take it down first (`live down`) or give another --prefix"});
  return fail(error_of(code, place.manifest()));
}

Result<void> ManifestWriter::append(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t n = write(file_.get(), text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return {};
  return fail(error_of(n < 0 ? errno : ENOSPC, place_.manifest()));
}

Result<void> ManifestWriter::make_dir(const std::string& node) {
  const std::string dir = place_.node_dir(node);
  if (mkdir(dir.c_str(), 0755) < 0) {
    if (errno != EEXIST) return fail(error_of(errno, dir));
    return fail(Error{EEXIST, dir, "is there already, and not of this lab: give another --dir"});
  }
  manifest_.dirs.push_back(node);
  return append("dir " + node);
}

Result<void> ManifestWriter::add_namespace(const std::string& node) {
  manifest_.nodes.push_back(node);
  return append("node " + node);
}

Result<Manifest> read_manifest(const FabricPlace& place) {
  std::ifstream in(place.manifest());
  if (!in) {
    if (errno == ENOENT)
      return fail(Error{ENOENT, place.prefix, "this lab is not up: no " + place.manifest()});
    return fail(error_of(errno, place.manifest()));
  }
  const auto corrupt = [&] {
    return fail(Error{0, place.manifest(), "not the manifest of a lab: remove it by hand"});
  };
  constexpr std::string_view kPrefix = "prefix ";
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine || !std::getline(in, line) ||
      !line.starts_with(kPrefix))
    return corrupt();
  if (const std::string prefix = line.substr(kPrefix.size()); prefix != place.prefix)
    return fail(Error{
        0, place.prefix,
        fmt::format("the lab in {} is another one: give --prefix {}", place.dir, escape(prefix))});
  Manifest manifest;
  while (std::getline(in, line)) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string name = line.substr(std::min(space + 1, line.size()));
    if (in.eof()) break;  // without its end: the program died writing it
    if (word == "tree" && (name == "own" || name == "shared")) {
      manifest.own_tree = name == "own";
    } else if (word == "dir" && is_plain(name)) {
      manifest.dirs.push_back(name);
    } else if (word == "node" && is_plain(name)) {
      manifest.nodes.push_back(name);
    } else {
      return corrupt();
    }
  }
  return manifest;
}

}  // namespace lldp::lab::live
