// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "base/text.hpp"

namespace lldp::core {

void Agent::Impl::set_own_classes(TimePoint now) {
  if (settings_->classes) classes_.set_own(*settings_->classes);
  if (settings_->classes || !class_alarms_.empty()) classes_at_ = now;
}

std::vector<ClassPeer> Agent::Impl::class_peers(const Port& port) const {
  std::vector<ClassPeer> peers;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded) continue;
    ClassPeer peer{.name = describe(n), .is_switch = n.claims_switch};
    // Heard by two addresses, it is one.
    if (std::ranges::find(peers, peer.name, &ClassPeer::name) != peers.end()) continue;
    const tlv::ClassClaims claims =
        tlv::class_claims_of(n.lldpdu(), {.contribution_ouis = settings_->accepted_ouis});
    if (n.claims_switch) {
      // Its PFC may be what its agent has set for us.
      if (claims.classes) peer.told = told_classes(*claims.classes);
    } else if (!claims.classes) {  // which a host has none of
      peer.applications = applications_of(claims, port.offered_pfc);
    }
    if (peer.is_switch || !peer.applications.empty()) peers.push_back(std::move(peer));
  }
  return peers;
}

void Agent::Impl::follow_classes(TimePoint now, Actions& out) {
  classes_at_ = kNever;
  if (!has_classes()) return tell_class_alarms(now, out);
  for (const auto& port : ports_) {
    if (!port || !std::exchange(port->classes_stale, false)) continue;
    classes_.hear(port->link.ifindex, escape(port->link.name), class_peers(*port), now);
  }
  Classes::News news = classes_.decide(now);
  classes_at_ = classes_.deadline();
  for (std::string& text : news.added)
    out.events.push_back({.kind = Event::Kind::kClassesExtended, .text = std::move(text)});
  note_state(news.chains, out);
  tell_class_alarms(now, out);
  if (news.chains) label_all(now, out);  // which priorities want PFC
  if (!news.told) return;
  for (const auto& port : ports_)
    if (port && port->table.size() != 0) announce(*port, now);  // a newcomer is answered anyway
}

void Agent::Impl::tell_class_alarm(Ifindex port, std::string_view name,
                                   std::optional<std::string> text, TimePoint now, Actions& out) {
  const AlarmReason reason{AlarmReason::Found::kByClasses, port};
  const auto stands = class_alarms_.find(port);
  if (stands != class_alarms_.end() && (!text || stands->second != name)) {
    clear(reason, AlarmCode::kClassMismatch, stands->second, out);
    class_alarms_.erase(stands);
  }
  if (!text) return;
  class_alarms_.insert_or_assign(port, std::string(name));
  raise(reason, AlarmCode::kClassMismatch, name, std::move(*text), now, out);
}

void Agent::Impl::tell_class_alarms(TimePoint now, Actions& out) {
  const auto text = [&](Ifindex port) {
    return has_classes() ? classes_.mismatch(port, now) : std::nullopt;
  };
  tell_class_alarm({}, {}, text({}), now, out);
  for (const auto& port : ports_)
    if (port)
      tell_class_alarm(port->link.ifindex, escape(port->link.name), text(port->link.ifindex), now,
                       out);
}

void Agent::Impl::forget_classes(TimePoint now, Actions& out) {
  if (finished_ || !has_classes()) return;
  const qos::Chains before = classes_.chains();
  classes_.forget(now);
  note_state(classes_.chains() != before, out);
  follow_classes(now, out);
}

}  // namespace lldp::core
