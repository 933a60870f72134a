// SPDX-License-Identifier: Apache-2.0
// Frames that a neighbor sends to a lossless switch, and the file that it is started with.
#include <cstdlib>
#include <string_view>

#include "sim/lossless/frames.hpp"
#include "sim/lossless/switch_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  using namespace lldp::lab::lossless;
  const ByteSpan frame(data, size);
  if (const auto pause = parse_pfc(frame))
    if (parse_pfc(format(*pause, {})) != pause) std::abort();
  if (const auto packet = parse_ipv4(frame); packet && packet->ttl > 0) {
    Bytes copy(frame.begin(), frame.end());
    forward(copy, {}, {}, Dscp::of<51>());
    const auto after = parse_ipv4(copy);
    if (!after || after->ttl + 1 != packet->ttl || after->to != packet->to) std::abort();
  }
  static_cast<void>(parse_load(frame));
  if (const auto file = parse_switch_file(as_text(frame))) {
    const auto again = parse_switch_file(format(*file));
    if (!again || *again != *file) std::abort();
  }
  return 0;
}
