// SPDX-License-Identifier: Apache-2.0
#include "agent/report/carried.hpp"
#include "agent/report/json_writer.hpp"
#include "agent/report/report.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

void write(JsonWriter& out, qos::Class c) {
  out.open('{').member("priority", c.priority.value()).member("dscp", c.dscp.value()).close('}');
}

void write(JsonWriter& out, const std::vector<qos::Class>& classes) {
  out.open('[');
  for (const qos::Class c : classes) write(out, c);
  out.close(']');
}

/// The application class first; of each class the DSCP to write first, the others rising.
void write(JsonWriter& out, const qos::Chain& chain) {
  out.open('[');
  for (const qos::LosslessClass& c : chain.classes) {
    out.open('{').member("priority", c.priority.value()).key("dscps").open('[');
    out.value(c.dscp.value());
    for (const Dscp dscp : c.dscps.members())
      if (dscp != c.dscp) out.value(dscp.value());
    out.close(']').close('}');
  }
  out.close(']');
}

void write(JsonWriter& out, const std::vector<qos::Remap>& remaps) {
  out.open('[');
  for (const qos::Remap& remap : remaps) {
    write(out.open('{').key("from"), remap.from);
    write(out.key("to"), remap.to);
    out.close('}');
  }
  out.close(']');
}

std::optional<std::string> printable(const std::optional<std::string>& text) {
  return text ? std::optional(lldp::printable(*text)) : std::nullopt;
}

void write_part(JsonWriter& out, const PartReading& part) {
  out.open('{')
      .member("part", part.part)
      .member("state", part.state)
      .member("text", part.text.empty() ? std::nullopt : std::optional(lldp::printable(part.text)))
      .close('}');
}

void write_unclassed(JsonWriter& out, const PortRules& port) {
  if (!port.unclassed) {
    out.value(std::optional<int>());
    return;
  }
  out.open('{');
  for (std::size_t dscp = 0; dscp < port.unclassed->size(); ++dscp)
    if (const std::uint64_t packets = port.unclassed->at(dscp); packets != 0)
      out.member(std::to_string(dscp), packets);
  out.close('}');
}

void write(JsonWriter& out, const PortRules& port, const qos::Policy& policy) {
  out.open('{')
      .member("name", escape(port.name))
      .member("order", to_string(port.wanted.port.order))
      .member("installed", to_string(port.installed));
  write(out.key("ingress"), port.wanted.ingress);
  out.member("tag", port.wanted.tag.value());
  write(out.key("turns"), port.wanted.remaps);
  write(out.key("leaving"), port.wanted.leaving);
  // The priorities whose PFC the back end sets. Those that need it are `lossless`.
  out.key("pfc").open('[');
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((unsigned{port.pfc} >> p & 1U) != 0) out.value(p);
  out.close(']').key("changes").open('[');
  for (const std::string& change : port.changes) out.value(std::string_view(change));
  out.close(']').key("parts").open('[');
  for (const PartReading& part : port.parts) write_part(out, part);
  out.close(']').member("restored", port.restored).key("bounces").open('{');
  for (const qos::LosslessClass& c : policy.classes())
    if (port.bounces)
      out.member(std::to_string(c.priority.value()), port.bounces->at(c.priority.value()));
  out.close('}');
  write_unclassed(out.key("unclassed"), port);
  write_carried(out, port.carried);
  out.member("error", printable(port.error)).close('}');
}

void write_counts(JsonWriter& out, const qos::ByPriority<std::uint64_t>& counts) {
  if (!counts.told()) {
    out.value(std::optional<int>());
    return;
  }
  out.open('[');
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    out.open('{')
        .member("priority", p)
        .member("received", counts.received[p])
        .member("sent", counts.sent[p])
        .close('}');
  out.close(']');
}

void write_lost(JsonWriter& out, const qos::Lost& lost) {
  if (!lost.frames.told()) {
    out.value(std::optional<int>());
    return;
  }
  const auto seconds = [](const auto& ago) {
    return ago ? std::optional(ago->count()) : std::nullopt;
  };
  out.open('[');
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    out.open('{')
        .member("priority", p)
        .member("received", lost.frames.received[p])
        .member("sent", lost.frames.sent[p])
        .member("received_ago", seconds(lost.ago.received[p]))
        .member("sent_ago", seconds(lost.ago.sent[p]))
        .close('}');
  out.close(']');
}

}  // namespace

void write_carried(JsonWriter& out, const qos::Carried& carried) {
  write_counts(out.key("frames"), carried.frames);
  write_counts(out.key("pauses"), carried.pauses);
  write_counts(out.key("paused_microseconds"), carried.paused_microseconds);
  write_counts(out.key("last_pause_microseconds"), carried.last_pause_microseconds);
  write_lost(out.key("lost"), carried.lost);
}

std::string rules_json(const Rules& rules) {
  std::string text;
  JsonWriter out(text);
  out.open('{')
      .member("version", kVersion)
      .member("backend", rules.backend)
      .member("description", printable(rules.description))
      .member("error", printable(rules.error));
  write(out.key("lossless"), rules.policy.lossless());
  out.key("chains").open('[');
  for (const qos::Chain& chain : rules.policy.chains()) write(out, chain);
  out.close(']');
  write(out.key("lossy"), rules.policy.lossy());
  out.key("ports").open('[');
  for (const PortRules& port : rules.ports) write(out, port, rules.policy);
  out.close(']').close('}');
  return text;
}

}  // namespace lldp::report
