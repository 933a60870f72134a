// SPDX-License-Identifier: Apache-2.0
#include "base/rare.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace lldp {
namespace {

static_assert(sizeof(Rare<std::string>) == sizeof(void*));

TEST(Rare, IsTheUsualValueUntilItIsAnother) {
  Rare<std::string> value;
  EXPECT_EQ(*value, "");
  EXPECT_TRUE(value->empty());
  value = std::string("another");
  EXPECT_EQ(*value, "another");
  value.alter() += " one";
  EXPECT_EQ(*value, "another one");
  value = std::string();
  EXPECT_EQ(*value, "");
}

TEST(Rare, IsEqualByItsValueHoweverItCameByIt) {
  Rare<std::string> altered;
  altered.alter().clear();  // and is the usual value still
  EXPECT_EQ(altered, Rare<std::string>());
  EXPECT_EQ(Rare<std::string>(), altered);
  EXPECT_NE(altered, Rare<std::string>(std::string("x")));
  EXPECT_EQ(Rare<std::string>(std::string("x")), Rare<std::string>(std::string("x")));
}

TEST(Rare, IsCopiedAsAValue) {
  Rare<std::string> one(std::string("x"));
  Rare<std::string> other = one;
  other.alter() = "y";
  EXPECT_EQ(*one, "x");
  one = other;
  EXPECT_EQ(*one, "y");
  const Rare<std::string> moved = std::move(other);
  EXPECT_EQ(*moved, "y");
}

}  // namespace
}  // namespace lldp
