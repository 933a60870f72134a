// SPDX-License-Identifier: Apache-2.0
// sample_paths FABRIC K PRIORITIES PAIRS SEED: the K shortest paths of some pairs of switches,
// drawn at random, that fit so many lossless priorities; as JSON the names of each pair, the
// lengths of its paths, and the processor time that one thread took for them. For
// bench/beside/paths.py.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lab/des/random.hpp"
#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/files.hpp"

namespace lldp::lab {
namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int run(const Fabric& fabric, const PathChoice& choice, std::size_t pairs) {
  const Graph graph = Graph::of(fabric);
  std::vector<std::uint32_t> switches;
  for (std::uint32_t n = 0; n < fabric.nodes.size(); ++n)
    if (fabric.nodes[n].role == Role::kSwitch) switches.push_back(n);
  if (switches.size() < 2) return 1;
  Random random(choice.seed);
  std::vector<Demand> demands;
  while (demands.size() < pairs) {
    const std::uint32_t a = switches[random.below(switches.size())];
    const std::uint32_t b = switches[random.below(switches.size())];
    if (a != b) demands.push_back({a, {b}});
  }
  const double begin = processor_seconds();
  const auto paths = shortest_paths(graph, demands, choice, 1);
  const double took = processor_seconds() - begin;
  nlohmann::json out{{"seconds", took}, {"pairs", nlohmann::json::array()}};
  for (const SourcePaths& p : paths)
    out["pairs"].push_back({{"from", fabric.nodes[p.source].name},
                            {"to", fabric.nodes[p.targets[0]].name},
                            {"hops", p.hops}});
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace
}  // namespace lldp::lab

int main(int argc, char** argv) {
  using namespace lldp::lab;
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  if (argc != 6 || number(3) == 0) {
    fmt::print(stderr, "sample_paths FABRIC K PRIORITIES PAIRS SEED\n");
    return 2;
  }
  const auto fabric = load_fabric(argv[1]);
  if (!fabric) {
    fmt::print(stderr, "sample_paths: {}\n", lldp::to_string(fabric.error()));
    return 1;
  }
  return run(*fabric, {.paths = number(2), .max_turns = number(3) - 1, .seed = number(5)},
             number(4));
}
