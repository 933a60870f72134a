// SPDX-License-Identifier: Apache-2.0
#include "cabling/expect.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace lldp::cabling {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

/// A MAC address in the one notation, anything else as `show` prints it.
std::string identifier(std::string_view text) {
  const auto mac = parse_mac(text);
  return mac ? lldp::to_string(*mac) : escape(text);
}

std::vector<std::string> identifiers(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(identifier(text));
  return all;
}

bool same_name(std::string_view drawn, std::string_view heard, bool short_name_is_enough) {
  const std::string a = lower(drawn);
  const std::string b = lower(heard);
  if (a == b) return true;
  const bool one_is_short = short_name(a) == a || short_name(b) == b;
  return short_name_is_enough && one_is_short && short_name(a) == short_name(b);
}

/// Of a port that has a number or an address for an ID, the description says more.
std::string described(const Heard& heard) {
  const bool number = heard.port_id.find_first_not_of("0123456789") == std::string::npos;
  const bool by_number = (number || parse_mac(heard.port_id)) && !heard.port_description.empty();
  return (heard.system_name.empty() ? heard.chassis_id : heard.system_name) + ":" +
         (by_number ? heard.port_description : heard.port_id);
}

/// How many nodes have a short name.
using ShortNames = std::map<std::string, std::size_t>;

ShortNames count_short_names(const Drawing& drawing) {
  ShortNames count;
  for (const Node& node : drawing.nodes) ++count[lower(short_name(escape(node.name)))];
  return count;
}

std::string chassis_of(const Node& node) {
  const std::string* chassis = node.attributes.find("chassis");
  return chassis != nullptr ? identifier(*chassis) : std::string();
}

Result<std::size_t> find_self(const Drawing& drawing, std::string_view system_name,
                              std::string_view chassis_id) {
  const auto find = [&](auto wanted) {
    const auto at = std::find_if(drawing.nodes.begin(), drawing.nodes.end(), wanted);
    return at == drawing.nodes.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(at - drawing.nodes.begin()));
  };
  const auto called = [&](bool short_name_is_enough) {
    return [&, short_name_is_enough](const Node& node) {
      return same_name(escape(node.name), system_name, short_name_is_enough);
    };
  };
  if (!system_name.empty()) {
    if (const auto exact = find(called(false))) return *exact;
    const auto almost = std::count_if(drawing.nodes.begin(), drawing.nodes.end(), called(true));
    if (almost > 1)
      return fail(Error{0, std::string(system_name),
                        "the file has " + std::to_string(almost) + " nodes of this short name"});
    if (const auto only = find(called(true))) return *only;
  }
  if (!chassis_id.empty())
    if (const auto it = find([&](const Node& node) { return chassis_of(node) == chassis_id; }))
      return *it;
  return fail(Error{0, std::string(system_name.empty() ? chassis_id : system_name),
                    "the file has no node of this name"});
}

}  // namespace

std::string_view to_string(Verdict v) {
  switch (v) {
    case Verdict::kAsExpected:
      return "as-expected";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kMissing:
      return "missing";
    case Verdict::kUnplanned:
      return "unplanned";
    case Verdict::kSwapped:
      break;
  }
  return "swapped";
}

std::string Finding::text() const {
  std::string who;
  for (const std::string& neighbor : heard) who.append(who.empty() ? "" : ", ").append(neighbor);
  if (who.empty()) who = "none";
  if (verdict == Verdict::kUnplanned) return "no neighbor expected, heard " + who;
  return "expected " + expected + ", heard " + who +
         (exchange.empty() ? "" : ": exchange " + port + " and " + exchange);
}

