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

PFC = {"pfc": {"xoff_octets": 200_000, "xon_octets": 197_000}}
DCQCN = {**PFC, "ecn": {"kmin_octets": 100_000, "kmax_octets": 400_000, "pmax_permille": 200}, "dcqcn": {}}
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


def run(lab, directory, *words):
    """Its report, user CPU seconds and the most memory that it had, in MB."""
    report = pathlib.Path(directory, "report.json")
    child = subprocess.Popen([lab, "sim", "scenario.json", "-o", str(report), *words], stdout=subprocess.DEVNULL, cwd=directory)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{lab} ended with {os.waitstatus_to_exitcode(status)}")
    return json.loads(report.read_text()), usage.ru_utime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab")
    parser.add_argument("older", nargs="?")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--threads", default="1")
    args = parser.parse_args()
    labs = [os.path.abspath(lab) for lab in (args.lab, args.older) if lab]
    print("| | packet-hops/s | set-up, s | memory, MB |" + (" rate to the older build's | set-up |" if len(labs) > 1 else ""))
    print("|---|---|---|---|" + ("---|---|" if len(labs) > 1 else ""))
    differs = False
    for name, k, traffic, settings in CASES:
        if args.only not in name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([labs[0], "topo", "fattree", str(k), "-o", "fabric.json"], check=True, cwd=directory)
            scenario = {"fabric": "fabric.json", "duration_ns": 10**9, "traffic": [{**traffic, "transport": "go-back-n"}], "settings": settings}
            pathlib.Path(directory, "scenario.json").write_text(json.dumps(scenario))
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
    print(f"\nuser CPU, median of {args.runs} seeds; {os.getloadavg()[0]:.1f} wanted to run", file=sys.stderr)
    sys.exit(differs)


if __name__ == "__main__":
    main()
