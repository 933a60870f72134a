// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"

namespace lldp::lab::collect {
namespace {

using Kind = CollectedProblem::Kind;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The text before escape(), where that is text: names in a fabric are as people write them.
std::string unescape(const std::string& shown) {
  if (shown.find('\\') == std::string::npos) return shown;
  std::string raw;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] != '\\') {
      raw += shown[i];
    } else if (i + 1 < shown.size() && shown[i + 1] == '\\') {
      raw += shown[++i];
    } else {
      return shown;  // octets that are no text stay as they are shown
    }
  }
  return raw;
}

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

/// A device, told of by itself or only by others.
struct Member {
  const Device* told = nullptr;
  std::string chassis{};
  std::string name{};
  bool called_host = false;
  bool called_switch = false;
  std::size_t agent_hears_switch = kNone;  ///< the first whose agent does
  bool has_level = false;                  ///< so it is heard: an agent's word
  std::set<std::size_t> heard_by{};
  std::size_t cables = 0;
  Role role = Role::kSwitch;
  std::string shown{};  ///< its name in the fabric, escaped

  [[nodiscard]] bool has_agent() const {
    return told != nullptr && told->dialect == AgentKind::kAgent;
  }
};

/// One port's view of one neighbor.
struct View {
  std::size_t from = 0;  ///< member
  std::size_t port = 0;  ///< index in its ports
  std::size_t to = 0;    ///< member
  const HeardNeighbor* heard = nullptr;
};

struct Cable {
  struct End {
    std::size_t member = 0;
    std::string port{};
    const Port* told = nullptr;
    const HeardNeighbor* heard = nullptr;  ///< how this end hears the other
  };
  std::array<End, 2> ends{};
  [[nodiscard]] bool two_sided() const {
    return ends[0].heard != nullptr && ends[1].heard != nullptr;
  }
};

class Assembly {
 public:
  Assembly(const std::vector<Device>& devices, const Hints& hints) : hints_(hints) {
    result_.fabric.name = hints.name;
    for (const Device& d : devices) admit(d);
    for (std::size_t m = 0, told = members_.size(); m < told; ++m) look_around(m);
    for (std::size_t v = 0; v < views_.size(); ++v) lay(v);
    settle_roles();
    settle_ports();
    name_members();
    look_at_all();
    for (const Member& m : members_) look_at(m);
    for (const Cable& c : cables_) look_at(c);
    look_for_unheard();
  }

  Result<Collection> take() {
    if (auto ok = build(); !ok) return fail(ok.error());
    std::stable_sort(result_.findings.begin(), result_.findings.end(),
                     [](const CollectedProblem& a, const CollectedProblem& b) {
                       return std::tie(a.kind, a.device, a.port) <
                              std::tie(b.kind, b.device, b.port);
                     });
    return std::move(result_);
  }

 private:
  void find(Kind kind, std::string device, std::string port, std::string text) {
    result_.findings.push_back({kind, std::move(device), std::move(port), std::move(text)});
  }

  // Which devices there are

  void admit(const Device& device) {
    const auto known = [&] {
      if (const auto it = by_chassis_.find(device.chassis);
          !device.chassis.empty() && it != by_chassis_.end())
        return it->second;
      const auto it = by_name_.find(device.name);
      return device.chassis.empty() && it != by_name_.end() ? it->second : kNone;
    }();
    if (known != kNone) {
      find(Kind::kTwice, members_[known].name.empty() ? device.chassis : members_[known].name, "",
           fmt::format("told of by {} and by {}: the first counts", members_[known].told->source,
                       device.source));
      return;
    }
    ++result_.devices_told;
    enter({.told = &device, .chassis = device.chassis, .name = device.name});
  }

  std::size_t enter(Member member) {
    const std::size_t m = members_.size();
    if (!member.chassis.empty()) by_chassis_.emplace(member.chassis, m);
    if (!member.name.empty()) {
      by_name_.emplace(member.name, m);
      by_short_name_[std::string(short_name(member.name))].push_back(m);
    }
    members_.push_back(std::move(member));
    return m;
  }

