// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/chain_watch.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "base/bytes.hpp"
#include "dataplane/bpf/btf.hpp"
#include "os/file.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// Writes eight octets to the ring: bpf_ringbuf_output(ring, stack, 8, 0).
std::array<bpf_insn, 10> code_for(const UniqueFd& ring) {
  const auto insn = [](int code, int to, int from, int off, int imm) {
    bpf_insn i{};
    i.code = static_cast<__u8>(code);
    i.dst_reg = static_cast<__u8>(to & 0xf);
    i.src_reg = static_cast<__u8>(from & 0xf);
    i.off = static_cast<__s16>(off);
    i.imm = imm;
    return i;
  };
  constexpr int kMove = BPF_ALU64 | BPF_MOV;
  return {insn(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0),
          insn(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, ring.get()),
          insn(0, 0, 0, 0, 0),
          insn(kMove | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
          insn(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8),
          insn(kMove | BPF_K, BPF_REG_3, 0, 0, 8),
          insn(kMove | BPF_K, BPF_REG_4, 0, 0, 0),
          insn(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output),
          insn(kMove | BPF_K, BPF_REG_0, 0, 0, 0),  // what a program at an entry has to return
          insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
}

std::atomic_ref<std::uint64_t> position(const Mapping& page) {
  return std::atomic_ref(*static_cast<std::uint64_t*>(page.get()));
}

}  // namespace

Result<ChainWatch> ChainWatch::open(std::span<const char* const> functions, const char* btf_file) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto ring = create_map("lldp_chains", {.type = BPF_MAP_TYPE_RINGBUF,
                                         .max_entries = static_cast<std::uint32_t>(page)});
  if (!ring) return fail(ring.error());
  auto read = Mapping::of(*ring, page);
  if (!read) return fail(read.error());
  auto written = Mapping::of(*ring, page, page, Mapping::Access::kRead);
  if (!written) return fail(written.error());
  const auto code = code_for(*ring);
  const auto trace = [&code](std::uint32_t function) {
    return trace_entry("lldp_chains", code, "Dual BSD/GPL", function);
  };
  // The description has some megabytes. No function has number 0, so this always fails: with EPERM
  // where the kernel does not let us trace, else with the error of a wrong number.
  if (const auto probe = trace(0); probe.error().code == EPERM) return fail(probe.error());
  const auto file = read_file(btf_file);
  if (!file) return fail(file.error());
  const ByteSpan btf = as_octets(*file);
  ChainWatch watch(std::move(*ring), std::move(*read), std::move(*written));
  for (const char* name : functions) {
    const auto function = function_in_btf(btf, name);
    if (!function) return fail(Error{ENOENT, btf_file, std::string("has no ") + name});
    auto entry = trace(*function);
    if (!entry) return fail(entry.error());
    watch.entries_.push_back(std::move(*entry));
  }
  return watch;
}

bool ChainWatch::take() {
  const std::uint64_t written = position(written_).load(std::memory_order_acquire);
  if (written == position(read_).load(std::memory_order_relaxed)) return false;
  position(read_).store(written, std::memory_order_release);
  return true;
}

}  // namespace lldp::dataplane::bpf
