/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring all-reduce over a simulated fabric: every host has `octets` of numbers, and all are to
 * have the sums. The data are cut into as many chunks as there are hosts; in each of 2 (n - 1)
 * steps every host sends a chunk to the next one, as soon as it has got (and, in the first half,
 * added up) the one before. So what drives it is completions.
 *
 * usage: ring_all_reduce SCENARIO.json [OCTETS [ADD_NS]] */
#include <inttypes.h>
#include <lldp_level_sim.h>
#include <stdio.h>
#include <stdlib.h>

struct ring;

/* One host's part. */
struct member {
  struct ring* ring;
  uint32_t host;
  uint32_t step; /* of the chunk that it sends next */
};

struct ring {
  uint32_t hosts;
  uint32_t steps;
  uint64_t chunk;  /* octets */
  uint64_t add_ps; /* what adding up a chunk takes */
  struct member* members;
};

static void fail(const char* what, const char* why) {
  fprintf(stderr, "ring_all_reduce: %s: %s\n", what, why);
  exit(1);
}

static void arrived(lls_simulation* s, uint64_t flow, void* user);

static void send_next(lls_simulation* s, void* user) {
  struct member* m = user;
  lls_flow f = {0};
  f.size = sizeof f;
  f.from = m->host;
  f.to = (m->host + 1) % m->ring->hosts;
  f.octets = m->ring->chunk;
  f.done = arrived;
  f.user = &m->ring->members[f.to];
  ++m->step;
  if (lls_send(s, &f, NULL) != LLS_OK) fail("send", lls_error(s));
}

/* A host has a chunk; unless it was the last one, it sends it on. */
static void arrived(lls_simulation* s, uint64_t flow, void* user) {
  struct member* m = user;
  (void)flow;
  if (m->step == m->ring->steps) return;
  uint64_t add = m->step < m->ring->hosts ? m->ring->add_ps : 0;
  if (lls_at(s, lls_now(s) + add, send_next, m) != LLS_OK) fail("wait", lls_error(s));
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: ring_all_reduce SCENARIO.json [OCTETS [ADD_NS]]\n");
    return 2;
  }
  uint64_t octets = argc > 2 ? strtoull(argv[2], NULL, 10) : 16000000;
  char error[256];
  lls_simulation* s = lls_open(argv[1], error, sizeof error);
  if (s == NULL) fail("no simulation", error);

  struct ring ring = {0};
  ring.hosts = lls_hosts(s);
  if (ring.hosts < 2) fail(argv[1], "fewer than two hosts");
  ring.steps = 2 * (ring.hosts - 1);
  ring.chunk = (octets + ring.hosts - 1) / ring.hosts;
  ring.add_ps = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
  ring.members = calloc(ring.hosts, sizeof *ring.members);
  if (ring.members == NULL) fail("no memory", "");
  for (uint32_t h = 0; h < ring.hosts; ++h) {
    ring.members[h].ring = &ring;
    ring.members[h].host = h;
    if (lls_at(s, 0, send_next, &ring.members[h]) != LLS_OK) fail("begin", lls_error(s));
  }

  lls_result why = lls_run_until(s, LLS_FOREVER);
  if (why == LLS_DEADLOCK) fail("the fabric", "has deadlocked");
  if (why != LLS_IDLE) fail("run", lls_error(s));
  lls_totals totals = {0};
  totals.size = sizeof totals;
  if (lls_get_totals(s, &totals) != LLS_OK) fail("totals", lls_error(s));
  double us = (double)lls_now(s) / 1e6;
  double sent = (double)ring.chunk * ring.steps;
  printf("%" PRIu32 " hosts, %" PRIu64
         " octets each: %.3f us, %.2f Gb/s on every link of the ring\n",
         ring.hosts, octets, us, sent * 8 / us / 1e3);
  printf("%" PRIu64 " flows, %" PRIu64 " packet-hops, %" PRIu64 " pauses, %" PRIu64
         " drops, digest %016" PRIx64 "\n",
         totals.flows, totals.packet_hops, totals.pauses, totals.drops, totals.digest);
  free(ring.members);
  lls_destroy(s);
  return 0;
}
