// SPDX-License-Identifier: Apache-2.0
// What a launcher is asked, by a daemon that has been taken over: whatever is taken comes back as
// the same octets.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "agent/companions/request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string message(reinterpret_cast<const char*>(data), size);
  const auto request = lldp::io::decode(message);
  if (request && lldp::io::encode(*request) != message) std::abort();
  return 0;
}
