// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/fabric_picture.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/hints.hpp"
#include "qos/proof.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kProveUsage =
    "prove FABRIC [OPTION...]\n"
    "Searches the dependencies between the buffers of a fabric, for any routing and\n"
    "any set of failures. Exit status 0: it cannot deadlock; 1: there is a cycle,\n"
    "and a shortest one is shown; 3: no verdict, for the levels are not known.\n";

/// Everything that the output tells.
struct Report {
  Fabric fabric{};
  SwitchGraph graph{};
  std::string rules{};
  bool stay_in_last = false;
  qos::Policy policy{};
  std::size_t channels = 0;  ///< virtual channels that the classes share; 0: each has its priority
  qos::Policy proved{};      ///< a class for each channel; else `policy`
  qos::Proof proof{};

  /// By the virtual channel, or the priority, whose buffer it is.
  [[nodiscard]] std::size_t lane_of(const qos::Buffer& b) const {
    if (channels == 0) return b.cls.priority.value();
    const auto classes = proved.classes();
    return static_cast<std::size_t>(
        std::find_if(classes.begin(), classes.end(),
                     [&](const auto& c) { return c.priority == b.cls.priority; }) -
        classes.begin());
  }
  [[nodiscard]] std::string_view lane() const { return channels == 0 ? "priority" : "channel"; }

  /// Hosts that relay: by the rules of levels and layers nothing changes its class there.
  [[nodiscard]] auto relaying_hosts() const {
    return std::count_if(fabric.nodes.begin(), fabric.nodes.end(),
                         [](const Node& n) { return n.role == Role::kHost && n.relays; });
  }
};

/// Whether the switches' own orders are known, of some ports at least.
bool has_orders(const Fabric& fabric) {
  return std::any_of(fabric.links.begin(), fabric.links.end(),
                     [](const Link& l) { return l.ends[0].order || l.ends[1].order; });
}

/// The port by which packets leave for a buffer, or come to it.
const std::string& port_of(const Report& r, const qos::Buffer& b, bool to) {
  const Link& link = r.fabric.links[r.graph.links[b.link]];
  const bool forth = r.graph.forwarding.links[b.link].a == b.from;
  return link.ends[forth == to ? 1 : 0].port;
}

/// The fabric, with the cycle set off.
std::string to_svg(const Report& r) {
  Marks marks;
  for (const qos::Buffer& b : r.proof.cycle)
    marks.cycle.push_back(
        {r.graph.links[b.link], r.graph.forwarding.links[b.link].a == b.from ? std::size_t{0} : 1});
  return fabric_picture(r.fabric, marks);
}

std::string to_json(const Report& r) {
  using Json = nlohmann::ordered_json;
  Json lossless = Json::array();
  for (const qos::Class& c : r.policy.lossless()) lossless.push_back(qos::to_string(c));
  Json chains = Json::array();
  for (const qos::Chain& chain : r.policy.chains()) chains.push_back(qos::to_string(chain));
  Json cycle = Json::array();
  const auto& names = r.graph.forwarding.switches;
  for (const qos::Buffer& b : r.proof.cycle)
    cycle.push_back({{"from", escape(names[b.from])},
                     {"from_port", escape(port_of(r, b, false))},
                     {"to", escape(names[b.to])},
                     {"to_port", escape(port_of(r, b, true))},
                     {std::string(r.lane()), r.lane_of(b)}});
  Json report = {{"version", 1},
                 {"fabric", escape(r.fabric.name)},
                 {"switches", names.size()},
                 {"relaying_hosts", r.relaying_hosts()},
                 {"links", r.graph.links.size()},
                 {"rules", r.rules},
                 {"stay_in_last", r.stay_in_last},
                 {"lossless", std::move(lossless)},
                 {"chains", std::move(chains)},
                 {"lossy", r.policy.lossy_text()},
                 {"buffers", r.proof.buffers},
                 {"dependencies", r.proof.dependencies},
                 {"deadlock_free", r.proof.deadlock_free()},
                 {"cycle", std::move(cycle)}};
  if (r.channels != 0) report["channels"] = r.channels;
  return report.dump(2) + "\n";
}

