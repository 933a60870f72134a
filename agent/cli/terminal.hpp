// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "agent/report/text.hpp"
#include "base/result.hpp"

/// Standard output, which may be a terminal.
namespace lldp::cli {

/// It is a terminal, and obeys escape sequences.
[[nodiscard]] bool is_screen();
/// In color on a screen, where https://no-color.org allows it; as wide as the terminal is. The
/// height is left open, for what scrolls.
[[nodiscard]] report::Style terminal_style();
/// The lines of the terminal; 0: it has none, or does not say.
[[nodiscard]] std::size_t terminal_height();
/// Written and flushed.
[[nodiscard]] Result<void> print(std::string_view text);
/// Until poll(2) reports data of `fd`. An error as soon as nothing reads what print() writes: the
/// pipe's other end is closed, or the terminal is gone. Else that shows with the next change alone.
[[nodiscard]] Result<void> wait_while_read(int fd);

}  // namespace lldp::cli
