// SPDX-License-Identifier: Apache-2.0
#include "os/dcbnl.hpp"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace lldp::dcbnl {
namespace {

/// Its first octets, which have always been these: capability, enabled, MACsec bypass.
constexpr int kPfcOctets = offsetof(ieee_pfc, delay);
constexpr int kLast = DCB_ATTR_DCBX;
/// Younger than the oldest headers (Linux 6.2).
constexpr int kTrustTable = DCB_ATTR_DCB_BUFFER + 1;
/// The greatest error that the kernel has (MAX_ERRNO).
constexpr int kMostErrno = 4095;

void append(Bytes& to, const void* data, std::size_t size) {
  const auto* p = static_cast<const std::uint8_t*>(data);
  to.insert(to.end(), p, p + size);
  to.resize(NLMSG_ALIGN(to.size()));
}

void append_attribute(Bytes& to, int type, const void* data, std::size_t size) {
  const nlattr header{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + size),
                      .nla_type = static_cast<std::uint16_t>(type)};
  append(to, &header, sizeof header);
  append(to, data, size);
}

Bytes request(std::uint16_t type, std::uint8_t command, std::string_view name,
              std::uint32_t sequence) {
  const nlmsghdr header{.nlmsg_len = 0,
                        .nlmsg_type = type,
                        .nlmsg_flags = NLM_F_REQUEST,
                        .nlmsg_seq = sequence,
                        .nlmsg_pid = 0};
  const dcbmsg family{.dcb_family = AF_UNSPEC, .cmd = command, .dcb_pad = 0};
  Bytes message;
  append(message, &header, sizeof header);
  append(message, &family, sizeof family);
  append_attribute(message, DCB_ATTR_IFNAME, std::string(name).c_str(), name.size() + 1);
  return message;
}

Bytes finished(Bytes message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::memcpy(message.data(), &size, sizeof size);  // nlmsg_len comes first
  return message;
}

Bytes table_of(std::span<const App> apps) {
  Bytes entries;
  for (const App& app : apps) {
    const dcb_app entry{
        .selector = app.selector, .priority = app.priority, .protocol = app.protocol};
    append_attribute(entries, DCB_ATTR_IEEE_APP, &entry, sizeof entry);
  }
  Bytes table;
  append_attribute(table, DCB_ATTR_IEEE_APP_TABLE | NLA_F_NESTED, entries.data(), entries.size());
  return table;
}

/// The attributes of a message of dcbnl; false: it is none.
bool attributes_of(ByteSpan message, nlattr** top) {
  if (message.size() < NLMSG_HDRLEN) return false;
  const auto* header = reinterpret_cast<const nlmsghdr*>(message.data());
  if (header->nlmsg_len > message.size()) return false;
  if (header->nlmsg_type != RTM_GETDCB && header->nlmsg_type != RTM_SETDCB) return false;
  if (nlmsg_valid_hdr(header, sizeof(dcbmsg)) == 0) return false;
  nla_policy policy[kLast + 1] = {};
  policy[DCB_ATTR_IFNAME].type = NLA_STRING;
  policy[DCB_ATTR_DCBX].type = NLA_U8;
  return nla_parse(top, kLast, nlmsg_attrdata(header, sizeof(dcbmsg)),
                   nlmsg_attrlen(header, sizeof(dcbmsg)), policy) >= 0;
}

}  // namespace

bool firmware_decides(const Settings& settings) {
  return settings.dcbx && (*settings.dcbx & DCB_CAP_DCBX_LLD_MANAGED) != 0;
}

Bytes get_request(std::string_view name, std::uint32_t sequence) {
  return finished(request(RTM_GETDCB, DCB_CMD_IEEE_GET, name, sequence));
}

Bytes set_request(std::string_view name, std::uint32_t sequence, std::optional<std::uint8_t> pfc,
                  std::span<const App> apps) {
  Bytes settings;
  if (pfc) {
    ieee_pfc value{};
    value.pfc_en = *pfc;
    append_attribute(settings, DCB_ATTR_IEEE_PFC, &value, sizeof value);
  }
  if (!apps.empty()) {
    const Bytes table = table_of(apps);
    append(settings, table.data(), table.size());
  }
  Bytes message = request(RTM_SETDCB, DCB_CMD_IEEE_SET, name, sequence);
  append_attribute(message, DCB_ATTR_IEEE | NLA_F_NESTED, settings.data(), settings.size());
  return finished(std::move(message));
}

Bytes delete_request(std::string_view name, std::uint32_t sequence, std::span<const App> apps) {
  const Bytes table = table_of(apps);
  Bytes message = request(RTM_SETDCB, DCB_CMD_IEEE_DEL, name, sequence);
  append_attribute(message, DCB_ATTR_IEEE | NLA_F_NESTED, table.data(), table.size());
  return finished(std::move(message));
}

