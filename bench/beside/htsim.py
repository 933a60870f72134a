#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mean flow completion times and speed of our packet simulator beside those of csg-htsim, on the same flow lists.

htsim.py HTSIM_ROCE [--quick] [--lab PROGRAM]

HTSIM_ROCE is csg-htsim's program of that name, built by you: it is not part of this project. Both simulate a k-ary
fat-tree of 100 Gb/s and 1 us a link, frames of 1000 + 64 octets, an ACK of 64 per frame, PFC with XOFF and XON at 100 and
97 frames, hosts that send at line rate whatever comes, one path per flow by ECMP. Times are to the arrival of the last
octet; htsim's are to that of its ACK, less the ACK's unloaded way back. Which of the equally good paths a flow has is
chance in both, so where that matters the mean is over several seeds."""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATE = 100_000  # Mb/s
ACK_HOP_US = 1 + 64 * 8 / RATE


def incast(hosts, octets):
    return [(host, 0, octets) for host in range(1, hosts)]


def all_to_all(hosts, octets):
    return [(a, b, octets) for a in range(hosts) for b in range(hosts) if a != b]


def permutation(hosts, octets):
    order = list(range(hosts))
    random.Random(1).shuffle(order)
    return [(a, b, octets) for a, b in zip(order, order[1:] + order[:1])]


def links(k, a, b):
    """Of the way between two hosts, numbered leaf by leaf, pod by pod."""
    half = k // 2
    return 2 if a // half == b // half else 4 if a // (half * half) == b // (half * half) else 6


def run(command, directory):
    """Its exit status, output, CPU seconds and the most memory that it had, in MB."""
    out = pathlib.Path(directory, "out")
    with out.open("w") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL, cwd=directory)
        _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), out.read_text(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def theirs(program, directory, k, flows, seed, end_us):
    # Not fair_prio, its default: that ends by an assertion of its own with some seeds (FairPriorityQueue::beginService).
    status, text, cpu, _ = run(
        [program, "-nodes", str(k**3 // 4), "-tiers", "3", "-strat", "ecmp_host", "-paths", "256", "-mtu", "1000", "-q", "100000",
         "-linkspeed", str(RATE), "-hop_latency", "1", "-pfc_thresholds", "97", "100", "-seed", str(seed), "-end", str(end_us),
         "-host_queue_type", "prio", "-tm", "flows.cm", "-o", "log"], directory)
    if status < 0:
        sys.exit(f"htsim ended by signal {-status}")
    fct = {}
    for a, b, at in re.findall(r"Flow Roce_(\d+)_(\d+) \d+ finished at ([\d.e+]+)", text):
        fct[int(a), int(b)] = float(at) - links(k, int(a), int(b)) * ACK_HOP_US
    if len(fct) != len(flows):
        sys.exit(f"htsim finished {len(fct)} of {len(flows)} flows")
    return statistics.fmean(fct.values()), cpu


def ours(program, directory, flows, seed, end_us):
    scenario = {"fabric": "fabric.json", "duration_ns": end_us * 1000, "traffic": [{"kind": "file", "file": "flows.cm"}],
                "settings": {"seed": seed, "header_octets": 64, "buffer_octets": 1_000_000_000, "go_back_rto_ns": 100_000_000,
                             "pfc": {"xoff_octets": 100_000, "xon_octets": 97_000}}}
    pathlib.Path(directory, "scenario.json").write_text(json.dumps(scenario))
    status, text, cpu, _ = run([program, "sim", "scenario.json", "--json"], directory)
    if status != 0:
        sys.exit(f"ours ended with {status}")
    result = json.loads(text)
    if result["drops"] or result["deadlock"] or any(f["fct_ns"] is None for f in result["flows"]):
        sys.exit("ours dropped frames, deadlocked or did not finish")
    return statistics.fmean(f["fct_ns"] for f in result["flows"]) / 1000, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("htsim_roce")
    parser.add_argument("--quick", action="store_true", help="without the last case, fewer seeds")
    parser.add_argument("--lab", default=str(ROOT / "build/release/bin/lldp-level-lab"))
    args = parser.parse_args()
    program = os.path.abspath(args.htsim_roce)
    cases = [("k=4 incast, 15 x 1 MB", 4, incast(16, 1_000_000), 1), ("k=4 all to all, 240 x 1 MB", 4, all_to_all(16, 1_000_000), 3),
             ("k=8 permutation, 128 x 1 MB", 8, permutation(128, 1_000_000), 10),
             ("k=8 all to all, 16,256 x 100 KB", 8, all_to_all(128, 100_000), 1)]
    print(f"{'':32} {'mean FCT, us':>22}            {'CPU, s':>16}")
    print(f"{'':32} {'ours':>11} {'htsim':>10} {'ratio':>7}    {'ours':>8} {'htsim':>7} {'ratio':>7}")
    off = False
    for name, k, flows, seeds in cases[:3] if args.quick else cases:
        seeds = min(seeds, 3) if args.quick else seeds
        end_us = 20_000
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([args.lab, "topo", "fattree", str(k), "-o", "fabric.json"], check=True, cwd=directory)
            lines = [f"Nodes {k ** 3 // 4}", f"Connections {len(flows)}"]
            lines += [f"{a}->{b} id {i} start 0 size {size}" for i, (a, b, size) in enumerate(flows, 1)]
            pathlib.Path(directory, "flows.cm").write_text("\n".join(lines) + "\n")
            us = [ours(args.lab, directory, flows, seed, end_us) for seed in range(1, seeds + 1)]
            them = [theirs(program, directory, k, flows, seed, end_us) for seed in range(1, seeds + 1)]
        fct = [statistics.fmean(r[0] for r in side) for side in (us, them)]
        cpu = [sum(r[1] for r in side) for side in (us, them)]
        off |= not 0.9 <= fct[0] / fct[1] <= 1.1
        print(f"{name:32} {fct[0]:11.1f} {fct[1]:10.1f} {fct[0] / fct[1]:7.3f}    {cpu[0]:8.2f} {cpu[1]:7.2f} {cpu[0] / cpu[1]:7.3f}",
              flush=True)
    print(f"mean FCT within 10 %: {'NO' if off else 'yes'}; CPU is that of whole processes, for all seeds; {os.getloadavg()[0]:.1f} wanted to run")
    sys.exit(off)


if __name__ == "__main__":
    main()
