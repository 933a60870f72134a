// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/config/config.hpp"
#include "agent/links/machine.hpp"

namespace lldp::io {

/// What the option `backend` comes to on this machine.
struct BackendChoice {
  std::string name{};  ///< as dataplane::make_backend takes it, or `none`
  std::string why{};   ///< for a person: what `auto` saw; empty: it was set
};

/// `auto`: `sonic` where SONiC's list of databases is, `flower,dcb` where a switch chip has ports
/// of the kernel, else `bpf,dcb`.
[[nodiscard]] BackendChoice choose_backend(const config::Config& config, const Machine& machine);

/// The same for a caller that does not watch the interfaces.
[[nodiscard]] Result<BackendChoice> choose_backend(const config::Config& config);

/// Keeps the choice beside the state file. Returns a line for the log if the last start chose
/// otherwise: what that one left, and how to go back. A state without this note is of a version
/// that took `bpf` where nothing was set.
[[nodiscard]] std::string keep_choice(const config::Config& config, const BackendChoice& choice);

}  // namespace lldp::io
