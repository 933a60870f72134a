// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/dcb/driver.hpp"
#include "dataplane/dcb/memory.hpp"
#include "dataplane/factory.hpp"

namespace lldp::dataplane {

/// PFC of the ports' own drivers, by dcbnl: on for the lossless priorities, and the DSCP of each
/// class in the APP table, by which hardware finds its priority. What others have set beside stays,
/// ETS is not touched, and what was there before is kept in a file, to be put back. For every port,
/// whatever its order.
class Dcb : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const DcbOptions& options);
  /// `boot`: which run of the machine this is.
  Dcb(std::unique_ptr<dcb::Driver> driver, DcbOptions options, std::string boot);

  [[nodiscard]] std::string_view name() const override { return "dcb"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kNo, Support::kNo, Support::kNo, Support::kHardware};
  }
  [[nodiscard]] std::optional<Error> overlooked() const override;
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports, Glance) override;
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Made made(const PortRef& port) const override;
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }

 private:
  /// Where a port's settings are to go, and what is then to be put back.
  struct Goal {
    std::uint8_t pfc = 0;
    std::vector<dcbnl::App> add{};
    std::vector<dcbnl::App> remove{};
    dcb::Originals originals{};
  };
  /// What a driver did not do, as long as its settings are these and these are wanted.
  struct Stubborn {
    dcbnl::Settings now{};
    std::uint8_t pfc = 0;
    PartReading reading{};
  };
  /// A port as it is.
  struct Look {
    dcbnl::Settings now{};
    Goal goal{};
    PartReading reading{};
    [[nodiscard]] bool is_due() const {
      return reading.state == PartState::kMissing && reading.text.empty();
    }
  };

  [[nodiscard]] Result<Look> look(const PortRef& port, const qos::Ruleset& want);
  [[nodiscard]] Goal goal_of(const PortRef& port, const dcbnl::Settings& now,
                             const qos::Ruleset& want) const;
  [[nodiscard]] const dcb::Originals* originals(const PortRef& port) const;
  [[nodiscard]] Outcome apply(const PortPlan& plan);
  [[nodiscard]] Outcome put(const PortRef& port, const Look& look, Action action);
  /// Takes back what put() has done of the goal; false: the driver does not let us.
  [[nodiscard]] bool undo(const PortRef& port, const Look& look);
  [[nodiscard]] Result<void> restore(const PortRef& port);
  [[nodiscard]] Result<void> save() const;

  std::unique_ptr<dcb::Driver> driver_;
  DcbOptions options_;
  std::string boot_;
  std::optional<Error> damaged_{};  ///< why what the file says cannot be had
  dcb::Memory memory_;
  std::map<Ifindex, Stubborn> stubborn_;
  std::map<Ifindex, std::pair<std::string, dcbnl::Settings>> seen_;  ///< by verify()
  std::vector<Outcome> outcomes_;
};

}  // namespace lldp::dataplane