void print_text(const Report& r) {
  const auto& names = r.graph.forwarding.switches;
  fmt::print(
      "{} switches, {} links between them; rules {}{}, lossless {}{}\n", names.size(),
      r.graph.links.size(), r.rules, r.stay_in_last ? " (staying in the last class)" : "",
      r.policy.lossless_text(),
      r.channels == 0 ? "" : fmt::format(" in {}", count_text(r.channels, "virtual channel")));
  const bool by_agents = r.rules == "down-up" || r.rules == "spans";
  if (const auto hosts = r.relaying_hosts(); by_agents && hosts > 0)
    fmt::print(
        "{} of them are hosts that relay: an agent in the role of a host has no rules for what\n"
        "passes through. To be protected they have to run as switches, with levels that are set.\n",
        hosts);
  fmt::print("{} buffers, {} dependencies: ", r.proof.buffers, r.proof.dependencies);
  if (r.proof.deadlock_free()) {
    fmt::print(
        "no cycle\n"
        "Deadlock-free for every routing and every set of failures, as long as every switch has\n"
        "these rules and the order of its ports stays as it is here (levels outlive failures).\n");
    return;
  }
  fmt::print("a cycle of {}\n", r.proof.cycle.size());
  if (r.channels == 0) fmt::print("  {}\n", qos::to_string(r.proof.cycle, r.graph.forwarding));
  for (const qos::Buffer& b : r.proof.cycle)
    fmt::print("  {}:{} -> {}:{}  {} {}\n", escape(names[b.from]), escape(port_of(r, b, false)),
               escape(names[b.to]), escape(port_of(r, b, true)), r.lane(), r.lane_of(b));
  fmt::print(
      "What arrives by each line can wait for room in the next one, and by the last for the\n"
      "first.\n");
}

/// Credits hold up all classes of a virtual channel together, so a channel is what can be in a
/// cycle. The last one is shared by all classes beyond (as SAI maps them, and `sim` does): a packet
/// that turns into another class of it stays in its buffer.
Result<qos::OnTurn> share_channels(Report& report) {
  const std::size_t classes = report.policy.classes().size();
  if (report.channels == 0) report.channels = classes;
  if (report.channels > classes)
    return fail(
        Error{0, "--channels",
              fmt::format("there are {} lossless classes, so no class uses the last: give 1 "
                          "to {}",
                          classes, classes)});
  report.proved = report.policy;
  if (report.channels == classes) return qos::OnTurn::kChangesClass;
  if (report.policy.chains().size() > 1)
    return fail(
        Error{0, "--channels",
              fmt::format("classes of several chains do not share a channel: give {}", classes)});
  report.proved = qos::Policy::with_lossless(report.channels);
  return qos::OnTurn::kStaysInLastClass;
}

}  // namespace

