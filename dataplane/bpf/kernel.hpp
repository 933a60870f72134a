// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "os/fd.hpp"

/// bpf(2), as far as we use it. An Error's code is the errno; its text says what to do where that
/// is known.
namespace lldp::dataplane::bpf {

struct MapShape {
  bpf_map_type type{};
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
  std::uint32_t max_entries = 0;
  std::uint32_t flags = 0;
  friend bool operator==(const MapShape&, const MapShape&) = default;
};
[[nodiscard]] Result<UniqueFd> create_map(const char* name, const MapShape& shape);
/// The shape and, on return, the kernel's id of a map.
[[nodiscard]] Result<MapShape> shape_of_map(const UniqueFd& map);
[[nodiscard]] Result<void> freeze_map(const UniqueFd& map);
/// The memory of an array of one element that may be mapped (BPF_F_MMAPABLE), shared with the
/// kernel's programs.
class Mapping {
 public:
  enum class Access : std::uint8_t { kRead, kReadWrite };

  Mapping() = default;
  /// `from`: a multiple of the page size.
  [[nodiscard]] static Result<Mapping> of(const UniqueFd& map, std::size_t size,
                                          std::size_t from = 0, Access access = Access::kReadWrite);
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping();
  [[nodiscard]] void* get() const { return at_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Mapping(void* at, std::size_t size) : at_(at), size_(size) {}
  void* at_ = nullptr;
  std::size_t size_ = 0;
};
/// `flags`: BPF_ANY, BPF_NOEXIST (then EEXIST is an error like others).
[[nodiscard]] Result<void> set_element(const UniqueFd& map, const void* key, const void* value,
                                       std::uint64_t flags);

/// A refusal by the verifier carries its reason.
[[nodiscard]] Result<UniqueFd> load_program(const char* name, std::span<const bpf_insn> code,
                                            const char* license,
                                            bpf_prog_type type = BPF_PROG_TYPE_SCHED_CLS);
/// Runs the program whenever the kernel enters a function, by that one's number in BTF, as long as
/// the descriptor is open.
[[nodiscard]] Result<UniqueFd> trace_entry(const char* name, std::span<const bpf_insn> code,
                                           const char* license, std::uint32_t function);
[[nodiscard]] Result<std::uint32_t> id_of_program(const UniqueFd& program);
/// Needs CAP_SYS_ADMIN.
[[nodiscard]] Result<UniqueFd> program_by_id(std::uint32_t id);
/// As its loader gave it. Needs CAP_SYS_ADMIN.
[[nodiscard]] Result<std::string> name_of_program(std::uint32_t id);
/// The map of that name which the program uses. Needs CAP_SYS_ADMIN.
[[nodiscard]] Result<UniqueFd> map_of_program(const UniqueFd& program, std::string_view name);
/// False too where that cannot be told.
[[nodiscard]] bool uses_map(const UniqueFd& program, const UniqueFd& map);

[[nodiscard]] Result<void> pin(const UniqueFd& object, const std::string& path);
[[nodiscard]] Result<UniqueFd> get_pinned(const std::string& path);

/// True where the kernel has TCX (Linux 6.6).
[[nodiscard]] bool has_tcx();
/// The programs on a port's TCX hook, in the order in which packets meet them.
struct TcxChain {
  std::vector<std::uint32_t> program_ids{};
  std::vector<std::uint32_t> link_ids{};  ///< of each; 0 for one that was attached without a link
  /// Another one after each change; from the beginning again where the last program has gone.
  std::uint64_t revision = 0;
  friend bool operator==(const TcxChain&, const TcxChain&) = default;
};
[[nodiscard]] Result<TcxChain> tcx_chain(Ifindex port, Part part);
/// The same of a netkit device (Linux 6.7), of which the first end, the primary one, has all
/// programs. The other end, if it is in this network namespace, refuses to tell.
enum class NetkitEnd : std::uint8_t { kPrimary, kPeer };
[[nodiscard]] Result<TcxChain> netkit_chain(Ifindex primary, NetkitEnd of);
/// Whether tcx_chain() would be `seen`; allocates nothing.
[[nodiscard]] bool is_tcx_chain(Ifindex port, Part part, const TcxChain& seen);
/// First on the port's hook, so that no verdict of another program goes before ours.
[[nodiscard]] Result<UniqueFd> attach_tcx(const UniqueFd& program, Ifindex port, Part part);
/// The next packet is the new program's; none falls in between.
[[nodiscard]] Result<void> update_link(const UniqueFd& link, const UniqueFd& program);
/// At once: the program of a link whose last file is removed runs until a grace period has passed.
[[nodiscard]] Result<void> detach_link(const UniqueFd& link);
struct TcxLink {
  std::uint32_t id = 0;
  std::uint32_t program_id = 0;
  std::uint32_t ifindex = 0;  ///< 0: the interface is gone, or the link was detached
  std::optional<Part> part{};
};
[[nodiscard]] Result<TcxLink> link_info(const UniqueFd& link);
/// To an interface of this network namespace: a link goes along with one that is moved to another,
/// where its number says nothing here.
[[nodiscard]] Result<bool> is_attached(const TcxLink& link);
/// The link, whatever process keeps it. Needs CAP_SYS_ADMIN.
[[nodiscard]] Result<UniqueFd> link_by_id(std::uint32_t id);

/// CPUs that a per-CPU map has values for: so many the kernel writes, whatever room there is.
[[nodiscard]] Result<std::size_t> possible_cpus();

}  // namespace lldp::dataplane::bpf
