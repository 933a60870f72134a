// SPDX-License-Identifier: Apache-2.0
#include "agent/config/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "agent/config/listen.hpp"
#include "base/hex.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::config {
namespace {

using Complaint = std::optional<std::string>;
constexpr auto kFine = std::nullopt;

std::optional<core::Oui> parse_oui(std::string_view text) {
  const auto mac =
      parse_mac(std::string(text) + (text.find(':') == text.npos ? "-00-00-00" : ":00:00:00"));
  if (!mac) return std::nullopt;
  return core::Oui{(*mac)[0], (*mac)[1], (*mac)[2]};
}

/// Why a pattern is written in another syntax than ours.
Complaint other_syntax(std::string_view glob) {
  const std::string it = "'" + escape(glob) + "' ";
  if (glob.find_first_of("\"'") != glob.npos) return it + "has quotes in it: leave them out";
  if (glob.find_first_of("[]{}()") != glob.npos)
    return it + "has brackets in it: there is * and ? alone";
  return kFine;
}

Complaint leaves_out(std::string_view glob) {
  if (glob.front() != '-' && glob.front() != '!') return kFine;
  return "'" + escape(glob) + "' is an exclusion, which only `ports` takes";
}

/// Why no interface can be called what the pattern says: by the kernel's dev_valid_name(), or
/// because it is written in another syntax than ours.
Complaint never_matches(std::string_view glob) {
  constexpr std::ptrdiff_t kLongest = 15;  // IFNAMSIZ - 1
  const auto has = [&](std::string_view any_of) { return glob.find_first_of(any_of) != glob.npos; };
  const std::string it = "'" + escape(glob) + "' ";
  if (glob.empty()) return "no name behind - or !: name what to leave out";
  if (has(" \t")) return it + "has a space in it: put commas between names";
  if (auto wrong = other_syntax(glob)) return wrong;
  const auto octets = unescape(glob);
  if (!octets) return it + "has a backslash: write \\\\ for one, and \\xNN for the octet NN";
  if (octets->find_first_of("/: \t\n\v\f\r") != octets->npos || glob == "." || glob == "..")
    return it + "is no name of an interface";
  if (std::ranges::count_if(*octets, [](char c) { return c != '*'; }) > kLongest)
    return it + "is longer than an interface's name, of 15 characters at most";
  return kFine;
}

Complaint set_host_ports(Config& c, std::string_view text) {
  c.core.host_ports = split_list(text);
  for (const std::string& glob : c.core.host_ports) {
    if (auto wrong = leaves_out(glob)) return wrong;
    if (auto wrong = never_matches(glob)) return wrong;
  }
  return kFine;
}

Complaint badly_long(std::string_view text, std::size_t most) {
  if (text.empty()) return "empty: write something, or leave it out";
  if (text.size() > most) return "longer than " + std::to_string(most) + " characters: shorten it";
  return kFine;
}

Complaint set_path(std::string& path, std::string_view text) {
  if (text.empty() || text.front() != '/') return "not an absolute path: begin it with /";
  path = text;
  return kFine;
}

Complaint set_backend(Config& c, std::string_view text) {
  constexpr std::string_view kAlone[] = {"auto", "print", "none"};
  constexpr std::string_view kTogether[] = {"bpf", "dcb", "flower", "sai", "soft", "sonic"};
  const std::vector<std::string> names = split_list(text);
  std::string all;
  for (const std::string& name : names) {
    const bool alone = std::ranges::find(kAlone, name) != std::end(kAlone);
    if (!alone && std::ranges::find(kTogether, name) == std::end(kTogether))
      return "'" + escape(name) +
             "' is none of auto, bpf, dcb, flower, print, sai, soft, sonic, none";
    if (alone && names.size() > 1) return name + " stands alone: leave the others out";
    if (std::ranges::count(names, name) > 1) return name + " stands there twice: remove one";
    all += (all.empty() ? "" : ",") + name;
  }
  if (all.empty())
    return "no back end: use auto, bpf, dcb, flower, print, sai, soft, sonic or none";
  // By what each does.
  for (const std::string& name : names)
    if (names.size() > 1 && (name == "sai" || name == "soft" || name == "sonic"))
      return name + " does all that the others do: leave them out";
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (has("bpf") && has("flower")) return "bpf and flower both remap packets: leave one out";
  c.backend = std::move(all);
  return kFine;
}

Complaint set_redis(Config& c, std::string_view text) {
  if (text.starts_with('/')) return set_path(c.sonic_redis, text);
  auto at = text.find(':') == text.npos ? Result<std::string>(fail(Error{})) : parse_listen(text);
  if (!at || text.starts_with(':'))
    return "'" + escape(text) + "' is neither a path nor an address and port: write 127.0.0.1:6379";
  c.sonic_redis = std::move(*at);
  return kFine;
}

Complaint set_listen(Config& c, std::string_view text) {
  auto listen = parse_listen(text);
  if (!listen) return listen.error().what;
  c.metrics_listen = std::move(*listen);
  return kFine;
}

Complaint set_agentx(Config& c, std::string_view text) {
  if (text.empty() || text.find_first_of(" \t") != text.npos)
    return "no socket of an SNMP agent: write a path, or an address as tcp:localhost:705";
  c.snmp_agentx = text;
  return kFine;
}

Complaint set_on_change(Config& c, std::string_view text) {
  if (auto wrong = badly_long(text, 4096)) return wrong;
  c.on_change = text;
  return kFine;
}

Complaint set_ports(Config& c, std::string_view text) {
  c.ports = {};
  for (std::string& glob : split_list(text)) {
    const bool out = glob.front() == '-' || glob.front() == '!';
    if (out) glob.erase(0, 1);
    if (auto wrong = never_matches(glob)) return wrong;
    if (out && glob.find_first_not_of('*') == glob.npos) return "leaves everything out: remove -*";
    (out ? c.ports.unwanted : c.ports.wanted).push_back(std::move(glob));
  }
  if (c.ports == NameSelection{}) return "no port: name at least one, or remove the key";
  return kFine;
}

void set_admin(Config& c, std::string_view port, std::size_t choice) {
  using enum core::AdminStatus;
  constexpr core::AdminStatus kChoices[] = {enabledRxTx, enabledTxOnly, enabledRxOnly, disabled};
  c.admin.erase(std::string(port));
  if (kChoices[choice] != enabledRxTx) c.admin.emplace(port, kChoices[choice]);
}

/// `NEAR:FAR`. In FC and FC+ a link joins layers that stand next to each other.
Complaint set_layers(Config& c, std::string_view port, std::string_view text) {
  const auto layers = parse_layers(text);
  if (!layers)
    return "'" + escape(text) + "' is not two layers from 0 to " + std::to_string(Layer::kMax) +
           ": write NEAR:FAR, as in 3:4";
  if (std::abs(layers->near.value() - layers->far.value()) != 1)
    return "'" + escape(text) + "': a link joins layers that stand next to each other: correct one";
  c.layers.insert_or_assign(std::string(port), *layers);
  c.core.layered = true;
  return kFine;
}

void set_unheard(Config& c, std::string_view port, std::size_t choice) {
  c.unheard_ok.erase(std::string(port));
  if (choice == 1) c.unheard_ok.emplace(port);
}

void set_crosslink(Config& c, std::string_view port, std::size_t choice) {
  c.crosslink_ok.erase(std::string(port));
  if (choice == 1) c.crosslink_ok.emplace(port);
}

Complaint set_description(Config& c, std::string_view port, std::string_view text) {
  if (auto wrong = badly_long(text, 255)) return wrong;
  c.description.insert_or_assign(std::string(port), std::string(text));
  return kFine;
}

Complaint set_rail(Config& c, std::string_view port, std::string_view text) {
  if (auto wrong = badly_long(text, 32)) return wrong;
  c.rail.insert_or_assign(std::string(port), std::string(text));
  return kFine;
}

/// Whether the text is meant as a MAC address: six groups of one or two digits; or five or seven
/// groups of two digits with colons between them.
bool looks_like_mac(std::string_view text) {
  for (const char separator : {':', '-'}) {
    std::size_t groups = 1;
    std::size_t length = 0;  // of the group
    bool pairs = separator == ':';
    const bool fits = std::ranges::all_of(text, [&](char c) {
      if (c != separator) return ++length <= 2;
      ++groups;
      pairs &= length == 2;
      return std::exchange(length, 0) > 0;
    });
    pairs &= length == 2;
    if (fits && length > 0 && (groups == 6 || (pairs && (groups == 5 || groups == 7)))) return true;
  }
  return false;
}

Complaint set_chassis_id(Config& c, std::string_view text) {
  if (auto wrong = badly_long(text, 255)) return wrong;
  if (looks_like_mac(text) && !parse_mac(text))
    return "'" + escape(text) + "' is no MAC address: write twelve hexadecimal digits";
  if (const auto mac = parse_mac(text)) {
    if (((*mac)[0] & 1U) != 0)
      return "'" + escape(text) +
             "' is a group's address, and no device's: make its first octet even";
    c.core.chassis_id = chassis_id_from_mac(*mac);
  } else {
    c.core.chassis_id.emplace();
    c.core.chassis_id->subtype = ChassisId::kLocal;
    c.core.chassis_id->octets = text;
  }
  return kFine;
}

Complaint set_system_name(Config& c, std::string_view text) {
  if (auto wrong = badly_long(text, 255)) return wrong;
  c.core.system_name = text;
  return kFine;
}

Complaint set_system_description(Config& c, std::string_view text) {
  if (auto wrong = badly_long(text, 255)) return wrong;
  c.core.system_description = text;
  return kFine;
}

Complaint set_management(Config& c, std::string_view text) {
  c.management.reset();
  if (text == "none") return kFine;
  c.management = split_list(text);
  if (c.management->empty()) return "no address: name interfaces or addresses, or write none";
  for (const std::string& glob : *c.management) {
    if (auto wrong = leaves_out(glob)) return wrong;
    if (auto wrong = other_syntax(glob)) return wrong;
    if (glob.find('/') != glob.npos)
      return "'" + escape(glob) + "' is a prefix: write the address alone, or * for what follows";
  }
  return kFine;
}

Complaint set_control_group(Config& c, std::string_view text) {
  c.control_group = text;
  return text.empty() ? Complaint("no group's name: name one, or remove the key") : kFine;
}

Complaint set_send(Config& c, std::string_view text) {
  bool tr = false;
  bool contribution = false;
  bool pfc = false;
  for (const std::string& tlv : split_list(text)) {
    if (tlv != "tr" && tlv != "contribution" && tlv != "pfc")
      return "no TLV is called '" + escape(tlv) + "': use tr, contribution, pfc";
    (tlv == "tr" ? tr : tlv == "pfc" ? pfc : contribution) = true;
  }
  if (!tr && !contribution) return "no TLV tells the level: use tr, contribution or both";
  c.core.send_tr = tr;
  c.core.send_contribution = contribution;
  c.core.send_pfc = pfc;
  return kFine;
}

/// IEEE 802.1 and 802.3, TIA, and Intel's for CEE DCBX: a contribution TLV under one of these would
/// be taken for one of theirs, and theirs for it.
constexpr core::Oui kStandardOuis[] = {
    {0x00, 0x80, 0xc2}, {0x00, 0x12, 0x0f}, {0x00, 0x12, 0xbb}, {0x00, 0x1b, 0x21}};

Complaint set_contribution_oui(Config& c, std::string_view text) {
  std::vector<core::Oui> ouis;
  for (const std::string& part : split_list(text)) {
    const auto oui = parse_oui(part);
    if (!oui) return "'" + escape(part) + "' is no OUI: write three octets as 02-4c-56";
    if (std::ranges::find(kStandardOuis, *oui) != std::end(kStandardOuis))
      return escape(part) + " has TLVs of its own, in a standard: use an OUI of yours";
    ouis.push_back(*oui);
  }
  if (ouis.empty()) return "no OUI: write three octets as 02-4c-56";
  c.core.contribution_oui = ouis.front();
  c.core.accepted_ouis = std::move(ouis);
  return kFine;
}

Complaint set_custom(Config& c, std::string_view text) {
  constexpr std::size_t kMost = 507;  // octets behind OUI and subtype
  std::vector<core::CustomTlv> tlvs;
  for (const std::string& word : split_list(text, ' ')) {
    const std::string it = "'" + escape(word) + "' ";
    const std::size_t first = std::min(word.find(','), word.size());
    const std::size_t second = std::min(word.find(',', first + 1), word.size());
    if (second == word.size()) return it + "is no OUI,SUBTYPE,HEX: write as 00-11-22,1,c0ffee";
    const auto oui = parse_oui(word.substr(0, first));
    if (!oui) return it + "begins with no OUI: write three octets as 02-4c-56";
    if (std::ranges::find(kStandardOuis, *oui) != std::end(kStandardOuis))
      return it + "is of a standard, whose TLVs are sent as the kernel tells: use an OUI of yours";
    const std::string number = word.substr(first + 1, second - first - 1);
    unsigned subtype = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), subtype);
    if (error != std::errc() || end != number.data() + number.size() || subtype > 255)
      return it + "has a subtype that is none: use 0-255";
    auto information = from_hex(word.substr(second + 1));
    if (!information || information->size() > kMost)
      return it + "ends with no hexadecimal octets: write two digits for each, at most 507 octets";
    if (std::ranges::any_of(tlvs, [&](const core::CustomTlv& tlv) {
          return tlv.oui == *oui && tlv.subtype == subtype;
        }))
      return it + "has the OUI and the subtype of one before it: remove one";
    tlvs.push_back({*oui, static_cast<std::uint8_t>(subtype), std::move(*information)});
  }
  if (tlvs.empty()) return "no TLV: write OUI,SUBTYPE,HEX, or remove the key";
  c.core.custom_tlvs = std::move(tlvs);
  return kFine;
}

