// SPDX-License-Identifier: Apache-2.0
// Each arrow of the three figures of IEEE 802.1AB-2016 9.2.8 to 9.2.10, and each refusal.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "agent/core/rx_machine.hpp"
#include "agent/core/tx_timer_machine.hpp"

namespace lldp::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(1000)};
const Settings kSettings{.txCreditMax = 5};

constexpr AdminStatus kAllStatus[] = {AdminStatus::disabled, AdminStatus::enabledTxOnly,
                                      AdminStatus::enabledRxOnly, AdminStatus::enabledRxTx};

/// Remembers what the machines asked for, in order.
struct Log {
  std::string calls{};
  void txInfoFrame() { calls += "info "; }
  void txShutdownFrame() { calls += "shutdown "; }
  void rxInitializeLLDP() { calls += "initialize "; }
  void rxProcessFrame(RxVars& v) {
    calls += "process ";
    v.badFrame = bad;
    v.rxTTL = ttl;
    v.rxChanges = changes;
  }
  void mibDeleteObjects() { calls += "delete "; }
  void mibUpdateObjects() { calls += "update "; }
  bool bad = false;
  std::uint16_t ttl = 120;
  bool changes = true;
};

// Transmit machine

using enum TxState;
constexpr TxState kAllTx[] = {TX_LLDP_INITIALIZE, TX_IDLE, TX_SHUTDOWN_FRAME, TX_INFO_FRAME};

TEST(TxMachine, InitializesFromAnyStateWhileThePortIsNotEnabled) {
  for (TxState s : kAllTx) {
    EXPECT_EQ(next(s, {.portEnabled = false, .txNow = true, .txCredit = 5}, kNow),
              TX_LLDP_INITIALIZE);
  }
}
TEST(TxMachine, LeavesInitializeOnlyWhenItMaySend) {
  for (AdminStatus a : kAllStatus) {
    EXPECT_EQ(next(TX_LLDP_INITIALIZE, {.portEnabled = true, .adminStatus = a}, kNow),
              a == AdminStatus::enabledTxOnly || a == AdminStatus::enabledRxTx
                  ? TX_IDLE
                  : TX_LLDP_INITIALIZE);
  }
}
TEST(TxMachine, SaysGoodbyeWhenItMayNoLongerSend) {
  for (AdminStatus a : {AdminStatus::disabled, AdminStatus::enabledRxOnly}) {
    EXPECT_EQ(
        next(TX_IDLE, {.portEnabled = true, .adminStatus = a, .txNow = true, .txCredit = 1}, kNow),
        TX_SHUTDOWN_FRAME);
  }
}
TEST(TxMachine, SendsWhenToldAndWithCredit) {
  EXPECT_EQ(next(TX_IDLE, {.portEnabled = true, .txNow = true, .txCredit = 1}, kNow),
            TX_INFO_FRAME);
  EXPECT_EQ(next(TX_IDLE, {.portEnabled = true, .txNow = true, .txCredit = 0}, kNow), TX_IDLE);
  EXPECT_EQ(next(TX_IDLE, {.portEnabled = true, .txNow = false, .txCredit = 5}, kNow), TX_IDLE);
}
TEST(TxMachine, WaitsOutReinitDelayAfterGoodbye) {
  const TxVars v{.portEnabled = true, .txShutdownWhile = kNow};
  EXPECT_EQ(next(TX_SHUTDOWN_FRAME, v, kNow - milliseconds(1)), TX_SHUTDOWN_FRAME);
  EXPECT_EQ(next(TX_SHUTDOWN_FRAME, v, kNow), TX_LLDP_INITIALIZE);
}
TEST(TxMachine, ReturnsToIdleAfterAFrame) {
  EXPECT_EQ(next(TX_INFO_FRAME, {.portEnabled = true}, kNow), TX_IDLE);
}
TEST(TxMachine, AFrameTakesOneCreditAndStartsItsRegrowth) {
  TxVars v{.portEnabled = true, .txNow = true, .txCredit = 5};
  Log log;
  enter(TX_INFO_FRAME, v, kSettings, kNow, log);
  EXPECT_EQ(log.calls, "info ");
  EXPECT_EQ(v.txCredit, 4);
  EXPECT_FALSE(v.txNow);
  EXPECT_EQ(v.txTick, kNow + seconds(1));
  enter(TX_INFO_FRAME, v, kSettings, kNow + milliseconds(300), log);
  EXPECT_EQ(v.txCredit, 3);
  EXPECT_EQ(v.txTick, kNow + seconds(1));  // the running second is not begun anew
}
TEST(TxMachine, GoodbyeStartsReinitDelay) {
  TxVars v{.portEnabled = true};
  Log log;
  enter(TX_SHUTDOWN_FRAME, v, kSettings, kNow, log);
  EXPECT_EQ(log.calls, "shutdown ");
  EXPECT_EQ(v.txShutdownWhile, kNow + seconds(2));
}

