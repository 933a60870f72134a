// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "qos/policy.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::packets {

enum class FlowControlKind : std::uint8_t {
  kPfc,
  kOff,
  kPfcStar,  ///< PFC with a class of its own for each hop
  kPortFc,
  kCbfc  ///< credits, by virtual channel
};
inline constexpr std::string_view kFlowControls[] = {"pfc", "none", "pfc-star", "portfc", "cbfc"};

/// What is done against deadlocks.
enum class ProtectionScheme : std::uint8_t { kOff, kDownUp, kWatchdog, kItsy };
inline constexpr std::string_view kProtections[] = {"none", "down-up", "watchdog", "itsy"};

/// How a flow gets its frames across.
enum class HostTransport : std::uint8_t {
  kPaced,     ///< at its rate, without acknowledgements
  kGoBackN,   ///< from the first one that is missing
  kSelective  ///< IRN: only what is missing, at most a bandwidth-delay product under way
};
inline constexpr std::string_view kTransports[] = {"paced", "go-back-n", "irn"};

/// How frames of a flow are spread over its ways. The first switch chooses, for each frame.
enum class Spread : std::uint8_t {
  kFlow,     ///< not at all: one way, by the flow's hash (ECMP)
  kPacket,   ///< by chance (packet spraying)
  kAdaptive  ///< to where least waits at that switch
};
inline constexpr std::string_view kSpreads[] = {"flow", "packet", "adaptive"};

/// What a node that relays sends next, of its own and of what it relays.
enum class RelayOrder : std::uint8_t {
  kAsUsual,  ///< with PortFC kFirst, else kOwnTwice
  kFirst,    ///< what it relays
  kOwnTwice  ///< two frames of its own to one that it relays
};
inline constexpr std::string_view kRelayOrders[] = {"as-usual", "first", "own-twice"};

/// Priority-based Flow Control, and the buffer it guards. IEEE 802.1Q-2018 36.
struct PfcSettings {
  std::uint32_t xoff_octets = 100'000;  ///< of one ingress port and priority
  std::uint32_t xon_octets = 97'000;
  /// In place of xoff: alpha / 256 of what is free of the shared buffer; resumed 2 frames below.
  std::uint32_t alpha_256 = 0;
  std::uint32_t headroom_octets = 0;  ///< 0: what each link needs
  std::uint16_t quanta = 0xffff;      ///< of 512 bit times, after which a pause ends by itself
};

/// What receives at every host: a buffer that the host empties at its pace, and PFC for some
/// priorities, which all stop when it fills. Frames that find no room are lost.
struct NicSettings {
  bool on = false;
  std::uint64_t drain_bps = 80'000'000'000;
  std::uint32_t buffer_octets = 512'000;
  std::uint8_t pfc = 0xff;  ///< bit n: it can pause priority n
};

/// Credit-Based Flow Control of Ultra Ethernet; names as in SAI (SAI_PORT_ATTR_CBFC_...).
struct CbfcSettings {
  std::uint32_t virtual_channels = 0;  ///< classes beyond share the last one; 0: one for each class
  std::uint32_t credit_size = 256;     ///< octets
  std::uint32_t packet_overhead = 0;   ///< octets that are counted with each frame, to 127
  std::uint32_t credit_limit = 400;    ///< of one channel of a link
  std::uint32_t cf_min_spacing = 6400;  ///< octets of the link between two messages
};

/// What the reactive way does with a queue that is paused for too long.
struct WatchdogSettings {
  Picoseconds detection = 200 * kMicrosecond;
  Picoseconds restoration = 200 * kMicrosecond;
  bool drops = false;  ///< else it sends on, whatever the far end says
};

/// ITSY as its text has it, or with what that leaves open settled (docs/research/sim.md).
enum class ItsyVariant : std::uint8_t { kOurs, kPublished };
inline constexpr std::string_view kItsyVariants[] = {"ours", "published"};

/// Deadlocks found in the data plane, by what first paused.
struct ItsySettings {
  ItsyVariant variant = ItsyVariant::kOurs;
  /// A proof under way for longer has failed: another one may take its place.
  /// 0: 32 times the longest delay of a link, and 32 us at least.
  Picoseconds patience = 0;
  bool break_up = true;  ///< drains what the counters of the loop hold
  bool handle = true;    ///< slows what the initial trigger was stopped by, or ignores a host
  std::uint64_t least_bps = 100'000'000;  ///< no flow is slowed below
  /// A flow that was slowed gets its rate back after so long, unless its trigger pauses then.
  Picoseconds slow_for = kMillisecond;
};

