// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/decode.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "agent/cli/capture.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/lldpdus.hpp"
#include "tests/support/places.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::cli {
namespace {

using namespace std::chrono_literals;

constexpr CaptureTime kStart = 1'700'000'000s + 123'456'789ns;
const std::filesystem::path kCaptures = support::source_dir() + "/tests/captures";

/// A file that is gone when the test ends.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(testing::TempDir() + "lldp-level-" + std::to_string(getpid()) + ".pcap") {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Bytes frame_of(const Bytes& lldpdu, const Bytes& tags = {}) {
  Bytes frame{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0x4c, 0x56, 0, 0, 1};
  frame.insert(frame.end(), tags.begin(), tags.end());
  frame.insert(frame.end(), {0x88, 0xcc});
  frame.insert(frame.end(), lldpdu.begin(), lldpdu.end());
  return frame;
}

/// What an agent of ours sends, by name, level and port type.
Bytes ours(const std::string& name, const tlv::Claim& claim, std::uint16_t ttl = 121) {
  const MacAddress mac{0x02, 0x4c, 0x56, 0, 0, 1};
  Bytes out;
  tlv::LldpduWriter(out, 1500)
      .add(tlv::ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
      .add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets("swp1")})
      .add(tlv::Ttl{ttl})
      .add(tlv::SystemName{name})
      .add(tlv::Capabilities{.system = 0x04, .enabled = 0x04})
      .add(tlv::to_tr(claim))
      .add(tlv::to_contribution(claim))
      .end();
  return out;
}

Bytes data_center_bridging() {
  const Bytes mac{2, 0, 0, 0, 0, 2};
  tlv::ApplicationPriority applications;
  applications.table.items[0] = {.priority = 5, .selector = 5, .protocol = 40};
  applications.table.items[1] = {.priority = 3, .selector = 1, .protocol = 0x8906};
  applications.table.count = 2;
  Bytes out;
  tlv::LldpduWriter(out, 1500)
      .add(tlv::ChassisIdTlv{ChassisId::kMacAddress, mac})
      .add(tlv::PortIdTlv{PortId::kMacAddress, mac})
      .add(tlv::Ttl{121})
      .add(tlv::Capabilities{.system = 0x80, .enabled = 0x80})
      .add(tlv::EtsConfig{.willing = true,
                          .max_classes = 8 % 8,
                          .tables = {.traffic_class = {0, 0, 0, 0, 0, 1, 2, 0},
                                     .bandwidth = {50, 25, 25},
                                     .algorithm = {2, 2, 2}}})
      .add(tlv::PfcConfig{.willing = true, .cap = 8, .enabled = 0x60})
      .add(applications)
      .add(tlv::Tr{.device_type = 9, .level = 3, .orientation = 7})
      .end();
  return out;
}

/// One frame of each kind that decode tells apart.
void write_vectors(const std::string& path) {
  auto writer = CaptureWriter::open(path);
  ASSERT_TRUE(writer) << to_string(writer.error());
  const tlv::Claim leaf{DeviceType::kSwitch, Level::of<1>(), PortType::kUplink};
  Bytes strange = ours("spine\x1b[2J\xff", leaf);
  strange.resize(strange.size() - 2);                        // no End: what follows is read
  const Bytes tail{0xfe, 5,   0x00, 0x12, 0xbc, 0x01, 0xee,  // unknown OUI
                   0x12, 1,   0xdd,                          // unknown type
                   0x0a, 1,   'x',                           // a second System Name
                   0xfe, 5,   0x00, 0x80, 0xc2, 0x0b, 0x88,  // PFC, an octet short
                   0x0c, 200, 'c'};                          // runs past the end
  strange.insert(strange.end(), tail.begin(), tail.end());
  const Bytes frames[] = {
      frame_of(ours("leaf-1", leaf)),    frame_of(support::typical_lldpdu()),
      frame_of(data_center_bridging()),  frame_of(strange, {0x81, 0x00, 0x00, 0x05}),
      frame_of(ours("leaf-1", leaf, 0)), frame_of(support::broken_lldpdu(support::Broken::kNoTtl)),
  };
  CaptureTime time = kStart;
  for (const Bytes& frame : frames) {
    ASSERT_TRUE(writer->write(time, frame));
    time += 1s;
  }
  Bytes elsewhere = frames[0];
  elsewhere[5] = 0x03;  // nearest non-TPMR bridge
  ASSERT_TRUE(writer->write(time, elsewhere));
  Bytes other = frames[0];
  other[12] = 0x08;  // not LLDP
  ASSERT_TRUE(writer->write(time, other));
  ASSERT_TRUE(writer->write(time, Bytes(13, 0)));
}