  /// The device that is heard: by its chassis ID, or, where either side knows none, by its name.
  std::size_t meant_by(const HeardNeighbor& heard) {
    if (const auto it = by_chassis_.find(heard.chassis);
        !heard.chassis.empty() && it != by_chassis_.end())
      return it->second;
    const auto may_be = [&](std::size_t m) {
      return heard.chassis.empty() || members_[m].chassis.empty();
    };
    std::size_t found = kNone;
    if (const auto it = by_name_.find(heard.name); !heard.name.empty() && it != by_name_.end()) {
      if (may_be(it->second)) found = it->second;
    } else if (const auto short_it = by_short_name_.find(std::string(short_name(heard.name)));
               !heard.name.empty() && short_it != by_short_name_.end() &&
               short_it->second.size() == 1) {
      const std::size_t m = short_it->second[0];
      const bool one_is_short =
          members_[m].name == short_name(heard.name) || heard.name == short_name(members_[m].name);
      if (one_is_short && may_be(m)) found = m;
    }
    if (found == kNone) return enter({.chassis = heard.chassis, .name = heard.name});
    if (members_[found].chassis.empty() && !heard.chassis.empty()) {
      members_[found].chassis = heard.chassis;
      by_chassis_.emplace(heard.chassis, found);
    }
    return found;
  }

  void look_around(std::size_t m) {
    const Device& device = *members_[m].told;
    for (const LeftOut& entry : device.left_out)
      find(Kind::kLeftOut, device.name, entry.port, entry.why + ": left out");
    std::unordered_set<std::string_view> ports;
    for (std::size_t p = 0; p < device.ports.size(); ++p) {
      const Port& port = device.ports[p];
      if (!ports.insert(port.name).second) {
        find(Kind::kPortTwice, device.name, port.name, "the device tells of this port twice");
        continue;
      }
      if (any_glob_match(hints_.ignored_ports, port.name)) continue;
      for (const HeardNeighbor& heard : port.heard) {
        const std::size_t to = meant_by(heard);
        if (to == m && means(heard, port)) {
          find(Kind::kSelf, device.name, port.name,
               "the port hears itself: something behind it sends frames back");
          continue;
        }
        views_of_[{m, to}].push_back(views_.size());
        views_.push_back({m, p, to, &heard});
        if (to == m) continue;
        Member& neighbor = members_[to];
        if (neighbor.name.empty()) neighbor.name = heard.name;
        if (!heard.name.empty() && short_name(heard.name) != short_name(neighbor.name) &&
            called_.emplace(to, heard.name).second)
          find(Kind::kSameChassis, neighbor.name, "",
               fmt::format("{} has the same chassis ID {}, so the two are taken for one device: "
                           "give each its own",
                           heard.name, neighbor.chassis));
        neighbor.heard_by.insert(m);
        neighbor.called_host |= heard.role == Role::kHost;
        neighbor.called_switch |= heard.role == Role::kSwitch;
        neighbor.has_level |= heard.level && heard.level->value() > 0;
        if (heard.role == Role::kSwitch && device.dialect == AgentKind::kAgent &&
            neighbor.agent_hears_switch == kNone)
          neighbor.agent_hears_switch = m;
      }
    }
  }

  // How they are cabled

  /// Whether `heard` can mean the port.
  static bool means(const HeardNeighbor& heard, const Port& port) {
    return heard.port == port.name || (!port.port_id.empty() && heard.port == port.port_id) ||
           (!heard.description.empty() && heard.description == port.name);
  }

