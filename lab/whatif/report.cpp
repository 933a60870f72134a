// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/text.hpp"

namespace lldp::lab::whatif {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kNamed = 10;  ///< switches, in the text

double in_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

std::vector<std::string> links_of(const ReportPart& part) {
  std::vector<std::string> names;
  for (const std::uint32_t l : part.tally.worst)
    names.push_back(name_of(*part.fabric, part.fabric->links[part.routes->link_of(l)]));
  return names;
}

/// Where packets turn, most often first.
std::vector<std::pair<std::string, std::uint64_t>> turning(const ReportPart& part) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (std::size_t s = 0; s < part.tally.turning.size(); ++s)
    if (part.tally.turning[s] > 0)
      all.emplace_back(escape(part.fabric->nodes[part.routes->node_of(s)].name),
                       part.tally.turning[s]);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return all;
}

std::string share(std::uint64_t n, std::uint64_t of) {
  return fmt::format("{} ({:.2f} %)", n,
                     of == 0 ? 0.0 : 100.0 * static_cast<double>(n) / static_cast<double>(of));
}

void add_row(std::string& out, std::string_view what, const std::string& now,
             const std::optional<std::string>& after) {
  out += fmt::format("{:<44} {:>20}", what, now);
  if (after) out += fmt::format(" {:>20}", *after);
  out += '\n';
}

std::string exposure_text(const Exposure& e) {
  return fmt::format(
      "{:.6f} s unprotected, {:.6f} s with a cycle; {} orders changed within {:.3f} s",
      in_seconds(e.unprotected), in_seconds(e.cyclic), e.orders_changed, in_seconds(e.reaction));
}

std::string worst_text(const ReportPart& part, std::string_view title) {
  const Effect& e = part.tally.worst_effect;
  std::string out = fmt::format("{}: {}\n", title, fmt::join(links_of(part), ", "));
  std::vector<std::string> at;
  for (const auto& [s, to] : e.bounces) {
    std::string name = escape(part.fabric->nodes[part.routes->node_of(s)].name);
    if (at.empty() || at.back() != name) at.push_back(std::move(name));
  }
  if (e.bounces.empty()) out += "  no packet turns\n";
  if (!e.bounces.empty()) {
    const std::size_t more = at.size() > kNamed ? at.size() - kNamed : 0;
    at.resize(at.size() - more);
    out += fmt::format(
        "  packets turn at {}{}, each packet at most {}\n", fmt::join(at, ", "),
        more > 0 ? fmt::format(" and {} more", more) : "",
        e.most_turns == 1 ? std::string("once") : fmt::format("{} times", e.most_turns));
    out += fmt::format(
        "  one priority {}, two {}{}\n", e.one_class_deadlocks ? "can deadlock" : "cannot deadlock",
        e.two_classes_deadlock ? "can deadlock too" : "cannot",
        e.lossy ? "; a packet that turns a second time goes on as lossy traffic" : "");
  }
  if (e.cut_off > 0)
    out +=
        fmt::format("  {} a switch has no way on for a destination until the routing converges\n",
                    count_text(e.cut_off, "time"));
  if (part.exposure) out += fmt::format("  agents: {}\n", exposure_text(*part.exposure));
  return out;
}

Json to_json(const Exposure& e) {
  return {{"unprotected_s", in_seconds(e.unprotected)},
          {"cyclic_s", in_seconds(e.cyclic)},
          {"reaction_s", in_seconds(e.reaction)},
          {"orders_changed", e.orders_changed}};
}

