// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace lldp::netns {

/// A call, by its number and first arguments, and what the kernel is to say to it.
struct Refusal {
  const char* name = "";
  long call = 0;
  std::optional<std::uint32_t> first{};  ///< of its arguments
  std::optional<std::uint32_t> second{};
  std::optional<std::uint32_t> third{};
  const char* says = "";
  int code = EIO;
  friend void PrintTo(const Refusal& r, std::ostream* os) { *os << r.name; }
};

/// For this thread, and what it becomes.
inline bool refuse(const Refusal& what) {
  std::vector<sock_filter> steps;
  const auto load = [&](std::size_t at) {
    steps.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at)));
  };
  std::vector<std::pair<std::size_t, std::uint32_t>> conditions{
      {offsetof(seccomp_data, nr), static_cast<std::uint32_t>(what.call)}};
  std::size_t at = offsetof(seccomp_data, args);
  for (const auto& argument : {what.first, what.second, what.third}) {
    if (argument) conditions.emplace_back(at, *argument);
    at += sizeof(std::uint64_t);
  }
  for (std::size_t left = conditions.size(); const auto& [where, value] : conditions) {
    load(where);
    // Over the rest of the conditions, and the refusal.
    steps.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(2 * --left + 1)));
  }
  steps.push_back(
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(what.code)));
  steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;  // as root, privileges stay
}

}  // namespace lldp::netns
