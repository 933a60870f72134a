// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

#include "base/bytes.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane {

/// One end of a veth pair as a wire: frames go in and come out whole, VLAN tag included.
class Wire {
 public:
  explicit Wire(const char* name)
      : ifindex_(static_cast<int>(::if_nametoindex(name))),
        fd_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
    sockaddr_ll to = address();
    ::bind(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
    const int on = 1;
    const int much = 16 << 20;
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof on);
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &much, sizeof much);
  }

  bool send(ByteSpan frame) const {
    const sockaddr_ll to = address();
    return ::sendto(fd_.get(), frame.data(), frame.size(), 0,
                    reinterpret_cast<const sockaddr*>(&to),
                    sizeof to) == static_cast<ssize_t>(frame.size());
  }

  /// The next IPv4 or IPv6 frame from us (02:...): the kernel's own chatter is left out.
  std::optional<Bytes> receive(int milliseconds = 500) const {
    for (;;) {
      pollfd p{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&p, 1, milliseconds) <= 0) return std::nullopt;
      Bytes frame(2048);
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(tpacket_auxdata))];
      iovec iov{frame.data(), frame.size()};
      msghdr msg{};
      msg.msg_iov = &iov;
      msg.msg_iovlen = 1;
      msg.msg_control = control;
      msg.msg_controllen = sizeof control;
      const ssize_t got = ::recvmsg(fd_.get(), &msg, 0);
      if (got < 14) continue;
      frame.resize(static_cast<std::size_t>(got));
      tpacket_auxdata aux{};
      for (cmsghdr* c = CMSG_FIRSTHDR(&msg); c != nullptr; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == SOL_PACKET) std::memcpy(&aux, CMSG_DATA(c), sizeof aux);
      if ((aux.tp_status & TP_STATUS_VLAN_VALID) != 0) {
        const std::uint8_t tag[] = {static_cast<std::uint8_t>(aux.tp_vlan_tpid >> 8),
                                    static_cast<std::uint8_t>(aux.tp_vlan_tpid & 255),
                                    static_cast<std::uint8_t>(aux.tp_vlan_tci >> 8),
                                    static_cast<std::uint8_t>(aux.tp_vlan_tci & 255)};
        frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
      }
      const bool from_us = frame[6] == 2 && frame[7] == 0 && frame[8] == 0 && frame[0] == 2;
      if (from_us) return frame;
    }
  }

 private:
  [[nodiscard]] sockaddr_ll address() const {
    sockaddr_ll a{};
    a.sll_family = AF_PACKET;
    a.sll_protocol = htons(ETH_P_ALL);
    a.sll_ifindex = ifindex_;
    return a;
  }
  int ifindex_;
  UniqueFd fd_;
};

}  // namespace lldp::dataplane
