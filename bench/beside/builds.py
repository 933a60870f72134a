#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the packet simulator is, as the table of docs/research/sim.md has it; with two builds of it, in turn, the ratios between them.

builds.py LAB [OLDER_LAB] [--runs N] [--only WORD] [--threads N]

LAB is a lldp-level-lab of a release build. k-ary fat-trees of 100 Gb/s and 1 us, payloads of 1000 octets, an ACK per frame, go-back-N.
Times are a process's own (user CPU), so that what else the machine does counts less; set-up is that of a run of 1 ns. Run N has seed N:
each is another run. The digests of both builds must be equal, run by run, or it says so and ends with 1."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PFC = {"pfc": {"xoff_octets": 200_000, "xon_octets": 197_000}}
DCQCN = {**PFC, "ecn": {"kmin_octets": 100_000, "kmax_octets": 400_000, "pmax_permille": 200}, "dcqcn": {
    "g_256": 1, "alpha_interval_ns": 1_000, "decrease_interval_ns": 4_000, "increase_interval_ns": 300_000, "fast_recovery_stages": 1,
    "additive_bps": 40_000_000, "hyper_bps": 100_000_000, "min_bps": 100_000_000}}  # in full: older builds have other defaults
CASES = [
    ("k = 4, all to all, 240 x 1 MB", 4, {"kind": "all-to-all", "octets": 1_000_000}, PFC),
    ("the same with DCQCN", 4, {"kind": "all-to-all", "octets": 1_000_000}, DCQCN),
    ("k = 8, permutation, 128 x 1 MB", 8, {"kind": "permutation", "octets": 1_000_000}, PFC),
    ("the same with DCQCN", 8, {"kind": "permutation", "octets": 1_000_000}, DCQCN),
    ("k = 8, all to all, 16,256 x 100 KB", 8, {"kind": "all-to-all", "octets": 100_000}, PFC),
    ("the same with DCQCN", 8, {"kind": "all-to-all", "octets": 100_000}, DCQCN),
    ("k = 8, incast, 127 x 500 KB", 8, {"kind": "incast", "senders": 127, "octets": 500_000}, PFC),
    ("k = 16, permutation, 1,024 x 300 KB", 16, {"kind": "permutation", "octets": 300_000}, PFC),
    ("k = 32, permutation, 8,192 x 20 KB", 32, {"kind": "permutation", "octets": 20_000}, PFC),
]


# What is measured of other commands: its words, and the k of the fat-tree.
COMMANDS = [("prove, k = 64", 64, ["prove"]), ("converge, k = 32", 32, ["converge", "--seed", "1"]),
            ("converge, k = 64", 64, ["converge", "--seed", "1"]), ("whatif --fail 2 --all, k = 16", 16, ["whatif", "--fail", "2", "--all"])]


# A process begins with its parent's memory as its peak, so a small one stands between.
SMALL = """import os, subprocess, sys, time
began = time.monotonic()
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "w"))
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime, time.monotonic() - began, usage.ru_maxrss / 1024)"""


def process(argv, directory, out=os.devnull):
    """User CPU seconds, seconds on the wall, and the most memory that it had, in MB."""
    said = subprocess.run([sys.executable, "-S", "-c", SMALL, out, *argv], stdout=subprocess.PIPE, cwd=directory, check=True).stdout.split()
    if int(said[0]) not in (0, 1):
        sys.exit(f"{' '.join(argv)} ended with {said[0].decode()}")
    return tuple(float(word) for word in said[1:])


def run(lab, directory, *words):
    """Its report, user CPU seconds and the most memory that it had, in MB."""
    report = pathlib.Path(directory, "report.json")
    cpu, _, peak = process([lab, "sim", "scenario.json", "--json", *words], directory, report)
    return json.loads(report.read_text()), cpu, peak


def scenario(directory, lab, k, traffic, settings):
    subprocess.run([lab, "topo", "fattree", str(k), "-o", "fabric.json"], check=True, cwd=directory)
    said = {"fabric": "fabric.json", "duration_ns": 10**9, "traffic": [{**t, "transport": "go-back-n"} for t in traffic], "settings": settings}
    pathlib.Path(directory, "scenario.json").write_text(json.dumps(said))


