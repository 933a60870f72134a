// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

struct lldp_level_rules;

namespace lldp::dataplane::bpf {

/// The two programs of one set of rules, in the kernel.
struct ProgramPair {
  UniqueFd in{};
  UniqueFd out{};
};

/// The compiled object, part of our own binary.
[[nodiscard]] ByteSpan object_octets();

/// The shape that the counters' map must have is that of `create_bounces()`.
[[nodiscard]] Result<UniqueFd> create_bounces();
[[nodiscard]] bool is_bounces(const UniqueFd& map);

/// Loads both programs with `rules` as their constants, counting in `bounces`. Done by hand, not by
/// libbpf: two programs with one map and one block of constants need a tenth of it, and the daemon
/// is 0.8 MB smaller without libbpf, libelf and zlib.
[[nodiscard]] Result<ProgramPair> load(const lldp_level_rules& rules, const UniqueFd& bounces);

}  // namespace lldp::dataplane::bpf
