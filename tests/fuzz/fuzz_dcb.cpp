// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "agent/links/dcb_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The kernel's messages are aligned, and so is what libFuzzer and the replay hand over.
  static_cast<void>(lldp::io::parse_dcb_message({data, size}));
  return 0;
}
