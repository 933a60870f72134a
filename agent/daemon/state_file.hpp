// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "agent/core/state.hpp"
#include "base/result.hpp"

/// The state file: what outlives a restart, as a few lines of text.
///
///     lldp-level-state 1
///     chassis-id 4 020000000001      subtype, octets in hexadecimal
///     level 2
///     end
///
/// Lines for what is not known are left out; a file without its last line is torn.
namespace lldp::io {

/// The text of the file. format_state and parse_state are each other's inverse.
[[nodiscard]] std::string format_state(const core::State& state);
/// The error's `where` is the line; its `what` says what is wrong with it.
[[nodiscard]] Result<core::State> parse_state(std::string_view text);

/// Reads the file. A missing one is a first start: an empty State. A damaged one is an error after
/// which the caller goes on with an empty State; it was renamed to PATH.corrupt, so that it is
/// neither lost nor read again.
[[nodiscard]] Result<core::State> load_state(const std::string& path);

/// Replaces the file as a whole: whoever reads it, or whenever the power goes, finds the old or the
/// new content. Waits for the disk. On failure the old file is untouched.
[[nodiscard]] Result<void> save_state(const std::string& path, const core::State& state);

}  // namespace lldp::io
