// SPDX-License-Identifier: Apache-2.0
// Random runs of the model (docs/develop/model.md), replayed on the agents' core: after each event
// a device has the rank, the bound, the orders and the beliefs that the model has, and lists and
// acknowledges in its frame what the model does. `./run model --traces tests/core/traces` makes the
// runs; LLDP_TRACES=DIRECTORY model_traces_test replays those of another directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "tests/core/support/names.hpp"
#include "tlv/basic.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/order.hpp"
#include "tlv/writer.hpp"

namespace lldp::test {
namespace {

using core::KnownAgent;

/// One line of a trace: a word, names without a value, and numbers by key.
struct Line {
  std::string word{};
  std::string name{};
  std::map<std::string, std::string> values{};
  [[nodiscard]] std::size_t number(const std::string& key) const {
    return std::stoul(values.at(key));
  }
};
Line parse(const std::string& text) {
  Line line;
  std::istringstream in(text);
  in >> line.word;
  for (std::string word; in >> word;) {
    const auto at = word.find('=');
    if (at == std::string::npos)
      line.name = word;
    else
      line.values[word.substr(0, at)] = word.substr(at + 1);
  }
  return line;
}
std::vector<std::size_t> numbers(const std::string& text) {
  std::vector<std::size_t> out;
  std::istringstream in(text);
  for (std::string number; std::getline(in, number, ',');) out.push_back(std::stoul(number));
  return out;
}

Order order_of(std::size_t number) {
  constexpr Order kOrders[] = {Order::kUnknown, Order::kUp, Order::kDown, Order::kShut,
                               Order::kUnknown};
  return kOrders[number];
}

/// The model's number for an agent that was never heard; for a device that is not falling.
constexpr std::size_t kNone = 255;
constexpr std::uint32_t kOverSession = 999;  ///< of any session that is over

/// Devices of the model, each an agent, and what the data planes of their ports were asked for.
class Replay {
 public:
  explicit Replay(std::istream& in) {
    std::string text;
    std::getline(in, text);  // how it was made
    std::getline(in, text);
    const Line head = parse(text);
    for (const std::size_t owner : numbers(head.values.at("ports"))) ports_.push_back({owner});
    room_ = head.number("requests");
    hub_ = head.number("hub") != 0;
    devices_.resize(ports_.back().owner + 1);
    Line event;
    while (std::getline(in, text)) {
      const Line line = parse(text);
      if (line.word == "device" || line.word == "port" || line.word == "neighbor") {
        model_[line.word + line.name] = line;
        continue;
      }
      if (!step(event)) return;
      event = line;
      said_ = text;
    }
    step(event);
  }
  std::size_t events = 0;  ///< after which the core was compared with the model
  bool is_beyond = false;  ///< the core asks for what the model has no room for, and the run ends

 private:
  struct Asked {
    Order order{};
    std::uint32_t generation = 0;
    std::size_t life = 0;
  };
  struct Port {
    std::size_t owner = 0;
    std::uint32_t carriers = 1;
    bool lit = false;
    std::uint32_t session = 0;   ///< that its agent told last
    std::uint32_t seen = 0;      ///< generation of the newest request
    std::vector<Asked> asked{};  ///< and not in force yet
    bool untold = false;         ///< what is in force now was asked for by an earlier process
  };
  struct Start {
    core::AgentId agent = 0;
    std::uint32_t boot = 0;
    std::map<std::size_t, std::uint32_t> sequences{};  ///< of the model's numbers
  };
  struct Device {
    core::Settings settings{};
    core::State state{};
    std::optional<core::Agent> agent{};
    std::vector<Start> starts{};
    bool has_lost = false;
  };

  [[nodiscard]] const Line& device(std::size_t d) const {
    return model_.at("device" + std::to_string(d));
  }
  [[nodiscard]] const Line& port(std::size_t p) const {
    return model_.at("port" + std::to_string(p));
  }
  [[nodiscard]] const Line& neighbor(std::size_t p, std::size_t v) const {
    return model_.at("neighbor" + std::to_string(p) + "." + std::to_string(v));
  }
  [[nodiscard]] bool is_stuck() const { return testing::Test::HasFailure(); }

