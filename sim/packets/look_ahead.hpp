// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Asks for what the next events will look at, while there is something else to do: in a large
/// network it is in no cache. Says nothing of what will happen.
class LookAhead {
 public:
  LookAhead(const Network& network, const Part& part, const Wheel& wheel)
      : n_(network), part_(part), wheel_(wheel) {}

  void fetch() const {
    const auto step = [](const Slot& f) {
      return f.kind == Kind::kData ? f.route + 1 : f.route - 1;
    };
    if (const std::uint32_t s = wheel_.ahead(6); s != kNone) {
      const Slot& f = part_.pool[s];
      if (f.kind >= Kind::kData)
        __builtin_prefetch(&n_.routes[step(f)]);
      else
        __builtin_prefetch(&n_.ports[f.arc]);
    }
    if (const std::uint32_t s = wheel_.ahead(4); s != kNone) {
      const Slot& f = part_.pool[s];
      if (f.kind == Kind::kPortFree) {
        if (const unsigned waits = n_.ports[f.arc].waiting; waits != 0)
          __builtin_prefetch(&n_.queue(f.arc, static_cast<std::uint8_t>(std::countr_zero(waits))));
      } else if (f.kind >= Kind::kData) {
        const std::uint32_t on = n_.routes[step(f)];
        if (on == kNone) {
          const Flow& w = n_.flows[f.flow];
          __builtin_prefetch(f.kind == Kind::kData ? static_cast<const void*>(&w.received) : &w);
        } else {
          const Arc out = f.kind == Kind::kData ? on : reversed(on);
          __builtin_prefetch(&n_.ports[out]);
          __builtin_prefetch(&n_.queue(out, f.priority));
          __builtin_prefetch(&n_.ingress[f.arc]);
        }
      }
    }
    const std::uint32_t s = wheel_.ahead(2);
    if (s == kNone) return;
    const Slot& f = part_.pool[s];
    if (f.kind == Kind::kPortFree) {
      if (const unsigned waits = n_.ports[f.arc].waiting; waits != 0)
        __builtin_prefetch(
            &part_.pool[n_.queue(f.arc, static_cast<std::uint8_t>(std::countr_zero(waits))).first]);
    }
  }

 private:
  const Network& n_;
  const Part& part_;
  const Wheel& wheel_;
};

}  // namespace lldp::lab::packets
