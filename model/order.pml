/* SPDX-License-Identifier: Apache-2.0
 *
 * The order by acknowledgement (docs/develop/rules.md, A1 to A13) as a model for spin. docs/develop/model.md explains it; `./run model` checks it.
 *
 * One source, many configurations: model/check.py passes macros. A clause of the rules stands beside the line that models it, as
 * [A4] or with a name, [A4 entry]. -DWITHOUT_A4_ENTRY takes that clause away: the checker must then find a violation.
 *
 * A step of the model is one event at one device (a frame is heard, a request comes into force, a crash ...) with all that the
 * agents then do at once. Between two steps anything may happen that the configuration allows.
 */

#include "configuration.h"

/* ---- sizes, set by the configuration ---- */
#ifndef N
#define N 2            /* devices */
#endif
#ifndef NP
#define NP 2           /* ports of all devices */
#endif
#ifndef DEV            /* device of a port */
#define DEV(p) (p)
#endif
#ifndef L
#define L 2            /* levels */
#endif
#ifndef S
#define S 2            /* sequence numbers of one start */
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef LOSSES
#define LOSSES 0       /* starts without a state */
#endif
#ifndef ROLES
#define ROLES 0        /* role changes */
#endif
#ifndef PULLS
#define PULLS 0
#endif
#ifndef CHANGES
#define CHANGES 255    /* changes of a target; 255: only sequence numbers limit them */
#endif
#ifndef Q
#define Q 1            /* requests that a port may have waiting */
#endif
#ifndef K
#define K (CRASHES + ROLES + 1)  /* starts of one device */
#endif

/* ---- ranks: 0 is the bottom; INF: no limit ---- */
#define RANK(l, d) (1 + (l) * N + (d))
#define INF 255
#define NOFALL 255

/* ---- orders ---- */
#define UP 1
#define DOWN 2
#define SHUT 3
#define NONE 4

/* ---- roles ---- */
#define SWITCH 0
#define HOST 1
#define STOCK 2        /* no agent yet: a station that speaks plain LLDP and forwards nothing */

/* ---- stages ---- */
#define NORMAL 0
#define RECOVERING 1   /* the state is lost: rules go up first */
#define NEWCOMER 2     /* first installation: no rules yet */
#define TO_SWITCH 3
#define TO_HOST 4
#define WAITING 6      /* a host that has become a switch waits as a newcomer does, with `up` in force */
#define STARTING 5     /* first installation: the wait is over, rules go up */

/* ---- events ---- */
#define TARGET 1
#define FRAME 2
#define APPLY 3
#define CONFIRMED 4
#define CRASH 5
#define CRASH_DROP 6
#define START 7
#define START_LOST 8
#define PULL 9
#define PLUG 10
#define TURN_SWITCH 11
#define TURN_HOST 12
#define INSTALL 13
#define CLOCK 14
#define CALM 15
#define CALM_APPLY 16
#define STATION_HEARD 17

/* ---- devices ---- */
byte alive[N];
byte R[N];             /* acting rank */
byte B[N];             /* bound */
byte F[N];             /* rank that the device is falling to */
byte seq[N];           /* sequence number of the bound told last */
byte inc[N];           /* starts so far: which process this is */
byte bound[N * K * S]; /* what each process told under each sequence number */
#define BOUND(d, k, s) bound[((d) * K + (k)) * S + (s) - 1]
#ifdef LOWBOOT
byte boot[N * K];      /* boot of each process, where a clock may have been wrong */
#define BOOT(d, k) boot[(d) * K + (k)]
#else
#ifdef WITHOUT_A9_BOOT
#define BOOT(d, k) 1
#else
#define BOOT(d, k) ((k) + 1)
#endif
#endif
#if LOSSES > 0
byte lost[N];          /* the state was lost once: an agent that was never heard may believe anything */
byte grank[N];         /* while rules go up after a loss: the rank that they still fit */
#define LOST(d) lost[d]
#else
#define LOST(d) 0
#endif
#if ROLES > 0 || LOSSES > 0 || defined(NEWCOMERS)
byte stage[N];
#define STAGE(d) stage[d]
#else
#define STAGE(d) NORMAL
#endif
#if ROLES > 0 || defined(NEWCOMERS)
byte role[N];
bit hostof[N * K];     /* flag host of each process */
bit left_out[N * N];   /* device u leaves out the belief of v: [u * N + v] */
#define ROLE(d) role[d]
#define LEFT_OUT(u, v) left_out[(u) * N + (v)]
#else
#define ROLE(d) SWITCH
#define LEFT_OUT(u, v) 0
#endif
#if LOSSES > 0
#define EFFECTIVE(d) (stage[d] == RECOVERING -> grank[d] : R[d])
#else
#define EFFECTIVE(d) R[d]
#endif

/* ---- ports ---- */
byte mate[NP];         /* port at the other end of the cable + 1; 0: dark */
byte force[NP];        /* order whose confirmation has been read */
byte req1[NP];         /* requests, the older first */
#if Q > 1
byte req2[NP];
#define REQ2(p) req2[p]
#else
#define REQ2(p) 0
#endif
#ifdef CONFIRM
byte applied[NP];      /* requests that the data plane has applied and that the agent does not know of */
#define ACTS(p) (applied[p] == 0 -> force[p] : (applied[p] == 1 -> req1[p] : REQ2(p)))
#else
#define ACTS(p) force[p]
#endif
short before[NP];      /* which agents were remembered on which port when the carrier came: bits */
#if CRASHES > 0 && PULLS > 0
bit changed[NP];       /* the carrier changed while the agent was dead */
#endif
#ifdef HOSTPORT
byte station[NP];      /* 1: in host-ports, 2: plain LLDP that says Station Only was heard */
#define STATION(p) station[p]
#define HOST_PORT(p) (station[p] == 1)
#else
#define HOST_PORT(p) 0
#define STATION(p) 0
#endif

/* ---- what a port remembers of an agent: [p * N + v] ---- */
byte A[NP * N];        /* belief; INF: never heard */
byte heard[NP * N];    /* 0: not on this carrier, 1: listed by another, 2: in a session that is over, 3 + q: in the session of port q */
byte cseq[NP * N];     /* highest sequence number counted on this carrier; 0: none */
byte cbound[NP * N];   /* its bound */
byte hboot[NP * N];    /* newest boot heard on a port */

/* ---- frames: every frame that was ever sent and may still arrive, one bit each ----
 * A frame that names the present session of the receiver: (process or session of the sender, sequence number, acknowledged).
 * Any other frame cannot count, ever: sessions do not repeat. Of it only the sender's process matters, and whether its bound is
 * above the bottom. Process K stands for "the present session"; k < K for an earlier session of process k. */