int run_prove(const Arguments& arguments) {
  Report report;
  std::size_t lossless = 0;
  std::string chains;
  std::string lossy;
  std::string output;
  std::string classes;
  Hints hints;
  po::options_description options("Options");
  options.add_options()("rules", po::value(&report.rules)->value_name("R"),
                        "none: a packet keeps its class; down-up: by levels, as shipped; spans: by "
                        "the layers of the links; as-set: by the orders that the file's switches "
                        "have now. Without it as-set if the file has any, spans if its links have "
                        "layers, else down-up")(
      "lossless", number<std::size_t>(&lossless, 1, 7)->value_name("N")->default_value(2),
      "number of lossless classes, 1 to 7")(
      "qos.lossless", po::value(&chains)->value_name("CHAINS"),
      "lossless classes instead, or a preset (lldp-level.conf(5))")(
      "qos.lossy",
      po::value(&lossy)->value_name("P:dscpN")->default_value(
          std::string(qos::Policy::kDefaultLossy)),
      "the class after the last")(
      "stay-in-last", po::bool_switch(&report.stay_in_last),
      "for study: a turn in the last lossless class stays there instead of going lossy")(
      "classes", po::value(&classes)->value_name("C")->default_value("priority"),
      "what has a buffer: priority, under PFC; vc: virtual channels, under credits")(
      "channels", number<std::size_t>(&report.channels, 1, 7)->value_name("N"),
      "vc: how many there are; without it one for each lossless class")(
      "hosts", po::value(&hints.hosts)->value_name("GLOB"),
      "nodes with such names are hosts; can be repeated")(
      "level", po::value(&hints.levels)->value_name("NODE=N"),
      "the switch stands on level N; NODE may be a glob; can be repeated")("json", "print JSON")(
      "output,o", po::value(&output)->value_name("FILE"),
      "the fabric as a picture, a cycle set off, to FILE.svg, or the JSON "
      "to FILE");
  std::vector<std::string> words;
  const auto values = parse(options, kProveUsage, arguments, words);
  if (!values) return kDone;
  if (words.size() != 1) return complain_usage("prove", "name one fabric file");
  if (!chains.empty() && !(*values)["lossless"].defaulted())
    return complain_usage("prove", "--lossless: --qos.lossless names the classes already");
  auto policy = qos::Policy::parse(
      chains.empty() ? qos::Policy::with_lossless(lossless).lossless_text() : chains, lossy);
  if (!policy) return complain_usage("prove", "--" + to_string(policy.error()));
  constexpr std::string_view kRules[] = {"", "none", "down-up", "spans", "as-set"};
  if (std::find(std::begin(kRules), std::end(kRules), report.rules) == std::end(kRules))
    return complain_usage(
        "prove",
        fmt::format("--rules: `{}` is not none, down-up, spans or as-set", escape(report.rules)));
  if (report.stay_in_last && report.rules == "none")
    return complain_usage("prove", "--stay-in-last: there is no turn with --rules none");

  const bool by_channel = classes == "vc";
  if (!by_channel && classes != "priority")
    return complain_usage("prove",
                          fmt::format("--classes: `{}` is not priority or vc", escape(classes)));
  if (!by_channel && report.channels != 0)
    return complain_usage("prove", "--channels: only with --classes vc");
  if (by_channel && report.stay_in_last)
    return complain_usage("prove", "--stay-in-last: not with --classes vc");

  auto fabric = load_fabric(words[0]);
  if (!fabric) return complain("prove", fabric.error());
  auto hinted = with_hints(std::move(*fabric), hints);
  if (!hinted) return complain_usage("prove", to_string(hinted.error()));
  report.fabric = std::move(*hinted);
  if (report.rules.empty())
    report.rules = has_orders(report.fabric)   ? "as-set"
                   : has_layers(report.fabric) ? "spans"
                                               : "down-up";
  auto graph = switch_graph(report.fabric, report.rules == "spans"    ? Span::kLayers
                                           : report.rules == "as-set" ? Span::kAsSet
                                                                      : Span::kLevels);
  if (!graph) return complain("prove", graph.error());
  report.graph = std::move(*graph);
  if (report.graph.links.empty() && report.graph.forwarding.switches.size() > 1 &&
      !report.fabric.links.empty())
    return complain("prove", {0, words[0],
                              fmt::format("{} switches and no link between them: a file that "
                                          "leaves links out, or takes switches for hosts?",
                                          report.graph.forwarding.switches.size())});
  if (report.graph.forwarding.switches.empty() || report.fabric.links.empty())
    return complain("prove", {0, words[0],
                              report.fabric.links.empty()
                                  ? "a fabric without links: there is nothing to prove"
                                  : "a fabric without switches: there is nothing to prove"});
  if (const auto why = why_no_levels(report.fabric); why && report.rules == "down-up")
    return no_verdict("prove", words[0], *why, values->count("json") != 0);
  report.proved = report.policy = std::move(*policy);
  auto on_turn = report.stay_in_last ? qos::OnTurn::kStaysInLastClass : qos::OnTurn::kChangesClass;
  if (by_channel) {
    const auto shared = share_channels(report);
    if (!shared) return complain_usage("prove", to_string(shared.error()));
    on_turn = *shared;
  }
  if (report.rules == "none") on_turn = qos::OnTurn::kStays;
  report.proof = prove(report.graph.forwarding, report.proved, on_turn);
  if (values->count("json") != 0)
    fmt::print("{}", to_json(report));
  else
    print_text(report);
  if (!output.empty())
    if (const auto saved =
            save_text(output, output.ends_with(".svg") ? to_svg(report) : to_json(report));
        !saved)
      return complain("prove", saved.error());
  return report.proof.deadlock_free() ? kDone : kFailed;
}

}  // namespace lldp::lab
