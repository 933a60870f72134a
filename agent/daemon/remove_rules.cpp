// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/remove_rules.hpp"

#include <cerrno>
#include <chrono>

#include "agent/daemon/backend_options.hpp"
#include "agent/daemon/sai_spawner.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {
namespace {

constexpr std::chrono::seconds kOpening{10};  ///< for libsai: nothing else waits

}  // namespace

Result<void> remove_rules(const config::Config& config) {
  if (config.backend == "none") return {};
  dataplane::Options options = options_of(config);
  options.dcb.removing = true;
  options.sai.removing = true;
  options.sai.opening = kOpening;
  if (config.backend == "sai") {
    auto libsai = fork_sai_spawner(config.sai_library, config.sai_profile);
    if (!libsai) return fail(libsai.error());
    options.sai.spawner = std::move(*libsai);
  }
  auto backend =
      dataplane::make_backend(config.dry_run ? std::string_view("print") : config.backend, options);
  if (!backend) return fail(backend.error());
  const auto ports = (*backend)->ports();
  if (!ports) return fail(ports.error());
  Result<void> outcome;
  for (const dataplane::PortRef& port : *ports) {
    auto plan = (*backend)->plan_removal(port);
    const auto removed =
        plan ? finish(**backend, {.ports = {std::move(*plan)}}) : Result<void>(fail(plan.error()));
    if (!removed && removed.error().code != ENODEV && outcome) outcome = removed;
  }
  return outcome;
}

}  // namespace lldp::io
