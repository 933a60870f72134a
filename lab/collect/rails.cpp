// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/rails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "base/text.hpp"

namespace lldp::lab::collect {
namespace {
namespace rails {

using cabling::RailDesign;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Nic {
  std::size_t host = 0;  ///< node
  std::string name{};
  std::string group{};
  std::size_t leaf = 0;  ///< node; kNone: nothing is to be said of it any more
  std::string port{};    ///< of the leaf
};

/// What the hosts tell of their NICs' groups, by name and NIC.
using Groups = std::map<std::string, std::map<std::string, std::string>>;
Groups groups_of(const std::vector<Device>& devices) {
  Groups groups;
  for (const Device& d : devices)
    for (const Port& p : d.ports)
      if (!p.rail.empty()) groups[d.name].emplace(p.name, p.rail);
  return groups;
}

class Check {
 public:
  Check(const Fabric& fabric, const std::vector<Device>& devices) : fabric_(fabric) {
    const Groups groups = groups_of(devices);
    for (const Link& link : fabric.links)
      for (std::size_t e = 0; e < 2; ++e) {
        const LinkEnd& own = link.ends[e];
        const LinkEnd& far = link.ends[1 - e];
        if (fabric.nodes[own.node].role != Role::kHost ||
            fabric.nodes[far.node].role != Role::kSwitch)
          continue;
        Nic nic{own.node, escape(own.port), {}, far.node, escape(far.port)};
        if (const auto told = groups.find(name_of(own.node)); told != groups.end()) {
          const auto group = told->second.find(nic.name);
          if (group == told->second.end()) continue;  // of no group, as its host tells
          nic.group = group->second;
        }
        by_host_[own.node].push_back(nics_.size());
        nics_.push_back(std::move(nic));
      }
  }

  RailCheck go(std::optional<RailDesign> design) {
    const auto kept = [&](RailDesign d) { return design ? *design == d : is_kept_by_most(d); };
    one_leaf_ = kept(RailDesign::kSameLeaf);
    while (exchange_pairs()) {  // each NIC once
    }
    name_single();
    for (const auto& [host, nics] : by_host_) out_.hosts += has_group_of_two(nics) ? 1 : 0;
    for (const RailDesign d : kAll)
      if (kept(d)) out_.designs.push_back(d);
    for (const RailDesign d : out_.designs) hold_against(d);
    std::ranges::stable_sort(out_.findings, {}, [](const NicFinding& f) {
      return std::pair(std::string_view(f.host), std::string_view(f.nic));
    });
    return std::move(out_);
  }

 private:
  static constexpr RailDesign kAll[] = {RailDesign::kSameLeaf, RailDesign::kDistinctLeaf,
                                        RailDesign::kPortNumber};
  using Nics = std::vector<std::size_t>;

  [[nodiscard]] std::string name_of(std::size_t node) const {
    return escape(fabric_.nodes[node].name);
  }
  [[nodiscard]] std::string plug(std::size_t nic) const {
    return name_of(nics_[nic].leaf) + ":" + nics_[nic].port;
  }
  void add(std::size_t nic, std::array<std::string, 2> exchange, std::string text) {
    named_.insert(nic);
    const Nic& n = nics_[nic];
    out_.findings.push_back(
        {name_of(n.host), n.name, name_of(n.leaf), n.port, std::move(exchange), std::move(text)});
  }
  /// The plugs of two NICs to exchange: those of the host, if it is one, else those of the leaves.
  void add_exchange(std::size_t a, std::size_t b, const std::string& why) {
    named_.insert(b);
    const bool one_host = nics_[a].host == nics_[b].host;
    const auto end = [&](std::size_t n) {
      return one_host ? name_of(nics_[n].host) + ":" + nics_[n].name : plug(n);
    };
    add(a, {end(a), end(b)}, fmt::format("{}exchange {} and {}", why, end(a), end(b)));
  }

  // Leaves

  /// For each leaf, where the hosts on it have their NICs of each name.
  using Votes = std::map<std::size_t, std::size_t>;
  using Places = std::unordered_map<std::string, Votes>;
  [[nodiscard]] std::unordered_map<std::size_t, Places> places() const {
    std::unordered_map<std::size_t, Places> out;
    for (const auto& [host, nics] : by_host_) {
      std::set<std::size_t> leaves;
      for (const std::size_t n : nics) leaves.insert(nics_[n].leaf);
      for (const std::size_t leaf : leaves)
        for (const std::size_t n : nics) ++out[leaf][nics_[n].name][nics_[n].leaf];
    }
    return out;
  }

