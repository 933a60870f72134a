// SPDX-License-Identifier: Apache-2.0
#include "os/dcbnl.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

#include "os/dcbnl_socket.hpp"

namespace lldp::dcbnl {
namespace {

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__  // netlink speaks the machine's order

/// The kernel's answer, up to the attributes that differ between tests.
Bytes answer(std::uint8_t type, const Bytes& attributes) {
  Bytes message{0,    0,  0, 0,              // length, below
                type, 0,                     // RTM_GETDCB or RTM_SETDCB
                0,    0,                     // flags
                1,    0,  0, 0, 0, 0, 0, 0,  // sequence, port
                0,    21,                    // AF_UNSPEC, DCB_CMD_IEEE_GET
                0,    0};
  message.insert(message.end(), attributes.begin(), attributes.end());
  message[0] = static_cast<std::uint8_t>(message.size());
  message[1] = static_cast<std::uint8_t>(message.size() >> 8);
  return message;
}

constexpr std::uint8_t kGet = 78;
constexpr std::uint8_t kSet = 79;

const Bytes kName{9, 0, 1, 0, 's', 'w', 'p', '1', 0, 0, 0, 0};  // DCB_ATTR_IFNAME, padded to 12

/// DCB_ATTR_IEEE, as a kernel writes it: ETS, of which a part stands for all, and PFC.
Bytes ieee(std::uint8_t cap, std::uint8_t enabled, std::uint8_t mbc) {
  Bytes pfc{140,  0,       2,   0,           // 136 octets and the header, DCB_ATTR_IEEE_PFC
            cap,  enabled, mbc, 0,           // and a hole before the delay
            0xff, 0xff,    0,   0};          // delay, and a hole before the counters
  pfc.resize(140);                           // requests and indications
  Bytes nest{152, 0, 13, 0x80,               // DCB_ATTR_IEEE, nested, 148 octets
             8,   0, 1,  0,    1, 2, 3, 4};  // DCB_ATTR_IEEE_ETS
  nest.insert(nest.end(), pfc.begin(), pfc.end());
  return nest;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(DcbMessage, RequestNamesTheInterface) {
  EXPECT_EQ(get_request("swp1", 0x01020304),
            (Bytes{32,  0,   0,   0,                // length
                   78,  0,   1,   0,                // RTM_GETDCB, NLM_F_REQUEST
                   4,   3,   2,   1,   0, 0, 0, 0,  // sequence, port
                   0,   21,  0,   0,                // AF_UNSPEC, DCB_CMD_IEEE_GET
                   9,   0,   1,   0,                // DCB_ATTR_IFNAME
                   's', 'w', 'p', '1', 0, 0, 0, 0}));
}

TEST(DcbMessage, AnswersAndNotificationsTellPfc) {
  const Settings want{.name = "swp1", .pfc = Pfc{.enabled = 0x60, .cap = 8, .mbc = true}};
  for (const std::uint8_t type : {kGet, kSet})
    EXPECT_EQ(parse(answer(type, kName + ieee(8, 0x60, 1))), want);
  const Settings none{.name = "swp1", .pfc = Pfc{}};
  EXPECT_EQ(parse(answer(kGet, kName + ieee(0, 0, 0))), none);
}

TEST(DcbMessage, WhatSaysNothingOfPfcSaysNothing) {
  EXPECT_EQ(parse(answer(kGet, kName)), std::nullopt);
  EXPECT_EQ(parse(answer(kGet, ieee(8, 0x60, 0))), std::nullopt);  // of whom?
  EXPECT_EQ(parse(answer(kGet, kName + Bytes{12, 0, 13, 0x80, 8, 0, 1, 0, 1, 2, 3, 4})),
            Settings{.name = "swp1"});  // ETS alone
  EXPECT_EQ(parse(answer(kGet, kName + Bytes{12, 0, 13, 0x80, 6, 0, 2, 0, 1, 2, 0, 0})),
            std::nullopt);                                               // PFC of two octets
  EXPECT_EQ(parse(answer(16, kName + ieee(8, 0x60, 0))), std::nullopt);  // RTM_NEWLINK
  // NLMSG_ERROR: -EOPNOTSUPP, and the request.
  EXPECT_EQ(parse(Bytes{52, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0xff, 0xff, 0xff} +
                  get_request("swp1", 1)),
            std::nullopt);
}

TEST(DcbMessage, AppTableAndWhoRunsDcbxAreTold) {
  const Bytes table{32, 0, 13, 0x80,                       // DCB_ATTR_IEEE, 32 with its header
                    28, 0, 3,  0x80,                       // DCB_ATTR_IEEE_APP_TABLE
                    8,  0, 1,  0,    5,    5, 43,   0,     // DSCP 43 to priority 5
                    8,  0, 1,  0,    1,    3, 0x06, 0x89,  // EtherType 0x8906 to 3
                    7,  0, 1,  0,    5,    5, 43,   0,     // too short: not an entry
                    5,  0, 14, 0,    0x0a, 0, 0,    0};    // DCB_ATTR_DCBX: firmware, IEEE
  const auto parsed = parse(answer(kGet, kName + table));
  EXPECT_EQ(parsed,
            (Settings{.name = "swp1", .apps = {{kDscp, 5, 43}, {1, 3, 0x8906}}, .dcbx = 0x0a}));
  EXPECT_TRUE(firmware_decides(*parsed));
}

TEST(DcbMessage, TrafficClassesOfPrioritiesAreTold) {
  Bytes ets{63, 0, 1, 0, 1, 8};  // DCB_ATTR_IEEE_ETS: willing, 8 traffic classes
  ets.resize(4 + 27);            // cbs, bandwidths and algorithms
  for (std::uint8_t p = 0; p < 8; ++p) ets.push_back(p == 3 ? 5 : 1);
  ets.resize(64);
  const auto parsed = parse(answer(kGet, kName + Bytes{68, 0, 13, 0x80} + ets));
  EXPECT_EQ(parsed,
            (Settings{.name = "swp1", .ets = Ets{.cap = 8, .of = {1, 1, 1, 5, 1, 1, 1, 1}}}));
  ets.resize(36);
  ets[0] = 36;  // one that is cut off tells nothing, and costs itself alone
  EXPECT_EQ(parse(answer(kGet, kName + Bytes{40, 0, 13, 0x80} + ets)), Settings{.name = "swp1"});
}

TEST(DcbMessage, BuffersAndWhatIsTrustedAreTold) {
  Bytes buffer{48, 0, 10, 0,                         // DCB_ATTR_DCB_BUFFER
               0,  0, 0,  0, 0, 1, 2, 0,             // priority 5 in buffer 1, 6 in 2
               0,  1, 0,  0, 0, 0, 2, 0};            // 256 octets, 131072
  buffer.resize(48);                                 // and the rest 0
  const Bytes trust{20, 0, 11, 0x80,                 // DCB_ATTR_DCB_APP_TRUST_TABLE
                    5,  0, 2,  0,    255, 0, 0, 0,   // DCB_ATTR_DCB_APP: PCP
                    5,  0, 1,  0,    5,   0, 0, 0};  // DCB_ATTR_IEEE_APP: DSCP
  const auto parsed = parse(answer(kGet, kName + Bytes{72, 0, 13, 0x80} + buffer + trust));
  EXPECT_EQ(parsed,
            (Settings{.name = "swp1",
                      .buffers = Buffers{.of = {0, 0, 0, 0, 0, 1, 2, 0}, .octets = {256, 131072}},
                      .trusted = std::vector<std::uint8_t>{255, kDscp}}));
  const auto nothing = parse(answer(kGet, kName + Bytes{8, 0, 13, 0x80, 4, 0, 11, 0x80}));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->trusted, std::vector<std::uint8_t>());
  EXPECT_EQ(nothing->buffers, std::nullopt);
  buffer.resize(40);  // a table that is cut off is no answer
  buffer[0] = 40;
  EXPECT_EQ(parse(answer(kGet, kName + Bytes{44, 0, 13, 0x80} + buffer)), std::nullopt);
}

TEST(DcbMessage, ChangesHoldPfcAndEntriesAndNothingElse) {
  const App app{kDscp, 5, 43};
  const Bytes end{16, 0, 13, 0x80,  // DCB_ATTR_IEEE
                  12, 0, 3,  0x80,  // DCB_ATTR_IEEE_APP_TABLE
                  8,  0, 1,  0,    5, 5, 43, 0};
  Bytes removal{0, 0,  0, 0, kSet, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0,  // header
                0, 27, 0, 0};                                        // DCB_CMD_IEEE_DEL
  removal.insert(removal.end(), kName.begin(), kName.end());
  removal.insert(removal.end(), end.begin(), end.end());
  removal[0] = static_cast<std::uint8_t>(removal.size());
  EXPECT_EQ(delete_request("swp1", 1, std::span(&app, 1)), removal);
  // A change is read as what it says of the interface.
  Bytes change = set_request("swp1", 1, 0x60, std::span(&app, 1));
  EXPECT_EQ(change[4], kSet);
  EXPECT_EQ(change[17], 20);  // DCB_CMD_IEEE_SET
  EXPECT_EQ(parse(change), (Settings{.name = "swp1", .pfc = Pfc{.enabled = 0x60}, .apps = {app}}));
  EXPECT_EQ(parse(set_request("swp1", 1, std::nullopt, std::span(&app, 1))),
            (Settings{.name = "swp1", .apps = {app}}));
}

TEST(DcbMessage, OutcomeIsTheDriversAndNotTheAcknowledgements) {
  const auto outcome = [](std::uint8_t code) {
    return answer(kSet, kName + Bytes{5, 0, 13, 0, code, 0, 0, 0});
  };
  EXPECT_EQ(parse_outcome(outcome(0)), 0);
  EXPECT_EQ(parse_outcome(outcome(static_cast<std::uint8_t>(-EINVAL))), EINVAL);
  EXPECT_EQ(parse_outcome(outcome(static_cast<std::uint8_t>(-EOPNOTSUPP))), EOPNOTSUPP);
  EXPECT_EQ(parse(outcome(0)), std::nullopt);
  // NLMSG_ERROR: -EPERM, and the header of the request.
  EXPECT_EQ(parse_outcome(Bytes{36,   0,    0,  0, 2, 0, 0,  0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
                                0xff, 0xff, 16, 0, 0, 0, 79, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0,    0}),
            EPERM);
  // No error of the kernel's: the least number that there is, which has no opposite.
  EXPECT_EQ(parse_outcome(Bytes{36, 0,    0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                0,  0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            EPROTO);
  EXPECT_EQ(parse_outcome(answer(kGet, kName + ieee(8, 0x60, 0))), std::nullopt);
}

TEST(DcbMessage, OutcomeOfAnotherMessageIsNone) {
  EXPECT_EQ(parse_outcome({}), std::nullopt);
  const Bytes outcome = answer(kSet, kName + Bytes{5, 0, 13, 0, 0, 0, 0, 0});
  for (std::size_t n = 0; n < outcome.size(); ++n)
    EXPECT_EQ(parse_outcome(ByteSpan(outcome).first(n)), std::nullopt) << n;
  EXPECT_EQ(parse_outcome(answer(16, kName + Bytes{5, 0, 13, 0, 0, 0, 0, 0})), std::nullopt);
  EXPECT_EQ(parse_outcome(answer(kSet, kName)), std::nullopt);
}

TEST(DcbMessage, FirmwareDecidesOnlyWhereItIsSaid) {
  EXPECT_FALSE(firmware_decides({}));
  EXPECT_FALSE(firmware_decides({.dcbx = 0x09}));  // the host, IEEE
  EXPECT_TRUE(firmware_decides({.dcbx = 0x02}));
}

TEST(DcbMessage, TornMessagesAreRefused) {
  const Bytes whole = answer(kGet, kName + ieee(8, 0x60, 0));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(parse(ByteSpan(whole).first(n)), std::nullopt) << n;
  Bytes open_name = answer(kGet, Bytes{8, 0, 1, 0, 's', 'w', 'p', '1'} + ieee(8, 0x60, 0));
  EXPECT_EQ(parse(open_name), std::nullopt);
}

/// What waits on the other end when a question is asked is the kernel's answer to it.
class DcbSocket : public testing::Test {
 protected:
  DcbSocket() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    kernel_ = UniqueFd(ends[0]);
    socket_.emplace(UniqueFd(ends[1]));
  }
  static Bytes numbered(Bytes message, std::uint8_t sequence) {
    message[8] = sequence;
    return message;
  }
  void waits(const Bytes& message) {
    EXPECT_EQ(::send(kernel_.get(), message.data(), message.size(), 0), ssize_t(message.size()));
  }
  Bytes asked() {
    Bytes question(4096);
    const ssize_t size = ::recv(kernel_.get(), question.data(), question.size(), MSG_DONTWAIT);
    question.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return question;
  }
  static Bytes pfc(std::uint8_t enabled, std::uint8_t sequence) {
    return numbered(answer(kGet, kName + ieee(8, enabled, 0)), sequence);
  }
  static Bytes outcome(int code, std::uint8_t sequence) {
    const auto octet = static_cast<std::uint8_t>(-code);
    return numbered(answer(kSet, kName + Bytes{5, 0, 13, 0, octet, 0, 0, 0}), sequence);
  }
  /// NLMSG_ERROR, and the header of the request.
  static Bytes error(int code, std::uint8_t sequence) {
    Bytes message(36);
    message[0] = 36;
    message[4] = 2;
    for (std::size_t i = 0; i < 4; ++i)
      message[16 + i] = static_cast<std::uint8_t>(static_cast<unsigned>(-code) >> (8 * i) & 255U);
    return numbered(message, sequence);
  }

  UniqueFd kernel_;
  std::optional<Socket> socket_;
};

TEST_F(DcbSocket, EachQuestionGetsItsOwnAnswer) {
  waits(pfc(0x20, 9));                 // of a question that was given up
  waits(pfc(0x10, 8) + pfc(0x60, 1));  // and one more before it
  waits(pfc(0x40, 2));
  EXPECT_EQ(socket_->get("swp1").value().pfc->enabled, 0x60);
  EXPECT_EQ(asked(), get_request("swp1", 1));
  EXPECT_EQ(socket_->get("swp1").value().pfc->enabled, 0x40);
  EXPECT_EQ(asked(), get_request("swp1", 2));
  const auto none = socket_->get("swp1");  // nobody waits for what has not come
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, EPROTO);
}

TEST_F(DcbSocket, RefusalsAreTheKernelsAndTheDriversAndNameThePort) {
  waits(error(ENODEV, 1));
  EXPECT_EQ(to_string(socket_->get("swp1").error()), "swp1: the port has vanished");
  waits(error(EOPNOTSUPP, 2));
  EXPECT_EQ(socket_->get("swp1").error().code, EOPNOTSUPP);
  waits(error(0, 3));  // an acknowledgement says nothing of how it stands
  EXPECT_EQ(socket_->get("swp1").error().code, EPROTO);
  waits(outcome(EINVAL, 4));
  EXPECT_EQ(to_string(socket_->set_pfc("swp1", 0x60).error()), "swp1: Invalid argument");
}

TEST_F(DcbSocket, ChangesSayWhatWasAskedFor) {
  const App app{kDscp, 5, 43};
  const std::span apps(&app, 1);
  for (std::uint8_t sequence = 1; sequence <= 3; ++sequence) waits(outcome(0, sequence));
  EXPECT_TRUE(socket_->set_pfc("swp1", 0x60));
  EXPECT_EQ(asked(), set_request("swp1", 1, 0x60, {}));
  EXPECT_TRUE(socket_->add("swp1", apps));
  EXPECT_EQ(asked(), set_request("swp1", 2, std::nullopt, apps));
  EXPECT_TRUE(socket_->remove("swp1", apps));
  EXPECT_EQ(asked(), delete_request("swp1", 3, apps));
}

#endif

}  // namespace
}  // namespace lldp::dcbnl
