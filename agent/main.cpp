// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>

#include "agent/config/config.hpp"
#include "agent/daemon/daemon.hpp"
#include "agent/daemon/remove_rules.hpp"
#include "agent/process/log.hpp"
#include "agent/process/open_files.hpp"
#include "os/file.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;  // and whatever else a library throws for

int run(std::span<const char* const> arguments) {
  using lldp::io::Severity;
  const auto invocation = lldp::config::parse_command_line(arguments);
  if (!invocation) {
    lldp::io::log(Severity::kError, invocation.error());
    return kUsage;
  }
  if (invocation->help) {
    std::fputs(lldp::config::help().c_str(), stdout);
    return lldp::flush_output("lldp-leveld");
  }
  if (invocation->version) {
    std::puts("lldp-leveld " LLDP_VERSION);
    return lldp::flush_output("lldp-leveld");
  }
  auto config = lldp::config::load(*invocation);
  if (!config) {
    for (const auto& error : config.error()) lldp::io::log(Severity::kError, error);
    return kUsage;
  }
  if (invocation->remove_rules) {
    const auto removed = lldp::io::remove_rules(*config);
    if (!removed) lldp::io::log(Severity::kError, removed.error());
    return removed ? 0 : kFailed;
  }
  if (const auto room = lldp::io::make_room_for_open_files(); !room) {
    lldp::io::log(Severity::kError, room.error());
    return kFailed;
  }
  if (auto ran = lldp::io::run_daemon(*invocation, std::move(*config)); !ran) {
    lldp::io::log(Severity::kError, ran.error());
    return kFailed;
  }
  return 0;
}

/// At once and without an exception: on its way libraries allocate again (nlohmann-json's
/// destructors do, which ends in std::terminate), and there is nothing to save that is not saved.
[[noreturn]] void out_of_memory() {
  std::fputs(
      "lldp-leveld: memory has run out: the rules stay in the kernel; start it again, "
      "with a higher limit if it has one (MemoryMax= of the service)\n",
      stderr);
  ::_exit(kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  // What a large answer took goes back at once, so that memory does not grow with the largest ever.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);
  mallopt(M_ARENA_MAX, 1);  // the threads that wait for the disk need none of their own
  lldp::hold_standard_streams("/dev/null", O_RDWR);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);  // until the loop listens: the configuration is read anyway
  std::set_new_handler(out_of_memory);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {  // of a C library's
    out_of_memory();
  } catch (const std::exception& e) {  // ours throws nothing; libraries may
    std::fprintf(stderr, "lldp-leveld: %s\n", e.what());
    return kUsage;
  }
}