std::optional<Settings> parse(ByteSpan message) {
  nlattr* top[kLast + 1] = {};
  if (!attributes_of(message, top) || top[DCB_ATTR_IFNAME] == nullptr ||
      top[DCB_ATTR_IEEE] == nullptr || nla_len(top[DCB_ATTR_IEEE]) == 1)
    return std::nullopt;
  nlattr* ieee[kTrustTable + 1] = {};
  nla_policy policy[kTrustTable + 1] = {};
  policy[DCB_ATTR_IEEE_PFC].minlen = kPfcOctets;
  policy[DCB_ATTR_IEEE_APP_TABLE].type = NLA_NESTED;
  policy[DCB_ATTR_DCB_BUFFER].minlen = offsetof(dcbnl_buffer, total_size);
  policy[kTrustTable].type = NLA_NESTED;
  if (nla_parse_nested(ieee, kTrustTable, top[DCB_ATTR_IEEE], policy) < 0) return std::nullopt;
  Settings out{.name = nla_get_string(top[DCB_ATTR_IFNAME])};
  if (ieee[DCB_ATTR_IEEE_PFC] != nullptr) {
    const auto* pfc = static_cast<const std::uint8_t*>(nla_data(ieee[DCB_ATTR_IEEE_PFC]));
    out.pfc = {.enabled = pfc[offsetof(ieee_pfc, pfc_en)],
               .cap = pfc[offsetof(ieee_pfc, pfc_cap)],
               .mbc = pfc[offsetof(ieee_pfc, mbc)] != 0};
  }
  constexpr int kEtsOctets = offsetof(ieee_ets, tc_reco_bw);
  if (ieee[DCB_ATTR_IEEE_ETS] != nullptr && nla_len(ieee[DCB_ATTR_IEEE_ETS]) >= kEtsOctets) {
    const auto* ets = static_cast<const std::uint8_t*>(nla_data(ieee[DCB_ATTR_IEEE_ETS]));
    out.ets.emplace().cap = ets[offsetof(ieee_ets, ets_cap)];
    std::memcpy(out.ets->of.data(), ets + offsetof(ieee_ets, prio_tc), out.ets->of.size());
  }
  if (nlattr* table = ieee[DCB_ATTR_IEEE_APP_TABLE]; table != nullptr) {
    nlattr* entry = nullptr;
    int left = 0;
    nla_for_each_nested(entry, table, left) {
      dcb_app app{};
      if (nla_type(entry) != DCB_ATTR_IEEE_APP || nla_len(entry) < int{sizeof app}) continue;
      std::memcpy(&app, nla_data(entry), sizeof app);
      out.apps.push_back({app.selector, app.priority, app.protocol});
    }
  }
  if (nlattr* buffer = ieee[DCB_ATTR_DCB_BUFFER]; buffer != nullptr) {
    const auto* octets = static_cast<const std::uint8_t*>(nla_data(buffer));
    Buffers& buffers = out.buffers.emplace();
    std::memcpy(buffers.of.data(), octets, sizeof buffers.of);
    std::memcpy(buffers.octets.data(), octets + offsetof(dcbnl_buffer, buffer_size),
                sizeof buffers.octets);
  }
  if (nlattr* table = ieee[kTrustTable]; table != nullptr) {
    out.trusted.emplace();
    nlattr* entry = nullptr;
    int left = 0;
    nla_for_each_nested(entry, table, left) {
      if (nla_len(entry) == 1) out.trusted->push_back(nla_get_u8(entry));
    }
  }
  if (top[DCB_ATTR_DCBX] != nullptr) out.dcbx = nla_get_u8(top[DCB_ATTR_DCBX]);
  return out;
}

std::optional<int> parse_outcome(ByteSpan message) {
  if (message.size() >= NLMSG_HDRLEN) {
    const auto* header = reinterpret_cast<const nlmsghdr*>(message.data());
    if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len <= message.size() &&
        nlmsg_valid_hdr(header, sizeof(nlmsgerr)) != 0) {
      const int error = static_cast<const nlmsgerr*>(nlmsg_data(header))->error;
      return error <= 0 && error >= -kMostErrno ? -error : EPROTO;
    }
  }
  nlattr* top[kLast + 1] = {};
  if (!attributes_of(message, top) || top[DCB_ATTR_IEEE] == nullptr ||
      nla_len(top[DCB_ATTR_IEEE]) != 1)
    return std::nullopt;
  const unsigned code = nla_get_u8(top[DCB_ATTR_IEEE]);  // -EINVAL, cut to an octet
  return static_cast<int>(code == 0 ? 0U : 256U - code);
}

}  // namespace lldp::dcbnl
