// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// Reports that a program came to a TCX hook, or left one, on any interface of the machine: the
/// kernel has no event of that. A program of ours at the entry of the functions that do it (fentry)
/// writes to a ring; the hook itself changes some microseconds later.
class ChainWatch {
 public:
  /// What attaches to a hook with a chain, replaces there and detaches, by whatever call.
  static constexpr std::array kFunctions{"bpf_mprog_attach", "bpf_mprog_detach"};

  static constexpr const char* kBtf = "/sys/kernel/btf/vmlinux";

  /// Takes some milliseconds. Fails where the kernel does not describe itself (BTF), cannot trace
  /// functions, or does not allow it, which takes microseconds: the hooks are to be asked then.
  [[nodiscard]] static Result<ChainWatch> open() { return open(kFunctions); }
  /// The same of other functions of the kernel.
  [[nodiscard]] static Result<ChainWatch> open(std::span<const char* const> functions,
                                               const char* btf_file = kBtf);

  /// Readable when take() would be true.
  [[nodiscard]] int fd() const { return ring_.get(); }
  /// True once after such changes.
  [[nodiscard]] bool take();

 private:
  ChainWatch(UniqueFd ring, Mapping read, Mapping written)
      : ring_(std::move(ring)), read_(std::move(read)), written_(std::move(written)) {}

  UniqueFd ring_;
  Mapping read_;     ///< how far we have read
  Mapping written_;  ///< how far the kernel has written
  std::vector<UniqueFd> entries_{};
};

}  // namespace lldp::dataplane::bpf
