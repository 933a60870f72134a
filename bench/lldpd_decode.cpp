// SPDX-License-Identifier: Apache-2.0
// Times the decoder inside Debian's own lldpd, whose binary exports it: preloaded into
// /usr/sbin/lldpd, this takes the place of main. Nothing of lldpd is linked or copied; the
// structures it fills stay opaque.
//
//   LLDPDU_FRAME=frame.raw LD_PRELOAD=build/release/bin/liblldpd_decode.so /usr/sbin/lldpd
//
// prints the least nanoseconds per frame of nine rounds; LLDPDU_FRAME names a raw Ethernet frame.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Decode = int(void* cfg, char* frame, int size, void* hardware, void** chassis, void** port);
using Cleanup = void(void* object, int all);

/// More than any structure of lldpd's; zero means "nothing configured, nothing known".
alignas(64) char g_cfg[1U << 16];
alignas(64) char g_hardware[1U << 16];

template <class F>
F* symbol(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

[[noreturn]] void finish(const char* message) {
  std::fprintf(stderr, "lldpd_decode: %s\n", message);
  _exit(1);
}

[[gnu::constructor]] void measure() {
  auto* decode = symbol<Decode>("lldp_decode");
  auto* free_chassis = symbol<Cleanup>("lldpd_chassis_cleanup");
  auto* free_port = symbol<Cleanup>("lldpd_port_cleanup");
  const char* path = std::getenv("LLDPDU_FRAME");
  if (path == nullptr) finish("LLDPDU_FRAME is not set: name a raw Ethernet frame");
  if (decode == nullptr || free_chassis == nullptr || free_port == nullptr)
    finish("this lldpd does not export its decoder: preload into Debian 12's");
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) finish("cannot open the frame");
  std::vector<char> frame(2048);
  const auto size = static_cast<int>(std::fread(frame.data(), 1, frame.size(), file));

  double least = 1e9;
  bool accepted = false;
  for (int round = 0; round < 9; ++round) {
    constexpr int kFrames = 50'000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kFrames; ++i) {
      void* chassis = nullptr;
      void* port = nullptr;
      accepted = decode(g_cfg, frame.data(), size, g_hardware, &chassis, &port) >= 0;
      if (accepted && chassis != nullptr) free_chassis(chassis, 1);
      if (accepted && port != nullptr) {
        free_port(port, 1);
        std::free(port);
      }
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / kFrames);
  }
  std::printf("%.1f %s\n", least, accepted ? "accepted" : "discarded");
  std::fflush(stdout);
  _exit(0);
}

}  // namespace
