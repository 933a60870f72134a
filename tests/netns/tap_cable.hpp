// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <thread>

#include "os/fd.hpp"
#include "tests/netns/support.hpp"

namespace lldp::netns {

/// A port whose speed can be set: that of a veth is 10 Gb/s for ever.
struct TapPort {
  const Namespace* space = nullptr;
  std::string name{};
  std::uint32_t mbps = 0;
  unsigned mtu = 1500;
};

/// A cable of two tap devices, both up; a thread carries the frames between them. Without the
/// object the devices are gone.
class TapCable {
 public:
  TapCable(const TapPort& a, const TapPort& b);
  TapCable(const TapCable&) = delete;
  TapCable& operator=(const TapCable&) = delete;
  ~TapCable();

 private:
  void carry() const;
  std::array<UniqueFd, 2> ends_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace lldp::netns