#define NAMING ((K + 1) * S * (S + 1))
#define PLAIN(k, high) (NAMING + 2 * (k) + (high))
#define KINDS PLAIN(K + 1, 0)
#ifdef HUB
#define FRAMES (2 * KINDS)  /* odd: it lists the third agent too */
#else
#define FRAMES KINDS
#endif
#define WORDS ((FRAMES + 31) / 32)
int fr[NP * NP * WORDS];
#define WORD(p, q, f) fr[((p) * NP + (q)) * WORDS + (f) / 32]
#define HAS(p, q, f) ((WORD(p, q, f) >> ((f) % 32)) & 1)
#define ADD(p, q, f) WORD(p, q, f) = WORD(p, q, f) | (1 << ((f) % 32))
#define DROP(p, q, f) WORD(p, q, f) = WORD(p, q, f) & ~(1 << ((f) % 32))
#define MAYHEAR(p, q) (DEV(p) != DEV(q))

/* ---- what may still happen ---- */
byte crashes, losses, pulls, roles, changes;
bit over;

/* ---- used within a step ---- */
byte ev, kf, pp, qq;              /* the event, the frame, the ports: 0 between steps */
hidden byte again_, high, hk, d, dd, e, g, ii, jj, k, who, o, p, q, r, s, other, u, v, w, x, y, z, lim, ord, counted, kk, a, nm, th, bt, ok;
hidden short turn;
hidden byte calm, untidy, quiet, newboot;

#ifdef HUB
#define CONNECTED(p, q) ((p) != (q))
#define LIT(p) 1
#else
#define CONNECTED(p, q) (mate[p] == (q) + 1)
#define LIT(p) (mate[p] != 0)
#endif
#define IN_VIEW(p, o) (force[p] == (o) || req1[p] == (o) || REQ2(p) == (o))
#define SETTLED(p) (req1[p] == 0)
#define LAST(p) (REQ2(p) != 0 -> REQ2(p) : (req1[p] != 0 -> req1[p] : force[p]))
#define MIN(x, y) ((x) < (y) -> (x) : (y))

/* ---- conditions that a mutation takes away ---- */
#ifdef WITHOUT_A2_BOOT
#define IF_A2_BOOT(x) 1
#else
#define IF_A2_BOOT(x) (x)
#endif
#ifdef WITHOUT_A2_SEQUENCE
#define IF_A2_SEQUENCE(x) 1
#else
#define IF_A2_SEQUENCE(x) (x)
#endif
#ifdef WITHOUT_A3_HOST
#define IF_A3_HOST(x) 1
#else
#define IF_A3_HOST(x) (x)
#endif
/* [A9] A device whose state is lost gives no entry while a `down` of before may be in force. */
#if LOSSES > 0 && !defined(WITHOUT_A9_ENTRY)
#define IF_A9_ENTRY(d) (stage[d] != RECOVERING || grank[d] == 0)
#else
#define IF_A9_ENTRY(d) 1
#endif
#ifdef WITHOUT_A10_ENTRY
#define IF_A10_ENTRY(x) 1
#else
#define IF_A10_ENTRY(x) (x)
#endif
#ifdef WITHOUT_A11_HOST_PORT
#define IF_A11_HOST_PORT(x) 1
#else
#define IF_A11_HOST_PORT(x) (x)
#endif
#ifdef WITHOUT_A3_ONE
#define IF_A3_ONE(x) 1
#else
#define IF_A3_ONE(x) (x)
#endif
#ifdef WITHOUT_A3_FALLING
#define IF_A3_FALLING(x) 1
#else
#define IF_A3_FALLING(x) (x)
#endif
#ifdef WITHOUT_A4_ENTRY
#define IF_A4_ENTRY(x) 1
#else
#define IF_A4_ENTRY(x) (x)
#endif
#ifdef WITHOUT_A4_REQUESTED
#define DOWN_SEEN(p) (force[p] == DOWN)
#else
#ifdef WITHOUT_A4_IN_FORCE
#define DOWN_SEEN(p) (req1[p] == DOWN || REQ2(p) == DOWN)
#else
#define DOWN_SEEN(p) IN_VIEW(p, DOWN)
#endif
#endif
#ifdef WITHOUT_A4_NONE
#define ACTS_DOWN_SEEN(p) DOWN_SEEN(p)
#else
#define ACTS_DOWN_SEEN(p) (DOWN_SEEN(p) || (ROLE(DEV(p)) == SWITCH && IN_VIEW(p, NONE)))
#endif
/* [A4] v gets an entry and an acknowledgement: no `down` is in force or requested that its counted bound does not justify. */
#define JUSTIFIED(p, v) (IF_A9_ENTRY(DEV(p)) && IF_A10_ENTRY(STAGE(DEV(p)) != NEWCOMER && STAGE(DEV(p)) != STARTING) && JUSTIFIED_HERE(p, v))
#define JUSTIFIED_HERE(p, v) (!ACTS_DOWN_SEEN(p) || (cseq[(p) * N + (v)] > 0 && cbound[(p) * N + (v)] < R[DEV(p)]))

/* ---- the trace: docs/develop/model.md has the format ---- */
#ifdef TRACE
#define SAY(x) x
inline report() {
  for (d : 0 .. N - 1) {
    printf("device %d alive=%d role=%d stage=%d rank=%d bound=%d fall=%d start=%d seq=%d\n", d, alive[d], ROLE(d), STAGE(d), R[d], B[d], F[d], inc[d], seq[d]);
    for (p : 0 .. NP - 1) {
      if
      :: DEV(p) == d ->
         printf("port %d mate=%d force=%d req=%d,%d acts=%d\n", p, mate[p] - 1, force[p], req1[p], REQ2(p), ACTS(p));
         for (v : 0 .. N - 1) {
           if
           :: v != d ->
              printf("neighbor %d.%d A=%d heard=%d seq=%d bound=%d boot=%d entry=%d\n", p, v, A[p * N + v], heard[p * N + v], cseq[p * N + v], cbound[p * N + v], hboot[p * N + v], JUSTIFIED(p, v))
           :: else
           fi
         }
      :: else
      fi
    }
  }
}
#else
#define SAY(x)
#endif

/* [A2] v is heard on port p: what it may believe us to be. Above the bottom it may be `down` for another one. */
inline hear(p_, v_, high_) {
  if
  :: A[p_ * N + v_] == INF ->
#ifdef WITHOUT_A2_NEVER_HEARD
#else
     A[p_ * N + v_] = (high_ || LOST(DEV(p_)) -> 0 : R[DEV(p_)])   /* [A2 first heard] */
#endif
  :: else ->
#ifdef WITHOUT_A2_MIN
#else
     A[p_ * N + v_] = MIN(A[p_ * N + v_], B[DEV(p_)])
#endif
  fi
}

/* no agent was ever heard on the port */
#if N == 2
#define NOAGENT(p) (A[(p) * N + 1 - DEV(p)] == INF)
#else
#define NOAGENT(p) (A[(p) * N + (DEV(p) + 1) % N] == INF && A[(p) * N + (DEV(p) + 2) % N] == INF)
#endif

