// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include "os/fd.hpp"

/// Programs that made something on the machine hold back the signals that end them, until they have
/// taken it down. Whoever waits meanwhile looks here.
namespace lldp::lab::live {

/// Those by which somebody ends a program.
[[nodiscard]] sigset_t ending_signals();
/// Readable once one of them has come that is held back. It stays, for whoever holds it back.
[[nodiscard]] UniqueFd watch_for_ending();
[[nodiscard]] bool is_ending();

}  // namespace lldp::lab::live
