// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/backend.hpp"
#include "tests/dataplane/contract.hpp"

namespace lldp::dataplane {

/// For the contract: a back end of a chip that is read every few seconds, opened anew before it is
/// asked, so that what others have changed is known.
class OpenedAnew : public Backend {
 public:
  using Open = std::function<std::unique_ptr<Backend>()>;
  /// `world`: whose ports 0 and 1 are.
  OpenedAnew(World& world, Open open) : world_(world), open_(std::move(open)), real_(open_()) {}
  std::string_view name() const override { return real_->name(); }
  std::string description() const override { return real_->description(); }
  Capabilities capabilities() const override { return real_->capabilities(); }
  std::optional<Error> down() const override { return real_->down(); }
  Result<void> prepare(std::span<const qos::Ruleset> rules) override {
    return real_->prepare(rules);
  }
  Result<PortPlan> plan(const PortRef& p, const qos::Ruleset& want) override {
    reopen();
    return real_->plan(p, want);
  }
  Result<Reading> verify(const PortRef& p, const qos::Ruleset& want) override {
    reopen();
    return real_->verify(p, want);
  }
  int events() const override { return real_->events(); }
  Events take_events() override { return real_->take_events(); }
  Result<PortPlan> plan_removal(const PortRef& p) override {
    reopen();
    return real_->plan_removal(p);
  }
  void apply(const Plan& plan) override { real_->apply(plan); }
  void forget(Ifindex port) override { real_->forget(port); }
  Result<std::vector<PortRef>> ports() override {
    reopen();
    return real_->ports();
  }
  Result<Bounces> bounces(Ifindex port) override { return real_->bounces(port); }

 private:
  void reopen() {
    real_ = nullptr;
    real_ = open_();
    for (int i : {0, 1}) (void)real_->plan_removal(world_.port(i));
  }
  World& world_;
  Open open_;
  std::unique_ptr<Backend> real_;
};

/// A chip's back end and what is asked of it.
class ChipTest : public testing::Test {
 protected:
  void TearDown() override { backend_ = nullptr; }  // before its chip
  [[nodiscard]] virtual PortRef port(int i) const = 0;

  Result<void> put(int i, Order order, const qos::Policy& policy = qos::Policy()) {
    const auto plan = backend_->plan(port(i), qos::compile(policy, {.order = order}));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  bool until(const std::function<bool()>& done,
             std::chrono::milliseconds most = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done() && std::chrono::steady_clock::now() < end) {
      pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 10);
      const bool was_down = backend_->down().has_value();
      const Events events = backend_->take_events();
      if (backend_->down().has_value() != was_down) {
        EXPECT_THAT(events.changed, testing::Contains(Ifindex())) << "nobody is told";
      }
    }
    return done();
  }
  /// Of the port's parts, in their order.
  std::string states(int i, Order order) {
    const auto reading = backend_->verify(port(i), rules_of(order));
    if (!reading) return to_string(reading.error());
    std::string text;
    for (const PartReading& part : reading->parts)
      text.append(text.empty() ? "" : " ").append(to_string(part.state));
    return text;
  }

  /// Of rules that need more than a chip has: whoever asks is told so, and nothing is done.
  void expect_too_many_classes() {
    const auto rules = qos::compile(qos::Policy::with_lossless(5), {.order = Order::kUp});
    const auto refused = [](const auto& result) {
      ASSERT_FALSE(result);
      EXPECT_THAT(to_string(result.error()), testing::HasSubstr("5 lossless classes need"));
    };
    refused(backend_->plan(port(0), rules));
    refused(backend_->verify(port(0), rules));
    refused(finish(
        *backend_,
        PortPlan{.port = port(0), .want = rules, .changes = {{Action::kAdd, Part::kClassify}}}));
    EXPECT_EQ(states(0, Order::kUp), "missing missing missing missing");
  }

  std::unique_ptr<Backend> backend_{};
};

}  // namespace lldp::dataplane
