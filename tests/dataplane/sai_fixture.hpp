// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dataplane/factory.hpp"
#include "tests/dataplane/chip.hpp"
#include "tests/dataplane/sai_box.hpp"

namespace lldp::dataplane {

/// The back end on a box with the fake libsai.
class SaiTest : public ChipTest {
 public:
  static PortRef port_of(int i) {
    return {*Ifindex::make(7U + static_cast<unsigned>(i)), SaiBox::name_of(i)};
  }

 protected:
  PortRef port(int i) const override { return port_of(i); }
  void open() {
    backend_ = nullptr;
    auto options = box_.options();
    ASSERT_TRUE(options) << to_string(options.error());
    auto backend = make_backend("sai", {.sai = *options});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
  }
  Result<void> take_all() {
    const auto ports = backend_->ports();
    if (!ports) return fail(ports.error());
    for (const PortRef& port : *ports) {
      const auto plan = backend_->plan_removal(port);
      if (!plan) return fail(plan.error());
      if (auto done = finish(*backend_, *plan); !done) return done;
    }
    return {};
  }
  std::string why(int port, Order order, Part part) {
    const auto reading = backend_->verify(port_of(port), rules_of(order));
    for (const PartReading& read : reading ? reading->parts : std::vector<PartReading>())
      if (read.part == part) return read.text;
    return {};
  }
  std::string down() {
    const auto why = backend_->down();
    return why ? why->what : "";
  }
  /// Packets of every class between every two ports: 0 and 2 are up, 1 and 3 down. Whatever color
  /// a meter gives them.
  void expect_rules() {
    for (int in : {0, 1})
      for (int out : {2, 3})
        for (const qos::Class c :
             {qos::Policy().lossless()[0], qos::Policy().lossless()[1], qos::Policy().lossy()})
          for (const int color :
               {SAI_PACKET_COLOR_GREEN, SAI_PACKET_COLOR_YELLOW, SAI_PACKET_COLOR_RED}) {
            const Order orders[] = {Order::kUp, Order::kDown};
            const qos::Class after =
                qos::remap(qos::Policy(), {.order = orders[in]}, {.order = orders[out - 2]}, c);
            EXPECT_EQ(
                box_.forward(in, out, c.dscp.value(), color),
                (SaiBox::Left{after.dscp.value(), c.priority.value(), after.priority.value()}))
                << in << out << to_string(c) << " colour " << color;
          }
  }
  /// What the back end tells of its ports.
  std::string told() {
    std::set<std::string> names;
    for (const PortRef& p : backend_->ports().value_or(std::vector<PortRef>{}))
      names.insert(p.name);
    std::string text;
    for (const std::string& name : names) text += name + " has rules; ";
    for (int i : {0, 1, 2})
      text += states(i, order_of(i)) + "; " + backend_->displaced(port_of(i)) + "; ";
    return text;
  }
  static Order order_of(int port) { return port % 2 == 0 ? Order::kUp : Order::kDown; }
  void expect_nothing_of_ours() {
    for (int i : {0, 1, 2, 3}) {
      EXPECT_EQ(box_.port(i).maps[0], box_.theirs());
      for (int k : {1, 2, 3}) EXPECT_EQ(box_.port(i).maps[k], 0U);
      EXPECT_EQ(box_.port(i).pfc, 0b1'1000);
    }
    EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_QOS_MAP), 1U);
    EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE) + box_.count(SAI_OBJECT_TYPE_ACL_ENTRY), 0U);
    EXPECT_EQ(box_.chip().bound, 0U);
    EXPECT_NE(::access(box_.memory().c_str(), F_OK), 0) << "nothing is left to be remembered";
  }

  SaiBox box_;
};

}  // namespace lldp::dataplane