std::string decoded(const std::string& path, bool json) {
  std::ostringstream out;
  const auto done = decode_capture(path, json, {}, out);
  EXPECT_TRUE(done) << to_string(done.error());
  return out.str();
}

TEST(Decode, SaysTheSameAsTheGoldenFiles) {
  TemporaryFile file;
  write_vectors(file.path());
  support::expect_golden(decoded(file.path(), false), "cli/golden/decode.txt");
  support::expect_golden(decoded(file.path(), true), "cli/golden/decode.json");
}

std::string number(std::uint32_t v) {
  return std::string(reinterpret_cast<const char*>(&v), sizeof v);
}

/// A pcap file of one packet, of which `captured` octets were.
void write_packet(const std::string& path, std::uint32_t link_type, const Bytes& packet,
                  std::size_t captured) {
  std::ofstream(path, std::ios::binary)
      << number(0xa1b2c3d4) << number(4U << 16 | 2U) << number(0) << number(0) << number(65535)
      << number(link_type) << number(0) << number(0) << number(static_cast<std::uint32_t>(captured))
      << number(static_cast<std::uint32_t>(packet.size())) << as_text(packet).substr(0, captured);
}
constexpr std::uint32_t kEthernet = 1;

TEST(Decode, SaysThatACaptureHasNoLldp) {
  TemporaryFile file;
  write_packet(file.path(), kEthernet, Bytes(60, 0), 60);
  for (const bool json : {false, true}) {
    std::ostringstream out;
    EXPECT_EQ(to_string(decode_capture(file.path(), json, {}, out).error()),
              file.path() + ": no LLDP frame: capture with 'ether proto 0x88cc'");
    EXPECT_EQ(out.str(), "");
  }
}

TEST(Decode, ReadsWhatTheSnapLengthLeft) {
  TemporaryFile file;
  const tlv::Claim leaf{DeviceType::kSwitch, Level::of<1>(), PortType::kUplink};
  const Bytes frame = frame_of(ours("leaf-1", leaf));
  // 14 of Ethernet, 9 of chassis ID, 7 of port ID, 4 of TTL, 8 of system name: within capabilities.
  write_packet(file.path(), kEthernet, frame, 14 + 9 + 7 + 4 + 8 + 3);
  EXPECT_EQ(decoded(file.path(), false),
            "1970-01-01T00:00:00.000000Z  02:4c:56:00:00:01  leaf-1 swp1, unknown\n"
            "  chassis-id              subtype mac-address, id 02:4c:56:00:00:01\n"
            "  port-id                 subtype interface-name, id swp1\n"
            "  ttl                     121\n"
            "  system-name             leaf-1\n"
            "  cut by the snap length: 23 octets were not captured\n");
  const std::string json = decoded(file.path(), true);
  EXPECT_NE(json.find(R"("missing":23,)"), json.npos) << json;
  EXPECT_NE(json.find(R"("statsTLVsDiscardedTotal":0,)"), json.npos) << json;

  write_packet(file.path(), kEthernet, frame, 14 + 9 + 5);  // within the port ID
  EXPECT_EQ(decoded(file.path(), false),
            "1970-01-01T00:00:00.000000Z  02:4c:56:00:00:01  discarded: cut by the snap length: 40 "
            "octets were not captured\n");

  Bytes padded = frame;  // what is missing is padding
  padded.resize(frame.size() + 10, 0);
  write_packet(file.path(), kEthernet, padded, frame.size());
  EXPECT_EQ(decoded(file.path(), false).find("cut"), std::string::npos);
}

TEST(Decode, SaysWhichFramesTheDaemonIgnores) {
  const Bytes lldpdu = ours("leaf-1", {DeviceType::kSwitch, Level::of<1>(), PortType::kUplink});
  CapturedFrame frame{.octets = frame_of(lldpdu)};
  EXPECT_EQ(why_ignored(frame, {}), std::nullopt);
  frame.vid = 5;
  EXPECT_EQ(why_ignored(frame, {}), "tagged for VLAN 5: it belongs to that VLAN, not to the link");
  frame.vid = 0;
  frame.octets[5] = 0x00;
  EXPECT_EQ(why_ignored(frame, {}), "sent to 01:80:c2:00:00:00: heard where lldp.scopes names it");
  EXPECT_EQ(why_ignored(frame, {.scopes = {core::Scope::kNearestCustomerBridge}}), std::nullopt);
  frame.octets[5] = 0x01;
  EXPECT_EQ(why_ignored(frame, {}), "sent to 01:80:c2:00:00:01, which is no address of LLDP");
}

