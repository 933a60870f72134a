// SPDX-License-Identifier: Apache-2.0
#include "lab/live/ending.hpp"

#include <sys/signalfd.h>

namespace lldp::lab::live {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

UniqueFd watch_for_ending() {
  const sigset_t set = ending_signals();
  return UniqueFd(signalfd(-1, &set, SFD_CLOEXEC));
}

bool is_ending() {
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : kSignals)
    if (sigismember(&pending, signal) == 1) return true;
  return false;
}

SignalsHeld::SignalsHeld() {
  const sigset_t ending = ending_signals();
  sigprocmask(SIG_BLOCK, &ending, &before_);
}

SignalsHeld::~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace lldp::lab::live
