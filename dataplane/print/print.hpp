// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <ostream>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// Writes what it is told to do as text, and remembers it, so that the next plan starts from there.
class Print : public Backend {
 public:
  /// `name_of`: the port's name in the text. The stream must outlive this.
  Print(std::ostream& out, std::function<std::string(Ifindex)> name_of)
      : out_(out), name_of_(std::move(name_of)) {}

  [[nodiscard]] std::string_view name() const override { return "print"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset> rules) override;
  [[nodiscard]] Result<Plan> plan(Ifindex port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(Ifindex port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Plan> plan_removal(Ifindex port) override;
  [[nodiscard]] Result<void> apply(const Plan& plan) override;
  void forget(Ifindex port) override { rules_.erase(port); }
  [[nodiscard]] Result<std::vector<Ifindex>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }

 private:
  [[nodiscard]] Plan plan_from(Ifindex port, std::optional<qos::Ruleset> want) const;

  std::ostream& out_;
  std::function<std::string(Ifindex)> name_of_;
  std::map<Ifindex, qos::Ruleset> rules_;
};

}  // namespace lldp::dataplane