/// As `tcpdump -i any` writes it; `type` is the packet's: 2 multicast, 4 outgoing.
Bytes cooked(std::uint32_t link_type, std::uint8_t type, const Bytes& tag, const Bytes& lldpdu) {
  const MacAddress source{0x02, 0x4c, 0x56, 0, 0, 1};
  const Bytes protocol = tag.empty() ? Bytes{0x88, 0xcc} : Bytes{tag[0], tag[1]};
  Bytes out;
  const auto append = [&](ByteSpan octets) { out.insert(out.end(), octets.begin(), octets.end()); };
  if (link_type == 113) {                // LINKTYPE_LINUX_SLL
    append(Bytes{0, type, 0, 1, 0, 6});  // packet type, ARPHRD_ETHER, length of the address
    append(source);
    append(Bytes{0, 0});
    append(protocol);
  } else {  // LINKTYPE_LINUX_SLL2
    append(protocol);
    append(Bytes{0, 0, 0, 0, 0, 7, 0, 1});  // reserved, ifindex, ARPHRD_ETHER
    append(Bytes{type, 6});
    append(source);
    append(Bytes{0, 0});
  }
  if (!tag.empty()) {
    append(ByteSpan(tag).subspan(2));
    append(Bytes{0x88, 0xcc});
  }
  append(lldpdu);
  return out;
}

TEST(Capture, ReadsCookedOnes) {
  const Bytes lldpdu = support::typical_lldpdu();
  TemporaryFile file;
  const auto read = [&](std::uint32_t link_type, std::uint8_t type, const Bytes& tag) {
    const Bytes packet = cooked(link_type, type, tag, lldpdu);
    write_packet(file.path(), link_type, packet, packet.size());
    auto reader = CaptureReader::open(file.path());
    EXPECT_TRUE(reader) << to_string(reader.error());
    CapturedFrame got;
    EXPECT_EQ(reader->next(got), true);
    EXPECT_EQ(to_string(got.source), "02:4c:56:00:00:01");
    EXPECT_EQ(as_text(got.lldpdu()), as_text(lldpdu));
    return why_ignored(got, {}).value_or("taken");
  };
  for (const std::uint32_t link_type : {113U, 276U}) {
    EXPECT_EQ(read(link_type, 2, {}), "taken");
    EXPECT_EQ(read(link_type, 4, {}), "sent by the machine that captured it");
    EXPECT_EQ(read(link_type, 0, {}), "not sent to a group address");
    EXPECT_EQ(read(link_type, 2, {0x81, 0x00, 0xe0, 0x00}), "taken");  // a priority tag
    EXPECT_EQ(read(link_type, 3, {0x81, 0x00, 0x00, 0x05}),
              "tagged for VLAN 5: it belongs to that VLAN, not to the link");
    for (std::size_t n = 0; n < 20; ++n) {  // shorter than its header
      write_packet(file.path(), link_type, Bytes(60, 0x88), n);
      EXPECT_FALSE(decode_capture(file.path(), false, {}, std::cout));
    }
  }
  write_packet(file.path(), 105, Bytes(60, 0), 60);
  EXPECT_EQ(to_string(CaptureReader::open(file.path()).error()),
            file.path() + ": link type IEEE802_11: capture on an Ethernet interface");
}

TEST(Decode, NamesTheFileThatCannotBeRead) {
  std::ostringstream out;
  EXPECT_EQ(to_string(decode_capture("/nonexistent.pcap", false, {}, out).error()),
            "/nonexistent.pcap: No such file or directory");
  TemporaryFile file;
  std::ofstream(file.path()) << "this is no capture file";
  EXPECT_EQ(to_string(decode_capture(file.path(), false, {}, out).error()),
            file.path() + ": not a pcap or pcapng file: unknown file format");
}

TEST(Decode, RefusesADeviceByNameForItHasNoEnd) {
  std::ostringstream out;
  EXPECT_EQ(to_string(decode_capture("/dev/zero", false, {}, out).error()),
            "/dev/zero: is a device, which has no end: name a file");
  EXPECT_EQ(to_string(decode_capture("/dev", false, {}, out).error()), "/dev: Is a directory");
}

