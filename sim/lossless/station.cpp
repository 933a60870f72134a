// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/station.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "sim/packets/detector/none.hpp"
#include "sim/packets/engine.hpp"
#include "sim/packets/flow_control/pfc.hpp"

namespace lldp::lab::lossless {
namespace {

using packets::kControlOctets;
using packets::Kind;
using packets::kNever;
using packets::kNone;
using packets::Slot;
using Engine = packets::Engine<packets::Pfc, packets::NoDetector>;

constexpr std::uint16_t kLongestFrame = 1518;  ///< a frame on the wire, FCS included
constexpr std::size_t kMostName = 64;
constexpr Picoseconds kIdleFrames = 16;  ///< between two turns at the most: a fourth of XOFF
constexpr Arc out_of(std::size_t port) { return static_cast<Arc>(2 * port); }
constexpr Arc into(std::size_t port) { return reversed(out_of(port)); }

bool is_to(const MacAddress& address, ByteSpan frame) {
  return std::equal(address.begin(), address.end(), frame.begin());
}

/// This node, and at each of its ports one that only sends and receives: which says nothing of its
/// own, for what comes from there is real.
Fabric star_of(const StationSettings& s) {
  Fabric fabric{.name = s.name,
                .nodes = {{.name = s.name, .role = s.forwards ? Role::kSwitch : Role::kHost}}};
  for (const StationPort& port : s.ports) {
    fabric.links.push_back({.ends = {LinkEnd{0, port.name}, LinkEnd{fabric.nodes.size(), "far"}},
                            .rate_bps = s.rate_bps,
                            .delay_ns = 0});
    fabric.nodes.push_back({.name = port.name, .role = Role::kHost});
  }
  return fabric;
}

packets::Settings settings_of(const StationSettings& s) {
  packets::Settings settings{.policy = s.policy};
  settings.pfc = {
      .xoff_octets = s.xoff_octets,
      .xon_octets = s.xon_octets,
      .headroom_octets = static_cast<std::uint32_t>(2 * s.rate_bps / 8 * s.allowance_ms / 1000 +
                                                    std::uint64_t{4} * kLongestFrame),
      .quanta = s.quanta};
  settings.payload_octets = kLongestFrame - 18;
  settings.header_octets = 18;
  return settings;
}

}  // namespace

Pace::Pace(std::uint64_t rate_bps)
    : frame_(static_cast<Picoseconds>(kLongestFrame) * 8 * packets::kSecond / rate_bps) {}

Picoseconds Pace::at(Picoseconds now, Picoseconds next) {
  const Picoseconds most = due(next) + frame_;
  if (now > most) behind_ += now - most;
  return turn_ = now - behind_;
}

Picoseconds Pace::due(Picoseconds next) const {
  return std::min(next, turn_ + kIdleFrames * frame_) + behind_;
}

class Station::Impl {
 public:
  Impl(const StationSettings& s, packets::Network network, Out out)
      : settings_(s), out_(std::move(out)), rules_(s.ports.size()), engine_(std::move(network)) {
    for (std::size_t i = 0; i < s.ports.size(); ++i) {
      port_of_.emplace(s.ports[i].name, i);
      ports_.push_back(&view_.ports[s.ports[i].name]);
      classify(i);
    }
    for (const Route& r : s.routes) routes_.emplace(r.to, std::pair(port_of_.at(r.port), r.next));
    packets::Network& n = engine_.network();
    view_.name = s.name;
    view_.lossless = static_cast<std::uint8_t>(n.lossless);
    for (std::size_t in = 0; in < s.ports.size(); ++in)
      for (std::size_t out_port = 0; out_port < s.ports.size(); ++out_port)
        ways_.push_back(in == out_port ? 0
                                       : n.route_of({.nodes = {in + 1, 0, out_port + 1},
                                                     .links = {in, out_port}}));
    // Frames that pass are of a flow that never begins.
    if (!ways_.empty()) n.add_flow({.start = kNever}, n.route_of({.nodes = {0, 1}, .links = {0}}));
    n.trace = [this](Picoseconds, const Slot& frame) { leave(frame); };
  }

