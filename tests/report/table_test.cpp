// SPDX-License-Identifier: Apache-2.0
#include "agent/report/table.hpp"

#include <gtest/gtest.h>

#include "agent/report/text.hpp"

namespace lldp::report {
namespace {

TEST(Table, CutsTheWidestColumnsButNoneBelowEightCharacters) {
  Table table({{"A"}, {"B"}, {"C"}});
  table.add({{std::string(20, 'x')}, {std::string(12, 'y')}, {"z"}});
  EXPECT_EQ(table.text({}), "A                     B             C\n" + std::string(20, 'x') +
                                "  " + std::string(12, 'y') + "  z\n");
  EXPECT_EQ(table.text({.width = 27}),
            "A            B            C\n"
            "xxxxxxxxxx…  yyyyyyyyyy…  z\n");
  EXPECT_EQ(table.text({.width = 1}),
            "A         B         C\n"
            "xxxxxxx…  yyyyyyy…  z\n");
}

TEST(Table, CutsOtherColumnsBeforeOneThatKeepsMore) {
  Table table({port_heading(), {"B"}});
  table.add({{"enp129s0f1np1d1"}, {std::string(20, 'y')}});
  table.add({{std::string(20, 'x')}, {"y"}});
  EXPECT_EQ(table.text({.width = 27}),
            "PORT             B\n"
            "enp129s0f1np1d1  yyyyyyyyy…\n" +
                std::string(14, 'x') + "…  y\n");
  EXPECT_EQ(table.text({.width = 1}),
            "PORT             B\n"
            "enp129s0f1np1d1  yyyyyyy…\n" +
                std::string(14, 'x') + "…  y\n");
}

TEST(Table, WhatARowHasToSpareIsGivenOnce) {
  Table table({{"A"}, {"B"}, {"C"}});
  for (int i = 0; i < 7; ++i) table.add({{"aaaa"}, {"bbbb"}, {"c"}});
  table.add({{std::string(40, 'x')}, {std::string(40, 'y')}, {"c"}});
  const std::string text = table.text({.width = 33});
  // Columns of 4, 4 and 1 with their gaps take 13: 20 are left.
  EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1),
            std::string(23, 'x') + "…  yyy…  c\n");
}

TEST(Table, WhereManyAreLongAllColumnsStandUnderEachOther) {
  Table table({{"A"}, {"B"}});
  table.add({{std::string(40, 'x')}, {"b"}});
  table.add({{std::string(35, 'y')}, {"b"}});
  table.add({{"z"}, {"b"}});
  EXPECT_EQ(table.text({}), "A" + std::string(41, ' ') + "B\n" + std::string(40, 'x') + "  b\n" +
                                std::string(35, 'y') + "       b\nz" + std::string(41, ' ') +
                                "b\n");
}

TEST(Table, CountsCharactersNotOctets) {
  Table table({{"NAME"}, {"N", Ink::kPlain, true}});
  table.add({{"éééééééééé"}, {"1", Ink::kPlain, true}});
  table.add({{"eeeeeeeeee"}, {"10", Ink::kPlain, true}});
  EXPECT_EQ(table.text({.width = 12}),
            "NAME       N\n"
            "ééééééé…   1\n"
            "eeeeeee…  10\n");
}

TEST(Table, LastColumnThatIsWrappedGoesOnBelow) {
  Table table({{"PORT"}, {"STATE"}, {"ALL OF IT MATTERS"}}, Table::LastColumn::kWrapped);
  table.add({{"swp1"}, {"done"}, {"one two three four five six"}});
  table.add({{"swp2"}, {"done"}, {"short"}});
  EXPECT_EQ(table.text({.width = 28}),
            "PORT  STATE  ALL OF IT\n"
            "             MATTERS\n"
            "swp1  done   one two three\n"
            "             four five six\n"
            "swp2  done   short\n");
  EXPECT_EQ(table.text({}),
            "PORT  STATE  ALL OF IT MATTERS\n"
            "swp1  done   one two three four five six\n"
            "swp2  done   short\n");
}

TEST(PluginLine, HasOneBarAtMostBeforeTheNumbers) {
  EXPECT_EQ(plugin_line("OK", "leaf|level=9"), "LLDP-LEVEL OK - leaf/level=9");
}

}  // namespace
}  // namespace lldp::report
