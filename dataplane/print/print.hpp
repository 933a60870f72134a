// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <ostream>
#include <vector>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// Writes what it is told to do as text, and remembers it, so that the next plan starts from there.
class Print : public Backend {
 public:
  /// The stream must outlive this.
  explicit Print(std::ostream& out) : out_(out) {}

  [[nodiscard]] std::string_view name() const override { return "print"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kSoftware, Support::kSoftware, Support::kNo, Support::kNo};  // on paper
  }
  [[nodiscard]] bool splits_classes() const override { return true; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset> rules) override;
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  [[nodiscard]] Events take_events() override;
  void apply(const Plan& plan) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }

 private:
  [[nodiscard]] PortPlan plan_from(const PortRef& port, std::optional<qos::Ruleset> want) const;
  [[nodiscard]] Outcome print(const PortPlan& plan);

  std::ostream& out_;
  std::map<PortRef, qos::Ruleset> rules_;
  std::vector<Outcome> outcomes_;
};

}  // namespace lldp::dataplane
