// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// A network namespace, told from all others there have been since the machine started: the number
/// of its file is given to another as soon as it has gone.
struct Namespace {
  std::uint64_t file = 0;
  std::optional<std::uint64_t> cookie{};  ///< since Linux 5.14

  /// Of the calling thread.
  [[nodiscard]] static Namespace current();
  [[nodiscard]] std::uint64_t number() const { return cookie.value_or(file); }
  [[nodiscard]] std::string name() const;
  /// True for the name of one that had the same file before: it is no more.
  [[nodiscard]] bool is_predecessor(std::string_view other) const;
};

/// Our directory in the BPF file system, where objects outlive us: one per network namespace, as
/// the ports are. It comes to be with the first file.
class Pins {
 public:
  /// What the names of links begin with, one per port and part.
  static constexpr std::string_view kLink = "port-";

  /// Nothing where no BPF file system is mounted, where we may not write, and where another user
  /// has made our directory: that user could remove its contents. Pins of an earlier daemon for
  /// this namespace in another BPF file system move here, or are used there if `bpffs` is none. The
  /// directories of dead namespaces are removed, as far as they can be recognized.
  [[nodiscard]] static std::optional<Pins> open(const std::string& bpffs);
  /// In words, where open() finds none.
  [[nodiscard]] static std::string why_none(const std::string& bpffs);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// The file system that is mounted there now: another number, or none, after an unmount, when
  /// every object that no process held open is gone.
  [[nodiscard]] std::optional<std::uint64_t> file_system() const;
  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;  ///< of the objects
  [[nodiscard]] Result<void> put(const UniqueFd& object, std::string_view name) const;
  void remove(std::string_view name) const;
  /// Something to be remembered that no object stands for: an empty directory of that name.
  void mark(std::string_view name) const;
  void unmark(std::string_view name) const;
  [[nodiscard]] bool is_marked(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> marks() const;
  /// Removes every file of ours, and the directory.
  void clear() const;

 private:
  explicit Pins(std::string directory) : directory_(std::move(directory)) {}
  void take_from(const Pins& other) const;
  void bury(const Namespace& of) const;
  [[nodiscard]] bool has_only_dead_links() const;
  void need_directory() const;
  std::string directory_;
};

}  // namespace lldp::dataplane::bpf
