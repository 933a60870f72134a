// SPDX-License-Identifier: Apache-2.0
// lldp-level-agentx: what the daemon knows as LLDP-MIB, for an SNMP agent that speaks AgentX.
// They need each other in this order.
// clang-format off
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
// clang-format on
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "agent/agentx/mib.hpp"
#include "agent/control/source.hpp"
#include "os/file.hpp"
#include "os/start_pages.hpp"

namespace lldp::agentx {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr const char* kName = "lldp-level-agentx";
constexpr const char* kDefaultMaster = "/var/agentx/master";

/// lldpMIB
constexpr oid kRoot[] = {1, 0, 8802, 1, 1, 2};

/// For how long an answer counts: a walk asks for thousands of objects one by one, and is to see
/// one state of things.
constexpr std::chrono::seconds kFresh{5};
constexpr std::chrono::seconds kPatience{2};
/// After how many seconds a master that is gone is looked for again.
constexpr int kReconnect = 2;

void complain(const std::string& what) { std::fprintf(stderr, "%s: %s\n", kName, what.c_str()); }

/// What the daemon says, as it was when it was last asked.
class Daemon {
 public:
  explicit Daemon(std::string path) : source_(std::move(path)) {}
  [[nodiscard]] control::DaemonSource& source() { return source_; }

  /// Nothing while the daemon cannot be asked.
  const Mib& mib() {
    const auto now = std::chrono::steady_clock::now();
    if (asked_ && now - *asked_ < kFresh) return mib_;
    mib_ = Mib();
    auto fresh = ask();
    ::malloc_trim(0);  // what the answers took, which is several times what is kept of them
    asked_ = std::chrono::steady_clock::now();
    if (const auto wrong = source_.news(fresh)) complain(*wrong);
    mib_ = fresh ? std::move(*fresh) : Mib();
    return mib_;
  }

 private:
  Result<Mib> ask() {
    const auto said = source_.ask({"org.lldplevel.Detail", "org.lldplevel.Stats"}, kPatience);
    if (!said) return fail(said.error());
    return mib_of((*said)[0], (*said)[1], indices_);
  }

  control::DaemonSource source_;
  Indices indices_{};
  Mib mib_{};
  std::optional<std::chrono::steady_clock::time_point> asked_{};
};

std::uint32_t number_in(const std::string& value, std::size_t at = 0) {
  std::uint32_t out = 0;
  for (std::size_t i = at; i < at + 4; ++i) out = out << 8 | static_cast<std::uint8_t>(value[i]);
  return out;
}

void answer(netsnmp_variable_list* variable, const Object& object) {
  const auto put = [&](u_char type, const void* data, std::size_t size) {
    snmp_set_var_typed_value(variable, type, static_cast<const u_char*>(data), size);
  };
  switch (object.type) {
    case Type::kInteger: {
      const auto v = static_cast<long>(static_cast<std::int32_t>(number_in(object.value)));
      return put(ASN_INTEGER, &v, sizeof v);
    }
    case Type::kCounter:
    case Type::kGauge: {
      const auto v = static_cast<long>(number_in(object.value));
      return put(object.type == Type::kCounter ? ASN_COUNTER : ASN_GAUGE, &v, sizeof v);
    }
    case Type::kOctets:
      return put(ASN_OCTET_STR, object.value.data(), object.value.size());
    case Type::kOid: {
      std::vector<oid> v;
      for (std::size_t i = 0; i < object.value.size(); i += 4)
        v.push_back(number_in(object.value, i));
      return put(ASN_OBJECT_ID, v.data(), v.size() * sizeof(oid));
    }
  }
}

/// What stands behind kRoot in a name; nothing behind it if the name stands before.
Oid behind_root(const netsnmp_variable_list& variable) {
  Oid out;
  for (std::size_t i = std::size(kRoot); i < variable.name_length; ++i)
    out.push_back(static_cast<std::uint32_t>(variable.name[i]));
  return out;
}

int handle(netsnmp_mib_handler*, netsnmp_handler_registration* registration,
           netsnmp_agent_request_info* info, netsnmp_request_info* requests) {
  const Mib& mib = static_cast<Daemon*>(registration->my_reg_void)->mib();
  for (netsnmp_request_info* request = requests; request != nullptr; request = request->next) {
    if (request->processed != 0) continue;
    netsnmp_variable_list* variable = request->requestvb;
    const int order = snmp_oid_ncompare(variable->name, variable->name_length, kRoot,
                                        std::size(kRoot), std::size(kRoot));
    const Oid name = order == 0 ? behind_root(*variable) : Oid();
    std::optional<Object> found;
    if (info->mode == MODE_GET || (info->mode == MODE_GETNEXT && request->inclusive != 0))
      found = mib.get(name);
    if (!found && info->mode == MODE_GETNEXT && order <= 0) found = mib.next(name);
    if (!found) {
      if (info->mode == MODE_GET) netsnmp_set_request_error(info, request, SNMP_NOSUCHINSTANCE);
      continue;
    }
    std::vector<oid> whole(std::begin(kRoot), std::end(kRoot));
    whole.insert(whole.end(), found->oid.begin(), found->oid.end());
    snmp_set_var_objid(variable, whole.data(), whole.size());
    answer(variable, *found);
  }
  return SNMP_ERR_NOERROR;
}

/// A master that is away is looked for every few seconds, and the library says so each time.
int tell_once(int, int, void* message, void*) {
  static std::string last;
  const auto* said = static_cast<const snmp_log_message*>(message);
  if (last == said->msg) return SNMPERR_SUCCESS;
  last = said->msg;
  std::fputs(last.c_str(), stderr);
  return SNMPERR_SUCCESS;
}

void silence_library(const char* master) {
  // Neither the files nor the MIBs of net-snmp: values and socket are known already.
  for (const char* name : {"MIBS", "MIBDIRS"}) ::setenv(name, "", 1);
  // Nor OpenSSL's, by which it would load what SNMPv3 needs: here is AgentX alone.
  ::setenv("OPENSSL_CONF", "/dev/null", 1);
  // Nor an index of certificates, for which it would make a directory: where none can be made it
  // goes without.
  netsnmp_ds_set_string(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_PERSISTENT_DIR, "/dev/null");
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_LOAD, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DISABLE_PERSISTENT_SAVE, 1);
  netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_ROLE, 1);  // a subagent
  netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, master);
  snmp_enable_calllog();
  snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, tell_once, nullptr);
}

