// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/core/settings.hpp"
#include "base/names.hpp"
#include "base/result.hpp"
#include "qos/policy.hpp"

/// The configuration of lldp-leveld: what can be set, in one table that the command line, the file,
/// --help, `lldp-level check-config` and the manual pages all read.
namespace lldp::config {

enum class Role : std::uint8_t { kAuto, kHost, kSwitch };
enum class Transport : std::uint8_t { kAuto, kPacket, kLldpd };
/// What the Port ID TLV holds.
enum class PortIdKind : std::uint8_t { kName, kMac, kAlias, kLocal };
enum class Offload : std::uint8_t { kAuto, kRequire, kOff };

inline constexpr std::string_view kDefaultFile = "/etc/lldp-level/lldp-level.conf";
inline constexpr std::string_view kDefaultSocket = "/run/lldp-level/control";
inline constexpr std::string_view kDefaultStateFile = "/var/lib/lldp-level/state";

/// What a dry run's control socket and state file have behind their names, unless the command line
/// gives them.
inline constexpr std::string_view kDryRunSuffix = ".dry-run";

/// A value of `qos.lossless`: the lossless classes are learned.
inline constexpr std::string_view kLearned = "auto";

/// What was written for each key that was set, and where: `FILE:LINE`, `CONFIG_DB TABLE|KEY`,
/// `command line` or `set`. No part of the value that a configuration is.
struct Origins {
  struct Origin {
    std::string value{};
    std::string source{};
  };
  std::map<std::string, Origin, std::less<>> of{};
  friend bool operator==(const Origins&, const Origins&) { return true; }
};

/// Everything that can be set. `core` is what the agent goes by, except what only its owner can
/// know: `core.role` where `role` is auto, and `core.system_name` where it is empty (the host
/// name).
struct Config {
  core::Settings core{};
  Role role = Role::kAuto;
  NameSelection ports{};  ///< interfaces to speak on; none wanted: those that io::Machine finds
  std::map<std::string, core::AdminStatus, std::less<>> admin{};  ///< of ports, where not rxtx
  std::map<std::string, Layers, std::less<>> layers{};  ///< of ports: what their links join
  std::map<std::string, std::string, std::less<>> description{};  ///< of ports, where set
  std::set<std::string, std::less<>> unheard_ok{};         ///< ports on which nothing need be heard
  std::set<std::string, std::less<>> crosslink_ok{};       ///< ports that may be crosslinks
  std::map<std::string, std::string, std::less<>> rail{};  ///< of NICs: their group, or none
  PortIdKind port_id = PortIdKind::kName;
  /// Globs of interfaces and addresses; empty: the first of each family; nullopt: none.
  std::optional<std::vector<std::string>> management{std::in_place};
  std::string backend{"auto"};       ///< as dataplane::make_backend calls it; or auto, none
  std::string bpffs{"/sys/fs/bpf"};  ///< where a BPF file system is mounted
  std::string
      sonic_redis{};  ///< path of the socket, or ADDRESS:PORT; empty: as `sonic_config` says
  Offload offload = Offload::kAuto;  ///< `flower.offload`
  std::string sonic_config{"/run/redis/sonic-db/database_config.json"};
  bool config_db = false;         ///< `sonic.config-db`: rows of CONFIG_DB are over the files
  bool rewrite_verified = false;  ///< `qos.rewrite-verified`: the switch chip rewrites DSCPs
  std::string sai_library{};      ///< path of the vendor's libsai.so
  std::string soft_socket{"/run/lldp-level/switch"};  ///< of a software switch
  std::string sai_profile{};  ///< path of KEY=VALUE lines for it; empty: none
  bool htb = false;           ///< `qdisc = htb`: a software queue for each lossless priority
  Transport transport = Transport::kAuto;
  std::string lldpd_socket{"/run/lldpd.socket"};
  std::chrono::seconds lldpd_grace{5};
  std::string expect{};  ///< file of the fabric's cables; empty: they are not checked
  std::string socket{kDefaultSocket};
  std::string control_group{};  ///< empty: the daemon's own
  std::string state_file{kDefaultStateFile};
  bool seccomp = true;
  std::string metrics_listen{};    ///< as parse_listen writes it; empty: nowhere
  std::string snmp_agentx{};       ///< socket of the SNMP agent, as snmpd has it; empty: none
  std::string on_change{};         ///< for /bin/sh; empty: none
  bool dry_run = false;            ///< print the plan, change nothing in the kernel, send nothing
  bool flush = false;              ///< at stop, remove the rules that were made
  std::string lossless{kLearned};  ///< as written
  /// What `lossless` means; nullopt: `auto`, the classes are learned.
  std::optional<qos::Chains> chains{};
  std::string lossy{qos::Policy::kDefaultLossy};
  qos::Policy policy = *qos::Policy::make({}, {});  ///< of `chains`; of none where they are learned
  Origins origins{};
  friend bool operator==(const Config&, const Config&) = default;
};

/// Rows of SONiC's CONFIG_DB, `TABLE|KEY` to field to value. Options of the device are fields of
/// kDeviceRow, those of a port fields of the row kPortRows and its name.
using Rows = std::map<std::string, std::map<std::string, std::string>>;
inline constexpr std::string_view kDeviceRow = "LLDP_LEVEL|GLOBAL";
inline constexpr std::string_view kPortRows = "LLDP_LEVEL_PORT|";

/// One option as a person sees it. The name is `--name` on the command line and `name` in the file.
struct Option {
  std::string_view name{};
  std::string_view argument{};  ///< placeholder in help; empty for a flag (in the file: yes or no)
  std::string_view preset{};    ///< the default as text; empty: none
  std::string values{};         ///< what is accepted: `1-3600`, `auto|host|switch`, or in words
  std::string_view help{};
  std::string_view field{};  ///< in rows of CONFIG_DB; empty: it is in files alone
  bool of_ports = false;
};

/// All of them, in the order of the manual.
[[nodiscard]] std::vector<Option> options();

/// A key with its value in force, and where that comes from: `default`, or as Origins has it.
struct Setting {
  std::string key{};
  std::string value{};  ///< empty: it has none
  std::string source{};
  friend bool operator==(const Setting&, const Setting&) = default;
};
/// Every key in the order of the manual; of those for a port the ones that are set.
[[nodiscard]] std::vector<Setting> settings(const Config& config);

/// What the command line says, before the file is read. Kept for a reload.
struct Invocation {
  bool help = false;
  bool version = false;
  bool remove_rules = false;
  std::optional<std::string> file{};                       ///< `--config FILE`
  std::optional<std::string> drop_ins{};                   ///< a directory, instead of FILE.d
  Rows rows{};                                             ///< over the files
  std::vector<std::pair<std::string, std::string>> set{};  ///< option, value
};

/// Several errors at once: a file is reported whole. `where` is `FILE:LINE: key` or `--option`.
using Errors = std::vector<Error>;

/// `arguments` without the program's name. Checks names only; values are checked by load().
[[nodiscard]] Result<Invocation> parse_command_line(std::span<const char* const> arguments);

/// Reads the file, then those called *.conf in the directory FILE.d, in the order of their names,
/// each over what was before it; and puts the rows over them, and the command line over these.
/// An error of a row begins with `CONFIG_DB`. Without `--config` the
/// default file may be missing; a named one may not. The directory may be missing.
[[nodiscard]] Result<Config, Errors> load(const Invocation& invocation);
/// The same once more: a pipe is an error, for it has given what it had.
[[nodiscard]] Result<Config, Errors> load_again(const Invocation& invocation);
/// The same, and what there is to have of one with errors in it.
struct LoadedConfig {
  Config config{};
  Errors errors{};
};
[[nodiscard]] LoadedConfig read(const Invocation& invocation);

/// `config` with one option more set, by the name and the text that the file would have, and
/// checked as the file is. An option that is read at start only is refused, with the reason.
[[nodiscard]] Result<Config> with_option(Config config, std::string_view key,
                                         std::string_view value);

/// Puts back into `fresh` what is read at start only and is another in it. Returns what `fresh` had
/// in its place, but for what follows from another `dry-run`.
[[nodiscard]] std::vector<Setting> keep_what_is_of_start(Config& fresh, const Config& running);

/// A key as settings() has it, however the name of a port in it is spelled.
[[nodiscard]] std::string spelled(std::string_view key);

/// What the configuration calls an interface and is none, among those that there are: of `ports`
/// what is wanted or left out by its name, `host-ports` and the keys of ports.
[[nodiscard]] Errors unmatched(const Config& config, std::span<const std::string> interfaces);

/// The ports that the configuration calls by their whole names, and the first key that does: of
/// `ports`, `host-ports` and `port.NAME.layers`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> named_ports(const Config& config);

/// What is to be known of a value of `qos.lossless` in the old form, of more than one class and
/// without `>`: it is one chain. Empty: it has another form.
[[nodiscard]] std::string old_form(const Config& config);

/// A whole file given as text; `name` is what errors call it.
[[nodiscard]] Result<Config, Errors> parse(std::string_view text, std::string_view name);

/// The text of `lldp-leveld --help`.
[[nodiscard]] std::string help();

}  // namespace lldp::config
