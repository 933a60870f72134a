// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/kernel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace lldp::dataplane::bpf {
namespace {

TEST(PossibleCpus, AreAtLeastThoseThatAreThere) {
  const auto cpus = possible_cpus();
  ASSERT_TRUE(cpus);
  EXPECT_GE(*cpus, static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

[[noreturn]] void ask_without_descriptors() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::_Exit(possible_cpus() ? 1 : 0);
}

// Taken for one, the kernel wrote the counters of the others behind the buffer.
TEST(PossibleCpusDeathTest, AreAnErrorWhereTheyCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked before
  EXPECT_EXIT(ask_without_descriptors(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lldp::dataplane::bpf
