// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/collect/device.hpp"

namespace lldp::fuzz {

namespace collect = lab::collect;

/// Devices by the octets; nothing is in them that no reader lets through.
class Chosen {
 public:
  explicit Chosen(std::string_view octets) : left_(octets) {}

  std::vector<collect::Device> devices() {
    std::vector<collect::Device> all;
    while (!left_.empty() && all.size() < 8) all.push_back(device());
    return all;
  }

 private:
  unsigned next() {
    if (left_.empty()) return 0;
    const auto octet = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return octet;
  }
  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& all) {
    return all[next() % N];
  }
  const char* chassis() {
    return one_of(std::array{"", "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:09",
                             "02-00-00-00-00-01", "local"});
  }
  const char* name() {
    return one_of(std::array{"", "a", "b", "a.dc", R"(a\\b)", R"(a\b)", "a (local)"});
  }
  const char* port() {
    return one_of(std::array{"1", "2", R"(1\\)", R"(1\x00)", "to-a-1", "to--1"});
  }
  std::optional<Role> role() {
    const unsigned r = next() % 3;
    if (r == 0) return std::nullopt;
    return r == 1 ? Role::kSwitch : Role::kHost;
  }
  std::optional<Level> level() { return Level::make(next()); }
  std::optional<Layers> layers() {
    const auto near = Layer::make(next() % 64);
    const auto far = Layer::make(next() % 64);
    return near && far ? std::optional(Layers{*near, *far}) : std::nullopt;
  }
  collect::Device device() {
    collect::Device d{.source = "device",
                      .dialect = static_cast<collect::AgentKind>(next() % 3),
                      .chassis = chassis(),
                      .name = name(),
                      .role = role(),
                      .level = level(),
                      .lossless = one_of(std::array{"", "5,6", "3,4", "5:dscp43,6:dscp51"})};
    if (d.name.empty() && d.chassis.empty()) d.name = d.source;
    for (unsigned ports = next() % 4; ports > 0; --ports) {
      collect::Port p{.name = port(),
                      .order = static_cast<Order>(next() % 3),
                      .layers = layers(),
                      .unprotected = one_of(std::array{"", "x"})};
      for (unsigned heard = next() % 3; heard > 0; --heard) {
        collect::HeardNeighbor h{
            .chassis = chassis(), .name = name(), .port = port(), .role = role()};
        if (next() % 2 == 0) h.port = "";
        h.level = level();
        h.layers = layers();
        if (h.chassis.empty() && h.name.empty()) h.name = "a";
        p.heard.push_back(std::move(h));
      }
      d.ports.push_back(std::move(p));
    }
    return d;
  }

  std::string_view left_;
};

}  // namespace lldp::fuzz
