// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/text.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab::converge {
namespace {

constexpr std::size_t kNamed = 10;  ///< of what is wrong, in the text

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

void list(std::string& out, std::string_view title, const std::vector<std::string>& wrong) {
  for (std::size_t i = 0; i < std::min(wrong.size(), kNamed); ++i)
    out += fmt::format("  {} {}\n", title, escape(wrong[i]));
  if (wrong.size() > kNamed) out += fmt::format("  ... and {} more\n", wrong.size() - kNamed);
}

/// The curve as steps, in a box of kWide x kHigh.
constexpr double kWide = 720;
constexpr double kHigh = 240;

std::string steps(const std::vector<Sample>& curve, double until, double most,
                  std::size_t Sample::*what) {
  std::string d;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double x = seconds(curve[i].at) / until * kWide;
    const double y = kHigh - static_cast<double>(curve[i].*what) / most * kHigh;
    d += i == 0 ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  return d + fmt::format("H{:.1f}", kWide);
}

std::string svg(const Outcome& o) {
  const double last = seconds(o.last_disturbance);
  const double until = std::max({last + seconds(o.convergence.value_or(Duration{})), 1e-3,
                                 o.curve.empty() ? 0 : seconds(o.curve.back().at)}) *
                       1.05;
  std::size_t most = 1;
  for (const Sample& s : o.curve) most = std::max({most, s.levels, s.ports});
  const auto path = [&](std::size_t Sample::*what, std::string_view colour) {
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       steps(o.curve, until, static_cast<double>(most), what), colour);
  };
  std::string out = fmt::format(
      "<svg viewBox=\"-60 -20 {} {}\" width=\"100%\" role=\"img\" "
      "aria-label=\"wrong levels and port types over time\">\n"
      "<path class=\"axis\" d=\"M0 0V{}H{}\"/>\n",
      kWide + 80, kHigh + 70, kHigh, kWide);
  out += fmt::format(
      "<path d=\"M{0:.1f} 0V{1}\" stroke=\"#888\" stroke-dasharray=\"4 4\"/>\n"
      "<text x=\"{0:.1f}\" y=\"-6\" text-anchor=\"middle\">last disturbance</text>\n",
      last / until * kWide, kHigh);
  out += path(&Sample::ports, "#c60") + path(&Sample::levels, "#06c");
  out += fmt::format(
      "<text x=\"-6\" y=\"10\" text-anchor=\"end\">{}</text>"
      "<text x=\"-6\" y=\"{}\" text-anchor=\"end\">0</text>"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.3f} s</text>\n"
      "<text x=\"10\" y=\"{}\" fill=\"#06c\">wrong levels</text>"
      "<text x=\"130\" y=\"{}\" fill=\"#c60\">wrong port types</text>\n</svg>\n",
      most, kHigh, kWide, kHigh + 18, until, kHigh + 38, kHigh + 38);
  return out;
}

}  // namespace

std::string to_text(const Scenario& scenario, const Outcome& o) {
  std::string out;
  const auto row = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{:<12} {}\n", name, value);
  };
  row("fabric", fmt::format("{}: {} devices, {} links", escape(o.fabric), o.devices, o.links));
  row("seed", std::to_string(scenario.seed));
  row("last start", fmt::format("{:.3f} s", seconds(o.last_start)));
  if (o.last_disturbance != o.last_start)
    row("last churn", fmt::format("{:.3f} s", seconds(o.last_disturbance)));
  row("converged", o.convergence
                       ? fmt::format("{:.4f} s after that", seconds(*o.convergence))
                       : fmt::format("not within {:.0f} s after that", seconds(scenario.timeout)));
  row("located", o.location
                     ? fmt::format("{:.4f} s after that", seconds(*o.location))
                     : fmt::format("not within {:.0f} s after that", seconds(scenario.timeout)));
  row("frames", fmt::format("{} sent, {} lost", o.frames_sent, o.frames_lost));
  row("wrong", fmt::format("{} levels, {} port types, {} locations", o.wrong_levels.size(),
                           o.wrong_ports.size(), o.wrong_locations.size()));
  list(out, "level", o.wrong_levels);
  list(out, "port ", o.wrong_ports);
  list(out, "location", o.wrong_locations);
  if (!o.cabling_alarms.empty()) {
    row("cabling", count_text(o.cabling_alarms.size(), "alarm"));
    list(out, "alarm", o.cabling_alarms);
  }
  return out;
}

std::string to_json(const Scenario& scenario, const Outcome& o) {
  nlohmann::ordered_json j{{"version", 1},
                           {"fabric", escape(o.fabric)},
                           {"devices", o.devices},
                           {"links", o.links},
                           {"seed", scenario.seed},
                           {"last_start_s", seconds(o.last_start)},
                           {"last_disturbance_s", seconds(o.last_disturbance)},
                           {"convergence_s", nullptr},
                           {"location_s", nullptr},
                           {"frames_sent", o.frames_sent},
                           {"frames_lost", o.frames_lost},
                           {"wrong_levels", nlohmann::ordered_json::array()},
                           {"wrong_ports", nlohmann::ordered_json::array()},
                           {"wrong_locations", nlohmann::ordered_json::array()},
                           {"cabling_alarms", nlohmann::ordered_json::array()},
                           {"curve", nlohmann::ordered_json::array()}};
  if (o.convergence) j["convergence_s"] = seconds(*o.convergence);
  if (o.location) j["location_s"] = seconds(*o.location);
  for (const std::string& w : o.wrong_locations) j["wrong_locations"].push_back(escape(w));
  for (const std::string& a : o.cabling_alarms) j["cabling_alarms"].push_back(escape(a));
  for (const std::string& w : o.wrong_levels) j["wrong_levels"].push_back(escape(w));
  for (const std::string& w : o.wrong_ports) j["wrong_ports"].push_back(escape(w));
  for (const Sample& s : o.curve)
    j["curve"].push_back({{"at_s", seconds(s.at)}, {"levels", s.levels}, {"ports", s.ports}});
  return j.dump() + "\n";
}

std::string to_html(const Scenario& scenario, const Outcome& o) {
  const std::string name = o.fabric.empty() ? "the fabric" : escape(o.fabric);
  return page(fmt::format("How {} learns its levels", name),
              fmt::format("<pre>{}</pre>\n{}", entities(to_text(scenario, o)), svg(o)));
}

}  // namespace lldp::lab::converge
