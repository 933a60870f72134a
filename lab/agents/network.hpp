// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "agent/core/agent.hpp"
#include "base/indexed_heap.hpp"
#include "lab/des/event_queue.hpp"
#include "lab/des/random.hpp"

namespace lldp::lab::agents {

/// Sees what becomes of a network, when it has become so: it may look, but must not touch.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  virtual void started(std::size_t /*node*/) {}
  virtual void stopped(std::size_t /*node*/) {}
  /// What an agent asked for in one call, before its frames are on the wire.
  virtual void acted(std::size_t /*node*/, const core::Actions& /*actions*/) {}
  virtual void cable_changed(std::size_t /*cable*/) {}
  /// The rules in force of a port are others than `before`.
  virtual void ruled(std::size_t /*node*/, std::size_t /*slot*/, Order /*before*/) {}
  /// All that had to happen at this moment because of one event has happened.
  virtual void stepped() {}
};

/// Where an agent dies that is to die when it next has something to save or to send.
enum class Crash : std::uint8_t {
  kBeforeSaving,  ///< the file still holds the state before
  kWhileSending,  ///< saved, and some of the frames are out
};

/// Agents, and cables between their ports that take time, lose and repeat frames; on virtual time.
/// The owner of the agents, as the daemon is one: it keeps a state file, which is written before
/// frames are sent (docs/develop/rules.md, "Order"), and lets an agent that died start from it.
/// Everything drawn by chance comes from the seed, so a network does the same on any machine.
class Network {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Port {
    const std::string* name{};  ///< one of names_: few differ
    MacAddress address{};
    std::optional<Layers> layers{};  ///< as a configuration has them
    std::uint32_t cable = kNone;
    std::vector<std::uint32_t> more{};  ///< further cables: the port is one of a hub's
    core::AdminStatus admin = core::AdminStatus::enabledRxTx;
    std::uint32_t carrier_changes = 0;  ///< as the kernel counts them
    Order rule = Order::kUnknown;       ///< in force, also of an earlier life
    bool restores = false;              ///< these rules restore spare classes
    // The rest is the network's own.
    std::uint32_t generation = 0;  ///< of the agent's newest request
    std::uint32_t asked = 0;       ///< requests made, in all lives
    std::uint32_t applied = 0;     ///< of those
    std::uint32_t at_carrier = 0;  ///< asked when the carrier changed last
    bool unattended = false;       ///< it changed while no agent saw it, and no later rule is there
    TimePoint last{};              ///< when the last request is in force
  };
  struct Node {
    /// Of the agent too, as long as it runs with them, and of others like it: alter() makes some of
    /// its own of them.
    std::shared_ptr<const core::Settings> settings{};
    core::Identity self{};
    std::optional<std::uint32_t>
        clock{};  ///< seconds that its clock shows at a start, if not `now`
    std::unique_ptr<core::State> state{};  ///< the state file; null: there is none
    std::optional<core::Agent> agent{};    ///< empty: it is not running
    std::vector<Port> ports{};             ///< port n has ifindex n + 1
    std::vector<core::Event> events{};     ///< all of them, if the network is to keep them
    bool read_only = false;                ///< its state file is not written any more
    bool stale = false;  ///< it once started from a state that was not its own last
    bool stock = false;  ///< no TLV of ours leaves it

    /// Its process stands still: it hears of nothing, and its rules act on.
    [[nodiscard]] bool frozen() const { return frozen_; }
    /// Its agent runs and hears.
    [[nodiscard]] bool runs() const { return agent && !frozen_; }

    [[nodiscard]] bool is_switch() const { return settings->role == Role::kSwitch; }
    [[nodiscard]] const std::string& name() const {
      return settings->system_name.empty() ? self.system_name : settings->system_name;
    }

   private:
    friend Network;
    bool frozen_ = false;
    std::vector<std::pair<Ifindex, Bytes>> backlog{};  ///< frames that came meanwhile
    /// And rules that came into force: port, generation.
    std::vector<std::pair<std::size_t, std::uint32_t>> unconfirmed{};
    bool unsaved = false;          ///< the agent's state is not the file's
    bool outdated = false;         ///< and cannot be
    std::uint32_t life = 0;        ///< of the agent
    std::uint32_t power = 0;       ///< how often it went
    std::optional<Crash> crash{};  ///< to come
  };
  struct End {
    std::size_t node = 0;
    Ifindex port{};
    [[nodiscard]] std::size_t slot() const { return port.value() - 1; }
  };
  struct Cable {
    End a{};
    End b{};
    Duration delay{};
    bool up = true;
    bool hub = false;     ///< between two ports of a hub
    bool mute[2] = {};    ///< what a, what b sends is lost
    bool plugged = true;  ///< false: its ports may have another one by now

