// SPDX-License-Identifier: Apache-2.0
#include "agent/wire/packet_io.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tlv/lldpdu.hpp"

namespace lldp::io {
namespace {

constexpr std::size_t kBatch = 32;
// An odd number of cache lines, so that the slots' beginnings do not fall on the same ones. Pages
// of the arena that no frame touches take no memory.
constexpr std::size_t kSlot = 9280;
static_assert(kSlot >= PacketIo::kMaxFrame && kSlot % 128 == 64);
constexpr std::size_t kArena = kBatch * kSlot;
/// 50 ms of 200,000 frames a second, as the kernel counts a small frame.
constexpr int kReceiveBuffer = 16 << 20;
/// At the least for a port that is set apart: many that flood us must not take the kernel's memory.
constexpr int kLeastApart = 4 << 20;
/// Of the first port that is set apart, 16 ms of 500,000 frames a second; so many may have one.
constexpr std::size_t kRing = 4 << 20;
constexpr std::size_t kRings = 8;
/// Of interfaces shut out; the filter asks for each of them.
constexpr std::size_t kMostShutOut = 64;
constexpr int kSendBuffer = 4 << 20;
/// Frames of network control go before data where a queue looks at it (TC_PRIO_CONTROL).
constexpr int kPriority = 7;

/// Where so many ports have a socket of their own already. The first has as much as all have
/// together: 30 ms of 500,000 frames a second, which a busy machine lets us wait.
int receive_buffer_apart(std::size_t others) {
  return std::max(kLeastApart, kReceiveBuffer / static_cast<int>(others + 1));
}

Error failed(std::string what) { return {errno, std::move(what), std::strerror(errno)}; }

/// What a filter leaves of a frame of a VLAN, to be counted: less than a header.
constexpr std::uint32_t kTagged = 13;

Result<void> attach(int fd, std::span<sock_filter> code) {
  const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    return fail(failed("packet socket's filter"));
  return {};
}

/// What the kernel lets through a socket that would see all traffic: LLDP coming in; of a VLAN's
/// only that there was one.
Result<void> attach_filter(int fd) {
  constexpr auto kExtra = static_cast<std::uint32_t>(SKF_AD_OFF);
  std::array<sock_filter, 10> code{{
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),  // EtherType
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, tlv::kEtherType, 0, 6),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kExtra + SKF_AD_PKTTYPE),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 4, 0),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kExtra + SKF_AD_VLAN_TAG),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x0fff),  // the VID
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
      BPF_STMT(BPF_RET | BPF_K, 0xffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kTagged),
  }};
  return attach(fd, code);
}

Result<UniqueFd> open_socket(std::uint16_t protocol, int receive_buffer = kReceiveBuffer) {
  UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(protocol)));
  if (!fd) {
    Error error = failed("packet socket");
    if (error.code == EPERM || error.code == EACCES) error.what += ": CAP_NET_RAW is needed";
    return fail(std::move(error));
  }
  // With CAP_NET_ADMIN past the system's limit; without it, up to that.
  for (const auto& [force, plain, octets] : {std::array{SO_RCVBUFFORCE, SO_RCVBUF, receive_buffer},
                                             std::array{SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer}}) {
    if (::setsockopt(fd.get(), SOL_SOCKET, force, &octets, sizeof octets) != 0)
      ::setsockopt(fd.get(), SOL_SOCKET, plain, &octets, sizeof octets);
  }
  ::setsockopt(fd.get(), SOL_SOCKET, SO_PRIORITY, &kPriority, sizeof kPriority);
  return fd;
}

}  // namespace

struct PacketIo::Buffers {
  std::uint8_t* arena = nullptr;
  std::array<sockaddr_ll, kBatch> addresses{};
  std::array<iovec, kBatch> vectors{};
  std::array<mmsghdr, kBatch> messages{};

