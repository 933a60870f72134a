// SPDX-License-Identifier: Apache-2.0
#include "base/hex.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace lldp {
namespace {

TEST(Hex, ReadsWhatIsWritten) {
  const Bytes octets{0x00, 0x9a, 0xff};
  EXPECT_EQ(to_hex(octets), "009aff");
  EXPECT_EQ(from_hex("009aFF"), octets);
  EXPECT_EQ(from_hex(""), Bytes());
  for (const char* wrong : {"0", "0g", "-1", "+1", " 1", "0x"})
    EXPECT_FALSE(from_hex(wrong)) << wrong;
}

}  // namespace
}  // namespace lldp
