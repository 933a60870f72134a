// SPDX-License-Identifier: Apache-2.0
#include "agent/report/text.hpp"

#include <algorithm>

#include "agent/report/shape.hpp"
#include "agent/report/table.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace lldp::report {
namespace {

std::string level_text(const json& level) {
  return level.is_null() ? "-" : std::to_string(level.get<int>());
}

/// A name where one is known, else the identifier.
std::string name_of(const json& device) {
  const std::string name = str(device, "system_name");
  return name.empty() ? str(device, "chassis_id") : name;
}

/// Its name, and what the switch's own people call it.
std::string port_name(const json& port) {
  const auto alias = port.find("alias");
  const bool has = alias != port.end() && alias->is_string();
  return str(port, "name") + (has ? " (" + alias->get<std::string>() + ")" : "");
}

std::string alarm_text(const json& alarm) {
  std::string out = str(alarm, "code");
  if (const std::string port = str(alarm, "port"); !port.empty()) out += " " + port;
  return out + ": " + str(alarm, "text");
}

/// Of an older daemon: none is told.
std::string severity_of(const json& alarm) { return alarm.value("severity", "warning"); }
bool is_critical(const json& alarm) { return severity_of(alarm) == "critical"; }

std::string list_text(const json& list) {
  std::string out;
  for (const json& element : list) out += (out.empty() ? "" : " ") + element.dump();
  return out;
}

std::string level_of(const json& device) {
  const json& level = device.at("level");
  if (level.is_null()) return "no level yet";
  const std::string source = str(device, "level_source");
  return "level " + level_text(level) + (source == "none" ? "" : " (" + source + ")");
}

/// Where its place in the order is not that of its level; else empty.
std::string place_of(const json& device) {
  const json& level = device.at("level");
  const auto place = device.find("place");
  if (level.is_null() || place == device.end() || *place == level) return "";
  return (place->is_null() ? std::string("at the bottom of the order")
                           : "in the order by level " + level_text(*place)) +
         " until all neighbors have acknowledged";
}

std::string device_text(const json& device) {
  const std::string place = place_of(device);
  return str(device, "role") + ", " + level_of(device) + (place.empty() ? "" : ", " + place);
}

/// `location: tier 1 02:00:00:00:00:01, tier 2 ...`; empty where nothing is known.
std::string location_line(const json& device) {
  const auto location = device.find("location");
  if (location == device.end()) return "";
  std::string out;
  for (const json& tier : location->at("tiers")) {
    out += (out.empty() ? "location: tier " : ", tier ") + tier.at("level").dump() + " " +
           str(tier, "id");
    if (tier.contains("joins"))
      out += " (is joined with " + str(tier, "joins") + ", an older half of the tier)";
    else if (tier.contains("was"))
      out += " (was " + str(tier, "was") + ")";
  }
  return out;
}

/// Why `role = auto` came out as it did.
std::string role_text(const json& device) {
  const auto why = device.find("role_reason");
  if (why == device.end() || why->is_null()) return "";
  return "role auto: a " + str(device, "role") + ", for " + why->get<std::string>();
}

/// Why `backend = auto` came out as it did.
std::string backend_text(const json& show) {
  const auto protection = show.find("protection");
  if (protection == show.end()) return "";
  const auto why = protection->find("backend_reason");
  if (why == protection->end() || why->is_null()) return "";
  return "backend auto: " + str(*protection, "backend") + ", for " + why->get<std::string>();
}

/// What differs from the configuration on request.
std::string set_text(const json& device) {
  const auto set = device.find("set");
  if (set == device.end() || set->empty()) return "";
  std::string out = "set until the next reload:";
  for (const auto& [key, value] : set->items())
    out += (out.back() == ':' ? " " : ", ") + key + " = " + value.get<std::string>();
  return out;
}

/// "snmp.agentx failed: exit status 1", for each of them of which that is so.
std::vector<std::string> failed_companions(const json& show) {
  std::vector<std::string> out;
  const auto companions = show.find("companions");
  if (companions == show.end()) return out;  // there is no daemon
  for (const json& companion : *companions)
    if (str(companion, "state") == "failed")
      out.push_back(str(companion, "key") + " failed: " + str(companion, "text"));
  return out;
}

/// The sender of LLDP for the device, if it is not the daemon.
std::string transport_of(const json& object) {
  const auto transport = object.find("transport");
  return transport == object.end() ? "packet" : transport->get<std::string>();
}

std::string transport_text(const json& device) {
  const std::string transport = transport_of(device);
  if (transport == "lldpd") return "LLDP sent by lldpd";
  return transport == "none" ? "no LLDP sent (lldpd is not running)" : "";
}

constexpr std::string_view kUnknownClasses = ": no lossless class is known";

/// They are to be learned, and none is known.
bool are_classes_unknown(const json& protection) {
  const auto known = protection.find("classes_known");
  return known != protection.end() && !known->get<bool>();
}

std::string protection_text(const json& protection, const Style& style) {
  const std::string state = str(protection, "state");
  Ink ink = Ink::kPlain;
  if (state == "active") ink = Ink::kGood;
  if (state == "partial") ink = Ink::kWarn;
  if (state == "failed") ink = Ink::kBad;
  std::string out = "protection " + paint(state, ink, style);
  if (state == "inactive" && are_classes_unknown(protection)) out += kUnknownClasses;
  std::string how = str(protection, "backend");
  if (const json& lossless = protection.at("lossless"); !lossless.empty())
    how += (how.empty() ? "lossless " : ", lossless ") + list_text(lossless);
  if (state == "active" && protection.at("pfc_unverified") != 0) how += ", PFC not verified";
  return how.empty() ? out : out + " (" + how + ")";
}

/// "done", or the parts that are not done, `unsupported` ones last.
Cell parts_cell(const json& parts) {
  std::string out;
  bool bad = false;
  for (const bool unsupported : {false, true})
    for (const json& part : parts) {
      const std::string state = str(part, "state");
      if (state == "done" || (state == "unsupported") != unsupported) continue;
      out += (out.empty() ? "" : ", ") + str(part, "part") + " " + state;
      bad |= !unsupported;
    }
  if (out.empty()) return {parts.empty() ? "-" : "done", Ink::kGood};
  return {out, bad ? Ink::kBad : Ink::kPlain};
}

Ink ink_of_type(const std::string& type) {
  if (type == "uplink" || type == "downlink") return Ink::kGood;
  return type == "crosslink" ? Ink::kWarn : Ink::kPlain;
}

/// Up or down, and what of sending and receiving is switched off.
std::string link_text(const json& port) {
  std::string out = port.at("up").get<bool>() ? "up" : "down";
  const auto admin = port.find("admin");
  if (admin == port.end() || *admin == "rxtx") return out;
  return out + ", " + admin->get<std::string>() + (*admin == "off" ? "" : " only");
}

/// The port ID; but for a MAC address the description where there is one, as
/// core::port_name_of().
std::string port_name_of(const json& neighbor) {
  const std::string id = str(neighbor, "port_id");
  const std::string description = str(neighbor, "port_description");
  return parse_mac(id) && !description.empty() ? description : id;
}

/// `up`; with layers `up 3:4`, the near one first.
std::string order_text(const json& port) {
  const std::string order = str(port, "order");
  const auto layers = port.find("layers");
  if (layers == port.end() || !layers->is_object()) return order == "unknown" ? "-" : order;
  const auto layer = [&](const char* which) {
    return std::to_string(layers->at(which).get<unsigned>());
  };
  return order + " " + layer("near") + ":" + layer("far");
}

void add_port(Table& table, const json& port, long age) {
  const bool up = port.at("up").get<bool>();
  const std::string type = str(port, "type");
  std::vector<Cell> row = {{port_name(port), Ink::kBold},
                           {link_text(port), up ? Ink::kPlain : Ink::kFaint},
                           {type, ink_of_type(type)},
                           {order_text(port)}};
  const json& neighbors = port.at("neighbors");
  for (const json& n : neighbors) {
    row.push_back({name_of(n)});
    row.push_back({level_text(n.at("level"))});
    row.push_back({port_name_of(n)});
    const long left = std::max(n.at("expires_in").get<long>() - age, 0L);
    row.push_back({std::to_string(left) + " s", Ink::kPlain, true});
    table.add(std::move(row));
    row.assign(4, Cell{});  // a further neighbor of the same port
  }
  if (!neighbors.empty()) return;
  row.push_back({"-", Ink::kFaint});
  table.add(std::move(row));
}

/// Those whose acknowledgement is missing: `02:00:00:00:00:02, 02:00:00:00:00:03`.
std::string awaited_text(const json& port) {
  std::string out;
  for (const json& agent : agents_of(port))
    if (agent.at("awaited").get<bool>()) out += (out.empty() ? "" : ", ") + agent_name(agent);
  return out.empty() ? "the agents that were heard there" : out;
}

/// `rank waits for swp3: no acknowledgement from leaf2 since 2026-01-31T12:00:00Z`; a shut port
/// says so. Empty where nothing waits for the port.
std::string waiting_line(const json& port) {
  const std::string since = waits_since(port);
  if (since.empty()) return "";
  return (str(port, "order") == "shut"
              ? port_name(port) + " is shut: no acknowledgement from "
              : "rank waits for " + port_name(port) + ": no acknowledgement from ") +
         awaited_text(port) + " since " + since;
}

/// Characters that a line takes on the screen, without what colors it.
std::size_t columns_of(std::string_view line) {
  std::size_t width = 0;
  bool colour = false;
  for (const char c : line) {
    if (c == '\x1b') colour = true;
    if (!colour && !continues_character(c)) ++width;
    if (c == 'm') colour = false;
  }
  return width;
}

/// Lines for a screen; where its height is given, what finds no room is counted in its last one.
class Page {
 public:
  explicit Page(const Style& style) : style_(style) {}

