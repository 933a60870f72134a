// SPDX-License-Identifier: Apache-2.0
#include "agent/core/event.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "agent/core/actions.hpp"
#include "agent/core/neighbor_table.hpp"
#include "base/text.hpp"
#include "tlv/table.hpp"

namespace lldp::core {
namespace {

/// Only which OUIs mean the contribution TLV matters here, and that for its name alone.
const Settings& usual() {
  static const Settings settings;
  return settings;
}
tlv::Dialect dialect() { return {usual().accepted_ouis}; }

struct NamedTlv {
  std::string name{};
  std::string_view octets{};
};

std::string name_of(const tlv::Tlv& t) {
  if (t.row() != nullptr) return std::string(t.row()->name);
  std::string name = "TLV " + std::to_string(t.key.type);
  if (t.key.type != tlv::kOrganizational) return name;
  const std::array<std::uint8_t, 4> key{static_cast<std::uint8_t>(t.key.oui >> 16),
                                        static_cast<std::uint8_t>(t.key.oui >> 8),
                                        static_cast<std::uint8_t>(t.key.oui), t.key.subtype};
  return name + ' ' + to_hex(key);
}

std::vector<NamedTlv> tlvs_of(ByteSpan lldpdu) {
  std::vector<NamedTlv> out;
  tlv::TlvWalk walk(lldpdu, dialect());
  for (tlv::Tlv t; walk.next(t);) out.push_back({name_of(t), as_text(t.information)});
  // Of one name in their order, for that may mean something.
  std::stable_sort(out.begin(), out.end(),
                   [](const NamedTlv& a, const NamedTlv& b) { return a.name < b.name; });
  return out;
}

/// The names of the TLVs that are not in both, each once.
std::vector<std::string> differing(ByteSpan before, ByteSpan after) {
  const auto a = tlvs_of(before);
  const auto b = tlvs_of(after);
  std::vector<std::string> out;
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    const std::string& name =
        j == b.end() || (i != a.end() && i->name < j->name) ? i->name : j->name;
    const auto is_other = [&](const NamedTlv& t) { return t.name != name; };
    const auto i_end = std::find_if(i, a.end(), is_other);
    const auto j_end = std::find_if(j, b.end(), is_other);
    const auto same = [](const NamedTlv& x, const NamedTlv& y) { return x.octets == y.octets; };
    if (!std::equal(i, i_end, j, j_end, same)) out.push_back(name);
    i = i_end;
    j = j_end;
  }
  return out;
}

/// TLVs that a line names: a jumbo frame holds 1,500, and the line goes to a log and a command.
constexpr std::size_t kNamed = 16;

std::string text_of(const std::optional<std::uint8_t>& priorities) {
  if (!priorities) return "unsaid";
  std::string out;
  for (unsigned p = 0; p < 8; ++p)
    if ((unsigned{*priorities} >> p & 1U) != 0) out += (out.empty() ? "" : " ") + std::to_string(p);
  return out.empty() ? "none" : out;
}
std::string text_of(std::string_view text) { return text.empty() ? "none" : escape(text); }

/// What became different, what the agent goes by first.
std::string changes(const Neighbor& before, const Neighbor& after) {
  std::vector<std::string> names = differing(before.lldpdu(), after.lldpdu());
  std::string out;
  const auto add = [&out](std::string_view what) {
    out.append(out.empty() ? "" : ", ").append(what);
  };
  // Says it by its values; the TLVs that hold them need no naming then.
  const auto told = [&](std::string_view what, const std::string& was, const std::string& is,
                        std::initializer_list<std::string_view> tlvs) {
    if (was == is) return;
    add(std::string(what) + ' ' + was + " -> " + is);
    std::erase_if(names, [&](const std::string& name) {
      return std::find(tlvs.begin(), tlvs.end(), name) != tlvs.end();
    });
  };
  const auto device = [](DeviceType d) { return std::string(to_string(d)); };
  const auto port = [](PortType t) { return std::string(to_string(t)); };
  told("device type", device(before.device), device(after.device), {"tr", "contribution"});
  told("level", level_text(before.level), level_text(after.level), {"tr", "contribution"});
  told("port type", port(before.port), port(after.port), {"tr", "contribution"});
  const auto conflict = [](bool there) { return std::string(there ? "conflict" : "agree"); };
  told("tr and contribution", conflict(before.tlvs_conflict), conflict(after.tlvs_conflict), {});
  told("location and level", conflict(before.location_conflicts),
       conflict(after.location_conflicts), {});
  told("pfc", text_of(before.pfc_enabled), text_of(after.pfc_enabled),
       {"pfc-config", "dcbx-cin", "dcbx-cee"});
  const auto layers = [](const std::optional<Layers>& l) { return l ? to_string(*l) : "none"; };
  told("layers", layers(before.layers), layers(after.layers), {"layers"});
  told("ttl", std::to_string(before.rxTTL), std::to_string(after.rxTTL), {"ttl"});
  told("system-name", text_of(before.system_name()), text_of(after.system_name()), {"system-name"});
  told("port-description", text_of(before.port_description()), text_of(after.port_description()),
       {"port-description"});
  const std::size_t named = std::min(names.size(), kNamed);
  for (std::size_t i = 0; i < named; ++i) add(names[i]);
  if (names.size() > named) add(std::to_string(names.size() - named) + " more");
  return out.empty() ? "the order of its TLVs" : out;
}

std::optional<Neighbor> neighbor_of(ByteSpan lldpdu) {
  const auto view = tlv::decode(lldpdu, dialect());
  return view ? std::optional(Neighbor({}, view->octets, *view, usual())) : std::nullopt;
}

}  // namespace

std::string level_text(std::optional<Level> level) {
  return level ? std::to_string(level->value()) : "none";
}

std::string level_change_text(std::optional<Level> before, std::optional<Level> after) {
  return level_text(before) + " -> " + level_text(after);
}

std::string port_change_text(PortLabel before, PortLabel after) {
  std::string text;
  text.reserve(64);  // there may be one for each port at once
  text += to_string(before.type);
  if (after.type != before.type) text.append(" -> ").append(to_string(after.type));
  if (after.order != before.order) {
    text.append(", order ").append(to_string(before.order));
    text.append(" -> ").append(to_string(after.order));
  }
  if (after.type == before.type && after.order == before.order && after.restores != before.restores)
    text.append(after.restores ? ", spare classes restored" : ", spare classes not restored");
  return text;
}

std::string neighbor_of(const Event& event) {
  if (event.lldpdu.empty()) return event.neighbor;
  const auto neighbor = neighbor_of(event.lldpdu);
  return neighbor ? to_string(neighbor->chassis_id()) : std::string();
}

std::string text_of(const Event& event) {
  if (event.lldpdu.empty()) return event.text;
  auto after = neighbor_of(event.lldpdu);
  auto before = neighbor_of(event.before);
  if (!after) return {};
  if (!before) return describe(*after);
  static_cast<Told&>(*before) = event.was;
  static_cast<Told&>(*after) = event.is;
  return describe(*after) + ": " + changes(*before, *after);
}

}  // namespace lldp::core
