// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp {

/// No configuration and no fabric that a switch stands in is longer.
inline constexpr std::size_t kMaxFileOctets = std::size_t{64} << 20;

/// A whole file, or what kept it from being read; `-` is standard input. A file that is longer than
/// `most` is refused.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t most = kMaxFileOctets);

/// The same of a file that can be read again, which is never waited for: neither standard input nor
/// a pipe, which would be empty the second time.
[[nodiscard]] Result<std::string> read_lasting_file(const std::string& path,
                                                    std::size_t most = kMaxFileOctets);

/// What is opened later must not be taken for a standard stream that is closed, and written to:
/// opens `path` in the place of each that is.
void hold_standard_streams(const char* path, int flags);

/// Flushes what was printed: 0, or 1 with a line if standard output cannot be written. What is left
/// to the end of the process fails there, and its exit status does not say so.
[[nodiscard]] int flush_output(const char* program);

/// Replaces the file by one with this text, readable by its owner alone; without text, removes it.
/// A reader finds either the whole old text or the whole new one.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace lldp