  void add(std::string_view line) {
    rows_ += rows_of(line);
    out_.append(line) += '\n';
  }
  /// At most a third of the screen, so that they do not hide the ports.
  void add_alarms(const json& alarms) {
    std::size_t shown = 0;
    for (; shown < alarms.size(); ++shown) {
      const json& alarm = alarms[shown];
      const std::string severity = severity_of(alarm);
      const std::string line =
          paint("ALARM", severity == "critical" ? Ink::kBad : Ink::kWarn, style_) + " " +
          alarm_text(alarm) + " (" + severity + " since " + str(alarm, "since") +
          (alarm.contains("muted_until") ? ", muted until " + str(alarm, "muted_until") : "") + ")";
      const bool fits = style_.height == 0 || shown == 0 ||
                        rows_ + rows_of(line) <= std::max<std::size_t>(style_.height / 3, 1);
      if (!fits) break;
      add(line);
    }
    if (shown < alarms.size())
      add(paint("ALARM", Ink::kBad, style_) + " and " + std::to_string(alarms.size() - shown) +
          " more: see lldp-level show");
  }
  /// The heading and the rows that fit.
  void add_table(std::string_view table) {
    std::vector<std::string_view> lines;
    for (; !table.empty(); table.remove_prefix(lines.back().size() + 1))
      lines.push_back(table.substr(0, table.find('\n')));
    const std::size_t left =
        style_.height == 0 ? lines.size() : style_.height - std::min(style_.height, rows_);
    const std::size_t shown =
        left >= lines.size() ? lines.size() : std::max<std::size_t>(left, 3) - 1;
    for (std::size_t i = 0; i < std::min(shown, lines.size()); ++i) add(lines[i]);
    if (shown < lines.size())
      add(paint(std::to_string(lines.size() - shown) +
                    " more rows: make the window higher, or name ports",
                Ink::kFaint, style_));
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  [[nodiscard]] std::size_t rows_of(std::string_view line) const {
    return style_.width == 0
               ? 1
               : std::max<std::size_t>((columns_of(line) + style_.width - 1) / style_.width, 1);
  }

  Style style_;
  std::size_t rows_ = 0;
  std::string out_{};
};

std::string class_text(const json& c) {
  return c.at("priority").dump() + ":dscp" + c.at("dscp").dump();
}

std::string classes_text(const json& classes) {
  std::string out;
  for (const json& c : classes) out += (out.empty() ? "" : " ") + class_text(c);
  return out;
}

/// What becomes of packets that came in by an up port: they turn here, or a port to a host restores
/// them.
std::string turns_text(const json& port) {
  const json& turns = port.at("turns");
  std::string out;
  for (const json& turn : turns.empty() ? port.value("leaving", json::array()) : turns)
    out += (out.empty() ? "" : ", ") + class_text(turn.at("from")) + " -> " +
           class_text(turn.at("to"));
  return out.empty() ? "unchanged" : out;
}

/// Packets by the priority they came with, as `5: 42`; those of which there are none left out.
std::string bounced_text(const json& bounces) {
  std::string out;
  for (const auto& [priority, packets] : bounces.items())
    if (packets != 0) out += (out.empty() ? "" : ", ") + priority + ": " + packets.dump();
  return out.empty() ? "-" : out;
}

Cell installed_cell(const json& port) {
  const std::string installed = str(port, "installed");
  if (installed == "yes") return {installed, Ink::kGood};
  return {installed, Ink::kBad};
}

/// `24-31, 40`
std::string ranges_text(std::vector<unsigned> numbers) {
  std::ranges::sort(numbers);
  std::string out;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const unsigned first = numbers[i];
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
    out += (out.empty() ? "" : ", ") + std::to_string(first);
    if (numbers[i] != first) out += "-" + std::to_string(numbers[i]);
  }
  return out;
}

/// `lossless 3 (DSCP 24-31) > 2 (DSCP 19), from swp1's neighbor`, a line for each chain; where none
/// is known, how to set one.
void add_classes(Page& page, const json& protection) {
  if (are_classes_unknown(protection))
    page.add(
        "  set the classes: lldp-level set qos.lossless roce (or sonic, pcbb, slides, CHAINS, "
        "none); for good, in lldp-level.conf");
  const auto chains = protection.find("chains");
  const auto evidence = protection.find("evidence");
  if (chains == protection.end() || evidence == protection.end()) return;
  for (std::size_t i = 0; i < chains->size(); ++i) {
    std::string line;
    for (const json& c : (*chains)[i])
      line += (line.empty() ? "" : " > ") + c.at("priority").dump() + " (DSCP " +
              ranges_text(c.at("dscps").get<std::vector<unsigned>>()) + ")";
    if ((*chains)[i].size() == 1) line += " > lossy";
    page.add("  lossless " + line + ", " + evidence->at(i).get<std::string>());
  }
}

/// The device and its protection, in one line where that has room on a screen; else each part that
/// has none begins another.
void add_heading(Page& page, const json& show, const Style& style) {
  constexpr std::size_t kColumns = 80;
  const std::size_t columns = style.width == 0 ? kColumns : std::min(style.width, kColumns);
  const json& device = show.at("device");
  std::string line = paint(name_of(device), Ink::kBold, style) + ": " + str(device, "role") + ", " +
                     level_of(device);
  for (const std::string& part :
       {place_of(device), protection_text(show.at("protection"), style), transport_text(device)}) {
    if (part.empty()) continue;
    if (columns_of(line) + 2 + columns_of(part) <= columns) {
      line += ", " + part;
      continue;
    }
    page.add(line);
    line = "  " + part;
  }
  page.add(line);
}

/// `  up, no neighbor: 2 (swp3, swp4)`: ports where nothing was ever heard, and that is an alarm;
/// empty where there is none.
std::string no_neighbor_text(const json& show) {
  constexpr std::size_t kNamed = 4;
  std::string names;
  std::size_t count = 0;
  for (const json& alarm : show.at("alarms")) {
    if (str(alarm, "code") != "unheard") continue;
    if (++count <= kNamed) names += (count == 1 ? "" : ", ") + str(alarm, "port");
  }
  if (count == 0) return {};
  return "  up, no neighbor: " + std::to_string(count) + " (" + names +
         (count > kNamed ? ", ...)" : ")");
}

/// What Nagios draws: `level=1 alarms=0 ...`, U where a number is missing.
std::string performance(const json& show) {
  std::size_t up = 0;
  std::size_t neighbors = 0;
  for (const json& port : show.at("ports")) {
    if (port.at("up").get<bool>()) ++up;
    neighbors += port.at("neighbors").size();
  }
  const json& level = show.at("device").at("level");
  return "level=" + (level.is_null() ? "U" : level.dump()) +
         " alarms=" + std::to_string(show.at("alarms").size()) + " ports_up=" + std::to_string(up) +
         " neighbors=" + std::to_string(neighbors);
}

/// Its rules are there as far as the switch chip can do them, or as can be seen.
bool is_limit(const json& reason) {
  const std::string state = str(reason, "state");
  return state == "limited" || state == "unverified";
}

/// "swp1: classify bypassed: why", a line each; the first few.
void add_reasons(Page& page, const json& reasons) {
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMost); ++i)
    page.add("  not protected: " + str(reasons[i], "port") + ": " + str(reasons[i], "part") + " " +
             str(reasons[i], "state") + ": " + str(reasons[i], "text"));
  if (reasons.size() > kMost)
    page.add("  and " + std::to_string(reasons.size() - kMost) + " more: see --json");
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "OK";
    case Status::kWarning:
      return "WARNING";
    case Status::kCritical:
      return "CRITICAL";
    case Status::kUnknown:
      break;
  }
  return "UNKNOWN";
}

