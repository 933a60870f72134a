// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "agent/report/json_writer.hpp"
#include "agent/report/report.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

std::optional<unsigned> number(const std::optional<Level>& level) {
  return level ? std::optional<unsigned>(level->value()) : std::nullopt;
}

/// The priorities in a bit vector, or null.
void write_priorities(JsonWriter& out, std::optional<std::uint8_t> bits) {
  if (!bits) {
    out.value(std::optional<int>());
    return;
  }
  out.open('[');
  for (unsigned p = 0; p < 8; ++p)
    if ((unsigned{*bits} >> p & 1U) != 0) out.value(p);
  out.close(']');
}

void write(JsonWriter& out, const std::optional<Layers>& layers) {
  if (!layers) {
    out.value(std::optional<int>());
    return;
  }
  out.open('{')
      .member("near", unsigned{layers->near.value()})
      .member("far", unsigned{layers->far.value()})
      .close('}');
}

void write(JsonWriter& out, const core::NeighborInfo& n) {
  out.open('{')
      .member("chassis_id", to_string(n.chassis_id))
      .member("port_id", to_string(n.port_id))
      .member("port_description", escape(n.port_description))
      .member("system_name", escape(n.system_name))
      .member("device_type", to_string(n.device_type))
      .member("level", number(n.level))
      .member("port_type", to_string(n.port_type));
  out.key("tlv").open('[');
  if (n.tr) out.value("tr");
  if (n.contribution) out.value("contribution");
  out.close(']');
  write_priorities(out.key("pfc_enabled"), n.pfc_enabled);
  write(out.key("layers"), n.layers);
  out.member("ttl", n.ttl).member("expires_in", n.expires_in.count());
  if (n.frame) {
    const bool known = n.frame->source != MacAddress{};
    out.member("scope", to_string(n.frame->scope))
        .member("source", known ? std::optional(lldp::to_string(n.frame->source)) : std::nullopt)
        .member("unchanged_for", n.frame->unchanged_for.count())
        .member("lldpdu", to_hex(n.frame->lldpdu));
  }
  out.close('}');
}

void write_rank(JsonWriter& out, const Position& rank) {
  const bool bottom = rank == Position();
  out.open('{')
      .member("level",
              bottom ? std::optional<unsigned>() : std::optional<unsigned>(rank.level.value()))
      .member("id", bottom ? std::nullopt : std::optional(to_string(rank.chassis)))
      .close('}');
}

void write(JsonWriter& out, const core::PortInfo& p, const WallClock& clock,
           const std::map<std::string, std::string>& aliases) {
  std::optional<std::string> alias;
  if (const auto at = aliases.find(p.name); at != aliases.end()) alias = escape(at->second);
  out.open('{').member("name", escape(p.name)).member("alias", alias);
  out.member("ifindex", p.ifindex.value())
      .member("up", p.up)
      .member("type", to_string(p.type))
      .member("order", to_string(p.order))
      .member("admin", to_string(p.admin));
  write_priorities(out.key("pfc_enabled"), p.pfc_enabled);
  write(out.key("layers"), p.layers);
  out.member("speed_mbps",
             p.speed_mbps == 0 ? std::optional<unsigned>() : std::optional(p.speed_mbps))
      .member("mtu", p.mtu)
      .member("rail", p.rail_group.empty() ? std::nullopt : std::optional(escape(p.rail_group)));
  out.member("waits_since",
             p.holds_since ? std::optional(clock.date(*p.holds_since)) : std::nullopt);
  out.key("agents").open('[');
  for (const core::AgentInfo& a : p.agents) {
    out.open('{')
        .member("agent_id", fmt::format("{:016x}", a.agent))
        .member("chassis_id",
                a.chassis_id.octets.empty() ? std::nullopt : std::optional(to_string(a.chassis_id)))
        .member("role", a.host ? "host" : "switch")
        .member("heard", a.heard)
        .member("counted", a.counted);
    write_rank(out.key("bound"), a.bound);
    write_rank(out.key("acknowledged"), a.belief);
    out.member("awaited", a.awaited).close('}');
  }
  out.close(']');
  if (!p.announced.empty()) out.member("announced", to_hex(p.announced));
  out.key("neighbors").open('[');
  for (const core::NeighborInfo& n : p.neighbors) write(out, n);
  out.close(']').close('}');
}

}  // namespace