// Transmit timer machine

using enum TxTimerState;
constexpr TxTimerState kAllTimer[] = {TX_TIMER_INITIALIZE, TX_TIMER_IDLE, TX_TIMER_EXPIRES, TX_TICK,
                                      SIGNAL_TX,           TX_FAST_START};

TxVars idle() {
  return {.portEnabled = true, .txCredit = 5, .txTTR = kNow + seconds(1), .txTick = kNow};
}

TEST(TxTimerMachine, InitializesFromAnyStateWhileItMayNotSend) {
  for (TxTimerState s : kAllTimer) {
    TxVars v = idle();
    v.adminStatus = AdminStatus::enabledRxOnly;
    EXPECT_EQ(next(s, v, kSettings, kNow), TX_TIMER_INITIALIZE);
    v.adminStatus = AdminStatus::disabled;
    EXPECT_EQ(next(s, v, kSettings, kNow), TX_TIMER_INITIALIZE);
    v = idle();
    v.portEnabled = false;
    EXPECT_EQ(next(s, v, kSettings, kNow), TX_TIMER_INITIALIZE);
  }
}
TEST(TxTimerMachine, InitializeForgetsAndFillsTheCredit) {
  TxVars v{.localChange = true, .newNeighbor = true, .txNow = true, .txFast = 3, .txTTR = kNow};
  enter(TX_TIMER_INITIALIZE, v, kSettings, {}, kNow);
  EXPECT_FALSE(v.localChange || v.newNeighbor || v.txNow);
  EXPECT_EQ(v.txFast, 0);
  EXPECT_EQ(v.txCredit, 5);
  EXPECT_EQ(v.txTTR, TimePoint::min());
  v.portEnabled = true;
  EXPECT_EQ(next(TX_TIMER_INITIALIZE, v, kSettings, kNow), TX_TIMER_IDLE);
  v.adminStatus = AdminStatus::enabledTxOnly;
  EXPECT_EQ(next(TX_TIMER_INITIALIZE, v, kSettings, kNow), TX_TIMER_IDLE);
}
TEST(TxTimerMachine, IdleStaysWhileNothingIsDue) {
  EXPECT_EQ(next(TX_TIMER_IDLE, idle(), kSettings, kNow), TX_TIMER_IDLE);
}
TEST(TxTimerMachine, ALocalChangeSignals) {
  TxVars v = idle();
  v.localChange = true;
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, kNow), SIGNAL_TX);
}
TEST(TxTimerMachine, ExpiresWhenItsTimeHasCome) {
  TxVars v = idle();
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, v.txTTR - Duration(1)), TX_TIMER_IDLE);
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, v.txTTR), TX_TIMER_EXPIRES);
  EXPECT_EQ(next(TX_TIMER_EXPIRES, v, kSettings, kNow), SIGNAL_TX);
  EXPECT_EQ(next(SIGNAL_TX, v, kSettings, kNow), TX_TIMER_IDLE);
}
TEST(TxTimerMachine, ANewNeighborStartsFastTransmission) {
  TxVars v = idle();
  v.newNeighbor = true;
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, kNow), TX_FAST_START);
  enter(TX_FAST_START, v, kSettings, {}, kNow);
  EXPECT_FALSE(v.newNeighbor);
  EXPECT_EQ(v.txFast, 4);
  EXPECT_EQ(next(TX_FAST_START, v, kSettings, kNow), TX_TIMER_EXPIRES);
}
TEST(TxTimerMachine, FastTransmissionUnderWayIsNotBegunAnew) {
  TxVars v = idle();
  v.txFast = 2;
  enter(TX_FAST_START, v, kSettings, {}, kNow);
  EXPECT_EQ(v.txFast, 2);
}
TEST(TxTimerMachine, ExpiryCountsFastTransmissionsDownToNone) {
  TxVars v = idle();
  v.txFast = 1;
  enter(TX_TIMER_EXPIRES, v, kSettings, {}, kNow);
  EXPECT_EQ(v.txFast, 0);
  enter(TX_TIMER_EXPIRES, v, kSettings, {}, kNow);
  EXPECT_EQ(v.txFast, 0);
}
TEST(TxTimerMachine, SignalSetsTheTimeOfTheNextFrame) {
  TxVars v = idle();
  v.localChange = true;
  enter(SIGNAL_TX, v, kSettings, {}, kNow + seconds(5));
  EXPECT_TRUE(v.txNow);
  EXPECT_FALSE(v.localChange);
  EXPECT_EQ(v.txTTR, kNow + seconds(20));  // 1020 s is the next multiple of 30
  v.txFast = 3;
  enter(SIGNAL_TX, v, kSettings, {}, kNow + milliseconds(200));
  EXPECT_EQ(v.txTTR, kNow + seconds(1));
}
TEST(TxTimerMachine, TicksOnlyWhileCreditIsMissing) {
  TxVars v = idle();
  v.txTick = kNow;
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, kNow), TX_TIMER_IDLE);
  v.txCredit = 4;
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, kNow - Duration(1)), TX_TIMER_IDLE);
  EXPECT_EQ(next(TX_TIMER_IDLE, v, kSettings, kNow), TX_TICK);
  enter(TX_TICK, v, kSettings, {}, kNow);
  EXPECT_EQ(v.txCredit, 5);
  EXPECT_EQ(v.txTick, kNow + seconds(1));
  EXPECT_EQ(next(TX_TICK, v, kSettings, kNow), TX_TIMER_IDLE);
}

