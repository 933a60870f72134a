// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "agent/cli/capture.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/lldpdus.hpp"

namespace lldp::cli {
namespace {

using namespace std::chrono_literals;

/// A spine comes, then a host, then the spine falls silent and the host says good-bye.
void write_story(const std::string& path) {
  auto writer = CaptureWriter::open(path);
  ASSERT_TRUE(writer) << to_string(writer.error());
  const auto send = [&](CaptureTime after, const char* name, std::uint8_t last, std::uint16_t ttl,
                        const tlv::Claim& claim) {
    const MacAddress mac{0x02, 0x4c, 0x56, 0, 0, last};
    Bytes frame{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0x4c, 0x56, 0, 0, last, 0x88, 0xcc};
    tlv::LldpduWriter pdu(frame, 1500);
    pdu.add(tlv::ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
        .add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets("eth0")})
        .add(tlv::Ttl{ttl});
    if (ttl > 0) pdu.add(tlv::SystemName{name}).add(tlv::to_tr(claim));
    pdu.end();
    ASSERT_TRUE(writer->write(1'700'000'000s + after, frame));
  };
  const tlv::Claim spine{DeviceType::kSwitch, Level::of<2>(), PortType::kDownlink};
  const tlv::Claim host{DeviceType::kHost, Level::of<0>(), PortType::kUnmarked};
  send(0s, "spine-1", 1, 10, spine);
  send(2500ms, "server-1", 2, 121, host);
  send(30s, "server-1", 2, 121, host);
  send(31s, "server-1", 2, 0, host);
}

TEST(Replay, TellsTheStoryOfACapture) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  write_story(path);
  std::ostringstream text;
  std::ostringstream json;
  const auto told = replay_capture(path, "swp1", {}, false, {}, text);
  EXPECT_TRUE(told) << to_string(told.error());
  EXPECT_TRUE(replay_capture(path, "swp1", {}, true, {}, json));
  std::filesystem::remove(path);
  support::expect_golden(text.str(), "cli/golden/replay.txt");
  support::expect_golden(json.str(), "cli/golden/replay.json");
}

TEST(Replay, ThePortsOwnFramesAreNoNeighbor) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  write_story(path);
  std::ostringstream out;
  // The spine's address: as if the capture had been taken on the spine.
  const auto told =
      replay_capture(path, "swp1", MacAddress{0x02, 0x4c, 0x56, 0, 0, 1}, false, {}, out);
  std::filesystem::remove(path);
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_EQ(out.str().find("spine-1"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("server-1"), std::string::npos) << out.str();
}

TEST(Replay, TakesWhatTheSnapLengthLeftAndPassesOverWhatTheDaemonIgnores) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  write_story(path);
  std::string file;
  {
    std::ifstream in(path, std::ios::binary);
    file.assign(std::istreambuf_iterator<char>(in), {});
  }
  // The first frame without its last three octets, of which two are its End TLV.
  const std::size_t header = 24 + 16;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 24 + 8, sizeof length);
  const std::uint32_t captured = length - 3;
  std::memcpy(file.data() + 24 + 8, &captured, sizeof captured);
  file.erase(header + captured, 3);
  file[header + captured + 16 + 5] = 0x03;  // the second goes to the nearest non-TPMR bridge
  std::ofstream(path, std::ios::binary) << file;
  std::ostringstream out;
  const auto notes = replay_capture(path, "swp1", {}, false, {}, out);
  std::filesystem::remove(path);
  ASSERT_TRUE(notes) << to_string(notes.error());
  EXPECT_EQ(*notes, (std::vector<std::string>{
                        path + ": LLDPDUs cut by the snap length: 1; taken as far as they go",
                        path + ": frames that the daemon ignores: 1; decode says why"}));
  EXPECT_NE(out.str().find("neighbor added: spine-1 port eth0"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("level none -> 3"), std::string::npos);  // its TR TLV was cut
  EXPECT_NE(out.str().find("22:13:50.000000Z  neighbor added: server-1"), std::string::npos)
      << out.str();
}

TEST(Replay, SaysWhereACaptureBreaksOff) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  write_story(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  for (const bool json : {false, true}) {
    std::ostringstream out;
    const auto told = replay_capture(path, "swp1", {}, json, {}, out);
    ASSERT_FALSE(told);
    EXPECT_TRUE(to_string(told.error()).starts_with(path + ": truncated dump file"))
        << to_string(told.error());
  }
  std::filesystem::remove(path);
}

// A switch without a battery begins in 1970, and its clock is set while it records. Each second of
// the 50 years would be lived through.
TEST(Replay, LivesThroughTheFirstDaysOfAGap) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  std::filesystem::remove(path);
  {
    auto writer = CaptureWriter::open(path);
    ASSERT_TRUE(writer) << to_string(writer.error());
    Bytes frame{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0x4c, 0x56, 0, 0, 1, 0x88, 0xcc};
    tlv::LldpduWriter pdu(frame, 1500);
    pdu.add(tlv::ChassisIdTlv{ChassisId::kLocal, as_octets("spine")})
        .add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets("eth0")})
        .add(tlv::Ttl{120});
    pdu.end();
    for (const auto time : {0s, 30s, 1'700'000'000s, 1'700'000'030s, 2'100'000'000s})
      ASSERT_TRUE(writer->write(time, frame));
  }
  std::ostringstream out;
  const auto told = replay_capture(path, "swp1", {}, false, {}, out);
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_EQ(told->front(), path +
                               ": gaps of more than 3 days, as of a clock that was set: 2; taken "
                               "for 3 days");
  for (const char* line : {"1970-01-01T00:00:00.000000Z  neighbor added: spine port eth0\n",
                           "1970-01-01T00:02:30.000000Z  neighbor removed: spine port eth0: aged",
                           "2023-11-14T22:13:20.000000Z  neighbor added: spine port eth0\n",
                           "2023-11-14T22:15:50.000000Z  neighbor removed: spine port eth0: aged",
                           "2036-07-18T13:20:00.000000Z  neighbor added: spine port eth0\n"})
    EXPECT_NE(out.str().find(line), std::string::npos) << line << out.str();
  std::filesystem::remove(path);
}

TEST(Replay, SaysThatACaptureHasNoLldp) {
  const std::string path = testing::TempDir() + "lldp-level-replay-" + std::to_string(getpid());
  ASSERT_TRUE(CaptureWriter::open(path));
  std::ostringstream out;
  EXPECT_EQ(to_string(replay_capture(path, "swp1", {}, false, {}, out).error()),
            path + ": no LLDP frame: capture with 'ether proto 0x88cc'");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lldp::cli