    [[nodiscard]] bool joins(std::size_t node) const { return a.node == node || b.node == node; }
    [[nodiscard]] const End& far_end(const End& of) const {
      return a.node == of.node && a.port == of.port ? b : a;
    }

   private:
    friend Network;
    TimePoint last[2]{};           ///< when the last frame to a, to b arrives
    std::uint32_t generation = 0;  ///< how often it went down, and lost what was on it
  };

  explicit Network(std::uint64_t seed = 1) : random_(seed) {}

  double loss = 0;         ///< probability that a frame is lost
  double duplication = 0;  ///< and that it arrives twice
  bool reorders = false;   ///< a frame may overtake another one
  double refusal = 0;  ///< probability that a data plane does at first not do what it is asked for
  Duration jitter{};   ///< at most so much beyond the cable's delay
  Duration delay = std::chrono::milliseconds(1);  ///< of cables laid from now on
  std::optional<std::size_t> mute{};              ///< nothing that this node sends arrives
  /// Rules are in force so long after they were asked for, at most; those of a port in their order.
  Duration rules_late{};
  bool keep_events = false;
  /// false: a state file is written only when its agent ends. That costs less, and hides an agent
  /// that does not tell of a change (core::Event::Kind::kState); crash_soon() needs true.
  bool saves_at_once = true;
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_lost = 0;  ///< of those; not the ones sent into a cable that is down

  /// The observer must outlive the network, or this call's opposite.
  void watch(Observer& observer) { observers_.push_back(&observer); }

  // The fabric

  std::size_t add(core::Settings settings);
  std::size_t add(std::shared_ptr<const core::Settings> settings, core::Identity self);
  /// A port without a cable. Without a name it is `p1`, `p2`, ..., and its address tells node and
  /// port.
  Ifindex add_port(std::size_t node);
  Ifindex add_port(std::size_t node, std::string_view name, MacAddress address,
                   std::optional<Layers> layers = {});
  std::size_t plug(End a, End b, Duration delay);
  /// A cable between two new ports.
  std::size_t connect(std::size_t a, std::size_t b);
  /// A new port of each of them, all of which hear each other.
  void connect_by_hub(const std::vector<std::size_t>& members);
  /// The cable is pulled; its ports can take another one.
  void unplug(std::size_t cable);
  /// The carrier goes or comes, at both ends.
  void set_cable(std::size_t cable, bool up);

  // The agents' lives

  void start(std::size_t node);
  void start_all();
  /// An orderly stop says goodbye, a crash does not.
  void stop(std::size_t node, bool orderly);
  /// The machine is without power: no rule is left, and what was asked for is void.
  void cut_power(std::size_t node);
  void freeze(std::size_t node);
  /// What came meanwhile is heard now, links before frames or after them.
  void thaw(std::size_t node);
  /// An operator sets what the port may send and hear.
  void set_admin(std::size_t node, std::size_t slot, core::AdminStatus admin);
  /// A node whose agent is dead tells all its neighbors what stock LLDP tells of it.
  void speak_as_lldpd(std::size_t node, const ChassisId& chassis, bool station);
  /// The disk of a machine becomes another one's. What the file has of carriers is void there.
  void copy_state(std::size_t from, std::size_t to);
  /// The state file is lost.
  void lose_state(std::size_t node) {
    nodes[node].state.reset();
    nodes[node].stale = nodes[node].outdated = false;
  }
  /// Other rules than an agent asked for.
  void put_rule(std::size_t node, std::size_t slot, Order order, bool restores = false);
  /// The cable has carrier, and what its ends asked for when that came is in force: before that no
  /// lossless traffic passes (docs/develop/rules.md A11).
  [[nodiscard]] bool passes(const Cable& cable) const;
  /// The rules that came into force last are those that the port's carrier waited for.
  [[nodiscard]] bool came_to_pass(std::size_t node, std::size_t slot) const {
    const Port& port = nodes[node].ports[slot];
    return port.at_carrier > 0 && port.applied == port.at_carrier;
  }
  /// Dies in the midst of things, when it next has something to save or to send; nullopt: not any
  /// more.
  void crash_soon(std::size_t node, std::optional<Crash> crash) {
    if (nodes[node].agent) nodes[node].crash = crash;
  }
  /// The node's settings, for the caller to change: they hold from configure() on, or from the
  /// agent's next start.
  [[nodiscard]] core::Settings& alter(std::size_t node);
  void configure(std::size_t node);
  /// As an operator does: the node forgets its level, or the remembered neighbor of a port.
  void forget(std::size_t node, std::optional<Ifindex> port);
  bool renew_location(std::size_t node);

