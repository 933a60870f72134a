// SPDX-License-Identifier: Apache-2.0
#include "agent/control/varlink.hpp"

#include <gtest/gtest.h>

namespace lldp::io::varlink {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::vector<std::string> all(Framer& framer) {
  std::vector<std::string> out;
  while (const auto message = framer.next()) out.emplace_back(*message);
  return out;
}

TEST(Framer, CutsAtNul) {
  Framer framer(16);
  framer.feed("one\0two\0th"sv);
  EXPECT_EQ(all(framer), (std::vector{"one"s, "two"s}));
  framer.feed("ree\0"sv);
  EXPECT_EQ(all(framer), std::vector{"three"s});
  EXPECT_FALSE(framer.overlong());
}

TEST(Framer, RefusesAMessageThatIsTooLongWholeOrNot) {
  Framer unfinished(4);
  unfinished.feed("1234"sv);
  EXPECT_EQ(unfinished.next(), std::nullopt);
  EXPECT_FALSE(unfinished.overlong());
  unfinished.feed("5"sv);
  EXPECT_EQ(unfinished.next(), std::nullopt);
  EXPECT_TRUE(unfinished.overlong());

  Framer finished(4);
  finished.feed("1234\00012345\0"sv);
  EXPECT_EQ(finished.next(), "1234");
  EXPECT_EQ(finished.next(), std::nullopt);
  EXPECT_TRUE(finished.overlong());
}

TEST(ParseCall, TakesStringsAndListsOfStrings) {
  const auto call = parse_call(
      R"({"method":"a.B","more":true,"parameters":{"ports":["x","y"],"name":"z","none":null}})");
  ASSERT_TRUE(call);
  EXPECT_EQ(*call, (Call{.method = "a.B",
                         .parameters = {{.name = "name", .values = {"z"}},
                                        {.name = "ports", .values = {"x", "y"}, .is_list = true}},
                         .more = true}));
}

TEST(ParseCall, NamesTheParameterThatFitsNothing) {
  EXPECT_EQ(parse_call(R"({"method":"a.B","parameters":{"n":1}})")->misfit, "n");
  EXPECT_EQ(parse_call(R"({"method":"a.B","parameters":{"n":["a",1]}})")->misfit, "n");
}

TEST(ParseCall, RefusesWhatIsNoCall) {
  EXPECT_EQ(parse_call("hello").error().what, "not a JSON object");
  EXPECT_EQ(parse_call("[]").error().what, "not a JSON object");
  EXPECT_EQ(parse_call("{\"method\":\"\xff\"}").error().what, "not a JSON object");
  EXPECT_EQ(parse_call("{}").error().what, "calls no method");
  EXPECT_EQ(parse_call(R"({"method":"a.B","x":)" + std::string(200'000, '[') +
                       std::string(200'000, ']') + "}")
                .error()
                .what,
            "not a JSON object");
  EXPECT_EQ(parse_call(R"({"method":7})").error().what, "calls no method");
  EXPECT_EQ(parse_call(R"({"method":"a.B","parameters":[]})").error().what,
            "its parameters are not a JSON object");
}

TEST(Base64, FollowsTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(as_octets("")), "");
  EXPECT_EQ(base64(as_octets("f")), "Zg==");
  EXPECT_EQ(base64(as_octets("fo")), "Zm8=");
  EXPECT_EQ(base64(as_octets("foo")), "Zm9v");
  EXPECT_EQ(base64(as_octets("foobar")), "Zm9vYmFy");
  EXPECT_EQ(base64(Bytes{0xff, 0xfe, 0xfb}), "//77");
}

}  // namespace
}  // namespace lldp::io::varlink
