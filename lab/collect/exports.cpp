// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/exports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "base/text.hpp"

namespace lldp::lab::collect {
namespace {

constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

/// Letters, digits and what may stand between them; the same for Slurm's node names and for the
/// values of labels.
bool is_plain(const std::string& name) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && name.size() <= 63 && letter(name.front()) && letter(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '_' || c == '.'; });
}

/// Switches that share what is below them, as one.
struct Group {
  std::size_t tier = 1;
  std::vector<std::size_t> members{};
  std::string name{};
  std::size_t above = kNoGroup;  ///< a group
  std::vector<std::size_t> below{};
  std::vector<std::size_t> hosts{};
};

class Disjoint {
 public:
  explicit Disjoint(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

class Tree {
 public:
  explicit Tree(const Fabric& fabric) : fabric_(fabric), group_of_(fabric.nodes.size(), kNoGroup) {
    std::size_t top = 0;
    for (const Node& n : fabric.nodes)
      if (n.role == Role::kSwitch && n.level) top = std::max<std::size_t>(top, n.level->value());
    Disjoint joined(fabric.nodes.size());
    for (const Link& l : fabric.links)  // hosts join their leaves
      if (level(l.ends[0].node) <= 1 && level(l.ends[1].node) <= 1)
        joined.join(l.ends[0].node, l.ends[1].node);
    for (std::size_t tier = 1; tier <= top; ++tier) {
      if (tier > 1)
        for (const Link& l : fabric.links)
          if (std::max(level(l.ends[0].node), level(l.ends[1].node)) == tier)
            joined.join(l.ends[0].node, l.ends[1].node);
      make_groups(tier, joined);
    }
    attach_hosts();
    name_groups();
  }

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  /// Switches without a level stand beyond all others.
  [[nodiscard]] std::size_t level(std::size_t node) const {
    const Node& n = fabric_.nodes[node];
    return n.role == Role::kHost ? 0 : n.level ? n.level->value() : 255;
  }

  void make_groups(std::size_t tier, Disjoint& joined) {
    std::map<std::size_t, std::size_t> by_root;
    for (std::size_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (level(n) != tier) continue;
      const auto [it, fresh] = by_root.emplace(joined.find(n), groups_.size());
      if (fresh) groups_.push_back({.tier = tier});
      groups_[it->second].members.push_back(n);
      group_of_[n] = it->second;
    }
    // A group of a lower tier that has no parent yet and is joined to one of these is below it.
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].tier >= tier || groups_[g].above != kNoGroup) continue;
      const auto it = by_root.find(joined.find(groups_[g].members.front()));
      if (it == by_root.end()) continue;
      groups_[g].above = it->second;
      groups_[it->second].below.push_back(g);
    }
  }

  void attach_hosts() {
    std::set<std::size_t> placed;
    for (const Link& l : fabric_.links)
      for (std::size_t e = 0; e < 2; ++e) {
        const std::size_t host = l.ends[e].node;
        const std::size_t group = group_of_[l.ends[1 - e].node];
        if (level(host) != 0 || group == kNoGroup || !placed.insert(host).second) continue;
        groups_[group].hosts.push_back(host);
      }
  }

  /// After its first member by name; where another group is called so, or that may not be a name,
  /// as nothing else is called.
  void name_groups() {
    std::set<std::string> taken;
    std::set<std::string> members;
    for (const Node& n : fabric_.nodes) members.insert(n.name);
    for (Group& g : groups_) {
      std::sort(g.members.begin(), g.members.end(), [&](std::size_t a, std::size_t b) {
        return fabric_.nodes[a].name < fabric_.nodes[b].name;
      });
      const std::string& first = fabric_.nodes[g.members.front()].name;
      g.name = first;
      if (is_plain(first) && taken.insert(first).second) continue;
      std::size_t number = taken.size();
      do g.name = fmt::format("tier{}-{}", g.tier, number++);
      while (members.contains(g.name) || !taken.insert(g.name).second);
    }
  }

  const Fabric& fabric_;
  std::vector<Group> groups_{};
  std::vector<std::size_t> group_of_;
};

/// Short names where they are one host's, else the whole; empty: the name is not plain.
std::vector<std::string> host_names(const Fabric& fabric) {
  const auto brief = [](const std::string& name) { return name.substr(0, name.find('.')); };
  std::unordered_map<std::string, std::size_t> uses;
  for (const Node& n : fabric.nodes)
    if (n.role == Role::kHost) ++uses[brief(n.name)];
  std::vector<std::string> names;
  for (const Node& n : fabric.nodes) {
    std::string name = n.role == Role::kHost && uses[brief(n.name)] == 1 ? brief(n.name) : n.name;
    names.push_back(is_plain(name) ? std::move(name) : std::string());
  }
  return names;
}

std::string left_out(const Fabric& fabric, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t n = 0; n < names.size(); ++n)
    if (fabric.nodes[n].role == Role::kHost && names[n].empty())
      out += fmt::format("# left out for its name: {}\n", escape(fabric.nodes[n].name));
  return out;
}

using Words = std::vector<std::string>;

/// A group with something below it that has a plain name.
struct Row {
  const Group* group;
  Words nodes;  ///< its hosts
  Words below;  ///< names of groups, each of which has a row before this one
};