constexpr std::string_view kScopes =
    "nearest-bridge|nearest-nontpmr-bridge|nearest-customer-bridge";

Complaint set_scopes(Config& c, std::string_view text) {
  const std::vector<std::string> names = split_list(kScopes, '|');
  std::vector<core::Scope> scopes;
  for (const std::string& part : split_list(text)) {
    const auto at = std::find(names.begin(), names.end(), part);
    if (at == names.end())
      return "no address is called '" + escape(part) + "': use " + std::string(kScopes);
    const auto scope = static_cast<core::Scope>(at - names.begin());
    if (std::find(scopes.begin(), scopes.end(), scope) != scopes.end())
      return part + " stands there twice: remove one";
    scopes.push_back(scope);
  }
  if (scopes.empty()) return "no address: use " + std::string(kScopes);
  c.core.scopes = std::move(scopes);
  return kFine;
}

// Defaults as text; a test compares them with Config{}.
constexpr Row kRows[] = {
    {"role", "ROLE", "auto",
     Choice{"auto|host|switch", [](Config& c, std::size_t i) { c.role = static_cast<Role>(i); }},
     "what this device is; auto: by its ports and what it forwards between them", "role"},
    {"level", "N", "", Number{1, 254, [](Config& c, std::uint32_t v) { c.core.pinned_level = Level::make(v); }},
     "pin the level: no neighbor changes it", "level"},
    {"ports", "GLOB,...", "", Text{"names with * and ?, left out with - or ! before", set_ports},
     "interfaces to speak on; else the front panel, or the physical interfaces", "ports"},
    {"port.NAME.admin", "ADMIN", "rxtx", PortChoice{"rxtx|tx|rx|off", set_admin},
     "adminStatus of the port NAME: whether it sends and receives", "admin"},
    {"port.NAME.layers", "NEAR:FAR", "", PortText{"two layers that stand next to each other, as 3:4", set_layers},
     "layered expander: layer of the port NAME, and layer that its link leads to"},
    {"port.NAME.description", "TEXT", "", PortText{"1 to 255 characters", set_description},
     "Port Description TLV of the port NAME; else its alias, else the driver's name of the port", "description"},
    {"port.NAME.unheard", "UNHEARD", "alarm", PortChoice{"alarm|ok", set_unheard},
     "ok: no alarm if no LLDP frame is ever heard on the port NAME", "unheard"},
    {"port.NAME.crosslink", "CROSSLINK", "no", PortChoice{"no|yes", set_crosslink},
     "yes: no alarm if the port NAME leads to a switch of the same level", "crosslink"},
    {"port.NAME.rail", "GROUP", "", PortText{"1 to 32 characters, or none", set_rail},
     "group of the NIC NAME for rails; else the board ID of its RDMA device; none: of no group"},
    {"rails", "DESIGN", "none",
     Choice{cabling::kRailDesigns,
            [](Config& c, std::size_t i) { c.core.rails = static_cast<cabling::RailDesign>(i); }},
     "host: raise an alarm where the NICs of one group lead elsewhere than this design says"},
    {"host-ports", "GLOB,...", "", Text{"names with * and ?", set_host_ports},
     "ports where a link that is up counts as a host", "host-ports"},
    {"expect", "FILE", "",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.expect, text); }},
     "topology file, DOT or JSON: raise an alarm where a neighbor differs from it"},
    {"backend", "B,...", "auto", Text{"auto, print, none, or of bpf, dcb, flower, sai, soft, sonic", set_backend},
     "back ends that put the rules into force; auto: by the machine; print: as text; none: levels only", "backend"},
    {"flower.offload", "O", "auto",
     Choice{"auto|require|off", [](Config& c, std::size_t i) { c.offload = static_cast<Offload>(i); }},
     "flower: whether the driver takes the rules; auto: where it refuses, the kernel runs them"},
    {"sai.library", "PATH", "",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.sai_library, text); }},
     "sai: libsai.so of the switch vendor; a separate process loads it"},
    {"sai.profile", "PATH", "",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.sai_profile, text); }},
     "sai: file of KEY=VALUE lines that this libsai asks for"},
    {"soft.socket", "PATH", "/run/lldp-level/switch",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.soft_socket, text); }},
     "soft: socket of the software switch, as of `lldp-level-lab switch`"},
    {"sonic.redis", "WHERE", "", Text{"a path, or an address and port", set_redis},
     "sonic: socket of Redis, or its ADDRESS:PORT; else the one that sonic.config names"},
    {"sonic.config", "PATH", "/run/redis/sonic-db/database_config.json",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.sonic_config, text); }},
     "sonic: SONiC's configuration of databases; if missing, the usual one"},
    {"sonic.config-db", "", "no", Flag{[](Config& c, bool v) { c.config_db = v; }},
     "follow LLDP_LEVEL and LLDP_LEVEL_PORT of SONiC's CONFIG_DB, over the files"},
    {"qdisc", "Q", "keep",
     Choice{"keep|htb", [](Config& c, std::size_t i) { c.htb = i == 1; }},
     "bpf: htb: give each lossless priority a software queue where no qdisc is configured"},
    {"bpffs", "PATH", "/sys/fs/bpf",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.bpffs, text); }},
     "BPF file system that keeps programs and counters of the rules"},
    {"transport", "T", "auto",
     Choice{"auto|packet|lldpd", [](Config& c, std::size_t i) { c.transport = static_cast<Transport>(i); }},
     "program that sends LLDP; packet: this daemon; lldpd: lldpd; auto: lldpd while it runs"},
    {"lldpd.socket", "PATH", "/run/lldpd.socket",
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.lldpd_socket, text); }},
     "control socket of lldpd"},
    {"lldpd.grace", "SECONDS", "5",
     Number{1, 3600, [](Config& c, std::uint32_t v) { c.lldpd_grace = std::chrono::seconds(v); }},
     "time without lldpd before this daemon sends itself"},
    {"socket", "PATH", kDefaultSocket,
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.socket, text); }},
     "control socket, for lldp-level(1)"},
    {"state-file", "PATH", kDefaultStateFile,
     Text{"a path", [](Config& c, std::string_view text) { return set_path(c.state_file, text); }},
     "file that keeps chassis ID and level over a restart"},
    {"control.group", "GROUP", "",
     Text{"a group's name", set_control_group},
     "group whose members may connect to the control socket; else the daemon's own"},
    {"seccomp", "", "yes", Flag{[](Config& c, bool v) { c.seccomp = v; }},
     "have the kernel refuse system calls that the daemon does not need"},
    {"metrics.listen", "ADDRESS:PORT", "", Text{"an address and a port", set_listen},
     "answer Prometheus by HTTP there; PORT alone: on loopback"},
    {"snmp.agentx", "SOCKET", "", Text{"a path, or an address as tcp:localhost:705", set_agentx},
     "answer LLDP-MIB to the SNMP agent there, over AgentX"},
    {"on-change", "COMMAND", "", Text{"a command of /bin/sh", set_on_change},
     "command to run at every change, unprivileged, with a JSON object on standard input"},
    {"system-name", "NAME", "", Text{"1 to 255 characters", set_system_name},
     "System Name TLV; else the host name"},
    {"system-description", "TEXT", "", Text{"1 to 255 characters", set_system_description},
     "System Description TLV; else the distribution and the kernel"},
    {"chassis-id", "ID", "", Text{"a MAC address, or text as a local chassis ID", set_chassis_id},
     "Chassis ID TLV; else the MAC address of the lowest-index port at first start"},
    {"dry-run", "", "no", Flag{[](Config& c, bool v) { c.dry_run = v; }},
     "print the rules; change nothing in the kernel, send nothing"},
    {"flush", "", "no", Flag{[](Config& c, bool v) { c.flush = v; }},
     "remove the rules at stop; else they stay and keep the fabric safe"},
    {"tlv.send", "TLV,...", "tr,contribution", Text{"tr, contribution, pfc", set_send},
     "TLVs to send: tr or contribution for the level, or both; pfc: PFC Configuration"},
    {"tlv.contribution-oui", "OUI,...", "02-4c-56", Text{"OUIs as 02-4c-56", set_contribution_oui},
     "OUIs of the contribution TLV: the first is sent, all are accepted"},
    {"tlv.custom", "TLV ...", "", Text{"OUI,SUBTYPE,HEX as 00-11-22,1,c0ffee", set_custom},
     "additional TLVs to send, separated by blanks"},
    {"infer.host-from-capabilities", "", "yes",
     Flag{[](Config& c, bool v) { c.core.host_from_capabilities = v; }},
     "take a neighbor whose System Capabilities say Station Only as a host"},
    {"infer.raise-hold", "SECONDS", "60",
     Number{0, 3600, [](Config& c, std::uint32_t v) { c.core.raise_hold = std::chrono::seconds(v); }},
     "time for which a level without support is kept while neighbors tell levels"},
    {"infer.lower-hold", "SECONDS", "60",
     Number{0, 3600, [](Config& c, std::uint32_t v) { c.core.lower_hold = std::chrono::seconds(v); }},
     "time for which an established level must be contradicted before it is lowered"},
    {"infer.establish", "SECONDS", "86400",
     Number{0, 31536000, [](Config& c, std::uint32_t v) { c.core.establish = std::chrono::seconds(v); }},
     "time with support after which a level is established"},
    {"infer.withdraw-hold", "SECONDS", "5",
     Number{1, 3600, [](Config& c, std::uint32_t v) { c.core.withdraw_hold = std::chrono::seconds(v); }},
     "time after a withdrawal in which no higher level is taken"},
    {"infer.unsupported-after", "SECONDS", "600",
     Number{0, 86400,
            [](Config& c, std::uint32_t v) { c.core.unsupported_after = std::chrono::seconds(v); }},
     "time without support after which the alarm `unsupported` is raised"},
    {"infer.max-level", "N", "8",
     Number{1, 254, [](Config& c, std::uint32_t v) { c.core.max_level = *Level::make(v); }},
     "highest level; a higher one is not taken and raises an alarm"},
    {"lldp.management-address", "GLOB,...", "", Text{"names or addresses with * and ?, or none", set_management},
     "management addresses to send; else the first IPv4 and IPv6 address"},
    {"lldp.port-id", "KIND", "name",
     Choice{"name|mac|alias|local",
            [](Config& c, std::size_t i) { c.port_id = static_cast<PortIdKind>(i); }},
     "Port ID TLV: interface name, MAC address, alias (else name), name as local ID"},
    {"lldp.tx-interval", "SECONDS", "30",
     Number{1, 3600, [](Config& c, std::uint32_t v) { c.core.msgTxInterval = std::chrono::seconds(v); }},
     "msgTxInterval: time between frames", "tx-interval"},
    {"lldp.tx-hold", "N", "4",
     Number{1, 100, [](Config& c, std::uint32_t v) { c.core.msgTxHold = static_cast<std::uint16_t>(v); }},
     "msgTxHold: TTL as a multiple of the interval", "tx-hold"},
    {"lldp.fast-tx", "SECONDS", "1",
     Number{1, 3600, [](Config& c, std::uint32_t v) { c.core.msgFastTx = std::chrono::seconds(v); }},
     "msgFastTx: time between frames after a new neighbor"},
    {"lldp.fast-init", "N", "4",
     Number{1, 8, [](Config& c, std::uint32_t v) { c.core.txFastInit = static_cast<std::uint8_t>(v); }},
     "txFastInit: frames sent fast after a new neighbor"},
    {"lldp.credit-max", "N", "9",
     Number{1, 10, [](Config& c, std::uint32_t v) { c.core.txCreditMax = static_cast<std::uint8_t>(v); }},
     "txCreditMax: frames that may be sent at once"},
    {"lldp.reinit-delay", "SECONDS", "2",
     Number{1, 10, [](Config& c, std::uint32_t v) { c.core.reinitDelay = std::chrono::seconds(v); }},
     "reinitDelay: wait after a port was switched off"},
    {"lldp.scopes", "SCOPE,...", "nearest-bridge", Text{kScopes, set_scopes},
     "destination addresses to speak on"},
    {"lldp.max-neighbors-per-port", "N", "32",
     Number{1, 1024, [](Config& c, std::uint32_t v) { c.core.max_neighbors_per_port = v; }},
     "neighbors kept on one port"},
    {"lldp.max-neighbors", "N", "16384",
     Number{1, 65536, [](Config& c, std::uint32_t v) { c.core.max_neighbors = v; }},
     "neighbors kept in all"},
    {"qos.lossless", "CHAINS", kLearned,
     Text{"auto, P:dscpN>P:dscpN,... or roce, sonic, pcbb, slides, none",
          [](Config& c, std::string_view text) {
            c.lossless = text;
            return Complaint();
          }},
     "lossless classes: learned (auto), or application class > its spare after a turn, or a preset", "lossless"},
    {"qos.lossy", "P:dscpN", qos::Policy::kDefaultLossy,
     Text{"a priority and a DSCP",
          [](Config& c, std::string_view text) {
            c.lossy = text;
            return Complaint();
          }},
     "class of packets that turn in the last class of their chain", "lossy"},
    {"qos.restore", "R", "auto",
     Choice{"auto|no", [](Config& c, std::size_t i) { c.core.restores = i == 0; }},
     "auto: a port to a host gives packets of a spare class their application class again", "restore"},
    {"qos.rewrite-verified", "", "no", Flag{[](Config& c, bool v) { c.rewrite_verified = v; }},
     "sonic, sai: an experiment has shown that this switch chip rewrites DSCPs by TC_TO_DSCP_MAP", "rewrite-verified"},
};

