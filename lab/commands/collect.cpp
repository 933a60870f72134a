// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/collect/cables.hpp"
#include "lab/collect/exports.hpp"
#include "lab/collect/rails.hpp"
#include "lab/collect/report.hpp"
#include "lab/collect/sources.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/progress.hpp"
#include "lab/topology/dot.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/json.hpp"
#include "os/file.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kCollectUsage =
    "collect [SOURCE...] [--ssh HOSTS] [OPTION...]\n"
    "Makes one fabric of what its switches tell: files or directories of the outputs\n"
    "of `lldp-level show --json` (and `rules --json`), of lldpcli's `show neighbors\n"
    "-f json0` (and `show chassis`), SONiC's APPL_DB or `show lldp table`.\n"
    "Exit status 0: nothing is missing and all agree; 1: there are problems.\n";

constexpr std::string_view kRemoteCommand =
    "lldp-level show detail --json && lldp-level rules --json";

void append(collect::DeviceFacts& to, collect::DeviceFacts from) {
  std::move(from.devices.begin(), from.devices.end(), std::back_inserter(to.devices));
  std::move(from.findings.begin(), from.findings.end(), std::back_inserter(to.findings));
}

Result<cabling::Drawing> read_plan(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  auto plan = cabling::read_plan(*text);
  if (!plan) return fail(Error{0, path, to_string(plan.error())});
  return plan;
}

/// The report with one more member.
std::string with_member(const std::string& report, std::string_view name, std::string object) {
  const std::size_t end = report.rfind('}');
  object.erase(object.find_last_not_of('\n') + 1);
  return fmt::format("{},\n  \"{}\": {}\n}}\n",
                     report.substr(0, report.find_last_not_of(" \n", end - 1) + 1), name, object);
}

/// As `--rails` has it; nothing: by the majority.
Result<std::optional<cabling::RailDesign>> design_from(const std::string& text) {
  using cabling::RailDesign;
  if (text == "auto") return std::optional<RailDesign>();
  for (const RailDesign d :
       {RailDesign::kSameLeaf, RailDesign::kDistinctLeaf, RailDesign::kPortNumber})
    if (text == to_string(d)) return std::optional(d);
  return fail(Error{0, "--rails " + escape(text),
                    "is none of auto, same-leaf, distinct-leaf, port-number"});
}

}  // namespace