  /// The leaf where most hosts beside this one have the NIC; with one leaf for each host, where the
  /// other NICs of its group lead. The present one if there is no such.
  [[nodiscard]] std::size_t usual_leaf(std::size_t nic,
                                       const std::unordered_map<std::size_t, Places>& all) const {
    Votes votes;
    std::size_t total = 0;
    for (const std::size_t other : by_host_.at(nics_[nic].host)) {
      if (other == nic) continue;
      if (one_leaf_) {
        if (nics_[other].group == nics_[nic].group) ++votes[nics_[other].leaf], ++total;
        continue;
      }
      const auto& there = all.at(nics_[other].leaf);
      for (const auto& [leaf, count] : there.at(nics_[nic].name))
        votes[leaf] += count, total += count;
    }
    for (const auto& [leaf, count] : votes)
      if (2 * count > total) return leaf;
    return nics_[nic].leaf;
  }

  [[nodiscard]] bool is_of_one_group(std::size_t a, std::size_t b) const {
    return nics_[a].host == nics_[b].host && nics_[a].group == nics_[b].group;
  }

  struct Astray {
    std::size_t nic = 0;
    std::size_t wanted = 0;
  };
  [[nodiscard]] std::vector<Astray> astray() const {
    std::vector<Astray> out;
    const auto all = places();
    for (std::size_t n = 0; n < nics_.size(); ++n)
      if (const std::size_t wanted = usual_leaf(n, all); wanted != nics_[n].leaf)
        out.push_back({n, wanted});
    return out;
  }

  /// Exchanges the cables of which each leads where the other should; of each host one, for what is
  /// usual beside it is another thing then. False: there are none.
  bool exchange_pairs() {
    const std::vector<Astray> wrong = astray();
    std::map<std::pair<std::size_t, std::size_t>, Nics> by_way;  // from a leaf to the wanted one
    for (const Astray& a : wrong) by_way[{nics_[a.nic].leaf, a.wanted}].push_back(a.nic);
    std::set<std::size_t> done;  // hosts
    bool any = false;
    for (const Astray& a : wrong) {
      const Nic& nic = nics_[a.nic];
      const auto back = by_way.find({a.wanted, nic.leaf});
      if (done.contains(nic.host) || named_.contains(a.nic) || back == by_way.end()) continue;
      const std::string number = usual_number(a.nic);
      std::size_t other = kNone;
      for (const std::size_t n : back->second) {
        if (named_.contains(n) || (one_leaf_ && is_of_one_group(n, a.nic))) continue;
        if (nics_[n].host != nic.host && done.contains(nics_[n].host)) continue;
        const bool fits = !number.empty() && cabling::port_number_of(nics_[n].port) == number;
        if (other == kNone || fits) other = n;
        if (fits) break;
      }
      if (other == kNone) continue;
      add_exchange(a.nic, other, "");
      done.insert({nic.host, nics_[other].host});
      std::swap(nics_[a.nic].leaf, nics_[other].leaf);
      std::swap(nics_[a.nic].port, nics_[other].port);
      any = true;
    }
    return any;
  }

  void name_single() {
    std::vector<std::size_t> single;
    for (const Astray& a : astray()) {
      if (named_.contains(a.nic)) continue;
      add(a.nic, {},
          fmt::format("hosts beside it have {} on {}: move the cable there", nics_[a.nic].name,
                      name_of(a.wanted)));
      single.push_back(a.nic);
    }
    for (const std::size_t n : single) nics_[n].leaf = kNone;
  }

  // Designs

  [[nodiscard]] std::vector<cabling::RailFinding> judge(RailDesign d, const Nics& nics) const {
    std::vector<cabling::RailCable> cables;
    for (const std::size_t n : nics) {
      const Nic& nic = nics_[n];
      const std::string leaf = nic.leaf == kNone ? std::string() : name_of(nic.leaf);
      cables.push_back({nic.name, nic.group, leaf, leaf, nic.port});
    }
    return cabling::judge_rails(d, cables);
  }
  [[nodiscard]] bool is_kept_by_most(RailDesign d) const {
    std::size_t hosts = 0;
    std::size_t keep = 0;
    for (const auto& [host, nics] : by_host_) {
      if (!has_group_of_two(nics)) continue;
      ++hosts;
      keep += judge(d, nics).empty() ? 1 : 0;
    }
    return hosts > 1 && 2 * keep > hosts;
  }
  [[nodiscard]] bool has_group_of_two(const Nics& nics) const {
    std::map<std::string_view, std::size_t> sizes;
    return std::ranges::any_of(nics, [&](std::size_t n) {
      return nics_[n].leaf != kNone && ++sizes[nics_[n].group] == 2;
    });
  }
  /// The port number that most NICs of its group have; empty: none has one.
  [[nodiscard]] std::string usual_number(std::size_t nic) const {
    std::map<std::string, std::size_t> counts;
    for (const std::size_t n : by_host_.at(nics_[nic].host))
      if (n != nic && nics_[n].group == nics_[nic].group && nics_[n].leaf != kNone)
        ++counts[cabling::port_number_of(nics_[n].port)];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    return most == counts.end() ? std::string() : most->first;
  }

