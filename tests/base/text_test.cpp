// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace lldp {
namespace {

TEST(Escape, KeepsPrintableTextAndUtf8) { EXPECT_EQ(escape("leaf-1 é 漢"), "leaf-1 é 漢"); }

TEST(Escape, ShowsControlCharactersAsHexadecimal) {
  EXPECT_EQ(escape("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(escape("\xc2\x9b"), "\\xc2\\x9b");           // C1 control: CSI
  EXPECT_EQ(escape("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
}

TEST(Escape, ShowsInvalidUtf8AsHexadecimal) {
  EXPECT_EQ(escape("\xff"), "\\xff");
  EXPECT_EQ(escape("\xc0\xaf"), "\\xc0\\xaf");  // overlong
  EXPECT_EQ(escape("\xe2\x82"), "\\xe2\\x82");  // cut short
}

/// RFC 3629 section 3, the other way round: the one sequence that a code point has.
std::string utf8_of(std::uint32_t c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0U | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0U | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | c >> 18), tail(12), tail(6), tail(0)};
}

// Every beginning of a sequence, with the ends of what may follow: what is no code point's own
// sequence is shown as octets, and the rest as it is.
TEST(Escape, TakesForUtf8WhatACodePointHasAndNothingElse) {
  std::size_t taken = 0;
  for (unsigned lead = 0xc0; lead <= 0xff; ++lead)
    for (unsigned second = 0; second <= 0xff; ++second)
      for (const unsigned third : {0x00U, 0x7fU, 0x80U, 0xbfU, 0xc0U})
        for (const unsigned fourth : {0x00U, 0x7fU, 0x80U, 0xbfU, 0xc0U}) {
          const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
          const char octets[] = {static_cast<char>(lead), static_cast<char>(second),
                                 static_cast<char>(third), static_cast<char>(fourth)};
          const std::string text(octets, length);
          std::uint32_t c = lead & (0x7fU >> length);
          for (std::size_t i = 1; i < length; ++i)
            c = c << 6 | (static_cast<std::uint8_t>(octets[i]) & 0x3fU);
          const bool surrogate = c >= 0xd800 && c <= 0xdfff;
          const bool valid = c <= 0x10ffff && !surrogate && utf8_of(c) == text;
          const bool shown = escape(text) == text;
          taken += shown;
          if (shown) {
            ASSERT_TRUE(valid) << c;
          }
          // What can be seen is shown: from here to there Unicode has Chinese characters.
          if (valid && c >= 0x4e00 && c < 0x9fff) {
            ASSERT_TRUE(shown) << c;
          }
        }
  EXPECT_GT(taken, 1000U);
}

// Unicode 15, Default_Ignorable_Code_Point: two names that differ in these alone look alike.
TEST(Escape, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(escape("le\u200baf"), "le\\xe2\\x80\\x8baf");
  for (const char* invisible :
       {"\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u2028", "\u2060", "\u206f", "\u3164",
        "\ufe0f", "\ufeff", "\ufffb", "\uffff", "\U0001bca0", "\U000e0041", "\U000e01ef"})
    EXPECT_EQ(escape(invisible).find("\\x"), 0U) << escape(invisible);
  for (const char* visible : {"\u00ac", "\u00ae", "\u0350", "\u200a", "\u2010", "\u2070", "\ufe10",
                              "\ufffd", "\U0001f600"})
    EXPECT_EQ(escape(visible), visible);
}

TEST(Escape, LeavesNothingThatMovesTheCursorOrTurnsTheLine) {
  EXPECT_EQ(escape("\x7f"), "\\x7f");
  EXPECT_EQ(escape("\xc2\x80\xc2\x9f\xc2\xa0"), "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
  // Line and paragraph separator, marks of direction, byte order mark.
  for (const char* c : {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xd8\x9c",
                        "\xe2\x80\xaa", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf"})
    EXPECT_EQ(escape(c).substr(0, 2), "\\x") << escape(c);
}

TEST(Escape, IsUnambiguous) { EXPECT_EQ(escape("\\x1b"), "\\\\x1b"); }

TEST(Mac, ReadsBothNotationsAndNothingElse) {
  const MacAddress mac{0x02, 0x4c, 0x56, 0xab, 0xcd, 0xef};
  EXPECT_EQ(parse_mac("02:4c:56:ab:cd:ef"), mac);
  EXPECT_EQ(parse_mac("02-4C-56-AB-CD-EF"), mac);
  EXPECT_EQ(parse_mac("02:4c-56:ab:cd:ef"), std::nullopt);
  EXPECT_EQ(parse_mac("02:4c:56:ab:cd:e"), std::nullopt);
  EXPECT_EQ(parse_mac("02:4c:56:ab:cd:eg"), std::nullopt);
  EXPECT_EQ(to_string(mac), "02:4c:56:ab:cd:ef");
}

TEST(Glob, MatchesWholeText) {
  EXPECT_TRUE(glob_match("swp*", "swp12"));
  EXPECT_TRUE(glob_match("*p*1", "swp11"));
  EXPECT_TRUE(glob_match("e?h0", "eth0"));
  EXPECT_FALSE(glob_match("swp", "swp1"));
  EXPECT_FALSE(glob_match("e?h0", "eh0"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("swp1**", "swp1"));
  EXPECT_FALSE(glob_match("swp1?", "swp1"));
}

TEST(Glob, EndsWhereThePatternDoes) {
  const std::string_view longer = "ab*?";
  EXPECT_FALSE(glob_match(longer.substr(0, 2), "abc"));
  EXPECT_TRUE(glob_match(longer.substr(0, 2), "ab"));
  EXPECT_FALSE(glob_match(longer.substr(0, 0), "a"));
  EXPECT_TRUE(glob_match("", ""));
}

TEST(SplitList, DropsSpaceAndEmptyParts) {
  EXPECT_EQ(split_list(" a, b ,,c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split_list("\ta\t,b c\t"), (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(split_list(""), std::vector<std::string>{});
}

std::string ipv6(std::initializer_list<unsigned> groups) {
  Bytes octets{2};
  for (const unsigned group : groups) {
    octets.push_back(static_cast<std::uint8_t>(group >> 8));
    octets.push_back(static_cast<std::uint8_t>(group));
  }
  return network_address_to_string(octets);
}

// The examples of RFC 5952 sections 4 and 5.
TEST(Ipv6, IsWrittenInOneWay) {
  EXPECT_EQ(ipv6({0x2001, 0xdb8, 0, 0, 0, 0, 2, 1}), "2001:db8::2:1");
  EXPECT_EQ(ipv6({0x2001, 0xdb8, 0, 1, 1, 1, 1, 1}), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(ipv6({0x2001, 0, 0, 1, 0, 0, 0, 1}), "2001:0:0:1::1");
  EXPECT_EQ(ipv6({0x2001, 0xdb8, 0, 0, 1, 0, 0, 1}), "2001:db8::1:0:0:1");
  EXPECT_EQ(ipv6({0, 0, 0, 0, 0, 0, 0, 0}), "::");
  EXPECT_EQ(ipv6({0, 0, 0, 0, 0, 0, 0, 1}), "::1");
  EXPECT_EQ(ipv6({0xfe80, 0, 0, 0, 0, 0, 0, 0}), "fe80::");
  EXPECT_EQ(ipv6({0, 0, 1, 2, 3, 4, 5, 6}), "::1:2:3:4:5:6");
  EXPECT_EQ(ipv6({1, 2, 3, 4, 5, 6, 7, 0}), "1:2:3:4:5:6:7:0");
  EXPECT_EQ(ipv6({0, 0, 0, 0, 0, 0xffff, 0xc000, 0x0201}), "::ffff:192.0.2.1");
  EXPECT_EQ(ipv6({0x10, 0xabc, 0xffff, 0, 0, 0, 0, 0xf}), "10:abc:ffff::f");
}

// IEEE 802.1AB-2016 Tables 8-2 and 8-3.
TEST(IdentifierText, FollowsTheSubtype) {
  const std::string address("\x01\x0a\x00\x00\x01", 5);
  const std::string mac("\x02\x00\x00\x00\x00\x01", 6);
  const auto chassis = [](std::size_t subtype, std::string octets) {
    ChassisId id;
    id.subtype = static_cast<std::uint8_t>(subtype);
    id.octets = std::move(octets);
    return to_string(id);
  };
  const auto port = [](std::size_t subtype, std::string octets) {
    PortId id;
    id.subtype = static_cast<std::uint8_t>(subtype);
    id.octets = std::move(octets);
    return to_string(id);
  };
  const std::string as_text = "swp1\\x07";
  const std::string as_hex = "7377703107";
  // By subtype, from 0 on.
  const std::string chassis_texts[] = {as_hex, as_text, as_text, as_text, as_hex,
                                       as_hex, as_text, as_text, as_hex};
  for (std::size_t subtype = 0; subtype < std::size(chassis_texts); ++subtype)
    EXPECT_EQ(chassis(subtype, "swp1\x07"), chassis_texts[subtype]) << subtype;
  const std::string port_texts[] = {as_hex,  as_text, as_text, as_hex, as_hex,
                                    as_text, as_hex,  as_text, as_hex};
  for (std::size_t subtype = 0; subtype < std::size(port_texts); ++subtype)
    EXPECT_EQ(port(subtype, "swp1\x07"), port_texts[subtype]) << subtype;
  EXPECT_EQ(chassis(5, address), "10.0.0.1");
  EXPECT_EQ(port(4, address), "10.0.0.1");
  EXPECT_EQ(chassis(4, mac), "02:00:00:00:00:01");
  EXPECT_EQ(port(3, mac), "02:00:00:00:00:01");
}

Position at(unsigned level, std::string chassis) {
  Position p;
  p.level = *Level::make(level);
  p.chassis.subtype = 7;
  p.chassis.octets = std::move(chassis);
  return p;
}

TEST(NetworkAddress, IsInHexadecimalWhereItIsNoneThatWeKnow) {
  EXPECT_EQ(network_address_to_string({}), "");
  for (const auto& [octets, text] :
       std::vector<std::pair<Bytes, std::string>>{{{1, 192, 0, 2, 1}, "192.0.2.1"},
                                                  {{1, 192, 0, 2}, "01c00002"},
                                                  {{1, 192, 0, 2, 1, 1}, "01c000020101"},
                                                  {{2, 1, 2, 3, 4}, "0201020304"},
                                                  {{6, 2, 0, 0, 0, 0, 1}, "02:00:00:00:00:01"},
                                                  {{6, 2, 0}, "060200"},
                                                  {{7, 192, 0, 2, 1}, "07c0000201"},
                                                  {{1}, "01"}})
    EXPECT_EQ(network_address_to_string(octets), text);
}

TEST(OrderOfPort, ComparesLevelThenChassis) {
  EXPECT_EQ(order_of_port(at(1, "b"), at(2, "a")), Order::kUp);
  EXPECT_EQ(order_of_port(at(2, "a"), at(1, "b")), Order::kDown);
  EXPECT_EQ(order_of_port(at(1, "a"), at(1, "b")), Order::kUp);
  EXPECT_EQ(order_of_port(at(1, "\x7f"), at(1, "\x80")),
            Order::kUp);  // octets, not signed characters
  EXPECT_EQ(order_of_port(at(1, "a"), at(1, "a")), Order::kUnknown);
}

TEST(OrderOfPort, PutsHostsBelowAndTheUnknownNowhere) {
  EXPECT_EQ(order_of_port(at(1, "a"), at(0, "z")), Order::kDown);
  EXPECT_EQ(order_of_port(std::nullopt, at(1, "z")), Order::kUnknown);
  EXPECT_EQ(order_of_port(at(1, "a"), std::nullopt), Order::kUnknown);
}

TEST(ErrorText, NamesThePlaceFirst) {
  EXPECT_EQ(to_string(Error{.where = "eth0", .what = "gone"}), "eth0: gone");
  EXPECT_EQ(to_string(Error{.what = "gone"}), "gone");
}

}  // namespace
}  // namespace lldp
