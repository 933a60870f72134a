// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agent/core/settings.hpp"

namespace lldp::core {

/// Variables of the receive machine of one (port, destination address). IEEE 802.1AB-2016 9.2.5.
struct RxVars {
  bool portEnabled = false;
  AdminStatus adminStatus = AdminStatus::enabledRxTx;
  bool rcvFrame = false;
  bool badFrame = false;
  bool rxChanges = false;
  bool rxInfoAge = false;
  std::uint16_t rxTTL = 0;
};

[[nodiscard]] constexpr bool may_receive(AdminStatus s) {
  return s == AdminStatus::enabledRxTx || s == AdminStatus::enabledRxOnly;
}

enum class RxState : std::uint8_t {
  LLDP_WAIT_PORT_OPERATIONAL,
  DELETE_AGED_INFO,
  RX_LLDP_INITIALIZE,
  RX_WAIT_FOR_FRAME,
  RX_FRAME,
  DELETE_INFO,
  UPDATE_INFO,
};

/// Receive state machine, IEEE 802.1AB-2016 9.2.9. somethingChangedRemote is what the procedures
/// tell their owner.
[[nodiscard]] constexpr RxState next(RxState s, const RxVars& v) {
  using enum RxState;
  if (!v.rxInfoAge && !v.portEnabled) return LLDP_WAIT_PORT_OPERATIONAL;  // from any state
  switch (s) {
    case LLDP_WAIT_PORT_OPERATIONAL:
      if (v.rxInfoAge) return DELETE_AGED_INFO;
      return v.portEnabled ? RX_LLDP_INITIALIZE : s;
    case DELETE_AGED_INFO:
      return LLDP_WAIT_PORT_OPERATIONAL;  // unconditional
    case RX_LLDP_INITIALIZE:
      return may_receive(v.adminStatus) ? RX_WAIT_FOR_FRAME : s;
    case RX_WAIT_FOR_FRAME:
      if (v.rxInfoAge) return DELETE_INFO;
      if (v.rcvFrame) return RX_FRAME;
      return may_receive(v.adminStatus) ? s : RX_LLDP_INITIALIZE;
    case RX_FRAME:
      if (v.badFrame) return RX_WAIT_FOR_FRAME;
      if (v.rxTTL == 0) return DELETE_INFO;
      return v.rxChanges ? UPDATE_INFO : RX_WAIT_FOR_FRAME;
    case DELETE_INFO:
    case UPDATE_INFO:
      return RX_WAIT_FOR_FRAME;  // unconditional
  }
  return s;
}

/// A state's actions. `procedures` has the standard's rxInitializeLLDP(), rxProcessFrame(RxVars&),
/// mibDeleteObjects() and mibUpdateObjects().
constexpr void enter(RxState s, RxVars& v, auto& procedures) {
  using enum RxState;
  switch (s) {
    case LLDP_WAIT_PORT_OPERATIONAL:
      break;
    case DELETE_AGED_INFO:
      procedures.mibDeleteObjects();
      v.rxInfoAge = false;
      break;
    case RX_LLDP_INITIALIZE:
      procedures.rxInitializeLLDP();
      v.rcvFrame = false;
      break;
    case RX_WAIT_FOR_FRAME:
      v.badFrame = v.rxInfoAge = false;
      break;
    case RX_FRAME:
      v.rxChanges = v.rcvFrame = false;
      procedures.rxProcessFrame(v);
      break;
    case DELETE_INFO:
      procedures.mibDeleteObjects();
      break;
    case UPDATE_INFO:
      procedures.mibUpdateObjects();
      break;
  }
}

constexpr void step(RxState& s, RxVars& v, auto& procedures) {
  for (auto n = next(s, v); n != s; n = next(s, v)) enter(s = n, v, procedures);
}

}  // namespace lldp::core
