// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/remove_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "agent/daemon/backend_options.hpp"
#include "agent/daemon/sai_spawner.hpp"
#include "agent/process/presence.hpp"
#include "base/text.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {
namespace {

constexpr std::chrono::seconds kOpening{10};  ///< for libsai: nothing else waits
constexpr std::size_t kNamed = 4;             ///< ports

/// What other back ends than this one have left: what to do about it. Who cannot be asked, as Redis
/// where there is none, has left nothing that could be found.
Result<void> find_others(const std::string& backend, const dataplane::Options& options) {
  const std::vector<std::string> ours = split_list(backend == "auto" ? "bpf,dcb" : backend);
  for (const std::string_view name : dataplane::kBackends) {
    if (name == "print" || std::ranges::find(ours, name) != ours.end()) continue;
    std::vector<std::string> names;
    if (name == "sai") {  // by what it remembers: its library may not be here any more
      if (::access(options.sai.memory.c_str(), F_OK) == 0) names.push_back(options.sai.memory);
    } else if (const auto other = dataplane::make_backend(name, options)) {
      for (const dataplane::PortRef& port :
           (*other)->ports().value_or(std::vector<dataplane::PortRef>()))
        names.push_back(escape(port.name));
    }
    if (names.empty()) continue;
    const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
    names.resize(names.size() - more);
    return fail(Error{0, fmt::format("{}{}", fmt::join(names, ", "), more != 0 ? ", ..." : ""),
                      fmt::format("rules of another back end, {0}, are there and stay: "
                                  "lldp-leveld --remove-rules --backend {0}",
                                  name)});
  }
  return {};
}

}  // namespace

Result<void> remove_rules(const config::Config& config) {
  dataplane::Options options = options_of(config);
  options.dcb.removing = true;
  options.sai.removing = true;
  options.sai.opening = kOpening;
  if (config.backend == "none") return find_others(config.backend, options);
  if (config.backend == "sai") {
    auto libsai = fork_sai_spawner(config.sai_library, config.sai_profile);
    if (!libsai) return fail(libsai.error());
    options.sai.spawner = std::move(*libsai);
  }
  auto backend =
      dataplane::make_backend(config.dry_run ? std::string_view("print") : config.backend, options);
  if (!backend) return fail(backend.error());
  Result<void> outcome = dataplane::remove_all(**backend);
  if (!outcome) return outcome;
  if (auto what = (*backend)->overlooked())
    return fail(Error{what->code, what->where, what->what + ": run this with CAP_SYS_ADMIN"});
  if (const auto who = config.dry_run ? std::nullopt : Presence::other())
    return fail(Error{.what = *who +
                              " is an lldp-leveld of this network namespace, and puts back what "
                              "rules it had: stop it first"});
  return config.dry_run ? outcome : find_others(config.backend, options);
}

}  // namespace lldp::io