  Buffers() {
    void* p = ::mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    arena = static_cast<std::uint8_t*>(p);
    for (std::size_t i = 0; i < kBatch; ++i) {
      vectors[i] = {.iov_base = arena + i * kSlot, .iov_len = kMaxFrame};
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_name = &addresses[i];
      messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() { ::munmap(arena, kArena); }
};

PacketIo::PacketIo() : buffers_(std::make_unique<Buffers>()) {}
PacketIo::PacketIo(PacketIo&&) noexcept = default;
PacketIo& PacketIo::operator=(PacketIo&&) noexcept = default;
PacketIo::~PacketIo() = default;

Result<PacketIo> PacketIo::open(std::span<const MacAddress> groups) {
  PacketIo io;
  io.groups_.assign(groups.begin(), groups.end());
  auto shared = open_socket(tlv::kEtherType);
  if (!shared) return fail(shared.error());
  io.shared_ = std::move(*shared);
  io.own_set_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!io.own_set_) return fail(failed("epoll set"));
  return io;
}

Result<void> PacketIo::add(const Port& port) {
  auto [it, fresh] = ports_.try_emplace(port.ifindex);
  Heard& heard = it->second;
  if (!fresh && heard.port == port) return {};
  if (std::erase(shut_out_, port.ifindex) != 0) apply_shared_filter();
  if (fresh) membership(port.ifindex, PACKET_ADD_MEMBERSHIP);
  close_own(heard);
  heard.port = port;
  return port.hearing == Hearing::kShared ? Result<void>{} : open_own(heard);
}

void PacketIo::close_own(Heard& heard) {
  if (!heard.own) return;
  // What comes from now on is heard on the shared socket.
  if (std::exchange(heard.apart, false)) apply_shared_filter();
  heard.ring.reset();
  heard.own = UniqueFd();  // leaves the epoll set by being closed
  --own_count_;
}

Result<void> PacketIo::open_own(Heard& heard) {
  // Without a protocol until it is bound: nothing else gets in, and the kernel need not wait for
  // other CPUs to take note of a change.
  auto fd = open_socket(0);
  if (!fd) return fail(fd.error());
  if (heard.port.hearing == Hearing::kTap) {
    if (auto filtered = attach_filter(fd->get()); !filtered) return filtered;
  }
  return bind_own(heard, std::move(*fd));
}

Result<void> PacketIo::bind_own(Heard& heard, UniqueFd fd) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol =
      htons(heard.port.hearing == Hearing::kTap ? std::uint16_t{ETH_P_ALL} : tlv::kEtherType);
  address.sll_ifindex = static_cast<int>(heard.port.ifindex.value());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENODEV || errno == ENXIO) return {};
    return fail(failed("packet socket of an interface"));
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = heard.port.ifindex.value();
  if (::epoll_ctl(own_set_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0)
    return fail(failed("epoll set"));
  if (deaf_) apply_filter(fd.get(), heard.port.hearing);
  heard.own = std::move(fd);
  ++own_count_;
  return {};
}

void PacketIo::set_apart(Heard& heard) {
  auto fd = open_socket(0, receive_buffer_apart(own_count_));
  if (!fd) return;
  if (own_count_ < kRings) {
    if (auto ring = PacketRing::make(fd->get(), kRing / (own_count_ + 1)))
      heard.ring = std::make_shared<PacketRing>(std::move(*ring));
  }
  // What waits on the shared socket is heard there; what comes from now on, on the port's own.
  heard.apart = true;
  if (apply_shared_filter() && bind_own(heard, std::move(*fd)) && heard.own) {
    heard.busy = true;
    return;
  }
  heard.apart = false;
  heard.ring.reset();
  apply_shared_filter();
}

void PacketIo::remove(Ifindex port) {
  const auto it = ports_.find(port);
  if (it == ports_.end()) return;
  membership(port, PACKET_DROP_MEMBERSHIP);
  close_own(it->second);
  ports_.erase(it);
}

void PacketIo::set_groups(std::span<const MacAddress> groups) {
  if (std::ranges::equal(groups, groups_)) return;
  for (const auto& [ifindex, heard] : ports_) membership(ifindex, PACKET_DROP_MEMBERSHIP);
  groups_.assign(groups.begin(), groups.end());
  for (const auto& [ifindex, heard] : ports_) membership(ifindex, PACKET_ADD_MEMBERSHIP);
}

void PacketIo::membership(Ifindex port, int option) const {
  for (const MacAddress& group : groups_) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(port.value());
    request.mr_type = PACKET_MR_MULTICAST;
    request.mr_alen = static_cast<unsigned short>(group.size());
    std::ranges::copy(group, request.mr_address);
    // Fails only for an interface that is gone, and then there is nothing to hear.
    ::setsockopt(shared_.get(), SOL_PACKET, option, &request, sizeof request);
  }
}

void PacketIo::set_deaf(bool deaf) {
  if (std::exchange(deaf_, deaf) == deaf) return;
  apply_shared_filter();
  for (const auto& [ifindex, heard] : ports_)
    if (heard.own) apply_filter(heard.own.get(), heard.port.hearing);
}