/// The rows of a fabric, from the leaves up.
struct Export {
  explicit Export(const Fabric& of) : fabric(of), tree(of), names(host_names(of)) {
    std::vector<bool> has_row;
    for (const Group& g : tree.groups()) {
      Row row{&g, {}, {}};
      for (const std::size_t h : g.hosts)
        if (!names[h].empty()) row.nodes.push_back(names[h]);
      for (const std::size_t b : g.below)
        if (has_row[b]) row.below.push_back(tree.groups()[b].name);
      std::sort(row.nodes.begin(), row.nodes.end());
      std::sort(row.below.begin(), row.below.end());
      // Schedulers refuse a switch with nothing below, and one that is named nowhere else.
      has_row.push_back(!row.nodes.empty() || !row.below.empty());
      if (has_row.back()) rows.push_back(std::move(row));
    }
  }
  /// A comment with the members of a group of several.
  [[nodiscard]] std::string members(const Row& row, const char* indent = "") const {
    if (row.group->members.size() < 2) return "";
    Words list;
    for (const std::size_t m : row.group->members) list.push_back(escape(fabric.nodes[m].name));
    return fmt::format("{}# {}: {}\n", indent, row.group->name, fmt::join(list, ", "));
  }

  const Fabric& fabric;
  Tree tree;
  Words names;
  std::vector<Row> rows{};
};

/// A YAML list: each name between quotation marks, so that none is read as a number or as `no`.
std::string quoted(const Words& names) {
  return names.empty() ? "" : fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

std::string as_kubernetes(std::string name) {
  for (char& c : name)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::string to_slurm(const Fabric& fabric, SlurmForm form) {
  const Export all(fabric);
  const bool tree = form == SlurmForm::kTree;
  std::string out =
      fmt::format("# topology.conf of Slurm's topology/{}, by lldp-level-lab collect\n",
                  tree ? "tree" : "block");
  std::size_t smallest = 0;
  for (const Row& row : all.rows) {
    if (!tree && row.nodes.empty()) continue;
    out += all.members(row);
    out += fmt::format(
        "{}={}{}{}{}{}\n", tree ? "SwitchName" : "BlockName", row.group->name,
        row.nodes.empty() ? "" : " Nodes=", fmt::join(row.nodes, ","),
        row.below.empty() || !tree ? "" : " Switches=", fmt::join(tree ? row.below : Words(), ","));
    smallest = smallest == 0 ? row.nodes.size() : std::min(smallest, row.nodes.size());
  }
  // Each block must have as many nodes as the first of these.
  if (!tree && smallest != 0) out += fmt::format("BlockSizes={}\n", smallest);
  return out + left_out(fabric, all.names);
}

std::string to_topograph(const Fabric& fabric) {
  const Export all(fabric);
  std::string switches;
  std::string blocks;
  for (const Row& row : all.rows) {
    switches += all.members(row, "  ");
    switches += fmt::format("  \"{}\":\n    switches: [{}]\n", row.group->name, quoted(row.below));
    if (!row.nodes.empty())
      blocks +=
          fmt::format("- switch: \"{}\"\n  nodes: [{}]\n", row.group->name, quoted(row.nodes));
  }
  return fmt::format(
      "# model of topograph, by lldp-level-lab collect\nswitches:{}\n{}blocks:{}\n{}{}",
      switches.empty() ? " {}" : "", switches, blocks.empty() ? " []" : "", blocks,
      left_out(fabric, all.names));
}

std::string to_hypernodes(const Fabric& fabric) {
  const Export all(fabric);
  std::map<std::string, std::string> name_of;  // of a group, as Kubernetes takes it
  std::set<std::string> taken;
  for (const Row& row : all.rows) {
    std::string name = as_kubernetes(row.group->name);
    for (std::size_t n = 0; !taken.insert(name).second; ++n)
      name = fmt::format("tier{}-{}", row.group->tier, n);
    name_of.emplace(row.group->name, std::move(name));
  }
  std::string out = "# HyperNodes of Volcano, by lldp-level-lab collect\n";
  for (const Row& row : all.rows) {
    out += "---\n" + all.members(row);
    out += fmt::format(
        "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata:\n  name: \"{}\"\n"
        "spec:\n  tier: {}\n  members:\n",
        name_of.at(row.group->name), row.group->tier);
    const auto member = [&out](const char* type, const std::string& name) {
      out += fmt::format("  - type: {}\n    selector:\n      exactMatch:\n        name: \"{}\"\n",
                         type, name);
    };
    for (const std::string& node : row.nodes) member("Node", as_kubernetes(node));
    for (const std::string& below : row.below) member("HyperNode", name_of.at(below));
  }
  return out + left_out(fabric, all.names);
}

std::string to_labels(const Fabric& fabric) {
  const Tree tree(fabric);
  const auto names = host_names(fabric);
  std::vector<std::string> lines;
  for (const Group& g : tree.groups())
    for (const std::size_t h : g.hosts) {
      if (names[h].empty()) continue;
      std::string line = fmt::format("kubectl label --overwrite node {}", names[h]);
      const Group* at = &g;
      for (;; at = &tree.groups()[at->above]) {
        line += fmt::format(" fabric.lldp-level/tier-{}={}", at->tier, at->name);
        if (at->above == kNoGroup) break;
      }
      lines.push_back(std::move(line));
    }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}\n{}", fmt::join(lines, "\n"), left_out(fabric, names));
}

}  // namespace lldp::lab::collect