std::string plugin_line(std::string_view status, std::string text) {
  // Behind a bar come numbers: names from the network shall not forge any.
  std::replace(text.begin(), text.end(), '|', '/');
  return "LLDP-LEVEL " + std::string(status) + " - " + text;
}

Error not_understood() {
  return {.what = "the daemon's answer is not understood: is it of another version?"};
}

Result<std::string> show_text(std::string_view text, const Style& style, std::chrono::seconds age) {
  return with_json(text, [&](const json& show) {
    Page page(style);
    page.add_alarms(show.at("alarms"));
    const json& device = show.at("device");
    add_heading(page, show, style);
    add_classes(page, show.at("protection"));
    add_reasons(page, show.at("protection").at("reasons"));
    if (const std::string silent = no_neighbor_text(show); !silent.empty()) page.add(silent);
    for (const std::string& failed : failed_companions(show))
      page.add(paint(failed, Ink::kWarn, style));
    if (const std::string role = role_text(device); !role.empty()) page.add(role);
    if (const std::string backend = backend_text(show); !backend.empty()) page.add(backend);
    if (const std::string where = location_line(device); !where.empty()) page.add(where);
    for (const json& port : show.at("ports"))
      if (const std::string line = waiting_line(port); !line.empty()) page.add(line);
    if (const std::string set = set_text(device); !set.empty()) page.add(set);
    Table table({port_heading(),
                 {"LINK"},
                 {"TYPE"},
                 {"ORDER"},
                 {"NEIGHBOR"},
                 {"LEVEL"},
                 {"THEIR PORT"},
                 {"EXPIRES", Ink::kBold, true}});
    for (const json& port : show.at("ports")) add_port(table, port, age.count());
    if (show.at("ports").empty()) {
      page.add("no ports");
    } else {
      page.add_table(table.text(style));
    }
    return page.text();
  });
}

