// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {

/// The one switch that is heard on the port; null: none, or several, of which any may be the leaf.
const Neighbor* leaf_on(const Port& port) {
  const Neighbor* leaf = nullptr;
  for (const Neighbor& n : port.table.all()) {
    const bool is_switch = n.forwards || n.device == DeviceType::kSwitch;
    if (n.superseded || !is_switch) continue;
    if (leaf != nullptr && leaf->chassis_id() != n.chassis_id()) return nullptr;
    leaf = &n;
  }
  return leaf;
}

}  // namespace

void Agent::Impl::follow_rails(TimePoint now, Actions& out) {
  rails_at_ = kNever;
  std::vector<const Port*> nics;
  std::vector<cabling::RailCable> cables;
  for (const auto& port : ports_)
    if (has_rails() && port && !port->link.details->rail_group.empty()) nics.push_back(port.get());
  std::ranges::sort(nics, {}, [](const Port* p) { return p->link.ifindex; });
  for (const Port* nic : nics) {
    cabling::RailCable& cable = cables.emplace_back();
    cable.nic = escape(nic->link.name);
    cable.group = escape(nic->link.details->rail_group);
    if (const Neighbor* leaf = leaf_on(*nic)) {
      cable.leaf = to_string(leaf->chassis_id());
      cable.leaf_name = name_of(*leaf);
      cable.port = port_name_of(*leaf);
    }
  }
  std::map<Ifindex, std::string> texts;
  for (cabling::RailFinding& f : cabling::judge_rails(settings_->rails, cables)) {
    std::string& text = texts[nics[f.cable]->link.ifindex];
    text += (text.empty() ? "" : "; ") + f.text +
            (f.remedy.empty() ? "; the cable to exchange it with is at another host: "
                                "`lldp-level-lab collect --rails auto` names both"
                              : ": " + f.remedy);
  }
  const auto reason = [](Ifindex port) { return AlarmReason{AlarmReason::Found::kByRails, port}; };
  for (const auto& [port, name] : std::exchange(rail_alarms_, {})) {
    const Port* const there = find(port);
    if (texts.contains(port) && there != nullptr && escape(there->link.name) == name)
      rail_alarms_.emplace(port, name);
    else
      clear(reason(port), AlarmCode::kRail, name, out);
  }
  for (auto& [port, text] : texts) {
    const std::string name = escape(find(port)->link.name);
    rail_alarms_.emplace(port, name);
    raise(reason(port), AlarmCode::kRail, name, std::move(text), now, out);
  }
}

}  // namespace lldp::core
