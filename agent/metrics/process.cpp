// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics/process.hpp"

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace lldp::metrics {
namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

}  // namespace

std::optional<Process> parse_process(std::string_view stat, const Units& units) {
  const std::size_t name_ends = stat.rfind(')');
  if (name_ends == stat.npos) return std::nullopt;
  std::istringstream in{std::string(stat.substr(name_ends + 1))};
  std::string skipped;
  // proc(5) counts from 1, and the name is (2): utime (14), stime (15), starttime (22), rss (24).
  const auto skip = [&](int fields) {
    for (; fields > 0; --fields) in >> skipped;
  };
  double user = 0;
  double system = 0;
  double started = 0;
  std::uint64_t pages = 0;
  skip(11);
  in >> user >> system;
  skip(6);
  in >> started >> skipped >> pages;
  if (!in) return std::nullopt;
  // To the second: the clocks are read at every scrape, and what does not change shall not move.
  return Process{
      .start_time_seconds = std::round(units.boot_time_seconds + started / units.ticks_per_second),
      .cpu_seconds = (user + system) / units.ticks_per_second,
      .resident_bytes = pages * units.page_bytes};
}

std::optional<Process> read_process(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // Not btime of /proc/stat, which a service's view of /proc may leave out.
  return parse_process(
      text, {.ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK)),
             .page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
             .boot_time_seconds = seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME)});
}

}  // namespace lldp::metrics
