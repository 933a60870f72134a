// SPDX-License-Identifier: Apache-2.0
// Fabric files, JSON and DOT: what is read must be read again from what is written of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/topology/dot.hpp"
#include "lab/topology/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::lab;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto fabric = fabric_from_json(text))
    if (fabric_from_json(to_json(*fabric)) != fabric) std::abort();
  if (const auto fabric = fabric_from_dot(text))
    if (fabric_from_dot(to_dot(*fabric)) != fabric) std::abort();
  return 0;
}
