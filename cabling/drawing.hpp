// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace lldp::cabling {

/// Attributes of a node or a link, as text. They are few, and so stand in a list.
class Attributes {
 public:
  [[nodiscard]] const std::string* find(std::string_view name) const;  ///< nullptr: not given
  void set(std::string_view name, std::string value);                  ///< in place of a former one
  void reserve(std::size_t attributes) { all_.reserve(attributes); }

 private:
  std::vector<std::pair<std::string, std::string>> all_{};
};

struct Node {
  std::string name{};
  Attributes attributes{};
};

struct End {
  std::size_t node = 0;  ///< index into Drawing::nodes
  std::string port{};
  std::string layer{};  ///< as the lab's JSON has it; empty: none
  std::string order{};  ///< the same
  /// Other names that the port is heard by: its alias, its MAC address. As the lab's JSON has them.
  std::vector<std::string> aliases{};
  bool unnamed = false;  ///< the file names no port here: `port` is made up
};

struct Link {
  std::array<End, 2> ends{};
  Attributes attributes{};
  std::size_t line = 0;   ///< in a DOT file or a table; 0: not known
  std::size_t entry = 0;  ///< in `links` of a JSON file
};

/// Which port is to be connected with which, as a file draws it. The reader of the value checks
/// what the attributes mean and whether the whole makes sense.
struct Drawing {
  std::string name{};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  /// What was left out or filled in, and why: `line 7: no source port: left out`.
  std::vector<std::string> notes{};
};

/// The notes as a log takes them: the first ten, and how many more there are.
[[nodiscard]] std::vector<std::string> first_notes(const Drawing& drawing);

/// How a file's reader finds a link in it: `line 7`, or `links[3]` where lines are not known.
[[nodiscard]] std::string place_of(const Link& link);

/// Graphviz as the Prescriptive Topology Manager (PTM) takes it: `"leaf1":"swp1" --
/// "spine1":"swp3"`. Graph and digraph files: node and edge statements, chains of edges, defaults
/// by `node [..]` and `edge [..]`, subgraphs (their defaults end with them, else as if their
/// statements stood outside), comments.
/// Every link names a port at both ends; `left_mac` and `right_mac` are aliases of these. Errors
/// name the line.
[[nodiscard]] Result<Drawing> read_dot(std::string_view text);

/// networkx node-link JSON, as `lldp-level-lab topo` writes it. Nodes: id. Links (or `edges`):
/// source, target, and `ports`, which maps the two nodes' names to their ports; `layers` and
/// `orders` may do the same, for networkx exchanges source and target of an undirected link as it
/// likes. `aliases` has lists of names instead. Where a link joins a node to itself, each of these
/// has a list of two, one for each end. Names of nodes are unique. A link without `ports`, as plain
/// networkx writes it, gets port names after its neighbors, and the drawing a note. Whatever else
/// is a string, a number or true or false is an attribute. Errors name the line, or the entry.
[[nodiscard]] Result<Drawing> read_json(std::string_view text);

/// A point-to-point list as planners keep it: a row for each cable (or for each of its ends), cells
/// separated by commas, semicolons or tabs, quotes as in RFC 4180. The first row names the columns:
/// source, source port, destination, destination port, or one of the names that are in use for
/// them; any other column is an attribute. A row that is no cable, or whose port has another cable
/// already, is left out with a note.
[[nodiscard]] Result<Drawing> read_csv(std::string_view text);
[[nodiscard]] bool looks_like_csv(std::string_view text);

/// One of the three, by the beginning of the text; a byte order mark is passed over.
[[nodiscard]] Result<Drawing> read(std::string_view text);
/// The same of a plan of cables: of two links at one port the first counts, the other is left out
/// with a note. A link that is drawn twice is one.
[[nodiscard]] Result<Drawing> read_plan(std::string_view text);

}  // namespace lldp::cabling
