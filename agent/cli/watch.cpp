// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/control/connection.hpp"
#include "os/fd.hpp"

namespace lldp::cli {
namespace {

using std::chrono::steady_clock;

/// The picture's times count seconds.
constexpr std::chrono::seconds kTick{1};

Result<void> ask(control::Connection& connection, const Arguments& arguments) {
  return connection.call("org.lldplevel.Watch", control::ports_parameter(arguments.operands), true);
}

/// The next daemon's, after the first is gone.
Result<control::Connection> come_back(const Arguments& arguments,
                                      const control::Deadline& deadline) {
  auto connection = control::open_when_there(arguments.socket, deadline);
  if (!connection) return connection;
  if (const auto asked = ask(*connection, arguments); !asked && !control::is_hang_up(asked.error()))
    return fail(asked.error());
  return connection;
}

/// What was said last, drawn in place: again with every change of it, of the window, and of the
/// second.
class Picture {
 public:
  void take(std::string answer) {
    answer_ = std::move(answer);
    said_ = steady_clock::now();
    gone_ = false;
  }
  void daemon_is_gone() { gone_ = true; }
  [[nodiscard]] Result<void> draw() const {
    if (!answer_) return {};
    report::Style style = terminal_style();
    const std::size_t height = terminal_height();
    // The cursor takes a line, and so does the remark.
    const std::size_t taken = gone_ ? 2 : 1;
    if (height > taken) style.height = height - taken;
    const auto age = std::chrono::floor<std::chrono::seconds>(steady_clock::now() - said_);
    const auto text = report::show_text(*answer_, style, age);
    if (!text) return fail(text.error());
    std::string out = "\x1b[H";
    if (gone_) out += "The daemon is gone, and waited for. It said last:\x1b[K\n";
    for (const char c : *text) {
      if (c == '\n') out += "\x1b[K";  // what stood there before
      out += c;
    }
    return print(out + "\x1b[J");
  }
  /// Until then the picture is right.
  [[nodiscard]] steady_clock::time_point due() const {
    const auto shown = std::chrono::floor<std::chrono::seconds>(steady_clock::now() - said_);
    return said_ + shown + kTick;
  }

 private:
  std::optional<std::string> answer_{};
  steady_clock::time_point said_{};
  bool gone_ = false;
};

/// Readable when the window's size has changed, which then interrupts nothing else.
Result<UniqueFd> resizes() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGWINCH);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(Error{errno, "signalfd", "cannot be made"});
  return fd;
}

/// Whether the daemon has something to say; else the picture is to be drawn again.
bool wait_for(int daemon, int window, steady_clock::time_point until) {
  std::array<pollfd, 2> ready{{{window, POLLIN, 0}, {daemon, POLLIN, 0}}};
  if (::poll(ready.data(), ready.size(), control::poll_time(until)) <= 0) return false;
  signalfd_siginfo signal{};
  while (::read(window, &signal, sizeof signal) > 0) continue;
  return ready[1].revents != 0;
}

Result<int> watch_on_screen(const Arguments& arguments, std::optional<control::Connection> daemon) {
  auto window = resizes();
  if (!window) return fail(window.error());
  if (const auto cleared = print("\x1b[H\x1b[2J"); !cleared) return fail(cleared.error());
  Picture picture;
  while (true) {
    if (!daemon) {
      static_cast<void>(wait_for(-1, window->get(),
                                 std::min(picture.due(), steady_clock::now() + control::kPause)));
      auto next = come_back(arguments, picture.due());
      if (next) {
        daemon.emplace(std::move(*next));
        continue;
      }
      static_cast<void>(wait_for(-1, window->get(), picture.due()));
    } else if (daemon->has_next() || wait_for(daemon->fd(), window->get(), picture.due())) {
      auto answer = daemon->next();
      if (answer) {
        picture.take(std::move(*answer));
      } else if (control::is_hang_up(answer.error())) {
        daemon.reset();
        picture.daemon_is_gone();
      } else {
        return fail(answer.error());
      }
    }
    if (const auto drawn = picture.draw(); !drawn) return fail(drawn.error());
  }
}

/// One answer after the other, for a reader of the pipe.
Result<int> watch_as_stream(const Arguments& arguments, std::optional<control::Connection> daemon) {
  while (true) {
    if (!daemon->has_next())
      if (const auto read = wait_while_read(daemon->fd()); !read) return fail(read.error());
    const auto answer = daemon->next();
    if (!answer && !control::is_hang_up(answer.error())) return fail(answer.error());
    if (!answer) {
      std::fprintf(stderr, "lldp-level: %s: waiting for the next\n",
                   to_string(answer.error()).c_str());
      std::this_thread::sleep_for(control::kPause);
      auto next = come_back(arguments, std::nullopt);
      if (!next) return fail(next.error());
      daemon.emplace(std::move(*next));
      continue;
    }
    auto text = arguments.json ? Result<std::string>(*answer + "\n")
                               : report::show_text(*answer, terminal_style());
    if (!text) return fail(text.error());
    if (!arguments.json) *text += "\n";  // an empty line parts them
    if (const auto printed = print(*text); !printed) return fail(printed.error());
  }
}

}  // namespace

Result<int> watch(const Arguments& arguments) {
  if (const auto there = all_there(arguments, arguments.operands); !there)
    return fail(there.error());
  auto connection = control::Connection::open(arguments.socket);
  if (!connection) return fail(connection.error());
  if (const auto asked = ask(*connection, arguments); !asked) return fail(asked.error());
  return is_screen() && !arguments.json ? watch_on_screen(arguments, std::move(*connection))
                                        : watch_as_stream(arguments, std::move(*connection));
}

}  // namespace lldp::cli
