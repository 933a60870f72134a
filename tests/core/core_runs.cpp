// SPDX-License-Identifier: Apache-2.0
// core_runs PORTS SEED RUNS EVENTS [stale]: random runs of agents, in the words of the model's
// traces (docs/develop/model.md), for model/accept.py. PORTS: the device of each port.
//
// The agents' own frames arrive late, again, out of order or never; requests come into force at any
// later moment; agents die and start with their state; cables are pulled and plugged. A run ends
// where the model has no room for what would be next.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/support/names.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/order.hpp"

namespace lldp::test {
namespace {

constexpr std::size_t kUnheard = 255;  ///< the belief of an agent that was never heard
// As much as the model has room for (model/accept.py).
constexpr std::size_t kMostStarts = 3;
constexpr std::size_t kMostSequences = 4;
constexpr std::size_t kMostPulls = 3;
constexpr std::size_t kMostCrashes = 2;
constexpr std::size_t kMostRequests = 2;
constexpr std::size_t kRanksOfEach = 3;

std::size_t number_of(Order order) {
  switch (order) {
    case Order::kUp:
      return 1;
    case Order::kDown:
      return 2;
    case Order::kShut:
      return 3;
    case Order::kUnknown:
      break;
  }
  return 4;
}

class Run {
 public:
  Run(const std::vector<std::size_t>& owners, bool stale, std::uint64_t seed)
      : stale_(stale), random_(seed) {
    for (const std::size_t owner : owners) ports_.push_back({.owner = owner});
    devices_.resize(owners.back() + 1);
    std::printf("run seed=%llu\n", static_cast<unsigned long long>(seed));
    for (std::size_t p = 0; p < ports_.size(); ++p)
      for (std::size_t q = p + 1; q < ports_.size(); ++q)
        if (!is_lit(p) && !is_lit(q) && ports_[p].owner != ports_[q].owner) join(p, q);
    for (std::size_t d = 0; d < devices_.size(); ++d) begin(d);
    settle();
    tell();
  }
  /// One more event; false: the run is over.
  bool go() {
    std::string event;
    for (int tries = 0; event.empty() && tries < 50; ++tries) event = happen();
    if (event.empty()) return false;
    if (!settle()) return false;
    std::printf("%s\n", event.c_str());
    tell();
    return true;
  }

 private:
  struct Asked {
    Order order{};
    std::uint32_t generation = 0;
    std::size_t life = 0;
  };
  struct Port {
    std::size_t owner = 0;
    std::size_t mate = SIZE_MAX;
    std::uint32_t carriers = 1;
    Order force = Order::kUp;
    std::uint32_t seen = 0;     ///< generation of the newest request
    std::deque<Asked> asked{};  ///< and not in force yet
    bool untold = false;        ///< what is in force now was asked for by an earlier process
  };
  struct Device {
    core::Settings settings{};
    core::State state{};
    std::optional<core::Agent> agent{};
    std::vector<std::uint32_t> boots{};
    std::uint32_t sequence = 1;  ///< that it told last
    std::size_t rank = 0;        ///< that it is to have
  };
  /// A frame that an agent sent and that may arrive.
  struct Frame {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t start = 0;
    std::uint32_t session = 0;
    std::uint32_t sequence = 0;
    bool names = false;  ///< its receiver, in the session that this had
    std::uint32_t named_boot = 0;
    std::uint32_t named_session = 0;
    std::uint32_t acknowledged = 0;
    bool more = false;
    bool high = false;  ///< its bound is above the bottom
    Bytes octets{};
  };

