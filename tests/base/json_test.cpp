// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace lldp {
namespace {

using Json = nlohmann::json;

std::string lists(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsAsDeepAsMayBeAndNoDeeper) {
  EXPECT_EQ(parse_json<Json>(lists(kDeepestJson)).dump(), lists(kDeepestJson));
  EXPECT_TRUE(parse_json<Json>(lists(kDeepestJson + 1)).is_discarded());
  EXPECT_TRUE(parse_json<Json>(lists(200'000)).is_discarded());
  std::string objects = "1";
  for (std::size_t i = 0; i < kDeepestJson; ++i) objects = R"({"a":)" + objects + "}";
  EXPECT_EQ(parse_json<Json>(objects).dump(), objects);
  EXPECT_TRUE(parse_json<Json>(R"({"a":)" + objects + "}").is_discarded());
}

TEST(ParseJson, CountsLevelsAndNoBracketsBesideEachOtherOrInText) {
  std::string many = "[";
  for (std::size_t i = 0; i < 2 * kDeepestJson; ++i) many += "[{}],";
  EXPECT_TRUE(parse_json<Json>(many + "1]").is_array());
  const std::string text = R"("\"[\\\")" + std::string(2 * kDeepestJson, '[') + '"';
  EXPECT_TRUE(parse_json<Json>(text).is_string());
  EXPECT_TRUE(parse_json<Json>(R"(["\\",)" + lists(kDeepestJson) + "]").is_discarded());
}

TEST(JsonLength, IsToTheEndOfTheFirstListOrObject) {
  EXPECT_EQ(json_length(R"({"a":[1,{"b":"}]"}]},{"c":2})"), 20U);
  EXPECT_EQ(json_length("1 [2] 3"), 5U);
  for (const char* none : {"", "1", "[", R"({"a":"}")", R"("[]")"})
    EXPECT_EQ(json_length(none), 0U);
  EXPECT_EQ(json_length(lists(kDeepestJson)), 2 * kDeepestJson);
  EXPECT_EQ(json_length(lists(kDeepestJson + 1)), std::nullopt);
  const std::string deep = "[]" + lists(kDeepestJson + 1);
  EXPECT_EQ(json_length(deep), 2U);
  EXPECT_TRUE(parse_json<Json>(deep).is_discarded());
}

TEST(ParseJson, DiscardsWhatIsNone) {
  for (const char* text : {"", "]", "]]]][", "{", "\"", "\"\\", "1e999"})
    EXPECT_TRUE(parse_json<Json>(text).is_discarded()) << text;
}

}  // namespace
}  // namespace lldp