/* [A6], [A8], [A11], [A12] lim = what the rank may rise to as far as port p is concerned. */
inline limit(p_) {
  lim = INF; counted = 0;
  for (ii : 0 .. N - 1) {
    if
    :: ii != DEV(p_) && heard[p_ * N + ii] != 0 && cseq[p_ * N + ii] > 0 -> counted++
    :: else
    fi;
    if
    :: ii != DEV(p_) && !LEFT_OUT(DEV(p_), ii) && (!LIT(p_) || heard[p_ * N + ii] != 0) -> lim = MIN(lim, A[p_ * N + ii])
    :: else
    fi
  }
  if
  :: LIT(p_) && counted == 0 && !(HOST_PORT(p_) && IF_A11_HOST_PORT(NOAGENT(p_))) ->
#ifndef WITHOUT_A6_REMEMBERED
     for (ii : 0 .. N - 1) {
       for (jj : 0 .. NP - 1) {
         if
         :: DEV(jj) == DEV(p_) && ii != DEV(p_) && !LEFT_OUT(DEV(p_), ii) && ((before[p_] >> (jj * N + ii)) & 1) -> lim = MIN(lim, A[jj * N + ii])
         :: else
         fi
       }
     }
#endif
#ifndef WITHOUT_A9_UNHEARD
     if
     :: LOST(DEV(p_)) -> lim = 0
     :: else
     fi
#endif
  :: else
  fi
}

/* [A3], [A8], [A11] ord = the order that port p is to have. */
inline wanted(p_) {
  dd = DEV(p_);
  ord = UP;
  if
  :: ROLE(dd) == HOST && STAGE(dd) == NORMAL -> ord = NONE              /* [A12] a host holds no rules */
  :: ROLE(dd) == HOST && STAGE(dd) == TO_SWITCH -> ord = UP
  :: ROLE(dd) == STOCK -> ord = NONE
  :: STAGE(dd) == NEWCOMER -> ord = LAST(p_)                            /* [A10] no rules yet */
  :: STAGE(dd) == STARTING || STAGE(dd) == WAITING -> ord = UP
#if LOSSES > 0
  :: STAGE(dd) == RECOVERING ->                                         /* [A9] up, what was shut last */
     ord = UP;
#ifndef WITHOUT_A9_SHUT_LAST
     if
     :: LAST(p_) == SHUT && grank[dd] != 0 -> ord = SHUT
     :: else
     fi
#endif
#endif
  :: else ->
     limit(p_);
     e = 0; who = 0;
     for (ii : 0 .. N - 1) {
       if
       :: ii != dd && heard[p_ * N + ii] != 0 -> e++; who = ii
       :: else
       fi
     }
     if
#ifdef WITH_NONE
     :: NOAGENT(p_) && !STATION(p_) && !LOST(dd) && force[p_] == NONE -> ord = NONE
#endif
     :: !LIT(p_) ->
        if
#ifndef WITHOUT_A8_SHUT
        :: R[dd] > lim || (F[dd] == NOFALL && B[dd] > lim) -> ord = SHUT   /* [A8 shut] */
#endif
        :: else -> ord = UP                                             /* [A8 up] */
        fi
#ifndef WITHOUT_A11_SHUT
     :: LIT(p_) && R[dd] > lim -> ord = SHUT                            /* [A11 shut] */
#endif
#ifdef HOSTPORT
     :: LIT(p_) && STATION(p_) && NOAGENT(p_) && IF_A3_HOST(R[dd] > 0 && F[dd] != 0) -> ord = DOWN   /* [A3 host] its bound is the bottom */
#endif
     :: else ->
        if
        :: LIT(p_) && e > 0 && IF_A3_ONE(e == 1) &&                     /* [A3 one] exactly one neighbor is heard */
           cseq[p_ * N + who] > 0 && cbound[p_ * N + who] < R[dd] &&
           IF_A3_FALLING(F[dd] == NOFALL || cbound[p_ * N + who] < F[dd]) -> ord = DOWN  /* [A3 falling] */
        :: else -> ord = UP
        fi
     fi
  fi
}

/* A new bound to tell. */
inline believe(d_) {
  BOUND(d_, inc[d_], seq[d_]) = B[d_]
}

#ifdef HUB
#define KEEP(p, q, x) x = 2 * x + th; ADD(p, q, x)
#else
#define KEEP(p, q, x) ADD(p, q, x)
#endif

/* [A1 session] A session that is over: its frames name it no longer, and frames that name it do not count. */
inline session(p_) {
  for (q : 0 .. NP - 1) {
    if
    :: DEV(q) != DEV(p_) ->
       for (ii : 0 .. FRAMES - 1) {
         x = ii; th = 0;
#ifdef HUB
         x = ii / 2; th = ii % 2;
#endif
         if
         :: HAS(p_, q, ii) && x < NAMING && x / (S * (S + 1)) == K ->
            DROP(p_, q, ii);
            x = x - (K - inc[DEV(p_)]) * S * (S + 1);
            KEEP(p_, q, x)
         :: HAS(p_, q, ii) && x >= PLAIN(K, 0) ->
            DROP(p_, q, ii);
            x = x - 2 * (K - inc[DEV(p_)]);
            KEEP(p_, q, x)
         :: else
         fi;
         x = ii;
#ifdef HUB
         x = ii / 2;
#endif
#ifndef WITHOUT_A1_SESSION
         if
         :: HAS(q, p_, ii) && x < NAMING ->
            DROP(q, p_, ii);
            hk = x / (S * (S + 1));
            x = PLAIN(hk, BOUND(DEV(q), (hk == K -> inc[DEV(q)] : hk), (x / (S + 1)) % S + 1) > 0);
            KEEP(q, p_, x)
         :: else
         fi
#endif
       }
       if
       :: heard[q * N + DEV(p_)] == 3 + p_ -> heard[q * N + DEV(p_)] = 2
       :: else
       fi
    :: else
    fi
  }
}

/* A process starts: higher boot, new sessions, its first sequence number. */
inline start(d_) {
  untidy = 1;
#ifdef WITHOUT_A12_SESSION
#define NEW_SESSION(d) alive[d] == 0
#else
#define NEW_SESSION(d) 1
#endif
  for (p : 0 .. NP - 1) {
    if
    :: DEV(p) == d_ && NEW_SESSION(d_) -> session(p)
    :: else
    fi
  }
  inc[d_]++;
  seq[d_] = 1;
  BOUND(d_, inc[d_], 1) = B[d_];
#ifdef LOWBOOT
  boot[d_ * K + inc[d_]] = (newboot != 0 -> newboot : boot[d_ * K + inc[d_] - 1] + 1);
#endif
#if ROLES > 0 || defined(NEWCOMERS)
  hostof[d_ * K + inc[d_]] = (role[d_] == HOST);
#endif
}

/* The carrier of port p is gone: nothing is heard there any more. */
inline unhear(p_) {
  for (ii : 0 .. N - 1) {
    heard[p_ * N + ii] = 0; cseq[p_ * N + ii] = 0; cbound[p_ * N + ii] = 0
  }
#ifdef WITHOUT_A8_KEPT
  for (ii : 0 .. N - 1) {
    A[p_ * N + ii] = INF
  }
#endif
  before[p_] = 0;
#ifdef HOSTPORT
  if
  :: station[p_] == 2 -> station[p_] = 0
  :: else
  fi
#endif
}
inline remember(p_) {
  before[p_] = 0;
  for (ii : 0 .. NP - 1) {
    for (jj : 0 .. N - 1) {
      if
      :: DEV(ii) == DEV(p_) && A[ii * N + jj] != INF -> before[p_] = before[p_] | (1 << (ii * N + jj))
      :: else
      fi
    }
  }
}

