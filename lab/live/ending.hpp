// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include "os/fd.hpp"

/// Programs that made something on the machine hold back the signals that end them, until they have
/// removed it. Code that waits meanwhile looks here.
namespace lldp::lab::live {

/// The signals that end a program.
[[nodiscard]] sigset_t ending_signals();
/// Readable once one of the held signals has come. It stays readable, for the holder to see.
[[nodiscard]] UniqueFd watch_for_ending();
[[nodiscard]] bool is_ending();

/// No signal ends us while this lives; one that came meanwhile and was not read, then does.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace lldp::lab::live
