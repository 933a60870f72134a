// SPDX-License-Identifier: Apache-2.0
#include "agent/links/dcb_message.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
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
  EXPECT_EQ(pfc_request("swp1", 0x01020304),
            (Bytes{32,  0,   0,   0,                // length
                   78,  0,   1,   0,                // RTM_GETDCB, NLM_F_REQUEST
                   4,   3,   2,   1,   0, 0, 0, 0,  // sequence, port
                   0,   21,  0,   0,                // AF_UNSPEC, DCB_CMD_IEEE_GET
                   9,   0,   1,   0,                // DCB_ATTR_IFNAME
                   's', 'w', 'p', '1', 0, 0, 0, 0}));
}

TEST(DcbMessage, AnswersAndNotificationsTellPfc) {
  const InterfacePfc want{.name = "swp1", .pfc = {.enabled = 0x60, .cap = 8, .mbc = true}};
  for (const std::uint8_t type : {kGet, kSet})
    EXPECT_EQ(parse_dcb_message(answer(type, kName + ieee(8, 0x60, 1))), want);
  const InterfacePfc none{.name = "swp1"};
  EXPECT_EQ(parse_dcb_message(answer(kGet, kName + ieee(0, 0, 0))), none);
}

TEST(DcbMessage, WhatSaysNothingOfPfcSaysNothing) {
  EXPECT_EQ(parse_dcb_message(answer(kGet, kName)), std::nullopt);
  EXPECT_EQ(parse_dcb_message(answer(kGet, ieee(8, 0x60, 0))), std::nullopt);  // of whom?
  EXPECT_EQ(parse_dcb_message(answer(kGet, kName + Bytes{12, 0, 13, 0x80, 8, 0, 1, 0, 1, 2, 3, 4})),
            std::nullopt);  // ETS alone
  EXPECT_EQ(parse_dcb_message(answer(kGet, kName + Bytes{12, 0, 13, 0x80, 6, 0, 2, 0, 1, 2, 0, 0})),
            std::nullopt);  // PFC of two octets
  EXPECT_EQ(parse_dcb_message(answer(16, kName + ieee(8, 0x60, 0))), std::nullopt);  // RTM_NEWLINK
  // NLMSG_ERROR: -EOPNOTSUPP, and the request.
  EXPECT_EQ(parse_dcb_message(
                Bytes{52, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0xff, 0xff, 0xff} +
                pfc_request("swp1", 1)),
            std::nullopt);
}

TEST(DcbMessage, TornMessagesAreRefused) {
  const Bytes whole = answer(kGet, kName + ieee(8, 0x60, 0));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(parse_dcb_message(ByteSpan(whole).first(n)), std::nullopt) << n;
  Bytes open_name = answer(kGet, Bytes{8, 0, 1, 0, 's', 'w', 'p', '1'} + ieee(8, 0x60, 0));
  EXPECT_EQ(parse_dcb_message(open_name), std::nullopt);
}

#endif

}  // namespace
}  // namespace lldp::io