#if ROLES > 0
/* [A12 start] A role change is a start: higher boot, new sessions, nothing counted. */
inline change_role(d_) {
#ifdef WITHOUT_A12_BOOT
  newboot = BOOT(d_, inc[d_]);
#endif
  start(d_);
  newboot = 0;
#ifndef WITHOUT_A12_NOTHING_COUNTED
  for (ii : 0 .. NP * N - 1) {
    if
    :: DEV(ii / N) == d_ -> cseq[ii] = 0; cbound[ii] = 0
    :: else
    fi
  }
#endif
}
#endif

/* Device d_ does what it can at once. c: something has changed. */
inline react(d_) {
  /* requests, [A3] [A8] [A11] */
  for (p : 0 .. NP - 1) {
    if
    :: DEV(p) == d_ ->
       wanted(p);
       if
       :: LAST(p) != ord && req1[p] == 0 -> req1[p] = ord; again_ = 1
#if Q > 1
       :: LAST(p) != ord && req1[p] != 0 && req2[p] == 0 -> req2[p] = ord; again_ = 1
#endif
       :: else
       fi
    :: else
    fi
  }
  /* [A7] the fall */
  if
  :: F[d_] != NOFALL ->
     ok = 1;
#ifndef WITHOUT_A7_UP_FIRST
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && IN_VIEW(p, DOWN) ->
          wanted(p);
          if
          :: ord != DOWN -> ok = 0
          :: else
          fi
       :: else
       fi
     }
#endif
     if
     :: ok ->
        R[d_] = F[d_]; F[d_] = NOFALL;
        B[d_] = R[d_];
#if !defined(WITHOUT_A7_THEN_TOLD) && !defined(WITHOUT_A7_TOLD_LAST)
        seq[d_]++; believe(d_);
#endif
        again_ = 1
     :: else
     fi
  :: F[d_] == NOFALL && B[d_] > R[d_] && STAGE(d_) == NORMAL ->
     /* [A6] the rise */
     ok = 1;
#ifndef WITHOUT_A6_WAIT
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ ->
          limit(p);
#ifdef WITHOUT_A6_NO_REQUEST
          if
          :: force[p] != SHUT && B[d_] > lim -> ok = 0
          :: else
          fi
#else
          if
          :: !(force[p] == SHUT && SETTLED(p)) && B[d_] > lim -> ok = 0
          :: else
          fi
#endif
       :: else
       fi
     }
#endif
     if
     :: ok -> R[d_] = B[d_]; again_ = 1
     :: else
     fi
  :: else
  fi;
#if LOSSES > 0
  /* [A9] after a loss: everything up, then the rank is the bottom, then what was shut */
  if
  :: stage[d_] == RECOVERING ->
     ok = 1; x = 1;
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && !(SETTLED(p) && (force[p] == UP || force[p] == SHUT)) -> ok = 0
       :: else
       fi;
       if
       :: DEV(p) == d_ && !(SETTLED(p) && force[p] == UP) -> x = 0
       :: else
       fi
     }
#ifdef WITHOUT_A9_UP_FIRST
     ok = 1; x = 1;
#endif
     if
     :: ok && grank[d_] != 0 -> grank[d_] = 0; again_ = 1
     :: else
     fi;
     if
     :: ok && x -> grank[d_] = 0; stage[d_] = NORMAL; again_ = 1
     :: else
     fi
  :: else
  fi;
#endif
#if ROLES > 0
  /* [A12] */
  if
  :: stage[d_] == TO_SWITCH && inc[d_] < K - 1 ->
     ok = 1;
#ifndef WITHOUT_A12_UP_FIRST
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && !(SETTLED(p) && force[p] == UP) -> ok = 0
       :: else
       fi
     }
#endif
     if
     :: ok ->
        role[d_] = SWITCH; stage[d_] = WAITING;
        change_role(d_);
        again_ = 1
     :: else
     fi
  :: stage[d_] == TO_HOST && inc[d_] < K - 1 ->
     ok = (F[d_] == NOFALL && R[d_] == 0 && B[d_] == 0);
#ifndef WITHOUT_A12_NO_DOWN
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && IN_VIEW(p, DOWN) -> ok = 0
       :: else
       fi
     }
#endif
#ifdef WITHOUT_A12_FALL
     ok = 1; R[d_] = 0; B[d_] = 0; F[d_] = NOFALL;
#endif
     if
     :: ok ->
        role[d_] = HOST; stage[d_] = NORMAL;
        change_role(d_);
        again_ = 1
     :: else
     fi
  :: else
  fi;
#endif
#if ROLES > 0 || defined(NEWCOMERS)
  /* [A10] an agent is heard on each lit port, or the port is in host-ports; then `up` in force everywhere */
  if
  :: stage[d_] == NEWCOMER || stage[d_] == WAITING ->
     ok = 1;
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && LIT(p) && !HOST_PORT(p) ->
          x = 0;
          for (ii : 0 .. N - 1) {
            if
            :: heard[p * N + ii] > 1 -> x = 1
            :: else
            fi
          }
          if
          :: !x -> ok = 0
          :: else
          fi
       :: else
       fi
     }
#ifdef WITHOUT_A10_WAIT
     ok = 1;
#endif
     if
     :: ok -> stage[d_] = (stage[d_] == WAITING -> NORMAL : STARTING); again_ = 1
     :: else
     fi
  :: stage[d_] == STARTING ->
     ok = 1;
     for (p : 0 .. NP - 1) {
       if
       :: DEV(p) == d_ && !(SETTLED(p) && force[p] == UP) -> ok = 0
       :: else
       fi
     }
#ifdef WITHOUT_A10_UP_FIRST
     ok = 1;
#endif
     if
     :: ok -> stage[d_] = NORMAL; again_ = 1
     :: else
     fi
  :: else
  fi;
#endif
  skip
}

#define SPEAKS(d) (alive[d] && ROLE(d) != STOCK)

/* [A1] Every frame that may be sent now is sent: losing it is the same as not sending it. */
inline emit() {
  for (p : 0 .. NP - 1) {
    for (q : 0 .. NP - 1) {
      if
      :: MAYHEAR(p, q) && CONNECTED(p, q) && SPEAKS(DEV(p)) ->
#ifndef WITHOUT_A5_TOLD
         for (jj : 0 .. N - 1) {               /* [A5 told] the bound is told on this port */
           if
           :: A[p * N + jj] != INF -> A[p * N + jj] = MIN(A[p * N + jj], B[DEV(p)])
           :: else
           fi
         }
#endif
         v = DEV(q);
         x = PLAIN(K, B[DEV(p)] > 0);
         if
         :: heard[p * N + v] == 3 + q && IF_A4_ENTRY(JUSTIFIED(p, v)) ->
            y = cseq[p * N + v];
#ifdef WITHOUT_A4_ENTRY
            if
            :: !JUSTIFIED(p, v) -> y = 0
            :: else
            fi;
#endif
            x = (K * S + seq[DEV(p)] - 1) * (S + 1) + y
         :: else
         fi;
#ifdef HUB
         w = N - DEV(p) - v;   /* the third: 0 + 1 + 2 = 3 */
         th = (heard[p * N + w] > 1 && JUSTIFIED(p, w));
         x = 2 * x + th;
#endif
         ADD(p, q, x)
      :: else
      fi
    }
  }
}

