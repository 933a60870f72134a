// SPDX-License-Identifier: Apache-2.0
// A plan of cables, as `collect --expect` takes it, against devices: those of the plan itself,
// wired as the octets behind the first 0x1f say, and those that the same octets choose.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "lab/collect/assemble.hpp"
#include "lab/collect/cables.hpp"
#include "tests/fuzz/chosen_devices.hpp"

namespace {

using namespace lldp::lab;

/// Each cable of the plan is there, or missing, or ends where the next one should, or is heard from
/// one end alone.
std::vector<collect::Device> wired(const lldp::cabling::Drawing& plan, std::string_view octets) {
  std::vector<collect::Device> devices;
  for (const auto& node : plan.nodes)
    devices.push_back({.source = "plan", .name = lldp::escape(node.name)});
  for (std::size_t l = 0; l < plan.links.size(); ++l) {
    const auto octet = octets.empty() ? 0U : static_cast<unsigned char>(octets[l % octets.size()]);
    for (std::size_t e = 0; e < 2; ++e) {
      const auto& own = plan.links[l].ends[e];
      const bool moved = octet % 4 == 2 && e == 0;
      const auto& link = plan.links[moved ? (l + 1) % plan.links.size() : l];
      const auto& far = link.ends[1 - e];
      collect::Port port{.name = lldp::escape(own.port), .speed_mbps = octet, .mtu = octet / 4U};
      if (octet % 4 != 1 && (octet % 4 != 3 || e == 0))
        port.heard.push_back(
            {.name = lldp::escape(plan.nodes[far.node].name), .port = lldp::escape(far.port)});
      devices[own.node].ports.push_back(std::move(port));
    }
  }
  return devices;
}

void check(const lldp::cabling::Drawing& plan, const std::vector<collect::Device>& devices) {
  const auto cables = collect::check_cables(plan, devices);
  if (!cables) return;
  if (cables->right > cables->planned) std::abort();
  for (const collect::CableFinding& f : cables->findings)
    if (f.text.empty() || to_string(f.kind).empty()) std::abort();
  if (collect::to_table(*cables).empty() || collect::to_json(*cables).empty()) std::abort();
  const auto collection = collect::assemble(devices, {.name = "fuzz"});
  if (!collection) return;
  Marks marks;
  add_marks(*cables, collection->fabric, marks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\x1f');
  const auto plan = lldp::cabling::read(text.substr(0, end));
  const std::string_view octets = end == text.npos ? std::string_view() : text.substr(end + 1);
  if (!plan || plan->nodes.size() > 64 || plan->links.size() > 256) return 0;
  check(*plan, wired(*plan, octets));
  check(*plan, lldp::fuzz::Chosen(octets).devices());
  return 0;
}