  void run(Picoseconds now) {
    clock_ = std::max(clock_, now);
    engine_.run_until(clock_);
  }
  [[nodiscard]] Picoseconds next() { return engine_.next_event(); }

  void receive(std::size_t port, ByteSpan frame) {
    if (const auto pause = parse_pfc(frame)) {
      obey(port, *pause);
    } else if (!settings_.forwards) {
      arrived(frame);
    } else if (const auto packet = parse_ipv4(frame);
               packet && packet->ttl > 1 && is_to(settings_.ports[port].address, frame)) {
      forward_on(port, *packet, frame);
    }
    engine_.run_until(clock_);
  }

  Result<void> set_rules(const std::string& name, const std::optional<qos::Ruleset>& rules) {
    const auto at = port_of_.find(name);
    if (at == port_of_.end())
      return fail(Error{ENODEV, name, "is no port of the switch " + escape(settings_.name)});
    const std::size_t port = at->second;
    // A port that restores classes towards a host has PFC for fewer of them.
    if (rules && (rules->pfc_enable & ~view_.lossless) != 0)
      return fail(Error{0, name,
                        fmt::format("the switch has the lossless priorities {:#04x}, the rules "
                                    "{:#04x}: give both the same qos.lossless",
                                    view_.lossless, rules->pfc_enable)});
    rules_[port] = rules;
    engine_.network().install(out_of(port), rules.value_or(qos::Ruleset{}));
    classify(port);
    return {};
  }

  const dataplane::soft::View& view() {
    const packets::Network& n = engine_.network();
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      dataplane::soft::Port& p = *ports_[i];
      const packets::Port& out = n.ports[out_of(i)];
      p.rules = rules_[i];
      p.stopped = static_cast<std::uint8_t>(out.stopped);
      p.stopping = n.ingress[into(i)].pausing;
      p.waiting = static_cast<std::uint8_t>(out.waiting);
      p.waiting_octets = 0;
      for (const packets::Queue& q : n.queues_of(out_of(i))) p.waiting_octets += q.octets;
    }
    view_.drops = n.count.drops;
    view_.drops_lossy = n.count.drops_lossy;
    return view_;
  }

  void load(std::uint16_t flow, std::uint16_t octets, const MacAddress& next) {
    packets::Network& n = engine_.network();
    n.settings.payload_octets = static_cast<std::uint16_t>(octets - n.settings.header_octets);
    const auto index = n.add_flow({.start = n.now}, n.route_of({.nodes = {0, 1}, .links = {0}}));
    loads_[index] = {flow, next};
    engine_.begin(index);
  }
  void halt() {
    for (const auto& [index, load] : loads_) engine_.network().flows[index].done = true;
  }
  [[nodiscard]] const auto& received() const { return received_; }
  [[nodiscard]] std::uint64_t sent(std::uint16_t flow) const {
    const auto at = sent_.find(flow);
    return at == sent_.end() ? 0 : at->second;
  }

 private:
  /// A frame that waits, and the DSCP with which it leaves: its class is what the rules said when
  /// it came to the queue, whatever they say when it leaves.
  struct Waiting {
    Bytes octets{};
    Dscp dscp{};
    MacAddress next{};
  };

  /// A real PAUSE is one of the simulator's for each time that it names. Of priorities without PFC
  /// it says nothing (IEEE 802.1Q-2018 36.1.2).
  void obey(std::size_t port, const PfcFrame& pause) {
    ++ports_[port]->pauses_heard;
    std::map<std::uint16_t, unsigned> masks;
    for (std::size_t p = 0; p < pause.quanta.size(); ++p)
      if (pause.quanta[p] && (view_.lossless >> p & 1) != 0) masks[*pause.quanta[p]] |= 1U << p;
    for (const auto& [quanta, mask] : masks) {
      Slot frame{.arc = into(port), .kind = Kind::kPause};
      if (quanta == 0)
        frame.flow = mask;
      else
        frame.number = packets::pause_of(static_cast<std::uint8_t>(mask), quanta);
      engine_.inject(frame);
      engine_.run_until(clock_);
    }
  }