/* The invariant: a port is `down` only while the rank of the device at its other end is lower than ours. A link of which one
 * end is `shut` carries no lossless class: it is on no cycle. */
inline safe() {
  for (p : 0 .. NP - 1) {
    for (q : 0 .. NP - 1) {
      if
      :: CONNECTED(p, q) && ACTS(p) == DOWN && ACTS(q) != SHUT && ROLE(DEV(q)) != STOCK && STAGE(DEV(q)) != NEWCOMER && STAGE(DEV(q)) != STARTING ->
         assert(EFFECTIVE(DEV(q)) < EFFECTIVE(DEV(p)));
         /* a port without rules turns no packet: no other end may be `down` by acknowledgement */
         assert(!(ACTS(q) == NONE && ROLE(DEV(q)) == SWITCH && cseq[p * N + DEV(q)] > 0))
      :: else
      fi;
      if
      :: CONNECTED(p, q) && ACTS(p) == DOWN && cseq[p * N + DEV(q)] > 0 && hboot[p * N + DEV(q)] == BOOT(DEV(q), inc[DEV(q)]) && ROLE(DEV(p)) == SWITCH && ROLE(DEV(q)) == SWITCH ->
         assert(STAGE(DEV(q)) != NEWCOMER && STAGE(DEV(q)) != STARTING);
#ifdef NEWCOMERS
         /* nor on any other port of that device where an agent is heard */
         for (jj : 0 .. NP * N - 1) {
           assert(!(DEV(jj / N) == DEV(q) && ACTS(jj / N) == NONE && heard[jj] != 0))
         }
#else
         skip
#endif
      :: else
      fi
    }
  }
}

/* All agents react, then speak; then the invariant is looked at. */
inline settle() {
  again_ = 1;
  do
  :: again_ ->
     again_ = 0;
     for (d : 0 .. N - 1) {
       if
       :: alive[d] && ROLE(d) != STOCK -> react(d)
       :: else
       fi
     }
     if
     :: again_ -> quiet = 0
     :: else
     fi
  :: else -> break
  od;
  emit();
  safe()
}


/* Frame kf, from port pp, arrives at port qq. */
inline deliver() {
  v = DEV(pp); u = DEV(qq); r = qq * N + v;
  x = kf; th = 0;
#ifdef HUB
  x = kf / 2; th = kf % 2;
#endif
  if
  :: x < NAMING -> nm = 1; a = x % (S + 1); s = (x / (S + 1)) % S + 1; kk = x / (S * (S + 1))
  :: else -> nm = 0; a = 0; s = 0; kk = (x - NAMING) / 2; high = (x - NAMING) % 2
  fi;
  k = (kk == K -> inc[v] : kk);
  bt = BOOT(v, k);
  if
  :: nm -> high = BOUND(v, k, s) > 0
  :: else
  fi;
  hear(qq, v, high);
  if
  :: bt >= hboot[r] -> heard[r] = (kk == K -> 3 + pp : 2)
  :: else ->
     if
     :: heard[r] <= 1 -> heard[r] = 2
     :: else
     fi
  fi;
#ifdef HUB
#ifndef WITHOUT_A2_LISTED
  if
  :: th ->                              /* [A2 listed] an agent that a frame lists is heard there too */
     w = N - u - v;
     hear(qq, w, 1);
     if
     :: heard[qq * N + w] == 0 -> heard[qq * N + w] = 1
     :: else
     fi
  :: else
  fi;
#endif
#endif
  if
  :: bt > hboot[r] ->           /* [A2 newer boot] forgets sequence and bound, and keeps A(v) */
     hboot[r] = bt;
#ifndef WITHOUT_A2_FORGET
     cseq[r] = 0; cbound[r] = 0;
#endif
#ifdef WITHOUT_A2_KEEP
     A[r] = R[u];
#endif
  :: else
  fi;
#if ROLES > 0 || defined(NEWCOMERS)
#if !defined(WITHOUT_A12_END) && !defined(WITHOUT_A12_END_AT_ONCE)
  if
  :: bt >= hboot[r] && !hostof[v * K + k] -> left_out[u * N + v] = 0   /* [A12 left out ends] */
  :: else
  fi;
#endif
#endif
#ifdef WITHOUT_A12_COUNTED
  if
  :: hostof[v * K + k] -> left_out[u * N + v] = 1
  :: else
  fi;
#endif
  if
  :: nm && IF_A2_BOOT(bt >= hboot[r]) && IF_A2_SEQUENCE(s >= cseq[r]) ->   /* [A2 boot] [A2 sequence] */
     cseq[r] = s; cbound[r] = BOUND(v, k, s);
#if ROLES > 0 || defined(NEWCOMERS)
     if
     :: hostof[v * K + k] -> left_out[u * N + v] = 1
#ifndef WITHOUT_A12_END
     :: !hostof[v * K + k] -> left_out[u * N + v] = 0
#endif
     :: else
     fi;
#endif
     if
     :: a > 0 ->                        /* [A5 acknowledged] the lowest among s and everything told since; an older one lowers nothing */
        y = INF;
#ifdef WITHOUT_A5_SINCE
        y = BOUND(u, inc[u], a);
#else
        for (ii : a .. seq[u]) {
          y = MIN(y, BOUND(u, inc[u], ii))
        }
#endif
        A[r] = (A[r] > y -> A[r] : y);
     :: else
     fi
  :: else
  fi
}

/* What differs in nothing that can be seen any more is made equal. */
inline tidy() {
  for (d : 0 .. N - 1) {
    for (k : 0 .. K - 1) {
      if
      :: k < inc[d] ->
         ok = 0;
         for (p : 0 .. NP - 1) {
           for (q : 0 .. NP - 1) {
             if
             :: DEV(p) == d && DEV(q) != d ->
                for (ii : 0 .. FRAMES - 1) {
                  x = ii;
#ifdef HUB
                  x = ii / 2;
#endif
                  if
                  :: HAS(p, q, ii) && x < NAMING && x / (S * (S + 1)) == k -> ok = 1
                  :: else
                  fi
                }
             :: else
             fi
           }
         }
         if
         :: !ok ->
            for (s : 1 .. S) {
              BOUND(d, k, s) = 0
            }
         :: else
         fi
      :: else
      fi
    }
  }
}

