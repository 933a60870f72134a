// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/object.hpp"
#include "os/fd.hpp"
#include "qos/ruleset.hpp"

namespace lldp::dataplane::bpf {

/// Our directory in the BPF file system, where objects outlive us: one per network namespace, as
/// the ports are. It comes to be with the first file.
class Pins {
 public:
  /// Nothing where no BPF file system is mounted, or where we may not write.
  [[nodiscard]] static std::optional<Pins> open(const std::string& bpffs);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] Result<void> put(const UniqueFd& object, std::string_view name) const;
  void remove(std::string_view name) const;
  /// Removes every file of ours, and the directory.
  void clear() const;

 private:
  explicit Pins(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

/// The programs in the kernel, one pair for all ports with equal rules, and the map in which they
/// all count. What an earlier daemon has pinned is used again.
class Programs {
 public:
  struct Loaded {
    std::string key{};  ///< of the rules and of the code; equal keys, equal behaviour
    ProgramPair programs{};
    std::uint32_t in_id = 0;
    std::uint32_t out_id = 0;
    [[nodiscard]] const UniqueFd& program(Part p) const {
      return p == Part::kIngress ? programs.in : programs.out;
    }
  };

  explicit Programs(std::optional<Pins> pins);

  [[nodiscard]] static std::string key_of(const qos::Ruleset& rules);
  /// The programs for these rules, loaded if need be.
  [[nodiscard]] Result<const Loaded*> get(const qos::Ruleset& rules);
  [[nodiscard]] const Loaded* find(const std::string& key) const;
  /// The key of the program with this id; empty if it is not one of these.
  [[nodiscard]] std::string key_of_id(std::uint32_t id) const;

  /// Counts in the map that this program, found at work, counts in. False without CAP_SYS_ADMIN.
  [[nodiscard]] bool adopt_bounces(std::uint32_t program_id);
  [[nodiscard]] bool has_bounces() const { return static_cast<bool>(bounces_); }
  /// A place to count in, zero if it is new.
  [[nodiscard]] Result<void> start_counting(Ifindex port);
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) const;
  void forget(Ifindex port);
  /// No port uses a program any more: lets go of everything.
  void clear();

  [[nodiscard]] const std::optional<Pins>& pins() const { return pins_; }

 private:
  [[nodiscard]] Result<void> need_bounces();
  /// The entry with this owner (0: a free one) among those where `start` may count.
  [[nodiscard]] Result<std::optional<std::uint32_t>> slot_of(Ifindex owner, Ifindex start) const;
  [[nodiscard]] Result<void> set_slot(std::uint32_t slot, Ifindex owner);
  const Loaded& keep(std::string key, ProgramPair pair, std::uint32_t in_id, std::uint32_t out_id);

  std::optional<Pins> pins_;
  UniqueFd bounces_;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace lldp::dataplane::bpf
