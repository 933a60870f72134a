// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace lldp::cli {
namespace {

winsize size() {
  winsize out{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &out) != 0) return {};
  return out;
}

}  // namespace

bool is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

report::Style terminal_style() {
  report::Style style;
  if (!is_terminal()) return style;
  const char* no_colour = std::getenv("NO_COLOR");  // present and not empty
  const char* term = std::getenv("TERM");
  style.colour = (no_colour == nullptr || *no_colour == '\0') && term != nullptr &&
                 std::string_view(term) != "dumb";
  style.width = size().ws_col;
  return style;
}

std::size_t terminal_height() { return size().ws_row; }

Result<void> print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return fail(Error{errno, "standard output", "cannot be written"});
}

}  // namespace lldp::cli
