// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/object.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/lldp_level_shared.h"
//
#include "lldp_level.skel.h"
#include "route_filter.skel.h"

namespace lldp::dataplane::bpf {
namespace {

/// A program's reach into a map is bounded: 256 MB. CPUs beyond do not count.
constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kUnclassedSize = sizeof(lldp_level_unclassed) * LLDP_LEVEL_SLOTS;
constexpr char kLicense[] = "Dual BSD/GPL";

/// Reads the parts of a relocatable ELF object that a loader needs. Out of range reads as empty:
/// the object is ours, and a damaged one is refused as a whole.
class Elf {
 public:
  explicit Elf(ByteSpan octets) : octets_(octets), header_(at<Elf64_Ehdr>(0)) {
    for (std::size_t i = 0; i < header_.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if (text(header_.e_shstrndx, sections_[i].sh_name) == name) return i;
    return std::nullopt;
  }
  [[nodiscard]] ByteSpan content(std::size_t section) const {
    const Elf64_Shdr& s = sections_[section];
    if (s.sh_offset > octets_.size() || s.sh_size > octets_.size() - s.sh_offset) return {};
    return octets_.subspan(s.sh_offset, s.sh_size);
  }
  template <class Row>
  [[nodiscard]] std::vector<Row> rows(std::size_t section) const {
    const ByteSpan from = content(section);
    std::vector<Row> rows(from.size() / sizeof(Row));
    if (!rows.empty()) std::memcpy(rows.data(), from.data(), rows.size() * sizeof(Row));
    return rows;
  }
  [[nodiscard]] std::string_view text(std::size_t section, std::size_t offset) const {
    if (section >= sections_.size()) return {};
    const std::string_view all = as_text(content(section));
    return offset < all.size() ? all.substr(offset, all.find('\0', offset) - offset)
                               : std::string_view();
  }
  [[nodiscard]] std::size_t linked(std::size_t section) const { return sections_[section].sh_link; }

 private:
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    T value{};
    if (offset <= octets_.size() && sizeof value <= octets_.size() - offset)
      std::memcpy(&value, octets_.data() + offset, sizeof value);
    return value;
  }

  ByteSpan octets_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
};

Result<MapShape> shape_of_state() {
  const auto rows = rows_of_state();
  if (!rows) return fail(rows.error());
  return MapShape{BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t),
                  static_cast<std::uint32_t>(size_of_state(*rows) + kUnclassedSize), 1,
                  BPF_F_MMAPABLE};
}

Error damaged() { return {0, "bpf", "the embedded program is damaged: install the package again"}; }

Result<UniqueFd> create_constants(const lldp_level_rules& rules) {
  auto map = create_map("lldp_rules", {BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t), sizeof rules, 1,
                                       BPF_F_RDONLY_PROG});
  if (!map) return map;
  const std::uint32_t zero = 0;
  if (auto done = set_element(*map, &zero, &rules, BPF_ANY); !done) return fail(done.error());
  // Frozen, the verifier takes the rules for constants and leaves out what they rule out.
  if (auto done = freeze_map(*map); !done) return fail(done.error());
  return map;
}

}  // namespace

ByteSpan object_octets() {
  std::size_t size = 0;
  const void* data = lldp_level__elf_bytes(&size);
  return {static_cast<const std::uint8_t*>(data), size};
}

Result<std::uint32_t> rows_of_state() {
  const auto cpus = possible_cpus();
  if (!cpus) return fail(cpus.error());
  return static_cast<std::uint32_t>(std::min(*cpus, kMostRows));
}

std::size_t size_of_state(std::size_t rows) {
  return sizeof(lldp_level_state) + (rows - 1) * sizeof(lldp_level_state::bounces);
}

Result<UniqueFd> create_state() {
  const auto shape = shape_of_state();
  if (!shape) return fail(shape.error());
  return create_map("lldp_state", *shape);
}

bool is_state(const UniqueFd& map) {
  const auto right = shape_of_state();
  const auto shape = shape_of_map(map);
  return right && shape && *shape == *right;
}

Result<ProgramPair> load(ByteSpan object, const lldp_level_rules& rules, const UniqueFd& state) {
  const Elf elf(object);
  const auto code_at = elf.find("tc");
  const auto relocations_at = elf.find(".reltc");
  const auto symbols_at = elf.find(".symtab");
  const auto constants_at = elf.find(".rodata");
  const auto state_at = elf.find(".bss");
  if (!code_at || !relocations_at || !symbols_at || !constants_at || !state_at)
    return fail(damaged());

  auto constants = create_constants(rules);
  if (!constants) return fail(constants.error());
  auto code = elf.rows<bpf_insn>(*code_at);
  const auto symbols = elf.rows<Elf64_Sym>(*symbols_at);
  // A reference to a constant or to the state is a 64-bit load in two instructions.
  for (const Elf64_Rel& r : elf.rows<Elf64_Rel>(*relocations_at)) {
    const std::size_t i = r.r_offset / sizeof(bpf_insn);
    const std::size_t s = ELF64_R_SYM(r.r_info);
    if (i + 1 >= code.size() || s >= symbols.size()) return fail(damaged());
    const std::size_t of = symbols[s].st_shndx;
    if (of != *constants_at && of != *state_at) return fail(damaged());
    code[i].src_reg = BPF_PSEUDO_MAP_VALUE;
    code[i + 1].imm = code[i].imm + static_cast<int>(symbols[s].st_value);
    code[i].imm = of == *constants_at ? constants->get() : state.get();
  }
  ProgramPair pair;
  for (const Elf64_Sym& s : symbols) {
    if (s.st_shndx != *code_at || ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
    const std::size_t first = s.st_value / sizeof(bpf_insn);
    const std::size_t count = s.st_size / sizeof(bpf_insn);
    if (first > code.size() || count > code.size() - first) return fail(damaged());
    const std::string program(elf.text(elf.linked(*symbols_at), s.st_name));
    auto fd = load_program(program.c_str(), std::span(code).subspan(first, count), kLicense);
    if (!fd) return fail(fd.error());
    (program == kProgramNames[0] ? pair.in : pair.out) = std::move(*fd);
  }
  if (!pair.in || !pair.out) return fail(damaged());
  return pair;
}

Result<UniqueFd> load_route_filter() {
  std::size_t size = 0;
  const auto* const data = static_cast<const std::uint8_t*>(route_filter__elf_bytes(&size));
  const Elf elf({data, size});
  const auto code_at = elf.find("socket");
  if (!code_at) return fail(damaged());
  return load_program("lldp_level_routes", elf.rows<bpf_insn>(*code_at), kLicense,
                      BPF_PROG_TYPE_SOCKET_FILTER);
}

}  // namespace lldp::dataplane::bpf