bool PacketIo::apply_filter(int fd, Hearing hearing) const {
  if (deaf_) {
    sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    return attach(fd, {&nothing, 1}).has_value();
  }
  if (hearing == Hearing::kTap) return attach_filter(fd).has_value();
  // The kernel wants a number and does not look at it.
  return ::setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &fd, sizeof fd) == 0 || errno == ENOENT;
}

bool PacketIo::apply_shared_filter() const {
  std::vector<sock_filter> code;
  const auto pass_over = [&](Ifindex ifindex) {
    if (code.empty())
      code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                              static_cast<std::uint32_t>(SKF_AD_OFF) + SKF_AD_IFINDEX));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ifindex.value(), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  };
  std::ranges::for_each(shut_out_, pass_over);
  for (const auto& [ifindex, heard] : ports_)
    if (heard.apart) pass_over(ifindex);
  if (code.empty() || deaf_) return apply_filter(shared_.get(), Hearing::kShared);
  code.push_back(BPF_STMT(BPF_RET | BPF_K, 0x7fffffff));
  return attach(shared_.get(), code).has_value();
}

PacketIo::Turn PacketIo::receive_shared(const Handler& handler) {
  const Turn turn = drain(shared_.get(), nullptr, kFramesPerTurn, handler);
  watch_shares(turn);
  return turn;
}

void PacketIo::watch_shares(Turn turn) {
  const bool busy = turn != Turn::kIdle;
  if (!busy && busy_turns_ == 0) return;
  if (busy && ++busy_turns_ < kBusyTurns) return;
  busy_turns_ = 0;
  Heard* most = nullptr;
  std::size_t frames = 0;
  for (auto& [ifindex, heard] : ports_) {
    if (heard.frames > frames) most = &heard;
    frames = std::max(frames, std::exchange(heard.frames, 0));
  }
  Ifindex passed_over{};
  for (const auto& [ifindex, count] : std::exchange(passed_over_, {})) {
    // What came before it was shut out still waits here.
    if (count <= frames || std::ranges::count(shut_out_, ifindex) != 0) continue;
    passed_over = ifindex;
    frames = count;
  }
  // Many ports with few frames each are no flood. They are counted from the second turn on.
  if (!busy || frames <= (kBusyTurns - 1) * kBusy) return;
  if (passed_over != Ifindex{}) return shut_out(passed_over);
  set_apart(*most);
}

void PacketIo::shut_out(Ifindex interface) {
  if (shut_out_.size() == kMostShutOut) shut_out_.erase(shut_out_.begin());
  shut_out_.push_back(interface);
  // Else it stays where it is, as a port does.
  if (!apply_shared_filter()) shut_out_.pop_back();
}

void PacketIo::rejoin(TimePoint now) {
  if (own_count_ == 0) return;
  for (auto& [ifindex, heard] : ports_) {
    if (!heard.apart) continue;
    if (std::exchange(heard.busy, false)) heard.calm_since = now;
    const bool waits = heard.ring && heard.ring->ready();
    if (now - heard.calm_since >= kCalm && !waits) close_own(heard);
  }
}

