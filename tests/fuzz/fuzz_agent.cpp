// SPDX-License-Identifier: Apache-2.0
// An agent's life as a stream of octets: links, frames, time and settings in any order. What must
// always hold is checked after every step.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "agent/core/agent.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/location.hpp"
#include "tlv/order.hpp"
#include "tlv/writer.hpp"

namespace {

using namespace lldp;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kPerPort = 3;
constexpr std::size_t kInAll = 6;
constexpr unsigned kPorts = 4;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

class Input {
 public:
  explicit Input(ByteSpan octets) : octets_(octets) {}
  [[nodiscard]] bool empty() const { return octets_.empty(); }
  unsigned octet() {
    if (octets_.empty()) return 0;
    const unsigned v = octets_.front();
    octets_ = octets_.subspan(1);
    return v;
  }
  ByteSpan some(std::size_t n) {
    const ByteSpan v = octets_.first(std::min(n, octets_.size()));
    octets_ = octets_.subspan(v.size());
    return v;
  }

 private:
  ByteSpan octets_;
};

core::Settings settings_from(Input& in) {
  const unsigned bits = in.octet();
  core::Settings s;
  s.role = (bits & 1) != 0 ? Role::kHost : Role::kSwitch;
  if ((bits & 2) != 0) s.pinned_level = Level::make(1 + in.octet() % 10);
  if ((bits & 4) != 0) s.host_ports = {"p1", "x*"};
  if ((bits & 8) != 0) s.scopes.push_back(core::Scope::kNearestCustomerBridge);
  if ((bits & 16) != 0)
    s.chassis_id = ChassisId{{ChassisId::kLocal, std::string(1 + in.octet() % 20, 'c')}};
  if ((bits & 32) != 0) s.host_from_capabilities = false;
  if ((bits & 64) != 0) s.msgTxInterval = seconds(1 + in.octet());
  s.max_neighbors_per_port = kPerPort;
  s.max_neighbors = kInAll;
  return s;
}

/// What the agent told last of itself on a port: an acknowledgement that counts names that.
struct Told {
  std::uint32_t boot = 0;
  std::uint32_t session = 0;
  std::uint32_t sequence = 0;
  std::uint64_t agent = 0;
};

void add_order(tlv::LldpduWriter& w, Input& in, std::uint8_t who, const Told& told) {
  static const std::uint8_t ids[][2] = {{ChassisId::kLocal, 'a'}, {ChassisId::kLocal, 'z'}};
  const unsigned what = in.octet();
  tlv::OrderTlv tlv{.flags = static_cast<std::uint8_t>(what & 3),
                    .agent = tlv::AgentIdField::of((what & 4) != 0 ? told.agent : 1 + who % 8),
                    .boot = in.octet() % 4,
                    .session = in.octet() % 4,
                    .sequence = in.octet()};
  if (const unsigned level = in.octet() % 8; level != 0) {
    tlv.level = static_cast<std::uint8_t>(level);
    tlv.rank_id = ByteSpan(ids[(what & 8) / 8]);
  }
  if ((what & 16) != 0)
    tlv.entries.items[tlv.entries.count++] = {
        .agent = tlv::AgentIdField::of(told.agent),
        .boot = told.boot + ((what & 32) != 0 ? in.octet() : 0),
        .session = told.session,
        .acknowledged = told.sequence - in.octet() % 4,
        .flags = static_cast<std::uint8_t>(what >> 7)};
  if ((what & 64) != 0)
    tlv.entries.items[tlv.entries.count++] = {.agent = tlv::AgentIdField::of(1 + in.octet() % 8)};
  tlv.count = static_cast<std::uint8_t>(tlv.entries.count);
  w.add(tlv);
}

/// A frame that is well formed, from one of a few neighbors; the stream chooses what it says.
Bytes frame_from(Input& in, const Told& told) {
  const MacAddress to = group_address(core::Scope::kNearestBridge);
  Bytes frame(to.begin(), to.end());
  frame.insert(frame.end(), {2, 0, 0, 0, 0, 1, 0x88, 0xcc});
  tlv::LldpduWriter w(frame, 1500);
  const std::uint8_t who = static_cast<std::uint8_t>(in.octet());
  const std::uint8_t id[] = {static_cast<std::uint8_t>('a' + who % 8)};
  w.add(tlv::ChassisIdTlv{ChassisId::kLocal, ByteSpan(id)});
  w.add(tlv::PortIdTlv{PortId::kInterfaceName, ByteSpan(id)});
  w.add(tlv::Ttl{static_cast<std::uint16_t>(in.octet())});
  if ((who & 8) != 0) {
    w.add(tlv::Tr{static_cast<std::uint8_t>(in.octet()), static_cast<std::uint8_t>(in.octet()),
                  static_cast<std::uint8_t>(in.octet())});
  }
  if ((who & 16) != 0) {
    w.add(tlv::Contribution{static_cast<std::uint8_t>(in.octet()),
                            static_cast<std::uint8_t>(in.octet()),
                            static_cast<std::uint8_t>(in.octet())});
  }
  if ((who & 128) != 0)
    w.add(tlv::LayersTlv{static_cast<std::uint8_t>(in.octet()),
                         static_cast<std::uint8_t>(in.octet())});
  if ((who & 128) != 0) {
    // Tiers of one octet each, of levels that mostly rise.
    tlv::LocationTlv location;
    std::uint8_t ids[4][2] = {};
    for (std::uint8_t level = 1; level <= 4; ++level) {
      const std::uint64_t what = in.octet();
      ids[level - 1][0] = ChassisId::kLocal;
      ids[level - 1][1] = static_cast<std::uint8_t>('a' + what % 8);
      if ((what & 8) != 0)
        location.tiers.items[location.tiers.count++] = {
            static_cast<std::uint8_t>(level + (what & 16) / 8), ByteSpan(ids[level - 1])};
    }
    w.add(location);
  }
  const auto c = static_cast<std::uint16_t>(in.octet());
  if ((who & 32) != 0) w.add(tlv::Capabilities{c, c});
  if ((c & 64) != 0) add_order(w, in, who, told);
  if ((who & 64) != 0) w.add(tlv::SystemName{as_text(in.some(in.octet() % 16))});
  w.end();
  return frame;
}

void check(const core::Agent& agent, const core::Actions& out, TimePoint now,
           std::map<Ifindex, Told>& told) {
  require(agent.neighbor_count() <= kInAll, "the limit in all");
  const core::Snapshot s = agent.snapshot(now);
  std::size_t known = 0;
  for (const auto& p : s.ports) {
    known += p.neighbors.size();
    require(p.neighbors.size() <= kPerPort, "the limit per port");
    require(p.up || p.neighbors.empty(), "a link that is down has no neighbour");
    require(s.role == Role::kSwitch || p.type == PortType::kUnmarked,
            "a host's ports are unmarked");
    require(p.order != Order::kDown || s.rank != Position() || p.layers,
            "at the bottom no port is down");
    for (const auto& n : p.neighbors) {
      require(n.expires_in.count() <= n.ttl, "nobody outlives his TTL");
      require((n.level == Level::of<0>()) == (n.device_type == DeviceType::kHost),
              "hosts, and nobody else, have level 0");
    }
  }
  require(!(s.bound < s.rank), "the rank is within what was told");
  require(known == agent.neighbor_count(), "the count is that of the tables");
  const auto limit = agent.settings().max_level;
  require(!s.level || s.level_source == core::LevelSource::kPinned ||
              s.level_source == core::LevelSource::kRestored || *s.level <= limit,
          "no level above the limit");
  for (const core::Send& send : out.sends) {
    require(send.frame.size() > 14, "a frame has a header");
    const auto& ouis = agent.settings().accepted_ouis;
    const auto view = tlv::decode(send.frame.subspan(14), {.contribution_ouis = ouis});
    require(view && !view->in_error, "what is sent is valid");
    if (view->order.empty()) continue;
    const auto order = tlv::decode_as<tlv::OrderTlv>(view->order);
    require(order.has_value() && order->agent.value() == agent.state().agent, "it is our agent");
    told[send.port] = {order->boot, order->session, order->sequence, order->agent.value()};
  }
  for (const core::Event& e : out.events) {
    for (const char c : text_of(e))
      require(static_cast<unsigned char>(c) >= 0x20, "text is escaped");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in({data, size});
  TimePoint now{seconds(100)};
  core::Settings settings = settings_from(in);
  core::Agent agent(settings, {.level = Level::make(in.octet() % 10)}, now);
  core::Actions out;
  std::map<Ifindex, Told> told;
  while (!in.empty()) {
    const unsigned op = in.octet();
    const Ifindex port = *Ifindex::make(1 + op / 8 % kPorts);
    switch (op % 8) {
      case 0:
      case 1:
        agent.set_link(
            {.ifindex = port,
             .name = (op & 64) != 0 ? "x" : "p" + std::to_string(port.value()),
             .address = {2, 0, 0, 0, 1, static_cast<std::uint8_t>(port.value())},
             .up = op % 8 == 0,
             .mtu = (op & 128) != 0 ? 68U : 1500U,
             .layers = tlv::layers_of({.near = static_cast<std::uint8_t>(in.octet() % 40),
                                       .far = static_cast<std::uint8_t>(in.octet())}),
             .adminStatus = static_cast<core::AdminStatus>(3 - in.octet() % 4)},
            now, out);
        break;
      case 2:
        if ((op & 64) != 0)
          agent.in_force(port, agent.request(port).generation - op / 128, now, out);
        else
          agent.remove_link(port, now, out);
        break;
      case 3: {
        Bytes frame{0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 9, 0x88, 0xcc};
        const ByteSpan rest = in.some(in.octet());
        frame.insert(frame.end(), rest.begin(), rest.end());
        agent.receive(port, frame, now, out);
        break;
      }
      case 4:
      case 5:
        agent.receive(port, frame_from(in, told[port]), now, out);
        break;
      case 6:
        now += milliseconds(in.octet() * (op & 64 ? 1000 : 10));
        agent.advance(now, out);
        require(agent.next_deadline().value_or(TimePoint::max()) > now,
                "advance() does what is due");
        break;
      case 7:
        if (op == 0xff) {
          agent.shutdown(now, out);
        } else {
          agent.configure(settings_from(in), now, out);
        }
        break;
    }
    check(agent, out, now, told);
    out.clear();
  }
  return 0;
}