  std::size_t below(std::size_t n) { return random_() % n; }
  [[nodiscard]] ChassisId chassis(std::size_t d) const {
    return {{ChassisId::kLocal, std::string(1, static_cast<char>('a' + d))}};
  }
  [[nodiscard]] std::size_t rank_of(const Position& rank) const {
    if (rank == Position{}) return 0;
    return 1 + (rank.level.value() - 1U) * devices_.size() +
           static_cast<std::size_t>(rank.chassis.octets.front() - 'a');
  }
  /// That of the device on a level, from 0.
  [[nodiscard]] std::size_t rank(std::size_t level, std::size_t d) const {
    return 1 + level * devices_.size() + d;
  }
  void aim(Device& dev, std::size_t rank) const {
    dev.rank = rank;
    dev.settings.pinned_level = level(1 + (rank - 1) / devices_.size());
  }
  static std::string name(std::size_t p) { return "p" + std::to_string(p); }
  void join(std::size_t p, std::size_t q) { ports_[p].mate = q, ports_[q].mate = p; }
  [[nodiscard]] bool is_lit(std::size_t p) const { return ports_[p].mate < ports_.size(); }

  void begin(std::size_t d) {
    Device& dev = devices_[d];
    dev.settings.chassis_id = chassis(d);
    dev.settings.establish = std::chrono::hours(24 * 365);
    aim(dev, rank(below(kRanksOfEach), d));
    const Position rank{*dev.settings.pinned_level, chassis(d)};
    dev.state = {.agent = 100 + d,
                 .rank_id = chassis(d),
                 .boot = 1000,
                 .rank = rank,
                 .bound = rank,
                 .role = Role::kSwitch};
    dev.state.level = dev.settings.pinned_level;
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (ports_[p].owner != d) continue;
      core::PortState state{.name = name(p), .ifindex = ifindex(p + 1)};
      if (is_lit(p)) state.carrier_changes = ports_[p].carriers;
      state.in_force = Order::kUp;
      state.ever_heard = true;
      dev.state.ports.push_back(std::move(state));
    }
    start(d);
  }
  void start(std::size_t d) {
    Device& dev = devices_[d];
    for (Port& p : ports_)
      if (p.owner == d) p.seen = 0;
    for (const core::PortState& port : dev.state.ports)
      if (port.requested != 0 || port.in_force == Order::kDown)
        ports_[port.ifindex.value() - 1].untold = true;
    dev.agent.emplace(
        std::make_shared<const core::Settings>(dev.settings),
        core::Identity{.entropy = random_(),
                       .wall_clock = static_cast<std::uint32_t>(1001 + dev.boots.size())},
        dev.state, now_);
    for (std::size_t p = 0; p < ports_.size(); ++p)
      if (ports_[p].owner == d) report(p);
    dev.boots.push_back(dev.agent->state().boot);
  }
  void report(std::size_t p) {
    Device& dev = devices_[ports_[p].owner];
    if (dev.agent)
      dev.agent->set_link({.ifindex = ifindex(p + 1),
                           .name = name(p),
                           .address = mac(1, p + 1),
                           .up = is_lit(p),
                           .carrier_changes = ports_[p].carriers},
                          now_, actions_);
  }

  // Events

