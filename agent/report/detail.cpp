// SPDX-License-Identifier: Apache-2.0
#include "agent/report/detail.hpp"

#include "agent/core/settings.hpp"
#include "agent/report/shape.hpp"
#include "agent/report/table.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

tlv::Dialect dialect() {
  static const core::Settings settings;
  return {settings.accepted_ouis};
}

/// The octets of a member in hexadecimal; what is none of it is left out.
Bytes octets_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null()
             ? Bytes()
             : from_hex(found->get<std::string>()).value_or(Bytes());
}

json tlvs_of(const Bytes& lldpdu, OwnerOf owner) {
  std::string text;
  JsonWriter out(text);
  write_tlvs(out, lldpdu, dialect(), owner);
  return json::parse(text);
}

/// 2 d 3 h, 4 min 5 s: the two greatest units.
std::string duration_text(long seconds) {
  if (seconds >= 86400)
    return std::to_string(seconds / 86400) + " d " + std::to_string(seconds / 3600 % 24) + " h";
  if (seconds >= 3600)
    return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
  if (seconds >= 60)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds) + " s";
}

std::string lines_of(const Bytes& lldpdu, OwnerOf owner) {
  std::string out;
  tlv::TlvWalk walk(lldpdu, dialect());
  for (tlv::Tlv t; walk.next(t);) out += tlv_line(t, owner);
  return out;
}

std::string heading(const json& port, const json& neighbor, const Style& style) {
  const std::string name = str(neighbor, "system_name");
  std::string out = paint(str(port, "name"), Ink::kBold, style) + ": " +
                    paint(name.empty() ? str(neighbor, "chassis_id") : name, Ink::kBold, style) +
                    " " + str(neighbor, "port_id") + ", " + str(neighbor, "device_type");
  if (const json& level = neighbor.at("level"); !level.is_null()) out += ", level " + level.dump();
  const std::string type = str(neighbor, "port_type");
  if (type != "unmarked") out += ", " + type;
  out += "\n  from " +
         (neighbor.at("source").is_null() ? std::string("an address not known")
                                          : str(neighbor, "source")) +
         " to " + str(neighbor, "scope") + ", the same for " +
         duration_text(neighbor.at("unchanged_for").get<long>()) + ", expires in " +
         duration_text(neighbor.at("expires_in").get<long>());
  return out + "\n";
}

/// `level 2 02:00:00:00:00:01`
std::string rank_text(const json& rank) {
  const json& level = rank.at("level");
  return level.is_null() ? "the bottom" : "level " + level.dump() + " " + str(rank, "id");
}

/// What an agent has acknowledged, in one line; A1 to A6 of docs/develop/rules.md.
std::string agent_line(const json& agent) {
  const bool heard = agent.at("heard").get<bool>();
  const bool is_host = str(agent, "role") == "host";
  std::string out = "  order: " + str(agent, "role") + " " + agent_name(agent);
  if (!heard)
    out += ", not heard on this carrier";
  else if (!agent.at("counted").get<bool>())
    out += ", has not heard this device yet";
  else if (!is_host)
    out += ", may rise to " + rank_text(agent.at("bound"));
  if (!is_host) out += ", has acknowledged " + rank_text(agent.at("acknowledged"));
  return out + (agent.at("awaited").get<bool>() ? "; its acknowledgement is missing\n" : "\n");
}

std::string agent_lines(const json& port, const Style& style) {
  std::string out;
  for (const json& agent : agents_of(port)) out += agent_line(agent);
  if (const std::string since = waits_since(port); !since.empty())
    out += std::string("  order: ") +
           (str(port, "order") == "shut" ? "shut" : "the rank waits for this port") + " since " +
           since + "\n";
  return out.empty() ? out
                     : paint(str(port, "name"), Ink::kBold, style) + ": order " +
                           str(port, "order") + "\n" + out;
}

}  // namespace

Result<std::string> with_tlvs(std::string_view text, OwnerOf owner) {
  return with_json(text, [&](json& show) {
    for (json& port : show.at("ports")) {
      if (const Bytes sent = octets_of(port, "announced"); !sent.empty())
        port["sends"] = tlvs_of(sent, owner);
      for (json& neighbor : port.at("neighbors"))
        neighbor["tlvs"] = tlvs_of(octets_of(neighbor, "lldpdu"), owner);
    }
    return show.dump();
  });
}

Result<std::string> detail_text(std::string_view text, const Style& style, OwnerOf owner) {
  return with_json(text, [&](const json& show) {
    std::string out;
    for (const json& port : show.at("ports")) {
      for (const json& neighbor : port.at("neighbors")) {
        if (!out.empty()) out += '\n';
        out += heading(port, neighbor, style) + lines_of(octets_of(neighbor, "lldpdu"), owner);
      }
      if (const std::string agents = agent_lines(port, style); !agents.empty())
        out += (out.empty() ? "" : "\n") + agents;
    }
    return out.empty() ? std::string("no neighbors\n") : out;
  });
}

Result<std::string> sent_text(std::string_view text, const Style& style, OwnerOf owner) {
  return with_json(text, [&](const json& show) {
    std::string out;
    for (const json& port : show.at("ports")) {
      if (!out.empty()) out += '\n';
      const Bytes sent = octets_of(port, "announced");
      out += paint(str(port, "name"), Ink::kBold, style) +
             (sent.empty() ? ": sends nothing\n" : ":\n") + lines_of(sent, owner);
    }
    return out.empty() ? std::string("no ports\n") : out;
  });
}

}  // namespace lldp::report