TEST(OwnMoment, LiesWithinOneIntervalAndComesBackEveryInterval) {
  const Duration interval = seconds(30);
  for (std::uint32_t sender = 0; sender < 100; ++sender) {
    const Phase phase = phase_of(sender, 12345);
    const TimePoint first = next_own_moment(kNow, interval, phase);
    EXPECT_GT(first, kNow);
    EXPECT_LE(first, kNow + interval);
    EXPECT_EQ(next_own_moment(first, interval, phase), first + interval);
    EXPECT_EQ(next_own_moment(first - Duration(1), interval, phase), first);
  }
}
TEST(OwnMoment, IsOneForSixtyFourSendersAndTheirTurnsAreSpread) {
  constexpr Duration kInterval = seconds(30);
  std::map<TimePoint, std::size_t> turns;
  for (std::uint32_t sender = 0; sender < 512; ++sender)
    ++turns[next_own_moment(TimePoint{}, kInterval, phase_of(sender, 0x4000'0000))];
  EXPECT_EQ(turns.size(), 8U);
  TimePoint before = turns.rbegin()->first - kInterval;
  for (const auto& [moment, senders] : turns) {
    EXPECT_EQ(senders, 64U);
    EXPECT_GT(moment - before, kInterval / 16);
    before = moment;
  }
}
TEST(OwnMoment, IsTheDevicesOwn) {
  const auto of_device = [](std::uint32_t device) {
    return next_own_moment(TimePoint{}, seconds(30), phase_of(0, device));
  };
  EXPECT_EQ(of_device(0x4000'0000), TimePoint(milliseconds(7500)));
  EXPECT_EQ(of_device(0xc000'0000), TimePoint(milliseconds(22500)));
}
TEST(OwnMoment, IsDefinedBeforeTheFirstInterval) {
  const Phase phase{.periodic = 0x8000'0000};
  EXPECT_EQ(next_own_moment(TimePoint{}, seconds(30), phase), TimePoint{seconds(15)});
  EXPECT_EQ(next_own_moment(TimePoint{seconds(15)}, seconds(30), phase), TimePoint{seconds(45)});
}

TEST(FastMoment, LeavesHalfOfMsgFastTxAfterAFrame) {
  const auto at = [](int ms) { return kNow + milliseconds(ms); };
  EXPECT_EQ(next_fast_moment(at(499), kSettings, {}), at(1000));
  EXPECT_EQ(next_fast_moment(at(500), kSettings, {}), at(2000));
}
TEST(FastMoment, IsEverySendersOwn) {
  std::set<TimePoint> moments;
  for (std::uint32_t sender = 0; sender < 64; ++sender)
    moments.insert(next_fast_moment(kNow, kSettings, phase_of(sender, 12345)));
  EXPECT_EQ(moments.size(), 64U);
}

struct TxPair : testing::Test {
  TxTimerState timer = TX_TIMER_INITIALIZE;
  TxState state = TX_LLDP_INITIALIZE;
  TxVars v{.txCredit = 5};
  Log log{};
  void run(TimePoint now) { step(timer, state, v, kSettings, {}, now, log); }
  std::string calls() { return std::exchange(log.calls, {}); }
};

TEST_F(TxPair, AnnouncesAtOnceWhenEnabled) {
  run(kNow);
  EXPECT_EQ(calls(), "");
  v.portEnabled = true;
  run(kNow);
  EXPECT_EQ(calls(), "info ");
  EXPECT_EQ(deadline(timer, state, v), kNow + seconds(20));
}
TEST_F(TxPair, TellsALocalChangeAndANewNeighborInOneFrame) {
  v.portEnabled = true;
  run(kNow);
  calls();
  v.localChange = v.newNeighbor = true;
  run(kNow);
  EXPECT_EQ(calls(), "info ");
}
TEST_F(TxPair, FastTransmissionIsFourFramesASecondApart) {
  v.portEnabled = true;
  run(kNow);
  calls();
  v.newNeighbor = true;
  const TimePoint start = kNow + milliseconds(499);
  run(start);
  EXPECT_EQ(calls(), "info ");
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(deadline(timer, state, v), kNow + seconds(i));
    run(kNow + seconds(i));
    EXPECT_EQ(calls(), "info ");
  }
  EXPECT_EQ(deadline(timer, state, v), kNow + seconds(20));
}
TEST_F(TxPair, WithoutCreditAChangeWaitsForTheNextTick) {
  v.portEnabled = true;
  for (int i = 0; i < 7; ++i) {
    v.localChange = true;
    run(kNow + milliseconds(i));
  }
  EXPECT_EQ(calls(), "info info info info info ");
  EXPECT_EQ(deadline(timer, state, v), kNow + seconds(1));
  run(kNow + seconds(1));
  EXPECT_EQ(calls(), "info ");
}
TEST_F(TxPair, CreditGrowsByOneASecondUpToItsMaximum) {
  v.portEnabled = true;
  for (int i = 0; i < 5; ++i) {
    v.localChange = true;
    run(kNow);
  }
  EXPECT_EQ(v.txCredit, 0);
  run(kNow + milliseconds(3500));
  EXPECT_EQ(v.txCredit, 3);
  run(kNow + seconds(15));
  EXPECT_EQ(v.txCredit, 5);
}
TEST_F(TxPair, DisabledSaysGoodbyeOnceAndReenabledWaitsReinitDelay) {
  v.portEnabled = true;
  run(kNow);
  calls();
  v.adminStatus = AdminStatus::disabled;
  run(kNow);
  EXPECT_EQ(calls(), "shutdown ");
  v.adminStatus = AdminStatus::enabledRxTx;
  run(kNow + milliseconds(500));
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(deadline(timer, state, v), kNow + seconds(2));
  run(kNow + seconds(2));
  EXPECT_EQ(calls(), "info ");
}
TEST_F(TxPair, APortThatFailsSaysNothing) {
  v.portEnabled = true;
  run(kNow);
  calls();
  v.portEnabled = false;
  run(kNow);
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(deadline(timer, state, v), TimePoint::max());
}

// Receive machine

using enum RxState;
constexpr RxState kAllRx[] = {LLDP_WAIT_PORT_OPERATIONAL,
                              DELETE_AGED_INFO,
                              RX_LLDP_INITIALIZE,
                              RX_WAIT_FOR_FRAME,
                              RX_FRAME,
                              DELETE_INFO,
                              UPDATE_INFO};

TEST(RxMachine, WaitsForThePortFromAnyState) {
  for (RxState s : kAllRx) EXPECT_EQ(next(s, {}), LLDP_WAIT_PORT_OPERATIONAL);
}
TEST(RxMachine, AgesWhileThePortIsNotOperational) {
  EXPECT_EQ(next(LLDP_WAIT_PORT_OPERATIONAL, {.rxInfoAge = true}), DELETE_AGED_INFO);
  EXPECT_EQ(next(DELETE_AGED_INFO, {.portEnabled = true}), LLDP_WAIT_PORT_OPERATIONAL);
}
TEST(RxMachine, InitializesWhenThePortBecomesOperational) {
  EXPECT_EQ(next(LLDP_WAIT_PORT_OPERATIONAL, {.portEnabled = true}), RX_LLDP_INITIALIZE);
}
TEST(RxMachine, ListensOnlyWhenItMayReceive) {
  for (AdminStatus a : kAllStatus) {
    const bool may = a == AdminStatus::enabledRxOnly || a == AdminStatus::enabledRxTx;
    const RxVars v{.portEnabled = true, .adminStatus = a};
    EXPECT_EQ(next(RX_LLDP_INITIALIZE, v), may ? RX_WAIT_FOR_FRAME : RX_LLDP_INITIALIZE);
    EXPECT_EQ(next(RX_WAIT_FOR_FRAME, v), may ? RX_WAIT_FOR_FRAME : RX_LLDP_INITIALIZE);
  }
}
TEST(RxMachine, TakesAgeingBeforeAFrame) {
  EXPECT_EQ(next(RX_WAIT_FOR_FRAME, {.portEnabled = true, .rcvFrame = true}), RX_FRAME);
  EXPECT_EQ(next(RX_WAIT_FOR_FRAME, {.portEnabled = true, .rcvFrame = true, .rxInfoAge = true}),
            DELETE_INFO);
}
TEST(RxMachine, AFrameIsDroppedRefreshesDeletesOrUpdates) {
  EXPECT_EQ(next(RX_FRAME, {.portEnabled = true, .badFrame = true, .rxChanges = true, .rxTTL = 9}),
            RX_WAIT_FOR_FRAME);
  EXPECT_EQ(next(RX_FRAME, {.portEnabled = true, .rxTTL = 9}), RX_WAIT_FOR_FRAME);
  EXPECT_EQ(next(RX_FRAME, {.portEnabled = true, .rxChanges = true, .rxTTL = 0}), DELETE_INFO);
  EXPECT_EQ(next(RX_FRAME, {.portEnabled = true, .rxChanges = true, .rxTTL = 9}), UPDATE_INFO);
}
TEST(RxMachine, ReturnsToWaitingAfterAChange) {
  EXPECT_EQ(next(DELETE_INFO, {.portEnabled = true}), RX_WAIT_FOR_FRAME);
  EXPECT_EQ(next(UPDATE_INFO, {.portEnabled = true}), RX_WAIT_FOR_FRAME);
}

struct RxRun : testing::Test {
  RxState state = LLDP_WAIT_PORT_OPERATIONAL;
  RxVars v{.portEnabled = true};
  Log log{};
  void SetUp() override { run(); }
  std::string run() {
    step(state, v, log);
    return std::exchange(log.calls, {});
  }
  std::string frame() {
    v.rcvFrame = true;
    return run();
  }
};

TEST_F(RxRun, ProcessesAFrameOnce) {
  EXPECT_EQ(state, RX_WAIT_FOR_FRAME);
  EXPECT_EQ(frame(), "process update ");
  EXPECT_EQ(run(), "");
  log.changes = false;
  EXPECT_EQ(frame(), "process ");
  log.ttl = 0;
  EXPECT_EQ(frame(), "process delete ");
  log.bad = true;
  EXPECT_EQ(frame(), "process ");
  EXPECT_FALSE(v.badFrame || v.rcvFrame);
}
TEST_F(RxRun, DeletesWhatHasAgedAndGoesOn) {
  v.rxInfoAge = true;
  EXPECT_EQ(run(), "delete ");
  EXPECT_EQ(state, RX_WAIT_FOR_FRAME);
}
TEST_F(RxRun, APortThatFailsDeletesAndWaits) {
  v.portEnabled = false;
  v.rxInfoAge = true;
  EXPECT_EQ(run(), "delete ");
  EXPECT_EQ(state, LLDP_WAIT_PORT_OPERATIONAL);
  v.rxInfoAge = true;
  EXPECT_EQ(run(), "delete ");
  EXPECT_EQ(state, LLDP_WAIT_PORT_OPERATIONAL);
  EXPECT_EQ(frame(), "");
}
TEST_F(RxRun, DisabledForgetsAllAndTakesNoFrame) {
  v.adminStatus = AdminStatus::disabled;
  EXPECT_EQ(run(), "initialize ");
  EXPECT_EQ(frame(), "");
}

}  // namespace
}  // namespace lldp::core
