// SPDX-License-Identifier: Apache-2.0
#include "agent/process/usage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>

#include "os/fd.hpp"

namespace lldp::io {
namespace {

/// The second number of /proc/self/statm, proc(5).
std::uint64_t resident_pages() {
  const UniqueFd fd(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  const ssize_t size = fd ? ::read(fd.get(), text.data(), text.size() - 1) : 0;
  const char* const end = text.data() + (size > 0 ? size : 0);
  std::uint64_t pages = 0;
  const auto first = std::from_chars(text.data(), end, pages);
  pages = 0;
  if (first.ec == std::errc() && first.ptr != end) std::from_chars(first.ptr + 1, end, pages);
  return pages;
}

}  // namespace

report::ProcessStatistics Usage::now() const {
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {.started = started_,
          .cpu = std::chrono::milliseconds(cpu.tv_sec * 1000 + cpu.tv_nsec / 1'000'000),
          .resident_octets = resident_pages() * kPage};
}

}  // namespace lldp::io
