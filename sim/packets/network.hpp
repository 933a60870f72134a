// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "lab/des/random.hpp"
#include "lab/routing/local_reroute.hpp"
#include "lab/topology/graph.hpp"
#include "qos/ruleset.hpp"
#include "sim/packets/host/flow.hpp"
#include "sim/packets/settings.hpp"
#include "sim/packets/slot.hpp"
#include "sim/packets/wheel.hpp"

namespace lldp::lab::packets {

inline constexpr std::size_t kPriorities = 8;
/// Of a port: PFC has one for each priority, others have as many as they want, up to that.
inline constexpr std::size_t kQueues = 16;
using QueueMask = std::uint16_t;
inline constexpr std::size_t kMostParts = 64;

/// A queue, by the arc that it sends on and its priority; or the counter of what comes by an arc in
/// a priority, which is what stops that queue.
using Key = std::uint32_t;
[[nodiscard]] constexpr Arc arc_of(Key k) { return k >> 3; }
[[nodiscard]] constexpr std::uint8_t priority_of(Key k) { return k & 7; }

/// Of a frame on a wire or in a queue.
[[nodiscard]] inline std::uint32_t octets_of(const Slot& f) {
  return f.kind == Kind::kData ? f.octets : kControlOctets;
}

/// A deadlock that a detector declared.
struct Verdict {
  Picoseconds at = 0;
  Key counter = kNone;  ///< at which it was found
  Key trigger = kNone;  ///< that paused first
  bool on_loop = false;
  bool real = false;          ///< as the oracle saw it then, or when the last round began
  Picoseconds formed = 0;     ///< when the last queue of the loop was stopped
  std::vector<Key> loop{};    ///< queues, each waiting for the next
  std::vector<Key> chain{};   ///< from the loop's counter to the trigger's; empty: that sends again
  std::uint32_t drained = 0;  ///< frames
};

/// Frames of one priority, or of what a flow control makes of them, that wait at an egress.
struct Queue {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  std::uint32_t octets = 0;
  std::uint32_t served = 0;  ///< start tag of fair queueing, modulo 2^32
};

/// For each priority another one, or itself.
class PriorityMap {
 public:
  [[nodiscard]] std::uint8_t operator[](std::size_t priority) const {
    return static_cast<std::uint8_t>(bits_ >> 4 * priority & 0xf);
  }
  void set(std::size_t priority, std::uint8_t to) {
    bits_ = (bits_ & ~(std::uint32_t{0xf} << 4 * priority)) | std::uint32_t{to} << 4 * priority;
  }

