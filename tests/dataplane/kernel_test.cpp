// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/kernel.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "dataplane/bpf/btf.hpp"
#include "os/file.hpp"
#include "tests/support/no_descriptors.hpp"

namespace lldp::dataplane::bpf {
namespace {

TEST(PossibleCpus, AreAtLeastThoseThatAreThere) {
  const auto cpus = possible_cpus();
  ASSERT_TRUE(cpus);
  EXPECT_GE(*cpus, static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

[[noreturn]] void ask_without_descriptors() {
  const support::NoDescriptors none;
  std::_Exit(possible_cpus() ? 1 : 0);
}

// Taken for one, the kernel wrote the counters of the others behind the buffer.
TEST(PossibleCpusDeathTest, AreAnErrorWhereTheyCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked before
  EXPECT_EXIT(ask_without_descriptors(), testing::ExitedWithCode(0), "");
}

TEST(Btf, HasTheFunctionsOfTheKernelByTheirWholeNames) {
  const auto file = read_file("/sys/kernel/btf/vmlinux");
  if (!file) GTEST_SKIP() << "this kernel does not describe itself";
  const ByteSpan btf = as_octets(*file);
  const auto id = function_in_btf(btf, "dev_queue_xmit_nit");
  ASSERT_TRUE(id);
  EXPECT_NE(function_in_btf(btf, "dev_set_mtu"), id);
  EXPECT_EQ(function_in_btf(btf, "dev_queue_xmit_ni"), std::nullopt);
  EXPECT_EQ(function_in_btf(btf, "ev_queue_xmit_nit"), std::nullopt);
  EXPECT_EQ(function_in_btf(btf.first(btf.size() / 2), "dev_queue_xmit_nit"), std::nullopt);
  EXPECT_EQ(function_in_btf({}, "x"), std::nullopt);
}

TEST(LoadProgram, TellsWhatTheVerifierHasAgainstIt) {
  std::array<bpf_insn, 1> ends_without_a_result{};
  ends_without_a_result[0].code = BPF_JMP | BPF_EXIT;
  const auto refused = load_program("nothing", ends_without_a_result, "GPL");
  ASSERT_FALSE(refused);
  if (refused.error().code == EPERM) GTEST_SKIP() << "needs CAP_BPF";
  EXPECT_EQ(to_string(refused.error()),
            "the kernel's verifier refuses nothing: R0 !read_ok: report it with the kernel's "
            "version, and choose another backend");
}

TEST(LoadProgram, TellsWhatTheKernelSaysWhereTheVerifierWasNotAsked) {
  const std::array<bpf_insn, 1> code{};
  const auto refused = load_program("no name", code, "GPL");
  ASSERT_FALSE(refused);
  if (refused.error().code == EPERM) GTEST_SKIP() << "needs CAP_BPF";
  EXPECT_EQ(to_string(refused.error()), "BPF_PROG_LOAD: Invalid argument");
}

TEST(LoadProgram, NamesItWithAsMuchOfTheNameAsTheKernelTakes) {
  std::array<bpf_insn, 2> code{};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // the result is 0
  code[1].code = BPF_JMP | BPF_EXIT;
  for (const std::string name : {"fifteen_letters", "fifteen_letters_and_more"}) {
    const auto loaded = load_program(name.c_str(), code, "GPL");
    if (!loaded && loaded.error().code == EPERM) GTEST_SKIP() << "needs CAP_BPF";
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    const auto id = id_of_program(*loaded);
    ASSERT_TRUE(id) << to_string(id.error());
    EXPECT_EQ(name_of_program(*id), "fifteen_letters");
  }
}

}  // namespace
}  // namespace lldp::dataplane::bpf
