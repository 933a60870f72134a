// SPDX-License-Identifier: Apache-2.0
// What Wireshark makes of frames that our own encoder wrote, by packaging/wireshark/lldp_level.lua.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "agent/core/announcement.hpp"
#include "agent/core/location.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"
#include "tlv/classes.hpp"
#include "tlv/order.hpp"
#include "tlv/writer.hpp"

namespace lldp::core {
namespace {

using testing::HasSubstr;
using testing::Not;

Bytes frame_of(const tlv::Claim& claim, const Settings& settings = {},
               std::string_view location = {}) {
  const Link link{.ifindex = Ifindex::of<1>(), .name = "swp1", .address = {2, 0, 0, 0, 0, 1}};
  Bytes frame;
  const ChassisId id = chassis_id_from_mac(link.address);
  write_info_frame(
      frame, Scope::kNearestBridge, link,
      {.chassis_id = id, .system_name = settings.system_name, .claim = claim, .location = location},
      settings);
  return frame;
}

class Dissector : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("tshark --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "tshark is not installed";
  }
  void add(const Bytes& frame) { frames_.push_back(frame); }
  /// tshark's words on the frames, those of other protocols left out.
  std::string dissect(const std::string& options) {
    const auto word = [&](std::ofstream& out, std::uint32_t v) {
      out.write(reinterpret_cast<const char*>(&v), sizeof v);
    };
    {
      std::ofstream out(dir_ / "frames.pcap", std::ios::binary);
      for (const std::uint32_t v : {0xa1b2c3d4U, 4U << 16 | 2U, 0U, 0U, 65535U, 1U}) word(out, v);
      for (const Bytes& frame : frames_) {
        const auto size = static_cast<std::uint32_t>(frame.size());
        for (const std::uint32_t v : {0U, 0U, size, size}) word(out, v);
        out.write(reinterpret_cast<const char*>(frame.data()), size);
      }
    }
    const std::string command = "HOME=" + dir_.path() + " tshark -n -r " + (dir_ / "frames.pcap") +
                                " -X lua_script:" + support::source_dir() +
                                "/packaging/wireshark/lldp_level.lua " + options + " 2>" +
                                (dir_ / "errors");
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    EXPECT_EQ(::pclose(pipe), 0);
    std::ifstream errors(dir_ / "errors");
    for (std::string line; std::getline(errors, line);)
      EXPECT_THAT(line, Not(HasSubstr("Lua"))) << "tshark's standard error";
    return text;
  }