Json to_json(const ReportPart& part) {
  const Tally& t = part.tally;
  Json where = Json::array();
  for (const auto& [name, sets] : turning(part))
    where.push_back({{"switch", name}, {"sets", sets}});
  const Effect& e = t.worst_effect;
  Json worst = {{"links", links_of(part)},
                {"bounces", e.bounces.size()},
                {"second_turns", e.second.size()},
                {"most_turns", e.most_turns},
                {"cut_off", e.cut_off},
                {"lossy", e.lossy},
                {"one_priority_deadlocks", e.one_class_deadlocks},
                {"two_priorities_deadlock", e.two_classes_deadlock}};
  if (part.exposure) worst["exposure"] = to_json(*part.exposure);
  return {{"switches", part.routes->switches()},
          {"links", part.routes->links()},
          {"sets", t.sets},
          {"sets_with_bounces", t.bouncing},
          {"sets_where_one_priority_deadlocks", t.one_class},
          {"sets_where_two_priorities_deadlock", t.two_classes},
          {"sets_with_lossy_packets", t.lossy},
          {"sets_that_cut_off", t.cutting},
          {"turns", t.turns},
          {"second_turns", t.second_turns},
          {"most_turns", t.most_turns},
          {"turning", std::move(where)},
          {"worst", std::move(worst)}};
}

}  // namespace

std::string name_of(const Fabric& fabric, const Link& link) {
  return fmt::format("{}-{}", escape(fabric.nodes[link.ends[0].node].name),
                     escape(fabric.nodes[link.ends[1].node].name));
}

std::string to_text(const Report& r) {
  const ReportPart& now = r.now;
  std::string out =
      fmt::format("{}: {} switches, {} links between them; {} {} of {} failed links\n",
                  escape(now.fabric->name), now.routes->switches(), now.routes->links(),
                  now.tally.sets, r.plan.samples ? "samples" : "sets, all there are,", r.plan.fail);
  if (r.plan.samples) out += fmt::format("seed {}\n", r.plan.seed);
  if (r.after) {
    std::vector<std::string> texts;
    for (const FabricChange& c : r.changes) texts.push_back(escape(c.text));
    out += fmt::format("after: {}\n", fmt::join(texts, ", "));
    add_row(out, "", "now", "after");
  }
  const auto row = [&](std::string_view what, std::uint64_t Tally::*n) {
    add_row(out, what, share(now.tally.*n, now.tally.sets),
            r.after ? std::optional(share(r.after->tally.*n, r.after->tally.sets)) : std::nullopt);
  };
  row("sets in which packets turn", &Tally::bouncing);
  row("... in which one priority can deadlock", &Tally::one_class);
  row("... in which two can, with the rules", &Tally::two_classes);
  row("... in which a packet turns once too often", &Tally::lossy);
  row("... in which a switch has no way on", &Tally::cutting);
  const auto second = [](const Tally& t) { return share(t.second_turns, t.turns); };
  add_row(out, "turns that are a packet's second", second(now.tally),
          r.after ? std::optional(second(r.after->tally)) : std::nullopt);
  add_row(out, "most turns of a packet", fmt::format("{}", now.tally.most_turns),
          r.after ? std::optional(fmt::format("{}", r.after->tally.most_turns)) : std::nullopt);
  const ReportPart& last = r.after ? *r.after : now;
  const auto where = turning(last);
  for (std::size_t i = 0; i < std::min(where.size(), kNamed); ++i)
    out += fmt::format("{}{:<16} in {} sets\n", i == 0 ? "packets turn at  " : "                 ",
                       where[i].first, where[i].second);
  if (where.size() > kNamed)
    out += fmt::format("                 ... and {} more\n", where.size() - kNamed);
  out += worst_text(last, "worst set");
  if (r.change_exposure) out += fmt::format("the change: {}\n", exposure_text(*r.change_exposure));
  for (const std::string& v : r.violations) out += fmt::format("NOT ACCEPTED: {}\n", v);
  return out;
}

std::string to_json(const Report& r) {
  Json j = {{"version", 1},        {"fabric", escape(r.now.fabric->name)},
            {"fail", r.plan.fail}, {"samples", nullptr},
            {"seed", nullptr},     {"now", to_json(r.now)}};
  if (r.plan.samples) {
    j["samples"] = *r.plan.samples;
    j["seed"] = r.plan.seed;
  }
  j["changes"] = Json::array();
  for (const FabricChange& c : r.changes) j["changes"].push_back(escape(c.text));
  if (r.after) j["after"] = to_json(*r.after);
  if (r.change_exposure) j["change_exposure"] = to_json(*r.change_exposure);
  j["accepted"] = r.violations.empty();
  j["violations"] = r.violations;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lldp::lab::whatif
