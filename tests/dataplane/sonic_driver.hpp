// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "dataplane/factory.hpp"
#include "tests/dataplane/sonic_fixture.hpp"

namespace lldp::dataplane {

/// A back end on a box, and what holds it to rules: what differs is written, as the daemon does.
/// SONiC's processes run when the test says so.
class Driver {
 public:
  explicit Driver(Box& box, std::string lossless = "5:dscp43>6:dscp51")
      : box_(box), policy_(*qos::Policy::parse(lossless, "0:dscp0")) {}

  bool rewrite_verified = false;
  SonicTimes times{.period = std::chrono::milliseconds(20),
                   .grace = std::chrono::milliseconds(150),
                   .soon = std::chrono::milliseconds(5),
                   .settle = std::chrono::milliseconds(10),
                   .retry = std::chrono::milliseconds(200)};

  void open() {
    backend_ = nullptr;
    under_way_.clear();
    SonicOptions options = box_.options();
    options.rewrite_verified = rewrite_verified;
    options.answer = std::chrono::seconds(10);
    options.times = times;
    auto backend = make_backend("sonic", {.sonic = options});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
  }
  void kill() { backend_ = nullptr; }
  [[nodiscard]] bool runs() const { return backend_ != nullptr; }
  [[nodiscard]] Backend& backend() { return *backend_; }
  void want(int port, Order order) { wanted_[port] = order; }
  void drop(int port) { wanted_.erase(port); }
  [[nodiscard]] const qos::Ruleset& rules_of(int port) {
    const Order order = wanted_.at(port);
    const auto at = rules_.find(order);
    if (at != rules_.end()) return at->second;
    return rules_.emplace(order, qos::compile(policy_, {.order = order})).first->second;
  }
  /// What is read, and what is to be written then.
  void turn() {
    take();
    if (backend_->down()) return;
    for (const auto& [port, order] : wanted_) {
      const PortRef ref = sonic_port(port);
      if (under_way_.contains(ref.ifindex)) continue;
      const auto reading = backend_->verify(ref, rules_of(port));
      if (!reading || reading->mend.empty()) continue;
      under_way_.insert(ref.ifindex);
      backend_->apply({.ports = {reading->mend}});
    }
    take();
  }
  void turns(int n) {
    for (int i = 0; i < n; ++i) turn();
  }
  /// "done done bypassed done", or the error.
  [[nodiscard]] std::string states(int port) {
    const auto reading = backend_->verify(sonic_port(port), rules_of(port));
    if (!reading) return to_string(reading.error());
    std::string text;
    for (const PartReading& part : reading->parts)
      text.append(text.empty() ? "" : " ").append(to_string(part.state));
    return text;
  }
  [[nodiscard]] std::string text(int port, Part part) {
    const auto reading = backend_->verify(sonic_port(port), rules_of(port));
    if (!reading) return to_string(reading.error());
    for (const PartReading& read : reading->parts)
      if (read.part == part) return read.text;
    return "";
  }
  /// Turns, with what SONiC does between them, until that is true. False: it never was.
  bool until(
      const std::function<bool()>& done, const std::function<void()>& between = [] {}) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      between();
      turn();
    }
    return true;
  }
  /// Both run until all ports are as they should be.
  bool until_done() {
    return until(
        [&] {
          for (const auto& [port, order] : wanted_)
            if (states(port) != "done done done done") return false;
          return true;
        },
        [&] { box_.settle(); });
  }
  /// Why the last changes were refused.
  std::map<Ifindex, std::string> refused{};

 private:
  void take() {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    for (const Outcome& outcome : backend_->take_events().outcomes) {
      under_way_.erase(outcome.port);
      if (outcome.why)
        refused[outcome.port] = to_string(*outcome.why);
      else
        refused.erase(outcome.port);
    }
  }
  Box& box_;
  qos::Policy policy_;
  std::map<Order, qos::Ruleset> rules_{};
  std::map<int, Order> wanted_{};
  std::set<Ifindex> under_way_{};
  std::unique_ptr<Backend> backend_{};
};

}  // namespace lldp::dataplane