int run_collect(const Arguments& arguments) {
  std::string output;
  std::string slurm;
  std::string slurm_form;
  std::string topograph;
  std::string hypernode;
  std::string labels;
  std::string expect;
  std::string rails;
  std::string ssh;
  std::string hosts;
  std::string switches;
  std::string ignored;
  collect::SshSettings remote;
  collect::Hints hints;
  double timeout = remote.timeout.count();
  bool json = false;
  po::options_description options("Options");
  options.add_options()("output,o", po::value(&output)->value_name("FILE"),
                        "write the fabric to FILE instead of standard output; FILE.dot: as DOT; "
                        "FILE.svg: as a picture, what is in doubt set off")(
      "ssh", po::value(&ssh)->value_name("HOSTS"),
      "ask HOST,HOST... or @FILE by ssh, without passwords")(
      "command",
      po::value(&remote.command)
          ->value_name("C")
          ->default_value(std::string(kRemoteCommand), "both"),
      "run there instead of lldp-level's show and rules")(
      "timeout", number(&timeout, 1e-3, 86400.0)->value_name("S")->default_value(timeout),
      "for every host's answer")(
      "at-once",
      number<std::size_t>(&remote.at_once, 1, 1000)->value_name("N")->default_value(remote.at_once),
      "ask so many hosts at once")("slurm", po::value(&slurm)->value_name("FILE"),
                                   "write Slurm's topology.conf")(
      "slurm-form", po::value(&slurm_form)->value_name("F")->default_value("tree"),
      "tree (topology/tree) or block (topology/block)")(
      "topograph", po::value(&topograph)->value_name("FILE"), "write topograph's model")(
      "hypernode", po::value(&hypernode)->value_name("FILE"), "write Volcano's HyperNodes")(
      "expect", po::value(&expect)->value_name("PLAN"),
      "hold the cables against a plan: DOT, node-link JSON or CSV")(
      "rails", po::value(&rails)->value_name("D"),
      "hold the NICs of hosts against auto (what most hosts do), same-leaf, distinct-leaf or "
      "port-number")("labels", po::value(&labels)->value_name("FILE"),
                     "write Kubernetes labels, as commands")(
      "hosts", po::value(&hosts)->value_name("GLOB,..."),
      "devices of these names are hosts, whatever they say")(
      "switches", po::value(&switches)->value_name("GLOB,..."), "and these are switches")(
      "ignore-ports", po::value(&ignored)->value_name("GLOB,..."),
      "local ports that are no part of the fabric")(
      "name", po::value(&hints.name)->value_name("NAME")->default_value("collected"),
      "of the fabric")("json", po::bool_switch(&json), "report as JSON");
  std::vector<std::string> words;
  if (!parse(options, kCollectUsage, arguments, words)) return kDone;
  if (words.empty() && ssh.empty())
    return complain_usage("collect", "name files, directories or --ssh HOSTS");
  if (slurm_form != "tree" && slurm_form != "block")
    return complain_usage("collect", "--slurm-form " + escape(slurm_form) + ": tree or block");
  std::optional<cabling::RailDesign> design;
  if (!rails.empty()) {
    const auto read = design_from(rails);
    if (!read) return complain_usage("collect", to_string(read.error()));
    design = *read;
  }
  remote.timeout = std::chrono::duration<double>(timeout);
  hints.hosts = split_list(hosts);
  hints.switches = split_list(switches);
  hints.ignored_ports = split_list(ignored);

  collect::DeviceFacts told;
  {
    ProgressBar bar("collect");
    const auto show = [&](std::size_t done, std::size_t total) {
      bar.show(static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, total)),
               fmt::format("{} of {}", done, total));
    };
    if (!words.empty()) append(told, collect::read_files(words, show));
    if (!ssh.empty()) {
      const auto far = collect::hosts_from(ssh);
      if (!far) return complain_usage("collect", to_string(far.error()));
      append(told, collect::read_hosts(*far, remote, show));
    }
  }
  auto assembled = collect::assemble(told.devices, hints);
  if (!assembled) return complain("collect", assembled.error());
  collect::Collection& collection = *assembled;
  collection.findings.insert(collection.findings.begin(), told.findings.begin(),
                             told.findings.end());
  std::string report = json ? to_json(collection) : to_text(collection);
  Marks marks = marks_of(collection);
  std::optional<collect::CableCheck> cables;
  if (!expect.empty()) {
    const auto plan = read_plan(expect);
    if (!plan) return complain("collect", plan.error());
    auto checked = collect::check_cables(*plan, told.devices);
    if (checked)
      for (std::string& note : checked->notes) note = fmt::format("{}: {}", escape(expect), note);
    if (!checked) return complain("collect", Error{0, expect, to_string(checked.error())});
    cables = std::move(*checked);
    report = json ? with_member(report, "cables", to_json(*cables)) : report + to_table(*cables);
    add_marks(*cables, collection.fabric, marks);
  }
  bool railed = true;
  if (!rails.empty()) {
    const auto checked = collect::check_rails(collection.fabric, told.devices, design);
    report = json ? with_member(report, "rails", to_json(checked)) : report + to_table(checked);
    add_marks(checked, collection.fabric, marks);
    railed = checked.is_right();
  }
  // Where the fabric goes to standard output, what is said about it must not.
  fmt::print(output.empty() || output == "-" ? stderr : stdout, "{}", report);
  if (told.devices.empty()) return kUsage;
  const Fabric& fabric = collection.fabric;
  auto saved = save_text(output, output.ends_with(".svg")   ? fabric_picture(fabric, marks)
                                 : output.ends_with(".dot") ? to_dot(fabric)
                                                            : to_json(fabric));
  if (saved && !slurm.empty())
    saved = save_text(slurm,
                      collect::to_slurm(fabric, slurm_form == "block" ? collect::SlurmForm::kBlock
                                                                      : collect::SlurmForm::kTree));
  if (saved && !topograph.empty()) saved = save_text(topograph, collect::to_topograph(fabric));
  if (saved && !hypernode.empty()) saved = save_text(hypernode, collect::to_hypernodes(fabric));
  if (saved && !labels.empty()) saved = save_text(labels, collect::to_labels(fabric));
  if (!saved) return complain("collect", saved.error());
  return collection.has_problems() || (cables && !cables->is_right()) || !railed ? kFailed : kDone;
}

}  // namespace lldp::lab
