// SPDX-License-Identifier: Apache-2.0
//
// What a Sys of ASTRA-sim asks of its network, without one: a ring all-reduce of so many ranks,
// each of which expects a chunk, adds it up for a while and sends it on.
//
// usage: ring SCENARIO.json RANKS [CHUNK_OCTETS]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "lldp_level_network.hh"

namespace {

struct Rank {
  std::unique_ptr<lldp_level::LldpLevelNetwork> network;
  int ranks = 0;
  int sent = 0;
  int received = 0;
  std::uint64_t chunk = 0;

  int steps() const { return 2 * (ranks - 1); }
  void send() {
    network->sim_send(nullptr, chunk, 0, (network->rank + 1) % ranks, sent, nullptr, nullptr,
                      nullptr);
    ++sent;
  }
  void expect() {
    network->sim_recv(nullptr, chunk, 0, (network->rank + ranks - 1) % ranks, received, nullptr,
                      &Rank::got, this);
  }
  static void got(void* self) {
    Rank& r = *static_cast<Rank*>(self);
    if (++r.received == r.steps()) return r.network->sim_notify_finished();
    r.expect();
    AstraSim::timespec_t add;
    add.time_res = AstraSim::US;
    add.time_val = 1;
    r.network->sim_schedule(
        add, [](void* that) { static_cast<Rank*>(that)->send(); }, self);
  }
};

int run(int argc, char** argv) {
  const int ranks = argc > 2 ? std::atoi(argv[2]) : 0;
  if (ranks < 2) {
    std::fprintf(stderr, "usage: ring SCENARIO.json RANKS [CHUNK_OCTETS]\n");
    return 2;
  }
  lldp_level::Session session(argv[1], ranks);
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) {
    Rank& r = all[static_cast<std::size_t>(i)];
    r.network = std::make_unique<lldp_level::LldpLevelNetwork>(session, i);
    r.ranks = ranks;
    r.chunk = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 100'000;
    r.expect();
  }
  for (Rank& r : all) r.send();
  const auto end = session.run();
  const double us = static_cast<double>(all[0].network->sim_get_time().time_val) / 1000;
  static constexpr const char* kEnds[] = {"finished", "idle", "DEADLOCK"};
  std::printf("%d ranks, %llu messages, %.3f us: %s\n", ranks,
              static_cast<unsigned long long>(session.arrived()), us, kEnds[static_cast<int>(end)]);
  return end == lldp_level::Session::End::kFinished ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ring: %s\n", e.what());
    return 2;
  }
}