  // Time

  /// Calls `what` at a moment to come, before what is put in later for the same moment.
  void at(TimePoint when, std::function<void()> what);
  [[nodiscard]] bool idle() const { return queue_.empty() && wakes_.empty(); }
  [[nodiscard]] TimePoint next_time() const {
    return wakes_first() ? wakes_.least().first : queue_.next_time();
  }
  /// Lets the next event happen.
  void step();
  void run_until(TimePoint end);
  void run_for(Duration d) { run_until(now + d); }

  // What became of it

  [[nodiscard]] core::Agent& agent(std::size_t node) { return *nodes[node].agent; }
  [[nodiscard]] std::optional<Level> level_of(std::size_t node) const {
    return nodes[node].agent->level();
  }
  /// The end of a cable that is at `node`.
  [[nodiscard]] Ifindex port_at(std::size_t cable, std::size_t node) const {
    return cables[cable].a.node == node ? cables[cable].a.port : cables[cable].b.port;
  }
  [[nodiscard]] Random& random() { return random_; }

  std::vector<Node> nodes{};
  std::vector<Cable> cables{};
  /// Virtual time begins here; any moment but zero, which an agent might take for "never".
  static constexpr TimePoint kBegin{std::chrono::seconds(1000)};
  TimePoint now = kBegin;

 private:
  struct Event {
    enum class Kind : std::uint8_t { kDeliverToA, kDeliverToB, kCall };
    Kind kind = Kind::kCall;
    std::uint32_t cable = 0;
    std::uint32_t generation = 0;  ///< of the cable, when the frame was sent
    std::uint32_t what = 0;        ///< the frame's place in the pool, or the call's
  };
  /// Things that are used for a while and whose storage is used again: frames on the wire, as the
  /// octets of actions_ hold only until it is cleared, and calls to come.
  template <class T>
  class Pool {
   public:
    std::uint32_t take() {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(all_.size()));
        all_.emplace_back();
      }
      const std::uint32_t at = free_.back();
      free_.pop_back();
      return at;
    }
    T& operator[](std::uint32_t at) { return all_[at]; }
    void release(std::uint32_t at) { free_.push_back(at); }

   private:
    std::vector<T> all_{};
    std::vector<std::uint32_t> free_{};
  };

  [[nodiscard]] bool wakes_first() const {
    return !wakes_.empty() && (queue_.empty() || wakes_.least() < queue_.next_turn());
  }
  void report_link(std::size_t node, std::size_t slot);
  /// What its agent wants by now is what is in force.
  void attend(std::size_t node);
  void carrier_changed(std::size_t cable);
  static void save(Node& node);
  void deliver(const Event& e, const End& to);
  void wake(std::size_t node);
  void call(std::uint32_t what);
  void act(std::size_t node);
  void act_once(std::size_t node);
  /// Asks the data plane for what the agent requests since. `safe_only`: orders that are safe
  /// whatever the state file says.
  void program(std::size_t node, bool safe_only);
  void apply(std::size_t node, std::size_t slot, const core::Request& request, std::uint32_t turn,
             std::uint32_t life, std::uint32_t power);
  void transmit(std::size_t node, const core::Send& send);
  void transmit(std::size_t node, const core::Send& send, std::uint32_t cable);
  void schedule(std::size_t node);
  void die(std::size_t node);

  Random random_;
  std::set<std::string, std::less<>> names_{};  ///< of ports
  EventQueue<Event> queue_{};
  /// When each agent wants to be called; apart from the events, as it changes with nearly every one
  /// of these.
  IndexedHeap<EventQueue<Event>::Turn> wakes_{};
  Pool<Bytes> frames_{};
  Pool<std::function<void()>> calls_{};
  core::Actions actions_{};
  /// Confirmed, and not told to their agent yet: node, slot, generation.
  std::vector<std::tuple<std::size_t, std::size_t, std::uint32_t>> confirmed_{};
  std::vector<Observer*> observers_{};
};

}  // namespace lldp::lab::agents
