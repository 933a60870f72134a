// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "agent/core/agent.hpp"
#include "agent/core/deadline_queue.hpp"
#include "agent/core/inference.hpp"
#include "agent/core/neighbor_table.hpp"
#include "agent/core/rx_machine.hpp"
#include "agent/core/statistics.hpp"
#include "agent/core/tx_timer_machine.hpp"

namespace lldp::core {

/// The 802.1AB machines of one (port, destination address).
struct PortAgent {
  Scope scope{};
  std::uint32_t phase = 0;  ///< see phase_of()
  TxState tx_state = TxState::TX_LLDP_INITIALIZE;
  TxTimerState tx_timer_state = TxTimerState::TX_TIMER_INITIALIZE;
  RxState rx_state = RxState::LLDP_WAIT_PORT_OPERATIONAL;
  TxVars tx{};
  RxVars rx{};
  TimePoint tooManyNeighborsTimer = kNever;  ///< when tooManyNeighbors becomes false; kNever: it is
  TimePoint own_frame_forgotten = kNever;    ///< when an own frame heard here has lost its validity

  [[nodiscard]] bool tooManyNeighbors() const { return tooManyNeighborsTimer != kNever; }
  [[nodiscard]] bool hears_itself() const { return own_frame_forgotten != kNever; }
};

/// All that the agent keeps of one link.
struct Port {
  Link link{};
  std::uint32_t slot = 0;
  std::vector<PortAgent> agents{};  ///< in the order of Settings::scopes
  NeighborTable table{};
  Statistics statistics{};
  bool host_port = false;  ///< `host-ports` names it
  Heard heard{};
  std::size_t decisive = kNobody;  ///< index in the table of the neighbour that `heard` goes by
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
  std::uint16_t alarms = 0;  ///< standing, a bit per AlarmCode

  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  [[nodiscard]] const Neighbor* decisive_neighbor() const {
    return decisive == kNobody ? nullptr : &table.all()[decisive];
  }
  /// Rule 9: a link on which silence means a host.
  [[nodiscard]] bool counts_as_host() const;
  /// When one of the machines or neighbours is due.
  [[nodiscard]] TimePoint deadline() const;
};

/// What the neighbours in the table amount to, rules 1, 2, 7 and 9; sets heard and decisive.
void listen(Port& port);

/// What a port's alarms go by beside the port.
struct Standing {
  Role role = Role::kSwitch;
  std::optional<Level> level{};
  bool pinned = false;
};
[[nodiscard]] constexpr std::uint16_t alarm_bit(AlarmCode code) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(code));
}
/// The alarms that should stand on the port, a bit per AlarmCode.
[[nodiscard]] std::uint16_t alarms_of(const Port& port, const Standing& own);
/// One line that names the neighbours it is about.
[[nodiscard]] std::string alarm_text(AlarmCode code, const Port& port, const Standing& own);

}  // namespace lldp::core