Result<std::string> reload_text(std::string_view text, const Style&) {
  return with_json(text, [](const json& answer) {
    std::string keys;
    if (const auto restart = answer.find("restart"); restart != answer.end())
      for (const json& key : *restart)
        keys += (keys.empty() ? "" : ", ") + escape(key.get<std::string>());
    return keys.empty() ? keys : "restart the daemon to apply: " + keys + "\n";
  });
}

Result<std::string> config_text(std::string_view text, const Style& style) {
  return with_json(text, [&](const json& config) {
    Table table({{.text = "KEY", .least = 32}, {"VALUE"}, {"SOURCE"}});
    for (const json& key : config.at("keys")) {
      const std::string value = str(key, "value");
      std::string source = str(key, "source");
      const bool is_default = source == "default";
      if (key.contains("after_restart")) {
        const std::string waits = str(key, "after_restart");
        source += "; after a restart: " + (waits.empty() ? "-" : waits);
      }
      table.add({{str(key, "key"), is_default ? Ink::kPlain : Ink::kBold},
                 value.empty() ? Cell{"-", Ink::kFaint} : Cell{value},
                 {source, is_default ? Ink::kFaint : Ink::kPlain}});
    }
    return table.text(style);
  });
}

Result<std::string> stats_text(std::string_view text, const Style& style) {
  return with_json(text, [&](const json& stats) {
    std::string out;
    if (transport_of(stats) == "lldpd")
      out += "lldpd speaks: what went over the wire is in lldpcli show statistics\n";
    // One block per port: nine names of twenty characters fit no screen side by side.
    for (const json& port : stats.at("ports")) {
      if (!out.empty()) out += '\n';
      out += paint(str(port, "name"), Ink::kBold, style) + "\n";
      for (const auto& [name, value] : port.items()) {
        if (name == "name") continue;
        const std::string number = value.dump();
        out += "  " + name +
               std::string(std::max<std::size_t>(name.size(), 27) - name.size(), ' ') +
               std::string(std::max<std::size_t>(number.size(), 12) - number.size(), ' ') + number +
               "\n";
      }
    }
    return out.empty() ? std::string("no ports\n") : out;
  });
}

