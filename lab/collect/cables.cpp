// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "tlv/port_facts.hpp"

namespace lldp::lab::collect {
namespace {
namespace cables {

using Kind = CableFinding::Kind;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

std::string short_name(std::string_view name) { return lower(name.substr(0, name.find('.'))); }

/// `Ethernet1/1`, `Eth1/1` and `Et1/1` are one port; `Ethernet4` is not `swp4`.
std::string port_key(std::string_view name) {
  std::string key = lower(name);
  for (const std::string_view prefix : {"ethernet", "eth", "et"}) {
    if (!key.starts_with(prefix)) continue;
    const std::string rest = key.substr(prefix.size());
    if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') return "et" + rest;
  }
  return key;
}

/// A MAC address in the one notation, anything else as `show` prints it.
std::string identifier(std::string_view text) {
  const auto mac = parse_mac(text);
  return mac ? lldp::to_string(*mac) : escape(text);
}

struct End {
  std::string device{};
  std::string port{};
  friend auto operator<=>(const End&, const End&) = default;
};
std::string text_of(const End& end) { return end.device + ":" + end.port; }

struct Cable {
  End a{};
  End b{};
  std::optional<std::uint32_t> speed{};
  std::optional<std::uint32_t> mtu{};
};

/// What names in answers mean in the plan.
class Names {
 public:
  explicit Names(const cabling::Drawing& plan, const std::vector<Device>& devices) {
    std::map<std::string, std::size_t> shorts;
    for (const cabling::Node& node : plan.nodes) ++shorts[short_name(escape(node.name))];
    for (const cabling::Node& node : plan.nodes) {
      const std::string name = escape(node.name);
      by_name_.emplace(lower(name), name);
      if (shorts[short_name(name)] == 1) by_short_.emplace(short_name(name), name);
      if (const std::string* chassis = node.attributes.find("chassis"))
        by_chassis_.emplace(identifier(*chassis), name);
    }
    for (const cabling::Link& link : plan.links)
      for (const cabling::End& end : link.ends) {
        auto& ports = ports_[escape(plan.nodes[end.node].name)];
        const std::string port = escape(end.port);
        ports.try_emplace(port_key(port), port);
        ports.try_emplace(identifier(end.port), port);
        for (const std::string& alias : end.aliases) {
          const auto [at, fresh] =
              aliases_.try_emplace({escape(plan.nodes[end.node].name), identifier(alias)}, port);
          if (!fresh && at->second != port) at->second.clear();  // of two ports: of none
        }
      }
    // A device that tells of itself says what its Port IDs are.
    for (const Device& device : devices) {
      const std::string name = device_of(device.name, device.chassis);
      for (const Port& port : device.ports)
        if (!port.port_id.empty()) told_.try_emplace({name, port.port_id}, port.name);
    }
  }

  [[nodiscard]] std::string device_of(const std::string& name, const std::string& chassis) const {
    if (const auto at = by_name_.find(lower(name)); at != by_name_.end()) return at->second;
    if (!name.empty())
      if (const auto at = by_short_.find(short_name(name)); at != by_short_.end())
        return at->second;
    if (const auto at = by_chassis_.find(chassis); at != by_chassis_.end()) return at->second;
    if (const auto at = by_name_.find(lower(chassis)); at != by_name_.end()) return at->second;
    return name.empty() ? chassis : name;
  }
  [[nodiscard]] std::string port_of(const std::string& device, const std::string& id,
                                    const std::string& description) const {
    if (const auto port = planned(device, id)) return *port;
    const auto told = told_.find({device, id});
    if (told != told_.end()) {
      const auto port = planned(device, told->second);
      return port ? *port : told->second;
    }
    if (const auto port = planned(device, description)) return *port;
    if (const auto at = aliases_.find({device, id}); at != aliases_.end() && !at->second.empty())
      return at->second;
    return id.empty() ? description : id;
  }

 private:
  [[nodiscard]] std::optional<std::string> planned(const std::string& device,
                                                   const std::string& port) const {
    const auto ports = ports_.find(device);
    if (port.empty() || ports == ports_.end()) return std::nullopt;
    const auto at = ports->second.find(port_key(port));
    return at == ports->second.end() ? std::nullopt : std::optional(at->second);
  }