  [[nodiscard]] ChassisId chassis(std::size_t d) const {
    return {{ChassisId::kLocal, std::string(1, static_cast<char>('a' + d))}};
  }
  [[nodiscard]] std::size_t level_of(std::size_t rank) const {
    return rank == 0 ? 0 : 1 + (rank - 1) / devices_.size();
  }
  [[nodiscard]] Position position(std::size_t rank) const {
    if (rank == 0) return {};
    return {level(level_of(rank)), chassis((rank - 1) % devices_.size())};
  }
  static std::string name(std::size_t p) { return "p" + std::to_string(p); }
  static std::string text(const Position& rank) {
    return rank == Position{} ? "bottom" : std::to_string(rank.level.value()) + rank.chassis.octets;
  }

  // The beginning

  void begin() {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Device& dev = devices_[d];
      dev.settings.chassis_id = chassis(d);
      dev.settings.establish = std::chrono::hours(24 * 365);
      pin(dev, device(d).number("rank"));
      const Position rank = position(device(d).number("rank"));
      dev.state = {.agent = 100 + d,
                   .rank_id = chassis(d),
                   .boot = 1000,
                   .rank = rank,
                   .bound = rank,
                   .role = Role::kSwitch};
      if (dev.settings.pinned_level != level(0)) dev.state.level = dev.settings.pinned_level;
    }
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      ports_[p].lit = hub_ || port(p).values.at("mate") != "-1";
      const Order order = order_of(port(p).number("force"));
      core::PortState state{.name = name(p), .ifindex = ifindex(p + 1)};
      if (ports_[p].lit) state.carrier_changes = ports_[p].carriers;
      state.in_force = order;
      state.ever_heard = order != Order::kUnknown;
      Device& dev = devices_[ports_[p].owner];
      for (std::size_t v = 0; v < devices_.size(); ++v)
        if (v != ports_[p].owner && neighbor(p, v).number("A") != kNone)
          state.agents.push_back({.agent = 100 + v,
                                  .chassis = chassis(v),
                                  .belief = position(neighbor(p, v).number("A")),
                                  .birth = ++dev.state.births,
                                  .heard = true,
                                  .speaks = true});
      dev.state.ports.push_back(std::move(state));
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) start(d, false);
  }
  static void pin(Device& dev, std::size_t rank, std::size_t devices) {
    dev.settings.pinned_level = level(rank == 0 ? 0 : 1 + (rank - 1) / devices);
  }
  void pin(Device& dev, std::size_t rank) { pin(dev, rank, devices_.size()); }

  void start(std::size_t d, bool is_lost) {
    Device& dev = devices_[d];
    if (is_lost) {
      dev.has_lost = true;
      dev.state = {};
      dev.settings.pinned_level.reset();  // a target is an event of its own
    }
    for (Port& p : ports_)
      if (p.owner == d) p.seen = 0;
    // What an earlier process asked for counts until this one has a confirmation.
    for (const core::PortState& port : dev.state.ports)
      if (port.requested != 0 || port.in_force == Order::kDown)
        ports_[port.ifindex.value() - 1].untold = true;
    dev.agent.emplace(
        std::make_shared<const core::Settings>(dev.settings),
        core::Identity{.entropy = ++entropy_,
                       .wall_clock = static_cast<std::uint32_t>(1001 + dev.starts.size())},
        dev.state, now_);
    if (is_lost) dev.agent->assume_rules(now_, actions_);
    for (std::size_t p = 0; p < ports_.size(); ++p)
      if (ports_[p].owner == d) report(p);
    const core::State state = dev.agent->state();
    dev.starts.push_back({.agent = state.agent, .boot = state.boot});
  }
  void report(std::size_t p) {
    Device& dev = devices_[ports_[p].owner];
    if (dev.agent)
      dev.agent->set_link({.ifindex = ifindex(p + 1),
                           .name = name(p),
                           .address = mac(1, p + 1),
                           .up = ports_[p].lit,
                           .carrier_changes = ports_[p].carriers},
                          now_, actions_);
  }

  // Events