  void forward_on(std::size_t port, const Ipv4Frame& packet, ByteSpan frame) {
    const auto route = routes_.find(packet.to);
    const std::size_t octets = std::max<std::size_t>(frame.size() + kFcsOctets, kControlOctets);
    if (route == routes_.end() || route->second.first == port) return;
    if (octets > kLongestFrame) {
      ++view_.too_long;
      return;
    }
    const std::uint8_t priority = priority_[port][packet.dscp.value()];
    const Dscp dscp = rules_[port] ? after(rules_[port]->entering, packet.dscp) : packet.dscp;
    Slot arriving{.arc = into(port),
                  .route = ways_[port * ports_.size() + route->second.first],
                  .octets = static_cast<std::uint16_t>(octets),
                  .kind = Kind::kData};
    arriving.begin_in(priority);
    const std::uint32_t slot = engine_.inject(arriving);
    if (waiting_.size() <= slot) waiting_.resize(slot + 1);
    Waiting& waiting = waiting_[slot];
    waiting.octets.assign(frame.begin(), frame.end());
    waiting.next = route->second.second;
    waiting.dscp = dscp;
    const auto& rules = rules_[route->second.first];
    if (!rules) return;
    const auto tag = qos::Tag::make(engine_.network().tags[into(port)]);
    const bool turns = tag && rules->turns_from(*tag);
    waiting.dscp = after(turns ? rules->remaps : rules->leaving, dscp);
  }

  /// What a row for this DSCP makes of it.
  static Dscp after(const std::vector<qos::Remap>& rows, Dscp dscp) {
    const auto row = std::ranges::find_if(rows, [&](const auto& r) { return r.from.dscp == dscp; });
    return row == rows.end() ? dscp : row->to.dscp;
  }

  void arrived(ByteSpan frame) {
    const auto load = parse_load(frame);
    if (!load) return;
    Received& r = received_[load->flow];
    const auto [at, first] = expected_.try_emplace(load->flow, 0);
    r.disordered += load->number == at->second ? 0U : 1U;
    at->second = load->number + 1;
    ++r.frames;
    ++r.dscps[load->dscp.value()];
  }

  /// The engine's trace: what begins to go over a link.
  void leave(const Slot& f) {
    if ((f.arc & 1U) != 0) return;  // of the far ends; real frames come instead
    const std::size_t port = f.arc / 2;
    if (f.kind == Kind::kPause) {
      PfcFrame pause;
      for (std::size_t p = 0; p < pause.quanta.size(); ++p) {
        if ((f.number >> p & 1) != 0) pause.quanta[p] = packets::quanta_of(f);
        if ((f.flow >> p & 1) != 0) pause.quanta[p] = 0;
      }
      ports_[port]->pauses_sent += packets::stops_of(f) != 0 ? 1U : 0U;
      return out_(port, format(pause, settings_.ports[port].address));
    }
    if (f.kind != Kind::kData) return;
    ++ports_[port]->sent;
    if (!settings_.forwards) {
      const auto& [flow, next] = loads_.at(f.flow);
      ++sent_[flow];
      return out_(port, format(Load{flow, f.number, settings_.policy.lossless().front().dscp},
                               f.octets, settings_.ports[port].address, next));
    }
    if (f.priority != f.arrival) ++ports_[port]->bounces[f.arrival];
    Waiting& waiting = waiting_[f.number];
    forward(waiting.octets, settings_.ports[port].address, waiting.next, waiting.dscp);
    out_(port, waiting.octets);
  }

