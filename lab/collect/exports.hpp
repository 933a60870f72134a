// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/topology/fabric.hpp"

/// A fabric for schedulers: where a host stands in it.
namespace lldp::lab::collect {

/// Slurm's topology.conf. A tree has one way up, so switches that share what is below them stand
/// together as one group: leaves with common hosts, the aggregation switches of a pod, the spines.
/// Such a group has the name of its first member, the others are in a comment. Hosts by their short
/// names, as Slurm has them; names that its files cannot hold are left out, in a comment.
enum class SlurmForm {
  kTree,   ///< topology/tree: a line for each group
  kBlock,  ///< topology/block: a block for each group of leaves, BlockSizes of the smallest
};
[[nodiscard]] std::string to_slurm(const Fabric& fabric, SlurmForm form = SlurmForm::kTree);

/// The model of NVIDIA topograph (YAML: `switches` and `blocks`), of the same groups.
[[nodiscard]] std::string to_topograph(const Fabric& fabric);

/// HyperNodes of Volcano (YAML, topology.volcano.sh/v1alpha1), of the same groups; tier 1 is the
/// group of leaves. Names are in lower case, as Kubernetes has them.
[[nodiscard]] std::string to_hypernodes(const Fabric& fabric);

/// Kubernetes labels, as `kubectl label` commands: fabric.lldp-level/tier-1 is the host's leaf (or
/// group of leaves, as above), tier-2 its pod, and so on; topology.kubernetes.io's own are left
/// alone.
[[nodiscard]] std::string to_labels(const Fabric& fabric);

}  // namespace lldp::lab::collect
