// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using testing::ElementsAre;
using Verb = Request::Verb;

Request start(std::initializer_list<std::string_view> words, std::string_view input = {}) {
  Request out{.verb = Verb::kStart, .limit_ms = 0x01020304, .count = words.size(), .input = input};
  std::copy(words.begin(), words.end(), out.words.begin());
  return out;
}

TEST(LauncherRequest, ComesBackAsItWas) {
  const auto message = encode(start({"/bin/sh", "-c", ""}, std::string_view("in\0put", 6)));
  ASSERT_TRUE(message);
  const auto back = decode(*message);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->verb, Verb::kStart);
  EXPECT_FALSE(back->has_connection);
  EXPECT_EQ(back->limit_ms, 0x01020304U);
  EXPECT_THAT(back->command(), ElementsAre("/bin/sh", "-c", ""));
  EXPECT_EQ(back->input, std::string_view("in\0put", 6));
}

TEST(LauncherRequest, StopsWithNothingElse) {
  const auto message = encode({.verb = Verb::kStop});
  ASSERT_TRUE(message);
  EXPECT_EQ(decode(*message)->verb, Verb::kStop);
  EXPECT_FALSE(decode(*message + "x"));
}

TEST(LauncherRequest, IsNoneCutAnywhere) {
  const std::string message = *encode(start({"/bin/sh", "-c"}));
  ASSERT_TRUE(decode(message));
  for (std::size_t size = 0; size < message.size(); ++size)
    EXPECT_FALSE(decode({message.data(), size})) << size;
}

TEST(LauncherRequest, IsNoneWithAHeadThatNobodyWrites) {
  const std::string good = *encode(start({"/bin/sh"}));
  const auto with = [&](std::size_t at, char octet) {
    std::string bad = good;
    bad[at] = octet;
    return decode(bad).has_value();
  };
  EXPECT_FALSE(with(0, 2)) << "verb";
  EXPECT_FALSE(with(0, 1)) << "stop, with words";
  EXPECT_FALSE(with(1, 2)) << "connection";
  EXPECT_FALSE(with(2, 0)) << "no word, and so an input alone";
  EXPECT_FALSE(with(2, 8)) << "more words than there can be";
  EXPECT_FALSE(with(2, -1)) << "many more";
  EXPECT_FALSE(with(3, 1)) << "reserved";
  EXPECT_TRUE(with(1, 1));
}

TEST(LauncherRequest, HasOneInput) {
  Request both = start({"/bin/cat"}, "text");
  both.has_connection = true;
  EXPECT_FALSE(decode(*encode(both)));
}

TEST(LauncherRequest, HasNoProgramWithoutAName) { EXPECT_FALSE(decode(*encode(start({""})))); }

TEST(LauncherRequest, TakesNoMoreThanItCanHold) {
  const std::string most(Request::kMaxOctets - 2, 'x');  // beside "a" and its NUL
  EXPECT_TRUE(decode(*encode(start({"a"}, most))));
  EXPECT_FALSE(encode(start({"a"}, most + "x")));
  EXPECT_FALSE(decode(*encode(start({"a"}, most)) + "x"));
}

TEST(LauncherRequest, HasNoWordThatWouldBeTwo) {
  EXPECT_FALSE(encode(start({std::string_view("a\0b", 3)})));
}

}  // namespace
}  // namespace lldp::io
