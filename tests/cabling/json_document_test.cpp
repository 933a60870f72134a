// SPDX-License-Identifier: Apache-2.0
#include "cabling/json_document.hpp"

#include <nlohmann/json.hpp>

namespace lldp::cabling {
namespace {

TEST(JsonDocument, KeepsWhatTheTextSays) {
  for (const char* text :
       {R"({"a": [1, -2, 18446744073709551615, 1.5, 1e30, -0.0, 1e-7], "b": {}, "c": []})",
        R"([[], [[]], {"x": {"y": [null, true, false]}}, ""])",
        R"({"\u00e9\ud83d\ude00": "a\"\\\n\u0001", "": "z"})", R"("alone")", "7", "null"}) {
    const auto document = JsonDocument::parse(text);
    ASSERT_TRUE(document) << text << to_string(document.error());
    EXPECT_EQ(document->root().dump(), nlohmann::ordered_json::parse(text).dump()) << text;
  }
}

TEST(JsonDocument, TellsKindsAndMembers) {
  const auto document = JsonDocument::parse(R"({"n": 7, "r": 7.0, "s": "7", "z": null, "n": 8})");
  ASSERT_TRUE(document) << to_string(document.error());
  const JsonValue& root = document->root();
  EXPECT_EQ(root.members().size(), 5U);
  EXPECT_EQ(root.find("n")->text(), "8");
  EXPECT_TRUE(root.find("n")->is(JsonValue::Kind::kWhole));
  EXPECT_TRUE(root.find("r")->is(JsonValue::Kind::kReal));
  EXPECT_TRUE(root.find("s")->is(JsonValue::Kind::kString));
  EXPECT_EQ(root.find("z"), nullptr);
  EXPECT_EQ(root.find("q"), nullptr);
  EXPECT_EQ(root.text(), std::nullopt);
  EXPECT_EQ(root.find("s")->find("n"), nullptr);
  EXPECT_EQ(root.find("s")->members().size(), 0U);
}

TEST(JsonDocument, RefusesWhatTheLibraryRefuses) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "\"\xff\"", "nul", "01", "9e999",
                           "{\"a\": [1, {\"b\": 2}}"})
    EXPECT_EQ(JsonDocument::parse(text).has_value(), nlohmann::json::accept(text)) << text;
}

}  // namespace
}  // namespace lldp::cabling