  void happen(const Line& event) {
    const std::string& word = event.word;
    if (word == "target") {
      Device& dev = devices_[event.number("device")];
      pin(dev, event.number("rank"));
      dev.agent->configure(dev.settings, now_, actions_);
    } else if (word == "hear") {
      hear(event);
    } else if (word == "confirm") {
      confirm(event.number("port"), order_of(event.number("order")));
    } else if (word == "crash") {
      Device& dev = devices_[event.number("device")];
      dev.state = dev.agent->state();
      dev.agent.reset();
      if (event.values.at("requests") == "dropped")
        for (Port& p : ports_)
          if (p.owner == event.number("device")) p.asked.clear();
    } else if (word == "start") {
      start(event.number("device"), event.values.at("state") == "lost");
    } else if (word == "pull" || word == "plug") {
      for (const std::size_t p : numbers(event.values.at("ports"))) {
        ports_[p].lit = word == "plug";
        ++ports_[p].carriers;
        report(p);
      }
    } else {
      EXPECT_EQ(word, "apply") << said_;  // the agent knows nothing of it
    }
  }
  void confirm(std::size_t p, Order order) {
    Port& port = ports_[p];
    ASSERT_FALSE(port.asked.empty()) << said_;
    const Asked asked = port.asked.front();
    ASSERT_EQ(asked.order, order) << said_;
    port.asked.erase(port.asked.begin());
    Device& dev = devices_[port.owner];
    port.untold = !dev.agent || asked.life != dev.starts.size();
    if (!port.untold) dev.agent->in_force(ifindex(p + 1), asked.generation, now_, actions_);
  }
  void hear(const Line& event) {
    const std::size_t to = event.number("port");
    const std::size_t from = event.number("from");
    const Start& sender = devices_[ports_[from].owner].starts.at(event.number("start"));
    const Start& receiver = devices_[ports_[to].owner].starts.back();
    const bool is_naming = event.number("naming") != 0;
    tlv::OrderTlv order;
    order.agent = tlv::AgentIdField::of(sender.agent);
    order.boot = sender.boot;
    order.session = event.number("session") != 0 ? ports_[from].session : kOverSession;
    order.sequence = is_naming ? sender.sequences.at(event.number("seq")) : 1;
    const Position bound = position(event.number("bound"));
    Bytes id;
    if (bound != Position{}) {
      id.push_back(bound.chassis.subtype);
      id.insert(id.end(), bound.chassis.octets.begin(), bound.chassis.octets.end());
      order.level = bound.level.value();
      order.rank_id = id;
    }
    const auto list = [&](const Start& agent, std::uint32_t session, std::uint32_t acknowledged) {
      order.entries.items[order.entries.count++] = {.agent = tlv::AgentIdField::of(agent.agent),
                                                    .boot = agent.boot,
                                                    .session = session,
                                                    .acknowledged = acknowledged};
    };
    // To name a session that is over is as good as to name none.
    if (is_naming)
      list(receiver, ports_[to].session,
           event.number("ack") == 0 ? 0 : receiver.sequences.at(event.number("ack")));
    else if (events % 2 != 0)
      list(receiver, kOverSession, 0);
    if (event.number("third") != 0)
      for (std::size_t p = 0; p < ports_.size(); ++p)
        if (p != to && p != from)
          list(devices_[ports_[p].owner].starts.back(), ports_[p].session, 0);
    order.count = static_cast<std::uint8_t>(order.entries.count);
    const MacAddress group = core::group_address(core::Scope::kNearestBridge);
    const MacAddress source = mac(1, from + 1);
    Bytes frame(group.begin(), group.end());
    frame.insert(frame.end(), source.begin(), source.end());
    frame.insert(frame.end(), {tlv::kEtherType >> 8, tlv::kEtherType & 0xff});
    const ChassisId chassis = this->chassis(ports_[from].owner);
    tlv::LldpduWriter(frame, 1500)
        .add(tlv::ChassisIdTlv{chassis.subtype, as_octets(chassis.octets)})
        .add(tlv::PortIdTlv{PortId::kMacAddress, ByteSpan(source)})
        .add(tlv::Ttl{120})
        .add(order)
        .end();
    devices_[ports_[to].owner].agent->receive(ifindex(to + 1), frame, now_, actions_);
  }

  /// All frames are sent that wait for a fast moment, and the 4 s of a newcomer are over.
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

  // Comparison with the model