  /// The view that the far end has of this cable; kNone: it has none.
  std::size_t counterpart(const View& v) const {
    const auto there = views_of_.find({v.to, v.from});
    if (there == views_of_.end()) return kNone;
    std::vector<std::size_t> back = there->second;
    std::erase_if(back, [&](std::size_t i) { return &views_[i] == &v; });  // of a loop
    const auto port_of = [&](const View& w) -> const Port& {
      return members_[w.from].told->ports[w.port];
    };
    const auto only = [&](auto fits) {
      std::size_t found = kNone;
      for (const std::size_t i : back) {
        if (!fits(views_[i])) continue;
        if (found != kNone) return kNone;
        found = i;
      }
      return found;
    };
    const auto both = only(
        [&](const View& w) { return means(*v.heard, port_of(w)) && means(*w.heard, port_of(v)); });
    if (both != kNone) return both;
    const auto named = only([&](const View& w) { return means(*v.heard, port_of(w)); });
    if (named != kNone) return named;
    const auto naming = only([&](const View& w) { return means(*w.heard, port_of(v)); });
    if (naming != kNone) return naming;
    const std::size_t forth = views_of_.at({v.from, v.to}).size();
    return back.size() == 1 && forth == (v.from == v.to ? 2U : 1U) ? back[0] : kNone;
  }

  void lay(std::size_t view) {
    const View& v = views_[view];
    const Member& from = members_[v.from];
    const Port& port = from.told->ports[v.port];
    std::size_t other = counterpart(v);
    if (other != kNone && counterpart(views_[other]) != view) other = kNone;
    if (other != kNone && std::pair(v.to, other) < std::pair(v.from, view))
      return;  // laid from there
    Cable cable;
    cable.ends[0] = {v.from, port.name, &port, v.heard};
    cable.ends[1].member = v.to;
    if (other != kNone) {
      const Port& far = members_[v.to].told->ports[views_[other].port];
      cable.ends[1] = {v.to, far.name, &far, views_[other].heard};
    } else {
      const Member& to = members_[v.to];
      const bool by_description =
          parse_mac(v.heard->port).has_value() && !v.heard->description.empty();
      std::string name =
          by_description || v.heard->port.empty() ? v.heard->description : v.heard->port;
      if (to.told != nullptr)
        for (const Port& p : to.told->ports)
          if (means(*v.heard, p)) {
            name = p.name;
            cable.ends[1].told = &p;
          }
      if (name.empty()) name = fmt::format("to-{}-{}", from.name, port.name);
      cable.ends[1].port = std::move(name);
    }
    for (const auto& end : cable.ends) ++members_[end.member].cables;
    cables_.push_back(std::move(cable));
  }

  // What they are

  void settle_roles() {
    tell_unmatched("--hosts", hints_.hosts);
    tell_unmatched("--switches", hints_.switches);
    for (Member& m : members_) {
      const std::string& name = m.name.empty() ? m.chassis : m.name;
      if (any_glob_match(hints_.hosts, name)) {
        m.role = Role::kHost;
        if (m.told == nullptr ? m.has_level : m.has_agent() && m.told->role == Role::kSwitch)
          find(Kind::kRole, name, "",
               "a host by --hosts, though its agent says that it is a switch");
      } else if (any_glob_match(hints_.switches, name)) {
        m.role = Role::kSwitch;
      } else if (m.told != nullptr) {
        m.role = m.told->role.value_or(Role::kSwitch);
        if (m.role == Role::kHost && m.agent_hears_switch != kNone)
          find(Kind::kRole, name, "",
               fmt::format("says that it is a host, while {} hears a switch",
                           label(m.agent_hears_switch)));
      } else if (m.called_switch || m.called_host) {
        m.role = m.called_switch ? Role::kSwitch : Role::kHost;
      } else if (m.cables <= 1) {  // at the end of one cable nothing goes round
        m.role = Role::kHost;
        find(
            Kind::kUnknownRole, name, "",
            "does not say what it is; with one cable, taken for a host: say --hosts or --switches");
      }
    }
  }

  void tell_unmatched(std::string_view option, const std::vector<std::string>& globs) {
    for (const std::string& glob : globs)
      if (std::none_of(members_.begin(), members_.end(), [&](const Member& m) {
            return any_glob_match(std::span(&glob, 1), m.name.empty() ? m.chassis : m.name);
          }))
        find(Kind::kUnmatched, escape(glob), "",
             fmt::format("{}: no device has such a name", option));
  }

