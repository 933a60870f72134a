// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>

#include "dataplane/backend.hpp"
#include "dataplane/parts.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/ports.hpp"

namespace lldp::dataplane {

inline qos::Ruleset rules_of(Order order) { return qos::compile(qos::Policy(), {.order = order}); }

/// What the contract test needs of a back end's surroundings: two ports, and ways to come back.
class World {
 public:
  virtual ~World() = default;
  virtual std::unique_ptr<Backend> open() = 0;  ///< nullptr: not possible here, see why_not()
  virtual std::string why_not() const { return {}; }
  virtual PortRef port(int n) = 0;                   ///< n = 0, 1
  virtual bool remembers() const { return true; }    ///< over open()
  virtual bool acts() const { return true; }         ///< on packets, and not only on paper
  virtual bool forgets() const { return true; }      ///< what was on an interface that is gone
  virtual bool knows_ports() const { return true; }  ///< an interface that is not there is refused
  /// What comes in is marked by the port's order, and not told by the port itself.
  virtual bool classifies_by_order() const { return true; }
};

struct WorldCase {
  const char* name = "";
  std::unique_ptr<World> (*make)() = nullptr;
  friend void PrintTo(const WorldCase& c, std::ostream* os) { *os << c.name; }
};
template <class W>
WorldCase world_case(const char* name) {
  return {name, [] { return std::unique_ptr<World>(std::make_unique<W>()); }};
}

/// The promises of backend.hpp, which every back end keeps.
class BackendContract : public testing::TestWithParam<WorldCase> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    backend_ = world_->open();
    if (!backend_) GTEST_SKIP() << world_->why_not();
  }
  PortPlan planned(int port, Order order) {
    auto plan = backend_->plan(world_->port(port), rules_of(order));
    EXPECT_TRUE(plan) << to_string(plan.error());
    return plan ? *plan : PortPlan{};
  }
  Reading verified(int port, Order order) {
    auto reading = backend_->verify(world_->port(port), rules_of(order));
    EXPECT_TRUE(reading) << to_string(reading.error());
    return reading ? *reading : Reading{};
  }
  /// How a part stands; nothing if these rules do not need it.
  std::optional<PartState> state(int port, Order order, Part part) {
    for (const PartReading& read : verified(port, order).parts)
      if (read.part == part) return read.state;
    return std::nullopt;
  }
  /// What a port of another order has in place of what was there.
  std::vector<Change> replaced() {
    std::vector<Change> changes{{Action::kReplace, Part::kRemap}};
    if (world_->classifies_by_order()) changes.push_back({Action::kReplace, Part::kClassify});
    return changes;
  }
  void put(int port, Order order) { do_apply(planned(port, order)); }
  void take(int port) {
    auto plan = backend_->plan_removal(world_->port(port));
    ASSERT_TRUE(plan) << to_string(plan.error());
    do_apply(*plan);
  }
  void do_apply(const PortPlan& plan) {
    auto done = finish(*backend_, plan);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  std::vector<PortRef> ports() {
    auto ports = backend_->ports();
    EXPECT_TRUE(ports) << to_string(ports.error());
    return ports.value_or(std::vector<PortRef>{});
  }

  std::unique_ptr<World> world_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace lldp::dataplane