inline off(p_) {
#ifdef DROPS
  /* the data plane drops `down` at carrier loss by itself */
  if
  :: force[p_] == DOWN -> force[p_] = UP
  :: else
  fi;
  if
  :: req1[p_] == DOWN -> req1[p_] = UP
  :: else
  fi;
#if Q > 1
  if
  :: req2[p_] == DOWN -> req2[p_] = UP
  :: else
  fi;
#endif
#endif
  if
  :: alive[DEV(p_)] -> unhear(p_); session(p_)
  :: else ->
#if CRASHES > 0 && PULLS > 0
     changed[p_] = 1
#else
     skip
#endif
  fi
}
inline on(p_) {
  if
  :: alive[DEV(p_)] && ROLE(DEV(p_)) != STOCK ->
     remember(p_);
     limit(p_);
#ifndef WITHOUT_A11_SHUT
     if
     :: R[DEV(p_)] > lim && ROLE(DEV(p_)) == SWITCH -> force[p_] = SHUT       /* [A11 shut] before traffic passes */
     :: else
     fi
#endif
  :: else ->
#if CRASHES > 0 && PULLS > 0
     changed[p_] = 1       /* a carrier that came while the agent was dead is new to it */
#else
     skip
#endif
  fi
}
inline cut() {
  untidy = 1;
  mate[pp] = 0; mate[qq] = 0;
#ifndef STALE
  for (ii : 0 .. WORDS - 1) {
    fr[(pp * NP + qq) * WORDS + ii] = 0;
    fr[(qq * NP + pp) * WORDS + ii] = 0
  }
#endif
  for (z : 0 .. NP - 1) {
    if
    :: z == pp || z == qq -> off(z)
    :: else
    fi
  }
}
/* [A11] No lossless traffic passes on a new carrier until the order of A8 is in force there. */
#ifdef WITHOUT_A11_A8
#define READY(p) 1
#else
#ifdef DROPS
#define READY(p) (!alive[DEV(p)] || SETTLED(p))
#else
#if N > 2
#define READY(p) ((alive[DEV(p)] && SETTLED(p) && force[p] != DOWN) || (!alive[DEV(p)] && !IN_VIEW(p, DOWN)))
#else
#define READY(p) (!alive[DEV(p)] || (SETTLED(p) && force[p] != DOWN))
#endif
#endif
#endif
#if N > 2 && !defined(DROPS)
#define PULLABLE(p) alive[DEV(p)]
#else
#define PULLABLE(p) 1
#endif

/* A dead agent starts again. */
inline restart(d_) {
  start(d_);
  alive[d_] = 1;
#ifdef WITHOUT_A9_BELIEFS
  for (ii : 0 .. NP * N - 1) {
    if
    :: DEV(ii / N) == d_ -> A[ii] = INF
    :: else
    fi
  }
#endif
#if CRASHES > 0 && PULLS > 0
  for (p : 0 .. NP - 1) {
    if
    :: DEV(p) == d_ && changed[p] ->
       changed[p] = 0;
       unhear(p);
       if
       :: LIT(p) -> remember(p)
       :: else
       fi
    :: else
    fi
  }
#endif
}
#if LOSSES > 0
/* [A9] ... and has lost its state. */
inline lose() {
  grank[u] = EFFECTIVE(u);
  stage[u] = RECOVERING;
#ifdef WITHOUT_A9_BOTTOM_RANK
  R[u] = R[u];
#else
  R[u] = 0; B[u] = 0; F[u] = NOFALL;
#endif
  lost[u] = 1;
#ifdef WITHOUT_A9_BOTTOM
  lost[u] = 0;
#endif
  for (p : 0 .. NP - 1) {
    if
    :: DEV(p) == u ->
       unhear(p);
       for (ii : 0 .. N - 1) {
         A[p * N + ii] = INF; hboot[p * N + ii] = 0
       }
    :: else
    fi
  }
  for (ii : 0 .. N - 1) {
#if ROLES > 0 || defined(NEWCOMERS)
    left_out[u * N + ii] = 0
#else
    skip
#endif
  }
}
#endif

#ifdef CONFIRM
#define CLEAR1(o) applied[o] = (applied[o] > 0 -> applied[o] - 1 : 0);
#else
#define CLEAR1(o)
#endif
#if Q > 1
#define CLEAR2(o) req2[o] = 0; CLEAR1(o)
#else
#define CLEAR2(o) CLEAR1(o)
#endif

inline newest(p_, q_) {
  v = DEV(q_);
  kf = PLAIN(K, B[DEV(p_)] > 0);
  if
  :: heard[p_ * N + v] == 3 + q_ && JUSTIFIED(p_, v) -> kf = (K * S + seq[DEV(p_)] - 1) * (S + 1) + cseq[p_ * N + v]
  :: else
  fi;
#ifdef HUB
  w = N - DEV(p_) - v;
  th = (heard[p_ * N + w] > 1 && JUSTIFIED(p_, w));
  kf = 2 * kf + th;
#endif
}

/* Progress, [A13]: from here on targets, carriers and agents stay, dead agents start again, the newest frame of each direction
 * arrives, requests are confirmed, in turns. calm_event picks what happens at a turn; goal says what then holds. */
#define TURNS (NP * NP + NP)
#define CALM_END (N + 10 * TURNS)
inline calm_event() {
  ev = 0;
  if
  :: turn < N ->
     pp = turn;
     if
     :: !alive[pp] -> ev = START
     :: else
     fi
  :: else ->
     o = (turn - N) % TURNS;
     if
     :: o < NP * NP ->
        pp = o / NP; qq = o % NP;
        if
        :: MAYHEAR(pp, qq) && CONNECTED(pp, qq) && SPEAKS(DEV(pp)) && alive[DEV(qq)] && ROLE(DEV(qq)) != STOCK ->
           newest(pp, qq); ev = FRAME
        :: else
        fi
     :: else ->
        pp = o - NP * NP;
        if
        :: req1[pp] != 0 -> ev = CALM_APPLY
        :: else ->
#if ROLES > 0 || defined(NEWCOMERS)
           if
           :: (stage[DEV(pp)] == NEWCOMER || stage[DEV(pp)] == WAITING) && turn > N + 2 * TURNS -> pp = DEV(pp); ev = CLOCK
           :: else
           fi
#else
           skip
#endif
        fi
     fi
  fi
}
inline goal() {
  SAY(report();)
  ok = 1;
  for (p : 0 .. NP - 1) {
#if LOSSES > 0 && defined(HOSTPORT)
    /* after a loss of state a station that is not in host-ports waits for `forget` */
    if
    :: LOST(DEV(p)) && !HOST_PORT(p) && LIT(p) && NOAGENT(p) -> ok = 0
    :: else
    fi;
#endif
    /* an agent that is not there any more was heard by a late frame: the port waits for `forget` */
    for (ii : 0 .. N - 1) {
      if
      :: heard[p * N + ii] != 0 ->
         x = 0;
         for (q : 0 .. NP - 1) {
           if
           :: CONNECTED(p, q) && DEV(q) == ii -> x = 1
           :: else
           fi
         }
         if
         :: !x -> ok = 0
         :: else
         fi
      :: else
      fi
    }
  }
  if
  :: ok ->
     for (p : 0 .. NP - 1) {
       wanted(p);
       assert(SETTLED(p) && force[p] == ord);
       assert(!(LIT(p) && force[p] == SHUT));
#ifndef HUB
       for (q : 0 .. NP - 1) {
         if
         :: CONNECTED(p, q) && ROLE(DEV(p)) == SWITCH && ROLE(DEV(q)) != STOCK -> assert((R[DEV(q)] < R[DEV(p)]) == (force[p] == DOWN))
         :: else
         fi
       }
#else
       skip
#endif
     }
     for (d : 0 .. N - 1) {
       assert(F[d] == NOFALL && R[d] == B[d] && (STAGE(d) == NORMAL || ROLE(d) == STOCK))
     }
  :: else
  fi
}