PacketIo::Turn PacketIo::receive_own(const Handler& handler) {
  std::array<epoll_event, 64> ready{};
  const int n = ::epoll_wait(own_set_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  Turn turn = n == static_cast<int>(ready.size()) ? Turn::kUnfinished : Turn::kIdle;
  const std::size_t share = kFramesPerTurn / static_cast<std::size_t>(std::max(n, 1));
  for (int i = 0; i < n; ++i) {
    const auto port = *Ifindex::make(ready[static_cast<std::size_t>(i)].data.u32);
    auto it = ports_.find(port);
    if (it == ports_.end() || !it->second.own) continue;  // removed by the handler just now
    const Heard& heard = it->second;
    const Turn found = heard.ring ? drain_ring(heard, share, handler)
                                  : drain(heard.own.get(), &heard, share, handler);
    turn = std::max(turn, found);
    if (found != Turn::kIdle && (it = ports_.find(port)) != ports_.end()) it->second.busy = true;
  }
  return turn;
}

PacketIo::Turn PacketIo::drain(int fd, const Heard* own, std::size_t limit,
                               const Handler& handler) {
  const Port own_port = own ? own->port : Port{};  // a handler may remove the port
  std::size_t frames = 0;
  while (frames < limit) {
    const int n = ::recvmmsg(fd, buffers_->messages.data(), kBatch, 0, nullptr);
    if (n < 0 && errno != EAGAIN) {
      ++frames;  // a bound socket tells once that its interface went down (ENETDOWN); then it goes
                 // on
      continue;
    }
    if (n <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      take(buffers_->addresses[i],
           {static_cast<const std::uint8_t*>(buffers_->vectors[i].iov_base),
            buffers_->messages[i].msg_len},
           own ? &own_port : nullptr, handler);
    frames += static_cast<std::size_t>(n);
    if (static_cast<std::size_t>(n) < kBatch) break;
  }
  return turn_of(frames, limit);
}

PacketIo::Turn PacketIo::turn_of(std::size_t frames, std::size_t limit) {
  return frames >= limit ? Turn::kUnfinished : frames > kBusy ? Turn::kBusy : Turn::kIdle;
}

PacketIo::Turn PacketIo::drain_ring(const Heard& own, std::size_t limit, const Handler& handler) {
  const Port port = own.port;
  const auto ring = own.ring;  // a handler may remove the port
  const int fd = own.own.get();
  std::size_t frames = 0;
  for (; frames < limit && ring.use_count() > 1 && ring->ready(); ++frames, ring->release()) {
    const PacketRing::Frame frame = ring->front();
    if (!frame.cut) {
      take(frame.from, frame.octets, &port, handler);
    } else if (frame.waits) {
      auto& whole = buffers_->vectors[0];
      // A call that tells that the interface went down takes nothing, and the next would take this
      // frame for another one.
      ssize_t n = 0;
      do n = ::recv(fd, whole.iov_base, whole.iov_len, 0);
      while (n < 0 && errno != EAGAIN);
      if (n > 0)
        take(frame.from,
             {static_cast<const std::uint8_t*>(whole.iov_base), static_cast<std::size_t>(n)}, &port,
             handler);
    }
  }
  if (frames == 0) {
    // The socket told that its interface went down, and would again until that is taken.
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  return turn_of(frames, limit);
}

void PacketIo::take(const sockaddr_ll& from, ByteSpan frame, const Port* own,
                    const Handler& handler) {
  if (from.sll_pkttype == PACKET_OUTGOING) return;
  auto port = *Ifindex::make(static_cast<std::uint32_t>(from.sll_ifindex));
  if (own == nullptr && (own_count_ != 0 || busy_turns_ != 0)) {
    const auto it = ports_.find(port);
    if (it == ports_.end() || (it->second.own && !it->second.apart)) {
      ++passed_over_[port];
      return;  // a port's is heard, and counted, there already
    }
    if (!it->second.apart) ++it->second.frames;
  }
  // A frame to a group that is not for this host counts as foreign only if it is of a VLAN.
  const bool tagged =
      from.sll_pkttype == PACKET_OTHERHOST && !frame.empty() && (frame[0] & 1U) != 0;
  if (tagged || frame.size() == kTagged) count_tagged(own ? own->ifindex : port);
  if (from.sll_pkttype == PACKET_OTHERHOST || frame.size() == kTagged) return;
  if (own != nullptr) {
    if (port != own->ifindex && port != own->master) return;  // of a VLAN interface
    port = own->ifindex;
  }
  handler(port, frame);
}

void PacketIo::count_tagged(Ifindex port) {
  if (const auto it = ports_.find(port); it != ports_.end()) ++it->second.tagged;
}

std::uint64_t PacketIo::tagged(Ifindex port) const {
  const auto it = ports_.find(port);
  return it == ports_.end() ? 0 : it->second.tagged;
}

void PacketIo::send(std::span<const core::Send> frames, std::vector<SendFailure>& failures) {
  std::array<sockaddr_ll, kBatch> addresses{};
  std::array<iovec, kBatch> vectors{};
  std::array<mmsghdr, kBatch> messages{};
  while (!frames.empty()) {
    const std::size_t count = std::min(frames.size(), kBatch);
    for (std::size_t i = 0; i < count; ++i) {
      sockaddr_ll& to = addresses[i];
      to.sll_family = AF_PACKET;
      to.sll_protocol = htons(tlv::kEtherType);
      to.sll_ifindex = static_cast<int>(frames[i].port.value());
      vectors[i] = {.iov_base = const_cast<std::uint8_t*>(frames[i].frame.data()),
                    .iov_len = frames[i].frame.size()};
      messages[i].msg_hdr.msg_name = &to;
      messages[i].msg_hdr.msg_namelen = sizeof to;
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    std::size_t done = 0;
    while (done < count) {
      const int n =
          ::sendmmsg(shared_.get(), &messages[done], static_cast<unsigned int>(count - done), 0);
      if (n > 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno != EINTR) {
        failures.push_back({frames[done].port, errno});  // the error is the first frame's
        ++done;
      }
    }
    frames = frames.subspan(count);
  }
}

}  // namespace lldp::io
