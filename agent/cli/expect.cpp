// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/expect.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/report/json_writer.hpp"
#include "agent/report/report.hpp"
#include "agent/report/table.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::json;
using cabling::Finding;
using cabling::Verdict;

std::vector<cabling::Heard> heard_on(const json& port) {
  std::vector<cabling::Heard> all;
  for (const json& n : port.at("neighbors"))
    all.push_back({.system_name = n.at("system_name").get<std::string>(),
                   .chassis_id = n.at("chassis_id").get<std::string>(),
                   .port_id = n.at("port_id").get<std::string>(),
                   .port_description = n.at("port_description").get<std::string>(),
                   .is_switch = n.at("device_type") == to_string(DeviceType::kSwitch)});
  return all;
}

Result<Cabling> check(const cabling::Drawing& drawing, const json& show, std::string_view as) {
  const json& device = show.at("device");
  const auto name = as.empty() ? device.at("system_name").get<std::string>() : escape(as);
  const auto chassis = as.empty() ? device.at("chassis_id").get<std::string>() : std::string();
  const auto expected = cabling::Expectations::of(drawing, name, chassis);
  if (!expected) return fail(expected.error());
  std::set<std::string> in_file;
  for (const Finding& silent : expected->silence()) in_file.insert(silent.port);
  std::map<std::string, std::vector<cabling::Heard>, std::less<>> heard;
  std::map<std::string, std::size_t> place;  // of a port in the answer
  for (const json& port : show.at("ports")) {
    auto port_name = port.at("name").get<std::string>();
    const auto alias = port.find("alias");
    if (!in_file.contains(port_name) && alias != port.end() && alias->is_string() &&
        in_file.contains(alias->get<std::string>()))
      port_name = alias->get<std::string>();
    place.emplace(port_name, place.size());
    heard.emplace(port_name, heard_on(port));
  }
  Cabling out{.device = expected->self(), .ports = expected->judge_all(heard)};
  const auto place_of = [&](const Finding& f) {
    const auto at = place.find(f.port);
    return at == place.end() ? place.size() : at->second;
  };
  std::ranges::stable_sort(out.ports, {}, place_of);
  return out;
}

report::Ink ink_of(Verdict v) {
  switch (v) {
    case Verdict::kAsExpected:
      return report::Ink::kGood;
    case Verdict::kMissing:
    case Verdict::kUnplanned:
      return report::Ink::kWarn;
    case Verdict::kWrong:
    case Verdict::kSwapped:
      break;
  }
  return report::Ink::kBad;
}

std::string list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out.empty() ? "-" : out;
}

}  // namespace

bool Cabling::as_expected() const {
  return std::all_of(ports.begin(), ports.end(),
                     [](const Finding& f) { return f.verdict == Verdict::kAsExpected; });
}

Result<Cabling> check_cabling(const cabling::Drawing& drawing, std::string_view show,
                              std::string_view as) {
  try {
    return check(drawing, json::parse(show), as);
  } catch (const json::exception&) {
    return fail(report::not_understood());
  }
}

std::string cabling_text(const Cabling& cabling, const report::Style& style) {
  report::Table table({report::port_heading(), {"CABLE"}, {"EXPECTED"}, {"HEARD"}});
  std::size_t wrong = 0;
  std::string exchanges;
  for (const Finding& f : cabling.ports) {
    wrong += f.verdict != Verdict::kAsExpected ? 1 : 0;
    table.add({{f.port, report::Ink::kBold},
               {std::string(to_string(f.verdict)), ink_of(f.verdict)},
               {f.expected.empty() ? "-" : f.expected},
               {list(f.heard)}});
    if (f.port < f.exchange)
      exchanges += "swapped: exchange " + f.port + " and " + f.exchange + "\n";
  }
  std::string out = report::paint(cabling.device, report::Ink::kBold, style) + ": ";
  if (cabling.ports.empty()) return out + "no neighbor expected, none heard\n";
  out +=
      std::to_string(cabling.ports.size()) + (cabling.ports.size() == 1 ? " port, " : " ports, ");
  out += wrong == 0 ? "all as expected" : std::to_string(wrong) + " not as expected";
  return out + "\n" + table.text(style) + exchanges;
}

std::string cabling_json(const Cabling& cabling) {
  std::string text;
  report::JsonWriter out(text);
  out.open('{')
      .member("version", report::kVersion)
      .member("device", cabling.device)
      .member("as_expected", cabling.as_expected());
  out.key("ports").open('[');
  for (const Finding& f : cabling.ports) {
    out.open('{').member("name", f.port).member("verdict", to_string(f.verdict));
    out.member("expected", f.expected.empty() ? std::nullopt : std::optional(f.expected));
    if (!f.exchange.empty()) out.member("exchange", f.exchange);
    out.key("heard").open('[');
    for (const std::string& neighbor : f.heard) out.value(neighbor);
    out.close(']').close('}');
  }
  out.close(']').close('}');
  return text;
}

}  // namespace lldp::cli
