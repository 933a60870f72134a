// SPDX-License-Identifier: Apache-2.0
#include "lab/papers/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/report/html.hpp"

namespace lldp::lab {
namespace {

/// How far from what is published a match may be, relative to it.
double tolerance_of(const Claim& c) {
  if (!c.published || *c.published == 0) return 0;
  const double below = std::abs(c.least / *c.published - 1);
  return c.most == kNoLimit ? below : std::max(below, std::abs(c.most / *c.published - 1));
}
std::string published_of(const Claim& c) {
  return c.published ? fmt::format("{:g}", *c.published) : "";
}

}  // namespace

const char* Claim::verdict() const {
  if (!published) return "unpublished";
  return ours >= least && ours <= most ? "match" : "off";
}

std::string to_json_line(const Claim& c) {
  using Json = nlohmann::ordered_json;
  Json j;
  j["place"] = c.place;
  j["row"] = {{"scenario", c.scenario}};
  j["metric"] = c.metric;
  j["ours"] = c.ours;
  j["published"] = c.published ? Json(*c.published) : Json(nullptr);
  j["tolerance"] = tolerance_of(c);
  j["accepted"] = nullptr;
  if (c.published)
    j["accepted"] = Json::array({Json(c.least), c.most == kNoLimit ? Json(nullptr) : Json(c.most)});
  j["verdict"] = c.verdict();
  return j.dump() + "\n";
}

std::string to_text_line(const Claim& c) {
  return fmt::format("{:<16} {:<40} {:<28} {:>10.4g} {:>8} {}\n", c.place, c.scenario, c.metric,
                     c.ours, c.published ? fmt::format("{:.4g}", *c.published) : "", c.verdict());
}

std::string to_csv(const std::vector<Claim>& claims) {
  std::string out = "place,scenario,metric,ours,published,tolerance,verdict\n";
  for (const Claim& c : claims)
    out += fmt::format("\"{}\",\"{}\",{},{},{},{},{}\n", c.place, c.scenario, c.metric, c.ours,
                       published_of(c), tolerance_of(c), c.verdict());
  return out;
}

std::string readable(std::string metric) {
  std::replace(metric.begin(), metric.end(), '_', ' ');
  return metric;
}

std::string to_html(const std::vector<Claim>& claims, const std::string& paper,
                    const std::string& command) {
  std::string rows =
      "<tr><th>place</th><th>scenario</th><th>metric</th><th class=\"n\">ours</th><th class=\"n\">"
      "published</th><th></th></tr>\n";
  for (const Claim& c : claims)
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.4g}</td><td class=\"n\">{}</td>"
        "<td class=\"{}\">{}</td></tr>\n",
        entities(c.place), entities(c.scenario), entities(readable(c.metric)), c.ours,
        published_of(c), c.verdict(), c.verdict());
  return page(paper + ", reproduced",
              fmt::format("<p><code>{}</code></p>\n{}<p>docs/sim.md tells the model, and what is "
                          "not here.</p>\n",
                          entities(command), table(rows)));
}

}  // namespace lldp::lab