  /// By the port's rules, and without any by the switch's own classes.
  void classify(std::size_t port) {
    priority_.resize(settings_.ports.size());
    priority_[port].fill(settings_.policy.lossy().priority.value());
    const auto classes = rules_[port]
                             ? rules_[port]->ingress
                             : qos::compile(settings_.policy, {.order = Order::kUnknown}).ingress;
    for (const qos::Class& c : classes) priority_[port][c.dscp.value()] = c.priority.value();
  }

  StationSettings settings_;
  Out out_;
  std::map<std::string, std::size_t, std::less<>> port_of_{};
  std::map<Ipv4, std::pair<std::size_t, MacAddress>> routes_{};
  std::vector<std::uint32_t> ways_{};  ///< of the engine, by ingress and egress port
  std::vector<std::optional<qos::Ruleset>> rules_;
  std::vector<std::array<std::uint8_t, Dscp::kMax + 1>> priority_{};  ///< by ingress and DSCP
  std::vector<Waiting> waiting_{};                                    ///< by slot
  dataplane::soft::View view_{};
  std::vector<dataplane::soft::Port*> ports_{};                            ///< in the view
  std::map<std::uint32_t, std::pair<std::uint16_t, MacAddress>> loads_{};  ///< by flow
  std::map<std::uint16_t, std::uint64_t> sent_{};
  std::map<std::uint16_t, Received> received_{};
  std::map<std::uint16_t, std::uint32_t> expected_{};
  Picoseconds clock_ = 0;
  Engine engine_;
};

Result<Station> Station::of(const StationSettings& settings, Out out) {
  const auto bad = [](const std::string& where, const std::string& what) {
    return fail(Error{0, where, what});
  };
  if (settings.name.size() > kMostName)
    return bad("name", fmt::format("give {} octets at most", kMostName));
  if (settings.ports.empty()) return bad("ports", "there are none");
  if (settings.ports.size() > kMostPorts)
    return bad("ports", fmt::format("{} at most", kMostPorts));
  if (settings.rate_bps < kLeastRate || settings.rate_bps > kMostRate)
    return bad("rate_bps", fmt::format("give {} to {}", kLeastRate, kMostRate));
  if (settings.allowance_ms > 10'000) return bad("allowance_ms", "give 10000 at most");
  for (std::size_t i = 0; i < settings.ports.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (settings.ports[i].name == settings.ports[k].name)
        return bad("ports", escape(settings.ports[i].name) + " stands twice");
  std::set<Ipv4> routed;
  for (const Route& r : settings.routes) {
    if (!routed.insert(r.to).second)
      return bad("routes", fmt::format("{} stands twice", fmt::join(r.to, ".")));
    if (std::none_of(settings.ports.begin(), settings.ports.end(),
                     [&](const StationPort& p) { return p.name == r.port; }))
      return bad("routes", escape(r.port) + " is no port");
  }
  auto network = packets::Network::of(star_of(settings), settings_of(settings));
  if (!network) return fail(network.error());
  return Station(std::make_unique<Impl>(settings, std::move(*network), std::move(out)));
}

Station::Station(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Station::Station(Station&&) noexcept = default;
Station::~Station() = default;
void Station::run(Picoseconds now) { impl_->run(now); }
Picoseconds Station::next() const { return impl_->next(); }
void Station::receive(std::size_t port, ByteSpan frame) { impl_->receive(port, frame); }
Result<void> Station::set_rules(const std::string& port, const std::optional<qos::Ruleset>& rules) {
  return impl_->set_rules(port, rules);
}
const dataplane::soft::View& Station::view() { return impl_->view(); }
void Station::load(std::uint16_t flow, std::uint16_t octets, const MacAddress& next) {
  impl_->load(flow, octets, next);
}
void Station::halt() { impl_->halt(); }
const std::map<std::uint16_t, Station::Received>& Station::received() const {
  return impl_->received();
}
std::uint64_t Station::sent(std::uint16_t flow) const { return impl_->sent(flow); }

}  // namespace lldp::lab::lossless
