// SPDX-License-Identifier: Apache-2.0
// What devices print, several one after the other (0x1e between them): whatever they say, the
// fabric that is made of it can be written and read again, and the files for schedulers can be
// made. After a first 0x1f the octets are not read but choose devices of few names and ports, so
// that they meet: no text that is found by chance has two ends.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/collect/assemble.hpp"
#include "lab/collect/exports.hpp"
#include "lab/collect/rails.hpp"
#include "lab/collect/read.hpp"
#include "lab/collect/report.hpp"
#include "lab/topology/json.hpp"
#include "tests/fuzz/chosen_devices.hpp"

namespace {

using namespace lldp::lab;

std::vector<collect::Device> read_all(std::string_view text) {
  std::vector<collect::Device> devices;
  for (bool more = true; more;) {
    const std::size_t end = text.find('\x1e');
    more = end != std::string_view::npos;
    auto device =
        collect::read_device(text.substr(0, end), "device" + std::to_string(devices.size()));
    if (device) devices.push_back(std::move(*device));
    if (more) text.remove_prefix(end + 1);
  }
  return devices;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto devices =
      text.starts_with('\x1f') ? lldp::fuzz::Chosen(text.substr(1)).devices() : read_all(text);
  const auto collection = collect::assemble(devices, {.name = "fuzz"});
  if (!collection) std::abort();
  if (fabric_from_json(to_json(collection->fabric)) != collection->fabric) std::abort();
  (void)collect::to_text(*collection);
  (void)collect::to_json(*collection);
  (void)collect::to_slurm(collection->fabric);
  (void)collect::to_labels(collection->fabric);
  const collect::RailCheck rails = collect::check_rails(collection->fabric, devices, std::nullopt);
  for (const collect::NicFinding& f : rails.findings)
    if (f.text.empty() || f.host.empty()) std::abort();
  (void)collect::to_table(rails);
  (void)collect::to_json(rails);
  return 0;
}