inline wipe() {
  for (ii : 0 .. N - 1) {
    alive[ii] = 0; R[ii] = 0; B[ii] = 0; F[ii] = 0; seq[ii] = 0; inc[ii] = 0;
#if LOSSES > 0
    lost[ii] = 0; grank[ii] = 0;
#endif
#if ROLES > 0 || LOSSES > 0 || defined(NEWCOMERS)
    stage[ii] = 0;
#endif
#if ROLES > 0 || defined(NEWCOMERS)
    role[ii] = 0;
#endif
    skip
  }
  for (ii : 0 .. N * N - 1) {
#if ROLES > 0 || defined(NEWCOMERS)
    left_out[ii] = 0
#else
    skip
#endif
  }
  for (ii : 0 .. N * K - 1) {
#if ROLES > 0 || defined(NEWCOMERS)
    hostof[ii] = 0;
#endif
#ifdef LOWBOOT
    boot[ii] = 0;
#endif
    skip
  }
  for (ii : 0 .. N * K * S - 1) {
    bound[ii] = 0
  }
  for (ii : 0 .. NP - 1) {
    mate[ii] = 0; force[ii] = 0; req1[ii] = 0; before[ii] = 0;
#if Q > 1
    req2[ii] = 0;
#endif
#ifdef CONFIRM
    applied[ii] = 0;
#endif
#if CRASHES > 0 && PULLS > 0
    changed[ii] = 0;
#endif
#ifdef HOSTPORT
    station[ii] = 0;
#endif
    skip
  }
  for (ii : 0 .. NP * N - 1) {
    A[ii] = 0; heard[ii] = 0; cseq[ii] = 0; cbound[ii] = 0; hboot[ii] = 0
  }
  for (ii : 0 .. NP * NP * WORDS - 1) {
    fr[ii] = 0
  }
  crashes = 0; losses = 0; pulls = 0; roles = 0; changes = 0;
  over = 1
}

#define WANT(d) (F[d] == NOFALL -> B[d] : F[d])

inline retarget(d_, t_) {
  if
  :: t_ < R[d_] ->
     F[d_] = t_;
#ifdef WITHOUT_A7_TOLD_LAST
     B[d_] = t_; seq[d_]++; believe(d_)
#endif
  :: else ->
     F[d_] = NOFALL;
     if
     :: B[d_] != t_ -> B[d_] = t_; seq[d_]++; believe(d_)
     :: else
     fi
  fi
}

/* ---- the events: what may happen, and to which device or ports ---- */
#define MAY_TARGET(d, t_) :: alive[d] && !over && ROLE(d) == SWITCH && STAGE(d) == NORMAL && seq[d] < S && changes < CHANGES && WANT(d) != (t_) -> ev = TARGET; pp = d; qq = t_
#if WORDS_ == 1
#define ANY(p, q) (WORD(p, q, 0) != 0)
#else
#if WORDS_ == 2
#define ANY(p, q) (WORD(p, q, 0) != 0 || WORD(p, q, 32) != 0)
#else
#define ANY(p, q) (WORD(p, q, 0) != 0 || WORD(p, q, 32) != 0 || WORD(p, q, FRAMES - 1) != 0 || WORDS > 3)
#endif
#endif
#define MAY_HEAR(p, q) :: alive[DEV(q)] && LIT(q) && ROLE(DEV(q)) != STOCK && ANY(p, q) -> ev = FRAME; pp = p; qq = q
#ifdef CONFIRM
#define MAY_APPLY(p) \
  :: (applied[p] == 0 && req1[p] != 0) || (applied[p] == 1 && REQ2(p) != 0) -> ev = APPLY; pp = p \
  :: alive[DEV(p)] && applied[p] > 0 -> ev = CONFIRMED; pp = p
#else
#define MAY_APPLY(p) :: req1[p] != 0 -> ev = CONFIRMED; pp = p
#endif
#define MAY_CRASH(d) \
  :: alive[d] && !over && ROLE(d) != STOCK && crashes < CRASHES && inc[d] < K - 1 -> ev = CRASH; pp = d \
  :: alive[d] && !over && ROLE(d) != STOCK && crashes < CRASHES && inc[d] < K - 1 && PENDING(d) -> ev = CRASH_DROP; pp = d \
  :: !alive[d] && !over -> ev = START; pp = d
#define MAY_LOSE(d) :: !alive[d] && !over && losses < LOSSES -> ev = START_LOST; pp = d
#define MAY_PULL(p, q) \
  :: CONNECTED(p, q) && pulls < PULLS && PULLABLE(p) && PULLABLE(q) -> ev = PULL; pp = p; qq = q \
  :: !over && mate[p] == 0 && mate[q] == 0 && READY(p) && READY(q) -> ev = PLUG; pp = p; qq = q
#define MAY_TURN(d) \
  :: alive[d] && !over && roles < ROLES && inc[d] < K - 1 && stage[d] == NORMAL && role[d] == HOST -> ev = TURN_SWITCH; pp = d \
  :: alive[d] && !over && roles < ROLES && inc[d] < K - 1 && stage[d] == NORMAL && role[d] == SWITCH && seq[d] < S -> ev = TURN_HOST; pp = d
#define MAY_INSTALL(d) \
  :: role[d] == STOCK && !over -> ev = INSTALL; pp = d
#define MAY_STATION(p, q) :: !over && CONNECTED(p, q) && station[p] == 0 && alive[DEV(p)] && role[DEV(q)] == STOCK -> ev = STATION_HEARD; pp = p
#define MAY_CLOCK(d) \
  :: !over && (stage[d] == NEWCOMER || stage[d] == WAITING) && alive[d] && BOTH_HEARD(d) -> ev = CLOCK; pp = d

inline next() {
  do
  :: kf == FRAMES -> break
  :: kf < FRAMES ->
     if
     :: HAS(pp, qq, kf) -> break
     :: else -> kf++
     fi
  od
}
#if Q > 1
#ifdef CONFIRM
#define DROP2(p) req2[p] = (applied[p] > 1 -> req2[p] : 0)
#else
#define DROP2(p) req2[p] = 0
#endif
#else
#define DROP2(p) skip
#endif
/* The requests of a device that has crashed have not reached the data plane. */
inline drop_requests(d_) {
  for (p : 0 .. NP - 1) {
    if
    :: DEV(p) == d_ ->
#ifdef CONFIRM
       if
       :: applied[p] == 0 -> req1[p] = 0
       :: else
       fi;
#else
       req1[p] = 0;
#endif
       DROP2(p)
    :: else
    fi
  }
}

