// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "lab/agents/stage.hpp"

/// Inside of attack(): what befalls the fabric.
namespace lldp::lab::agents {

class Blows : public Stage {
 public:
  using Stage::Stage;

 protected:
  // What befalls it

  void begin() {
    const Duration spreads[] = {Duration{}, milliseconds(30), seconds(1), seconds(30), minutes(5)};
    const Duration spread = spreads[random_.below(std::size(spreads))];
    make_noise();
    tell("all start within {} ms", spread / milliseconds(1));
    for (std::size_t i = 0; i < network_.nodes.size(); ++i)
      network_.at(network_.now + up_to(spread), [this, i] { network_.start(i); });
    pass(spread);
    const Duration first[] = {seconds(1), seconds(70), minutes(10), long_time()};
    pass(first[random_.below(std::size(first))]);
  }

  void befall() {
    using Blow = void (Blows::*)();
    static constexpr Blow kBlows[] = {
        &Blows::make_noise,  &Blows::flap,         &Blows::flap,          &Blows::restart,
        &Blows::restart,     &Blows::restart,      &Blows::reboot,        &Blows::toggle_role,
        &Blows::toggle_role, &Blows::pin,          &Blows::misplace_host, &Blows::misplace_host,
        &Blows::swap_places, &Blows::recable,      &Blows::new_identity,  &Blows::servers_off,
        &Blows::all_silent,  &Blows::die_for_long, &Blows::forget,        &Blows::deafen,
        &Blows::freeze,      &Blows::set_admin,    &Blows::clone,         &Blows::same_name,
        &Blows::lose_disk,   &Blows::lldpd_beside, &Blows::lldpd_beside,  &Blows::refuse};
    (this->*kBlows[random_.below(std::size(kBlows))])();
  }

  std::size_t any_switch() { return switches_[random_.below(switches_.size())]; }
  [[nodiscard]] bool runs(std::size_t node) const { return network_.nodes[node].agent.has_value(); }

  void make_noise() {
    const double losses[] = {0, 0.05, 0.2, 0.4};
    const Duration jitters[] = {Duration{}, milliseconds(5), milliseconds(300), seconds(2)};
    network_.loss = losses[random_.below(std::size(losses))];
    network_.duplication = random_.chance(0.3) ? 0.2 : 0;
    network_.jitter = jitters[random_.below(std::size(jitters))];
    network_.reorders = random_.chance(0.3);
    tell("loss {}, repeated {}, late by up to {} ms{}", network_.loss, network_.duplication,
         network_.jitter / milliseconds(1), network_.reorders ? ", out of order" : "");
  }
  void all_silent() {
    const double before = network_.loss;
    if (before == 1) return;
    const Duration d = up_to(seconds(200));
    tell("no frame passes for {} s", d / seconds(1));
    network_.loss = 1;
    later(d, [this, before] { network_.loss = before; });
  }

  void flap() {
    for (auto n = 1 + random_.below(3); n > 0; --n) {
      const std::size_t c = random_.below(network_.cables.size());
      const Duration d = while_wrong();
      if (!network_.cables[c].up || network_.cables[c].hub) continue;
      tell("{} loses its carrier for {} ms", name_of_cable(network_.cables[c]),
           d / milliseconds(1));
      network_.set_cable(c, false);
      later(d, [this, c] { repair_cable(c); });
    }
  }
  void repair_cable(std::size_t c) {
    if (network_.cables[c].plugged) network_.set_cable(c, true);
  }

