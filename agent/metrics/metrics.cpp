// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics/metrics.hpp"

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "agent/report/carried.hpp"
#include "agent/report/text.hpp"

namespace lldp::metrics {
namespace {

using json = nlohmann::ordered_json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// One family under way.
class Family {
 public:
  Family(MetricType type, std::string name, std::string help) {
    family_.name = "lldp_level_" + std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }
  void add(Labels labels, double value) {
    if (!seen_.insert(labels).second) return;
    ClientMetric metric;
    metric.label = std::move(labels);
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family_.metric.push_back(std::move(metric));
  }
  [[nodiscard]] MetricFamily take() { return std::move(family_); }

 private:
  MetricFamily family_;
  std::set<Labels> seen_;
};

Family gauge(std::string name, std::string help) {
  return {MetricType::Gauge, std::move(name), std::move(help)};
}
Family counter(std::string name, std::string help) {
  return {MetricType::Counter, std::move(name), std::move(help)};
}

std::string str(const json& object, const char* key) { return object.at(key).get<std::string>(); }

/// Labels with the names and values of these members.
Labels labels_of(const json& object, std::initializer_list<const char*> keys) {
  Labels labels;
  for (const char* key : keys) labels.push_back({key, str(object, key)});
  return labels;
}

Labels operator+(Labels left, const Labels& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Seconds since 1970 of a date as `show` has it; nothing where there is none.
std::optional<double> seconds_of(const json& date) {
  std::tm tm{};
  if (!date.is_string()) return std::nullopt;
  const char* const end = ::strptime(date.get_ref<const std::string&>().c_str(), "%FT%TZ", &tm);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&tm));
}

using Families = std::vector<MetricFamily>;

void put(Families& out, Family family) { out.push_back(family.take()); }

void put_up(Families& out, bool up) {
  Family family = gauge("up", "Whether the daemon answers.");
  family.add({}, up ? 1 : 0);
  put(out, std::move(family));
}

void put_device(Families& out, const json& info, const json& show) {
  const json& device = show.at("device");
  Family build = gauge("build_info", "The version of the daemon; always 1.");
  build.add(labels_of(info, {"version"}), 1);
  Family about = gauge("device_info", "What the device is, and how it knows its level; always 1.");
  about.add(labels_of(device, {"role", "level_source", "chassis_id", "system_name", "transport"}),
            1);
  Family level = gauge("device_level", "The device's level in the fabric; absent without one.");
  if (const json& n = device.at("level"); !n.is_null()) level.add({}, n.get<double>());
  Family location = gauge("location_info",
                          "A tier that the device is in or below, by the chassis ID of one of the "
                          "leaves below; always 1.");
  for (const json& tier : device.at("location").at("tiers"))
    location.add({{"tier", tier.at("level").dump()}, {"id", str(tier, "id")}}, 1);
  Family rank = gauge("device_rank_level",
                      "The level of the device's rank in the order: below device_level until all "
                      "neighbors have acknowledged; absent at the bottom.");
  // Of an older daemon: none.
  if (const json r = device.value("rank", json::object()); !r.value("level", json()).is_null())
    rank.add({}, r.at("level").get<double>());
  for (Family* family : {&build, &about, &level, &rank, &location}) put(out, std::move(*family));
}

void put_protection(Families& out, const json& protection) {
  Family family = gauge("protection_state", "1 for the state that the protection is in.");
  const std::string now = str(protection, "state");
  for (const char* state : {"active", "partial", "inactive", "failed"})
    family.add({{"state", state}}, now == state ? 1 : 0);
  family.add({{"state", now}}, 1);  // one that is not known here
  put(out, std::move(family));
}

void put_alarms(Families& out, const json& alarms) {
  Family count = gauge("alarms", "Alarms that stand.");
  count.add({}, static_cast<double>(alarms.size()));
  Family each = gauge("alarm",
                      "An alarm that stands, on a port or the whole device; always 1. "
                      "severity: what check makes of it, ok while it is muted.");
  for (const json& alarm : alarms) {  // an older daemon tells no severity
    Labels labels = labels_of(alarm, {"code", "port"});
    labels.push_back({"severity", alarm.value("severity", "warning")});
    each.add(labels, 1);
  }
  put(out, std::move(count));
  put(out, std::move(each));
}

void put_companions(Families& out, const json& companions) {
  Family ok = gauge("companion_ok",
                    "Whether a program that the configuration has run beside the daemon does: by "
                    "the key that asks for it.");
  for (const json& companion : companions)
    ok.add(labels_of(companion, {"key"}), str(companion, "state") == "ok" ? 1 : 0);
  put(out, std::move(ok));
}

void put_ports(Families& out, const json& ports) {
  Family up = gauge("port_up", "Whether frames pass the port.");
  Family about = gauge("port_info", "The port's type and its order; always 1.");
  Family waits = gauge("port_waits_since_seconds",
                       "When a rise of the rank began to wait for the port, or the port was shut "
                       "with a carrier, since 1970; absent while neither is so.");
  Family heard = gauge("port_neighbors", "Neighbors heard on the port.");
  Family neighbor = gauge("neighbor_info", "A neighbor heard, as it calls itself; always 1.");
  Family level = gauge("neighbor_level", "The level that a neighbor tells; absent without one.");
  for (const json& port : ports) {
    const Labels name{{"port", str(port, "name")}};
    up.add(name, port.at("up").get<bool>() ? 1 : 0);
    Labels known = name + labels_of(port, {"type", "order"});
    if (const json& alias = port.at("alias"); !alias.is_null())
      known.push_back({"alias", alias.get<std::string>()});
    about.add(known, 1);
    if (const auto since = seconds_of(port.value("waits_since", json()))) waits.add(name, *since);
    heard.add(name, static_cast<double>(port.at("neighbors").size()));
    for (const json& n : port.at("neighbors")) {
      const Labels msap = name + labels_of(n, {"chassis_id", "port_id"});
      neighbor.add(msap + labels_of(n, {"system_name", "device_type", "port_type"}), 1);
      if (const json& l = n.at("level"); !l.is_null()) level.add(msap, l.get<double>());
    }
  }
  for (Family* family : {&up, &about, &waits, &heard, &neighbor, &level})
    put(out, std::move(*family));
}

void put_statistics(Families& out, const json& ports) {
  static constexpr struct {
    const char* key;
    const char* name;
    const char* help;
  } kCounters[] = {
      {"statsFramesOutTotal", "frames_out_total", "LLDP frames sent."},
      {"statsFramesInTotal", "frames_in_total", "LLDP frames received."},
      {"statsFramesInErrorsTotal", "frames_in_errors_total",
       "LLDP frames received with an error in them."},
      {"statsFramesDiscardedTotal", "frames_discarded_total",
       "LLDP frames received and discarded."},
      {"statsTLVsDiscardedTotal", "tlvs_discarded_total", "TLVs received and discarded."},
      {"statsTLVsUnrecognizedTotal", "tlvs_unrecognized_total",
       "TLVs received of a type that is not known."},
      {"statsAgeoutsTotal", "ageouts_total", "Neighbors that were not heard for their TTL."},
      {"statsTooManyNeighborsTotal", "too_many_neighbors_total",
       "LLDP frames refused because a table of neighbors was full."},
      {"framesTaggedTotal", "frames_tagged_total",
       "LLDP frames of a VLAN, which are not the link's and so not read."},
      {"lldpduLengthErrors", "lldpdu_length_errors_total", "Own LLDPDUs that did not fit."},
  };
  for (const auto& row : kCounters) {
    Family family = counter(row.name, std::string(row.help) + " IEEE 802.1AB: " + row.key + ".");
    for (const json& port : ports)
      family.add({{"port", str(port, "name")}}, port.at(row.key).get<double>());
    put(out, std::move(family));
  }
}

/// Of each lossless priority: the others may lose frames.
void add_lost(Family& lost, const Labels& name, const json& port) {
  const json counted = port.value("lost", json());  // of an older daemon, or not counted: none
  for (const json& of : counted) {
    const std::string priority = of.at("priority").dump();
    if (!port.at("bounces").contains(priority)) continue;
    for (const auto& [member, where] : {std::pair("received", "arrival"), {"sent", "queue"}})
      if (const json& frames = of.at(member); !frames.is_null())
        lost.add(name + Labels{{"priority", priority}, {"where", where}}, frames.get<double>());
  }
}

/// The priorities with PFC, by the port's driver; bit n = priority n.
std::uint64_t pfc_of(const json& port) {
  std::uint64_t bits = 0;
  for (const json& priority : port.at("pfc_enabled"))  // null: none
    if (const auto p = priority.get<unsigned>(); p <= Priority::kMax) bits |= std::uint64_t{1} << p;
  return bits;
}

/// As the port's driver counts.
qos::Carried pauses_of(const ethtool::PriorityCounts& counts) {
  return {.pauses = {counts.pauses.received, counts.pauses.sent},
          .paused_microseconds = {counts.paused_microseconds.received,
                                  counts.paused_microseconds.sent}};
}

/// As the port's back end counts.
qos::Carried pauses_of(const json& port) {
  return {.pauses = report::read_counts(port, "pauses"),
          .paused_microseconds = report::read_counts(port, "paused_microseconds"),
          .last_pause_microseconds = report::read_counts(port, "last_pause_microseconds")};
}

/// Pauses of ports: of priorities with PFC, of lossless ones, and of others that were paused. What
/// the back end does not tell is the driver's, each of the kinds by itself.
void put_pauses(Families& out, const json& shown, const json& rules, const DriverCounts& drivers) {
  constexpr double kMicroseconds = 1e6;
  Family pauses = counter("pfc_pauses_total",
                          "PFC pause frames of a priority: received, as the neighbor "
                          "paused the port, or sent, as the port paused the neighbor.");
  Family paused = counter("pfc_paused_seconds_total",
                          "Time for which a priority was paused by PFC: received, the port by its "
                          "neighbor, or sent, the neighbor by the port.");
  Family last = gauge("pfc_last_pause_timestamp_seconds",
                      "When the last pause of a priority by PFC began, since 1970, by the clock of "
                      "the device; absent where none was seen.");
  std::map<std::string, const json*> ruled;
  for (const json& port : rules) ruled.emplace(str(port, "name"), &port);
  for (const json& port : shown) {
    const std::string name = str(port, "name");
    const auto rule = ruled.find(name);
    qos::Carried carried = rule == ruled.end() ? qos::Carried() : pauses_of(*rule->second);
    const std::uint64_t pfc = pfc_of(port);
    if (drivers && (!carried.pauses.told() || !carried.paused_microseconds.told()))
      if (const auto* own = drivers(name, port.at("ifindex").get<unsigned>(), pfc))
        carried = carried.or_else(pauses_of(*own));
    for (const auto& [direction, of] : {std::pair("received", &qos::PriorityFrames::received),
                                        {"sent", &qos::PriorityFrames::sent}})
      for (std::size_t p = 0; p <= Priority::kMax; ++p) {
        const std::string priority = std::to_string(p);
        const auto& frames = (carried.pauses.*of)[p];
        const auto& time = (carried.paused_microseconds.*of)[p];
        const auto& since = (carried.last_pause_microseconds.*of)[p];
        const bool lossless = rule != ruled.end() && rule->second->at("bounces").contains(priority);
        const bool has_paused = frames.value_or(0) + time.value_or(0) != 0;
        if (!has_paused && (pfc >> p & 1U) == 0 && !lossless) continue;
        const Labels labels{{"port", name}, {"priority", priority}, {"direction", direction}};
        if (frames) pauses.add(labels, static_cast<double>(*frames));
        if (time) paused.add(labels, static_cast<double>(*time) / kMicroseconds);
        if (since) last.add(labels, static_cast<double>(*since) / kMicroseconds);
      }
  }
  for (Family* family : {&pauses, &paused, &last}) put(out, std::move(*family));
}

void put_rules(Families& out, const json& ports) {
  Family about =
      gauge("port_rules_info", "Whether the port's rules are in the data plane; always 1.");
  Family bounces = counter("bounces_total",
                           "Packets that turned and left by the port, by the priority they came "
                           "with.");
  Family lost = counter("lost_frames_total",
                        "Frames of a lossless priority that the switch chip dropped, on arrival or "
                        "in the queue that they were to be sent from.");
  Family unclassed = counter("turned_unclassed_total",
                             "Packets that turned in no lossless class and left by the port, by "
                             "their DSCP.");
  Family parts = gauge("port_part_state",
                       "How a part of the port's rules stands, as read back; 1 for the state it is "
                       "in, the others are absent.");
  Family restored = counter("rules_restored_total",
                            "Times that the port's rules were put back after others had "
                            "taken them away.");
  for (const json& port : ports) {
    const Labels name{{"port", str(port, "name")}};
    about.add(name + labels_of(port, {"installed"}), 1);
    for (const json& part : port.at("parts"))
      parts.add(name + labels_of(part, {"part", "state"}), 1);
    restored.add(name, port.at("restored").get<double>());
    for (const auto& [priority, packets] : port.at("bounces").items())
      bounces.add(name + Labels{{"priority", priority}}, packets.get<double>());
    const json by_dscp = port.value("unclassed", json());  // null: not counted
    for (const auto& [dscp, packets] : by_dscp.items())
      unclassed.add(name + Labels{{"dscp", dscp}}, packets.get<double>());
    add_lost(lost, name, port);
  }
  put(out, std::move(about));
  put(out, std::move(parts));
  put(out, std::move(restored));
  put(out, std::move(bounces));
  put(out, std::move(unclassed));
  put(out, std::move(lost));
}

void put_process(Families& out, const json& process) {
  Family started = gauge("daemon_start_time_seconds", "When the daemon was started, since 1970.");
  Family cpu = counter("daemon_cpu_seconds_total", "Processor time that the daemon has used.");
  Family memory = gauge("daemon_resident_memory_bytes", "Memory that the daemon has in RAM.");
  started.add({}, process.at("started").get<double>());
  cpu.add({}, process.at("cpu_milliseconds").get<double>() / 1000);
  memory.add({}, process.at("resident_octets").get<double>());
  for (Family* family : {&started, &cpu, &memory}) put(out, std::move(*family));
}

}  // namespace

Result<Families> families(const Answers& answers, const DriverCounts& drivers) {
  try {
    const json show = json::parse(answers.show);
    Families out;
    put_up(out, true);
    put_device(out, json::parse(answers.info), show);
    put_protection(out, show.at("protection"));
    put_alarms(out, show.at("alarms"));
    put_companions(out, show.value("companions", json::array()));  // of an older daemon: none
    put_ports(out, show.at("ports"));
    const json stats = json::parse(answers.stats);
    put_statistics(out, stats.at("ports"));
    const json rules = json::parse(answers.rules);
    put_rules(out, rules.at("ports"));
    put_pauses(out, show.at("ports"), rules.at("ports"), drivers);
    put_process(out, stats.at("process"));
    return out;
  } catch (const json::exception&) {
    return fail(report::not_understood());
  }
}

Families no_daemon() {
  Families out;
  put_up(out, false);
  return out;
}

}  // namespace lldp::metrics