  std::map<std::string, std::string> by_name_{};
  std::map<std::string, std::string> by_short_{};
  std::map<std::string, std::string> by_chassis_{};
  std::map<std::string, std::map<std::string, std::string>> ports_{};  ///< of a device, by key
  std::map<std::pair<std::string, std::string>, std::string> aliases_{};
  std::map<std::pair<std::string, std::string>, std::string> told_{};
};

/// What the devices tell, in the names of the plan.
struct Told {
  std::set<std::string> devices{};       ///< that tell of themselves
  std::map<End, std::set<End>> heard{};  ///< from either end
  std::set<End> other_switch{};          ///< ports with a second switch
  std::map<End, const Port*> ports{};
  std::map<End, const HeardNeighbor*> as_heard{};  ///< what the other end is told of a port
};

Told told_by(const std::vector<Device>& devices, const Names& names) {
  Told out;
  for (const Device& device : devices) {
    const std::string name = names.device_of(device.name, device.chassis);
    out.devices.insert(name);
    for (const Port& port : device.ports) {
      const End own{name, names.port_of(name, port.name, {})};
      out.ports.try_emplace(own, &port);
      for (const HeardNeighbor& n : port.heard) {
        const std::string peer = names.device_of(n.name, n.chassis);
        const End far{peer, names.port_of(peer, n.port, n.description)};
        out.heard[own].insert(far);
        out.heard[far].insert(own);
        out.as_heard.try_emplace(far, &n);
        const bool second = std::ranges::any_of(port.heard, [&](const HeardNeighbor& m) {
          return m.chassis != n.chassis && m.role == Role::kSwitch;
        });
        if (second && n.role == Role::kSwitch) out.other_switch.insert(own);
      }
    }
  }
  return out;
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::string speed_text(std::uint32_t mbps) {
  return mbps % 1000 == 0 ? fmt::format("{} Gb/s", mbps / 1000) : fmt::format("{} Mb/s", mbps);
}

class Check {
 public:
  Check(const cabling::Drawing& plan, const std::vector<Device>& devices)
      : plan_(plan), names_(plan, devices), told_(told_by(devices, names_)) {}

  Result<CableCheck> go() {
    if (auto taken = take_plan(); !taken) return fail(taken.error());
    out_.planned = cables_.size();
    for (std::size_t c = 0; c < cables_.size(); ++c) judge(c);
    name_swaps();
    name_wrongs();
    name_unplanned();
    count_pairs();
    std::ranges::stable_sort(out_.findings, {}, [](const CableFinding& f) { return f.kind; });
    return std::move(out_);
  }

 private:
  Result<void> take_plan() {
    out_.notes = cabling::first_notes(plan_);
    for (const cabling::Link& link : plan_.links) {
      Cable cable;
      for (std::size_t e = 0; e < 2; ++e) {
        if (link.ends[e].unnamed)
          return fail(Error{0, cabling::place_of(link),
                            "names no ports: give each link of a cabling plan `ports`"});
        End& end = e == 0 ? cable.a : cable.b;
        end = {escape(plan_.nodes[link.ends[e].node].name), escape(link.ends[e].port)};
      }
      if (const std::string* speed = link.attributes.find("speed")) {
        cable.speed = speed_mbps_of(*speed);
        if (!cable.speed)
          out_.notes.push_back(fmt::format("{}: speed {} is none: not compared",
                                           cabling::place_of(link), escape(*speed)));
      }
      if (const std::string* mtu = link.attributes.find("mtu")) {
        cable.mtu = number_of(*mtu);
        if (!cable.mtu)
          out_.notes.push_back(fmt::format("{}: mtu {} is none: not compared",
                                           cabling::place_of(link), escape(*mtu)));
      }
      const auto known = at_.find(cable.a);
      if (known != at_.end() && far_end(known->second, cable.a) == cable.b) continue;  // twice
      for (const End& end : {cable.a, cable.b})
        if (!at_.try_emplace(end, cables_.size()).second)
          return fail(
              Error{0, cabling::place_of(link), text_of(end) + " has another cable already"});
      cables_.push_back(std::move(cable));
    }
    is_wrong_.assign(cables_.size(), false);
    return {};
  }
  [[nodiscard]] const End& far_end(std::size_t cable, const End& of) const {
    return cables_[cable].a == of ? cables_[cable].b : cables_[cable].a;
  }
  [[nodiscard]] const std::set<End>& heard(const End& end) const {
    static const std::set<End> kNone;
    const auto at = told_.heard.find(end);
    return at == told_.heard.end() ? kNone : at->second;
  }
  void add(Kind kind, const End& at, const End& peer, std::string text) {
    out_.findings.push_back({kind, at.device, at.port, text_of(peer), std::move(text)});
  }

  void judge(std::size_t c) {
    const Cable& cable = cables_[c];
    const bool is_there = heard(cable.a).contains(cable.b);
    const bool other = told_.other_switch.contains(cable.a) || told_.other_switch.contains(cable.b);
    if (is_there && !other) {
      const std::size_t before = out_.findings.size();
      compare(cable, Kind::kSpeed, cable.speed, speed_text, "runs at");
      compare(
          cable, Kind::kMtu, cable.mtu, [](std::uint32_t mtu) { return std::to_string(mtu); },
          "has MTU");
      out_.right += out_.findings.size() == before ? 1 : 0;
    } else if (!heard(cable.a).empty() || !heard(cable.b).empty()) {
      is_wrong_[c] = true;
    } else if (!told_.devices.contains(cable.a.device) && !told_.devices.contains(cable.b.device)) {
      add(Kind::kUnknown, cable.a, cable.b, "neither device tells of itself");
    } else {
      add(Kind::kMissing, cable.a, cable.b, "no neighbor is heard");
    }
  }

  /// Speed or MTU of a port: by its own word, else as the other end is told; 0: not known.
  struct Reading {
    std::uint32_t value = 0;
    std::uint32_t slack = 0;  ///< of a MTU behind a Maximum Frame Size
    [[nodiscard]] bool is(const Reading& other) const {
      const auto [low, high] = std::minmax(value, other.value);
      return high - low <= std::max(slack, other.slack);
    }
    [[nodiscard]] const char* source() const {
      return slack == 0 ? "" : " by its Maximum Frame Size";
    }
  };
  [[nodiscard]] Reading read(Kind kind, const End& end) const {
    const auto own = told_.ports.find(end);
    const auto heard = told_.as_heard.find(end);
    if (kind == Kind::kSpeed) {
      if (own != told_.ports.end() && own->second->speed_mbps != 0)
        return {own->second->speed_mbps};
      return {heard == told_.as_heard.end() ? 0U : heard->second->speed_mbps};
    }
    if (own != told_.ports.end() && own->second->mtu != 0) return {own->second->mtu};
    if (heard == told_.as_heard.end()) return {};
    return {tlv::mtu_of(heard->second->frame_octets), tlv::kTagAndCheck};
  }

  template <class Text>
  void compare(const Cable& cable, Kind kind, std::optional<std::uint32_t> planned, Text text,
               std::string_view verb) {
    const Reading a = read(kind, cable.a);
    const Reading b = read(kind, cable.b);
    for (const auto& [end, is] : {std::pair(cable.a, a), std::pair(cable.b, b)})
      if (planned && is.value != 0 && !is.is({*planned}))
        return add(
            kind, end, end == cable.a ? cable.b : cable.a,
            fmt::format("{} {}{}, planned {}", verb, text(is.value), is.source(), text(*planned)));
    if (!planned && a.value != 0 && b.value != 0 && !a.is(b))
      add(kind, cable.a, cable.b,
          fmt::format("{} {}{} here and {}{} at the other end", verb, text(a.value), a.source(),
                      text(b.value), b.source()));
  }

  /// Two planned cables x-y and u-v of which x-v and u-y are there.
  void name_swaps() {
    for (std::size_t c = 0; c < cables_.size(); ++c) {
      if (!is_wrong_[c]) continue;
      for (const End& x : {cables_[c].a, cables_[c].b}) {
        if (!is_wrong_[c]) break;
        const End& y = far_end(c, x);
        for (const End& v : heard(x)) {
          const auto other = at_.find(v);
          if (other == at_.end() || other->second == c || !is_wrong_[other->second]) continue;
          const End& u = far_end(other->second, v);
          if (!heard(u).contains(y)) continue;
          // The two plugs to exchange: those in one device, if any are.
          const bool far = y.device == v.device || x.device != u.device;
          const End& one = far ? y : x;
          const End& two = far ? v : u;
          add(Kind::kSwapped, one, far ? x : y,
              fmt::format("exchange {} and {}", one.device == two.device ? one.port : text_of(one),
                          one.device == two.device ? two.port : text_of(two)));
          is_wrong_[c] = is_wrong_[other->second] = false;
          break;
        }
      }
    }
  }

  void name_wrongs() {
    for (std::size_t c = 0; c < cables_.size(); ++c) {
      if (!is_wrong_[c]) continue;
      const Cable& cable = cables_[c];
      const End& at = heard(cable.a).empty() ? cable.b : cable.a;
      std::string leads;
      for (const End& end : {cable.a, cable.b}) {
        std::string list;
        for (const End& far : heard(end)) list += (list.empty() ? "" : " and ") + text_of(far);
        if (list.empty()) list = "nothing";
        leads += (leads.empty() ? "" : ", ") + text_of(end) + " to " + list;
      }
      add(Kind::kWrong, at, far_end(c, at), leads);
    }
  }

  void name_unplanned() {
    std::set<std::pair<End, End>> named;
    for (const auto& [end, others] : told_.heard)
      for (const End& far : others) {
        if (at_.contains(end) || at_.contains(far)) continue;  // told of as wrong there
        if (named.insert(std::minmax(end, far)).second)
          add(Kind::kUnplanned, std::min(end, far), std::max(end, far), "not in the plan");
      }
  }

  void count_pairs() {
    std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> pairs;
    const auto pair = [](const End& a, const End& b) { return std::minmax(a.device, b.device); };
    for (const Cable& cable : cables_) ++pairs[pair(cable.a, cable.b)].first;
    for (const auto& [end, others] : told_.heard)
      for (const End& far : others)
        if (end < far) ++pairs[pair(end, far)].second;
    for (const auto& [devices, count] : pairs)
      if (count.first != count.second)
        out_.counts.push_back({devices.first, devices.second, count.first, count.second});
  }

  const cabling::Drawing& plan_;
  Names names_;
  Told told_;
  std::vector<Cable> cables_{};
  std::map<End, std::size_t> at_{};
  std::vector<bool> is_wrong_{};
  CableCheck out_{};
};

}  // namespace cables
}  // namespace

std::string_view to_string(CableFinding::Kind kind) {
  switch (kind) {
    case CableFinding::Kind::kSwapped:
      return "swapped";
    case CableFinding::Kind::kWrong:
      return "wrong";
    case CableFinding::Kind::kMissing:
      return "missing";
    case CableFinding::Kind::kUnplanned:
      return "unplanned";
    case CableFinding::Kind::kSpeed:
      return "speed";
    case CableFinding::Kind::kMtu:
      return "mtu";
    case CableFinding::Kind::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<std::uint32_t> speed_mbps_of(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  constexpr std::uint32_t kMost = 4'000'000;  // 4 Tb/s
  const auto value = cables::number_of(text.substr(0, digits));
  if (!value || *value == 0 || *value > kMost) return std::nullopt;
  std::string unit = cables::lower(text.substr(digits));
  std::erase(unit, ' ');
  if (unit.empty() || unit == "m" || unit == "mb/s" || unit == "mbps" || unit == "mbit/s")
    return value;
  const bool giga = unit == "g" || unit == "gb/s" || unit == "gbps" || unit == "gbit/s" ||
                    unit == "ge" || unit == "gbe";
  return giga && *value <= kMost / 1000 ? std::optional(*value * 1000) : std::nullopt;
}

Result<CableCheck> check_cables(const cabling::Drawing& plan, const std::vector<Device>& devices) {
  return cables::Check(plan, devices).go();
}

std::string to_table(const CableCheck& check) {
  std::string out = fmt::format("{} of {} planned cables are right\n", check.right, check.planned);
  std::size_t at = 0;
  std::size_t peer = 0;
  for (const CableFinding& f : check.findings) {
    at = std::max(at, f.device.size() + 1 + f.port.size());
    peer = std::max(peer, f.peer.size());
  }
  for (const CableFinding& f : check.findings)
    out += fmt::format("{:<9}  {:<{}}  {:<{}}  {}\n", to_string(f.kind), f.device + ":" + f.port,
                       at, f.peer, peer, f.text);
  for (const CableCount& c : check.counts)
    out += fmt::format("between {} and {}: {} of {} cables\n", c.a, c.b, c.seen, c.planned);
  for (const std::string& note : check.notes) out += note + "\n";
  return out;
}

std::string to_json(const CableCheck& check) {
  using Ordered = nlohmann::ordered_json;
  Ordered findings = Ordered::array();
  for (const CableFinding& f : check.findings)
    findings.push_back({{"kind", to_string(f.kind)},
                        {"device", f.device},
                        {"port", f.port},
                        {"peer", f.peer},
                        {"text", f.text}});
  Ordered counts = Ordered::array();
  for (const CableCount& c : check.counts)
    counts.push_back({{"a", c.a}, {"b", c.b}, {"planned", c.planned}, {"seen", c.seen}});
  const Ordered all = {{"planned", check.planned},
                       {"right", check.right},
                       {"findings", std::move(findings)},
                       {"counts", std::move(counts)},
                       {"notes", check.notes}};
  return all.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

void add_marks(const CableCheck& check, const Fabric& fabric, Marks& marks) {
  const auto add = [](std::string& to, const CableFinding& f) {
    to += fmt::format("{}{} {}: {}", to.empty() ? "" : "; ", to_string(f.kind), f.peer, f.text);
  };
  for (const CableFinding& f : check.findings) {
    bool found = false;
    for (std::size_t l = 0; l < fabric.links.size() && !found; ++l)
      for (const LinkEnd& end : fabric.links[l].ends)
        if (!found && escape(end.port) == f.port &&
            cables::short_name(escape(fabric.nodes[end.node].name)) ==
                cables::short_name(f.device)) {
          add(marks.doubtful_links[l], f);
          found = true;
        }
    for (std::size_t n = 0; n < fabric.nodes.size() && !found; ++n)
      if (cables::short_name(escape(fabric.nodes[n].name)) == cables::short_name(f.device)) {
        add(marks.doubtful_nodes[n], f);
        found = true;
      }
  }
}

}  // namespace lldp::lab::collect