/// The port that a key of a row per port is of; empty: it is none.
std::string_view port_of(const Row& row, std::string_view key) {
  constexpr std::string_view kName = "NAME";
  const std::string_view before = row.name.substr(0, row.name.find(kName));
  const std::string_view after = row.name.substr(before.size() + kName.size());
  if (key.size() <= before.size() + after.size() || !key.starts_with(before) ||
      !key.ends_with(after))
    return {};
  return key.substr(before.size(), key.size() - before.size() - after.size());
}

Complaint names_no_port(std::string_view name) {
  if (auto wrong = never_matches(name)) return wrong;
  if (has_wildcard(name)) return "'" + escape(name) + "' is no name: name one port";
  return kFine;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it for an aggregate

}  // namespace

std::span<const Row> rows() { return kRows; }

const Row* find_row(std::string_view key) {
  for (const Row& row : kRows)
    if (is_of_ports(row) ? !port_of(row, key).empty() : row.name == key) return &row;
  return nullptr;
}

const Row* find_field(std::string_view field, bool of_ports) {
  for (const Row& row : kRows)
    if (!field.empty() && row.field == field && is_of_ports(row) == of_ports) return &row;
  return nullptr;
}

std::string key_of(const Row& row, std::string_view port) {
  std::string key(row.name);
  if (const auto at = key.find("NAME"); is_of_ports(row)) key.replace(at, 4, port);
  return key;
}

