// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_table.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace lldp::io {

void LinkTable::take(const LinkMessage& message) {
  std::visit([this](const auto& m) { learn(m); }, message);
}

void LinkTable::keep(const std::set<Ifindex>& there) {
  std::vector<Ifindex> missing;
  for (const auto& [ifindex, link] : interfaces_)
    if (!there.contains(ifindex)) missing.push_back(ifindex);
  for (const Ifindex ifindex : missing) learn(InterfaceGone{ifindex});
}

void LinkTable::take_all(std::set<InterfaceAddress> addresses) {
  if (std::exchange(addresses_, std::move(addresses)) != addresses_ && observer_.addresses)
    observer_.addresses();
}

void LinkTable::take_all(const std::map<Ifindex, BridgeVlans>& vlans) {
  for (const auto& [ifindex, before] : std::map(vlans_))
    if (!vlans.contains(ifindex)) learn(BridgeVlans{.ifindex = ifindex});
  for (const auto& [ifindex, now] : vlans) learn(now);
}

void LinkTable::learn(const Interface& link) {
  const auto [it, fresh] = interfaces_.try_emplace(link.ifindex);
  if (!fresh && it->second == link) return;
  const Interface old = std::exchange(it->second, link);
  if (observer_.changed) observer_.changed(link);
  if (old.vlan == link.vlan && old.lower == link.lower && old.vlan_filtering == link.vlan_filtering)
    return;
  tell_dependents(old);
  tell_dependents(link);
}

void LinkTable::tell_dependents(const Interface& link) {
  if (!observer_.changed) return;
  const bool on_another = link.vlan != 0 && link.lower != Ifindex();
  if (!on_another && link.kind != "bridge") return;
  for (const auto& [ifindex, other] : interfaces_)
    if (on_another ? ifindex == link.lower || other.master == link.lower
                   : other.master == link.ifindex)
      observer_.changed(other);
}

void LinkTable::learn(const InterfaceGone& gone) {
  vlans_.erase(gone.ifindex);
  learn_forwarding([&] { forwarding_interfaces_.erase(gone.ifindex); });
  const auto it = interfaces_.find(gone.ifindex);
  if (it == interfaces_.end()) return;
  const Interface old = std::move(it->second);
  interfaces_.erase(it);
  if (observer_.gone) observer_.gone(gone.ifindex);
  tell_dependents(old);
}

void LinkTable::learn(const AddressChange& change) {
  const bool changed = change.there ? addresses_.insert(change.address).second
                                    : addresses_.erase(change.address) != 0;
  if (changed && observer_.addresses) observer_.addresses();
}

void LinkTable::learn(const BridgeVlans& vlans) {
  const auto before = vlans_.find(vlans.ifindex);
  if (before == vlans_.end() ? vlans.vlans.empty() : before->second == vlans) return;
  if (vlans.vlans.empty())
    vlans_.erase(before);
  else
    vlans_.insert_or_assign(vlans.ifindex, vlans);
  const auto link = interfaces_.find(vlans.ifindex);
  if (link != interfaces_.end() && observer_.changed) observer_.changed(link->second);
}

void LinkTable::learn_forwarding(const auto& change) {
  const Forwards before = forwards();
  change();
  if (forwards() != before && observer_.forwarding) observer_.forwarding();
}

void LinkTable::learn(const Forwarding& forwarding) {
  learn_forwarding([&] {
    if (forwarding.family == Forwarding::Family::kIpv6) {
      ipv6_forwarding_ = forwarding.enabled;
    } else if (forwarding.ifindex == Ifindex()) {
      ipv4_forwarding_ = forwarding.enabled;
      if (ipv4_forwarding_) forwarding_interfaces_.clear();
    } else if (forwarding.enabled && !ipv4_forwarding_) {
      forwarding_interfaces_.insert(forwarding.ifindex);
    } else {
      forwarding_interfaces_.erase(forwarding.ifindex);
    }
  });
}

void LinkTable::take_forwarding(std::set<Ifindex> interfaces) {
  learn_forwarding([&] { forwarding_interfaces_ = std::move(interfaces); });
}

}  // namespace lldp::io
