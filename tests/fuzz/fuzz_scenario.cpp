// SPDX-License-Identifier: Apache-2.0
// Scenario files: what is read can be made into a network, or is refused in one line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/routing/cases.hpp"
#include "sim/packets/network.hpp"
#include "sim/packets/plan_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto load = [](const std::string& name) -> Result<lab::Fabric> {
    auto scenario = lab::scenario(name);
    if (!scenario) return fail(scenario.error());
    return std::move(scenario->fabric);
  };
  const auto no_text = [](const std::string&) -> Result<std::string> {
    return fail(Error{0, "", "there are no files here"});
  };
  const auto plan = lab::packets::plan_from_json(text, {.fabric = load, .text = no_text});
  if (!plan) {
    if (to_string(plan.error()).find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (plan->flows.empty() || plan->failed.size() != plan->fabric.links.size()) std::abort();
  static_cast<void>(lab::packets::Network::of(plan->fabric, plan->settings));
  return 0;
}