 private:
  std::uint32_t bits_ = 0x7654'3210;
};
static_assert(kPriorities == 8);

/// The sending end of an arc, at its tail. What another thread may write to stands on other lines
/// of the processor's cache: so do queues, buffers and counters.
struct alignas(kCacheLine) Port {
  Picoseconds free_at = 0;  ///< when what is on the wire has left in full
  Picoseconds delay = 0;
  std::uint64_t turning = 0;       ///< qos::Ruleset::turning_tags
  std::uint32_t ps_per_octet = 0;  ///< 0: no whole number
  std::uint32_t node = 0;          ///< where it is
  std::uint32_t served = 0;        ///< virtual time of fair queueing
  std::uint32_t waits_at = 0;      ///< Network::waits(): its first
  PriorityMap after_turn{};        ///< a priority's on a turn here
  PriorityMap leaving{};           ///< of what does not turn, qos::Ruleset
  QueueMask waiting = 0;           ///< bit per queue: it has frames
  QueueMask paused = 0;            ///< bit per queue: it may not send
  QueueMask stopped = 0;           ///< as the far end says
  QueueMask ignored = 0;           ///< whatever the far end says, by the detector
  QueueMask discarding = 0;        ///< what comes is thrown away, by the detector
  bool timer = false;              ///< kPortFree is under way
  bool control_due = false;        ///< the flow control wants to send a frame
  std::uint8_t own_turns = 0;      ///< of a node that relays: since what it relays went
  std::uint8_t to_part = 0;        ///< the part that has the node at the far end
  bool down : 1 = false;
  bool forwards : 1 = false;  ///< the node forwards; else it is a host that does not
  bool relays : 1 = false;    ///< it is a host that forwards
};
static_assert(sizeof(Port) == kCacheLine);

/// What the receiving end of an arc has in its node's buffer, by the priority it arrived in.
struct alignas(kCacheLine) Ingress {
  std::array<std::uint32_t, kPriorities> octets{};  ///< of the shared buffer
  std::uint32_t headroom_limit = 0;
  std::uint32_t place = 0;     ///< among the arcs that end at the node
  std::uint8_t pausing = 0;    ///< bit per priority: the far end is to stop
  std::uint8_t announced = 0;  ///< as the last PAUSE frame said
  std::uint8_t beyond = 0;     ///< bit per priority: it has some in the headroom
  bool timer = false;
  alignas(kCacheLine) std::array<std::uint32_t, kPriorities> headroom{};  ///< beyond
};

/// The buffer of a host's NIC, by the time that the host needs for what is in it.
struct Nic {
  Picoseconds empty_at = 0;  ///< unless more comes
  Picoseconds room = 0;      ///< for so much, if it is empty
  Picoseconds stops_at = 0;  ///< with so much in it, it pauses the far end
  bool timer = false;
};

/// The buffer of a node that forwards.
struct alignas(kCacheLine) Buffer {
  std::uint64_t shared = 0;  ///< without the headrooms
  std::uint64_t used = 0;    ///< of it
};

/// The flows of a host's port that have something to send.
struct EventSource {
  std::uint32_t first = kNone;  ///< those that may, one after the other
  std::uint32_t last = kNone;
  struct Later {
    Picoseconds at = 0;
    std::uint32_t flow = 0;
  };
  std::vector<Later> later{};  ///< a heap: those that may at a time to come
  Picoseconds wake_at = kNever;
  [[nodiscard]] bool any() const { return first != kNone || !later.empty(); }
};

/// Asymmetric traffic engineering (Cao et al., Algorithm 5) at one node: what part of its flows
/// begins with its faster link.
struct Asymmetry {
  Arc fast = 0;
  std::uint32_t most_of_2_20 = 0;  ///< the part of the faster link's rate in both, in 1 / 2^20
  std::uint32_t share_of_2_20 = 0;
  Picoseconds window = 0;    ///< the start of the present one
  std::uint64_t octets = 0;  ///< of its own that it has sent over that link in the window
};
inline constexpr Picoseconds kAsymmetryWindow = 100 * kMicrosecond;

struct Counters {
  std::uint64_t events = 0;
  std::uint64_t hops = 0;         ///< data frames sent over a link
  std::uint64_t sent = 0;         ///< data octets that sources have sent, payload and header
  std::uint64_t delivered = 0;    ///< that have arrived
  std::uint64_t drops = 0;        ///< lossless frames for which there was no room
  std::uint64_t drops_lossy = 0;  ///< others
  std::uint64_t dropped = 0;      ///< data octets of these
  /// Frames on a link that was cut or destroyed them, or without a way on.
  std::uint64_t lost = 0;
  std::uint64_t lost_octets = 0;   ///< data octets of these
  std::uint64_t pauses = 0;        ///< how often a priority was stopped
  std::uint64_t pause_frames = 0;  ///< stop, go on and refreshed
  std::uint64_t detections = 0;
  std::uint64_t checks = 0;            ///< the detector's frames
  std::uint64_t discarded = 0;         ///< frames that the detector threw away
  std::uint64_t discarded_octets = 0;  ///< data octets of these
  std::uint64_t turned = 0;            ///< frames that changed class
  std::uint64_t turned_lossy = 0;      ///< of these, to the lossy one
  std::uint64_t nic_drops = 0;         ///< frames for which the NIC of a host had no room
  std::uint64_t nic_drops_turned = 0;  ///< of these, in another class than they were sent in
  std::uint64_t ecn_marks = 0;
  std::uint32_t peak_headroom = 0;
  std::uint32_t pause_hops = 0;  ///< the farthest that a pause of PortFC's has got
  std::uint64_t digest = 0;      ///< of everything that arrived, where and when

  Counters& operator+=(const Counters& o);
};

/// What one thread of a run has for itself: what waits at the nodes that are its own, and what it
/// has counted there.
struct alignas(kCacheLine) Part {
  Pool pool{};  ///< the first ones are the ports' own timers
  Picoseconds now = 0;
  Counters count{};
  std::vector<Arc> paused{};    ///< ports of which some queue may not send, in no order
  std::size_t finished = 0;     ///< flows, since they were last gathered
  std::vector<Trail> trails{};  ///< by slot, where a congestion control asks for them

