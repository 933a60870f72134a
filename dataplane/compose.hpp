// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane {

/// Several back ends as one: each part is done by the back end that claims it, and a part that a
/// port needs and no back end claims is `unsupported`. Each keeps the promises of backend.hpp for
/// its own parts: what one has done stays where another is refused, for half of the rules is safer
/// than none, in any order.
class Compose : public Backend {
 public:
  /// Refuses two that claim one part.
  [[nodiscard]] static Result<std::unique_ptr<Backend>> of(
      std::vector<std::unique_ptr<Backend>> members);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] std::optional<Error> down() const override;
  [[nodiscard]] std::optional<Error> overlooked() const override;
  [[nodiscard]] bool splits_classes() const override;
  [[nodiscard]] std::optional<PartReading> crossing_limit(const qos::Ruleset& in,
                                                          const qos::Ruleset& out) override;
  [[nodiscard]] std::size_t ports_per_turn() const override;
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset> rules) override;
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return events_.get(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::chrono::seconds glance_pause() const override;
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports, Glance why) override;
  void links_changed() override;
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) override;
  void count_unclassed(std::span<const Ifindex> ports, const EachUnclassed& each) override;
  [[nodiscard]] qos::Carried carried(const PortRef& port) const override;
  [[nodiscard]] std::string alias(const PortRef& port) const override;
  [[nodiscard]] Made made(const PortRef& port) const override;
  [[nodiscard]] const PlatformClasses* platform() const override;
  [[nodiscard]] std::string displaced(const PortRef& port) const override;
  [[nodiscard]] Result<void> accept_pfc(const PortRef& port, bool accept) override;

 private:
  /// A port's changes that several are at: its outcome is known when all have told theirs.
  struct Pending {
    std::vector<bool> waiting{};  ///< by member
    Outcome outcome{};
  };

  Compose(std::vector<std::unique_ptr<Backend>> members, UniqueFd events);
  void finish(std::size_t member, const Outcome& outcome, std::vector<Outcome>& out);

  std::vector<std::unique_ptr<Backend>> members_;
  std::vector<int> glances_;  ///< of time, since each member's last
  UniqueFd events_;           ///< epoll: theirs
  std::string name_;
  std::map<Ifindex, Pending> pending_;
  std::vector<Outcome> outcomes_;  ///< of ports at which no back end had anything to do
};

}  // namespace lldp::dataplane
