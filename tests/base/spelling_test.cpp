// SPDX-License-Identifier: Apache-2.0
#include "base/spelling.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace lldp {
namespace {

/// Names that Linux takes for interfaces, and what an operator writes for them.
struct Name {
  std::string octets{};
  std::string spelled{};
};
const Name kNames[] = {{"swp1", "swp1"},
                       {"eth0.100", "eth0.100"},
                       {"x#a", "x\\x23a"},
                       {"x*", "x\\x2a"},
                       {"-x", "\\x2dx"},
                       {"!x", "\\x21x"},
                       {"x\x1b[31m\"", "x\\x1b\\x5b31m\\x22"},
                       {"x'$(id)", "x\\x27\\x24\\x28id\\x29"},
                       {"x,;=", "x\\x2c\\x3b\\x3d"},
                       {"x\xe2\x80\xae\xd0\xb6", "x\\xe2\\x80\\xae\xd0\xb6"},
                       {"x\xff\xfe", "x\\xff\\xfe"},
                       {"a\\b", "a\\\\b"},
                       {"a\\x41", "a\\\\x41"}};

TEST(Spelling, OfANameStandsForItAndForNoOther) {
  for (const Name& name : kNames) {
    EXPECT_EQ(spell(name.octets), name.spelled);
    EXPECT_EQ(unescape(name.spelled), name.octets) << name.spelled;
    EXPECT_EQ(unescape(escape(name.octets)), name.octets) << name.spelled;
    for (const Name& other : kNames)
      EXPECT_EQ(name_match(name.spelled, other.octets), &name == &other)
          << name.spelled << " " << other.spelled;
    EXPECT_FALSE(has_wildcard(name.spelled));
  }
}

TEST(Spelling, BackslashThatBeginsNothingIsNoSpelling) {
  for (const char* text : {"\\", "a\\", "\\x", "\\x1", "\\xg0", "\\n"})
    EXPECT_FALSE(unescape(text));
  EXPECT_EQ(unescape("\\x2A\\\\"), "*\\");
}

TEST(Spelling, PatternTakesWildcardsAndOctets) {
  EXPECT_TRUE(name_match("x\\x1b*", "x\x1b[31m"));
  EXPECT_FALSE(name_match("x\\x1b*", "x31m"));
  EXPECT_TRUE(name_match("?#*", "x#a"));
  EXPECT_TRUE(name_match("*\\x2a*a", "x*aa"));
  EXPECT_FALSE(name_match("*\\x2a", "xx"));
  EXPECT_TRUE(name_match("*", ""));
  EXPECT_FALSE(name_match("\\x2a", ""));
}

TEST(Spelling, WordOfACommandIsQuotedWhereItHasTo) {
  EXPECT_EQ(argument("swp1"), "swp1");
  EXPECT_EQ(argument("x#a"), "'x\\x23a'");
  EXPECT_EQ(argument("x'$(id)"), "'x\\x27\\x24\\x28id\\x29'");
  EXPECT_EQ(shell_word("swp1"), "swp1");
  EXPECT_EQ(shell_word("x\x1b"), "$'x\\x1b'");
}

TEST(Spelling, PrintableSentenceKeepsBackslashesOfNamesInIt) {
  EXPECT_EQ(printable("forget 'x\\x23a': \x1b[0m"), "forget 'x\\x23a': \\x1b[0m");
  EXPECT_EQ(printable("ends in \\"), "ends in \\");
}

}  // namespace
}  // namespace lldp