  [[nodiscard]] Trail& trail_of(std::uint32_t slot) {
    if (slot >= trails.size()) trails.resize(pool.size());
    return trails[slot];
  }
};

/// Of a frame that begins to go over a link.
using Trace = std::function<void(Picoseconds begin, const Slot& frame)>;

/// Called between two events when a flow has finished or a moment has come; the callback may add
/// flows.
using Notice = std::function<void(Kind what, std::uint32_t which)>;

/// All of a simulation's state; what happens in it is the Engine's. No statics: there can be many.
class Network {
 public:
  /// Refuses a rate or delay that cannot be, and a headroom or buffer that is too small.
  [[nodiscard]] static Result<Network> of(const Fabric& fabric, const Settings& settings);

  /// In place of a tag: no lossless class crosses the port.
  static constexpr std::uint8_t kShutTag = qos::Tag::kMax + 1;

  /// Compiles and installs the rules of one port; without protection, none are.
  void install(std::size_t link, std::size_t end, qos::PortClass port);
  /// The same of rules that are compiled, for the port that `out` leaves.
  void install(Arc out, const qos::Ruleset& rules);
  /// A flow along a path, at `start`. Its route is kept for the length of the run.
  std::uint32_t add_flow(const FlowSpec& spec, const Path& path);
  /// The same along what route_of() gave.
  std::uint32_t add_flow(const FlowSpec& spec, std::uint32_t route);
  /// A path's place in `routes`: the same one for the same path.
  std::uint32_t route_of(const Path& path);
  /// From now on the flow takes another way.
  void reroute(std::uint32_t flow, const Path& path);
  /// The flow may take this way instead; which, is chosen when it starts.
  void add_other_way(std::uint32_t flow, const Path& path);
  /// The flow's frames are spread over all of these, of which one is its route.
  void spread(std::uint32_t flow, const std::vector<Path>& paths);
  /// `flow` starts when `before` has arrived, which ends where it begins. Followers of one flow are
  /// added one after the other.
  void add_follower(std::uint32_t before, std::uint32_t flow);

  /// Where the frames are that wait at a port.
  [[nodiscard]] const Pool& pool_of(const Port& port) const {
    return parts[part_at(port.node)]->pool;
  }
  [[nodiscard]] std::uint32_t part_at(std::uint32_t node) const {
    return part_of.empty() ? 0 : part_of[node];
  }
  /// Brings up to date what is of all parts.
  void gather();

  [[nodiscard]] std::size_t arcs() const { return ports.size(); }

  /// What a frame takes of what its flow control counts: octets, or credits.
  [[nodiscard]] std::uint32_t cost_of(std::uint32_t octets) const {
    if (settings.flow_control != FlowControlKind::kCbfc) return octets;
    const std::uint32_t counted = octets + settings.cbfc.packet_overhead;
    return (counted + settings.cbfc.credit_size - 1) / settings.cbfc.credit_size;
  }

  /// cost_of() what waits at the port `out` in the lossless queue `priority`, of what came by `in`
  /// in the lossless priority `arrival`: what a deadlock is told by. The engine keeps it up to
  /// date.
  [[nodiscard]] std::uint32_t& waits(Arc out, std::uint8_t priority, Arc in, std::uint8_t arrival) {
    const std::size_t row = std::size_t{ingress[in].place} * classes_ + class_of[arrival];
    return waits_[ports[out].waits_at + row * classes_ + class_of[priority]];
  }
  /// Calls each(in, arrival, octets) for all that is not 0 in a lossless queue.
  template <class Each>
  void for_each_wait(Arc out, std::uint8_t priority, Each&& each) const {
    const std::uint32_t* at = &waits_[ports[out].waits_at + class_of[priority]];
    for (const Arc in : arcs_into(ports[out].node))
      for (std::uint32_t c = 0; c < classes_; ++c, at += classes_)
        if (*at != 0) each(in, lossless_classes_[c], *at);
  }
  /// Those that end at a node, in the order of the fabric's links.
  [[nodiscard]] std::span<const Arc> arcs_into(std::uint32_t node) const {
    return std::span(into_).subspan(into_at_[node], into_at_[node + 1] - into_at_[node]);
  }
  /// How long it takes to send so many octets at the port `out`.
  [[nodiscard]] Picoseconds time_of(Arc out, std::uint32_t octets) const {
    if (const std::uint32_t each = ports[out].ps_per_octet; each != 0) [[likely]]
      return Picoseconds{octets} * each;
    return uneven_time(octets, rates[out]);
  }
  /// What a link needs beyond XOFF: what is under way both ways, a frame begun at each end, PAUSE.
  [[nodiscard]] std::uint64_t headroom_needed(std::uint64_t rate_bps, Picoseconds delay) const;