  [[nodiscard]] bool is_switch(std::size_t m) const { return members_[m].role == Role::kSwitch; }

  /// One cable a port: the one that both ends tell of, or else that leads to a switch, comes first.
  void settle_ports() {
    const auto rank = [&](const Cable& c) {
      return (c.two_sided() ? 0 : 2) +
             (is_switch(c.ends[0].member) && is_switch(c.ends[1].member) ? 0 : 1);
    };
    std::stable_sort(cables_.begin(), cables_.end(),
                     [&](const Cable& a, const Cable& b) { return rank(a) < rank(b); });
    std::map<std::pair<std::size_t, std::string>, std::size_t> used;
    std::vector<Cable> kept;
    for (Cable& c : cables_) {
      std::size_t taken = kNone;
      std::size_t where = 0;
      for (std::size_t e = 0; e < 2; ++e) {
        const auto it = used.find({c.ends[e].member, unescape(c.ends[e].port)});
        if (it == used.end()) continue;
        taken = it->second;
        where = e;
      }
      if (taken == kNone) {
        for (const auto& end : c.ends)
          used.emplace(std::pair(end.member, unescape(end.port)), kept.size());
        kept.push_back(std::move(c));
        continue;
      }
      double_booked(kept[taken], c, where);
    }
    cables_ = std::move(kept);
  }

  void double_booked(const Cable& kept, const Cable& left, std::size_t where) {
    const std::size_t at = left.ends[where].member;
    const std::size_t far = left.ends[1 - where].member;
    const std::size_t kept_far =
        kept.ends[0].member == at ? kept.ends[1].member : kept.ends[0].member;
    const bool harmless = !is_switch(far) && !is_switch(kept_far);
    find(harmless ? Kind::kSharedPort : Kind::kPortTwice, label(at), left.ends[where].port,
         fmt::format("{} and {} are both there: the first counts", label(kept_far), label(far)));
  }

  [[nodiscard]] std::string label(std::size_t m) const {
    return members_[m].name.empty() ? members_[m].chassis : members_[m].name;
  }