  void start(std::size_t node) {
    if (runs(node)) return;
    tell("{} starts", name(node));
    network_.start(node);
  }
  void stop(std::size_t node) {
    if (!runs(node)) return;
    const auto how = random_.below(4);
    if (how >= 2) {
      tell("{} dies when it next {}", name(node), how == 2 ? "saves" : "sends");
      network_.crash_soon(node, how == 2 ? Crash::kBeforeSaving : Crash::kWhileSending);
    } else {
      tell("{} {}", name(node), how == 0 ? "stops" : "dies");
      network_.stop(node, how == 0);
    }
  }
  void restart() {
    const std::size_t node = random_.chance(0.9) ? any_switch() : hosts_[0];
    stop(node);
    later(up_to(random_.chance(0.5) ? Duration(seconds(2)) : minutes(4)),
          [this, node] { start(node); });
  }
  void die_for_long() {
    const std::size_t node = any_switch();
    stop(node);
    later(while_wrong(), [this, node] { start(node); });
  }
  void switch_off(std::size_t node) {
    if (runs(node)) network_.stop(node, random_.chance(0.5));
    network_.cut_power(node);
  }
  /// Its links are down too, and come up before or after its agent.
  void reboot() {
    const std::size_t node = any_switch();
    const Duration off = up_to(minutes(3));
    tell("{} is without power for {} s", name(node), off / seconds(1));
    switch_off(node);
    later(off + up_to(seconds(20)), [this, node] { start(node); });
    for (const std::size_t c : darken(node))
      later(off + up_to(seconds(20)), [this, c] { repair_cable(c); });
  }

  // Of one cable, port, process or disk

  /// What one end of a cable sends does not arrive.
  void deafen() {
    const std::size_t c = random_.below(network_.cables.size());
    const std::size_t end = random_.below(2);
    Network::Cable& cable = network_.cables[c];
    const Duration d = while_wrong();
    tell("{}: what {} sends is lost for {} ms", name_of_cable(cable),
         name(end == 0 ? cable.a.node : cable.b.node), d / milliseconds(1));
    cable.mute[end] = true;
    later(d, [this, c, end] { network_.cables[c].mute[end] = false; });
  }
  /// The process stands still, as in a machine that is suspended; its rules act on.
  void freeze() {
    const std::size_t node = any_switch();
    if (!runs(node) || network_.nodes[node].frozen()) return;
    const Duration d = while_wrong();
    tell("{} stands still for {} ms", name(node), d / milliseconds(1));
    network_.freeze(node);
    later(d, [this, node] { network_.thaw(node); });
  }
  void set_admin() {
    using enum core::AdminStatus;
    constexpr core::AdminStatus kAll[] = {enabledTxOnly, enabledRxOnly, disabled};
    const std::size_t c = random_.below(network_.cables.size());
    const Network::Cable& cable = network_.cables[c];
    const Network::End end = random_.chance(0.5) ? cable.a : cable.b;
    const auto admin = kAll[random_.below(std::size(kAll))];
    const Duration d = while_wrong();
    tell("{}:p{} is set to {} for {} ms", name(end.node), end.port.value(), to_string(admin),
         d / milliseconds(1));
    network_.set_admin(end.node, end.slot(), admin);
    later(d, [this, end] { network_.set_admin(end.node, end.slot(), enabledRxTx); });
  }
  /// A machine that is started from the image of another one.
  void clone() {
    const std::size_t from = any_switch();
    const std::size_t to = any_switch();
    if (from == to || !network_.nodes[from].state) return;
    tell("{} starts from the state of {}", name(to), name(from));
    switch_off(to);
    network_.copy_state(from, to);
    clones_.push_back(to);
    doubles_.insert({from, to});
    const auto dark = darken(to);
    network_.start(to);
    for (const std::size_t c : dark) repair_cable(c);
  }
  /// A machine without power has no carrier. The cables that had one.
  std::vector<std::size_t> darken(std::size_t node) {
    std::vector<std::size_t> dark;
    for (std::size_t c = 0; c < network_.cables.size(); ++c) {
      const Network::Cable& cable = network_.cables[c];
      if (!cable.up || cable.hub || !cable.joins(node)) continue;
      network_.set_cable(c, false);
      dark.push_back(c);
    }
    return dark;
  }
  /// Two switches have one chassis ID.
  void same_name() {
    const std::size_t a = any_switch();
    const std::size_t b = any_switch();
    const auto& settings = network_.nodes[a].settings;
    if (a == b || settings->chassis_id == network_.nodes[b].settings->chassis_id) return;
    tell("{} takes the chassis ID of {}", name(b), name(a));
    const auto before = network_.nodes[b].settings->chassis_id;
    network_.alter(b).chassis_id = settings->chassis_id;
    if (runs(b)) network_.configure(b);
    same_names_.try_emplace(b, *before);
    later(while_wrong(), [this, b] { own_name(b); });
  }
  void own_name(std::size_t node) {
    const auto at = same_names_.find(node);
    if (at == same_names_.end()) return;
    network_.alter(node).chassis_id = at->second;
    same_names_.erase(at);
    if (runs(node)) network_.configure(node);
  }
  /// The state directory cannot be written for a while, or is lost while the agent is dead.
  void lose_disk() {
    const std::size_t node = any_switch();
    if (random_.chance(0.5)) {
      const Duration d = while_wrong();
      tell("the state directory of {} cannot be written for {} ms", name(node),
           d / milliseconds(1));
      network_.nodes[node].read_only = true;
      return later(d, [this, node] { network_.nodes[node].read_only = false; });
    }
    if (runs(node)) network_.stop(node, random_.chance(0.5));
    tell("the state of {} is lost", name(node));
    network_.lose_state(node);
    later(up_to(minutes(2)), [this, node] { start(node); });
  }
  /// The agent dies, and lldpd speaks in its place.
  void lldpd_beside() {
    const std::size_t node = any_switch();
    if (runs(node)) network_.stop(node, random_.chance(0.5));
    const bool station = random_.chance(0.5);
    const bool own = random_.chance(0.5);
    const Duration d = while_wrong();
    tell("lldpd of {} says that it is a {}{}, for {} ms", name(node),
         station ? "station" : "bridge", own ? "" : " under another chassis ID",
         d / milliseconds(1));
    const ChassisId id = own ? *network_.nodes[node].settings->chassis_id : new_chassis_id();
    speak_as_lldpd(node, id, station);
    later(d, [this, node] { start(node); });
  }
  void speak_as_lldpd(std::size_t node, const ChassisId& id, bool station) {
    if (runs(node)) return;
    network_.speak_as_lldpd(node, id, station);
    later(seconds(30), [this, node, id, station] { speak_as_lldpd(node, id, station); });
  }
  void refuse() {
    const Duration d = while_wrong();
    network_.refusal = random_.chance(0.5) ? 0.1 : 0.5;
    tell("data planes refuse {} of all requests at first, for {} ms", network_.refusal,
         d / milliseconds(1));
    later(d, [this] { network_.refusal = 0; });
  }

