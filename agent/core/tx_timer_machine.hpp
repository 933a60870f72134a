// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "agent/core/tx_machine.hpp"

namespace lldp::core {

/// So many senders send their periodic frames together: with many ports it is the wake-ups that
/// cost, the neighbors' too, and a frame costs microseconds.
inline constexpr std::uint32_t kSendersPerTurn = 64;

/// The parts of an interval that lie before a sender's own moments, as fractions of 2^32.
struct Phase {
  std::uint32_t periodic = 0;  ///< the same for kSendersPerTurn senders
  std::uint32_t fast = 0;      ///< in fast transmission
};
/// Successive turns, and in fast transmission successive senders, stand a golden section apart,
/// which leaves the gaps between any number of them as even as can be.
[[nodiscard]] constexpr Phase phase_of(std::uint32_t sender, std::uint32_t device) {
  constexpr std::uint32_t kGoldenSection = 0x9e37'79b9;
  return {.periodic = device + sender / kSendersPerTurn * kGoldenSection,
          .fast = device + sender * kGoldenSection};
}
/// The first moment after `now` that lies so far after the beginning of an interval.
[[nodiscard]] constexpr TimePoint next_moment(TimePoint now, Duration interval,
                                              std::uint32_t phase) {
  const Duration before = interval * static_cast<Duration::rep>(phase >> 16) / 0x1'0000;
  const Duration past = (now.time_since_epoch() - before) % interval;
  return now - past + (past < Duration::zero() ? Duration::zero() : interval);
}
/// The sender's first own moment after `now`: at most one interval away.
[[nodiscard]] constexpr TimePoint next_own_moment(TimePoint now, Duration interval, Phase phase) {
  return next_moment(now, interval, phase.periodic);
}
/// The same in fast transmission; the standard has msgFastTx from now. Not sooner than half of it:
/// what has just been told or may still change would only spend txCredit.
[[nodiscard]] constexpr TimePoint next_fast_moment(TimePoint now, const Settings& settings,
                                                   Phase phase) {
  const Duration interval = settings.msgFastTx;
  return next_moment(now + interval / 2, interval, phase.fast);
}

enum class TxTimerState : std::uint8_t {
  TX_TIMER_INITIALIZE,
  TX_TIMER_IDLE,
  TX_TIMER_EXPIRES,
  TX_TICK,
  SIGNAL_TX,
  TX_FAST_START,
};

/// Transmit timer state machine, IEEE 802.1AB-2016 9.2.10.
[[nodiscard]] constexpr TxTimerState next(TxTimerState s, const TxVars& v, const Settings& settings,
                                          TimePoint now) {
  using enum TxTimerState;
  if (!v.portEnabled || !may_send(v.adminStatus)) return TX_TIMER_INITIALIZE;  // from any state
  switch (s) {
    case TX_TIMER_INITIALIZE:
      return TX_TIMER_IDLE;
    case TX_TIMER_IDLE:
      if (v.localChange) return SIGNAL_TX;
      if (now >= v.txTTR) return TX_TIMER_EXPIRES;
      if (v.newNeighbor) return TX_FAST_START;
      if (v.txCredit < settings.txCreditMax && now >= v.txTick) return TX_TICK;
      return s;
    case TX_TIMER_EXPIRES:
      return SIGNAL_TX;  // unconditional, as the next three
    case TX_TICK:
      return TX_TIMER_IDLE;
    case SIGNAL_TX:
      return TX_TIMER_IDLE;
    case TX_FAST_START:
      return TX_TIMER_EXPIRES;
  }
  return s;
}

constexpr void enter(TxTimerState s, TxVars& v, const Settings& settings, Phase phase,
                     TimePoint now) {
  using enum TxTimerState;
  switch (s) {
    case TX_TIMER_INITIALIZE:
      v.txNow = v.localChange = v.newNeighbor = false;
      v.txTTR = TimePoint::min();
      v.txFast = 0;
      v.txCredit = settings.txCreditMax;
      break;
    case TX_TIMER_IDLE:
      break;
    case TX_TIMER_EXPIRES:
      if (v.txFast > 0) --v.txFast;
      break;
    case TX_TICK:
      ++v.txCredit;
      v.txTick += std::chrono::seconds(1);
      break;
    case SIGNAL_TX:
      v.txNow = true;
      v.localChange = false;
      v.txTTR = v.txFast > 0 ? next_fast_moment(now, settings, phase)
                             : next_own_moment(now, settings.msgTxInterval, phase);
      break;
    case TX_FAST_START:
      v.newNeighbor = false;
      if (v.txFast == 0) v.txFast = settings.txFastInit;
      break;
  }
}

/// Runs both machines until no guard holds: the timers first, so that what became due together is
/// told in one frame.
constexpr void step(TxTimerState& timer, TxState& s, TxVars& v, const Settings& settings,
                    Phase phase, TimePoint now, auto& procedures) {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto n = next(timer, v, settings, now); n != timer; n = next(timer, v, settings, now)) {
      enter(timer = n, v, settings, phase, now);
    }
    for (auto n = next(s, v, now); n != s; n = next(s, v, now)) {
      enter(s = n, v, settings, now, procedures);
      moved = true;
    }
  }
}

/// When step() has something to do by time alone.
[[nodiscard]] constexpr TimePoint deadline(TxTimerState timer, TxState s, const TxVars& v) {
  TimePoint due = TimePoint::max();
  if (timer == TxTimerState::TX_TIMER_IDLE) {
    due = v.txTTR;
    if (v.txNow && v.txCredit <= v.txKept) due = std::min(due, v.txTick);  // else credit can wait
  }
  if (s == TxState::TX_SHUTDOWN_FRAME) due = std::min(due, v.txShutdownWhile);
  return due;
}

}  // namespace lldp::core
