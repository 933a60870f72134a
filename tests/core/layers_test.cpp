// SPDX-License-Identifier: Apache-2.0
// Ports of a layered expander: docs/develop/rules.md O6.
#include <gtest/gtest.h>

#include "agent/core/port.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

Layers layers(std::size_t near, std::size_t far) { return {*Layer::make(near), *Layer::make(far)}; }

Peer tor(std::string name, std::optional<Layers> its) {
  Peer peer = a_switch(std::move(name), 1);
  peer.layers = its;
  return peer;
}

/// Port 1 leads up from layer 3 to 4, port 2 down from 3 to 2; on port 3 is a host.
class LayeredPorts : public testing::Test {
 protected:
  LayeredPorts() : s(settings()) {
    set(1, layers(3, 4));
    set(2, layers(3, 2));
    s.up(3);
    s.hear(3, host());
  }
  static Settings settings() {
    Settings settings;
    settings.layered = true;
    return settings;
  }
  void set(std::size_t port, std::optional<Layers> its, bool up = true) {
    s.set({.ifindex = ifindex(port), .up = up, .layers = its});
  }
  [[nodiscard]] std::string alarm(std::size_t port) const {
    return s.alarm(AlarmCode::kCabling, "swp" + std::to_string(port)).value_or("none");
  }
  Single s;
};

TEST_F(LayeredPorts, GoByWhatIsSetBeforeAnybodyIsHeard) {
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.order(3), Order::kDown);  // of layer 0, and so nothing turns there
  s.hear(3, {.name = "srv", .ttl = 0});
  s.down(3);
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(1), Order::kUp);
}

TEST_F(LayeredPorts, TellTheirLayers) {
  EXPECT_EQ(read(s.sends(1).back().frame).layers, layers(3, 4));
  EXPECT_EQ(read(s.sends(2).back().frame).layers, layers(3, 2));
  EXPECT_EQ(read(s.sends(3).back().frame).layers, std::nullopt);
  set(1, layers(4, 5));
  EXPECT_EQ(read(s.sends(1).back().frame).layers, layers(4, 5));
}

// docs/develop/rules.md O6: an end that was set anew goes by what its neighbor has said since.
TEST_F(LayeredPorts, AreProvedByNoFrameThatSaysNothingOfThem) {
  const Peer station{.name = "z", .ttl = 600, .capabilities = tlv::Capabilities::kStationOnly};
  for (const bool restarts : {true, false}) {
    SCOPED_TRACE(restarts);
    s.hear(2, tor("z", layers(2, 3)));
    ASSERT_EQ(s.order(2), Order::kDown);
    set(2, layers(2, 3));
    if (restarts) s.restart(true);
    set(2, layers(3, 2));
    ASSERT_EQ(s.order(2), Order::kUp);
    for (int i = 0; i < 2; ++i) {
      s.hear(2, station);
      EXPECT_EQ(s.order(2), Order::kUp);
    }
  }
  s.hear(2, tor("z", layers(2, 3)));
  EXPECT_EQ(s.order(2), Order::kDown);
}

TEST_F(LayeredPorts, ANeighborThatAgreesIsNeitherMiswiredNorACrosslink) {
  s.hear(1, tor("z", layers(4, 3)));
  s.hear(2, tor("a", layers(2, 3)));
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}

TEST_F(LayeredPorts, OneThatTellsAnotherLayerIsAnAlarmAndStandsAbove) {
  s.hear(2, tor("tor7", layers(4, 3)));
  EXPECT_EQ(alarm(2), "layers 3:2 are set here, and tor7 port p1 tells 4:3, not 2:3");
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, tor("tor7", layers(2, 3)));
  EXPECT_EQ(alarm(2), "none");
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, tor("tor7", layers(2, 1)));  // it takes us for another
  EXPECT_EQ(alarm(2), "layers 3:2 are set here, and tor7 port p1 tells 2:1, not 2:3");
  EXPECT_EQ(s.order(2), Order::kUp);
}

TEST_F(LayeredPorts, WhoTellsNoLayersStandsAbove) {
  s.hear(2, tor("tor7", std::nullopt));
  EXPECT_EQ(alarm(2), "layers 3:2 are set here, and tor7 port p1 tells none, not 2:3");
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "tor7", .ttl = 0});
  s.hear(2, host("srv2"));
  EXPECT_EQ(alarm(2), "layers 3:2 are set here, and srv2 port p1 tells none, not 2:3");
  EXPECT_EQ(s.order(2), Order::kUp);
}

TEST_F(LayeredPorts, WhatWasToldOutlivesSilenceAndRestart) {
  s.hear(2, tor("tor7", layers(4, 3)));
  s.pass(seconds(1000));
  EXPECT_EQ(s.info(2).neighbors.size(), 0U);
  EXPECT_EQ(s.order(2), Order::kUp);
  s.restart();
  set(2, layers(3, 2));
  EXPECT_EQ(s.order(2), Order::kUp);
  set(2, layers(3, 2), false);  // somebody else may be there now: the operator's word counts
  set(2, layers(3, 2));
  EXPECT_EQ(s.order(2), Order::kDown);
}

