// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/plan_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/json.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/json.hpp"
#include "os/file.hpp"
#include "sim/packets/json_object.hpp"
#include "sim/packets/workload/foreign.hpp"
#include "sim/packets/workload/traffic.hpp"

namespace lldp::lab::packets {
namespace {

using Json = JsonObject::Json;

constexpr std::uint64_t kMostNs = 10'000'000'000'000;  ///< 10,000 s
constexpr std::uint64_t kMostOctets = 4'000'000'000'000;
constexpr std::uint64_t kMostRate = 10'000'000'000'000;
constexpr std::uint64_t kMostBuffer = 0xffff'ffff;
constexpr std::uint64_t kMostThreshold = 16'000'000;
constexpr std::uint64_t kMostFrames = 4'000'000'000;
constexpr std::size_t kMostText = std::size_t{1} << 30;

void read_hpcc(JsonObject&& o, HpccSettings& s) {
  s.on = true;
  o.number("eta_permille", s.eta_permille, 1, 1000);
  o.number("max_stage", s.max_stage, 0, 1000);
  o.number("additive_octets", s.additive_octets, 1, kMostThreshold);
}

void read_nic(JsonObject&& o, NicSettings& s) {
  s.on = true;
  o.number("drain_bps", s.drain_bps, 1'000'000, kMostRate);
  o.number("buffer_octets", s.buffer_octets, 1, kMostBuffer / 16);
  if (o.find("pfc") != nullptr) s.pfc = 0;
  o.list("pfc", [&](const Json& v, const std::string& path) {
    if (v.is_number_unsigned() && v.get<std::uint64_t>() <= Priority::kMax)
      s.pfc = static_cast<std::uint8_t>(s.pfc | 1U << v.get<unsigned>());
    else
      o.refuse("pfc", path + ": give priorities, 0 to 7");
  });
}

void read_settings(JsonObject&& o, Settings& s) {
  o.choice("protect", s.protection, kProtections);
  o.choice("flow_control", s.flow_control, kFlowControls);
  o.number("seed", s.seed, 0, ~std::uint64_t{0});
  o.choice("relay_order", s.relay_order, kRelayOrders);
  o.number("ate_percent", s.ate_percent, 1, 100);
  o.number("buffer_octets", s.buffer_octets, 1, kMostBuffer);
  o.number("loss_ppb", s.loss_ppb, 0, 999'999'999);
  o.choice("spread", s.spread, kSpreads);
  o.number("payload_octets", s.payload_octets, 1, 65'000);
  o.number("header_octets", s.header_octets, 0, 500);
  o.number("rto_low_ns", s.rto_low, 1, kMostNs, kNanosecond);
  o.number("rto_high_ns", s.rto_high, 1, kMostNs, kNanosecond);
  o.number("rto_low_frames", s.rto_low_frames, 0, 1'000'000);
  o.number("go_back_rto_ns", s.go_back_rto, 1, kMostNs, kNanosecond);
  std::string lossless = s.policy.lossless_text();
  std::string lossy = s.policy.lossy_text();
  o.text("lossless", lossless);
  o.text("lossy", lossy);
  const auto policy = qos::Policy::parse(lossless, lossy);
  if (policy && policy->chains().empty())
    o.refuse("lossless", "none: packets are simulated in a lossless class");
  else if (policy)
    s.policy = *policy;
  else
    o.refuse(policy.error().where == "qos.lossy" ? "lossy" : "lossless", policy.error().what);
  if (const Json* v = o.find("pfc")) {
    JsonObject p(*v, o.path_of("pfc"), o.error());
    p.number("xoff_octets", s.pfc.xoff_octets, 1, kMostThreshold);
    p.number("xon_octets", s.pfc.xon_octets, 0, kMostThreshold);
    p.number("alpha_256", s.pfc.alpha_256, 1, 16'384);
    p.number("headroom_octets", s.pfc.headroom_octets, 1, kMostBuffer / 16);
    p.number("quanta", s.pfc.quanta, 1, 0xffff);
  }
  o.flag("restore", s.restore);
  if (const Json* v = o.find("nic")) read_nic(JsonObject(*v, o.path_of("nic"), o.error()), s.nic);
  if (const Json* v = o.find("cbfc")) {
    JsonObject c(*v, o.path_of("cbfc"), o.error());
    c.number("virtual_channels", s.cbfc.virtual_channels, 1, 32);
    c.number("credit_size", s.cbfc.credit_size, 1, 65'536);
    c.number("packet_overhead", s.cbfc.packet_overhead, 0, 127);
    c.number("credit_limit", s.cbfc.credit_limit, 1, (1U << 20) - 1);
    c.number("cf_min_spacing", s.cbfc.cf_min_spacing, 800, 1'000'000);
  }
  if (const Json* v = o.find("watchdog")) {
    JsonObject w(*v, o.path_of("watchdog"), o.error());
    w.number("detection_ns", s.watchdog.detection, 1, kMostNs, kNanosecond);
    w.number("restoration_ns", s.watchdog.restoration, 1, kMostNs, kNanosecond);
    w.flag("drops", s.watchdog.drops);
  }
  if (const Json* v = o.find("itsy")) {
    JsonObject i(*v, o.path_of("itsy"), o.error());
    i.choice("variant", s.itsy.variant, kItsyVariants);
    i.number("slow_for_ns", s.itsy.slow_for, 1, kMostNs, kNanosecond);
    i.number("patience_ns", s.itsy.patience, 1, kMostNs, kNanosecond);
    i.flag("break_up", s.itsy.break_up);
    i.flag("handle", s.itsy.handle);
    i.number("least_bps", s.itsy.least_bps, 1000, kMostRate);
  }
  if (const Json* v = o.find("ecn")) {
    JsonObject e(*v, o.path_of("ecn"), o.error());
    s.ecn.on = true;
    e.number("kmin_octets", s.ecn.kmin_octets, 0, kMostBuffer);
    e.number("kmax_octets", s.ecn.kmax_octets, 1, kMostBuffer);
    e.number("pmax_permille", s.ecn.pmax_permille, 1, 1000);
    if (s.ecn.kmax_octets <= s.ecn.kmin_octets) e.refuse("kmax_octets", "is not above kmin_octets");
  }
  if (const Json* v = o.find("dcqcn")) {
    JsonObject d(*v, o.path_of("dcqcn"), o.error());
    std::string set{kDcqcnSets[0].name};
    d.text("set", set);
    const auto* named = std::find_if(std::begin(kDcqcnSets), std::end(kDcqcnSets),
                                     [&](const NamedDcqcn& n) { return n.name == set; });
    if (named == std::end(kDcqcnSets))
      d.refuse("set", fmt::format("`{}`: there are {} and {}", escape(set), kDcqcnSets[0].name,
                                  kDcqcnSets[1].name));
    else
      s.dcqcn = named->settings;
    s.dcqcn.on = true;
    d.number("g_256", s.dcqcn.g_256, 1, 256);
    d.number("alpha_interval_ns", s.dcqcn.alpha_interval, 1, kMostNs, kNanosecond);
    d.number("decrease_interval_ns", s.dcqcn.decrease_interval, 1, kMostNs, kNanosecond);
    d.number("increase_interval_ns", s.dcqcn.increase_interval, 1, kMostNs, kNanosecond);
    d.number("fast_recovery_stages", s.dcqcn.fast_recovery_stages, 0, 1000);
    d.number("additive_bps", s.dcqcn.additive_bps, 1, kMostRate);
    d.number("hyper_bps", s.dcqcn.hyper_bps, 1, kMostRate);
    d.number("min_bps", s.dcqcn.min_bps, 1000, kMostRate);
  }
  if (const Json* v = o.find("hpcc"))
    read_hpcc(JsonObject(*v, o.path_of("hpcc"), o.error()), s.hpcc);
}

/// What a flow carries; its frames are counted in 32 bits.
void read_octets(JsonObject& o, const Settings& s, std::uint64_t& octets) {
  o.number("octets", octets, 1, std::min(kMostOctets, kMostFrames * s.payload_octets));
}

/// A node by the name that a member gives.
std::optional<std::size_t> node(JsonObject& o, std::string_view key, const Fabric& fabric,
                                bool host) {
  std::string name;
  o.text(key, name);
  const auto at = std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                               [&](const Node& n) { return n.name == name; });
  if (at == fabric.nodes.end()) {
    o.refuse(key, fmt::format("the fabric has no node `{}`", escape(name)));
    return std::nullopt;
  }
  if (host && at->role != Role::kHost) {
    o.refuse(key, fmt::format("`{}` is no host", escape(name)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - fabric.nodes.begin());
}

/// The last flow of each name.
using FlowNames = std::unordered_map<std::string, std::uint32_t>;

void read_flow(JsonObject&& o, Plan& plan, FlowNames& named) {
  PlannedFlow f;
  std::vector<std::uint32_t> after;
  f.way.name = fmt::format("{}", plan.flows.size() + 1);
  o.text("name", f.way.name.alter());
  const auto from = node(o, "from", plan.fabric, true);
  const auto to = node(o, "to", plan.fabric, true);
  read_octets(o, plan.settings, f.spec.octets);
  o.number("rate_bps", f.spec.rate_bps, 1000, kMostRate);
  o.number("start_ns", f.spec.start, 0, kMostNs, kNanosecond);
  o.choice("transport", f.spec.transport, kTransports);
  o.number("hash", f.way.hash, 1, ~std::uint64_t{0});
  o.list("via", [&](const Json& v, const std::string& path) {
    const Json wrapped = {{"via", v}};
    JsonObject one(wrapped, path, o.error());
    if (const auto via = node(one, "via", plan.fabric, false)) f.way.via.push_back(*via);
  });
  o.list("after", [&](const Json& v, const std::string& path) {
    const auto before = v.is_string() ? named.find(v.get<std::string>()) : named.end();
    if (before != named.end())
      after.push_back(before->second);
    else if (!o.error())
      o.error() = Error{0, path, "name a flow that comes before this one"};
  });
  if (o.error() || !from || !to) return;
  if (*from == *to) return o.refuse("to", "is where the flow begins");
  f.way.from = *from;
  f.way.to = *to;
  named[*f.way.name] = static_cast<std::uint32_t>(plan.flows.size());
  if (!after.empty()) plan.after.emplace(plan.flows.size(), std::move(after));
  plan.flows.push_back(std::move(f));
}

/// The traffic of a file that another simulator reads.
void read_traffic_file(JsonObject& o, Plan& plan, const Files& files) {
  std::string name;
  HostTransport transport = HostTransport::kGoBackN;
  o.text("file", name);
  o.choice("transport", transport, kTransports);
  if (o.error()) return;
  const auto text = files.text(name);
  if (!text) return o.refuse("file", to_string(text.error()));
  const auto added = add_foreign_traffic(plan, *text, transport);
  if (!added) o.refuse("file", fmt::format("{}: {}", escape(name), to_string(added.error())));
}

void read_traffic(JsonObject&& o, Plan& plan, const Files& files) {
  Traffic t;
  o.text("kind", t.kind);
  if (t.kind == "file") return read_traffic_file(o, plan, files);
  o.number("start_ns", t.start, 0, kMostNs, kNanosecond);
  if (t.kind == "poisson") {
    o.number("load_percent", t.load_percent, 1, 100);
    o.text("sizes", t.sizes);
    o.number("until_ns", t.until, 1, kMostNs, kNanosecond);
    if (t.until <= t.start) o.refuse("until_ns", "is not after start_ns");
  } else {
    read_octets(o, plan.settings, t.octets);
  }
  if (t.kind == "incast") o.number("senders", t.senders, 1, 1'000'000);
  if (t.kind == "incast" || t.kind == "parameter-server") o.text("to", t.to);
  if (t.kind == "moe") {
    o.number("experts", t.experts, 1, 1'000'000);
    o.number("top_k", t.top_k, 1, 64);
    o.number("skew", t.skew, 0, 8);
  }
  o.choice("transport", t.transport, kTransports);
  if (o.error()) return;
  if (const auto added = add_traffic(plan, t); !added)
    o.refuse(added.error().where, added.error().what);
}

void read_storm(JsonObject&& o, Plan& plan) {
  Storm s;
  const auto host = node(o, "host", plan.fabric, true);
  o.number("from_ns", s.from, 0, kMostNs, kNanosecond);
  o.number("until_ns", s.until, 1, kMostNs, kNanosecond);
  o.number("every_ns", s.every, 1000, kMostNs, kNanosecond);
  o.number("pause_ns", s.pause, 1, kMostNs, kNanosecond);
  if (s.pause >= s.every) o.refuse("pause_ns", "is not below every_ns");
  if (o.error() || !host) return;
  s.host = *host;
  plan.storms.push_back(s);
}

/// All links between two nodes; none: refused.
std::vector<std::size_t> links_named(const std::string& pair, const std::string& path,
                                     const Fabric& fabric, std::optional<Error>& error) {
  std::vector<std::size_t> links;
  const auto named = failed_links(fabric, std::vector{pair});
  if (!named) {
    if (!error) error = Error{0, path, to_string(named.error())};
    return links;
  }
  for (std::size_t l = 0; l < named->size(); ++l)
    if ((*named)[l]) links.push_back(l);
  return links;
}

void read_event(JsonObject&& o, Plan& plan) {
  LinkEvent event;
  std::string link;
  o.number("at_ns", event.at, 0, kMostNs, kNanosecond);
  o.text("link", link);
  o.flag("up", event.up);
  for (const std::size_t l : links_named(link, o.path_of("link"), plan.fabric, o.error()))
    plan.events.push_back({event.at, l, event.up});
}

Result<Fabric> read_fabric(const Json& v, const Files& files) {
  Result<Fabric> fabric =
      v.is_string() ? files.fabric(v.get<std::string>()) : fabric_from_json(v.dump());
  if (!fabric) return fail(Error{0, "fabric", to_string(fabric.error())});
  return fabric;
}

}  // namespace

Result<Plan> plan_from_json(std::string_view text, const Files& files,
                            std::optional<std::uint64_t> seed, WithoutFlows without) {
  if (is_too_deep(text))
    return fail(Error{0, "", fmt::format("nested more than {} levels deep", kDeepestJson)});
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {  // tells how many octets it has read
    const auto read = text.substr(0, std::min(e.byte, text.size()));
    return fail(Error{0, fmt::format("line {}", 1 + std::count(read.begin(), read.end(), '\n')),
                      e.byte > text.size() ? "cut off: the JSON has no end: write the file again"
                                           : "this is no JSON"});
  } catch (const Json::exception&) {  // tells no place
    return fail(Error{0, "", "a number is out of range"});
  }
  Plan plan;
  std::optional<Error> error;
  {
    JsonObject o(json, "", error);
    std::uint64_t version = 1;
    o.number("version", version, 1, 1);
    plan.name = "scenario";
    o.text("name", plan.name);
    o.number("duration_ns", plan.duration, 1, kMostNs, kNanosecond);
    if (const Json* v = o.find("settings"))
      read_settings(JsonObject(*v, "settings", error), plan.settings);
    plan.settings.seed = seed.value_or(plan.settings.seed);
    if (const Json* v = o.find("fabric")) {
      auto fabric = read_fabric(*v, files);
      if (!fabric) return fail(fabric.error());
      plan.fabric = std::move(*fabric);
    } else {
      o.refuse("fabric", "name a file, or give a fabric as node-link JSON");
    }
    plan.failed.resize(plan.fabric.links.size());
    o.list("failed", [&](const Json& v, const std::string& path) {
      if (!v.is_string()) {
        error = Error{0, path, "name two nodes, as `Spine1-Leaf4`"};
        return;
      }
      for (const std::size_t l : links_named(v.get<std::string>(), path, plan.fabric, error))
        plan.failed[l] = true;
    });
    o.list("events", [&](const Json& v, const std::string& path) {
      read_event(JsonObject(v, path, error), plan);
    });
    std::stable_sort(plan.events.begin(), plan.events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
    o.list("storms", [&](const Json& v, const std::string& path) {
      read_storm(JsonObject(v, path, error), plan);
    });
    FlowNames named;
    o.list("flows", [&](const Json& v, const std::string& path) {
      read_flow(JsonObject(v, path, error), plan, named);
    });
    o.list("traffic", [&](const Json& v, const std::string& path) {
      read_traffic(JsonObject(v, path, error), plan, files);
    });
    if (plan.flows.empty() && without == WithoutFlows::kRefused)
      o.refuse("flows", "there are none, and no traffic");
  }
  if (error) return fail(*error);
  return plan;
}

Files files_in(const std::string& directory) {
  const auto place = [directory](const std::string& name) {  // what is absolute stays so
    return (std::filesystem::path(directory) / name).string();
  };
  return {.fabric = [place](const std::string& name) { return load_fabric(place(name)); },
          .text = [place](const std::string& name) -> Result<std::string> {
            std::error_code none;
            const auto octets = std::filesystem::file_size(place(name), none);
            if (!none && octets > kMostText)
              return fail(Error{EFBIG, name,
                                fmt::format("has {} octets: at most {} are read: split it among "
                                            "several entries of `traffic`",
                                            octets, kMostText)});
            return read_file(place(name), kMostText);
          }};
}

Result<Plan> plan_from_file(const std::string& path, std::optional<std::uint64_t> seed,
                            WithoutFlows without) {
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  const std::string beside = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  auto plan = plan_from_json(*text, files_in(beside), seed, without);
  if (plan) return plan;
  const Error& e = plan.error();
  return fail(
      Error{e.code, e.where.empty() ? escape(path) : escape(path) + ": " + e.where, e.what});
}

}  // namespace lldp::lab::packets