  /// Its line; empty: it may not happen now.
  std::string happen() {
    switch (below(16)) {
      case 0:
        return retarget(below(devices_.size()));
      case 1:
        return crash(below(devices_.size()));
      case 2:
        return restart(below(devices_.size()));
      case 3:
        return pull(below(ports_.size()));
      case 4:
        return plug(below(ports_.size()), below(ports_.size()));
      case 5:
      case 6:
      case 7:
      case 8:
        return confirm(below(ports_.size()));
      default:
        return hear();
    }
  }
  std::string retarget(std::size_t d) {
    Device& dev = devices_[d];
    const std::size_t to = rank(below(kRanksOfEach), d);
    if (!dev.agent || dev.rank == to) return {};
    const core::State state = dev.agent->state();
    // A fall ends a rise at once; in the model the rise stands until the rank has fallen.
    if (to < rank_of(state.rank) && state.bound != state.rank) return {};
    if (dev.sequence == kMostSequences) return {};
    aim(dev, to);
    dev.agent->configure(dev.settings, now_, actions_);
    return text("target device=", d, " rank=", to);
  }
  std::string crash(std::size_t d) {
    Device& dev = devices_[d];
    if (!dev.agent || crashes_ == kMostCrashes || dev.boots.size() == kMostStarts) return {};
    ++crashes_;
    dev.state = dev.agent->state();
    dev.agent.reset();
    const bool drops = below(2) == 0;
    bool pending = false;
    for (Port& p : ports_) {
      if (p.owner != d) continue;
      pending |= !p.asked.empty();
      if (drops) p.asked.clear();
    }
    return text("crash device=", d, drops && pending ? " requests=dropped" : " requests=kept");
  }
  std::string restart(std::size_t d) {
    Device& dev = devices_[d];
    if (dev.agent) return {};
    start(d);
    return text("start device=", d, " state=saved");
  }
  /// With three devices a dead one keeps its cable: docs/develop/model.md.
  [[nodiscard]] bool may_pull(std::size_t p) const {
    return devices_.size() == 2 || devices_[ports_[p].owner].agent;
  }
  std::string pull(std::size_t p) {
    if (!is_lit(p) || pulls_ == kMostPulls) return {};
    const std::size_t q = ports_[p].mate;
    if (!may_pull(p) || !may_pull(q)) return {};
    ++pulls_;
    ports_[p].mate = ports_[q].mate = SIZE_MAX;
    if (!stale_)
      std::erase_if(frames_, [&](const Frame& f) {
        return (f.from == p && f.to == q) || (f.from == q && f.to == p);
      });
    for (const std::size_t end : {p, q}) ++ports_[end].carriers, report(end);
    return text("pull ports=", std::min(p, q), ",", std::max(p, q));
  }
  /// A11: the order of A8 is in force there first.
  [[nodiscard]] bool is_ready(std::size_t p) const {
    const Port& port = ports_[p];
    const auto is_down = [](const Asked& a) { return a.order == Order::kDown; };
    if (!devices_[port.owner].agent)
      return devices_.size() == 2 ||
             (port.force != Order::kDown && std::ranges::none_of(port.asked, is_down));
    return port.asked.empty() && port.force != Order::kDown;
  }
  std::string plug(std::size_t p, std::size_t q) {
    if (ports_[p].owner == ports_[q].owner || is_lit(p) || is_lit(q)) return {};
    if (!is_ready(p) || !is_ready(q)) return {};
    join(p, q);
    // What the model shuts as the carrier comes is in force before traffic passes.
    for (const std::size_t end : {p, q})
      ++ports_[end].carriers, report(end), plugged_.push_back(end);
    return text("plug ports=", std::min(p, q), ",", std::max(p, q));
  }
  std::string confirm(std::size_t p) {
    Port& port = ports_[p];
    if (port.asked.empty()) return {};
    put_in_force(p);
    return text("confirm port=", p, " order=", number_of(port.force));
  }
  void put_in_force(std::size_t p) {
    Port& port = ports_[p];
    const Asked asked = port.asked.front();
    port.asked.pop_front();
    port.force = asked.order;
    Device& dev = devices_[port.owner];
    port.untold = !dev.agent || asked.life != dev.boots.size();
    if (!port.untold) dev.agent->in_force(ifindex(p + 1), asked.generation, now_, actions_);
  }
  std::string hear() {
    if (frames_.empty()) return {};
    const Frame& f = frames_[below(frames_.size())];
    Device& to = devices_[ports_[f.to].owner];
    if (!to.agent || !is_lit(f.to)) return {};
    // It says that it hears somebody without an entry, which no pair of the model says.
    if (f.more && to.agent->order(ifindex(f.to + 1)) == Order::kDown) return {};
    const Device& from = devices_[ports_[f.from].owner];
    const bool names =
        f.names && f.named_boot == to.boots.back() && f.named_session == sessions_[f.to];
    // That of a dead agent is not over before it starts again.
    const bool is_present = f.start + 1 == from.boots.size() && f.session == sessions_[f.from];
    to.agent->receive(ifindex(f.to + 1), f.octets, now_, actions_);
    return text("hear port=", f.to, " from=", f.from, " naming=", names ? 1 : 0, " start=", f.start,
                " session=", is_present ? 1 : 0, " seq=", names ? f.sequence : 0,
                " bound=", f.high ? 1 : 0, " ack=", names ? f.acknowledged : 0);
  }