// Its hole reads as 268 million packets without octets.
TEST(Decode, RefusesAFileOfMoreThanFourGiBByItsSize) {
  TemporaryFile file;
  write_vectors(file.path());
  std::filesystem::resize_file(file.path(), (std::uint64_t{4} << 30) + 1);
  std::ostringstream out;
  EXPECT_EQ(to_string(decode_capture(file.path(), false, {}, out).error()),
            file.path() + ": is longer than 4 GiB: capture with 'ether proto 0x88cc', or cut it");
  EXPECT_EQ(out.str(), "");
  // As long as may be it is read, up to what is no packet.
  std::filesystem::resize_file(file.path(), std::uint64_t{4} << 30);
  const auto reader = CaptureReader::open(file.path());
  EXPECT_TRUE(reader) << to_string(reader.error());
}

TEST(Decode, SaysWhereAFileIsCutShort) {
  TemporaryFile file;
  write_vectors(file.path());
  std::filesystem::resize_file(file.path(), 24 + 16 + 20);
  std::ostringstream out;
  const auto done = decode_capture(file.path(), false, {}, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().where, file.path());
  EXPECT_EQ(out.str(), "");
}

// As `record` leaves it, where it is ended before it has heard a frame.
TEST(Capture, IsOneBeforeItsFirstFrame) {
  TemporaryFile file;
  const auto writer = CaptureWriter::open(file.path());
  ASSERT_TRUE(writer) << to_string(writer.error());
  std::ostringstream out;
  EXPECT_EQ(to_string(decode_capture(file.path(), false, {}, out).error()),
            file.path() + ": no LLDP frame: capture with 'ether proto 0x88cc'");
  const auto full = CaptureWriter::open("/dev/full");
  ASSERT_FALSE(full);
  EXPECT_EQ(to_string(full.error()), "/dev/full: cannot write: No space left on device");
}

TEST(Capture, KeepsTimesToTheNanosecondAndFramesWhole) {
  constexpr CaptureTime kWhole = std::chrono::floor<std::chrono::seconds>(kStart);
  TemporaryFile file;
  const Bytes frame = frame_of(support::typical_lldpdu());
  {
    auto writer = CaptureWriter::open(file.path());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(kStart, frame));
    ASSERT_TRUE(writer->write(kWhole, frame));
  }
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader);
  CapturedFrame got;
  ASSERT_EQ(reader->next(got), true);
  EXPECT_EQ(got.time, kStart);
  EXPECT_EQ(got.octets, frame);
  ASSERT_EQ(reader->next(got), true);
  EXPECT_EQ(got.time, kWhole);
  EXPECT_EQ(got.missing, 0U);
  EXPECT_EQ(reader->next(got), false);
}

// A pcapng file counts microseconds in 64 bits; a CaptureTime ends in 2262.
TEST(Capture, TakesATimeThatItCannotHoldForTheLastThatItCan) {
  const Bytes frame =
      frame_of(ours("leaf1", {DeviceType::kSwitch, Level::of<1>(), PortType::kUplink}));
  TemporaryFile file;
  const auto block = [&](std::uint32_t type, std::string body) {
    body.resize((body.size() + 3) / 4 * 4);
    const std::string length = number(static_cast<std::uint32_t>(body.size() + 12));
    return number(type) + length + body + length;
  };
  const auto size = static_cast<std::uint32_t>(frame.size());
  std::ofstream(file.path(), std::ios::binary)
      << block(0x0a0d0d0a, number(0x1a2b3c4d) + number(1) + number(~0U) + number(~0U))
      << block(1, number(1) + number(0))
      << block(6, number(0) + number(0x7fffffff) + number(~0U) + number(size) + number(size) +
                      std::string(as_text(frame)));
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader) << to_string(reader.error());
  CapturedFrame read;
  const auto more = reader->next(read);
  ASSERT_TRUE(more) << to_string(more.error());
  EXPECT_EQ(to_date(read.time).substr(0, 10), "2262-04-11");
}
TEST(Capture, TakesVlanTagsOffEvenWhereAFrameIsAsLongAsTheMtu) {
  TemporaryFile file;
  Bytes lldpdu = support::typical_lldpdu();
  lldpdu.resize(1500, 0);
  const Bytes tags{0x88, 0xa8, 0, 1, 0x81, 0, 0, 2};
  {
    auto writer = CaptureWriter::open(file.path());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(kStart, frame_of(lldpdu, tags)));
    Bytes cut = frame_of(lldpdu, tags);
    for (std::size_t n = 12; n < 22; ++n) {  // ends within the tags
      cut.resize(n);
      ASSERT_TRUE(writer->write(kStart, cut));
      cut = frame_of(lldpdu, tags);
    }
  }
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader);
  CapturedFrame got;
  ASSERT_EQ(reader->next(got), true);
  EXPECT_EQ(got.octets, frame_of(lldpdu));
  EXPECT_EQ(reader->next(got), false);
}

