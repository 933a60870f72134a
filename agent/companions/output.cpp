// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "agent/process/log.hpp"

namespace lldp::io {

Output::Output(const char* who) : who_(who) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  from_ = UniqueFd(ends[0]);
  end_ = UniqueFd(ends[1]);
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

void Output::pass_on(std::int64_t now) {
  if (!from_) return;
  if (now - since_ >= kTime) {
    since_ = now;
    room_ = kMostOctets;
    said_ = left_out_;
    left_out_ = false;
  }
  std::array<char, 4096> text;  // a pipe takes that whole where poll(2) says that it takes anything
  for (std::size_t passed = 0; passed < kMostOctets; passed += text.size()) {
    const ssize_t n = ::read(from_.get(), text.data(), text.size());
    if (n <= 0) return;
    pass({text.data(), static_cast<std::size_t>(n)});
  }
}

void Output::pass(std::string_view text) {
  const bool fits = text.size() <= room_;
  text = text.substr(0, room_);
  if (!text.empty()) {
    // Waiting for a blocked log would let the supervised programs run for ever.
    if (!log_takes_more()) return leave_out();
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
    in_a_line_ = text.back() != '\n';
    room_ -= text.size();
  }
  if (!fits) leave_out();
}

void Output::leave_out() {
  left_out_ = true;
  if (said_ || !log_takes_more()) return;
  said_ = true;
  if (std::exchange(in_a_line_, false)) [[maybe_unused]]
    const auto ended = ::write(STDERR_FILENO, "\n", 1);
  log(Severity::kWarning, Error{.where = who_,
                                .what = "prints more than the log takes (64 KiB in a minute): "
                                        "the rest is left out"});
}

}  // namespace lldp::io
