#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ring all-reduce over a simulated fabric, as ../ring-all-reduce/ring_all_reduce.c has it: every host has so many octets of
numbers, and all are to have the sums. In each of 2 (n - 1) steps every host sends a chunk to the next one, as soon as it has
got the one before.

ring_all_reduce.py SCENARIO.json [OCTETS [RESULTS.jsonl]]"""
import sys

from lldp_level_sim import Error, Simulation, bar


def all_reduce(sim, octets):
    """Begins it; flows follow each other by themselves. Returns how many there will be."""
    hosts = len(sim.hosts)
    steps, chunk = 2 * (hosts - 1), -(-octets // hosts)
    sent = [0] * hosts

    def send(host):
        to = (host + 1) % hosts
        sent[host] += 1
        sim.send(host, to, chunk, done=lambda _flow: send(to) if sent[to] < steps else None)

    for host in range(hosts):
        send(host)
    return hosts * steps


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    octets = int(sys.argv[2]) if len(sys.argv) > 2 else 1_600_000
    try:
        with Simulation(sys.argv[1], record=sys.argv[3] if len(sys.argv) > 3 else None) as sim:
            flows = all_reduce(sim, octets)
            try:
                sim.run(progress=bar(flows))
            except KeyboardInterrupt:
                print("cut short", file=sys.stderr)
            done, totals = sim.results, sim.totals
            print(f"{len(sim.hosts)} hosts, {len(done)} of {flows} flows: {sim.now_us:.1f} us, {totals.packet_hops} packet-hops, {totals.drops} drops")
            if done:
                fct = sorted(r["fct_ns"] / 1000 for r in done)
                print(f"a chunk took {fct[0]:.1f} to {fct[-1]:.1f} us, {fct[len(fct) // 2]:.1f} in the middle")
            return 0 if len(done) == flows else 1
    except Error as e:
        sys.exit(f"ring_all_reduce.py: {e}")


if __name__ == "__main__":
    sys.exit(main())