// What the receive rules make of captures of other agents, and of their malformed frames.
TEST(OtherAgents, GetTheVerdictsOfTheStandard) {
  enum class Verdict { kAccept, kInError, kDiscard };
  const auto verdict_of = [](const std::string& n, bool station_only) {
    for (const char* discard : {"00", "01", "02", "03", "11", "12", "13", "14", "15", "16",
                                "17", "21", "23", "97", "A1", "A2", "A3", "A4", "A7", "A9"}) {
      if (n == discard) return Verdict::kDiscard;
    }
    // Ours to decide, 31: the first System Name stands, the second is a TLV discarded; A8: so is
    // one that enables what is not there, while Station Only beside others stays; 94 and AA: an
    // address family that nobody knows is kept.
    if (n == "A8") return station_only ? Verdict::kAccept : Verdict::kInError;
    for (const char* in_error : {"31", "32", "33", "92", "93", "98"}) {
      if (n == in_error) return Verdict::kInError;
    }
    return Verdict::kAccept;
  };
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCaptures / "ladvd")) {
    const std::string name = entry.path().filename().string();
    auto reader = CaptureReader::open(entry.path().string());
    ASSERT_TRUE(reader) << to_string(reader.error());
    CapturedFrame frame;
    ASSERT_EQ(reader->next(frame), true) << name;
    const auto view = tlv::decode(frame.lldpdu(), {});
    const Verdict verdict = verdict_of(name.substr(0, 2), name.find("host") != std::string::npos);
    EXPECT_EQ(view.has_value(), verdict != Verdict::kDiscard) << name;
    EXPECT_EQ(view && view->in_error, verdict == Verdict::kInError) << name;
    ++seen;
  }
  EXPECT_GT(seen, 40U);
}

TEST(OtherAgents, DecodeAllWithoutAnError) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kCaptures)) {
    if (entry.path().extension() != ".pcap") continue;
    std::ostringstream out;
    const auto done = decode_capture(entry.path().string(), true, {}, out);
    EXPECT_TRUE(done) << to_string(done.error());
    EXPECT_NE(out.str(), "") << entry.path();
  }
}

// Held against what tshark says of the same frames.
TEST(OtherAgents, AreReadAsTsharkReadsThem) {
  const auto text = [](const char* name) { return decoded(kCaptures / name, false); };
  const auto has = [](const std::string& all, const std::string& line) {
    EXPECT_NE(all.find(line), all.npos) << line << "\nin\n" << all;
  };
  const std::string nexus = text("ladvd/47.good.nexus.pcap");
  has(nexus, "system-name             XdasdXZ\n");  // a NUL stands at its end
  has(nexus,
      "dcbx-cin                (feature control, version 0, max-version 0, sequence 1, "
      "acknowledged 0)");
  has(nexus, "(feature logical-link, octets 0000800180)\n");
  has(text("ladvd/53.good.ipv6.pcap"), "management-address");
  has(text("lldpd/8023bt.pcap"), "requested-watts");
}

TEST(Tshark, DissectsOurFramesWithoutAMalformedMark) {
  if (std::system("command -v tshark >/dev/null") != 0) GTEST_SKIP() << "no tshark";
  TemporaryFile file;
  {
    auto writer = CaptureWriter::open(file.path());
    ASSERT_TRUE(writer);
    const tlv::Claim claim{DeviceType::kSwitch, Level::of<1>(), PortType::kUplink};
    for (const Bytes& pdu :
         {ours("leaf-1", claim), support::typical_lldpdu(), data_center_bridging()}) {
      ASSERT_TRUE(writer->write(kStart, frame_of(pdu)));
    }
  }
  const auto lines = [&](const std::string& filter) {
    const std::string command =
        "tshark -n -r '" + file.path() + "' -Y '" + filter + "' 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::size_t n = 0;
    for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) n += c == '\n' ? 1 : 0;
    return n;
  };
  EXPECT_EQ(lines("lldp"), 3U);
  EXPECT_EQ(lines("_ws.malformed"), 0U);
}

}  // namespace
}  // namespace lldp::cli
