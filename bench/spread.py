#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames that are spread over a flow's ways, over links that fail: how many turn, and whether two lossless classes suffice.

    bench/spread.py build/release/bin/lldp-level-lab [-k 4] [--sets 20] [--fail 0 1 2 3] [--loss-ppb N] [--json]

A fat-tree of k, every host sends to another one (--octets, IRN); for each number of failed links between
switches so many sets, drawn by --seed, the same for each way to spread. `turned` is of the frames that cross a switch where one may
turn; `lossy` of those that turn once too often. `deadlocks` counts sets, with the rules and without any (one class)."""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile

SPREADS = ("flow", "packet", "adaptive")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab")
    parser.add_argument("-k", type=int, default=4)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--fail", type=int, nargs="*", default=[0, 1, 2, 3])
    parser.add_argument("--octets", type=int, default=1_000_000, help="of each flow")
    parser.add_argument("--loss-ppb", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table(words, pathlib.Path(folder))


def table(words, folder):
    fabric = folder / "fabric.json"
    subprocess.run([words.lab, "topo", "fattree", str(words.k), "-o", fabric], check=True)
    document = json.loads(fabric.read_text())
    hosts = {n["id"] for n in document["nodes"] if n["role"] == "host"}
    links = sorted(f"{e['source']}-{e['target']}" for e in document["links"] if not {e["source"], e["target"]} & hosts)
    if not words.json:
        print(f"{'failed':>6} {'spread':<9} {'turned':>9} {'lossy':>8} {'sent again':>10} {'mean FCT, us':>12} {'cut off':>7} {'deadlocks':>9} {'one class':>9}")
    for fail in words.fail:
        chance = random.Random(words.seed * 1000 + fail)
        sets = [chance.sample(links, fail) for _ in range(words.sets if fail else 1)]
        for spread in SPREADS:
            row = {"failed": fail, "spread": spread, "sets": len(sets), "frames": 0, "turned": 0, "lossy": 0, "sent_again": 0, "fct_us": [], "cut_off": 0,
                   "deadlocks": 0, "deadlocks_one_class": 0}
            for number, failed in enumerate(sets):
                one(words, folder, fabric, failed, spread, number, row)
            count = max(1, len(row["fct_us"]))
            row["fct_us"] = sum(row["fct_us"]) / count
            if words.json:
                print(json.dumps(row), flush=True)
                continue
            print(f"{fail:>6} {spread:<9} {row['turned'] / max(1, row['frames']):>9.4%} {row['lossy'] / max(1, row['frames']):>8.4%} {row['sent_again']:>10} "
                  f"{row['fct_us']:>12.1f} {row['cut_off']:>7} {row['deadlocks']:>4} of {len(sets):<2} {row['deadlocks_one_class']:>4} of {len(sets):<2}", flush=True)


def one(words, folder, fabric, failed, spread, number, row):
    for protect in ("down-up", "none"):
        settings = {"protect": protect, "spread": spread, "seed": words.seed + number, "loss_ppb": words.loss_ppb}
        scenario = {"fabric": str(fabric), "failed": failed, "duration_ns": 20_000_000, "settings": settings,
                    "traffic": [{"kind": "permutation", "octets": words.octets, "transport": "irn"}]}
        file = folder / "scenario.json"
        file.write_text(json.dumps(scenario))
        ran = subprocess.run([words.lab, "sim", file, "--json"], capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            if "no way" in ran.stderr:  # a set that cuts a host off
                row["cut_off"] += 1
                return
            raise SystemExit(ran.stderr.strip())
        seen = json.loads(ran.stdout)
        if protect == "none":
            row["deadlocks_one_class"] += seen["deadlock"]
            continue
        row["deadlocks"] += seen["deadlock"]
        row["turned"] += seen["turned"]
        row["lossy"] += seen["turned_lossy"]
        row["frames"] += seen["octets"]["sent"] // 1048
        row["sent_again"] += sum(f.get("sent_again", 0) for f in seen["flows"])
        row["fct_us"] += [f["fct_ns"] / 1000 for f in seen["flows"] if f["fct_ns"] is not None]


if __name__ == "__main__":
    main()