  // What follows

  void pass_time() {
    const TimePoint end = now_ + seconds(5);
    for (;;) {
      core::Agent* next = nullptr;
      TimePoint at = end;
      for (Device& dev : devices_) {
        const auto due = dev.agent ? dev.agent->next_deadline() : std::nullopt;
        if (due && *due < at) at = *due, next = &*dev.agent;
      }
      now_ = std::max(now_, at);
      if (next == nullptr) return;
      next->advance(now_, actions_);
      actions_.clear();
    }
  }
  /// False: the model has no room for what was asked for.
  bool settle() {
    for (bool again = true; again;) {
      actions_.clear();
      pass_time();
      again = false;
      for (std::size_t p = 0; p < ports_.size(); ++p) again |= collect(p);
    }
    plugged_.clear();
    for (const Port& port : ports_) is_beyond_ |= port.asked.size() > kMostRequests;
    if (is_beyond_) return false;
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (!send(d)) return false;
    return true;
  }
  /// Takes over the port's newest request. True if that came into force at once.
  bool collect(std::size_t p) {
    Port& port = ports_[p];
    Device& dev = devices_[port.owner];
    if (!dev.agent) return false;
    const core::Request request = dev.agent->request(ifindex(p + 1));
    if (request.generation <= port.seen) return false;
    // Two requests of one moment are one here, of which the model makes two.
    is_beyond_ |= port.seen != 0 && request.generation > port.seen + 1;
    port.seen = request.generation;
    const Asked asked{request.order, request.generation, dev.boots.size()};
    const bool is_new_carrier =
        std::ranges::count(plugged_, p) != 0 && request.order == Order::kShut;
    // One that there is nothing to do for is in force at once.
    if (port.asked.empty() && (request.order == port.force || is_new_carrier)) {
      port.asked.push_back(asked);
      put_in_force(p);
      return true;
    }
    if (!port.asked.empty() && port.asked.back().order == request.order)
      port.asked.back() = asked;
    else
      port.asked.push_back(asked);
    return false;
  }
  /// What each port would send now may arrive from now on.
  bool send(std::size_t d) {
    Device& dev = devices_[d];
    if (!dev.agent) return true;
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (ports_[p].owner != d) continue;
      const Bytes octets = dev.agent->announcement(ifindex(p + 1));
      const auto view = tlv::decode(ByteSpan(octets).subspan(14),
                                    {.contribution_ouis = dev.settings.accepted_ouis});
      const auto told = view ? tlv::decode_as<tlv::OrderTlv>(view->order) : std::nullopt;
      if (!told) std::abort();
      sessions_.resize(ports_.size());
      sessions_[p] = told->session;
      dev.sequence = told->sequence;
      if (dev.sequence > kMostSequences) return false;
      if (!is_lit(p)) continue;
      Frame frame{.from = p,
                  .to = ports_[p].mate,
                  .start = dev.boots.size() - 1,
                  .session = told->session,
                  .sequence = told->sequence,
                  .octets = octets};
      for (const tlv::OrderEntry& e : told->entries.view()) {
        if (e.agent.value() != 100 + ports_[frame.to].owner) continue;
        frame.names = true;
        frame.named_boot = e.boot;
        frame.named_session = e.session;
        frame.acknowledged = e.acknowledged;
      }
      // Of what an earlier process asked for the core may be more careful than the model.
      if (ports_[p].untold && !frame.names) continue;
      frame.more = (told->flags & tlv::OrderTlv::kMore) != 0;
      frame.high = told->level != tlv::OrderTlv::kNoLevel;
      if (std::ranges::none_of(frames_, [&](const Frame& f) { return f.octets == frame.octets; }))
        frames_.push_back(std::move(frame));
    }
    return true;
  }

  // What is told of it

