// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dataplane/sonic/buffers.hpp"
#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/redis.hpp"
#include "dataplane/sonic/view.hpp"

namespace lldp::dataplane::sonic {

/// What is written to CONFIG_DB for some ports in one transaction, by what was read of it, and what
/// has to be kept of them before.
class RowWriter {
 public:
  RowWriter(const View& view, const PortBuffers& buffers)
      : view_(view), buffers_(buffers), notes_(view.notes) {}

  /// Why nothing can be written for the port now. What is written while QoS is loaded anew, between
  /// the deletion of the buffers and their coming, makes the buffer manager leave out the port's.
  [[nodiscard]] std::optional<Error> why_not_now(const std::string& port, bool comes) const;
  /// The port gets these maps.
  void set(const std::string& port, const Maps& maps);
  /// The port gets back what it had before.
  void take_off(const std::string& port);
  /// No port refers to them any more.
  void remove_maps();

  [[nodiscard]] const std::vector<Redis::Command>& commands() const { return commands_; }
  /// What is to be kept before that is written.
  [[nodiscard]] const Memory& notes() const { return notes_; }
  /// What is to be kept when it has been: ports without rules keep theirs until then.
  [[nodiscard]] Memory notes_after() const;

 private:
  void keep_originals(const std::string& port, Row& note) const;
  [[nodiscard]] std::string pfc_to_write(const std::string& port, const std::string& wanted) const;

  const View& view_;
  const PortBuffers& buffers_;
  std::vector<Redis::Command> commands_{};
  std::set<std::string> maps_{};  ///< written already
  Memory notes_;
  Memory taken_off_{};  ///< of ports without rules what is kept still; empty: nothing
};

/// Another value of a port's `pfc_enable`, so that the buffer manager makes what it left out: it
/// looks at a port only when it sees a value that differs from the one before.
struct PfcStep {
  std::string from{};
  std::string to{};
  std::string map{};   ///< of DSCPs that the port has meanwhile
  bool again = false;  ///< it is without the priorities that lack a buffer, and the next is with
};
/// The next of a port whose rules are there. `settled`: the buffer manager had its time since the
/// last write. `may_begin`: it may be tried again.
[[nodiscard]] std::optional<PfcStep> next_pfc(const View& view, const PortBuffers& buffers,
                                              const std::string& port, bool settled,
                                              bool may_begin);
[[nodiscard]] Redis::Command command_of(const std::string& port, const PfcStep& step);

/// What is due once the ASIC has taken what was written: the watchdog takes the port's priorities
/// anew, and rows of BUFFER_PG whose buffers went with those of another are written again.
/// `watchdog`, `groups`: whether that is to be done.
[[nodiscard]] std::vector<Redis::Command> follow_up(const View& view, const PortBuffers& buffers,
                                                    const std::string& port);
/// A port without our rules whose ASIC has taken that.
[[nodiscard]] bool has_left(const View& view, const PortBuffers& buffers, const std::string& port);

/// What the chip cannot do of the port's lossless priorities of `mask`: for kPfc headroom, for
/// kQueues its own watchdog.
[[nodiscard]] std::optional<std::string> buffer_limit(const View& view, const std::string& port,
                                                      Part part, std::uint8_t mask);
/// What keeps the port's lossless priorities of `mask` from being lossless, with the command that
/// ends it: for kPfc on arrival, for kQueues where they leave.
[[nodiscard]] std::optional<std::string> buffer_fault(const View& view, const PortBuffers& buffers,
                                                      const std::string& port, Part part,
                                                      std::uint8_t mask);

/// Why this release of SONiC cannot have the rules; nothing: it can, or it is not known.
[[nodiscard]] std::optional<std::string> release_fault(const View& view);

}  // namespace lldp::dataplane::sonic
