// SPDX-License-Identifier: Apache-2.0
#include "agent/links/dcb_message.hpp"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstddef>
#include <cstring>

namespace lldp::io {
namespace {

/// Its first octets, which have always been these: capability, enabled, MACsec bypass.
constexpr int kPfcOctets = offsetof(ieee_pfc, delay);

void append(Bytes& to, const void* data, std::size_t size) {
  const auto* p = static_cast<const std::uint8_t*>(data);
  to.insert(to.end(), p, p + size);
  to.resize(NLMSG_ALIGN(to.size()));
}

}  // namespace

Bytes pfc_request(std::string_view name, std::uint32_t sequence) {
  const nlattr attribute{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + name.size() + 1),
                         .nla_type = DCB_ATTR_IFNAME};
  const std::string text(name);
  const dcbmsg family{.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET, .dcb_pad = 0};
  nlmsghdr header{.nlmsg_len = 0,
                  .nlmsg_type = RTM_GETDCB,
                  .nlmsg_flags = NLM_F_REQUEST,
                  .nlmsg_seq = sequence,
                  .nlmsg_pid = 0};
  Bytes message;
  append(message, &header, sizeof header);
  append(message, &family, sizeof family);
  append(message, &attribute, sizeof attribute);
  append(message, text.c_str(), text.size() + 1);
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  std::memcpy(message.data(), &header, sizeof header);
  return message;
}

std::optional<InterfacePfc> parse_dcb_message(ByteSpan message) {
  if (message.size() < NLMSG_HDRLEN) return std::nullopt;
  const auto* header = reinterpret_cast<const nlmsghdr*>(message.data());
  if (header->nlmsg_len > message.size()) return std::nullopt;
  if (header->nlmsg_type != RTM_GETDCB && header->nlmsg_type != RTM_SETDCB) return std::nullopt;
  if (nlmsg_valid_hdr(header, sizeof(dcbmsg)) == 0) return std::nullopt;

  nlattr* top[DCB_ATTR_IEEE + 1] = {};
  nla_policy policy[DCB_ATTR_IEEE + 1] = {};
  policy[DCB_ATTR_IFNAME].type = NLA_STRING;
  policy[DCB_ATTR_IEEE].type = NLA_NESTED;
  if (nla_parse(top, DCB_ATTR_IEEE, nlmsg_attrdata(header, sizeof(dcbmsg)),
                nlmsg_attrlen(header, sizeof(dcbmsg)), policy) < 0 ||
      top[DCB_ATTR_IFNAME] == nullptr || top[DCB_ATTR_IEEE] == nullptr)
    return std::nullopt;
  nlattr* ieee[DCB_ATTR_IEEE_PFC + 1] = {};
  nla_policy ieee_policy[DCB_ATTR_IEEE_PFC + 1] = {};
  ieee_policy[DCB_ATTR_IEEE_PFC].minlen = kPfcOctets;
  if (nla_parse_nested(ieee, DCB_ATTR_IEEE_PFC, top[DCB_ATTR_IEEE], ieee_policy) < 0 ||
      ieee[DCB_ATTR_IEEE_PFC] == nullptr)
    return std::nullopt;
  const auto* pfc = static_cast<const std::uint8_t*>(nla_data(ieee[DCB_ATTR_IEEE_PFC]));
  return InterfacePfc{.name = nla_get_string(top[DCB_ATTR_IFNAME]),
                      .pfc = {.enabled = pfc[offsetof(ieee_pfc, pfc_en)],
                              .cap = pfc[offsetof(ieee_pfc, pfc_cap)],
                              .mbc = pfc[offsetof(ieee_pfc, mbc)] != 0}};
}

}  // namespace lldp::io
