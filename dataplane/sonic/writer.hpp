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

/// The commands of one transaction that writes CONFIG_DB for some ports, made from the last
/// reading, and the notes that have to be kept before it.
class RowWriter {
 public:
  RowWriter(const View& view, const PortBuffers& buffers)
      : view_(view), buffers_(buffers), notes_(view.notes) {}

  /// Why nothing can be written for the port now: a write while QoS is reloaded, between deletion
  /// and creation of the buffers, makes the buffer manager skip the buffers of the port.
  [[nodiscard]] std::optional<Error> why_not_now(const std::string& port, bool comes) const;
  /// The port gets these maps.
  void set(const std::string& port, const Maps& maps);
  /// The port gets back what it had before.
  void take_off(const std::string& port);
  /// Deletes our maps; no port may refer to them any more.
  void remove_maps();

  [[nodiscard]] const std::vector<Redis::Command>& commands() const { return commands_; }
  /// The notes to keep before the transaction.
  [[nodiscard]] const Memory& notes() const { return notes_; }
  /// The notes to keep after it: those of ports that lose their rules stay until then.
  [[nodiscard]] Memory notes_after() const;

 private:
  void keep_originals(const std::string& port, Row& note) const;
  [[nodiscard]] std::string pfc_to_write(const std::string& port, const std::string& wanted) const;

  const View& view_;
  const PortBuffers& buffers_;
  std::vector<Redis::Command> commands_{};
  std::set<std::string> maps_{};  ///< written already
  Memory notes_;
  Memory taken_off_{};  ///< notes of ports that lose their rules; empty: none are left
};

/// An intermediate value of a port's `pfc_enable`, so that the buffer manager makes the buffers
/// that it skipped: it looks at a port only when the value differs from the last one.
struct PfcStep {
  std::string from{};
  std::string to{};
  std::string map{};   ///< the map of DSCPs that the row has to name still
  bool again = false;  ///< this step omits the priorities that lack a buffer; the next adds them
};
/// The next step of a port that has its rules. `settled`: the buffer manager has had its time since
/// the last write. `may_begin`: another try may start.
[[nodiscard]] std::optional<PfcStep> next_pfc(const View& view, const PortBuffers& buffers,
                                              const std::string& port, bool settled,
                                              bool may_begin);
[[nodiscard]] Redis::Command command_of(const std::string& port, const PfcStep& step);

/// Makes the watchdog take the port's priorities again. Due once the ASIC has the port's mask.
[[nodiscard]] std::optional<Redis::Command> touch_watchdog(const View& view,
                                                           const std::string& port);

/// A step towards the priority groups of a port: commands, and the port's note after them. The
/// deletion of a row of BUFFER_PG takes the buffers of other rows that share a priority group, and
/// orchagent skips a row that comes again unchanged: such a row is deleted, and written later.
struct GroupStep {
  std::vector<Redis::Command> commands{};
  Row note{};
};
/// The next step of a port that has its rules, and lossless groups in CONFIG_DB alone; nothing: it
/// has none, or waits. `may_begin`: another try may start.
[[nodiscard]] std::optional<GroupStep> next_again(const View& view, const PortBuffers& buffers,
                                                  const std::string& port, bool may_begin);
/// The next step of a port that has lost its rules; nothing: wait. After the last step its note is
/// empty. `settled`: SONiC has had its time since the last write.
[[nodiscard]] std::optional<GroupStep> next_last(const View& view, const PortBuffers& buffers,
                                                 const std::string& port, bool settled);

/// What the chip cannot do for the port's lossless priorities of `mask`. kPfc: headroom; kQueues:
/// the chip's own watchdog.
[[nodiscard]] std::optional<std::string> buffer_limit(const View& view, const std::string& port,
                                                      Part part, std::uint8_t mask);
/// Why the port's priorities of `mask` are not lossless, with the command that mends it. kPfc: on
/// arrival; kQueues: on departure.
[[nodiscard]] std::optional<std::string> buffer_fault(const View& view, const PortBuffers& buffers,
                                                      const std::string& port, Part part,
                                                      std::uint8_t mask);

/// Why this release of SONiC cannot have the rules; nothing: it can, or the release is not known.
[[nodiscard]] std::optional<std::string> release_fault(const View& view);

}  // namespace lldp::dataplane::sonic
