// SPDX-License-Identifier: Apache-2.0
#include "os/netlink.hpp"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace lldp::netlink {
namespace {

/// The kernel's own words about a refusal, where it has any: extended acknowledgement, which comes
/// after the header of our request.
std::string words_of(nlmsghdr* header) {
  constexpr std::uint16_t kBoth = NLM_F_ACK_TLVS | NLM_F_CAPPED;
  if ((header->nlmsg_flags & kBoth) != kBoth) return {};
  const nlattr* text = nlmsg_find_attr(header, sizeof(nlmsgerr), NLMSGERR_ATTR_MSG);
  return text != nullptr ? nla_get_string(text) : std::string();
}

}  // namespace

Result<UniqueFd> open(int protocol, const std::string& name) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd) return fail(Error{errno, name, std::strerror(errno)});
  // Refusals in words, without our request repeated; kernels without either still answer.
  const int on = 1;
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  // Now, and not at the first request: its port ID is to be known before that.
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0)
    return fail(Error{errno, name, std::strerror(errno)});
  return fd;
}

std::optional<Refusal> ask(int socket, nlmsghdr* request, std::uint32_t sequence,
                           std::span<char> buffer, const std::function<void(nlmsghdr*)>& each) {
  request->nlmsg_seq = sequence;
  request->nlmsg_flags |= NLM_F_ACK;  // so every exchange that is no dump ends with an NLMSG_ERROR
  if (::send(socket, request, request->nlmsg_len, 0) < 0) return Refusal{errno};
  for (;;) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Refusal{errno};
    if (static_cast<std::size_t>(got) > buffer.size())
      return Refusal{EMSGSIZE, "the kernel's answer is longer than there is room for"};
    int left = static_cast<int>(got);
    for (auto* h = reinterpret_cast<nlmsghdr*>(buffer.data()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left)) {
      if (h->nlmsg_seq != sequence) continue;
      if (h->nlmsg_type == NLMSG_DONE) {  // a dump ends: as a whole, or at what had no room
        const bool tells = nlmsg_datalen(h) >= static_cast<int>(sizeof(int));
        const int code = tells ? -*static_cast<const int*>(nlmsg_data(h)) : 0;
        if (code <= 0) return std::nullopt;
        return Refusal{code,
                       std::string("the kernel ended its list early: ") + std::strerror(code)};
      }
      if (h->nlmsg_type == NLMSG_ERROR) {
        const int code = -static_cast<const nlmsgerr*>(nlmsg_data(h))->error;
        if (code == 0) return std::nullopt;
        return Refusal{code, words_of(h)};
      }
      if (each) each(h);
    }
  }
}

}  // namespace lldp::netlink
