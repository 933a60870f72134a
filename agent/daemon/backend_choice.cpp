// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/backend_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "agent/links/link_monitor.hpp"
#include "base/count.hpp"
#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::io {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kOldDefault = "bpf";
constexpr std::size_t kMostKept = 128;  ///< octets

}  // namespace

BackendChoice choose_backend(const config::Config& config, const Machine& machine) {
  if (config.backend != kAuto) return {config.backend, ""};
  if (!config.sonic_redis.empty())
    return {"sonic", fmt::format("sonic.redis is {}", escape(config.sonic_redis))};
  if (::access(config.sonic_config.c_str(), F_OK) == 0)
    return {"sonic", fmt::format("SONiC's databases are here ({})", escape(config.sonic_config))};
  if (machine.panel_ports() != 0)
    return {"flower,dcb", fmt::format("this machine has a front panel of {}",
                                      count_text(machine.panel_ports(), "port"))};
  return {"bpf,dcb", "this machine has neither SONiC nor the front panel of a switch chip"};
}

Result<BackendChoice> choose_backend(const config::Config& config) {
  if (config.backend != kAuto) return choose_backend(config, Machine());
  const auto links = LinkMonitor::open();
  if (!links) return fail(links.error());
  return choose_backend(config, Machine(links->table().interfaces()));
}

std::string keep_choice(const config::Config& config, const BackendChoice& choice) {
  const std::string path = config.state_file + ".backend";
  std::string before;
  if (auto kept = read_lasting_file(path, kMostKept))
    before = kept->substr(0, kept->find('\n'));
  else if (::access(config.state_file.c_str(), F_OK) == 0)
    before = kOldDefault;
  if (before == choice.name) return "";
  // Where the disk takes nothing, the state file says so (alarm `state`), and the line comes again.
  static_cast<void>(replace_file(path, choice.name + "\n"));
  if (before.empty() || before == "none" || config.backend != kAuto) return "";
  return fmt::format(
      "backend auto is {0} here, for {1}; it was {2}: `lldp-leveld --remove-rules --backend {2}` "
      "removes what that left, `backend = {2}` goes back",
      choice.name, choice.why, escape(before));
}

}  // namespace lldp::io