Result<std::string> rules_text(std::string_view text, const Style& style) {
  return with_json(text, [&](const json& rules) {
    std::string out;
    const auto complain = [&](const std::string& where, const json& error) {
      if (!error.is_null())
        out += paint("ERROR", Ink::kBad, style) + " " + where + error.get<std::string>() + "\n";
    };
    complain("", rules.at("error"));
    Table table({port_heading(),
                 {"ORDER"},
                 {"INSTALLED"},
                 {"READ BACK"},
                 {"BOUNCED"},
                 {"PACKETS THAT CAME IN BY AN UP PORT"}},
                Table::LastColumn::kWrapped);
    for (const json& port : rules.at("ports")) {
      complain(str(port, "name") + ": ", port.at("error"));
      for (const json& part : port.at("parts"))
        if (const std::string state = str(part, "state"); state == "foreign" || state == "bypassed")
          complain(str(port, "name") + ": " + str(part, "part") + " " + state + ": ",
                   part.at("text"));
      const std::string order = str(port, "order");
      table.add({{str(port, "name"), Ink::kBold},
                 {order == "unknown" ? "-" : order},
                 installed_cell(port),
                 parts_cell(port.at("parts")),
                 {bounced_text(port.at("bounces"))},
                 {turns_text(port)}});
    }
    const json& how = rules.at("description");
    out += paint(str(rules, "backend"), Ink::kBold, style) +
           (how.is_null() ? "" : " (" + how.get<std::string>() + ")") + ", lossless " +
           (rules.at("lossless").empty() ? "none" : classes_text(rules.at("lossless"))) +
           ", then " + class_text(rules.at("lossy")) + "\n";
    return rules.at("ports").empty() ? out + "no ports\n" : out + table.text(style);
  });
}