  /// Queues of the port `out`, by priority or as its flow control numbers them.
  [[nodiscard]] std::span<Queue> queues_of(Arc out) {
    return std::span(queues).subspan(std::size_t{out} << queue_bits, std::size_t{1} << queue_bits);
  }
  [[nodiscard]] std::span<const Queue> queues_of(Arc out) const {
    return std::span(queues).subspan(std::size_t{out} << queue_bits, std::size_t{1} << queue_bits);
  }
  [[nodiscard]] Queue& queue(Arc out, std::uint8_t which) {
    return queues[(std::size_t{out} << queue_bits) + which];
  }
  [[nodiscard]] const Queue& queue(Arc out, std::uint8_t which) const {
    return queues[(std::size_t{out} << queue_bits) + which];
  }

  Settings settings{};
  std::vector<Port> ports{};
  std::vector<Queue> queues{};  ///< by arc
  unsigned queue_bits = 3;      ///< a port has 2 to the power of that
  std::vector<Ingress> ingress{};
  std::vector<Buffer> buffers{};       ///< by node
  std::vector<Nic> nics{};             ///< by the arc that leads to it; empty: there are none
  std::uint32_t nic_ps_per_octet = 0;  ///< at which hosts take frames
  std::vector<EventSource> sources{};  ///< by arc
  std::vector<Flow> flows{};
  std::vector<std::uint32_t> followers{};        ///< flows that wait for others
  std::vector<Asymmetry> asymmetry{};            ///< by node; empty: there is none
  std::vector<std::uint64_t> rates{};            ///< by arc
  std::vector<Picoseconds> cut_at{};             ///< by arc: last; kNever: it never was
  bool any_cut = false;                          ///< one was
  std::vector<Random> random{};                  ///< by arc
  std::vector<std::uint64_t> sent_octets{};      ///< by arc, where there is telemetry
  std::vector<std::uint32_t> loss_ppb{};         ///< by arc; empty: no link destroys a frame
  std::vector<std::uint32_t> ways{};             ///< of flows that are spread: where routes begin
  std::vector<std::uint8_t> tags{};              ///< by arc: qos::Ruleset::tag where it arrives
  std::vector<std::uint32_t> place_in_paused{};  ///< by arc: in Part::paused; kNone: not there
  /// Virtual channels of lossless classes, under credits; and by priority: its channel, and the
  /// queues that are stopped with its own.
  std::uint8_t channels = 0;
  std::array<std::uint8_t, kPriorities> channel_of{};
  std::array<std::uint8_t, kPriorities> first_of_channel{};  ///< by channel: a priority in it
  std::array<QueueMask, kPriorities> together{};
  std::array<std::uint8_t, kPriorities> class_of{};  ///< by priority: 0, 1, ... if it is lossless
  /// Arcs of the flows' paths, with kNone before and after each.
  std::vector<std::uint32_t> routes{};
  QueueMask lossless = 0;    ///< bit per queue
  std::uint8_t control = 7;  ///< the queue of acknowledgements: first of all, never paused
  std::uint32_t frame_octets = 0;
  std::vector<std::uint32_t> part_of{};  ///< by node; empty: all are of one
  std::vector<Part*> parts{};            ///< of the engine that runs
  // Of all parts, as of the last time at which they stood still
  Counters count{};
  std::vector<Verdict> verdicts{};
  Picoseconds now = 0;
  std::size_t unfinished = 0;  ///< flows that have an end, and have not reached it
  std::size_t endless = 0;     ///< those that have none
  Trace trace{};
  Notice notice{};

 private:
  std::uint32_t add_route(const Path& path);
  [[nodiscard]] static Picoseconds uneven_time(std::uint32_t octets, std::uint64_t rate_bps);
  Result<void> lay_out_nics(const Fabric& fabric);
  Result<void> lay_out_channels();
  void lay_out_waits();

  std::uint32_t classes_ = 0;  ///< lossless priorities
  std::array<std::uint8_t, kPriorities> lossless_classes_{};
  std::vector<std::uint32_t> waits_{};    ///< by arc out, arc in, arrival, priority
  std::vector<Arc> into_{};               ///< arcs by the node at which they end
  std::vector<std::uint32_t> into_at_{};  ///< by node: its first in into_
  std::map<std::vector<std::size_t>, std::uint32_t> later_routes_{};  ///< by the path's links
};

}  // namespace lldp::lab::packets
