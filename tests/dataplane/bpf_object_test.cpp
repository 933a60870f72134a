// SPDX-License-Identifier: Apache-2.0
// The embedded object is ours; one that is damaged is refused as a whole, whatever it is that is
// wrong with it.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/lldp_level_shared.h"
#include "dataplane/bpf/object.hpp"
#include "tests/support/no_descriptors.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// A copy of the object, and places in it.
class Object {
 public:
  template <class T>
  T* at(std::size_t offset) {
    return reinterpret_cast<T*>(octets_.data() + offset);
  }
  Elf64_Shdr& section(std::size_t n) {
    const auto* header = at<Elf64_Ehdr>(0);
    return at<Elf64_Shdr>(header->e_shoff)[n];
  }
  char* name_of_section(std::size_t n) {
    return at<char>(section(at<Elf64_Ehdr>(0)->e_shstrndx).sh_offset + section(n).sh_name);
  }
  std::size_t find(std::string_view name) {
    for (std::size_t n = 1; n < at<Elf64_Ehdr>(0)->e_shnum; ++n)
      if (name_of_section(n) == name) return n;
    ADD_FAILURE() << "no section " << name;
    return 0;
  }
  template <class Row>
  std::span<Row> rows(std::string_view section_name) {
    const Elf64_Shdr& s = section(find(section_name));
    return {at<Row>(s.sh_offset), s.sh_size / sizeof(Row)};
  }
  Elf64_Sym& function(std::string_view name) {
    const std::size_t names = section(section(find(".symtab")).sh_link).sh_offset;
    for (Elf64_Sym& symbol : rows<Elf64_Sym>(".symtab"))
      if (at<char>(names + symbol.st_name) == name) return symbol;
    ADD_FAILURE() << "no symbol " << name;
    return rows<Elf64_Sym>(".symtab")[0];
  }
  [[nodiscard]] ByteSpan octets() const { return octets_; }

 private:
  Bytes octets_{object_octets().begin(), object_octets().end()};
};

class BpfObject : public testing::Test {
 protected:
  void SetUp() override {
    auto state = create_state();
    if (!state) GTEST_SKIP() << to_string(state.error());
    state_ = std::move(*state);
    ASSERT_TRUE(load(object_octets(), rules_, state_)) << "else all of these pass";
  }
  void expect_damaged(ByteSpan octets) {
    const auto loaded = load(octets, rules_, state_);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(to_string(loaded.error()),
              "bpf: the embedded program is damaged: install the package again");
  }
  void expect_damaged_by(const std::function<void(Object&)>& damage) {
    Object object;
    damage(object);
    expect_damaged(object.octets());
  }

  lldp_level_rules rules_{};
  UniqueFd state_{};
};

TEST_F(BpfObject, CutOffIsRefused) {
  const ByteSpan whole = object_octets();
  for (const std::size_t size :
       {std::size_t{0}, sizeof(Elf64_Ehdr) - 1, sizeof(Elf64_Ehdr), whole.size() / 2,
        whole.size() - sizeof(Elf64_Shdr), whole.size() - 1})
    expect_damaged(whole.first(size));
}

TEST_F(BpfObject, WithoutAnyOfItsSectionsIsRefused) {
  for (const char* name : {"tc", ".reltc", ".symtab", ".rodata", ".bss"}) {
    SCOPED_TRACE(name);
    expect_damaged_by([&](Object& o) { *o.name_of_section(o.find(name)) = 'X'; });
  }
}

TEST_F(BpfObject, WhoseSectionsLieOutsideIsRefused) {
  for (const char* name : {"tc", ".symtab"})
    for (const std::uint64_t far : {std::uint64_t{1} << 20, ~std::uint64_t{0}}) {
      SCOPED_TRACE(std::string(name) + " at " + std::to_string(far));
      expect_damaged_by([&](Object& o) { o.section(o.find(name)).sh_offset = far; });
      expect_damaged_by([&](Object& o) { o.section(o.find(name)).sh_size = far; });
    }
}

TEST_F(BpfObject, WithAReferenceFromOrToNowhereIsRefused) {
  const auto first = [](Object& o) -> Elf64_Rel& { return o.rows<Elf64_Rel>(".reltc")[0]; };
  const auto size = [](Object& o) { return o.section(o.find("tc")).sh_size; };
  for (const std::uint64_t before_end : {0U, 8U})  // it takes two instructions
    expect_damaged_by([&](Object& o) { first(o).r_offset = size(o) - before_end; });
  expect_damaged_by([&](Object& o) { first(o).r_offset = ~std::uint64_t{0} - 16; });
  expect_damaged_by([&](Object& o) {
    first(o).r_info = ELF64_R_INFO(o.rows<Elf64_Sym>(".symtab").size(), std::uint64_t{1});
  });
  expect_damaged_by([&](Object& o) {
    o.rows<Elf64_Sym>(".symtab")[ELF64_R_SYM(first(o).r_info)].st_shndx =
        static_cast<Elf64_Half>(o.find("tc"));
  });
}

TEST_F(BpfObject, WithoutEitherProgramIsRefused) {
  for (const std::string_view name : kProgramNames) {
    SCOPED_TRACE(name);
    expect_damaged_by(
        [&](Object& o) { o.function(name).st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE); });
    expect_damaged_by([&](Object& o) { o.function(name).st_shndx = SHN_UNDEF; });
    expect_damaged_by([&](Object& o) { o.function(name).st_value = std::uint64_t{1} << 20; });
    expect_damaged_by([&](Object& o) { o.function(name).st_size = std::uint64_t{1} << 20; });
  }
}

[[noreturn]] void make_state_without_descriptors() {
  const support::NoDescriptors none;
  const auto state = create_state();
  if (!state) std::fprintf(stderr, "%s\n", to_string(state.error()).c_str());
  std::_Exit(state ? 1 : 0);
}

// It has a row for each CPU; how many those are is not guessed.
TEST(BpfStateDeathTest, IsNotMadeWhereTheCpusCannotBeCounted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked before
  EXPECT_EXIT(
      make_state_without_descriptors(), testing::ExitedWithCode(0),
      "^/sys/devices/system/cpu/possible cannot be read: Too many open files: let the container "
      "see /sys\n");
}

}  // namespace
}  // namespace lldp::dataplane::bpf