  /// The event, and all that follows of it; false: the run ends here.
  bool step(const Line& event) {
    if (event.word.empty())
      begin();
    else
      happen(event);
    for (bool again = true; again && !is_stuck();) {
      actions_.clear();
      pass_time();
      again = false;
      // The model's device never forgets that it lost its state, not even when its rank has risen.
      is_beyond = std::ranges::any_of(devices_, [](const Device& dev) {
        return dev.has_lost && dev.agent && !dev.agent->state().lost;
      });
      for (std::size_t p = 0; p < ports_.size() && !is_beyond && !is_stuck(); ++p)
        again |= collect(p);
    }
    for (std::size_t d = 0; d < devices_.size() && !is_beyond && !is_stuck(); ++d) compare(d);
    events += !is_beyond && !is_stuck();
    return !is_beyond && !is_stuck();
  }

  /// Brings what a port's data plane was asked for to what the model has it asked for: one that has
  /// nothing to do confirms at once. True if that was so.
  bool collect(std::size_t p) {
    Port& port = ports_[p];
    Device& dev = devices_[port.owner];
    if (!dev.agent) return false;
    const core::Request request = dev.agent->request(ifindex(p + 1));
    if (request.generation > port.seen) {
      port.seen = request.generation;
      port.asked.push_back({request.order, request.generation, dev.starts.size()});
    }
    const Order force = order_of(this->port(p).number("force"));
    std::vector<Order> model;
    for (const std::size_t order : numbers(this->port(p).values.at("req")))
      if (order != 0) model.push_back(order_of(order));
    auto& asked = port.asked;
    if (asked.empty()) {
      EXPECT_TRUE(model.empty()) << said_ << ": " << name(p) << " asks for nothing";
      return false;
    }
    const Asked newest = asked.back();
    if (model.empty()) {
      EXPECT_EQ(to_string(newest.order), to_string(force))
          << said_ << ": " << name(p) << " asks for something";
      asked.clear();
      port.untold = newest.life != dev.starts.size();
      if (!port.untold) dev.agent->in_force(ifindex(p + 1), newest.generation, now_, actions_);
      return true;
    }
    const bool is_known = std::ranges::all_of(asked, [&](const Asked& a) {
      return a.order == force || std::ranges::count(model, a.order) != 0;
    });
    is_beyond = model.size() == room_ && (newest.order != model.back() || !is_known);
    if (is_beyond) return false;
    EXPECT_EQ(to_string(newest.order), to_string(model.back())) << said_ << ": " << name(p);
    if (model.size() == 2) {
      const auto first = std::find_if(asked.rbegin() + 1, asked.rend(),
                                      [&](const Asked& a) { return a.order == model.front(); });
      if (first == asked.rend()) {
        ADD_FAILURE() << said_ << ": " << name(p) << " asks for one thing";
        return false;
      }
      asked = {*first, newest};
    } else {
      asked = {newest};
    }
    return false;
  }

