// SPDX-License-Identifier: Apache-2.0
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <array>
#include <new>
#include <optional>

#include "dataplane/tc.hpp"

namespace lldp::dataplane {
namespace {

/// Of what is read of it: a text that does not end, or a number that is cut off, is none.
constexpr std::array<nla_policy, TCA_MAX + 1> kPolicy = [] {
  std::array<nla_policy, TCA_MAX + 1> policy{};
  policy[TCA_KIND].type = NLA_STRING;
  for (const int number : {TCA_CHAIN, TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK})
    policy[static_cast<std::size_t>(number)].type = NLA_U32;
  return policy;
}();

}  // namespace

std::optional<TcObject> parse_tc(nlmsghdr* header) {
  std::array<nlattr*, TCA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(tcmsg), attributes.data(), TCA_MAX,
                  const_cast<nla_policy*>(kPolicy.data())) < 0)
    return std::nullopt;
  const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(header));
  const auto number = static_cast<std::uint32_t>(tcm->tcm_ifindex);
  const auto port = number == TCM_IFINDEX_MAGIC_BLOCK ? Ifindex() : Ifindex::make(number);
  if (!port) return std::nullopt;
  const auto block = [&](int attribute) {
    return attributes[static_cast<std::size_t>(attribute)] != nullptr
               ? nla_get_u32(attributes[static_cast<std::size_t>(attribute)])
               : 0;
  };
  return TcObject{*port,
                  tcm->tcm_handle,
                  tcm->tcm_parent,
                  tcm->tcm_info,
                  attributes[TCA_CHAIN] ? nla_get_u32(attributes[TCA_CHAIN]) : 0,
                  attributes[TCA_KIND] ? nla_get_string(attributes[TCA_KIND]) : "",
                  attributes[TCA_OPTIONS],
                  block(TCA_INGRESS_BLOCK),
                  block(TCA_EGRESS_BLOCK)};
}

TcMessage::TcMessage(int type, int flags, Ifindex port, std::uint32_t parent, std::uint32_t handle,
                     std::uint32_t info)
    : msg_(nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)) {
  if (!msg_) throw std::bad_alloc();
  tcmsg tcm{};
  tcm.tcm_family = AF_UNSPEC;
  tcm.tcm_ifindex = static_cast<int>(port.value());
  tcm.tcm_parent = parent;
  tcm.tcm_handle = handle;
  tcm.tcm_info = info;
  nlmsg_append(msg_.get(), &tcm, sizeof tcm, NLMSG_ALIGNTO);
}

TcMessage TcMessage::of_block(int type, int flags, std::uint32_t block, std::uint32_t handle,
                              std::uint32_t info) {
  TcMessage message(type, flags, Ifindex(), block, handle, info);
  static_cast<tcmsg*>(nlmsg_data(nlmsg_hdr(message.get())))->tcm_ifindex =
      static_cast<int>(TCM_IFINDEX_MAGIC_BLOCK);
  return message;
}

TcMessage& TcMessage::text(int attribute, std::string_view value) {
  return octets(attribute, std::string(value).c_str(), value.size() + 1);
}

TcMessage& TcMessage::number(int attribute, std::uint32_t value) {
  return octets(attribute, &value, sizeof value);
}

TcMessage& TcMessage::octets(int attribute, const void* data, std::size_t size) {
  if (nla_put(msg_.get(), attribute, static_cast<int>(size), data) < 0) throw std::bad_alloc();
  return *this;
}

TcMessage& TcMessage::nest(int attribute, const std::function<void(TcMessage&)>& fill) {
  nlattr* nest = nla_nest_start(msg_.get(), attribute);
  if (nest == nullptr) throw std::bad_alloc();
  fill(*this);
  nla_nest_end(msg_.get(), nest);
  return *this;
}

TcMessage& TcMessage::options(const std::function<void(TcMessage&)>& fill) {
  return nest(TCA_OPTIONS, fill);
}

}  // namespace lldp::dataplane
