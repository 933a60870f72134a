/* SPDX-License-Identifier: Apache-2.0
 *
 * The packet simulator of lldp-level-lab as a library: a lossless Ethernet fabric on virtual time,
 * for programs that simulate what runs on top of one. docs/research/sim.md has the model. C99 and
 * later, C++11 and later.
 *
 * Time is in picoseconds since the start. Hosts are numbered from 0 in the order of the fabric's
 * file. The same calls give the same results, in every build and on every machine.
 *
 * A simulation belongs to one thread at a time; different ones have nothing in common. No function
 * throws; a C++ callback that does so stops the run. Where a function fails, lls_error() has one
 * line that says why. */
#ifndef LLDP_LEVEL_SIM_H
#define LLDP_LEVEL_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LLS_PUBLIC __attribute__((visibility("default")))
#else
#define LLS_PUBLIC
#endif

/* What this header describes; lls_api_version() is the library's. Within one number of the shared
 * object's name, what is there stays: structures grow at their ends, by `size`. */
#define LLS_API_VERSION 1

typedef struct lls_simulation lls_simulation;

/* What functions that can fail return. Below 0: nothing was done. Of lls_run_until(): why it came
 * back. */
typedef enum lls_result {
  LLS_OK = 0,       /* done; of lls_run_until(): the time has come */
  LLS_IDLE = 1,     /* no flow that has an end is under way, and no moment waits */
  LLS_STOPPED = 2,  /* by lls_stop() */
  LLS_DEADLOCK = 3, /* switches wait for each other, as they did not before */
  LLS_ARGUMENT = -1,
  LLS_BUSY = -2,   /* not from within a callback */
  LLS_NO_WAY = -3, /* no link that is up leads there */
  LLS_BROKEN = -4  /* no memory, or a callback threw: only lls_destroy() is left */
} lls_result;

/* `until` and `at` of this value: without end, never. */
#define LLS_FOREVER UINT64_MAX
/* No such host. */
#define LLS_NO_HOST UINT32_MAX

/* How a flow gets its frames across. */
typedef enum lls_transport {
  LLS_GO_BACK_N = 0, /* acknowledged, sent again from the first frame that is missing */
  LLS_IRN = 1,       /* acknowledged, only what is missing is sent again */
  LLS_PACED = 2 /* at its rate, without acknowledgements: with a frame lost it never finishes */
} lls_transport;

/* The last octet of a flow has arrived, now. */
typedef void (*lls_done)(lls_simulation* simulation, uint64_t flow, void* user);
/* The moment asked for has come. */
typedef void (*lls_moment)(lls_simulation* simulation, void* user);

/* What is to be sent. Set all to 0, then `size` and what is wanted: lls_flow f = {0}; f.size =
 * sizeof f; */
typedef struct lls_flow {
  size_t size;             /* sizeof(lls_flow) */
  uint32_t from;           /* host */
  uint32_t to;             /* another */
  uint64_t octets;         /* payload; 0: without end */
  uint64_t start;          /* 0, or any time that is over: now */
  uint64_t rate_bps;       /* on the wire, at most; 0: as the host's link */
  uint64_t hash;           /* which of the ways that are as good; 0: by `from` and `to` */
  uint32_t transport;      /* lls_transport */
  uint32_t lossless_class; /* index of the priority it starts in; 0: the first */
  lls_done done;           /* or NULL */
  void* user;              /* for `done` */
} lls_flow;

/* Totals since the start. */
typedef struct lls_totals {
  size_t size; /* sizeof(lls_totals), set by the caller */
  uint64_t events;
  uint64_t packet_hops; /* data frames over a link */
  uint64_t
      drops; /* lossless frames for which there was no room: 0, unless the scenario asks for it */
  uint64_t drops_lossy; /* others */
  uint64_t lost;        /* on links that failed */
  uint64_t pauses;      /* how often a priority was stopped */
  uint64_t turned;      /* frames that changed class by the rules */
  uint64_t ecn_marks;
  uint64_t sent_octets; /* payload and header */
  uint64_t delivered_octets;
  uint64_t flows;      /* all that there were */
  uint64_t unfinished; /* that have an end and have not reached it */
  uint64_t digest;     /* of everything that arrived, where and when */
} lls_totals;

/* LLS_API_VERSION of the library, and its release as text. */
LLS_PUBLIC uint32_t lls_api_version(void);
LLS_PUBLIC const char* lls_release(void);

/* A simulation of a scenario (lldp-level-lab(1), scenario.schema.json), whose `flows` and `traffic`
 * may be left out; its `duration_ns` bounds nothing here. Agents find the levels, the rules are
 * installed. `scenario` is its text, and files that it names are looked for in `directory` (NULL:
 * where the program is). NULL: it cannot be, and `error` (NULL, or room for `error_size`
 * characters) says why, with the key's path. */
LLS_PUBLIC lls_simulation* lls_create(const char* scenario, const char* directory, char* error,
                                      size_t error_size);
/* The same of a scenario's file. */
LLS_PUBLIC lls_simulation* lls_open(const char* path, char* error, size_t error_size);
/* NULL: nothing. LLS_BUSY from within a callback. */
LLS_PUBLIC lls_result lls_destroy(lls_simulation* simulation);

/* Why the last call that failed did; "" if none has. Lives until the next call that fails. */
LLS_PUBLIC const char* lls_error(const lls_simulation* simulation);

LLS_PUBLIC uint32_t lls_hosts(const lls_simulation* simulation);
/* NULL: no such host. Lives as long as the simulation. */
LLS_PUBLIC const char* lls_host_name(const lls_simulation* simulation, uint32_t host);
/* LLS_NO_HOST: there is none of that name. */
LLS_PUBLIC uint32_t lls_host(const lls_simulation* simulation, const char* name);

/* A flow, by the links that are up now. `number` (or NULL) gets its number. Callbacks may send. */
LLS_PUBLIC lls_result lls_send(lls_simulation* simulation, const lls_flow* flow, uint64_t* number);
/* When the last octet of a flow arrived; LLS_FOREVER: not yet, or there is no such flow. */
LLS_PUBLIC uint64_t lls_finished(const lls_simulation* simulation, uint64_t flow);
/* Calls at a time (one that is over: now), as for what is computed between two flows. Callbacks may
 * ask for it. */
LLS_PUBLIC lls_result lls_at(lls_simulation* simulation, uint64_t at, lls_moment moment,
                             void* user);

/* Lets time pass until `until`; LLS_FOREVER: until nothing is under way. Callbacks are called while
 * it does, those of the same time in the order in which things came to pass. LLS_DEADLOCK comes
 * once for each: what does not depend on it goes on with the next call; and, in a run until nothing
 * is under way, again when what is under way has got nothing for 10 ms and is held by one. */
LLS_PUBLIC lls_result lls_run_until(lls_simulation* simulation, uint64_t until);
/* From a callback: lls_run_until() comes back when what happens now has happened. */
LLS_PUBLIC void lls_stop(lls_simulation* simulation);

LLS_PUBLIC uint64_t lls_now(const lls_simulation* simulation);
/* 1: switches wait for each other for good, now. 0: none does. */
LLS_PUBLIC int lls_deadlocked(lls_simulation* simulation);
/* Fills what `totals->size` has room for. */
LLS_PUBLIC lls_result lls_get_totals(const lls_simulation* simulation, lls_totals* totals);

#ifdef __cplusplus
}
#endif

#endif
