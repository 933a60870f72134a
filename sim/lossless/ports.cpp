// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/ports.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace lldp::lab::lossless {
namespace {

constexpr int kBuffer = 32 << 20;
constexpr std::size_t kBatch = 64;

/// Untagged IPv4 and MAC control. The kernel keeps a tag apart from the frame.
bool filter(int socket) {
  constexpr auto kTagged = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT);
  std::array<sock_filter, 7> code{{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kTagged),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_PAUSE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0x40000),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

std::int64_t clock_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

Result<UniqueFd> take(const std::string& name) {
  UniqueFd fd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0) return fail(failed(name, "no such interface"));
  sockaddr_ll here{};
  here.sll_family = AF_PACKET;
  here.sll_protocol = htons(ETH_P_ALL);
  here.sll_ifindex = static_cast<int>(index);
  const int on = 1;
  if (!fd || !filter(fd.get()) ||
      setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) < 0 ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) < 0)
    return fail(failed(name, "cannot take the port"));
  if (setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kBuffer, sizeof kBuffer) < 0)
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer);
  return fd;
}

}  // namespace

Error failed(const std::string& where, const char* doing) {
  const int code = errno;
  return {code, where, fmt::format("{}: {}", doing, std::strerror(code))};
}

Result<Ports> Ports::open(const std::vector<std::string>& names) {
  Ports ports;
  ports.names_ = names;
  for (const std::string& name : names) {
    auto fd = take(name);
    if (!fd) return fail(fd.error());
    ports.sockets_.push_back(std::move(*fd));
  }
  return ports;
}

bool Ports::is_there(std::size_t port) const {
  sockaddr_ll here{};  // of an interface that is gone the number is -1
  socklen_t size = sizeof here;
  std::array<char, IF_NAMESIZE> name{};
  return getsockname(fd(port), reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
         here.sll_ifindex > 0 &&
         if_indextoname(static_cast<unsigned>(here.sll_ifindex), name.data()) != nullptr &&
         names_[port] == name.data();
}

bool Ports::take_again(std::size_t port) {
  if (is_there(port)) return false;
  auto fd = take(names_[port]);
  if (fd) sockets_[port] = std::move(*fd);
  return fd.has_value();
}

std::size_t Ports::receive(std::size_t port, const std::function<void(ByteSpan)>& take) {
  std::array<std::uint8_t, 2048> frame{};
  for (std::size_t count = 0; count < kBatch; ++count) {
    const ssize_t size =
        recv(sockets_[port].get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == ENETDOWN) continue;  // said once; what else is there comes next
    if (size < 0) return count;
    if (static_cast<std::size_t>(size) <= frame.size())
      take({frame.data(), static_cast<std::size_t>(size)});
    else
      ++too_long_;
  }
  return kBatch;
}

void Ports::send(std::size_t port, ByteSpan frame) {
  if (::send(sockets_[port].get(), frame.data(), frame.size(), MSG_DONTWAIT) < 0) ++missed_;
}

std::uint64_t Ports::missed() {
  for (const UniqueFd& fd : sockets_) {
    tpacket_stats stats{};  // since it was last asked for
    socklen_t size = sizeof stats;
    if (getsockopt(fd.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
      missed_ += stats.tp_drops;
  }
  return missed_;
}

Stopwatch::Stopwatch() : begin_ns_(clock_ns()) {}

packets::Picoseconds Stopwatch::now() const {
  return static_cast<packets::Picoseconds>(clock_ns() - begin_ns_) * packets::kNanosecond;
}

void Stopwatch::set(const Timer& timer, packets::Picoseconds at) const {
  if (at == packets::kNever) return timer.stop();
  timer.set_at(std::chrono::nanoseconds(begin_ns_ +
                                        static_cast<std::int64_t>(at / packets::kNanosecond) + 1));
}

}  // namespace lldp::lab::lossless
