// SPDX-License-Identifier: Apache-2.0
#include "dataplane/tc.hpp"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace lldp::dataplane {
namespace {

/// A qdisc, class or filter out of a message.
void tell(nlmsghdr* header, const std::function<void(const TcObject&)>& each) {
  std::array<nlattr*, TCA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(tcmsg), attributes.data(), TCA_MAX, nullptr) < 0) return;
  const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(header));
  const auto port = Ifindex::make(static_cast<std::uint32_t>(tcm->tcm_ifindex));
  if (!port || !each) return;
  each({*port, tcm->tcm_handle, tcm->tcm_parent, tcm->tcm_info,
        attributes[TCA_KIND] ? nla_get_string(attributes[TCA_KIND]) : "", attributes[TCA_OPTIONS]});
}

/// The kernel's own words about a refusal, where it has any: extended acknowledgement, which comes
/// after the header of our request.
std::string words_of(nlmsghdr* header) {
  constexpr std::uint16_t kBoth = NLM_F_ACK_TLVS | NLM_F_CAPPED;
  if ((header->nlmsg_flags & kBoth) != kBoth) return {};
  const nlattr* text = nlmsg_find_attr(header, sizeof(nlmsgerr), NLMSGERR_ATTR_MSG);
  return text != nullptr ? nla_get_string(text) : std::string();
}

std::string_view name_of(int type) {
  switch (type) {
    case RTM_NEWQDISC:
      return "RTM_NEWQDISC";
    case RTM_DELQDISC:
      return "RTM_DELQDISC";
    case RTM_GETQDISC:
      return "RTM_GETQDISC";
    case RTM_NEWTCLASS:
      return "RTM_NEWTCLASS";
    case RTM_GETTCLASS:
      return "RTM_GETTCLASS";
    case RTM_NEWTFILTER:
      return "RTM_NEWTFILTER";
    case RTM_DELTFILTER:
      return "RTM_DELTFILTER";
    case RTM_GETTFILTER:
      return "RTM_GETTFILTER";
    default:
      return "rtnetlink";
  }
}

Error explained(int type, int code, const std::string& words) {
  if (code == ENODEV) return {code, {}, "the port has vanished"};
  std::string text(name_of(type));
  text += ": " + (words.empty() ? std::string(std::strerror(code)) : words);
  if (code == EPERM) text += ": run with CAP_NET_ADMIN, or choose another backend";
  if (code == EOPNOTSUPP || (code == ENOENT && type == RTM_NEWQDISC))
    text += ": this kernel lacks a qdisc or classifier it takes; choose another backend";
  return {code, {}, text};
}

}  // namespace

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

TcMessage& TcMessage::options(const std::function<void(TcMessage&)>& fill) {
  nlattr* nest = nla_nest_start(msg_.get(), TCA_OPTIONS);
  if (nest == nullptr) throw std::bad_alloc();
  fill(*this);
  nla_nest_end(msg_.get(), nest);
  return *this;
}

Result<TcSocket> TcSocket::open() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd) return fail(Error{errno, "rtnetlink", std::strerror(errno)});
  // Refusals in words, without our request repeated; kernels without either still answer.
  const int on = 1;
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return TcSocket(std::move(fd));
}

Result<void> TcSocket::run(const TcMessage& message,
                           const std::function<void(const TcObject&)>& each) {
  nlmsghdr* ask = nlmsg_hdr(message.get());
  ask->nlmsg_seq = ++sequence_;
  ask->nlmsg_flags |= NLM_F_ACK;  // so every exchange that is no dump ends with an NLMSG_ERROR
  if (::send(socket_.get(), ask, ask->nlmsg_len, 0) < 0)
    return fail(explained(ask->nlmsg_type, errno, {}));
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(explained(ask->nlmsg_type, errno, {}));
    int left = static_cast<int>(got);
    for (auto* h = reinterpret_cast<nlmsghdr*>(buffer_.data()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left)) {
      if (h->nlmsg_seq != sequence_) continue;
      if (h->nlmsg_type == NLMSG_DONE) return {};
      if (h->nlmsg_type == NLMSG_ERROR) {
        const int code = -static_cast<const nlmsgerr*>(nlmsg_data(h))->error;
        if (code == 0) return {};
        return fail(explained(ask->nlmsg_type, code, words_of(h)));
      }
      tell(h, each);
    }
  }
}

Result<void> TcSocket::request(const TcMessage& message) { return run(message, nullptr); }

Result<void> TcSocket::dump(const TcMessage& message,
                            const std::function<void(const TcObject&)>& each) {
  return run(message, each);
}

}  // namespace lldp::dataplane
