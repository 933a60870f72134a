// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "os/dcbnl.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The kernel's messages are aligned, and so is what libFuzzer and the replay hand over.
  static_cast<void>(lldp::dcbnl::parse({data, size}));
  static_cast<void>(lldp::dcbnl::parse_outcome({data, size}));
  return 0;
}