TEST_F(LayeredPorts, OneThatIsSetAnewFallsOnlyWhenTheNeighborKnows) {
  s.hear(1, tor("tor7", layers(4, 3)));
  set(1, layers(5, 4));
  EXPECT_EQ(s.order(1), Order::kUp);  // tor7 still takes us for layer 3, and its end for down
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, tor("tor7", layers(4, 5)));
  EXPECT_EQ(s.order(1), Order::kDown);
}

TEST_F(LayeredPorts, ANeighborThatIsSetAfterwardsProvesItAtOnce) {
  s.hear(1, tor("tor7", layers(4, 3)));
  set(1, layers(5, 4));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, tor("tor7", layers(4, 5)));
  EXPECT_EQ(s.order(1), Order::kDown);
}

TEST_F(LayeredPorts, ANeighborThatWasSetBeforeProvesItByItsNextFrame) {
  s.hear(1, tor("tor7", layers(4, 5)));
  EXPECT_EQ(s.order(1), Order::kUp);
  set(1, layers(5, 4));
  EXPECT_EQ(alarm(1), "none");
  EXPECT_EQ(s.order(1), Order::kUp);
  Settings settings = LayeredPorts::settings();
  settings.system_name = "another";
  s.agent.configure(settings, s.now, s.out);  // looks at what is stored once more
  s.take();
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, tor("tor7", layers(4, 5)));  // the same octets
  EXPECT_EQ(s.order(1), Order::kDown);
}

TEST_F(LayeredPorts, OneThatWasSetAnewBetweenTwoStartsToo) {
  s.hear(1, tor("tor7", layers(4, 3)));
  s.restart();
  set(1, layers(5, 4));
  EXPECT_EQ(s.order(1), Order::kUp);
}

TEST_F(LayeredPorts, ASwitchWhereNoLayersAreSetIsAnAlarm) {
  s.up(4);
  s.hear(4, tor("a", std::nullopt));
  EXPECT_EQ(alarm(4), "no layers are set here, and a port p1 is a switch");
  EXPECT_EQ(s.order(4), Order::kUp);
}

TEST(Layers, ToldToADeviceThatHasNoneAreAnAlarm) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  s.hear(2, tor("a", layers(4, 3)));
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp2"),
            "no layers are set here, and a port p1 tells 4:3");
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(read(s.sends(2).back().frame).layers, std::nullopt);
}

TEST(Layers, OfAHostCountForNothing) {
  Settings settings;
  settings.role = Role::kHost;
  settings.layered = true;
  Single s(settings);
  s.set({.ifindex = ifindex(1), .up = true, .layers = layers(3, 4)});
  EXPECT_EQ(s.order(1), Order::kUnknown);
  EXPECT_EQ(read(s.sends(1).back().frame).layers, std::nullopt);
}

TEST(Layers, NeverHaveBothEndsDownWhateverIsSetAndLost) {
  // Two devices and one link, whose settings change while frames get lost both ways: what counts is
  // what each end does with packets, at every moment. The lower end must know that it is the lower
  // one, and that is so if never both are down.
  std::uint32_t seed = 1;
  const auto dice = [&seed](std::uint32_t sides) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % sides;
  };
  for (int fabric = 0; fabric < 200; ++fabric) {
    Settings settings;
    settings.layered = true;
    std::vector<Single> ends;
    for (const char* id : {"a", "b"}) {
      settings.chassis_id = ChassisId{{ChassisId::kLocal, id}};
      ends.emplace_back(settings);
    }
    const auto set = [&](std::size_t e, Layers its) {
      ends[e].set({.ifindex = ifindex(1), .up = true, .layers = its});
    };
    const std::size_t below = dice(5);
    set(0, layers(below, below + 1));
    set(1, layers(below + 1, below));
    bool known = false;
    for (int step = 0; step < 60; ++step) {
      const std::size_t e = dice(2);
      const std::size_t near = 1 + dice(4);
      switch (dice(4)) {
        case 0:
          if (known) set(e, layers(near, dice(2) != 0 ? near + 1 : near - 1));
          break;
        case 1:
          ends[e].restart();
          set(e, ends[e].agent.layers(ifindex(1)).value_or(layers(below + e, below + 1 - e)));
          break;
        default: {
          ends[e].agent.announce(ends[e].now);
          ends[e].pass(seconds(1));
          auto sent = ends[e].sends(1);
          if (!sent.empty() && dice(3) != 0) {
            ends[1 - e].hear(1, sent.back().frame);
            known |= !ends[0].info(1).neighbors.empty() && !ends[1].info(1).neighbors.empty();
          }
        }
      }
      ASSERT_FALSE(ends[0].order(1) == Order::kDown && ends[1].order(1) == Order::kDown)
          << "fabric " << fabric << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace lldp::test
