// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/capture.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "lab/live/fabric_of_namespaces.hpp"

namespace lldp::lab::bounce {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSilence{300};  ///< after which nothing more is waited for
constexpr int kLinger = 20;                         ///< ms, for what should not come
constexpr int kBuffer = 32 << 20;

auto failed(const std::string& node, const char* doing) {
  const int code = errno;
  return fail(Error{code, node, fmt::format("{}: {}", doing, std::strerror(code))});
}

sockaddr_ll address(int ifindex, int protocol) {
  sockaddr_ll a{};
  a.sll_family = AF_PACKET;
  a.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
  a.sll_ifindex = ifindex;
  return a;
}

/// A packet socket in a node's namespace, which receives nothing before bind_to().
Result<UniqueFd> open_socket(const live::FabricPlace& place, const std::string& node) {
  const live::KeepNamespace home;
  if (auto ok = live::enter(place, node); !ok) return fail(ok.error());
  UniqueFd fd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) return failed(node, "cannot open a packet socket");
  return fd;
}

Result<void> bind_to(const UniqueFd& fd, const std::string& node, int ifindex, int protocol) {
  const sockaddr_ll to = address(ifindex, protocol);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
    return failed(node, "cannot bind a packet socket");
  return {};
}

/// The link and end that a port's number stands for; see live::ifindex_of().
Spot spot_of(int ifindex, bool leaves) {
  const auto n = static_cast<std::size_t>(ifindex - live::ifindex_of(0, 0));
  return {n / 2, n % 2, leaves};
}

/// The VLAN tag that the kernel took out of the frame goes back in.
void restore_tag(msghdr& message, Bytes& frame) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata aux{};
    std::memcpy(&aux, CMSG_DATA(c), sizeof aux);
    if ((aux.tp_status & TP_STATUS_VLAN_VALID) == 0) continue;
    const std::array<std::uint8_t, 4> tag{static_cast<std::uint8_t>(aux.tp_vlan_tpid >> 8),
                                          static_cast<std::uint8_t>(aux.tp_vlan_tpid & 255),
                                          static_cast<std::uint8_t>(aux.tp_vlan_tci >> 8),
                                          static_cast<std::uint8_t>(aux.tp_vlan_tci & 255)};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  }
}

/// The only port of a host.
Result<Adjacency> port_of(const Fabric& fabric, std::size_t node) {
  const auto ports = adjacencies(fabric)[node];
  if (fabric.nodes[node].role == Role::kHost && ports.size() == 1) return ports.front();
  return fail(Error{0, fabric.nodes[node].name,
                    "flows begin and end at hosts that have one link: this is none"});
}

}  // namespace

Result<Capture> Capture::open(const live::FabricPlace& place, const Fabric& fabric) {
  Capture capture(fabric);
  for (const Node& node : fabric.nodes) {
    auto fd = open_socket(place, node.name);
    if (!fd) return fail(fd.error());
    const int on = 1;
    setsockopt(fd->get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof on);
    setsockopt(fd->get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBuffer, sizeof kBuffer);
    if (auto ok = bind_to(*fd, node.name, 0, ETH_P_ALL); !ok) return fail(ok.error());
    capture.sockets_.push_back(std::move(*fd));
  }
  return capture;
}

std::map<std::uint32_t, Track> Capture::take(std::size_t count) {
  std::map<std::uint32_t, Track> tracks;
  std::vector<pollfd> polled;
  for (const UniqueFd& fd : sockets_) polled.push_back({fd.get(), POLLIN, 0});
  std::size_t seen = 0;
  for (auto last = Clock::now(); Clock::now() - last < kSilence;) {
    if (poll(polled.data(), polled.size(), seen < count ? 50 : kLinger) == 0 && seen >= count)
      break;
    std::size_t more = 0;
    for (std::size_t n = 0; n < sockets_.size(); ++n)
      if (polled[n].revents != 0) more += drain(n, tracks);
    if (more > 0) last = Clock::now();
    seen += more;
  }
  return tracks;
}