  template <class... T>
  static std::string text(T&&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
  }
  void tell() {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Device& dev = devices_[d];
      if (!dev.agent) {
        std::printf("device %zu alive=0\n", d);
        continue;
      }
      const core::State state = dev.agent->state();
      std::printf("device %zu alive=1 rank=%zu bound=%zu start=%zu seq=%zu\n", d,
                  rank_of(state.rank), rank_of(state.bound), dev.boots.size() - 1,
                  std::size_t{dev.sequence});
      for (std::size_t p = 0; p < ports_.size(); ++p)
        if (ports_[p].owner == d) tell(p, state);
    }
  }
  void tell(std::size_t p, const core::State& state) {
    const Port& port = ports_[p];
    const auto asked = [&](std::size_t n) {
      return n < port.asked.size() ? number_of(port.asked[n].order) : 0;
    };
    const auto known = std::ranges::find(state.ports, name(p), &core::PortState::name);
    if (known == state.ports.end()) std::abort();
    // Of what an earlier process asked for the agent is told nothing.
    std::printf("port %zu force=%zu req=%zu,%zu\n", p,
                number_of(port.untold ? port.force : known->in_force), asked(0), asked(1));
    const std::size_t d = port.owner;
    const Bytes octets = devices_[d].agent->announcement(ifindex(p + 1));
    const auto view = tlv::decode(ByteSpan(octets).subspan(14),
                                  {.contribution_ouis = devices_[d].settings.accepted_ouis});
    const auto told = tlv::decode_as<tlv::OrderTlv>(view->order);
    for (std::size_t v = 0; v < devices_.size(); ++v) {
      if (v == d) continue;
      const core::KnownAgent* agent = nullptr;
      for (const core::KnownAgent& a : known->agents)
        if (a.agent == 100 + v) agent = &a;
      if (agent == nullptr) {
        std::printf("neighbor %zu.%zu A=%zu heard=0\n", p, v, kUnheard);
        continue;
      }
      std::printf("neighbor %zu.%zu A=%zu heard=%d counted=%d", p, v, rank_of(agent->belief),
                  agent->heard ? 1 : 0, agent->counted ? 1 : 0);
      if (agent->counted) std::printf(" bound=%zu", rank_of(agent->bound));
      bool has_entry = false;
      for (const tlv::OrderEntry& e : told->entries.view()) has_entry |= e.agent.value() == 100 + v;
      // Of what an earlier process asked for the core may be more careful than the model.
      if (is_lit(p) && agent->heard && agent->speaks && (has_entry || !port.untold))
        std::printf(" entry=%d", has_entry ? 1 : 0);
      std::printf("\n");
    }
  }

  const bool stale_;  ///< frames outlive a cable that is pulled
  std::mt19937_64 random_;
  std::vector<Port> ports_{};
  std::vector<Device> devices_{};
  std::vector<Frame> frames_{};
  std::vector<std::uint32_t> sessions_{};
  std::vector<std::size_t> plugged_{};  ///< in this event
  bool is_beyond_ = false;              ///< the model has no room for what was asked for
  std::size_t crashes_ = 0;
  std::size_t pulls_ = 0;
  TimePoint now_{seconds(1000)};
  core::Actions actions_{};
};

int run_all(int argc, char** argv) {
  const bool stale = argc == 6 && argv[5] == std::string_view("stale");
  if (argc != 5 && !stale) {
    std::fprintf(stderr, "usage: core_runs PORTS SEED RUNS EVENTS [stale]\n");
    return 2;
  }
  std::vector<std::size_t> owners;
  for (const char* c = argv[1]; *c != '\0'; ++c)
    if (*c != ',') owners.push_back(static_cast<std::size_t>(*c - '0'));
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t runs = std::strtoull(argv[3], nullptr, 10);
  const std::uint64_t events = std::strtoull(argv[4], nullptr, 10);
  for (std::uint64_t n = 0; n < runs; ++n) {
    Run run(owners, stale, seed + n);
    for (std::uint64_t e = 0; e < events && run.go(); ++e) {
    }
  }
  return 0;
}

}  // namespace
}  // namespace lldp::test

int main(int argc, char** argv) { return lldp::test::run_all(argc, argv); }
