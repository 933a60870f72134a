// SPDX-License-Identifier: Apache-2.0
#include "base/hash_index.hpp"

#include <string>
#include <vector>

namespace lldp {
namespace {

TEST(HashIndex, FindsEachWhenAllHashesAreEqual) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "a"};
  HashIndex index(names.size());
  const auto same = [&](const std::string& name) {
    return [&](std::uint32_t n) { return names[n] == name; };
  };
  for (std::uint32_t n = 0; n < 4; ++n) EXPECT_EQ(index.insert(7, n, same(names[n])), std::nullopt);
  EXPECT_EQ(index.insert(7, 4, same("a")), 0U);
  EXPECT_EQ(index.find(7, same("d")), 3U);
  EXPECT_EQ(index.find(7, same("e")), std::nullopt);
  EXPECT_EQ(index.find(8, same("e")), std::nullopt);
}

TEST(HashIndex, HoldsAsManyAsItWasMadeFor) {
  for (const std::uint32_t most : {0U, 1U, 1000U}) {
    HashIndex index(most);
    const auto same = [](std::uint32_t wanted) {
      return [wanted](std::uint32_t n) { return n == wanted; };
    };
    for (std::uint32_t n = 0; n < most; ++n)
      EXPECT_EQ(index.insert(n * 0x1'0000'0001U, n, same(n)), std::nullopt);
    for (std::uint32_t n = 0; n < most; ++n) EXPECT_EQ(index.find(n * 0x1'0000'0001U, same(n)), n);
    EXPECT_EQ(index.find(most * 0x1'0000'0001U, same(most)), std::nullopt);
  }
}

}  // namespace
}  // namespace lldp