std::string show_json(const core::Snapshot& snapshot, const Protection& protection,
                      const WallClock& clock, std::span<const std::string> ports,
                      const Daemon& daemon) {
  std::string text;
  text.reserve(512 + 320 * snapshot.ports.size());
  JsonWriter out(text);
  out.open('{').member("version", kVersion);
  out.key("device")
      .open('{')
      .member("role", snapshot.role == Role::kHost ? "host" : "switch")
      .member("level", number(snapshot.level))
      .member("level_source", to_string(snapshot.level_source))
      .member("place", number(snapshot.place()))
      .member("location", snapshot.location, snapshot.tier_notes)
      .member("chassis_id", to_string(snapshot.chassis_id))
      .member("system_name", escape(snapshot.system_name));
  write_rank(out.key("rank"), snapshot.rank);
  if (!daemon.transport.empty()) {
    out.member("transport", daemon.transport)
        .member("role_reason", daemon.role_reason.empty() ? std::optional<std::string_view>()
                                                          : std::optional(daemon.role_reason));
    out.key("set").open('{');
    for (const auto& [key, value] : daemon.set) out.member(key, escape(value));
    out.close('}');
  }
  out.close('}');
  out.key("ports").open('[');
  for (const core::PortInfo& port : snapshot.ports)
    if (ports.empty() || any_name_match(ports, port.name))
      write(out, port, clock, protection.aliases);
  out.close(']');
  out.key("protection")
      .open('{')
      .member("backend", protection.backend)
      .member("backend_reason", protection.backend_reason.empty()
                                    ? std::optional<std::string_view>()
                                    : std::optional<std::string_view>(protection.backend_reason))
      .member("state", to_string(protection.state));
  out.key("lossless").open('[');
  for (const Priority p : protection.lossless) out.value(p.value());
  out.close(']').key("chains").open('[');
  for (const core::ClassInfo& info : protection.classes) {
    out.open('[');
    for (const qos::LosslessClass& c : info.chain.classes) {
      out.open('{').member("priority", unsigned{c.priority.value()}).key("dscps").open('[');
      out.value(unsigned{c.dscp.value()});  // the one to write
      for (const Dscp d : c.dscps.members())
        if (d != c.dscp) out.value(unsigned{d.value()});
      out.close(']').close('}');
    }
    out.close(']');
  }
  out.close(']').key("evidence").open('[');
  for (const core::ClassInfo& info : protection.classes) out.value(info.evidence);
  out.close(']').member("classes_known", !protection.classes_unknown);
  out.key("reasons").open('[');
  for (const Protection::Reason& reason : protection.reasons)
    out.open('{')
        .member("port", escape(reason.port))
        .member("part", reason.part.part)
        .member("state", reason.part.state)
        .member("text", printable(reason.part.text))
        .close('}');
  out.close(']').member("pfc_unverified", protection.pfc_unverified).close('}');
  if (!daemon.transport.empty()) {
    out.key("companions").open('[');
    for (const Companion& companion : daemon.companions)
      out.open('{')
          .member("key", companion.key)
          .member("state", companion.trouble.empty() ? "ok" : "failed")
          .member("text", escape(companion.trouble))
          .close('}');
    out.close(']');
  }
  out.key("alarms").open('[');
  for (const core::Alarm& alarm : snapshot.alarms) {
    const auto muted = daemon.muted.find({std::string(to_string(alarm.code)), alarm.port});
    out.open('{')
        .member("code", to_string(alarm.code))
        .member("port", alarm.port)
        .member("severity", muted == daemon.muted.end() ? to_string(severity_of(alarm.code))
                                                        : std::string_view("ok"))
        .member("since", clock.date(alarm.since))
        .member("text", alarm.text);
    if (muted != daemon.muted.end()) out.member("muted_until", clock.date(muted->second));
    out.close('}');
  }
  out.close(']').close('}');
  return text;
}

}  // namespace lldp::report
