// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/topology/fabric.hpp"
#include "os/fd.hpp"

namespace lldp::lab::live {

/// Brings the calling thread back to the network namespace it was in.
class KeepNamespace {
 public:
  KeepNamespace();
  ~KeepNamespace();
  KeepNamespace(const KeepNamespace&) = delete;
  KeepNamespace& operator=(const KeepNamespace&) = delete;

 private:
  UniqueFd home_{};
};

/// Moves the calling thread into a node's namespace.
[[nodiscard]] Result<void> enter(const FabricPlace& place, const std::string& node);

/// Takes the process into a user and mount namespace of its own, with a /run/netns that it may
/// write. Call once, before any thread and before make(), where Place::own_tree is set.
[[nodiscard]] Result<void> enter_own_tree(const FabricPlace& place);

/// Into a file of /proc, which the namespaces of the calling thread choose.
[[nodiscard]] Result<void> write_setting(const char* path, std::string_view text);

/// The number of the interface at `links[link].ends[end]`. They follow the order of the fabric's
/// links, above those that the kernel gives to tunnels of its own, and no two are equal: the kernel
/// takes its time (up to 1 s) to tell of a carrier where a port's number is also its peer's.
[[nodiscard]] int ifindex_of(std::size_t link, std::size_t end);

/// The addresses of all ports, by link and end. The first port of a node has its chassis ID for an
/// address where that is one, so that an agent calls itself what the fabric calls it.
[[nodiscard]] std::vector<std::array<MacAddress, 2>> port_addresses(const Fabric& fabric);

/// A network namespace per node, forwarding IP where it is a switch, and a veth pair per link, up.
/// Each node is written into the manifest as it is made. Fails where something of its name stands
/// already, and leaves that alone.
[[nodiscard]] Result<void> make(const FabricPlace& place, const Fabric& fabric,
                                ManifestWriter& manifest);

/// The same for a place that may hold a lab already, or not this fabric. Leaves nothing of its own
/// behind where it fails.
[[nodiscard]] Result<Manifest> build(const FabricPlace& place, const Fabric& fabric);

/// Removes the namespaces, agents and files of a manifest, and the manifest last. What is gone
/// already is no error; nothing else is touched.
[[nodiscard]] Result<void> remove(const FabricPlace& place, const Manifest& manifest);

}  // namespace lldp::lab::live
