#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A week of running in a minute: 20,160 intervals of 30 s with 50 neighbours are 10^6 updates, and here they come through
a real link as fast as the daemon is to take them, with neighbours that change, leave, age out and come again. Memory must
be flat from a tenth of the way to the end. Exit status 0 if it is.

usage: soak.py [--bin DIR] [UPDATES [RATE]]"""
import argparse
import os
import sys
import time

from rig import Lab, Verdicts, eventually

NEIGHBORS = 50
FLAT = 0.05


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("updates", nargs="?", type=int, default=1_000_000)
    parser.add_argument("rate", nargs="?", type=int, default=30_000)
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("soak: skipped: network namespaces need root")
        return 77
    with Lab(os.path.abspath(args.bin)) as lab:
        space, peer = lab.space("soak"), lab.space("peer")
        lab.cable(space, "p0", peer, "p0")
        daemon = lab.daemon(space, "--role", "switch", "--lldp.max-neighbors-per-port", "64")
        daemon.start()
        if not daemon.answers():
            raise RuntimeError("\n".join(daemon.lines()))

        def counters():
            return next(p for p in daemon.ask("Stats")["ports"] if p["name"] == "p0")

        begin = time.monotonic()
        sender = lab.blast(peer, "p0", "churn", args.updates, NEIGHBORS, args.rate)
        memory, reached = [], 0
        while sender.poll() is None:
            time.sleep(0.1)
            reached = counters()["statsFramesInTotal"]
            memory.append((reached, daemon.status("VmRSS")))
        took = time.monotonic() - begin
        eventually(lambda: counters()["statsFramesInTotal"] >= args.updates, 5)
        now = counters()
        frames, aged = now["statsFramesInTotal"], now["statsAgeoutsTotal"]
        settled = [kb for at, kb in memory if at >= args.updates / 10]
        eventually(lambda: daemon.ask()["ports"][0]["neighbors"] == [], 5)
        settled.append(daemon.status("VmRSS"))
        first, least, most = settled[0], min(settled), max(settled)
        verdicts = Verdicts()
        verdicts.add("soak", f"{frames} updates in {took:.0f} s, {aged} aged out: memory at 10 % {first} kB, then {least} to "
                     f"{most} kB, {100 * (most - first) / first:+.1f} %",
                     frames >= 0.99 * args.updates and aged > 0 and most <= first * (1 + FLAT) and
                     daemon.process.poll() is None)
    return 0 if verdicts.print() else 1


if __name__ == "__main__":
    sys.exit(main())
