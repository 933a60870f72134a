// SPDX-License-Identifier: Apache-2.0
// What neighbors sent, as objects of LLDP-MIB: whatever it is, there is one order of identifiers,
// each is found, and a walk ends.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/agentx/mib.hpp"
#include "base/text.hpp"

namespace lldp::agentx {
namespace {

using nlohmann::json;

void require(bool holds) {
  if (!holds) std::abort();
}

void run(ByteSpan octets) {
  // Our own LLDPDU, and two neighbors'.
  const std::size_t third = octets.size() / 3;
  const auto hex = [&](std::size_t i) { return to_hex(octets.subspan(i * third, third)); };
  const json heard = {{{"scope", "nearest-bridge"}, {"lldpdu", hex(1)}},
                      {{"scope", "nearest-bridge"}, {"lldpdu", hex(2)}}};
  const json detail = {{"device", {{"chassis_id", "02:00:00:00:00:01"}}},
                       {"ports",
                        {{{"name", "swp1"},
                          {"ifindex", 3},
                          {"admin", "rxtx"},
                          {"announced", hex(0)},
                          {"neighbors", heard}}}}};
  Indices indices;
  const auto mib = mib_of(detail.dump(), R"({"ports":[]})", indices);
  require(mib.has_value());
  Oid at;
  std::size_t walked = 0;
  for (auto object = mib->next(at); object; object = mib->next(at)) {
    require(at < object->oid);
    at = object->oid;
    const auto same = mib->get(at);
    require(same && same->value == object->value && same->type == object->type);
    if (object->type == Type::kOid) require(object->value.size() % 4 == 0);
    if (object->type != Type::kOid && object->type != Type::kOctets)
      require(object->value.size() == 4);
    ++walked;
  }
  require(walked == mib->size());
}

}  // namespace
}  // namespace lldp::agentx

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lldp::agentx::run({data, size});
  return 0;
}