def octets_a_flow(labs, directory):
    peaks = []
    for times in (1, 2):
        scenario(directory, labs[0], 8, [{"kind": "all-to-all", "octets": 1}] * times, PFC)
        peaks.append([process([lab, "sim", "scenario.json", "--json", "--duration", "0.000001"], directory)[2] for lab in labs])
    print("octets a flow, with --json: " + ", ".join(f"{(two - one) * 2**20 / 16_256:.0f}" for one, two in zip(*peaks)), flush=True)


def ratios(name, labs, argv_of, directory, runs):
    """One line: user CPU and time on the wall of each build, in turn, and of the first to the second."""
    took = [[process(argv_of(lab), directory)[:2] for lab in labs] for _ in range(runs)]
    cpu, wall = ([statistics.median(run[i][which] for run in took) for i in range(len(labs))] for which in (0, 1))
    line = f"{name}: {cpu[0]:.2f} s CPU, {wall[0]:.2f} s"
    if len(labs) > 1:
        line += f"; to the older build's {cpu[0] / max(cpu[1], 0.001):.2f}, {wall[0] / max(wall[1], 0.001):.2f}"
    print(line, flush=True)


def two_threads(name, lab, directory, runs):
    walls = [[process([lab, "sim", "scenario.json", "--json", "--threads", threads], directory)[1] for threads in ("1", "2")] for _ in range(runs)]
    one, two = (min(wall[i] for wall in walls) for i in (0, 1))
    print(f"{name}, two threads: {one:.2f} s and {two:.2f} s, {one / two:.2f} times as fast; {os.getloadavg()[0]:.1f} wanted to run", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab")
    parser.add_argument("older", nargs="?")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--two-threads", action="store_true")
    parser.add_argument("--goal", action="store_true")
    parser.add_argument("--commands", action="store_true")
    args = parser.parse_args()
    labs = [os.path.abspath(lab) for lab in (args.lab, args.older) if lab]
    print("| | packet-hops/s | set-up, s | memory, MB |" + (" rate to the older build's | set-up |" if len(labs) > 1 else ""))
    print("|---|---|---|---|" + ("---|---|" if len(labs) > 1 else ""))
    differs = False
    for name, k, traffic, settings in CASES:
        if args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            scenario(directory, labs[0], k, [traffic], settings)
            rates, setups, peaks = ([[] for _ in labs] for _ in range(3))
            for seed in range(1, args.runs + 1):
                digests = set()
                for i, lab in enumerate(labs):
                    words = ["--seed", str(seed), "--threads", args.threads]
                    setup = run(lab, directory, *words, "--duration", "0.000001")[1]
                    report, cpu, peak = run(lab, directory, *words)
                    digests.add(report["digest"])
                    rates[i].append(report["packet_hops"] / max(cpu - setup, 0.001))
                    setups[i].append(setup)
                    peaks[i].append(peak)
                if len(digests) > 1:
                    differs = True
                    print(f"{name}, seed {seed}: the builds differ", file=sys.stderr)
        rate, setup = ([statistics.median(of) for of in column] for column in (rates, setups))
        row = f"| {name} | {rate[0] / 1e6:.2f} M | {setup[0]:.2f} | {max(peaks[0]):.0f} |"
        if len(labs) > 1:
            row += f" {rate[0] / rate[1]:.2f} | {setup[0] / max(setup[1], 0.001):.2f} |"
        print(row, flush=True)
        if args.two_threads:
            with tempfile.TemporaryDirectory() as directory:
                scenario(directory, labs[0], k, [traffic], settings)
                two_threads(name, labs[0], directory, args.runs)
    with tempfile.TemporaryDirectory() as directory:
        if args.only in "octets a flow":
            octets_a_flow(labs, directory)
        if args.goal:
            subprocess.run([labs[0], "topo", "fattree", "16", "-o", "fabric.json"], check=True, cwd=directory)
            subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("goal.py").resolve()), "step.goal"], check=True, cwd=directory)
            ratios("a step of 1,024 ranks", labs[:1], lambda lab: [lab, "sim", "--topology", "fabric.json", "--traffic", "step.goal"], directory, 1)
        for name, k, words in COMMANDS if args.commands else []:
            subprocess.run([labs[0], "topo", "fattree", str(k), "-o", f"{k}.json"], check=True, cwd=directory)
            ratios(name, labs, lambda lab: [lab, words[0], f"{k}.json", *words[1:]], directory, args.runs)
    print(f"\nuser CPU, median of {args.runs} seeds; {os.getloadavg()[0]:.1f} wanted to run", file=sys.stderr)
    sys.exit(differs)


if __name__ == "__main__":
    main()
