// SPDX-License-Identifier: Apache-2.0
#include "cabling/rails.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace lldp::cabling {
namespace {

constexpr std::size_t kMostCables = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a cable ends, for the design: what its group is to share, or not to.
struct Spot {
  std::string leaf{};
  std::string leaf_name{};
  std::string port{};
  std::string number{};
};

class Judge {
 public:
  Judge(RailDesign design, std::span<const RailCable> cables)
      : design_(design), cables_(cables.first(std::min(cables.size(), kMostCables))) {
    for (std::size_t c = 0; c < cables_.size(); ++c) {
      const RailCable& cable = cables_[c];
      spots_.push_back({cable.leaf, cable.leaf_name, cable.port, port_number_of(cable.port)});
      if (!value_of(spots_[c]).empty()) groups_[cable.group].push_back(c);
    }
  }

  std::vector<RailFinding> go() {
    while (exchange_two()) {
    }
    for (const auto& [group, members] : groups_) name_rest(members);
    std::ranges::stable_sort(found_, {}, &RailFinding::cable);
    return std::move(found_);
  }

 private:
  [[nodiscard]] const std::string& value_of(const Spot& spot) const {
    return design_ == RailDesign::kPortNumber && !spot.leaf.empty() ? spot.number : spot.leaf;
  }
  [[nodiscard]] const std::string& value_at(std::size_t cable) const {
    return value_of(spots_[cable]);
  }
  using Members = std::vector<std::size_t>;
  [[nodiscard]] std::map<std::string, std::size_t> counts(const Members& members) const {
    std::map<std::string, std::size_t> out;
    for (const std::size_t c : members) ++out[value_at(c)];
    return out;
  }
  /// What most of the group have; of several the one of the first cable.
  [[nodiscard]] std::string usual(const Members& members) const {
    const auto all = counts(members);
    std::size_t most = 0;
    for (const auto& [value, count] : all) most = std::max(most, count);
    for (const std::size_t c : members)
      if (all.at(value_at(c)) == most) return value_at(c);
    return {};
  }
  /// Cables of the group that are against the design.
  [[nodiscard]] std::size_t wrong(const Members& members) const {
    const auto all = counts(members);
    if (design_ == RailDesign::kDistinctLeaf) return members.size() - all.size();
    std::size_t most = 0;
    for (const auto& [value, count] : all) most = std::max(most, count);
    return members.size() - most;
  }
  [[nodiscard]] bool is_wrong(std::size_t cable, const Members& members) const {
    if (design_ != RailDesign::kDistinctLeaf) return value_at(cable) != usual(members);
    return std::ranges::count_if(members,
                                 [&](std::size_t c) { return value_at(c) == value_at(cable); }) > 1;
  }

  /// Takes the exchange of two cables of different groups that mends most. False: none mends any.
  bool exchange_two() {
    std::size_t best = 0;
    std::pair<std::size_t, std::size_t> pair;
    for (const auto& [group, members] : groups_)
      for (const std::size_t p : members) {
        if (!is_wrong(p, members)) continue;
        for (const auto& [other, theirs] : groups_)
          for (const std::size_t q : theirs) {
            if (other == group || value_at(p) == value_at(q)) continue;
            const std::size_t before = wrong(members) + wrong(theirs);
            std::swap(spots_[p], spots_[q]);
            const std::size_t after = wrong(members) + wrong(theirs);
            std::swap(spots_[p], spots_[q]);
            if (before <= after || before - after <= best) continue;
            best = before - after;
            pair = {p, q};
          }
      }
    if (best == 0) return false;
    const auto [p, q] = pair;
    found_.push_back(
        {.cable = p,
         .other = q,
         .exchange = {cables_[p].nic, cables_[q].nic},
         .text = reason(p),
         .remedy = "exchange the cables of " + cables_[p].nic + " and " + cables_[q].nic});
    std::swap(spots_[p], spots_[q]);
    return true;
  }

  [[nodiscard]] std::string reason(std::size_t cable) const {
    const Members& members = groups_.at(cables_[cable].group);
    const std::string& nic = cables_[cable].nic;
    const Spot& spot = spots_[cable];
    if (design_ == RailDesign::kDistinctLeaf) {
      const auto same = std::ranges::find_if(
          members, [&](std::size_t c) { return c != cable && value_at(c) == value_at(cable); });
      return nic + " and " + cables_[*same].nic + " of one group both lead to " + spot.leaf_name;
    }
    const std::string most = usual(members);
    if (design_ == RailDesign::kPortNumber)
      return nic + " leads to port " + spot.number + " of " + spot.leaf_name +
             ", its group to port " + most + " of each leaf";
    const auto leader =
        std::ranges::find_if(members, [&](std::size_t c) { return value_at(c) == most; });
    return nic + " leads to " + spot.leaf_name + ", its group to " + spots_[*leader].leaf_name;
  }

  /// Cables that are against the design still: the other one is at another host.
  void name_rest(const Members& members) {
    std::set<std::string> named;
    for (const std::size_t c : members) {
      if (!is_wrong(c, members)) continue;
      if (design_ == RailDesign::kDistinctLeaf && named.insert(value_at(c)).second)
        continue;  // the first of each leaf may stay
      RailFinding f{.cable = c, .text = reason(c)};
      if (design_ == RailDesign::kPortNumber) {
        const Spot& spot = spots_[c];
        f.exchange = {spot.leaf_name + ":" + spot.port,
                      spot.leaf_name + ": port " + usual(members)};
        f.remedy = "on " + spot.leaf_name + ", exchange the cables of " + spot.port +
                   " and of port " + usual(members);
      }
      found_.push_back(std::move(f));
    }
  }

  RailDesign design_;
  std::span<const RailCable> cables_;
  std::vector<Spot> spots_{};
  std::map<std::string, Members> groups_{};  ///< of cables with a known end
  std::vector<RailFinding> found_{};
};

}  // namespace

std::string_view to_string(RailDesign design) {
  constexpr std::string_view kDesigns[] = {"none", "same-leaf", "distinct-leaf", "port-number"};
  return kDesigns[static_cast<std::size_t>(design)];
}

std::string port_number_of(std::string_view port) {
  if (parse_mac(port)) return {};
  const std::size_t slash = port.rfind('/');
  if (slash != port.npos) {
    std::string_view last = port.substr(slash + 1);
    last = last.substr(0, last.find(':'));
    while (!last.empty() && is_letter(last.back())) last.remove_suffix(1);
    std::size_t start = last.size();
    while (start > 0 && is_digit(last[start - 1])) --start;
    return std::string(last.substr(start));
  }
  const auto* const first = std::ranges::find_if(port, is_digit);
  return {first, port.end()};
}

std::vector<RailFinding> judge_rails(RailDesign design, std::span<const RailCable> cables) {
  if (design == RailDesign::kNone) return {};
  return Judge(design, cables).go();
}

}  // namespace lldp::cabling
