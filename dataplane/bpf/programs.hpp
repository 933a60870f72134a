// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/object.hpp"
#include "dataplane/bpf/pins.hpp"
#include "os/fd.hpp"
#include "qos/ruleset.hpp"

struct lldp_level_state;

namespace lldp::dataplane::bpf {

/// The programs in the kernel, one pair for all ports with equal rules, and the state that they all
/// share: the ports' tags, and what they count. What an earlier daemon has pinned is used again.
class Programs {
 public:
  struct Loaded {
    std::string key{};  ///< of the rules and of the code; equal keys, equal behavior
    ProgramPair programs{};
    std::uint32_t in_id = 0;
    std::uint32_t out_id = 0;
    [[nodiscard]] const UniqueFd& program(Part p) const {
      return p == Part::kClassify ? programs.in : programs.out;
    }
  };

  explicit Programs(std::optional<Pins> pins);

  [[nodiscard]] static std::string key_of(const qos::Ruleset& rules);
  /// The programs for these rules, loaded if need be.
  [[nodiscard]] Result<const Loaded*> get(const qos::Ruleset& rules);
  [[nodiscard]] const Loaded* find(const std::string& key) const;
  /// The key of the program with this id; empty if it is not one of these.
  [[nodiscard]] std::string key_of_id(std::uint32_t id) const;

  /// Takes over the state that this program, found at work, shares. False without CAP_SYS_ADMIN.
  [[nodiscard]] bool adopt_state(std::uint32_t program_id);
  [[nodiscard]] bool has_state() const { return state_.get() != nullptr; }
  /// Gives the port a place in the state, with zeros if it is new. With all its places taken it is
  /// protected by the mark alone, and not counted.
  [[nodiscard]] Result<void> need_place(Ifindex port);
  /// What packets that come in by the port are taken for wherever they leave; nothing: they are
  /// judged by their mark. Of a port without a place nothing can be said.
  void set_tag(Ifindex port, std::optional<qos::Tag> tag);
  [[nodiscard]] std::optional<qos::Tag> tag(Ifindex port) const;
  [[nodiscard]] bool may_know_tag(Ifindex port) const;
  /// Lets go of the tags of all other ports, and of the places of those that are no more.
  void keep_only(const std::set<Ifindex>& ports);
  [[nodiscard]] Bounces bounces(Ifindex port) const;
  /// Zeros for a port without a place. The counters are mapped once for all of the ports.
  void count_unclassed(std::span<const Ifindex> ports, const Backend::EachUnclassed& each) const;
  /// Packets that left lossy since the daemon's start, for the kernel had joined the fragments of
  /// a datagram.
  [[nodiscard]] std::uint64_t joined() const;
  void forget(Ifindex port);
  /// No port uses a program any more: lets go of everything.
  void clear();

  [[nodiscard]] const std::optional<Pins>& pins() const { return pins_; }

 private:
  [[nodiscard]] Result<void> need_state();
  [[nodiscard]] bool take_state(UniqueFd map);
  /// The programs that are pinned under this key, if they are whole and share our state.
  const Loaded* take_pinned(const std::string& key);
  void unpin(const std::string& key) const;
  [[nodiscard]] lldp_level_state& state() const;
  /// The counters of the places from `first` on. They lie behind what is mapped for good, for 512
  /// octets a place are much for what is nearly always zero.
  class UnclassedCounters;
  /// The place with this owner (0: a free one) among those that `port` may have.
  [[nodiscard]] std::optional<std::uint32_t> slot_of(Ifindex owner, Ifindex port) const;
  const Loaded& keep(std::string key, ProgramPair pair, std::uint32_t in_id, std::uint32_t out_id);

  std::optional<Pins> pins_;
  UniqueFd map_;
  Mapping state_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace lldp::dataplane::bpf
