// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/flower/rules.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane {

/// tc flower on a clsact qdisc of each port, for drivers that take such filters into a switch chip;
/// flower/rules.hpp says which filters. PFC is `dcb`'s affair.
class Flower : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const FlowerOptions& options);

  [[nodiscard]] std::string_view name() const override { return "flower"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] std::size_t ports_per_turn() const override { return 64; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return events_.fd(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports, Glance) override;
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  /// The filters that packets turn by are shared by all ports: it cannot be told by which they
  /// left.
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }

 private:
  /// What stands in the place of a port's clsact qdisc.
  enum class Stand : std::uint8_t { kNothing, kUp, kOther, kRestoring, kShut, kForeign };
  /// The blocks of a port that has rules.
  struct Blocks {
    flower::Block ingress{};
    flower::Block egress{};
    friend bool operator==(const Blocks&, const Blocks&) = default;
  };
  [[nodiscard]] static Blocks blocks_of(Stand stand);
  [[nodiscard]] static Stand stand_of(const qos::Ruleset& rules);
  /// What the kernel has.
  struct View {
    std::map<Ifindex, Stand> ports{};
    std::map<flower::Block, std::vector<flower::Found>> filters{};
  };
  /// What is wrong with a part, empty: nothing; and whether any of it is there.
  struct Look {
    bool there = false;
    std::string wrong{};
  };

  Flower(TcSocket socket, TcEvents events, FlowerOptions options)
      : socket_(std::move(socket)), events_(std::move(events)), options_(options) {}
  /// As it is now: cached until a program, this one included, has changed traffic control.
  [[nodiscard]] Result<const View*> view();
  [[nodiscard]] Result<View> read();
  [[nodiscard]] Look look(const View& view, const PortRef& port, Part part,
                          const qos::Ruleset* want) const;
  [[nodiscard]] bool are_right(const View& view, flower::Block block,
                               const qos::Ruleset& rules) const;
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want);
  [[nodiscard]] Outcome apply(View& view, const PortPlan& plan);
  [[nodiscard]] Result<void> put(View& view, const PortRef& port, const qos::Ruleset& want,
                                 flower::Mode mode);
  [[nodiscard]] Result<void> bind(View& view, Ifindex port, Stand stand);
  [[nodiscard]] Result<void> unbind(View& view, Ifindex port);
  [[nodiscard]] Result<void> set(View& view, flower::Block block, const flower::Filter& filter,
                                 flower::Mode mode);
  [[nodiscard]] Result<void> drop(View& view, flower::Block block, const flower::Filter& filter);
  [[nodiscard]] std::optional<flower::Mode> mode_of(const View& view) const;

  TcSocket socket_;
  TcEvents events_;
  FlowerOptions options_;
  std::optional<View> view_{};
  std::string refusal_{};  ///< the driver's last, for rules that are in software
  Events told_{};
};

}  // namespace lldp::dataplane
