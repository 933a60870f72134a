// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/mark_needs.hpp"

#include <gtest/gtest.h>

namespace lldp::dataplane::bpf {
namespace {

// A target that the kernel has is not one that a rule of this namespace uses: only with its table
// it may be.
TEST(MarkNeeds, LegacyTablesMayWriteWhatTheirTargetsDo) {
  const auto written = [](const char* tables, const char* targets) {
    return written_by_tables(tables, targets).value_or("");
  };
  EXPECT_EQ(written("", "DSCP\nTOS\nNFQUEUE\n"), "") << "no table";
  EXPECT_EQ(written("mangle\n", "ERROR\nMARK\nCLASSIFY\nTEE\nSET\n"), "");
  EXPECT_EQ(written("mangle\nnat\n", "MARK\nDSCP\nTOS\n"), "table mangle, target DSCP");
  EXPECT_EQ(written("filter\nnat\n", "MARK\nDSCP\nTOS\n"), "") << "of table mangle alone";
  EXPECT_EQ(written("filter\n", "DSCP\nNFQUEUE\n"), "table filter, target NFQUEUE");
  EXPECT_EQ(written("a\x1b\n", "NEW\n"), "table a\\x1b, target NEW");
}

}  // namespace
}  // namespace lldp::dataplane::bpf