std::size_t Capture::drain(std::size_t node, std::map<std::uint32_t, Track>& tracks) {
  std::size_t probes = 0;
  for (;;) {
    Bytes frame(2048);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(tpacket_auxdata))> control{};
    sockaddr_ll from{};
    iovec part{frame.data(), frame.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t n = recvmsg(sockets_[node].get(), &message, MSG_DONTWAIT);
    if (n < 0) return probes;
    frame.resize(static_cast<std::size_t>(n));
    const Spot spot = spot_of(from.sll_ifindex, from.sll_pkttype == PACKET_OUTGOING);
    if (frame.size() < 14 || spot.link >= fabric_->links.size()) continue;
    restore_tag(message, frame);
    if (auto sighting = recognise(frame)) {
      tracks[sighting->serial].emplace(spot, std::move(*sighting));
      ++probes;
    }
  }
}

Result<PacketSender> PacketSender::open(const live::FabricPlace& place, const Fabric& fabric,
                                        std::size_t node) {
  const auto port = port_of(fabric, node);
  if (!port) return fail(port.error());
  PacketSender sender;
  sender.port_ = fabric.nodes[node].name;
  auto fd = open_socket(place, sender.port_);
  if (!fd) return fail(fd.error());
  sender.socket_ = std::move(*fd);
  const int ifindex = live::ifindex_of(port->link, port->own_end);
  if (auto ok = bind_to(sender.socket_, sender.port_, ifindex, 0); !ok) return fail(ok.error());
  return sender;
}

Result<void> PacketSender::send(ByteSpan frame) const {
  if (::send(socket_.get(), frame.data(), frame.size(), 0) < 0) return failed(port_, "cannot send");
  return {};
}

std::uint64_t PacketSender::blast(ByteSpan frame, double per_second,
                                  const std::atomic<bool>& stop) const {
  constexpr std::size_t kBatch = 32;
  Bytes copy(frame.begin(), frame.end());
  iovec part{copy.data(), copy.size()};
  std::array<mmsghdr, kBatch> messages{};
  for (mmsghdr& m : messages) {
    m.msg_hdr.msg_iov = &part;
    m.msg_hdr.msg_iovlen = 1;
  }
  std::uint64_t sent = 0;
  for (const auto begin = Clock::now(); !stop;) {
    const std::chrono::duration<double> due(static_cast<double>(sent) / per_second);
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(due));
    const int n = sendmmsg(socket_.get(), messages.data(), kBatch, 0);
    if (n > 0) sent += static_cast<std::uint64_t>(n);
  }
  return sent;
}

Result<PacketCounter> PacketCounter::open(const live::FabricPlace& place, const Fabric& fabric,
                                          std::size_t node, std::size_t flow, Dscp dscp,
                                          bool with_it) {
  const auto port = port_of(fabric, node);
  if (!port) return fail(port.error());
  const std::string& name = fabric.nodes[node].name;
  auto fd = open_socket(place, name);
  if (!fd) return fail(fd.error());
  const auto to = ipv4_of(flow, true);
  const std::uint32_t destination =
      std::uint32_t{to[0]} << 24 | std::uint32_t{to[1]} << 16 | std::uint32_t{to[2]} << 8 | to[3];
  const std::uint8_t take_equal = with_it ? 0 : 1;
  const std::uint8_t take_other = with_it ? 1 : 0;
  std::array<sock_filter, 9> code{{
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 6),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 30),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, destination, 0, 4),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 15),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfc),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned{dscp.value()} << 2, take_equal, take_other),
      BPF_STMT(BPF_RET | BPF_K, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog filter{static_cast<unsigned short>(code.size()), code.data()};
  if (setsockopt(fd->get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0)
    return failed(name, "cannot filter");
  const int ifindex = live::ifindex_of(port->link, port->own_end);
  if (auto ok = bind_to(*fd, name, ifindex, ETH_P_ALL); !ok) return fail(ok.error());
  PacketCounter counter;
  counter.socket_ = std::move(*fd);
  return counter;
}

std::uint64_t PacketCounter::take() const {
  tpacket_stats stats{};  // tp_packets: all that passed the filter, dropped or not
  socklen_t size = sizeof stats;
  getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size);
  return stats.tp_packets;
}

}  // namespace lldp::lab::bounce
