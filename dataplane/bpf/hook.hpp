// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/programs.hpp"

namespace lldp::dataplane::bpf {

/// A place of the kernel where a program can be attached to a port: TCX, or the clsact qdisc.
class Hook {
 public:
  Hook() = default;
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;
  virtual ~Hook() = default;

  /// The key of our program there, empty if it is ours but none we know; nullopt if none is ours.
  [[nodiscard]] virtual Result<std::optional<std::string>> find(Ifindex port, Part part) = 0;
  /// Attaches the program, or lets it take the place of ours between two packets.
  [[nodiscard]] virtual Result<void> put(Ifindex port, Part part,
                                         const Programs::Loaded& program) = 0;
  /// Takes ours away, and what was made only to hold it.
  [[nodiscard]] virtual Result<void> remove(Ifindex port, Part part) = 0;
  /// The same, when ours is on another hook now; what was made to hold it may stay until remove().
  [[nodiscard]] virtual Result<void> leave(Ifindex port, Part part) { return remove(port, part); }
  /// The interface is gone, and with it what was attached.
  virtual void forget(Ifindex port) = 0;
  /// True if programs of others run there, which a program on another hook would come after.
  [[nodiscard]] virtual bool is_shared(Ifindex /*port*/, Part /*part*/) { return false; }
  /// Ports with a program of ours.
  [[nodiscard]] virtual Result<std::vector<Ifindex>> ports() = 0;
};

}  // namespace lldp::dataplane::bpf
