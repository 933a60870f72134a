// SPDX-License-Identifier: Apache-2.0
// What devices print, several one after the other (0x1e between them): whatever they say, the
// fabric that is made of it can be written and read again, and the files for schedulers can be
// made. After a first 0x1f the octets are not read but choose devices of few names and ports, so
// that they meet: no text that is found by chance has two ends.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/collect/assemble.hpp"
#include "lab/collect/exports.hpp"
#include "lab/collect/read.hpp"
#include "lab/collect/report.hpp"
#include "lab/topology/json.hpp"

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

/// Devices by the octets; nothing is in them that no reader lets through.
class Chosen {
 public:
  explicit Chosen(std::string_view octets) : left_(octets) {}

  std::vector<collect::Device> devices() {
    std::vector<collect::Device> all;
    while (!left_.empty() && all.size() < 8) all.push_back(device());
    return all;
  }

 private:
  unsigned next() {
    if (left_.empty()) return 0;
    const auto octet = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return octet;
  }
  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& all) {
    return all[next() % N];
  }
  const char* chassis() {
    return one_of(std::array{"", "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:09",
                             "02-00-00-00-00-01", "local"});
  }
  const char* name() {
    return one_of(std::array{"", "a", "b", "a.dc", R"(a\\b)", R"(a\b)", "a (local)"});
  }
  const char* port() {
    return one_of(std::array{"1", "2", R"(1\\)", R"(1\x00)", "to-a-1", "to--1"});
  }
  std::optional<lldp::Role> role() {
    const unsigned r = next() % 3;
    if (r == 0) return std::nullopt;
    return r == 1 ? lldp::Role::kSwitch : lldp::Role::kHost;
  }
  std::optional<lldp::Level> level() { return lldp::Level::make(next()); }
  std::optional<lldp::Layers> layers() {
    const auto near = lldp::Layer::make(next() % 64);
    const auto far = lldp::Layer::make(next() % 64);
    return near && far ? std::optional(lldp::Layers{*near, *far}) : std::nullopt;
  }
  collect::Device device() {
    collect::Device d{.source = "device",
                      .dialect = static_cast<collect::AgentKind>(next() % 3),
                      .chassis = chassis(),
                      .name = name(),
                      .role = role(),
                      .level = level(),
                      .lossless = one_of(std::array{"", "5,6", "3,4", "5:dscp43,6:dscp51"})};
    if (d.name.empty() && d.chassis.empty()) d.name = d.source;
    for (unsigned ports = next() % 4; ports > 0; --ports) {
      collect::Port p{.name = port(),
                      .order = static_cast<lldp::Order>(next() % 3),
                      .layers = layers(),
                      .unprotected = one_of(std::array{"", "x"})};
      for (unsigned heard = next() % 3; heard > 0; --heard) {
        collect::HeardNeighbor h{
            .chassis = chassis(), .name = name(), .port = port(), .role = role()};
        if (next() % 2 == 0) h.port = "";
        h.level = level();
        h.layers = layers();
        if (h.chassis.empty() && h.name.empty()) h.name = "a";
        p.heard.push_back(std::move(h));
      }
      d.ports.push_back(std::move(p));
    }
    return d;
  }

  std::string_view left_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto devices = text.starts_with('\x1f') ? Chosen(text.substr(1)).devices() : read_all(text);
  const auto collection = collect::assemble(devices, {.name = "fuzz"});
  if (!collection) std::abort();
  if (fabric_from_json(to_json(collection->fabric)) != collection->fabric) std::abort();
  (void)collect::to_text(*collection);
  (void)collect::to_json(*collection);
  (void)collect::to_slurm(collection->fabric);
  (void)collect::to_labels(collection->fabric);
  return 0;
}