  void set_role(std::size_t node, Role role) {
    if (std::exchange(network_.alter(node).role, role) == role) return;
    tell("{} is a {}", name(node), to_string(role));
    if (runs(node)) network_.configure(node);
  }
  void toggle_role() {
    const std::size_t node = any_switch();
    set_role(node, Role::kHost);
    later(while_wrong(), [this, node] { set_role(node, Role::kSwitch); });
  }

  void misplace_host() {
    const std::size_t node = any_switch();
    const std::size_t host = add(Role::kHost, fmt::format("stray{}", strays_.size()));
    strays_.push_back(host);
    const Duration d = while_wrong();
    tell("{} is plugged into {} for {} ms", name(host), name(node), d / milliseconds(1));
    network_.plug({host, network_.add_port(host)}, free_port(node), network_.delay);
    network_.start(host);
    later(d, [this, host] { take_away(host); });
  }
  void take_away(std::size_t host) {
    if (const std::size_t c = network_.nodes[host].ports[0].cable; c != Network::kNone) {
      tell("{} is taken away", name(host));
      network_.unplug(c);
    }
  }

  void pin() {
    const std::size_t node = any_switch();
    const std::size_t level = 1 + random_.below(5);
    tell("{} is pinned to {}", name(node), level);
    network_.alter(node).pinned_level = Level::make(level);
    if (runs(node)) network_.configure(node);
    later(while_wrong(), [this, node] { unpin(node); });
  }
  void unpin(std::size_t node) {
    if (!std::exchange(network_.alter(node).pinned_level, std::nullopt)) return;
    tell("{} is not pinned any more", name(node));
    if (runs(node)) network_.configure(node);
  }

