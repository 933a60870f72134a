// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/core/settings.hpp"
#include "base/time.hpp"

namespace lldp::core {

/// Variables of the transmit and of the transmit timer machine of one (port, destination address).
/// IEEE 802.1AB-2016 9.2.5. The standard's timers count down once a second; here they hold the
/// moment at which they would reach zero.
struct TxVars {
  bool portEnabled = false;
  AdminStatus adminStatus = AdminStatus::enabledRxTx;
  bool localChange = false;
  bool newNeighbor = false;
  bool txNow = false;
  std::uint8_t txFast = 0;
  std::uint8_t txCredit = 0;
  std::uint8_t txKept = 0;  ///< of txCredit: is not for the frame that is due
  TimePoint txTTR = TimePoint::min();
  TimePoint txTick{};  ///< when txCredit grows next; of no account while it is full
  TimePoint txShutdownWhile{};
};

/// What of txCredit may be spent, with the ticks that have passed and are not yet taken.
[[nodiscard]] constexpr int credit_at(const TxVars& v, const Settings& settings, TimePoint now) {
  int credit = v.txCredit;
  if (credit < settings.txCreditMax && now >= v.txTick) {
    const auto ticks = (now - v.txTick) / Duration(std::chrono::seconds(1)) + 1;
    credit += static_cast<int>(std::min<Duration::rep>(ticks, settings.txCreditMax - credit));
  }
  return credit - v.txKept;
}

[[nodiscard]] constexpr bool may_send(AdminStatus s) {
  return s == AdminStatus::enabledRxTx || s == AdminStatus::enabledTxOnly;
}

enum class TxState : std::uint8_t { TX_LLDP_INITIALIZE, TX_IDLE, TX_SHUTDOWN_FRAME, TX_INFO_FRAME };

/// Transmit state machine, IEEE 802.1AB-2016 9.2.8. Guards only: reads, never writes.
[[nodiscard]] constexpr TxState next(TxState s, const TxVars& v, TimePoint now) {
  using enum TxState;
  if (!v.portEnabled) return TX_LLDP_INITIALIZE;  // from any state; a level, not an edge
  switch (s) {
    case TX_LLDP_INITIALIZE:
      return may_send(v.adminStatus) ? TX_IDLE : s;
    case TX_IDLE:
      if (!may_send(v.adminStatus)) return TX_SHUTDOWN_FRAME;
      return v.txNow && v.txCredit > v.txKept ? TX_INFO_FRAME : s;
    case TX_SHUTDOWN_FRAME:
      return now >= v.txShutdownWhile ? TX_LLDP_INITIALIZE : s;
    case TX_INFO_FRAME:
      return TX_IDLE;  // unconditional
  }
  return s;
}

/// A state's actions. `procedures` has txInfoFrame() and txShutdownFrame(): the standard's
/// mibConstrInfoLLDPDU() or mibConstrShutdownLLDPDU(), followed by txFrame().
constexpr void enter(TxState s, TxVars& v, const Settings& settings, TimePoint now,
                     auto& procedures) {
  using enum TxState;
  switch (s) {
    case TX_LLDP_INITIALIZE:
    case TX_IDLE:
      break;
    case TX_SHUTDOWN_FRAME:
      procedures.txShutdownFrame();
      v.txShutdownWhile = now + settings.reinitDelay;
      break;
    case TX_INFO_FRAME:
      procedures.txInfoFrame();
      if (v.txCredit-- >= settings.txCreditMax) v.txTick = now + std::chrono::seconds(1);
      v.txNow = false;
      break;
  }
}

}  // namespace lldp::core