std::string uniform(const Row& row, std::string_view key) {
  const auto port = is_of_ports(row) ? unescape(port_of(row, key)) : std::nullopt;
  return port ? key_of(row, spell(*port)) : std::string(key);
}

bool is_section(std::string_view name) {
  const std::string prefix = std::string(name) + ".";
  return std::ranges::any_of(kRows, [&](const Row& row) {
    if (row.name.starts_with(prefix)) return true;
    if (!is_of_ports(row)) return false;
    const std::string_view last = row.name.substr(row.name.rfind('.') + 1);
    return !port_of(row, prefix + std::string(last)).empty();  // [port.swp1]
  });
}

std::string values_of(const Row& row) {
  return std::visit(Overloaded{[](const Number& n) {
                                 return std::to_string(n.least) + "-" + std::to_string(n.most);
                               },
                               [](const Choice& c) { return std::string(c.names); },
                               [](const Flag&) { return std::string("yes|no"); },
                               [](const PortChoice& p) { return std::string(p.names); },
                               [](const PortText& p) { return std::string(p.values); },
                               [](const Text& t) { return std::string(t.values); }},
                    row.kind);
}

std::optional<std::string> set(const Row& row, Config& config, std::string_view key,
                               std::string_view text) {
  const auto out_of_range = [&] {
    return "'" + escape(text) + "' is not in range: use " + values_of(row);
  };
  const auto none_of = [&](const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    return "'" + escape(text) + "' is none of " + list;
  };
  const auto choose = [&](std::string_view of, auto take) -> Complaint {
    const std::vector<std::string> names = split_list(of, '|');
    const auto at = std::find(names.begin(), names.end(), text);
    if (at == names.end()) return none_of(names);
    take(static_cast<std::size_t>(at - names.begin()));
    return kFine;
  };
  return std::visit(Overloaded{[&](const Number& n) -> Complaint {
                                 std::uint32_t v = 0;
                                 const auto [end, error] =
                                     std::from_chars(text.data(), text.data() + text.size(), v);
                                 if (error != std::errc() || end != text.data() + text.size() ||
                                     v < n.least || v > n.most)
                                   return out_of_range();
                                 n.set(config, v);
                                 return kFine;
                               },
                               [&](const Choice& c) -> Complaint {
                                 return choose(c.names, [&](std::size_t i) { c.set(config, i); });
                               },
                               [&](const PortChoice& p) -> Complaint {
                                 const std::string_view port = port_of(row, key);
                                 if (auto wrong = names_no_port(port)) return wrong;
                                 return choose(p.names, [&](std::size_t i) {
                                   p.set(config, *unescape(port), i);
                                 });
                               },
                               [&](const PortText& p) -> Complaint {
                                 const std::string_view port = port_of(row, key);
                                 if (auto wrong = names_no_port(port)) return wrong;
                                 return p.set(config, *unescape(port), text);
                               },
                               [&](const Flag& f) -> Complaint {
                                 if (text != "yes" && text != "no") return none_of({"yes", "no"});
                                 f.set(config, text == "yes");
                                 return kFine;
                               },
                               [&](const Text& t) -> Complaint { return t.set(config, text); }},
                    row.kind);
}

}  // namespace lldp::config