Result<Expectations> Expectations::of(const Drawing& drawing, std::string_view system_name,
                                      std::string_view chassis_id) {
  const auto self = find_self(drawing, system_name, chassis_id);
  if (!self) return fail(self.error());
  Expectations all;
  all.self_ = escape(drawing.nodes[*self].name);
  const ShortNames short_names = count_short_names(drawing);
  std::map<std::size_t, std::size_t> peer_of_node;
  std::map<std::string, Expected, std::less<>> by_port;
  for (const Link& link : drawing.links) {
    for (std::size_t e = 0; e < 2; ++e) {
      if (link.ends[e].node != *self) continue;
      const End& far = link.ends[1 - e];
      if (far.unnamed)
        return fail(
            Error{0, place_of(link), "names no ports: give each link of a cabling plan `ports`"});
      const auto [peer, fresh] = peer_of_node.emplace(far.node, all.peers_.size());
      if (fresh) {
        const Node& node = drawing.nodes[far.node];
        const std::string name = escape(node.name);
        all.peers_.push_back(
            {.name = name,
             .chassis = chassis_of(node),
             .short_name_is_its_own = short_names.at(lower(short_name(name))) == 1});
      }
      Expected expected{escape(link.ends[e].port), peer->second, identifier(far.port),
                        identifiers(far.aliases)};
      const auto [at, first] = by_port.try_emplace(expected.port, expected);
      if (!first && at->second != expected)  // the same link twice means the same
        return fail(Error{0, place_of(link),
                          all.self_ + ":" + expected.port + " has another link already"});
    }
  }
  for (const Link& link : drawing.links)
    for (const End& end : link.ends)
      if (const auto at = peer_of_node.find(end.node); at != peer_of_node.end()) {
        Peer& peer = all.peers_[at->second];
        peer.ports.push_back(identifier(end.port));
        for (std::string& alias : identifiers(end.aliases))
          peer.aliases.push_back(std::move(alias));
      }
  for (auto& [port, expected] : by_port) all.expected_.push_back(std::move(expected));
  return all;
}

std::vector<Finding> Expectations::silence() const {
  std::vector<Finding> all;
  for (const Expected& expected : expected_) all.push_back(*judge(expected.port, {}));
  return all;
}

bool Expectations::is_peer(const Peer& peer, const Heard& heard) {
  return heard.system_name.empty()
             ? heard.chassis_id == peer.chassis || heard.chassis_id == identifier(peer.name)
             : same_name(peer.name, heard.system_name, peer.short_name_is_its_own);
}

bool Expectations::matches(const Expected& expected, const Heard& heard) const {
  const Peer& peer = peers_[expected.peer];
  if (!is_peer(peer, heard)) return false;
  if (heard.port_id == expected.peer_port) return true;
  const bool is_another =
      std::find(peer.ports.begin(), peer.ports.end(), heard.port_id) != peer.ports.end();
  if (is_another) return false;
  if (heard.port_description == expected.peer_port) return true;
  const auto has = [&](const std::vector<std::string>& names) {
    return std::count(names.begin(), names.end(), heard.port_id);
  };
  return has(expected.peer_aliases) > 0 && has(peer.aliases) == 1;
}

Verdict Expectations::verdict_of(const Expected& expected, std::span<const Heard> heard) const {
  if (heard.empty()) return Verdict::kMissing;
  const auto match = std::find_if(heard.begin(), heard.end(),
                                  [&](const Heard& h) { return matches(expected, h); });
  if (match == heard.end()) return Verdict::kWrong;
  const bool another_switch = std::any_of(heard.begin(), heard.end(), [&](const Heard& h) {
    const bool of_match = !h.chassis_id.empty() && h.chassis_id == match->chassis_id;
    return h.is_switch && !of_match && !is_peer(peers_[expected.peer], h);
  });
  return another_switch ? Verdict::kWrong : Verdict::kAsExpected;
}

std::optional<Finding> Expectations::judge(std::string_view port,
                                           std::span<const Heard> heard) const {
  Finding finding{.port = std::string(port), .verdict = Verdict::kUnplanned};
  for (const Heard& neighbor : heard) finding.heard.push_back(described(neighbor));
  const auto at =
      std::lower_bound(expected_.begin(), expected_.end(), port,
                       [](const Expected& e, std::string_view p) { return e.port < p; });
  if (at == expected_.end() || at->port != port)
    return heard.empty() ? std::nullopt : std::optional(std::move(finding));
  finding.expected = peers_[at->peer].name + ":" + at->peer_port;
  finding.verdict = verdict_of(*at, heard);
  return finding;
}

std::vector<Finding> Expectations::judge_all(
    const std::map<std::string, std::vector<Heard>, std::less<>>& heard) const {
  std::vector<Finding> all;
  for (const auto& [port, neighbors] : heard)
    if (auto finding = judge(port, neighbors)) all.push_back(std::move(*finding));
  for (Finding& silent : silence())  // the device has no such port
    if (!heard.contains(silent.port)) all.push_back(std::move(silent));
  const auto is_right = [&](const Finding& at, const Finding& of) {
    const auto moved = judge(at.port, heard.find(of.port)->second);
    return moved && moved->verdict == Verdict::kAsExpected;
  };
  for (Finding& one : all)
    for (Finding& other : all)
      if (one.verdict == Verdict::kWrong && other.verdict == Verdict::kWrong && &one != &other &&
          is_right(one, other) && is_right(other, one)) {
        one.verdict = other.verdict = Verdict::kSwapped;
        one.exchange = other.port;
        other.exchange = one.port;
      }
  return all;
}

}  // namespace lldp::cabling
