// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/port_numbers.hpp"
#include "dataplane/soft/messages.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane {

/// A software switch, which is another process and is spoken to over its unix socket. Everything is
/// answered from what it said last; it is asked every second and after each change. The rules are
/// the switch's: they are there as long as it is.
class Soft : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const SoftOptions& options);

  [[nodiscard]] std::string_view name() const override { return "soft"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kSoftware, Support::kSoftware, Support::kNo, Support::kNo};
  }
  [[nodiscard]] bool splits_classes() const override { return true; }
  [[nodiscard]] std::optional<Error> down() const override { return down_; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return poll_.get(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::chrono::seconds glance_pause() const override { return kRareGlancePause; }
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex>, Glance) override {
    return {};
  }
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex) override {}  // the switch keeps a port whose interface is gone
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Asked {
    PortRef port{};
    Change change{};  ///< the first of the port's
    Clock::time_point at{};
  };

  Soft(SoftOptions options, UniqueFd poll, Timer timer);
  void connect();
  /// The switch cannot be asked at present; it is tried again. With the errno, if no switch was
  /// there.
  void fall(std::string why, int code = 0);
  void on_timer();
  void receive();  ///< one message
  void take(soft::View view);
  void take(const soft::Done& done);
  [[nodiscard]] bool send(const soft::Request& request);
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want);

  SoftOptions options_;
  UniqueFd poll_;  ///< epoll: the connection, and timer_
  Timer timer_;    ///< the next reading, or the next attempt
  UniqueFd socket_{};
  std::optional<Error> down_{};
  Clock::time_point asked_at_{};  ///< the oldest reading that was not answered
  bool reading_ = false;
  soft::View view_{};
  PortNumbers numbers_{};
  std::map<std::uint32_t, Asked> asked_{};  ///< by id
  std::vector<Outcome> done_{};             ///< that the next reading shows
  std::uint32_t next_id_ = 1;
  /// Ports of which a request on this connection was answered. Of any other, what an earlier
  /// connection or daemon asked for may still come into force: requests do so in their order.
  std::set<std::string> settled_{};
  Events events_{};
};

}  // namespace lldp::dataplane
