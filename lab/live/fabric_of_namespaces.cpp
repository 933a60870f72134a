// SPDX-License-Identifier: Apache-2.0
#include "lab/live/fabric_of_namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "dataplane/bpf/pins.hpp"
#include "dataplane/factory.hpp"
#include "lab/live/agents.hpp"
#include "lab/live/route_socket.hpp"
#include "lab/live/switches.hpp"

namespace lldp::lab::live {
namespace {

constexpr char kNamespaces[] = "/run/netns";
constexpr char kOwnNamespace[] = "/proc/thread-self/ns/net";

auto failed(const std::string& where, const std::string& doing) {
  const int code = errno;
  return fail(Error{code, where, fmt::format("{}: {}", doing, std::strerror(code))});
}

/// Every namespace is held open while the links are laid.
void raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// /run/netns as ip-netns(8) wants it: a shared mount, so that what is mounted and unmounted there
/// is seen in every mount namespace.
Result<void> prepare_directory() {
  if (mkdir(kNamespaces, 0755) < 0 && errno != EEXIST) return failed(kNamespaces, "cannot make");
  if (mount("", kNamespaces, "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
  if (errno != EINVAL) return failed(kNamespaces, "cannot share");
  if (mount(kNamespaces, kNamespaces, "none", MS_BIND | MS_REC, nullptr) < 0 ||
      mount("", kNamespaces, "none", MS_SHARED | MS_REC, nullptr) < 0)
    return failed(kNamespaces, "cannot share");
  return {};
}

/// The new namespace of a node, and a batch that works inside.
struct Made {
  UniqueFd fd{};
  RouteBatch batch{};
};

Result<Made> make_namespace(const FabricPlace& place, const Node& node, ManifestWriter& manifest) {
  const std::string path = place.namespace_path(node.name);
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
  if (!file) {
    if (errno != EEXIST) return failed(path, "cannot make");
    return fail(
        Error{EEXIST, path, "is there already, and not of this lab: give another --prefix"});
  }
  if (auto ok = manifest.add_namespace(node.name); !ok) return fail(ok.error());
  if (unshare(CLONE_NEWNET) < 0) return failed(path, "cannot make a network namespace");
  if (mount(kOwnNamespace, path.c_str(), "none", MS_BIND, nullptr) < 0)
    return failed(path, "cannot mount");
  Made made{.fd = UniqueFd(open(kOwnNamespace, O_RDONLY | O_CLOEXEC))};
  if (!made.fd) return failed(path, "cannot open");
  if (node.role == Role::kSwitch)
    if (auto ok = write_setting("/proc/sys/net/ipv4/ip_forward", "1"); !ok) return fail(ok.error());
  auto batch = RouteBatch::open();
  if (!batch) return fail(batch.error());
  made.batch = std::move(*batch);
  made.batch.set_up("lo");
  return made;
}

/// What agents have kept in the BPF file system for a namespace that goes.
void forget_rules(const FabricPlace& place, const std::string& node) {
  if (!enter(place, node)) return;
  if (const auto pins = dataplane::bpf::Pins::open(dataplane::BpfOptions{}.bpffs)) pins->clear();
}

}  // namespace

int ifindex_of(std::size_t link, std::size_t end) { return static_cast<int>(100 + 2 * link + end); }

std::vector<std::array<MacAddress, 2>> port_addresses(const Fabric& fabric) {
  std::vector<std::array<MacAddress, 2>> addresses(fabric.links.size());
  std::vector<bool> seen(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.links.size(); ++i)
    for (std::size_t e = 0; e < 2; ++e) {
      const std::size_t node = fabric.links[i].ends[e].node;
      const ChassisId& chassis = fabric.nodes[node].chassis;
      MacAddress& mac = addresses[i][e] = port_address(i, e);
      if (!seen[node] && chassis.subtype == ChassisId::kMacAddress &&
          chassis.octets.size() == mac.size())
        std::copy(chassis.octets.begin(), chassis.octets.end(), mac.begin());
      seen[node] = true;
    }
  return addresses;
}

Result<void> write_setting(const char* path, std::string_view text) {
  const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  if (!fd || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed(path, "cannot write");
  return {};
}

KeepNamespace::KeepNamespace() : home_(open(kOwnNamespace, O_RDONLY | O_CLOEXEC)) {}
KeepNamespace::~KeepNamespace() {
  if (home_) setns(home_.get(), CLONE_NEWNET);
}

Result<void> enter(const FabricPlace& place, const std::string& node) {
  const std::string path = place.namespace_path(node);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || setns(fd.get(), CLONE_NEWNET) < 0) return failed(path, "cannot enter");
  return {};
}

Result<void> enter_own_tree(const FabricPlace& place) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (user != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
      return failed("user namespace", "cannot make one; run as root instead");
    // A process that has given up setgroups(2) may write a group map: user_namespaces(7).
    for (const auto& [path, text] : {std::pair{"/proc/self/setgroups", std::string("deny")},
                                     std::pair{"/proc/self/uid_map", fmt::format("0 {} 1", user)},
                                     std::pair{"/proc/self/gid_map", fmt::format("0 {} 1", group)}})
      if (auto ok = write_setting(path, text); !ok) return fail(ok.error());
  } else if (unshare(CLONE_NEWNS) < 0) {
    return failed("mount namespace", "cannot make one");
  }
  if (mount("", "/", "none", MS_SLAVE | MS_REC, nullptr) < 0) return failed("/", "cannot unshare");
  // A /run of our own to have /run/netns in, with what the lab's directory stands in as before.
  const std::filesystem::path dir(place.dir);
  const auto below_run = dir.lexically_relative("/run");
  const bool inside = !below_run.empty() && *below_run.begin() != "..";
  const std::string kept = "/run/" + (inside ? below_run.begin()->string() : std::string());
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const UniqueFd before(open(kept.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!before || error) return failed(place.dir, "cannot make");
  if (mount("run", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
    return failed("/run", "cannot mount");
  if (!inside) return {};
  if (mkdir(kept.c_str(), 0755) < 0 || mount(fmt::format("/proc/self/fd/{}", before.get()).c_str(),
                                             kept.c_str(), "none", MS_BIND | MS_REC, nullptr) < 0)
    return failed(kept, "cannot mount");
  return {};
}

Result<void> make(const FabricPlace& place, const Fabric& fabric, ManifestWriter& manifest) {
  raise_descriptor_limit();
  if (auto ok = prepare_directory(); !ok) return fail(ok.error());
  const KeepNamespace home;
  std::vector<Made> made;
  made.reserve(fabric.nodes.size());
  for (const Node& node : fabric.nodes) {
    if (auto ok = manifest.make_dir(node.name); !ok) return ok;
    auto one = make_namespace(place, node, manifest);
    if (!one) return fail(one.error());
    made.push_back(std::move(*one));
  }
  const auto addresses = port_addresses(fabric);
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    const auto& ends = fabric.links[i].ends;
    const auto veth = [&](std::size_t e) {
      return VethEnd{ends[e].port, ifindex_of(i, e), addresses[i][e]};
    };
    made[ends[0].node].batch.add_veth(veth(0), veth(1), made[ends[1].node].fd.get());
  }
  const auto commit = [&]() -> Result<void> {
    for (std::size_t n = 0; n < made.size(); ++n)
      if (auto ok = made[n].batch.commit(); !ok) {
        Error e = ok.error();
        e.where = fabric.nodes[n].name + ":" + e.where;
        return fail(std::move(e));
      }
    return {};
  };
  if (auto ok = commit(); !ok) return ok;
  for (const Link& link : fabric.links) made[link.ends[1].node].batch.set_up(link.ends[1].port);
  return commit();
}

Result<Manifest> build(const FabricPlace& place, const Fabric& fabric) {
  if (auto ok = check_names(place, fabric); !ok) return fail(ok.error());
  auto manifest = ManifestWriter::begin(place);
  if (!manifest) return fail(manifest.error());
  if (auto ok = make(place, fabric, *manifest); !ok) {
    Error e = ok.error();
    if (auto gone = remove(place, manifest->manifest()); !gone)
      e.what += "; then " + to_string(gone.error());
    return fail(std::move(e));
  }
  return manifest->manifest();
}

Result<void> remove(const FabricPlace& place, const Manifest& manifest) {
  stop_agents(place, manifest.nodes);
  stop_switches(place, manifest.nodes);
  Result<void> outcome;
  for (const std::string& node : manifest.dirs) {
    std::error_code error;
    std::filesystem::remove_all(place.node_dir(node), error);
    if (error && outcome)
      outcome = fail(Error{error.value(), place.node_dir(node), error.message()});
  }
  const bool ended = manifest.own_tree && !place.own_tree;  // with its processes
  const KeepNamespace home;
  for (const std::string& node : manifest.nodes) {
    if (ended) break;
    forget_rules(place, node);
    const std::string path = place.namespace_path(node);
    umount2(path.c_str(), MNT_DETACH);
    if (unlink(path.c_str()) < 0 && errno != ENOENT && outcome)
      outcome = failed(path, "cannot remove");
  }
  if (!outcome) return outcome;
  if (unlink(place.manifest().c_str()) < 0) return failed(place.manifest(), "cannot remove");
  // The directories, unless someone keeps something there.
  const std::filesystem::path dir(place.dir);
  if (rmdir(dir.c_str()) == 0 && dir.parent_path().filename() == "lldp-level-lab")
    rmdir(dir.parent_path().c_str());
  return {};
}

}  // namespace lldp::lab::live
