// SPDX-License-Identifier: Apache-2.0
// The state file: what is read can be written, and is read again as the same.
#include <cstdlib>

#include "agent/daemon/state_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto state = lldp::io::parse_state(lldp::as_text({data, size}), "");
  if (state && lldp::io::parse_state(lldp::io::format_state(*state, ""), "") != state) std::abort();
  return 0;
}
