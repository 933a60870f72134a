// SPDX-License-Identifier: Apache-2.0
//
// A network backend for ASTRA-sim over liblldp-level-sim: a lossless Ethernet fabric that can
// deadlock, and says so; and with the agents' rules one that cannot. One Session for a simulation,
// one LldpLevelNetwork for each rank, which is given to that rank's Sys. Rank N is host N of the
// scenario's fabric.
//
//     Session session("scenario.json", ranks);
//     networks.emplace_back(new LldpLevelNetwork(session, rank));  // of each rank, and a Sys
//     ... sys->workload->fire() ...
//     if (session.run() != Session::End::kFinished) ...
#pragma once

#include <lldp_level_sim.h>

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "astra-sim/common/AstraNetworkAPI.hh"

namespace lldp_level {

using Handler = void (*)(void*);

/// The fabric, and what its ranks send to and expect from each other.
class Session {
 public:
  enum class End {
    kFinished,   ///< every rank has said so
    kIdle,       ///< nothing is under way any more, and some rank has not finished
    kDeadlocked  ///< switches wait for each other, and nothing that is under way gets anything
  };

  /// Throws std::runtime_error where the scenario cannot be, or has fewer hosts than `ranks`.
  Session(const std::string& scenario, int ranks) : unfinished_(ranks) {
    char error[512];
    simulation_ = lls_open(scenario.c_str(), error, sizeof error);
    if (simulation_ == nullptr) throw std::runtime_error(error);
    if (lls_hosts(simulation_) >= static_cast<std::uint32_t>(ranks)) return;
    const std::string hosts = std::to_string(lls_hosts(simulation_));
    lls_destroy(simulation_);
    throw std::runtime_error(scenario + ": " + hosts + " hosts for " + std::to_string(ranks) +
                             " ranks");
  }
  ~Session() { lls_destroy(simulation_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Until every rank has finished, or nothing can go on. Throws what a call from a handler met.
  End run() {
    bool deadlocked = false;
    while (unfinished_ > 0) {
      const lls_result why = lls_run_until(simulation_, LLS_FOREVER);
      if (!error_.empty()) throw std::runtime_error(error_);
      if (why < 0) throw std::runtime_error(lls_error(simulation_));
      if (why == LLS_IDLE) return End::kIdle;
      if (why != LLS_DEADLOCK) continue;
      // The first time others may still go on; the second time nothing does.
      if (deadlocked && lls_deadlocked(simulation_) != 0) return End::kDeadlocked;
      deadlocked = true;
    }
    return End::kFinished;
  }

  lls_simulation* simulation() const { return simulation_; }
  /// Flows that arrived, and octets under a tag that nobody has received yet.
  std::uint64_t arrived() const { return arrived_; }

  void finished() {
    if (--unfinished_ == 0) lls_stop(simulation_);
  }
  void at(std::uint64_t when_ps, Handler handler, void* argument) {
    auto* const call = new Call{handler, argument};
    if (lls_at(simulation_, when_ps, &Session::moment, call) == LLS_OK) return;
    delete call;
    fail();
  }
  void send(int from, int to, int tag, std::uint64_t octets, Handler handler, void* argument) {
    auto* const message = new Message{this, from, to, tag, octets, handler, argument};
    if (from == to) {  // no link is between
      if (lls_at(simulation_, lls_now(simulation_), &Session::at_once, message) == LLS_OK) return;
    } else {
      lls_flow flow{};
      flow.size = sizeof flow;
      flow.from = static_cast<std::uint32_t>(from);
      flow.to = static_cast<std::uint32_t>(to);
      flow.octets = octets == 0 ? 1 : octets;  // 0 would be without end
      flow.done = &Session::done;
      flow.user = message;
      if (lls_send(simulation_, &flow, nullptr) == LLS_OK) return;
    }
    delete message;
    fail();
  }
  void receive(int from, int to, int tag, std::uint64_t octets, Handler handler, void* argument) {
    Inbox& inbox = inboxes_[{from, to, tag}];
    inbox.expected.push_back({octets, handler, argument});
    match(inbox);
  }

 private:
  struct Call {
    Handler handler;
    void* argument;
  };
  struct Message {
    Session* session;
    int from, to, tag;
    std::uint64_t octets;
    Handler handler;
    void* argument;
  };
  struct Expected {
    std::uint64_t octets;
    Handler handler;
    void* argument;
  };
  /// What came from one rank to another under one tag, and who waits for it, in that order.
  struct Inbox {
    std::uint64_t octets = 0;
    std::deque<Expected> expected;
  };

  static void moment(lls_simulation*, void* user) {
    const Call call = *static_cast<Call*>(user);
    delete static_cast<Call*>(user);
    call.handler(call.argument);
  }
  static void done(lls_simulation*, std::uint64_t, void* user) {
    const Message m = *static_cast<Message*>(user);
    delete static_cast<Message*>(user);
    m.session->arrive(m);
  }
  static void at_once(lls_simulation* simulation, void* user) { done(simulation, 0, user); }

  void arrive(const Message& m) {
    ++arrived_;
    inboxes_[{m.from, m.to, m.tag}].octets += m.octets;
    if (m.handler != nullptr) m.handler(m.argument);
    match(inboxes_[{m.from, m.to, m.tag}]);  // the handler may have received
  }
  /// A receive ends when its octets are there; its handler may send and receive.
  static void match(Inbox& inbox) {
    while (!inbox.expected.empty() && inbox.octets >= inbox.expected.front().octets) {
      const Expected first = inbox.expected.front();
      inbox.expected.pop_front();
      inbox.octets -= first.octets;
      if (first.handler != nullptr) first.handler(first.argument);
    }
  }
  /// From within a run nothing may be thrown.
  void fail() {
    if (error_.empty()) error_ = lls_error(simulation_);
    lls_stop(simulation_);
  }

  lls_simulation* simulation_ = nullptr;
  int unfinished_;
  std::uint64_t arrived_ = 0;
  std::map<std::tuple<int, int, int>, Inbox> inboxes_;
  std::string error_;
};

/// One rank's end of it.
class LldpLevelNetwork : public AstraSim::AstraNetworkAPI {
 public:
  LldpLevelNetwork(Session& session, int rank) : AstraNetworkAPI(rank), session_(session) {}

  int sim_send(void*, std::uint64_t count, int, int dst, int tag, AstraSim::sim_request*,
               Handler handler, void* argument) override {
    session_.send(rank, dst, tag, count, handler, argument);
    return 0;
  }
  int sim_recv(void*, std::uint64_t count, int, int src, int tag, AstraSim::sim_request*,
               Handler handler, void* argument) override {
    session_.receive(src, rank, tag, count, handler, argument);
    return 0;
  }
  void sim_schedule(AstraSim::timespec_t delta, Handler handler, void* argument) override {
    session_.at(lls_now(session_.simulation()) + picoseconds(delta), handler, argument);
  }
  AstraSim::timespec_t sim_get_time() override {
    AstraSim::timespec_t now;
    now.time_res = AstraSim::NS;
    now.time_val = static_cast<long double>(lls_now(session_.simulation())) / 1000;
    return now;
  }
  void sim_notify_finished() override { session_.finished(); }

 private:
  static std::uint64_t picoseconds(AstraSim::timespec_t t) {
    static constexpr long double kOf[] = {1e12L, 1e9L, 1e6L, 1e3L, 1e-3L};  // SE, MS, US, NS, FS
    const long double ps = t.time_val * kOf[t.time_res];
    return ps <= 0 ? 0 : static_cast<std::uint64_t>(ps + 0.5L);
  }

  Session& session_;
};

}  // namespace lldp_level