  void new_identity() {
    const std::size_t node = any_switch();
    const ChassisId id = new_chassis_id();
    tell("{} gets chassis ID {}", name(node), id.octets);
    network_.alter(node).chassis_id = id;
    if (runs(node) && random_.chance(0.5)) return network_.configure(node);
    stop(node);
    later(up_to(seconds(2)), [this, node] { start(node); });
  }

  void servers_off() {
    const Duration d = while_wrong();
    tell("all servers are off for {} s", d / seconds(1));
    for (const std::size_t h : hosts_) {
      if (runs(h)) network_.stop(h, random_.chance(0.5));
      later(d, [this, h] { start(h); });
    }
  }

  Network::End free_port(std::size_t node) {
    const auto& ports = network_.nodes[node].ports;
    for (std::size_t slot = 0; slot < ports.size(); ++slot)
      if (ports[slot].cable == Network::kNone) return {node, *Ifindex::make(slot + 1)};
    return {node, network_.add_port(node)};
  }
  void replug(std::size_t from, std::size_t to, Duration delay) {
    network_.plug(free_port(from), free_port(to), delay);
  }
  /// Two switches change places: each takes over the other's cables.
  void swap_places() {
    const std::size_t a = any_switch();
    const std::size_t b = any_switch();
    if (a == b) return;
    const bool off = random_.chance(0.5);
    const Duration d = up_to(random_.chance(0.5) ? Duration(seconds(1)) : minutes(3));
    tell("{} and {} change places{} within {} ms", name(a), name(b), off ? ", switched off," : "",
         d / milliseconds(1));
    for (const std::size_t n : {a, b}) {
      if (!off) break;
      switch_off(n);
      later(d + up_to(seconds(30)), [this, n] { start(n); });
    }
    for (std::size_t c = 0, all = network_.cables.size(); c < all; ++c) {
      const Network::Cable& cable = network_.cables[c];
      if (!cable.plugged || cable.hub || cable.joins(a) == cable.joins(b)) continue;
      const auto to = [a, b](std::size_t n) { return n == a ? b : n == b ? a : n; };
      network_.at(network_.now + d, [this, from = to(cable.a.node), to = to(cable.b.node),
                                     delay = cable.delay] { replug(from, to, delay); });
      network_.unplug(c);
    }
  }
  /// One end of a cable goes into another switch.
  void recable() {
    const std::size_t c = random_.below(network_.cables.size());
    const std::size_t to = any_switch();
    const Network::Cable& cable = network_.cables[c];
    const std::size_t stays =
        network_.nodes[cable.a.node].is_switch() ? cable.b.node : cable.a.node;
    if (!cable.plugged || cable.hub || cable.joins(to)) return;
    tell("{} moves to {}", name_of_cable(cable), name(to));
    network_.at(network_.now + up_to(seconds(20)),
                [this, stays, to, delay = cable.delay] { replug(stays, to, delay); });
    network_.unplug(c);
  }

  void forget() {
    const std::size_t node = any_switch();
    if (!runs(node)) return;
    tell("{} is to forget its level", name(node));
    network_.forget(node, std::nullopt);
  }

  std::vector<std::size_t> strays_{};              ///< hosts that do not belong here
  std::vector<std::size_t> clones_{};              ///< switches with another one's state
  std::set<std::size_t> doubles_{};                ///< and those with the same
  std::map<std::size_t, ChassisId> same_names_{};  ///< and their own chassis ID
};

}  // namespace lldp::lab::agents
