// SPDX-License-Identifier: Apache-2.0
// The configuration file: a configuration or errors, each of them one line.
#include <cstdlib>

#include "agent/config/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config = lldp::config::parse(lldp::as_text({data, size}), "file");
  if (config) return 0;
  if (config.error().empty()) std::abort();
  for (const lldp::Error& error : config.error())
    if (to_string(error).find('\n') != std::string::npos) std::abort();
  return 0;
}
