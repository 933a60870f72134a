// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace lldp::cli {
namespace {

Error not_written(int code) { return {code, "standard output", "cannot be written"}; }

winsize size() {
  winsize out{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &out) != 0) return {};
  return out;
}

/// Empty where it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

}  // namespace

bool is_screen() {
  const std::string_view kind = variable("TERM");
  return is_terminal() && !kind.empty() && kind != "dumb";
}

report::Style terminal_style() {
  report::Style style;
  if (!is_terminal()) return style;
  style.colour = is_screen() && variable("NO_COLOR").empty();
  style.width = size().ws_col;
  return style;
}

std::size_t terminal_height() { return size().ws_row; }

Result<void> print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return fail(not_written(errno));
}

Result<void> wait_while_read(int fd) {
  std::array<pollfd, 2> ready{{{fd, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  while (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) continue;
  if (ready[1].revents != 0) return fail(not_written(0));
  return {};
}

}  // namespace lldp::cli