  void name_members() {
    std::unordered_map<std::string, std::size_t> taken;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Member& m = members_[i];
      m.shown = label(i);
      if (m.shown.empty()) m.shown = m.told != nullptr ? escape(m.told->source) : "unnamed";
      if (const auto [it, fresh] = taken.emplace(unescape(m.shown), i); !fresh) {
        const std::string& other = members_[it->second].chassis;
        find(Kind::kSameName, m.shown, "",
             fmt::format("the name of two devices, {} and {}",
                         other.empty() ? "one without a chassis ID" : other,
                         m.chassis.empty() ? "one without a chassis ID" : m.chassis));
        std::string unique = fmt::format("{} ({})", m.shown, m.chassis);
        while (!taken.emplace(unescape(unique), i).second) unique += "'";
        m.shown = std::move(unique);
      }
    }
  }

  // What is wrong

  [[nodiscard]] bool any_agent() const {
    return std::any_of(members_.begin(), members_.end(),
                       [](const Member& m) { return m.has_agent() && m.role == Role::kSwitch; });
  }

  void look_at(const Member& m) {
    if (m.role != Role::kSwitch) return;
    if (m.told == nullptr) {
      std::vector<std::string> by;
      for (const std::size_t h : m.heard_by) by.push_back(members_[h].shown);
      find(Kind::kSilent, m.shown, "",
           fmt::format("a switch, heard by {}{}, that was not told of", by[0],
                       by.size() > 1 ? fmt::format(" and {} more", by.size() - 1) : ""));
      return;
    }
    if (!m.has_agent()) {
      if (any_agent())
        find(Kind::kNoAgent, m.shown, "", "a switch without an agent beside others that have one");
      return;
    }
    if (!m.told->level) {
      find(Kind::kNoLevel, m.shown, "", "a switch that has no level");
    } else if (m.told->level->value() == 0) {
      find(Kind::kLevel, m.shown, "", "a switch that says it is on level 0, where only hosts are");
    }
    const std::string& lossless = m.told->lossless;
    if (lossless.empty()) return;
    // An end that tells no DSCPs is compared by priorities alone.
    const auto differs = [&](bool with_dscps) {
      if (with_dscps && lossless.find(':') == std::string::npos) return false;
      const Member* first = classes_.emplace(with_dscps, &m).first->second;
      const auto text = [&](const std::string& all) {
        return with_dscps ? all : priorities_of(all);
      };
      if (text(first->told->lossless) == text(lossless)) return false;
      find(Kind::kClasses, m.shown, "",
           fmt::format("lossless {}, while {} has {}", lossless, first->shown,
                       first->told->lossless));
      return true;
    };
    if (!differs(false)) differs(true);
  }

  /// `5,6` of `5:dscp43,6:dscp51`
  static std::string priorities_of(const std::string& lossless) {
    std::string all;
    for (const std::string& one : split_list(lossless))
      all += (all.empty() ? "" : ",") + one.substr(0, one.find(':'));
    return all;
  }

  void look_at_all() {
    const auto switches = std::count_if(members_.begin(), members_.end(),
                                        [](const Member& m) { return m.role == Role::kSwitch; });
    if (switches > 0 && !any_agent())
      find(Kind::kNoAgent, hints_.name.empty() ? "fabric" : escape(hints_.name), "",
           "no switch tells of an agent: what is proved is what the rules would do");
  }

  /// Ports that lead to a device that no other input shows: a switch that all its neighbors have
  /// lost is in no neighbor table, and would be left out silently.
  void look_for_unheard() {
    std::set<std::pair<std::size_t, std::string>> to_switches;
    for (const Cable& c : cables_)
      if (is_switch(c.ends[0].member) && is_switch(c.ends[1].member))
        for (const auto& end : c.ends) to_switches.emplace(end.member, end.port);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Member& here = members_[m];
      if (!is_switch(m) || !here.has_agent()) continue;
      for (const Port& port : here.told->ports) {
        if (any_glob_match(hints_.ignored_ports, port.name)) continue;
        // The far end tells of the link, and that it is one-sided says all.
        if (port.heard.empty() && to_switches.contains({m, port.name})) continue;
        if (std::string why = unheard_at(here, port); !why.empty())
          find(Kind::kUnheard, here.shown, port.name, std::move(why));
      }
    }
  }

  /// Why a device is behind the port though it is not in the port's table; empty: none needs to be.
  /// Servers may send no LLDP: below the lowest switches a port that leads down needs no neighbor.
  static std::string unheard_at(const Member& here, const Port& port) {
    if (!port.unheard.empty()) return port.unheard;
    if (!port.up || !port.heard.empty() || port.order == Order::kUnknown) return {};
    const bool of_leaf = here.told->level == Level::of<1>();
    if (port.order == Order::kDown && of_leaf) return {};
    return fmt::format("no neighbor is heard, though the port is up and its order is {}",
                       to_string(port.order));
  }

  void look_at(const Cable& c) {
    const auto& [a, b] = c.ends;
    result_.two_sided += c.two_sided();
    for (std::size_t e = 0; e < 2; ++e) {
      const auto& near = c.ends[e];
      const auto& far = c.ends[1 - e];
      const Member& here = members_[near.member];
      const Member& there = members_[far.member];
      if (near.heard == nullptr) {
        if (here.told != nullptr)
          find(Kind::kOneSided, here.shown, near.port,
               fmt::format("does not hear {}:{}, which hears it", there.shown, far.port));
        continue;
      }
      if (there.has_agent() && near.heard->level && there.told->level &&
          *near.heard->level != *there.told->level)
        find(Kind::kLevel, here.shown, near.port,
             fmt::format("hears {} with level {}, which now has {}", there.shown,
                         near.heard->level->value(), there.told->level->value()));
      if (is_switch(near.member) && is_switch(far.member) && here.has_agent() &&
          near.told != nullptr && !near.told->unprotected.empty())
        find(Kind::kNoRules, here.shown, near.port,
             fmt::format("{} is there, and {}", there.shown, near.told->unprotected));
    }
    if (!is_switch(a.member) || !is_switch(b.member)) return;
    look_at_layers(c);
    if (a.told == nullptr || b.told == nullptr || !members_[a.member].has_agent() ||
        !members_[b.member].has_agent())
      return;
    if (a.member == b.member) return;  // both are up (docs/develop/rules.md A3)
    const auto opposite = [](Order o) {
      return o == Order::kUp ? Order::kDown : o == Order::kDown ? Order::kUp : Order::kUnknown;
    };
    if (a.told->order == Order::kUnknown || a.told->order != opposite(b.told->order))
      find(Kind::kOrder, members_[a.member].shown, a.port,
           fmt::format("{} here, {} at {}:{}", to_string(a.told->order), to_string(b.told->order),
                       members_[b.member].shown, b.port));
  }

  void look_at_layers(const Cable& c) {
    const auto text = [](const std::optional<Layers>& layers) {
      return layers ? to_string(*layers) : std::string("none");
    };
    const auto compare = [&](const Cable::End& here, const Cable::End& there,
                             const std::optional<Layers>& layers) {
      if (here.told->layers == (layers ? std::optional(layers->mirrored()) : std::nullopt))
        return true;
      find(Kind::kLayers, members_[here.member].shown, here.port,
           fmt::format("{} here, {} at {}:{}", text(here.told->layers), text(layers),
                       members_[there.member].shown, there.port));
      return false;
    };
    const auto& [a, b] = c.ends;
    const auto is_told = [&](const Cable::End& end) {
      return members_[end.member].has_agent() && end.told != nullptr;
    };
    if (is_told(a) && is_told(b) && !compare(a, b, b.told->layers)) return;
    for (std::size_t e = 0; e < 2; ++e)
      if (const auto& here = c.ends[e]; is_told(here) && here.heard != nullptr &&
                                        !compare(here, c.ends[1 - e], here.heard->layers))
        return;
  }

  /// Of the virtual switch that owns the port; what the neighbor says where it does not itself.
  [[nodiscard]] std::optional<Layer> layer_at(const Cable& c, std::size_t e) const {
    const auto& end = c.ends[e];
    const auto& far = c.ends[1 - e];
    if (members_[end.member].has_agent() && end.told != nullptr)
      return end.told->layers ? std::optional(end.told->layers->near) : std::nullopt;
    if (far.heard != nullptr && far.heard->layers) return far.heard->layers->near;
    if (far.told != nullptr && far.told->layers) return far.told->layers->far;
    return std::nullopt;
  }

  // The fabric

  /// What the port goes by beside its name in the fabric.
  static std::vector<std::string> aliases_of(const Cable& c, std::size_t e) {
    const auto& end = c.ends[e];
    std::vector<std::string> all;
    const auto add = [&](const std::string& name) {
      if (!name.empty() && name != end.port && std::find(all.begin(), all.end(), name) == all.end())
        all.push_back(unescape(name));
    };
    if (end.told != nullptr) add(end.told->port_id);
    if (const HeardNeighbor* heard = c.ends[1 - e].heard; heard != nullptr) {
      add(heard->port);
      add(heard->description);
    }
    return all;
  }

  Result<void> build() {
    Fabric& f = result_.fabric;
    const bool agents = any_agent();
    std::set<std::string> chassis;
    for (const Member& m : members_) {
      Node node{.name = unescape(m.shown), .role = m.role};
      if (m.role == Role::kHost) node.level = Level{};
      if (m.role == Role::kSwitch && m.has_agent() && m.told->level && m.told->level->value() > 0)
        node.level = m.told->level;
      if (const auto mac = parse_mac(m.chassis);
          mac && chassis.insert(lldp::to_string(*mac)).second)
        node.chassis = chassis_id_from_mac(*mac);
      f.nodes.push_back(std::move(node));
    }
    for (const Cable& c : cables_) {
      Link link;
      for (std::size_t e = 0; e < 2; ++e) {
        const auto& end = c.ends[e];
        link.ends[e] = {
            .node = end.member, .port = unescape(end.port), .aliases = aliases_of(c, e)};
        if (!agents || !is_switch(c.ends[0].member) || !is_switch(c.ends[1].member)) continue;
        link.ends[e].layer = layer_at(c, e);
        const bool treated = members_[end.member].has_agent() && end.told != nullptr &&
                             end.told->unprotected.empty();
        link.ends[e].order = treated ? end.told->order : Order::kUnknown;
      }
      f.links.push_back(std::move(link));
    }
    std::sort(f.links.begin(), f.links.end(), [&](const Link& x, const Link& y) {
      return std::pair(x.ends[0].node, x.ends[0].port) < std::pair(y.ends[0].node, y.ends[0].port);
    });
    const auto distance = distances_to_hosts(f);
    for (std::size_t i = 0; i < f.nodes.size(); ++i)
      if (f.nodes[i].role == Role::kSwitch && f.nodes[i].level && distance[i] &&
          *f.nodes[i].level != *distance[i])
        find(Kind::kMisplaced, members_[i].shown, "",
             fmt::format("level {}, though {} by its links", f.nodes[i].level->value(),
                         distance[i]->value()));
    auto whole = complete(std::move(f));
    if (!whole) return fail(whole.error());
    f = std::move(*whole);
    return {};
  }

  const Hints& hints_;
  Collection result_{};
  std::vector<Member> members_{};
  std::unordered_map<std::string, std::size_t> by_chassis_{};
  std::unordered_map<std::string, std::size_t> by_name_{};
  std::unordered_map<std::string, std::vector<std::size_t>> by_short_name_{};
  std::vector<View> views_{};
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> views_of_{};
  std::set<std::pair<std::size_t, std::string>> called_{};  ///< by other names than its own
  std::vector<Cable> cables_{};
  std::map<bool, const Member*> classes_{};  ///< the first that told them, without and with DSCPs
};

}  // namespace

