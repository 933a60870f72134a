// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "sim/packets/host/dcqcn.hpp"
#include "sim/packets/host/hpcc.hpp"

namespace lldp::lab::packets {
namespace {

/// An octet at R bit/s takes this over R picoseconds.
constexpr std::uint64_t kOctetTime = 8 * kSecond;
constexpr std::uint64_t kMaxRate = 10'000'000'000'000;  ///< 10 Tb/s: an octet takes a picosecond
constexpr std::uint64_t kMaxDelayNs = 1'000'000'000;
constexpr std::uint64_t kSpareOctets = 1U << 20;
constexpr std::uint64_t kMostWindow = 1U << 20;  ///< frames of a flow under way, by IRN

std::string name_of(const Fabric& fabric, const Link& link) {
  return fmt::format("{}-{}", escape(fabric.nodes[link.ends[0].node].name),
                     escape(fabric.nodes[link.ends[1].node].name));
}

}  // namespace

Counters& Counters::operator+=(const Counters& o) {
  events += o.events;
  hops += o.hops;
  sent += o.sent;
  delivered += o.delivered;
  drops += o.drops;
  drops_lossy += o.drops_lossy;
  dropped += o.dropped;
  lost += o.lost;
  lost_octets += o.lost_octets;
  pauses += o.pauses;
  pause_frames += o.pause_frames;
  detections += o.detections;
  checks += o.checks;
  discarded += o.discarded;
  discarded_octets += o.discarded_octets;
  turned += o.turned;
  turned_lossy += o.turned_lossy;
  nic_drops += o.nic_drops;
  nic_drops_turned += o.nic_drops_turned;
  ecn_marks += o.ecn_marks;
  peak_headroom = std::max(peak_headroom, o.peak_headroom);
  pause_hops = std::max(pause_hops, o.pause_hops);
  digest += o.digest;
  return *this;
}

void Network::gather() {
  count = {};
  now = kNever;
  for (Part* part : parts) {
    count += part->count;
    unfinished -= part->finished;
    part->finished = 0;
    now = std::min(now, part->now);  // they differ where one of them failed
  }
}

Picoseconds Network::uneven_time(std::uint32_t octets, std::uint64_t rate_bps) {
  const auto bits = static_cast<unsigned __int128>(octets) * kOctetTime;
  return static_cast<Picoseconds>((bits + rate_bps - 1) / rate_bps);
}

std::uint64_t Network::headroom_needed(std::uint64_t rate_bps, Picoseconds delay) const {
  const auto both_ways = static_cast<unsigned __int128>(delay) * rate_bps * 2U;
  const auto octets = static_cast<std::uint64_t>((both_ways + kOctetTime - 1) / kOctetTime);
  // Where the limit moves, or the shared part may be full, the frame that raises XOFF is the first
  // beyond it.
  const bool moves = settings.pfc.alpha_256 != 0 || settings.buffer_octets != 0;
  return octets + std::uint64_t{moves ? 3U : 2U} * frame_octets + kControlOctets;
}

Result<Network> Network::of(const Fabric& fabric, const Settings& settings) {
  Network n;
  n.settings = settings;
  n.frame_octets = std::uint32_t{settings.payload_octets} + settings.header_octets;
  if (settings.payload_octets == 0 || n.frame_octets > 0xffff || n.frame_octets < kControlOctets)
    return fail(Error{0, "settings.payload_octets", "frames are of 64 to 65535 octets, in all"});
  n.lossless = settings.policy.pfc_enable();
  while ((n.lossless >> n.control & 1) != 0 ||
         settings.policy.lossy().priority.value() == n.control) {
    if (n.control-- == 0)
      return fail(Error{0, "settings.lossless", "leaves no priority for acknowledgements"});
  }
  if (auto laid = n.lay_out_channels(); !laid) return fail(laid.error());
  const std::size_t arcs = 2 * fabric.links.size();
  n.ports.resize(arcs);
  n.queue_bits = settings.flow_control == FlowControlKind::kPortFc ? 4 : 3;
  n.queues.resize(arcs << n.queue_bits);
  n.ingress.resize(arcs);
  n.sources.resize(arcs);
  if (settings.hpcc.on) n.sent_octets.resize(arcs);
  const auto loss_of = [&](const Link& link) {
    return link.loss_ppb != 0 ? static_cast<std::uint32_t>(link.loss_ppb) : settings.loss_ppb;
  };
  if (std::any_of(fabric.links.begin(), fabric.links.end(),
                  [&](const Link& link) { return loss_of(link) != 0; }))
    for (Arc a = 0; a < arcs; ++a) n.loss_ppb.push_back(loss_of(fabric.links[a / 2]));
  n.rates.resize(arcs);
  n.cut_at.resize(arcs, kNever);
  n.tags.resize(arcs);
  n.buffers.resize(fabric.nodes.size());
  std::vector<std::uint64_t> headrooms(fabric.nodes.size());
  std::vector<std::uint64_t> thresholds(fabric.nodes.size());
  const auto classes = static_cast<std::uint64_t>(settings.policy.classes().size());
  for (Arc a = 0; a < arcs; ++a) {
    const Link& link = fabric.links[a / 2];
    const std::string where = fmt::format("fabric.links[{}] ({})", a / 2, name_of(fabric, link));
    if (link.rate_bps == 0 || link.rate_bps > kMaxRate)
      return fail(
          Error{0, where + ".rate_bps", fmt::format("{}: give 1 to {}", link.rate_bps, kMaxRate)});
    if (link.delay_ns > kMaxDelayNs)
      return fail(Error{0, where + ".delay_ns", fmt::format("{}: more than 1 s", link.delay_ns)});
    const std::size_t tail = link.ends[a % 2].node;
    const std::size_t head = link.ends[1 - a % 2].node;
    Port& p = n.ports[a];
    p.node = static_cast<std::uint32_t>(tail);
    p.forwards = forwards(fabric.nodes[tail]);
    p.relays = fabric.nodes[tail].relays;
    p.delay = link.delay_ns * kNanosecond;
    if (kOctetTime % link.rate_bps == 0)
      p.ps_per_octet = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(kOctetTime / link.rate_bps, 0xffff'ffff));
    if (p.ps_per_octet == 0xffff'ffff) p.ps_per_octet = 0;
    n.rates[a] = link.rate_bps;
    n.random.emplace_back(settings.seed * 0x9e37'79b9'7f4a'7c15 + a);
    const std::uint64_t needed = n.headroom_needed(link.rate_bps, p.delay);
    const std::uint64_t given =
        settings.pfc.headroom_octets != 0 ? settings.pfc.headroom_octets : needed;
    if ((settings.flow_control == FlowControlKind::kPfc ||
         settings.flow_control == FlowControlKind::kPfcStar) &&
        forwards(fabric.nodes[head])) {
      if (given < needed)
        return fail(Error{0, "settings.pfc.headroom_octets",
                          fmt::format("{}: {} needs {}, {} more", given, name_of(fabric, link),
                                      needed, needed - given)});
      if (given > 0xffff'ffff)
        return fail(Error{0, where, fmt::format("needs {} octets of headroom", given)});
      n.ingress[a].headroom_limit = static_cast<std::uint32_t>(given);
      headrooms[head] += classes * given;
      thresholds[head] += classes * (settings.pfc.xoff_octets + n.frame_octets);
    }
    if (settings.flow_control == FlowControlKind::kCbfc && forwards(fabric.nodes[head]))
      headrooms[head] +=
          std::uint64_t{n.channels} * settings.cbfc.credit_limit * (settings.cbfc.credit_size + 1U);
  }
  if (settings.pfc.xon_octets >= settings.pfc.xoff_octets)
    return fail(Error{
        0, "settings.pfc.xon_octets",
        fmt::format("{}: not below XOFF, {}", settings.pfc.xon_octets, settings.pfc.xoff_octets)});
  // A pause is told again after half its quanta, and may wait for a frame on the wire.
  const std::uint64_t least_quanta = (n.frame_octets + 2 * kControlOctets + 31) / 32;
  if (settings.pfc.quanta < least_quanta)
    return fail(Error{0, "settings.pfc.quanta",
                      fmt::format("{}: a pause would end before it is told again: give {} or more",
                                  settings.pfc.quanta, least_quanta)});
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (!forwards(fabric.nodes[i])) continue;
    if (settings.buffer_octets == 0) {
      n.buffers[i].shared = thresholds[i] + kSpareOctets;
    } else if (settings.buffer_octets <= headrooms[i]) {
      return fail(Error{0, "settings.buffer_octets",
                        fmt::format("{}: the headrooms of {} alone are {}", settings.buffer_octets,
                                    escape(fabric.nodes[i].name), headrooms[i])});
    } else {
      n.buffers[i].shared = settings.buffer_octets - headrooms[i];
    }
  }
  if (auto laid = n.lay_out_nics(fabric); !laid) return fail(laid.error());
  n.routes.push_back(kNone);
  n.lay_out_waits();
  return n;
}

Result<void> Network::lay_out_nics(const Fabric& fabric) {
  if (!settings.nic.on) return {};
  nic_ps_per_octet =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(kOctetTime / settings.nic.drain_bps, 1));
  const auto time_of = [&](std::uint64_t octets) { return Picoseconds{octets} * nic_ps_per_octet; };
  nics.resize(arcs());
  for (Arc in = 0; in < arcs(); ++in) {
    if (forwards(fabric.nodes[ports[reversed(in)].node])) continue;
    const std::uint64_t headroom = headroom_needed(rates[in], ports[in].delay);
    if (settings.nic.buffer_octets < headroom + 4 * frame_octets)
      return fail(Error{0, "settings.nic.buffer_octets",
                        fmt::format("{}: {} needs {} of headroom, and room for four frames",
                                    settings.nic.buffer_octets,
                                    name_of(fabric, fabric.links[in / 2]), headroom)});
    nics[in].room = time_of(settings.nic.buffer_octets);
    nics[in].stops_at = time_of(settings.nic.buffer_octets - headroom);
  }
  return {};
}

Result<void> Network::lay_out_channels() {
  const auto classes = settings.policy.classes();
  const bool credits = settings.flow_control == FlowControlKind::kCbfc;
  const CbfcSettings& s = settings.cbfc;
  const std::size_t lanes =
      credits && s.virtual_channels != 0 ? s.virtual_channels : classes.size();
  if (lanes > classes.size())
    return fail(Error{0, "settings.cbfc.virtual_channels",
                      fmt::format("{}: there are {} lossless classes, so no class uses the last: "
                                  "give 1 to {}",
                                  lanes, classes.size(), classes.size())});
  if (const std::uint32_t frame = cost_of(frame_octets); credits && s.credit_limit < frame)
    return fail(Error{0, "settings.cbfc.credit_limit",
                      fmt::format("{}: a frame of {} octets takes {}: give at least so many",
                                  s.credit_limit, frame_octets, frame)});
  channels = static_cast<std::uint8_t>(lanes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::uint8_t p = classes[i].priority.value();
    channel_of[p] = static_cast<std::uint8_t>(std::min(i, lanes - 1));
    if (i < lanes) first_of_channel[i] = p;
  }
  for (const qos::LosslessClass& a : classes)
    for (const qos::LosslessClass& b : classes)
      if (channel_of[a.priority.value()] == channel_of[b.priority.value()])
        together[a.priority.value()] |= static_cast<QueueMask>(1U << b.priority.value());
  return {};
}

void Network::lay_out_waits() {
  for (std::uint8_t p = 0; p < kPriorities; ++p) {
    if ((lossless >> p & 1) == 0) continue;
    class_of[p] = static_cast<std::uint8_t>(classes_);
    lossless_classes_[classes_++] = p;
  }
  into_at_.assign(buffers.size() + 1, 0);
  for (Arc a = 0; a < arcs(); ++a) ++into_at_[ports[reversed(a)].node + 1];
  for (std::size_t i = 1; i < into_at_.size(); ++i) into_at_[i] += into_at_[i - 1];
  into_.resize(arcs());
  std::vector<std::uint32_t> next(into_at_);
  for (Arc a = 0; a < arcs(); ++a) {
    const std::uint32_t node = ports[reversed(a)].node;
    ingress[a].place = next[node] - into_at_[node];
    into_[next[node]++] = a;
  }
  std::size_t size = 0;
  for (Arc a = 0; a < arcs(); ++a) {
    ports[a].waits_at = static_cast<std::uint32_t>(size);
    if (ports[a].forwards) size += arcs_into(ports[a].node).size() * classes_ * classes_;
  }
  waits_.assign(size, 0);
  place_in_paused.assign(arcs(), kNone);
}

void Network::install(std::size_t link, std::size_t end, qos::PortClass port) {
  if (settings.protection != ProtectionScheme::kDownUp) return;
  install(static_cast<Arc>(2 * link + end), qos::compile(settings.policy, port));
}

void Network::install(Arc out, const qos::Ruleset& rules) {
  tags[reversed(out)] = rules.entering.empty() ? rules.tag.value() : kShutTag;
  Port& p = ports[out];
  p.turning = rules.turning_tags;
  const auto set = [](PriorityMap& table, const std::vector<qos::Remap>& rows) {
    table = {};
    for (const qos::Remap& r : rows) table.set(r.from.priority.value(), r.to.priority.value());
  };
  set(p.after_turn, rules.remaps);
  set(p.leaving, rules.leaving);
}

std::uint32_t Network::add_route(const Path& path) {
  const auto first = static_cast<std::uint32_t>(routes.size());
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    const auto forth = static_cast<Arc>(2 * path.links[i]);
    routes.push_back(ports[forth].node == path.nodes[i] ? forth : reversed(forth));
  }
  routes.push_back(kNone);
  return first;
}

std::uint32_t Network::add_flow(const FlowSpec& spec, const Path& path) {
  return add_flow(spec, add_route(path));
}

std::uint32_t Network::add_flow(const FlowSpec& spec, std::uint32_t route) {
  Flow flow;
  flow.route = route;
  flow.transport = flow.receiver = spec.transport;
  flow.priority = settings.policy.classes()[spec.lossless_class].priority.value();
  flow.start = spec.start;
  const std::uint64_t line = rates[routes[flow.route]];
  flow.rate_bps = spec.rate_bps == 0 ? line : std::min(line, spec.rate_bps);
  if (spec.octets != 0) {
    flow.octets = spec.octets;
    flow.frames = static_cast<std::uint32_t>((spec.octets + settings.payload_octets - 1) /
                                             settings.payload_octets);
    flow.last_octets = static_cast<std::uint16_t>(spec.octets - std::uint64_t{flow.frames - 1} *
                                                                    settings.payload_octets);
  }
  ++(spec.octets != 0 ? unfinished : endless);
  Picoseconds round = 0;
  std::uint64_t slowest = line;
  for (std::uint32_t i = flow.route; routes[i] != kNone; ++i) {
    const Port& p = ports[routes[i]];
    slowest = std::min(slowest, rates[routes[i]]);
    round += 2 * p.delay + time_of(routes[i], frame_octets) + time_of(routes[i], kControlOctets);
  }
  if (spec.transport == HostTransport::kSelective) {
    const auto octets =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(round) * slowest / kOctetTime);
    FlowExtras& more = flow.more();
    more.most_window =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(octets / frame_octets + 1, kMostWindow));
    more.selective = std::make_unique<Selective>(more.most_window);
    flow.window = more.most_window;
  }
  if (spec.transport != HostTransport::kPaced) {
    if (settings.dcqcn.on) flow.more().control = std::make_unique<DcqcnOfFlow>(flow.rate_bps);
    if (settings.hpcc.on)
      flow.more().control = std::make_unique<Hpcc>(flow.rate_bps, round, frame_octets);
  }
  if (const CongestionControl* by = flow.control(); by != nullptr) {
    flow.window = by->window(flow.window);
    flow.hears_all = by->hears_all();
  }
  flow.limit(flow.rate_bps);
  const auto index = static_cast<std::uint32_t>(flows.size());
  flows.push_back(std::move(flow));
  return index;
}

