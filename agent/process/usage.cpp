// SPDX-License-Identifier: Apache-2.0
#include "agent/process/usage.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <ctime>
#include <string>

#include "os/file.hpp"

namespace lldp::io {
namespace {

/// The second number of /proc/self/statm, proc(5); 0 where that is not to be had.
std::uint64_t resident_pages() {
  const auto numbers = read_file("/proc/self/statm");
  const std::size_t gap = numbers ? numbers->find(' ') : std::string::npos;
  std::uint64_t pages = 0;
  if (gap != std::string::npos)
    std::from_chars(numbers->data() + gap + 1, numbers->data() + numbers->size(), pages);
  return pages;
}

}  // namespace

report::ProcessStatistics Usage::now(const report::WallClock& clock) const {
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {.started = clock.at(started_),
          .cpu = std::chrono::milliseconds(cpu.tv_sec * 1000 + cpu.tv_nsec / 1'000'000),
          .resident_octets = resident_pages() * kPage};
}

}  // namespace lldp::io
