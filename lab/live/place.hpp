// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"
#include "os/fd.hpp"

namespace lldp::lab::live {

/// Where a lab lives: what it calls its namespaces and which directory holds its files. Labs of
/// different places run side by side.
struct FabricPlace {
  std::string prefix{};  ///< namespaces are PREFIX-NODE
  std::string dir{};     ///< absolute; the manifest, and a directory per node
  /// Root of the machine makes namespaces that everyone sees, and which outlive the program.
  /// Anyone else gets a user namespace: all of the lab is in one process tree and ends with it.
  bool own_tree = false;

  [[nodiscard]] std::string namespace_name(const std::string& node) const {
    return prefix + "-" + node;
  }
  [[nodiscard]] std::string namespace_path(const std::string& node) const {
    return "/run/netns/" + namespace_name(node);
  }
  /// All that an agent keeps, and whatever it makes beside it.
  [[nodiscard]] std::string node_dir(const std::string& node) const { return dir + "/" + node; }
  [[nodiscard]] std::string socket(const std::string& node) const {
    return node_dir(node) + "/control";
  }
  [[nodiscard]] std::string state_file(const std::string& node) const {
    return node_dir(node) + "/state";
  }
  [[nodiscard]] std::string log(const std::string& node) const { return node_dir(node) + "/log"; }
  /// Of the software switch of a lossless lab.
  [[nodiscard]] std::string switch_socket(const std::string& node) const {
    return node_dir(node) + "/switch";
  }
  [[nodiscard]] std::string switch_file(const std::string& node) const {
    return node_dir(node) + "/switch.json";
  }
  [[nodiscard]] std::string switch_log(const std::string& node) const {
    return node_dir(node) + "/switch.log";
  }
  [[nodiscard]] std::string manifest() const { return dir + "/manifest"; }
};

/// `dir` empty: lldp-level-lab/PREFIX below /run (root) or $XDG_RUNTIME_DIR, else /tmp.
[[nodiscard]] Result<FabricPlace> place_of(const std::string& prefix, const std::string& dir);

/// Refuses names that the kernel or a path would not take.
[[nodiscard]] Result<void> check_names(const FabricPlace& place, const Fabric& fabric);

/// What was made, and nothing else: `down` removes what stands here, whatever happened to the
/// program that made it.
struct Manifest {
  bool own_tree = false;
  std::vector<std::string> dirs{};   ///< nodes whose directory was made
  std::vector<std::string> nodes{};  ///< nodes whose namespace was made
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The manifest of a lab that is being made: a line for each thing once it is there.
class ManifestWriter {
 public:
  /// Makes the directory of the place too. Fails when there is a manifest already.
  [[nodiscard]] static Result<ManifestWriter> begin(const FabricPlace& place);

  /// Makes the node's directory; fails where something of that name stands already.
  [[nodiscard]] Result<void> make_dir(const std::string& node);
  /// That the node's namespace has been made.
  [[nodiscard]] Result<void> add_namespace(const std::string& node);
  [[nodiscard]] const Manifest& manifest() const { return manifest_; }

 private:
  [[nodiscard]] Result<void> append(const std::string& line);

  FabricPlace place_{};
  UniqueFd file_{};
  Manifest manifest_{};
};

/// Error code ENOENT: the lab is not up. Refuses that of a lab with another prefix.
[[nodiscard]] Result<Manifest> read_manifest(const FabricPlace& place);

}  // namespace lldp::lab::live
