// SPDX-License-Identifier: Apache-2.0
#include "agent/core/classes.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "qos/policy.hpp"

namespace lldp::core {
namespace {

using qos::Chain;
using qos::Chains;
using qos::DscpSet;
using qos::LosslessClass;

/// Priorities that are no evidence of an application: 0 is the default of all traffic, 6 and 7
/// carry control traffic (congestion notification, heartbeats).
constexpr std::uint8_t kNotOfApplications = 1U << 0 | 1U << 6 | 1U << 7;
/// A mask with more priorities is a default or an attack: no fabric runs so many application
/// classes.
constexpr int kMostApplications = 3;

DscpSet without(DscpSet a, DscpSet b) { return DscpSet(a.mask() & ~b.mask()); }
std::uint8_t bit(Priority p) { return static_cast<std::uint8_t>(1U << p.value()); }
bool has(std::uint8_t priorities, Priority p) { return (priorities & bit(p)) != 0; }
unsigned rank_of(const Chain& chain) { return qos::turn_rank(chain.application().priority); }

DscpSet dscps_of(const Chains& chains) {
  DscpSet all;
  for (const Chain& chain : chains)
    for (const LosslessClass& c : chain.classes) all = all | c.dscps;
  return all;
}

/// The chain with an application class of this priority.
template <class Range>
auto* find_application(Range& chains, Priority p) {
  const auto at =
      std::ranges::find(chains, p, [](const Chain& c) { return c.application().priority; });
  return at == chains.end() ? nullptr : &*at;
}

/// The order in which chains are told makes no difference.
Chains in_order(Chains chains) {
  std::ranges::stable_sort(chains, {}, rank_of);
  return chains;
}

/// A turn against the fixed order and all after it lead to the lossy class.
Chains forward_part(Chains chains) {
  for (Chain& chain : chains) {
    const auto wrong = std::ranges::is_sorted_until(
        chain.classes, {}, [](const LosslessClass& c) { return qos::turn_rank(c.priority); });
    chain.classes.erase(wrong, chain.classes.end());
  }
  return chains;
}

std::string priorities_text(std::uint8_t priorities) {
  std::string text;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((unsigned{priorities} >> p & 1U) != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(p);
  return (std::popcount(priorities) == 1 ? "priority " : "priorities ") + text;
}

std::uint8_t priorities_of(const std::vector<LosslessClass>& classes) {
  unsigned all = 0;
  for (const LosslessClass& c : classes) all |= bit(c.priority);
  return static_cast<std::uint8_t>(all);
}

/// DSCPs that lead to one lossless priority here and to another one there.
DscpSet contested(const Chains& here, const Chains& there) {
  DscpSet out;
  for (const Chain& a : here)
    for (const LosslessClass& ours : a.classes)
      for (const Chain& b : there)
        for (const LosslessClass& theirs : b.classes)
          if (ours.priority != theirs.priority) out = out | (ours.dscps & theirs.dscps);
  return out;
}

/// What both ends are advised to set: the same at each.
std::string advice(const Chains& a, const Chains& b) {
  const std::string text_a = qos::to_string(a);
  const std::string text_b = qos::to_string(b);
  const bool take_a = a.size() != b.size() ? a.size() > b.size() : text_a < text_b;
  return "qos.lossless = " + (take_a ? text_a : text_b);
}

std::string difference_text(const Chains& here, const Chains& there, std::string_view peer) {
  std::string text = "lossless classes differ: here " + qos::to_string(here) + ", at ";
  text.append(peer).append(" ").append(qos::to_string(there));
  if (const DscpSet both = contested(here, there); !both.empty())
    text += "; DSCP " + qos::to_string(both) +
            " leads to different priorities, so these classes are lossy on this port";
  return text + "; packets that turn may be lost between the two; set the same at both ends: " +
         advice(here, there);
}

}  // namespace

ToldClasses told_classes(const tlv::ClassesTlv& tlv) {
  ToldClasses out;
  for (const tlv::ClassTlv& c : tlv.classes.view()) {
    const auto priority = Priority::make(c.priority);
    const auto dscp = Dscp::make(c.dscp);
    if (!priority || !dscp) return {};  // no consistent() TLV
    if (c.step == 0) {
      out.chains.emplace_back();
      out.hops.push_back(c.hops);
    }
    out.chains.back().classes.push_back({*priority, *dscp, DscpSet(c.dscps)});
  }
  return out;
}

tlv::ClassesTlv to_classes_tlv(const ToldClasses& told) {
  tlv::ClassesTlv tlv;
  for (std::size_t i = 0; i < told.chains.size(); ++i)
    for (std::size_t step = 0; step < told.chains[i].classes.size(); ++step) {
      const LosslessClass& c = told.chains[i].classes[step];
      if (tlv.classes.count == tlv::ClassesTlv::kMost) return tlv;
      tlv.classes.items.at(tlv.classes.count++) = {.chain = static_cast<std::uint8_t>(i),
                                                   .step = static_cast<std::uint8_t>(step),
                                                   .priority = c.priority.value(),
                                                   .dscp = c.dscp.value(),
                                                   .hops = told.hops[i],
                                                   .dscps = c.dscps.mask()};
    }
  return tlv;
}

namespace {

/// The application classes of these priorities, by the DSCPs that lead to each.
std::vector<LosslessClass> classes_of(unsigned priorities,
                                      const std::array<std::uint64_t, 8>& map) {
  std::vector<LosslessClass> out;
  for (unsigned p = 0; p <= Priority::kMax; ++p) {
    if ((priorities >> p & 1U) == 0 || (kNotOfApplications >> p & 1U) != 0) continue;
    std::uint64_t dscps = map.at(p) != 0 ? map.at(p) : std::uint64_t{0xff} << 8 * p;
    for (unsigned other = 0; other <= Priority::kMax; ++other)
      if (other != p) dscps &= ~map.at(other);
    if (dscps != 0) out.push_back(qos::lossless_class(*Priority::make(p), DscpSet(dscps)));
  }
  return out;
}

}  // namespace

std::vector<LosslessClass> applications_of(const tlv::ClassClaims& claims, std::uint8_t offered) {
  const std::uint8_t told = claims.pfc.value_or(0);
  if (std::popcount(told) > kMostApplications) return {};
  return classes_of(claims.willing ? told & ~unsigned{offered} : told, claims.dscps);
}

void take_ports(OwnClasses& own, std::span<const PortClasses> ports) {
  PortClasses all;
  for (const PortClasses& port : ports) {
    all.pfc = static_cast<std::uint8_t>(all.pfc | port.pfc);
    for (std::size_t p = 0; p < all.dscps.size(); ++p) all.dscps.at(p) |= port.dscps.at(p);
  }
  const bool too_many = std::popcount(all.pfc) > kMostApplications;
  std::uint8_t of_classes = all.pfc;
  if (own.lossy) {  // what the configuration makes lossy is of no lossless class
    of_classes = static_cast<std::uint8_t>(of_classes & ~unsigned{bit(own.lossy->priority)});
    for (std::uint64_t& dscps : all.dscps) dscps &= ~DscpSet(own.lossy->dscp).mask();
  }
  own.applications = too_many ? std::vector<LosslessClass>() : classes_of(of_classes, all.dscps);
  const std::uint8_t found = priorities_of(own.applications);
  for (std::size_t p = 0; p < all.dscps.size(); ++p)
    if ((found >> p & 1U) == 0) own.lossy_dscps = own.lossy_dscps | DscpSet(all.dscps.at(p));
  const auto rest = static_cast<std::uint8_t>(all.pfc & ~unsigned{found});
  own.unexplained =
      rest == 0
          ? ""
          : "PFC is on here for " + priorities_text(rest) +
                ", and nothing tells which class of an application that is; nothing is changed for "
                "it; name the classes: qos.lossless = PRIORITY:dscpN>lossy,...";
}

Classes::Classes(Chains restored) : chains_(forward_part(std::move(restored))) {}

void Classes::hear(Ifindex ifindex, std::string_view name, std::vector<ClassPeer> peers,
                   TimePoint now) {
  PortPeers& port = ports_[ifindex];
  port.name = name;
  std::vector<Peer> heard;
  for (ClassPeer& is : peers) {
    const auto before = std::ranges::find(
        port.peers, is.name, [](const Peer& p) -> auto& { return p.is.name; });
    const bool stands = before != port.peers.end() && before->is.applications == is.applications;
    heard.push_back({std::move(is), stands ? before->since : now});
  }
  port.peers = std::move(heard);
}

std::vector<Classes::Evidence> Classes::own_and_told() const {
  std::vector<Evidence> all;
  for (const LosslessClass& c : own_.applications)
    if (!has(kNotOfApplications, c.priority)) all.push_back({c, 0});
  for (const auto& [ifindex, port] : ports_)
    for (const Peer& peer : port.peers) {
      if (!peer.is.told) continue;
      for (std::size_t i = 0; i < peer.is.told->chains.size(); ++i) {
        const std::uint8_t hops = peer.is.told->hops[i];
        if (hops >= kMostHops) continue;
        const LosslessClass& c = peer.is.told->chains[i].application();
        const DscpSet dscps = without(c.dscps, own_.lossy_dscps);
        if (dscps.empty()) continue;
        const Dscp first = dscps.contains(c.dscp) ? c.dscp : dscps.members().front();
        all.push_back({{c.priority, first, dscps}, static_cast<std::uint8_t>(hops + 1)});
      }
    }
  return all;
}

std::vector<Classes::Evidence> Classes::of_stock_neighbors(TimePoint now) {
  std::vector<Evidence> all;
  std::uint8_t largest = 0;
  std::vector<std::pair<PortPeers*, const Peer*>> standing;
  for (auto& [ifindex, port] : ports_)
    for (const Peer& peer : port.peers) {
      if (peer.is.told || peer.is.applications.empty()) continue;
      if (now - peer.since < kStands) continue;
      standing.emplace_back(&port, &peer);
      const std::uint8_t mask = priorities_of(peer.is.applications);
      if (std::popcount(mask) > std::popcount(largest)) largest = mask;
    }
  const auto outside = [&](const auto& p) {
    return (priorities_of(p.second->is.applications) & ~unsigned{largest}) != 0;
  };
  if (std::ranges::any_of(standing, outside)) {
    for (const auto& [port, peer] : standing)
      port->difference =
          "PFC is on for " + priorities_text(priorities_of(peer->is.applications)) + " at " +
          peer->is.name +
          " and for others at other neighbors: which classes are lossless is not known, and none "
          "is; set them: qos.lossless = PRIORITY:dscpN>lossy,...";
    return {};
  }
  for (const auto& [port, peer] : standing)
    for (const LosslessClass& c : peer->is.applications) {
      const DscpSet dscps = without(c.dscps, own_.lossy_dscps);
      if (!dscps.empty()) all.push_back({qos::lossless_class(c.priority, dscps), 0});
    }
  return all;
}

void Classes::take_configured() {
  const auto wrong = qos::against_turn_order(*own_.configured);
  chains_ = forward_part(*own_.configured);
  trouble_ = wrong ? "qos.lossless is in force in part only: " + wrong->what : std::string();
}

void Classes::take_platform(News& news) {
  if (const auto wrong = qos::against_turn_order(own_.platform))
    trouble_ = "the platform's turns are in force in part only: " + wrong->what;
  for (const Chain& chain : forward_part(own_.platform)) {
    const Chain* const same = find_application(chains_, chain.application().priority);
    if (same != nullptr && *same == chain) continue;
    const Chains one{chain};
    if (same != nullptr || (core::priorities_of(one) & core::priorities_of(chains_)) != 0 ||
        !(dscps_of(one) & dscps_of(chains_)).empty()) {
      trouble_ = "the platform turns " + qos::to_string(own_.platform) + ", and " +
                 qos::to_string(chains_) +
                 " is in force; to follow the platform: lldp-level forget classes";
      continue;
    }
    chains_.push_back(chain);
    news.added.push_back(describe(chain));
  }
}

void Classes::take(std::vector<Evidence> evidence, News& news) {
  // Nearer evidence goes before, so that what is further away yields where the two collide.
  std::ranges::stable_sort(evidence, [](const Evidence& a, const Evidence& b) {
    return std::tuple(a.hops, qos::turn_rank(a.cls.priority), a.cls) <
           std::tuple(b.hops, qos::turn_rank(b.cls.priority), b.cls);
  });
  std::vector<Evidence> classes;  // one for each priority
  for (const Evidence& e : evidence) {
    const auto same = std::ranges::find(classes, e.cls.priority,
                                        [](const Evidence& c) { return c.cls.priority; });
    if (same == classes.end())
      classes.push_back(e);
    else
      same->cls.dscps = same->cls.dscps | e.cls.dscps;
  }
  std::vector<LosslessClass> fresh;
  std::uint8_t taken = own_.lossy_priorities;
  const auto collides = [&](const Evidence& e, DscpSet in_use) {
    if ((e.cls.dscps & in_use).empty() && !has(core::priorities_of(chains_), e.cls.priority))
      return false;
    if (e.hops == 0 && trouble_.empty())
      trouble_ = "PFC is on for " + priorities_text(bit(e.cls.priority)) + " (DSCP " +
                 qos::to_string(e.cls.dscps) + "), which collides with " + qos::to_string(chains_) +
                 ", in force: set qos.lossless, or learn anew: lldp-level forget classes";
    return true;
  };
  for (const Evidence& e : classes) {
    taken = static_cast<std::uint8_t>(taken | bit(e.cls.priority));
    if (Chain* const chain = find_application(chains_, e.cls.priority)) {
      LosslessClass& cls = chain->classes.front();
      const DscpSet more = without(e.cls.dscps, cls.dscps);
      if (more.empty() || !(more & dscps_of(chains_)).empty()) continue;
      cls.dscps = cls.dscps | more;
      news.added.push_back(describe(*chain));
      continue;
    }
    DscpSet in_use = dscps_of(chains_);
    for (const LosslessClass& c : fresh) in_use = in_use | c.dscps;
    // A spare in force has PFC here because we wanted it.
    const bool is_spare = has(core::priorities_of(chains_), e.cls.priority);
    if ((is_spare && e.hops == 0) || collides(e, in_use)) continue;
    fresh.push_back(e.cls);
  }
  if (fresh.empty()) return;
  taken = static_cast<std::uint8_t>(taken | core::priorities_of(chains_));
  for (unsigned p = 1; p <= Priority::kMax; ++p)
    if (dscps_of(chains_).contains(*Dscp::make(8 * p + 3)))
      taken = static_cast<std::uint8_t>(taken | 1U << p);
  for (Chain& chain : qos::with_spares(std::move(fresh), taken)) {
    if (own_.most_classes != 0 &&
        static_cast<std::size_t>(std::popcount(core::priorities_of(chains_))) +
                chain.classes.size() >
            own_.most_classes) {
      trouble_ = "the switch chip has traffic classes for " + std::to_string(own_.most_classes) +
                 " lossless classes, and " + describe(chain) +
                 " would be more, so it is lossy here: take its PFC off, or set qos.lossless";
      continue;
    }
    news.added.push_back(describe(chain));
    chains_.push_back(std::move(chain));
  }
}

void Classes::learn(TimePoint now, News& news) {
  trouble_.clear();
  if (!own_.platform.empty()) {
    take_platform(news);
  } else {
    auto evidence = own_and_told();
    if (evidence.empty() && chains_.empty()) evidence = of_stock_neighbors(now);
    take(std::move(evidence), news);
  }
  chains_ = in_order(std::move(chains_));
  if (trouble_.empty()) trouble_ = own_.unexplained;
  // Then the device has no rules at all, whatever else there is to say.
  if (!own_.lossy) return;
  if (const auto policy = qos::Policy::make(chains_, *own_.lossy); !policy)
    trouble_ = "no packet changes its class, and " + qos::to_string(chains_) +
               " is in use here: " + to_string(policy.error());
}

Classes::News Classes::decide(TimePoint now) {
  News news;
  deadline_ = kNever;
  const Chains before = chains_;
  for (auto& [ifindex, port] : ports_) port.difference.clear();
  if (own_.configured)
    take_configured();
  else
    learn(now, news);
  news.chains = chains_ != before;

  std::optional<tlv::ClassesTlv> told;
  if (own_.configured) {
    told =
        to_classes_tlv({*own_.configured, std::vector<std::uint8_t>(own_.configured->size(), 0)});
  } else if (!chains_.empty()) {
    ToldClasses all{.chains = chains_};
    for (const Chain& chain : chains_) all.hops.push_back(support(chain, now).hops);
    told = to_classes_tlv(all);
  } else if (std::ranges::any_of(ports_, [](const auto& port) {
               return std::ranges::any_of(
                   port.second.peers, [](const Peer& peer) { return peer.is.told.has_value(); });
             })) {
    told.emplace();  // classes are told, and none could be taken
  }
  news.told = told != *told_;
  told_ = told;
  find_contested();
  compare(now);
  return news;
}

void Classes::find_contested() {
  lossy_on_.clear();
  for (const auto& [ifindex, port] : ports_) {
    unsigned priorities = 0;
    for (const Peer& peer : port.peers) {
      if (!peer.is.told) continue;
      const DscpSet both = contested(chains_, peer.is.told->chains);
      for (const Chain& chain : chains_)
        for (const LosslessClass& c : chain.classes)
          if (!(c.dscps & both).empty()) priorities |= bit(c.priority);
    }
    if (priorities != 0) lossy_on_[ifindex] = static_cast<std::uint8_t>(priorities);
  }
}

void Classes::compare(TimePoint now) {
  const Chains ours = in_order(own_.configured.value_or(chains_));
  const auto since = [&](TimePoint& at, bool differs) {
    if (!differs)
      at = kNever;
    else if (at == kNever)
      at = now;
    if (at != kNever) note_deadline(at + kGrace, now);
  };
  for (auto& [ifindex, port] : ports_) {
    for (const Peer& peer : port.peers) {
      if (!peer.is.told && !peer.is.applications.empty()) note_deadline(peer.since + kStands, now);
      if (!peer.is.told || !*told_ || !port.difference.empty() ||
          in_order(peer.is.told->chains) == ours)
        continue;
      port.difference = difference_text(ours, in_order(peer.is.told->chains), peer.is.name);
    }
    since(port.differs_since, !port.difference.empty());
  }
  since(trouble_since_, !trouble_.empty());
}

void Classes::note_deadline(TimePoint at, TimePoint now) {
  if (at > now) deadline_ = std::min(deadline_, at);
}

Classes::Support Classes::support(const Chain& chain, TimePoint now) const {
  if (own_.configured) return {0, "from qos.lossless"};
  const Priority p = chain.application().priority;
  if (find_application(own_.platform, p) != nullptr) return {0, "from the platform's own turns"};
  if (std::ranges::find(own_.applications, p, &LosslessClass::priority) != own_.applications.end())
    return {0, "from PFC and the DSCP map of this device"};
  Support best{.from = "remembered: no evidence is left"};
  for (const auto& [ifindex, port] : ports_)
    for (const Peer& peer : port.peers) {
      std::uint8_t hops = tlv::ClassTlv::kNoEvidence;
      if (peer.is.told) {
        for (std::size_t i = 0; i < peer.is.told->chains.size(); ++i)
          if (peer.is.told->chains[i].application().priority == p &&
              peer.is.told->hops[i] < kMostHops)
            hops = static_cast<std::uint8_t>(peer.is.told->hops[i] + 1);
      } else if (now - peer.since >= kStands &&
                 std::ranges::find(peer.is.applications, p, &LosslessClass::priority) !=
                     peer.is.applications.end()) {
        hops = 0;
      }
      if (hops < best.hops) best = {hops, "from " + port.name + "'s neighbor"};
    }
  return best;
}

void Classes::forget(TimePoint now) {
  if (own_.configured) return;
  std::erase_if(chains_, [&](const Chain& chain) {
    return support(chain, now).hops == tlv::ClassTlv::kNoEvidence;
  });
}

std::vector<std::string> Classes::evidence(TimePoint now) const {
  std::vector<std::string> out;
  for (const Chain& chain : chains_) out.push_back(support(chain, now).from);
  return out;
}

std::optional<std::string> Classes::mismatch(Ifindex ifindex, TimePoint now) const {
  const auto stands = [now](TimePoint since) { return since != kNever && now - since >= kGrace; };
  if (ifindex == Ifindex{}) return stands(trouble_since_) ? std::optional(trouble_) : std::nullopt;
  const auto port = ports_.find(ifindex);
  if (port == ports_.end() || !stands(port->second.differs_since)) return std::nullopt;
  return port->second.difference;
}

std::uint8_t Classes::lossy_on(Ifindex port) const {
  const auto at = lossy_on_.find(port);
  return at == lossy_on_.end() ? std::uint8_t{0} : at->second;
}

std::string with_chains_for(const Chains& chains, unsigned priorities) {
  std::vector<LosslessClass> applications;
  for (unsigned p = 1; p <= Priority::kMax; ++p)
    if ((priorities >> p & 1U) != 0)
      applications.push_back(
          qos::lossless_class(*Priority::make(p), DscpSet(std::uint64_t{0xff} << 8 * p)));
  Chains all = chains;
  for (Chain& chain : qos::with_spares(std::move(applications), priorities_of(chains)))
    all.push_back(std::move(chain));
  return qos::to_string(all);
}

std::string describe(const Chain& chain) {
  std::string text;
  for (const LosslessClass& c : chain.classes)
    text += (text.empty() ? "" : " > ") + std::to_string(c.priority.value()) + " (DSCP " +
            qos::to_string(c.dscps) + ")";
  return chain.classes.size() == 1 ? text + " > lossy" : text;
}

std::uint8_t priorities_of(const Chains& chains) {
  unsigned all = 0;
  for (const Chain& chain : chains)
    for (const LosslessClass& c : chain.classes) all |= bit(c.priority);
  return static_cast<std::uint8_t>(all);
}

std::uint8_t applications_of(const Chains& chains) {
  unsigned all = 0;
  for (const Chain& chain : chains) all |= bit(chain.application().priority);
  return static_cast<std::uint8_t>(all);
}

}  // namespace lldp::core