  [[nodiscard]] bool asks(std::size_t d) const {
    return std::ranges::any_of(
        ports_, [d](const Port& port) { return port.owner == d && !port.asked.empty(); });
  }
  void compare(std::size_t d) {
    Device& dev = devices_[d];
    const Line& model = device(d);
    EXPECT_EQ(dev.agent.has_value(), model.number("alive") != 0) << said_;
    if (!dev.agent) return;
    EXPECT_EQ(dev.starts.size(), model.number("start") + 1) << said_;
    const core::State state = dev.agent->state();
    const std::string at = said_ + ": device " + std::to_string(d);
    // Before it leaves the bottom the core waits for all that it asks for.
    is_beyond = state.rank == Position{} && model.number("rank") != 0 && asks(d);
    if (is_beyond) return;
    EXPECT_EQ(text(state.rank), text(position(model.number("rank")))) << at << " has another rank";
    // A fall ends a rise at once; in the model the rise stands until the rank has fallen.
    is_beyond = model.number("fall") != kNone && model.number("bound") > model.number("rank");
    if (is_beyond) return;
    EXPECT_EQ(text(state.bound), text(position(model.number("bound"))))
        << at << " has another bound";
    for (std::size_t p = 0; p < ports_.size(); ++p)
      if (ports_[p].owner == d) compare(d, p, state);
  }
  void compare(std::size_t d, std::size_t p, const core::State& state) {
    Device& dev = devices_[d];
    const std::string at = said_ + ": " + name(p);
    const auto known = std::ranges::find(state.ports, name(p), &core::PortState::name);
    const core::PortState now = known == state.ports.end() ? core::PortState{} : *known;
    if (!ports_[p].untold)
      EXPECT_EQ(to_string(now.in_force), to_string(order_of(port(p).number("force"))))
          << at << " has another order";
    const Bytes frame = dev.agent->announcement(ifindex(p + 1));
    const auto view =
        tlv::decode(ByteSpan(frame).subspan(14), {.contribution_ouis = dev.settings.accepted_ouis});
    const auto told = view ? tlv::decode_as<tlv::OrderTlv>(view->order) : std::nullopt;
    ASSERT_TRUE(told) << at;
    ports_[p].session = told->session;
    dev.starts.back().sequences.try_emplace(device(d).number("seq"), told->sequence);
    for (std::size_t v = 0; v < devices_.size(); ++v)
      if (v != d) compare(p, v, now, *told, device(d).number("stage") == 0);
  }
  void compare(std::size_t p, std::size_t v, const core::PortState& now, const tlv::OrderTlv& told,
               bool is_speaking) {
    const Line& model = neighbor(p, v);
    const std::string at = said_ + ": " + name(p) + " of device " + std::to_string(v);
    const auto record = std::ranges::find(now.agents, chassis(v), &KnownAgent::chassis);
    const auto by_id =
        std::ranges::find(now.agents, devices_[v].starts.back().agent, &KnownAgent::agent);
    const auto found = record == now.agents.end() ? by_id : record;
    const bool is_known = model.number("A") != kNone;
    EXPECT_EQ(found != now.agents.end(), is_known) << at;
    if (found == now.agents.end() || !is_known) return;
    EXPECT_EQ(text(found->belief), text(position(model.number("A"))))
        << at << " believes another rank";
    EXPECT_EQ(found->heard, model.number("heard") != 0) << at;
    EXPECT_EQ(found->counted, model.number("seq") != 0) << at << " counts";
    if (found->counted && model.number("seq") != 0)
      EXPECT_EQ(text(found->bound), text(position(model.number("bound"))))
          << at << " has another bound";
    if (!ports_[p].lit || !is_speaking) return;
    const auto entries = told.entries.view();
    const auto entry = std::ranges::find_if(
        entries, [&](const tlv::OrderEntry& e) { return e.agent.value() == found->agent; });
    const bool is_listed = model.number("entry") != 0 && model.number("heard") > 1;
    if (ports_[p].untold && entry == entries.end()) return;
    EXPECT_EQ(entry != entries.end(), is_listed) << at << " gets an entry";
    if (entry == entries.end() || !is_listed || model.number("heard") < 3) return;
    const std::size_t counted = model.number("seq");
    EXPECT_EQ(entry->acknowledged,
              counted == 0 ? 0 : devices_[v].starts.back().sequences.at(counted))
        << at << " is acknowledged";
  }

  std::vector<Port> ports_{};
  std::vector<Device> devices_{};
  std::map<std::string, Line> model_{};
  std::size_t room_ = 1;
  bool hub_ = false;
  std::uint64_t entropy_ = 0;
  TimePoint now_{seconds(1000)};
  core::Actions actions_{};
  std::string said_ = "the beginning";
};

std::vector<std::filesystem::path> traces() {
  const char* directory = std::getenv("LLDP_TRACES");
  std::vector<std::filesystem::path> all;
  for (const auto& file :
       std::filesystem::directory_iterator(directory != nullptr ? directory : LLDP_TRACES))
    all.push_back(file.path());
  std::ranges::sort(all);
  return all;
}

class ModelTrace : public testing::TestWithParam<std::filesystem::path> {};
INSTANTIATE_TEST_SUITE_P(Runs, ModelTrace, testing::ValuesIn(traces()), [](const auto& run) {
  std::string name = run.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(ModelTrace, IsWhatTheCoreDoes) {
  std::ifstream in(GetParam());
  const Replay replay(in);
  EXPECT_GT(replay.events, 5U);
  RecordProperty("events", static_cast<int>(replay.events));
  if (std::getenv("LLDP_TRACES") != nullptr)
    std::cout << GetParam().stem().string() << ' ' << replay.events
              << (replay.is_beyond ? " beyond\n" : "\n");
}

}  // namespace
}  // namespace lldp::test
