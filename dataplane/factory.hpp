// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

struct BpfOptions {
  std::string bpffs = "/sys/fs/bpf";  ///< where a BPF file system is mounted
  /// To what programs are attached. TCX is younger (Linux 6.6) and needs the BPF file system;
  /// it makes every first attachment wait for an RCU grace period with the RTNL lock held: 14 ms
  /// each where clsact takes 0.3 ms. So kAuto puts rules on clsact, and they migrate to TCX later
  /// where the kernel has it. Rules found on a hook that is not for use move over without a gap.
  enum class Hook : std::uint8_t { kAuto, kClsact, kTcx } hook = Hook::kAuto;
  /// An HTB class per lossless priority, at ports whose root qdisc is not configured.
  bool queues = false;
};
struct PrintOptions {
  std::ostream* out = nullptr;  ///< must be given, and outlive the back end
};
struct DcbOptions {
  std::string memory{};   ///< file for what the ports' settings were before
  bool removing = false;  ///< nothing can be put back from a file that cannot be read: an error
};
struct FlowerOptions {
  /// Whether the filters are the driver's: kRequire: or refused, with its reason; kOff: the
  /// kernel's; kAuto: the kernel's where the driver refuses the first ones.
  enum class Offload : std::uint8_t { kAuto, kRequire, kOff } offload = Offload::kAuto;
};
/// How long the back end sonic waits.
struct SonicTimes {
  std::chrono::milliseconds period{5'000};  ///< between two readings
  std::chrono::milliseconds grace{5'000};   ///< for SONiC to make what was written
  std::chrono::milliseconds soon{100};      ///< between two readings while it does
  /// Without a change of CONFIG_DB, before a row that others made anew is written.
  std::chrono::milliseconds settle{500};
  /// Until the buffer manager is asked again for what it did not make; twice as long each time.
  std::chrono::milliseconds retry{30'000};
};
struct SonicOptions {
  std::string redis{};  ///< path of its socket, or ADDRESS:PORT; empty: as `config` says
  std::string config = "/run/redis/sonic-db/database_config.json";  ///< may be missing
  std::chrono::milliseconds opening{250};   ///< for the first reading, before anything else runs
  std::chrono::milliseconds answer{2'000};  ///< of Redis; then it is down
  std::string memory{};           ///< file for what the ports had before; empty: it is not kept
  bool rewrite_verified = false;  ///< the ASIC is known to rewrite DSCPs by TC_TO_DSCP_MAP
  SonicTimes times{};
};
namespace sai {
class Spawner;
}
/// How long the back end sai waits.
struct SaiTimes {
  std::chrono::milliseconds period{5'000};  ///< between two readings
  std::chrono::milliseconds answer{1'500};  ///< for a sign of life while it is asked
  /// Until one that hangs, or does not come up, is killed: a process that is ended within a call
  /// may leave its vendor's locks behind.
  std::chrono::milliseconds last{60'000};
  /// Before it is started again: the first time, and twice as long each time, up to the other.
  std::chrono::milliseconds first_restart{200};
  std::chrono::milliseconds last_restart{30'000};
};
struct SaiOptions {
  std::string memory{};  ///< file for what the ports had before, and which objects are ours
  /// Starts the process with libsai. Shared by those that open the back end one after the other: a
  /// process that starts others is forked once, before there is a system call filter.
  std::shared_ptr<sai::Spawner> spawner{};
  std::chrono::milliseconds opening{250};  ///< for the first answer, before anything else runs
  bool removing = false;  ///< nothing can be put back from a file that cannot be read: an error
  bool rewrite_verified = false;  ///< the chip is known to rewrite DSCPs by its map
  SaiTimes times{};
};
/// How long things of a software switch may take.
struct SoftTimes {
  std::chrono::milliseconds period{1000};  ///< between two readings, or attempts to connect
  std::chrono::milliseconds answer{3000};  ///< then its switch is down
};
struct SoftOptions {
  std::string socket{};                    ///< of the switch process
  std::chrono::milliseconds opening{250};  ///< for the first answer, before anything else runs
  SoftTimes times{};
};
/// Of each back end its own.
struct Options {
  BpfOptions bpf{};
  DcbOptions dcb{};
  FlowerOptions flower{};
  PrintOptions print{};
  SonicOptions sonic{};
  SaiOptions sai{};
  SoftOptions soft{};

  /// For callers that have nothing else to do: each answer is waited for, if there is a switch to
  /// give it.
  void be_patient() {
    sonic.opening = sai.opening = soft.opening = kPatience;
    sonic.answer = sai.times.answer = soft.times.answer = kPatience;
  }
};

inline constexpr std::string_view kBackends[] = {"bpf", "dcb",  "flower", "print",
                                                 "sai", "soft", "sonic"};

/// Opens the back end of that name, or several with commas between as one, for the network
/// namespace of the calling thread, and finds what an earlier one has left there. Fails in one line
/// that says what to do.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                                            const Options& options);

}  // namespace lldp::dataplane