std::string_view to_string(CollectedProblem::Kind kind) {
  switch (kind) {
    case Kind::kUnreadable:
      return "unreadable";
    case Kind::kLeftOut:
      return "left-out";
    case Kind::kNoAnswer:
      return "no-answer";
    case Kind::kSilent:
      return "silent";
    case Kind::kTwice:
      return "twice";
    case Kind::kSameName:
      return "same-name";
    case Kind::kSameChassis:
      return "same-chassis";
    case Kind::kPortTwice:
      return "port-twice";
    case Kind::kOneSided:
      return "one-sided";
    case Kind::kUnheard:
      return "unheard";
    case Kind::kOrder:
      return "order";
    case Kind::kLevel:
      return "level";
    case Kind::kNoLevel:
      return "no-level";
    case Kind::kNoRules:
      return "no-rules";
    case Kind::kClasses:
      return "classes";
    case Kind::kNoAgent:
      return "no-agent";
    case Kind::kSelf:
      return "self";
    case Kind::kLayers:
      return "layers";
    case Kind::kRole:
      return "role";
    case Kind::kUnknownRole:
      return "unknown-role";
    case Kind::kUnmatched:
      return "unmatched";
    case Kind::kMisplaced:
      return "misplaced";
    case Kind::kSharedPort:
      break;
  }
  return "shared-port";
}

bool Collection::has_problems() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const CollectedProblem& f) { return f.is_problem(); });
}

Result<Collection> assemble(const std::vector<Device>& devices, const Hints& hints) {
  return Assembly(devices, hints).take();
}

}  // namespace lldp::lab::collect