std::uint32_t Network::route_of(const Path& path) {
  auto way = path.links;
  way.push_back(path.nodes.front());  // of the two directions of these links
  const auto [at, fresh] = later_routes_.try_emplace(std::move(way), 0);
  if (fresh) at->second = add_route(path);
  return at->second;
}

void Network::reroute(std::uint32_t flow, const Path& path) {
  flows[flow].route = route_of(path);
  if (flows[flow].extras) flows[flow].extras->other_route = 0;
}

void Network::spread(std::uint32_t flow, const std::vector<Path>& paths) {
  flows[flow].more().first_way = static_cast<std::uint32_t>(ways.size());
  flows[flow].ways = static_cast<std::uint16_t>(paths.size());
  for (const Path& path : paths) ways.push_back(route_of(path));
}

void Network::add_other_way(std::uint32_t flow, const Path& path) {
  FlowExtras& more = flows[flow].more();
  more.other_route = add_route(path);
  more.other_priority = flows[flow].priority;
  if (asymmetry.empty()) asymmetry.resize(buffers.size());
  const auto one = static_cast<Arc>(routes[flows[flow].route]);
  const auto other = static_cast<Arc>(routes[more.other_route]);
  Asymmetry& a = asymmetry[ports[one].node];
  a.fast = rates[one] >= rates[other] ? one : other;
  a.most_of_2_20 = static_cast<std::uint32_t>(
      (static_cast<unsigned __int128>(rates[a.fast]) << 20) / (rates[one] + rates[other]));
  a.share_of_2_20 = a.most_of_2_20;
}

void Network::add_follower(std::uint32_t before, std::uint32_t flow) {
  FlowExtras& more = flows[before].more();
  if (more.followers++ == 0) more.first_follower = static_cast<std::uint32_t>(followers.size());
  followers.push_back(flow);
  ++flows[flow].waits_for;
}

}  // namespace lldp::lab::packets
