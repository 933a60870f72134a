// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

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

/// As the kernel knows them, `in` and `out`, whichever version of ours loaded them.
inline constexpr std::array<std::string_view, 2> kProgramNames = {"lldp_level_in",
                                                                  "lldp_level_out"};

/// The compiled object, part of our own binary.
[[nodiscard]] ByteSpan object_octets();

/// The map that all programs of a network namespace share: a struct lldp_level_state with a row of
/// counters for each CPU that there may be.
[[nodiscard]] Result<UniqueFd> create_state();
/// True for one of the shape that create_state() gives.
[[nodiscard]] bool is_state(const UniqueFd& map);
[[nodiscard]] std::size_t size_of_state(std::size_t rows);
/// Rows of counters: as many as there may be CPUs.
[[nodiscard]] Result<std::uint32_t> rows_of_state();

/// Loads both programs of `object` with `rules` as their constants, sharing `state`. Done by hand,
/// not by libbpf: two programs with one map and one block of constants need a tenth of it, and the
/// daemon is 0.8 MB smaller without libbpf, libelf and zlib.
[[nodiscard]] Result<ProgramPair> load(ByteSpan object, const lldp_level_rules& rules,
                                       const UniqueFd& state);

/// Loads the filter for a socket that hears of routes (route_filter.bpf.c).
[[nodiscard]] Result<UniqueFd> load_route_filter();

}  // namespace lldp::dataplane::bpf