 private:
  TempDir dir_;
  std::vector<Bytes> frames_;
};

TEST_F(Dissector, ReadsLosslessClasses) {
  const auto with = [](const tlv::ClassesTlv& classes, std::size_t cut) {
    Bytes information = encode_info(classes);
    information.resize(information.size() - cut);
    Settings settings;
    settings.custom_tlvs = {{.oui = {0x02, 0x4c, 0x56}, .subtype = 5, .information = information}};
    return frame_of({DeviceType::kSwitch, Level::of<1>(), PortType::kUplink}, settings);
  };
  tlv::ClassesTlv classes;
  classes.classes.items[0] = {0, 0, 3, 26, 1, 0xff000000};
  classes.classes.items[1] = {0, 1, 2, 19, 1, 1U << 19};
  classes.classes.items[2] = {1, 0, 4, 4, 255, 1U << 4};
  classes.classes.count = 3;
  add(with(classes, 0));
  add(with({}, 0));
  add(with(classes, 1));
  const std::string text = dissect("-O lldp_level");
  EXPECT_THAT(text, HasSubstr("Lossless Classes: 3 > 2, 4\n"));
  EXPECT_THAT(text, HasSubstr("DSCPs: 0x00000000ff000000"));
  EXPECT_THAT(text, HasSubstr("Hops: no evidence (255)"));
  EXPECT_THAT(text, HasSubstr("Lossless Classes: none\n"));
  EXPECT_THAT(text, HasSubstr("No list of at most 7 classes of 13 octets"));
}

TEST_F(Dissector, ReadsTheOrder) {
  const Bytes id{ChassisId::kLocal, 'a', 'b'};
  tlv::OrderTlv tlv{.flags = tlv::OrderTlv::kMore,
                    .agent = tlv::AgentIdField::of(0x0123'4567'89ab'cdef),
                    .boot = 7,
                    .session = 0xfeed,
                    .sequence = 3,
                    .level = 2,
                    .rank_id = id,
                    .count = 2};
  tlv.entries.items[0] = {tlv::AgentIdField::of(0xa1), 5, 0xbeef, 9, tlv::OrderEntry::kWaits};
  tlv.entries.items[1] = {tlv::AgentIdField::of(0xa2), 6, 1, 0, 0};
  tlv.entries.count = 2;
  const auto with = [this](Bytes information) {
    Settings settings;
    settings.custom_tlvs = {
        {.oui = {0x02, 0x4c, 0x56}, .subtype = 4, .information = std::move(information)}};
    add(frame_of({DeviceType::kSwitch, Level::of<1>(), PortType::kUplink}, settings));
  };
  const Bytes right = encode_info(tlv);
  with(right);
  with(encode_info(tlv::OrderTlv{.flags = tlv::OrderTlv::kHost, .agent = {1, 2}}));
  Bytes short_by_one = right;
  short_by_one.pop_back();
  with(short_by_one);
  Bytes long_by_one = right;
  long_by_one.push_back(0);
  with(long_by_one);
  Bytes level_without_id = encode_info(tlv::OrderTlv{.agent = {1, 2}});
  level_without_id[21] = 3;
  with(level_without_id);
  with(encode_info(tlv::OrderTlv{}));  // of no agent
  EXPECT_EQ(
      dissect("-T fields -e lldp_level.order.agent_id -e lldp_level.order.boot "
              "-e lldp_level.order.sequence -e lldp_level.order.level -e lldp_level.order.rank_id "
              "-e lldp_level.order.neighbor.agent_id -e lldp_level.order.neighbor.acknowledged "
              "-e lldp_level.wrong_order | tr '\\t' '|'"),
      "0x0123456789abcdef|7|3|2|076162|0x00000000000000a1,0x00000000000000a2|9,0|\n"
      "0x0000000100000002|0|0|255||||\n"
      "|||||||1\n|||||||1\n|||||||1\n|||||||1\n");
  EXPECT_THAT(dissect("-O lldp_level"), HasSubstr("Order: bound of level 2, number 3, hears 2\n"));
}

TEST_F(Dissector, ReadsBothTlvs) {
  using enum DeviceType;
  using enum PortType;
  for (const tlv::Claim& claim :
       {tlv::Claim{kHost, Level::of<0>(), kUnmarked}, tlv::Claim{kSwitch, Level::of<2>(), kUplink},
        tlv::Claim{kSwitch, Level::of<254>(), kCrosslink},
        tlv::Claim{kSwitch, std::nullopt, kDownlink}})
    add(frame_of(claim));
  // The TR TLV comes first: 14 octets of Ethernet, 9 of chassis ID, 7 of port ID, 4 of TTL.
  Bytes reserved = frame_of({kSwitch, Level::of<2>(), kUplink});
  reserved[34 + 6] = 7;
  reserved[34 + 8] = 9;
  add(reserved);
  Bytes host_on_a_level = frame_of({kHost, Level::of<0>(), kUnmarked});
  host_on_a_level[34 + 7] = 3;
  add(host_on_a_level);
  Bytes short_by_one = frame_of({kSwitch, Level::of<2>(), kUplink});
  short_by_one[35] = 6;
  short_by_one.erase(short_by_one.begin() + 34 + 8);
  add(short_by_one);
  Bytes long_by_one = frame_of({kSwitch, Level::of<2>(), kUplink});
  long_by_one[35] = 8;
  long_by_one.insert(long_by_one.begin() + 34 + 9, 0);
  add(long_by_one);
  Bytes host_without = frame_of({kHost, Level::of<0>(), kUnmarked});
  host_without[34 + 7] = 255;  // unknown, and so the host's own: no contradiction
  add(host_without);
  Bytes cut = frame_of({kSwitch, Level::of<2>(), kUplink});
  cut.resize(34 + 7);
  add(cut);
  support::expect_golden(dissect("-O lldp_level | grep -vE '^(Ethernet|Link Layer)'"),
                         "wireshark/golden/frames.txt");
}

TEST_F(Dissector, ReadsLayers) {
  const auto with_layers = [](Layers layers) {
    const Link link{.ifindex = Ifindex::of<1>(),
                    .name = "swp1",
                    .address = {2, 0, 0, 0, 0, 1},
                    .layers = layers};
    Bytes frame;
    const ChassisId id = chassis_id_from_mac(link.address);
    write_info_frame(
        frame, Scope::kNearestBridge, link,
        {.chassis_id = id, .claim = {DeviceType::kSwitch, Level::of<1>(), PortType::kCrosslink}},
        {});
    return frame;
  };
  const Bytes right = with_layers({Layer::of<3>(), Layer::of<4>()});
  add(right);
  // Behind 34 octets, the TR TLV of 9 and the contribution TLV of 9.
  Bytes above = right;
  above[52 + 7] = 32;
  add(above);
  Bytes short_by_one = right;
  short_by_one[53] = 5;
  short_by_one.erase(short_by_one.begin() + 52 + 7);
  add(short_by_one);
  Bytes long_by_one = right;
  long_by_one[53] = 7;
  long_by_one.insert(long_by_one.begin() + 52 + 8, 0);
  add(long_by_one);
  add(with_layers({Layer::of<31>(), Layer::of<31>()}));
  Bytes near_above = right;
  near_above[52 + 6] = 32;
  add(near_above);
  EXPECT_EQ(dissect("-T fields -e lldp_level.layers.near -e lldp_level.layers.far "
                    "-e lldp_level.no_layer -e lldp_level.wrong_layers_length | tr '\\t' '|'"),
            "3|4||\n3|32|1|\n|||1\n|||1\n31|31||\n32|4|1|\n");
}

TEST_F(Dissector, ReadsLocations) {
  const auto with = [&](const std::string& octets) {
    add(frame_of({DeviceType::kSwitch, Level::of<1>(), PortType::kDownlink}, {}, octets));
  };
  const ChassisId leaf{{ChassisId::kMacAddress, std::string("\x02\0\0\0\0\x09", 6)}};
  const std::string right =
      octets_of(Tiers{{Level::of<1>(), leaf}, {Level::of<2>(), {{ChassisId::kLocal, "ab"}}}});
  with(right);
  with(right.substr(0, right.size() - 1));       // cut
  with(right.substr(13) + right.substr(0, 13));  // not sorted
  with(std::string("\1\0\0\0\0\0", 6));          // an empty ID
  EXPECT_EQ(dissect("-T fields -e lldp_level.location.level -e lldp_level.location.id "
                    "-e lldp_level.wrong_location | tr '\\t' '|'"),
            "1,2|020000000009,6162|\n1|020000000009|1\n2|6162|1\n||1\n");
}

TEST_F(Dissector, FindsWrongWithLocationsWhatTheAgentDoes) {
  const auto tier = [](unsigned level, std::size_t id) {
    std::string octets{static_cast<char>(level), static_cast<char>(id + 1), ChassisId::kLocal};
    return octets + std::string(id, 'x') + std::string(4, '\0');
  };
  const auto tiers = [&](unsigned count) {
    std::string octets;
    for (unsigned level = 1; level <= count; ++level) octets += tier(level, 1);
    return octets;
  };
  std::string wanted;
  for (const std::string& octets :
       {tier(1, 1), tier(254, 1), tier(255, 1), tier(0, 1), tier(1, 0), tiers(32), tiers(33),
        tier(3, 1) + tier(3, 1), tier(3, 2) + tier(4, 255 - 14), tier(1, 1) + "\2"}) {
    add(frame_of({DeviceType::kSwitch, Level::of<1>(), PortType::kDownlink}, {}, octets));
    wanted += tiers_of(octets).empty() ? "1\n" : "\n";
  }
  // Nothing but the OUI and the subtype.
  Bytes none = frame_of({DeviceType::kSwitch, Level::of<1>(), PortType::kDownlink}, {}, tier(1, 1));
  const Bytes head{0x02, 0x4c, 0x56, 0x02};
  const auto at = std::search(none.begin(), none.end(), head.begin(), head.end());
  ASSERT_NE(at, none.end());
  at[-1] = 4;
  none.erase(at + 4, at + 12);
  add(none);
  EXPECT_EQ(dissect("-T fields -e lldp_level.wrong_location"), wanted + "1\n");
}

TEST_F(Dissector, ItsFieldsAreFilters) {
  add(frame_of({DeviceType::kSwitch, Level::of<2>(), PortType::kUplink}));
  add(frame_of({DeviceType::kSwitch, Level::of<3>(), PortType::kUplink}));
  EXPECT_EQ(dissect("-Y 'lldp_level.tr.level == 3 && lldp_level.contribution.port == 1' -T fields "
                    "-e frame.number -e lldp_level.contribution.level"),
            "2\t3\n");
}

TEST_F(Dissector, TakesTheOuisThatItIsTold) {
  add(frame_of({DeviceType::kSwitch, Level::of<2>(), PortType::kUplink},
               {.contribution_oui = {0xaa, 0xbb, 0xcc}}));
  const std::string fields = "-T fields -e lldp_level.contribution.level";
  EXPECT_EQ(dissect(fields), "\n");
  EXPECT_EQ(dissect("-o 'lldp_level.oui:02-4c-56, aa:bb:cc' " + fields), "2\n");
}

}  // namespace
}  // namespace lldp::core
