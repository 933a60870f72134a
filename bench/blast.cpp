// SPDX-License-Identifier: Apache-2.0
// Sends LLDP frames into one interface, as fast as asked: the hostile or merely busy neighbor of
// the benchmarks.
//
//   blast INTERFACE same|vary|bad|churn|toggle COUNT NEIGHBORS RATE    RATE in frames/s, 0: as fast
//   as it goes
//     vary: every frame is another; churn: besides, neighbors leave, fall silent until their TTL
//     has passed, and come again; toggle: each is a host and a switch in turn
//   blast --write DIRECTORY                               one raw Ethernet frame of each kind
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/lldpdus.hpp"

namespace lldp {
namespace {

Bytes ethernet(const Bytes& lldpdu, std::uint16_t neighbor) {
  Bytes frame{0x01,
              0x80,
              0xc2,
              0x00,
              0x00,
              0x0e,  // nearest bridge
              0x02,
              0x11,
              0x22,
              0x00,
              static_cast<std::uint8_t>(neighbor >> 8),
              static_cast<std::uint8_t>(neighbor),
              0x88,
              0xcc};
  // Room first: g++ 12 takes the move of what is there into a larger vector for an overrun.
  frame.reserve(frame.size() + lldpdu.size());
  frame.insert(frame.end(), lldpdu.begin(), lldpdu.end());
  return frame;
}

/// One frame per neighbor; `bad` goes through all the ways of being malformed.
std::vector<Bytes> frames_of(std::string_view kind, unsigned neighbors) {
  std::vector<Bytes> frames;
  for (unsigned n = 0; n < neighbors; ++n) {
    const auto neighbor = static_cast<std::uint16_t>(n);
    if (kind == "toggle") {
      frames.push_back(ethernet(support::toggling_lldpdu(neighbor, true), neighbor));
      frames.push_back(ethernet(support::toggling_lldpdu(neighbor, false), neighbor));
      continue;
    }
    if (kind != "bad") {
      frames.push_back(ethernet(support::typical_lldpdu(neighbor), neighbor));
      continue;
    }
    for (support::Broken how : support::kEveryBroken)
      frames.push_back(ethernet(support::broken_lldpdu(how, neighbor), neighbor));
  }
  return frames;
}

/// Writes a new number over the ten digits behind the '#' of the System Description.
void revise(Bytes& frame, unsigned revision) {
  const int chassis_id = 14 + 2 + frame[15];  // it and the addresses before hold any octet
  auto digit = std::find(frame.begin() + chassis_id, frame.end(), '#') + 10;
  for (int i = 0; i < 10; ++i, revision /= 10, --digit)
    *digit = static_cast<std::uint8_t>('0' + revision % 10);
}

/// What makes a week of a port's life: a quarter of the neighbors is silent for a while, in turn,
/// so that their TTL of a second passes; of the others, every 64th frame says goodbye.
struct Churn {
  static constexpr unsigned kGroups = 4;
  unsigned silence = 0;  ///< frames for which a group is silent
  [[nodiscard]] std::size_t neighbor(unsigned sent, std::size_t neighbors) const {
    const std::size_t i = sent % neighbors;
    return i % kGroups == sent / silence % kGroups ? (i + 1) % neighbors : i;
  }
  [[nodiscard]] static std::uint8_t ttl(unsigned revision) { return revision % 64 == 0 ? 0 : 1; }
};

/// Writes another TTL, of less than 256 s; it stands behind Chassis ID and Port ID.
void set_ttl(Bytes& frame, std::uint8_t seconds) {
  std::size_t at = 14;
  for (int i = 0; i < 2; ++i) at += 2U + frame[at + 1];
  frame[at + 2] = 0;
  frame[at + 3] = seconds;
}

int write_frames(const std::string& directory) {
  const auto write = [&](const std::string& name, const Bytes& frame) {
    std::FILE* file = std::fopen((directory + "/" + name).c_str(), "wb");
    if (file == nullptr) return false;
    const bool whole = std::fwrite(frame.data(), 1, frame.size(), file) == frame.size();
    return std::fclose(file) == 0 && whole;
  };
  bool ok = write("typical", ethernet(support::typical_lldpdu(), 7));
  for (support::Broken how : support::kEveryBroken)
    ok = write(support::name_of(how), ethernet(support::broken_lldpdu(how), 7)) && ok;
  if (!ok) std::fprintf(stderr, "blast: %s: %s\n", directory.c_str(), std::strerror(errno));
  return ok ? 0 : 1;
}

int send_frames(const char* interface, std::string_view kind, unsigned count, unsigned neighbors,
                double rate) {
  constexpr std::size_t kBatch = 32;
  const int fd = socket(AF_PACKET, SOCK_RAW, 0);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface));
  if (fd < 0 || address.sll_ifindex == 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::fprintf(stderr, "blast: %s: %s\n", interface, std::strerror(errno));
    return 1;
  }
  const int on = 1;
  setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);

  std::vector<Bytes> frames = frames_of(kind, neighbors);
  std::array<Bytes, kBatch> batch;
  std::array<iovec, kBatch> parts{};
  std::array<mmsghdr, kBatch> messages{};
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::optional<Churn> churn;
  if (kind == "churn")
    churn.emplace().silence = std::max(1U, static_cast<unsigned>(2.5 * (rate > 0 ? rate : 1e5)));
  unsigned sent = 0;
  while (sent < count) {
    const std::size_t n = std::min<std::size_t>(kBatch, count - sent);
    for (std::size_t i = 0; i < n; ++i) {
      const unsigned number = sent + static_cast<unsigned>(i);
      batch[i] = frames[churn ? churn->neighbor(number, frames.size()) : number % frames.size()];
      if (kind == "vary" || churn) revise(batch[i], number);
      if (churn) set_ttl(batch[i], Churn::ttl(number));
      parts[i] = {batch[i].data(), batch[i].size()};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (std::size_t done = 0; done < n;) {
      const int r = sendmmsg(fd, messages.data() + done, static_cast<unsigned>(n - done), 0);
      if (r > 0) done += static_cast<std::size_t>(r);
      if (r < 0 && errno != ENOBUFS && errno != EAGAIN) {
        std::fprintf(stderr, "blast: %s: %s\n", interface, std::strerror(errno));
        return 1;
      }
    }
    sent += static_cast<unsigned>(n);
    while (rate > 0 && elapsed() < sent / rate) {  // busy: sleeping is too coarse for these rates
    }
  }
  std::printf("sent %u frames, %.0f/s\n", sent, sent / elapsed());
  close(fd);
  return 0;
}

}  // namespace
}  // namespace lldp

int main(int argc, char** argv) {
  const std::string_view kind = argc == 6 ? argv[2] : "";
  if (argc == 3 && std::string_view(argv[1]) == "--write") return lldp::write_frames(argv[2]);
  if (kind != "same" && kind != "vary" && kind != "bad" && kind != "churn" && kind != "toggle") {
    std::fprintf(stderr,
                 "usage: blast INTERFACE same|vary|bad|churn|toggle COUNT NEIGHBORS RATE\n"
                 "       blast --write DIRECTORY\n");
    return 2;
  }
  const auto number = [&](int i) {
    return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
  };
  return lldp::send_frames(argv[1], kind, number(3), std::max(1U, number(4)),
                           std::strtod(argv[5], nullptr));
}
