// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace lldp::dataplane::bpf {

/// The number of the function of that name in the kernel's description of itself (BTF). Nothing:
/// it has none, or the description is cut off or of a kind that is not known here.
[[nodiscard]] std::optional<std::uint32_t> function_in_btf(ByteSpan btf, std::string_view name);

}  // namespace lldp::dataplane::bpf