inline happen() {
  if
  :: ev == TARGET ->
     SAY(printf("target device=%d rank=%d\n", pp, qq);)
#if CHANGES < 255
     changes++;
#endif
     retarget(pp, qq)
  :: ev == FRAME ->
     deliver();
#if defined(LOWBOOT) && LOSSES > 0
     /* [A9 shown] an entry shows a newer boot of ours: our state is lost or old */
     if
     :: hboot[pp * N + u] > BOOT(u, inc[u]) && inc[u] < K - 1 ->
        newboot = hboot[pp * N + u] + 1;
        lose();
        start(u);
        newboot = 0
     :: else
     fi;
#endif
     SAY(printf("hear port=%d from=%d naming=%d start=%d session=%d seq=%d bound=%d ack=%d third=%d\n", qq, pp, nm, k, kk == K, s, (s > 0 -> BOUND(v, k, s) : high), a, th);)
  :: ev == CONFIRMED ->
#ifndef CONFIRM
     SAY(printf("apply port=%d order=%d\n", pp, req1[pp]);)
#endif
     SAY(printf("confirm port=%d order=%d\n", pp, req1[pp]);)
     force[pp] = req1[pp]; req1[pp] = REQ2(pp); CLEAR2(pp)
#ifdef CONFIRM
  :: ev == APPLY ->
     applied[pp]++;
     SAY(printf("apply port=%d order=%d\n", pp, ACTS(pp));)
#endif
#if CRASHES > 0
  :: ev == CRASH ->
     SAY(printf("crash device=%d requests=kept\n", pp);)
     alive[pp] = 0; crashes++
  :: ev == CRASH_DROP ->
     SAY(printf("crash device=%d requests=dropped\n", pp);)
     alive[pp] = 0; crashes++;
     drop_requests(pp)
  :: ev == START || ev == START_LOST ->
     u = pp;
#if LOSSES > 0
     if
     :: ev == START_LOST ->
        SAY(printf("start device=%d state=lost\n", pp);)
        losses++;
#ifdef LOWBOOT
        newboot = 1;   /* the clock is wrong */
#ifndef LATE
        /* no frame of the process that has lost its state arrives any more */
        for (p : 0 .. NP - 1) {
          for (ii : 0 .. NP * WORDS - 1) {
            if
            :: DEV(p) == u -> fr[p * NP * WORDS + ii] = 0
            :: else
            fi
          }
        }
#endif
#endif
        lose()
     :: else -> SAY(printf("start device=%d state=saved\n", pp);)
     fi;
#else
     SAY(printf("start device=%d state=saved\n", pp);)
#endif
     restart(u);
     newboot = 0
#endif
#if PULLS > 0
  :: ev == PULL ->
     SAY(printf("pull ports=%d,%d\n", pp, qq);)
     pulls++;
     cut()
  :: ev == PLUG ->
     SAY(printf("plug ports=%d,%d\n", pp, qq);)
     mate[pp] = qq + 1; mate[qq] = pp + 1;
     for (z : 0 .. NP - 1) {
       if
       :: z == pp || z == qq -> on(z)
       :: else
       fi
     }
#endif
#if ROLES > 0
  :: ev == TURN_SWITCH ->
     SAY(printf("role device=%d role=switch\n", pp);)
     roles++; stage[pp] = TO_SWITCH
  :: ev == TURN_HOST ->
     SAY(printf("role device=%d role=host\n", pp);)
     roles++; stage[pp] = TO_HOST; qq = 0;
     retarget(pp, qq)
#endif
#if ROLES > 0 || defined(NEWCOMERS)
  :: ev == INSTALL ->
     SAY(printf("install device=%d\n", pp);)
     role[pp] = SWITCH; stage[pp] = NEWCOMER
  :: ev == CLOCK ->
     SAY(printf("clock device=%d\n", pp);)
     stage[pp] = (stage[pp] == WAITING -> NORMAL : STARTING)
#endif
#ifdef HOSTPORT
  :: ev == STATION_HEARD ->
     SAY(printf("station port=%d\n", pp);)
     station[pp] = 2
#endif
  :: ev == CALM_APPLY ->
     force[pp] = req1[pp]; req1[pp] = REQ2(pp); CLEAR2(pp)
     SAY(printf("calm confirm port=%d order=%d\n", pp, force[pp]);)
     skip
  :: else
  fi
}

#ifdef FOLLOW
/* A run of agents is followed (accept.py): the table has its events, and what they had after each. */
int step_;             /* of the table */
hidden byte entry[NP * N];
c_code { \#include "runs.h" }
inline compare() {
  for (p : 0 .. NP - 1) {
    for (v : 0 .. N - 1) {
      entry[p * N + v] = (v != DEV(p) && JUSTIFIED(p, v))
    }
  }
  skip
}
#define IS_NEXT c_expr { (is_next()) }
#define IS_SAME c_expr { (is_as_told()) }
#endif

active proctype world() {
  d_step {
    for (ii : 0 .. N - 1) {
      alive[ii] = 1; F[ii] = NOFALL; seq[ii] = 1
    }
    for (ii : 0 .. NP - 1) {
#ifdef WITH_NONE
      force[ii] = NONE
#else
      force[ii] = UP
#endif
    }
    for (ii : 0 .. NP * N - 1) {
      A[ii] = INF
    }
#ifdef LOWBOOT
    for (ii : 0 .. N - 1) {
      boot[ii * K] = 2
    }
#endif
    BEGIN
  }
  RANKS
  d_step {
    for (ii : 0 .. N - 1) {
      B[ii] = R[ii];
      BOUND(ii, 0, 1) = B[ii];
#if ROLES > 0 || defined(NEWCOMERS)
      hostof[ii * K] = (role[ii] == HOST);
#endif
      skip
    }
    emit();
#ifdef FOLLOW
    compare();
#endif
    SAY(report();)
    skip
  }
#ifdef FOLLOW
  IS_SAME;
  step_++;
#endif
again:
  atomic {
    if
    EVENTS
#ifdef PROGRESS
    :: !over -> ev = CALM
#endif
    fi;
    if
    :: ev == FRAME ->
       d_step { next(); skip };
       do
       :: kf < FRAMES -> break
       :: kf < FRAMES -> d_step { kf++; next(); skip }
       :: kf == FRAMES -> ev = 0; break
       od
    :: else
    fi;
#ifdef FOLLOW
    IS_NEXT;
#endif
    d_step {
      untidy = 0;
      newboot = 0;
      quiet = 0;
      turn = 0;
      calm = (ev == CALM);
      do
      :: 1 ->
         if
         :: calm -> calm_event()
         :: else
         fi;
         if
         :: ev != 0 || turn == 0 ->
            happen();
            settle()
         :: else
         fi;
         turn++;
         if
         :: turn > N -> quiet++
         :: else
         fi;
         if
         :: !calm || turn == CALM_END || quiet > 3 * TURNS -> break
         :: else
         fi
      od;
      if
      :: calm -> goal(); wipe()

      :: !calm && untidy -> tidy(); SAY(report();) skip
      :: else -> SAY(report();) skip
      fi;
#ifdef FOLLOW
      compare();
#endif
      ev = 0; kf = 0; pp = 0; qq = 0
    }
#ifdef FOLLOW
    IS_SAME;
    step_++
#endif
  }
  goto again
}
