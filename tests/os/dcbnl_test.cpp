// SPDX-License-Identifier: Apache-2.0
#include "os/dcbnl.hpp"

#include <gtest/gtest.h>

#include <cerrno>

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

#endif

}  // namespace
}  // namespace lldp::dcbnl
