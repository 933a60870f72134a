// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/remove_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/backend_choice.hpp"
#include "agent/daemon/backend_options.hpp"
#include "agent/daemon/sai_spawner.hpp"
#include "agent/process/presence.hpp"
#include "base/text.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {
namespace {

constexpr std::size_t kPortsNamed = 4;  ///< ports

/// What a back end has left: its ports' names.
Result<std::vector<std::string>> left_by(dataplane::Backend& backend) {
  const auto ports = backend.ports();
  if (!ports) return fail(ports.error());
  std::vector<std::string> names;
  for (const dataplane::PortRef& port : *ports) names.push_back(escape(port.name));
  if (names.empty())
    if (auto what = backend.overlooked()) return fail(*what);
  return names;
}

/// No switch is there. One that does not answer is another thing: it may well have rules.
bool is_nobody(const std::optional<Error>& down) {
  return down && (down->code == ENOENT || down->code == ECONNREFUSED);
}

}  // namespace

Result<void> find_others(const std::string& configured, const BackendOpener& open,
                         const std::string& sai_memory) {
  const std::vector<std::string> ours = split_list(configured);
  Result<void> unread;
  for (const std::string_view name : dataplane::kBackends) {
    if (name == "print" || std::ranges::find(ours, name) != ours.end()) continue;
    std::vector<std::string> names;
    if (name == "sai") {  // by what it remembers: its library may not be here any more
      if (::access(sai_memory.c_str(), F_OK) == 0) names.push_back(sai_memory);
    } else if (const auto other = open(name); other && !is_nobody((*other)->down())) {
      auto left = left_by(**other);
      if (left)
        names = std::move(*left);
      else if (unread)
        unread = fail(Error{left.error().code, left.error().where,
                            fmt::format("whether another back end, {}, has left rules is not "
                                        "known: {}",
                                        name, left.error().what)});
    }
    if (names.empty()) continue;
    const std::size_t more = names.size() > kPortsNamed ? names.size() - kPortsNamed : 0;
    names.resize(names.size() - more);
    return fail(Error{0, fmt::format("{}{}", fmt::join(names, ", "), more != 0 ? ", ..." : ""),
                      fmt::format("rules of another back end, {0}, are there and stay: "
                                  "lldp-leveld --remove-rules --backend {0}",
                                  name)});
  }
  return unread;
}

Result<void> remove_rules(const config::Config& config) {
  const auto choice = choose_backend(config);
  if (!choice) return fail(choice.error());
  dataplane::Options options = options_of(config);
  options.be_patient();
  const auto others = [&choice, asked = options] {
    return find_others(
        choice->name, [&](std::string_view name) { return dataplane::make_backend(name, asked); },
        asked.sai.memory);
  };
  options.dcb.removing = true;
  options.sai.removing = true;
  if (choice->name == "none") return others();
  if (choice->name == "sai") {
    auto libsai = fork_sai_spawner(config.sai_library, config.sai_profile);
    if (!libsai) return fail(libsai.error());
    options.sai.spawner = std::move(*libsai);
  }
  auto backend =
      dataplane::make_backend(config.dry_run ? std::string_view("print") : choice->name, options);
  if (!backend) return fail(backend.error());
  Result<void> outcome = dataplane::remove_all(**backend);
  if (const auto who = config.dry_run ? std::nullopt : Presence::other())
    return fail(Error{.what = *who +
                              " is an lldp-leveld of this network namespace, and puts back what "
                              "rules it had: stop it first"});
  if (!outcome) return outcome;
  if (auto what = (*backend)->overlooked()) return fail(*what);
  return config.dry_run ? outcome : others();
}

}  // namespace lldp::io