/// Random early marking at an egress queue.
struct EcnSettings {
  bool on = false;
  std::uint32_t kmin_octets = 5'000;
  std::uint32_t kmax_octets = 200'000;
  std::uint32_t pmax_permille = 10;
};

/// DCQCN's constants, as integers, so that it is the same everywhere. These are the set `mellanox`:
/// those of Mellanox's firmware (its defaults, as ns-3 models of the NICs have them).
struct DcqcnSettings {
  bool on = false;
  std::uint32_t g_256 = 1;                             ///< gain, in 1/256
  Picoseconds alpha_interval = 1 * kMicrosecond;       ///< alpha falls when no mark came within
  Picoseconds decrease_interval = 4 * kMicrosecond;    ///< at most one decrease in each
  Picoseconds increase_interval = 300 * kMicrosecond;  ///< one stage after the other
  std::uint32_t fast_recovery_stages = 1;              ///< F
  std::uint64_t additive_bps = 40'000'000;
  std::uint64_t hyper_bps = 100'000'000;
  std::uint64_t min_bps = 100'000'000;
};

/// The set `dcqcn-paper`: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
/// SIGCOMM 2015, section 5 and Figure 14 (g 1/256, timer and alpha 55 us, F = 5, 40 Mb/s), with one
/// notification in 50 us. Its byte counter (10 MB) is not modeled; hyper increase begins where
/// both counters are beyond F, which is never without it.
inline constexpr DcqcnSettings kDcqcnPaper{.g_256 = 1,
                                           .alpha_interval = 55 * kMicrosecond,
                                           .decrease_interval = 50 * kMicrosecond,
                                           .increase_interval = 55 * kMicrosecond,
                                           .fast_recovery_stages = 5,
                                           .additive_bps = 40'000'000,
                                           .hyper_bps = 40'000'000,
                                           .min_bps = 40'000'000};

struct NamedDcqcn {
  std::string_view name{};
  DcqcnSettings settings{};
};
inline constexpr NamedDcqcn kDcqcnSets[] = {{"mellanox", {}}, {"dcqcn-paper", kDcqcnPaper}};

/// HPCC's constants (Li et al., SIGCOMM 2019, 3.3 and 5.1).
struct HpccSettings {
  bool on = false;
  std::uint32_t eta_permille = 950;    ///< of a link's capacity that is to be used
  std::uint32_t max_stage = 5;         ///< rounds of additive increase one after the other
  std::uint32_t additive_octets = 80;  ///< W_AI
};

struct Settings {
  qos::Policy policy{};
  FlowControlKind flow_control = FlowControlKind::kPfc;
  ProtectionScheme protection = ProtectionScheme::kDownUp;
  bool restore = false;  ///< at ports to hosts spare classes become their application class again
  PfcSettings pfc{};
  NicSettings nic{};
  CbfcSettings cbfc{};
  WatchdogSettings watchdog{};
  ItsySettings itsy{};
  EcnSettings ecn{};
  DcqcnSettings dcqcn{};
  HpccSettings hpcc{};
  RelayOrder relay_order = RelayOrder::kAsUsual;
  /// Where nodes relay, over links of two rates: a flow's first link is chosen when it starts, so
  /// that what a node sends over the faster one stays below so much of it. 0: by the flow's hash.
  std::uint32_t ate_percent = 0;
  /// A study: PortFC in an NDC(n, k) of any k, where what is relayed twice can overflow.
  bool any_k = false;
  std::uint32_t loss_ppb = 0;  ///< of links that have no error rate of their own
  Spread spread = Spread::kFlow;
  std::uint64_t buffer_octets = 0;  ///< of a switch; 0: what its static thresholds need, and 1 MiB
  std::uint16_t payload_octets = 1000;
  std::uint16_t header_octets = 48;
  Picoseconds rto_low = 100 * kMicrosecond;  ///< IRN, with few frames under way
  Picoseconds rto_high = 320 * kMicrosecond;
  std::uint32_t rto_low_frames = 3;
  Picoseconds go_back_rto = 4 * kMillisecond;
  std::uint64_t seed = 1;
};

inline constexpr std::uint16_t kControlOctets = 64;  ///< PAUSE and ACK: the shortest frame

}  // namespace lldp::lab::packets