  void hold_against(RailDesign d) {
    std::map<std::pair<std::size_t, std::string>, std::size_t> at;  // leaf and number
    if (d == RailDesign::kPortNumber)
      for (std::size_t n = 0; n < nics_.size(); ++n)
        if (nics_[n].leaf != kNone)
          at.emplace(std::pair(nics_[n].leaf, cabling::port_number_of(nics_[n].port)), n);
    for (const auto& [host, nics] : by_host_)
      for (const cabling::RailFinding& f : judge(d, nics)) {
        const std::size_t nic = nics[f.cable];
        if (named_.contains(nic)) continue;
        const std::string own = cabling::port_number_of(nics_[nic].port);
        const auto there = at.find({nics_[nic].leaf, usual_number(nic)});
        if (f.other) {
          add_exchange(nic, nics[*f.other], f.text + ": ");
        } else if (there != at.end() && usual_number(there->second) == own) {
          add_exchange(nic, there->second, f.text + ": ");
        } else {
          add(nic, f.exchange, f.text + (f.remedy.empty() ? "" : ": " + f.remedy));
        }
      }
  }

  const Fabric& fabric_;
  std::vector<Nic> nics_{};
  std::map<std::size_t, Nics> by_host_{};
  bool one_leaf_ = false;          ///< for all NICs of a group
  std::set<std::size_t> named_{};  ///< NICs of findings
  RailCheck out_{};
};

}  // namespace rails
}  // namespace

RailCheck check_rails(const Fabric& fabric, const std::vector<Device>& devices,
                      std::optional<cabling::RailDesign> design) {
  return rails::Check(fabric, devices).go(design);
}

std::string to_table(const RailCheck& check) {
  std::string designs;
  for (const cabling::RailDesign d : check.designs)
    designs += (designs.empty() ? "" : ", ") + std::string(to_string(d));
  std::string out = fmt::format("rails of {} hosts: {}\n", check.hosts,
                                designs.empty() ? "no design that most of them keep" : designs);
  std::size_t nic = 0;
  std::size_t leaf = 0;
  for (const NicFinding& f : check.findings) {
    nic = std::max(nic, f.host.size() + 1 + f.nic.size());
    leaf = std::max(leaf, f.leaf.size() + 1 + f.port.size());
  }
  for (const NicFinding& f : check.findings)
    out += fmt::format("{:<9}  {:<{}}  {:<{}}  {}\n", "rail", f.host + ":" + f.nic, nic,
                       f.leaf + ":" + f.port, leaf, f.text);
  return out;
}

std::string to_json(const RailCheck& check) {
  using Ordered = nlohmann::ordered_json;
  Ordered designs = Ordered::array();
  for (const cabling::RailDesign d : check.designs) designs.push_back(to_string(d));
  Ordered findings = Ordered::array();
  for (const NicFinding& f : check.findings) {
    Ordered exchange = Ordered::array();
    for (const std::string& end : f.exchange)
      if (!end.empty()) exchange.push_back(end);
    findings.push_back({{"host", f.host},
                        {"nic", f.nic},
                        {"leaf", f.leaf},
                        {"port", f.port},
                        {"exchange", std::move(exchange)},
                        {"text", f.text}});
  }
  const Ordered json = {
      {"hosts", check.hosts}, {"designs", std::move(designs)}, {"findings", std::move(findings)}};
  return json.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

void add_marks(const RailCheck& check, const Fabric& fabric, Marks& marks) {
  std::map<std::pair<std::string, std::string>, std::size_t> links;
  for (std::size_t l = 0; l < fabric.links.size(); ++l)
    for (const LinkEnd& end : fabric.links[l].ends)
      links.emplace(std::pair(escape(fabric.nodes[end.node].name), escape(end.port)), l);
  for (const NicFinding& f : check.findings) {
    const auto at = links.find({f.host, f.nic});
    if (at == links.end()) continue;
    std::string& text = marks.doubtful_links[at->second];
    text += (text.empty() ? "rail: " : "; rail: ") + f.text;
  }
}

}  // namespace lldp::lab::collect