Result<Verdict> check(std::string_view text) {
  return with_json(text, [](const json& show) {
    const json& device = show.at("device");
    std::vector<json> alarms;
    std::string muted;
    for (const json& alarm : show.at("alarms")) {
      if (!alarm.contains("muted_until")) {
        alarms.push_back(alarm);
        continue;
      }
      const std::string port = str(alarm, "port");
      muted += (muted.empty() ? ", muted: " : ", ") + str(alarm, "code") +
               (port.empty() ? "" : " " + port) + " until " + str(alarm, "muted_until");
    }
    std::stable_partition(alarms.begin(), alarms.end(), is_critical);
    const json& reasons = show.at("protection").at("reasons");
    const std::string state = str(show.at("protection"), "state");
    const bool forwards = str(device, "role") == "switch";
    const bool lonely = forwards && show.at("ports").empty();
    std::string line = name_of(device) + ": " + device_text(device) + ", protection " + state;
    const bool unclassed = forwards && are_classes_unknown(show.at("protection"));
    if (unclassed) line += std::string(kUnknownClasses) + " (lldp-level set qos.lossless roce)";
    if (lonely) line += ", no port at all: see `ports` in lldp-level.conf(5)";
    if (!reasons.empty()) {
      const json& first = reasons.front();
      line += ", " + str(first, "port") + ": " + str(first, "part") + " " + str(first, "state") +
              ": " + str(first, "text");
      if (reasons.size() > 1) line += " (and " + std::to_string(reasons.size() - 1) + " more)";
    }
    if (!alarms.empty()) line += ", alarm " + alarm_text(alarms.front());
    if (alarms.size() > 1) line += " (and " + std::to_string(alarms.size() - 1) + " more)";
    const std::vector<std::string> failed = failed_companions(show);
    for (const std::string& companion : failed) line += ", " + companion;
    line += muted;
    // Until a level is known nothing turns the way the rules would have it.
    const bool unplaced = forwards && device.at("level").is_null() &&
                          std::ranges::any_of(show.at("ports"), [](const json& port) {
                            return port.at("up").get<bool>();
                          });
    Status status = alarms.empty() && failed.empty() && !unplaced && !unclassed ? Status::kOk
                                                                                : Status::kWarning;
    if (forwards && str(show.at("protection"), "backend") == "none") status = Status::kUnknown;
    // Rules that no back end puts in force: a dry run, or `backend = print`.
    if (forwards && state == "inactive" && !reasons.empty()) status = Status::kUnknown;
    // What the chip cannot do, or nobody can verify, no alarm mends: the operator knows.
    const bool mendable = !std::ranges::all_of(reasons, is_limit);
    if (state == "partial" && !mendable && status == Status::kOk) status = Status::kWarning;
    const bool critical = std::ranges::any_of(alarms, is_critical);
    if (lonely || critical || state == "failed" || (state == "partial" && mendable))
      status = Status::kCritical;
    return Verdict{status, plugin_line(to_string(status), line) + " | " + performance(show)};
  });
}

}  // namespace lldp::report