/// Serves until SIGTERM or SIGINT, or until the daemon that gave us its connection closes it.
[[nodiscard]] int serve(Daemon& daemon, const char* master) {
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { ::_exit(kDone); });
  silence_library(master);
  if (init_agent(kName) != 0) return complain("net-snmp's library refuses to begin"), kFailed;
  // It has just set its own, 15.
  netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL, kReconnect);
  auto* registration = netsnmp_create_handler_registration("lldpMIB", handle, kRoot,
                                                           std::size(kRoot), HANDLER_CAN_RONLY);
  if (registration == nullptr) return complain("out of memory"), kFailed;
  registration->my_reg_void = &daemon;
  if (netsnmp_register_handler(registration) != MIB_REGISTERED_OK)
    return complain("lldpMIB cannot be registered"), kFailed;
  init_snmp(kName);
  if (daemon.source().given())
    register_readfd(
        STDIN_FILENO,
        [](int, void* its) {
          if (static_cast<Daemon*>(its)->source().stays()) return;
          complain("lldp-leveld: hung up");
          ::_exit(kFailed);
        },
        &daemon);
  io::release_start_pages();
  while (true) agent_check_and_process(1);
}

int run(int argc, char** argv) {
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::printf(
        "usage: lldp-level-agentx SOCKET|- [MASTER]\n"
        "Answers LLDP-MIB to an SNMP agent over AgentX. MASTER: its socket, as\n"
        "agentXSocket of snmpd.conf(5) has it [%s].\n",
        kDefaultMaster);
    return flush_output("lldp-level-agentx");
  }
  if (word == "--version" || word == "-V") {
    std::puts("lldp-level-agentx " LLDP_VERSION);
    return flush_output("lldp-level-agentx");
  }
  if (argc != 2 && argc != 3) {
    complain("use: lldp-level-agentx SOCKET|- [MASTER]");
    return kUsage;
  }
  Daemon daemon(argv[1]);
  return serve(daemon, argc == 3 ? argv[2] : kDefaultMaster);
}

}  // namespace
}  // namespace lldp::agentx

int main(int argc, char** argv) {
  lldp::hold_standard_streams("/", O_PATH);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return lldp::agentx::run(argc, argv);
  } catch (const std::exception& e) {  // ours throws nothing; libraries may
    lldp::agentx::complain(e.what());
    return lldp::agentx::kFailed;
  }
}
