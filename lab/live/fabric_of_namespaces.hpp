// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/io/unique_fd.hpp"
#include "base/result.hpp"
#include "lab/fabric/fabric.hpp"
#include "lab/live/place.hpp"

namespace lldp::lab::live {

/// Brings the calling thread back to the network namespace it was in.
class KeepNamespace {
 public:
  KeepNamespace();
  ~KeepNamespace();
  KeepNamespace(const KeepNamespace&) = delete;
  KeepNamespace& operator=(const KeepNamespace&) = delete;

 private:
  io::UniqueFd home_{};
};

/// Moves the calling thread into a node's namespace.
[[nodiscard]] Result<void> enter(const Place& place, const std::string& node);

/// Takes the process into a user and mount namespace of its own, with a /run/netns that it may
/// write. Call once, before any thread and before make(), where Place::own_tree is set.
[[nodiscard]] Result<void> enter_own_tree(const Place& place);

/// A network namespace per node, forwarding IP where it is a switch, and a veth pair per link, up.
/// Port addresses follow from the fabric: the first port of a node has its chassis ID.
[[nodiscard]] Result<void> make(const Place& place, const Fabric& fabric);

/// Removes the namespaces, agents and files of a manifest, and the manifest last. What is gone
/// already is no error; nothing else is touched.
[[nodiscard]] Result<void> remove(const Place& place, const Manifest& manifest);

}  // namespace lldp::lab::live
