// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/topology/expanders.hpp"
#include "sim/papers/finding.hpp"

/// What "FC+: Near-optimal Deadlock-free Expander Data Center Networks" publishes, done again.
namespace lldp::lab::fcplus_paper {

/// A fabric and its routing: the row of a table, a point of a curve.
struct Row {
  std::size_t switches = 0;
  std::size_t s = 0;  ///< ports of a switch to other switches
  std::size_t k = 0;  ///< layers
  std::size_t v = 0;  ///< virtual switches; 0 where there are none
  std::string scheme{};
};

/// One value of a table or a figure.
struct TableCell {
  int table = 0;  ///< or a figure
  int figure = 0;
  Row row{};
  std::string metric{};
  double ours = 0;
  std::optional<Published> published{};
  std::optional<Statement> statement{};
};

struct FcplusOptions {
  std::optional<int> table{};
  std::optional<int> figure{};            ///< neither: all
  std::optional<std::size_t> switches{};  ///< instead of the paper's
  bool quick = false;                     ///< fewer and smaller fabrics, samples of the pairs
  std::uint64_t seed = 1;
  std::size_t threads = 1;
};

/// FC's links between layers. The paper's first set of networks, of 18 ports to others, has
/// fc_degrees(): Tables I and VI come out with them. Of the second set, of 22 ports, the paper
/// prints neither the layers nor the links between them. These were chosen by Table VII, which
/// therefore is no test of them: Table VIII and Figure 6 are.
[[nodiscard]] Result<std::vector<std::size_t>> fc_layers(const ExpanderShape& shape);
inline constexpr std::size_t kSecondSet = 22;

inline constexpr int kTables = 8;
inline constexpr int kFirstFigure = 3;
inline constexpr int kLastFigure = 6;

/// How far it is: what is done now, and how much of all.
using Progress = std::function<void(const std::string& now, std::size_t done, std::size_t total)>;

/// Calls `found` with every cell as soon as there is one. What a size does not allow is left out,
/// and said to `refused`.
void reproduce(const FcplusOptions& options, const std::function<void(const TableCell&)>& found,
               const std::function<void(const std::string&)>& refused, const Progress& tell);

/// Completion times of flows in the five set-ups of Table VIII, by packets: the paper's are in a
/// unit that it does not state, for flows of a size that it does not state, so what is compared is
/// the factor over FC+ (2L-32), and the order.
void reproduce_fct(const FcplusOptions& options, const std::function<void(const TableCell&)>& found,
                   const Progress& tell);

/// `Table III`, `Figure 4`.
[[nodiscard]] std::string place_of(const TableCell& cell);
[[nodiscard]] Finding finding_of(const TableCell& cell);
/// The figures as curves.
[[nodiscard]] std::vector<PaperFigure> drawings_of(const std::vector<TableCell>& cells);

}  // namespace lldp::lab::fcplus_paper
