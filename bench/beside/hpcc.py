#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mean flow completion times and speed of our packet simulator beside those of HPCC's ns-3 simulation, on the same topologies and flow lists.

hpcc.py THIRD [--quick] [--lab PROGRAM]

THIRD is the program `scratch/third` of alibaba-edu/High-Precision-Congestion-Control, built by you (`waf configure -d optimized`): it is not
part of this project. Both read the same topology.txt and flow.txt: a k-ary fat-tree of 100 Gb/s and 1 us a link, payloads of 1000 octets with 48 of
headers, an ACK per frame that goes before data, DCQCN with its marks, PFC by an eighth of what is free of 32 MiB, go-back-N, one path per flow by
ECMP. Times are to the arrival of the last octet; HPCC's are to that of its ACK, less the ACK's unloaded way back. Which of the equally good
paths a flow has is chance in both; other ports of the flows make another choice, so where that matters the mean is over several.
Memory is the most that each process had, CPU time all that it took."""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

from htsim import all_to_all, incast, links, permutation, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACK_HOP_US = 1 + 60 * 8 / 100_000  # its ACKs have 60 octets
KMIN, KMAX, PMAX = 100, 400, 0.2  # KB, KB, probability
SETTINGS = {"buffer_octets": 32 << 20, "go_back_rto_ns": 100_000_000, "pfc": {"alpha_256": 32},
            "ecn": {"kmin_octets": KMIN * 1000, "kmax_octets": KMAX * 1000, "pmax_permille": int(PMAX * 1000)},
            "dcqcn": {"g_256": 1, "alpha_interval_ns": 1_000, "decrease_interval_ns": 4_000, "increase_interval_ns": 300_000,
                      "fast_recovery_stages": 1, "additive_bps": 40_000_000, "hyper_bps": 100_000_000, "min_bps": 100_000_000}}
CONFIG = """ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE /dev/null
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE /dev/null
SIMULATOR_STOP_TIME {stop}
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 40Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
ERROR_RATE_PER_LINK 0
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
RATE_BOUND 1
ACK_HIGH_PRIO 1
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 1 100000000000 {kmax}
KMIN_MAP 1 100000000000 {kmin}
PMAX_MAP 1 100000000000 {pmax}
BUFFER_SIZE 32
QLEN_MON_FILE /dev/null
QLEN_MON_START 900000000000
QLEN_MON_END 900000000001
"""


def fat_tree(k):
    """topology.txt: hosts from 0, leaf by leaf, pod by pod, then edge, aggregation and core switches."""
    half = k // 2
    hosts = half * half * k
    edge, agg, core = hosts, hosts + half * k, hosts + k * k
    pairs = [(h, edge + h // half) for h in range(hosts)]
    pairs += [(edge + p * half + e, agg + p * half + a) for p in range(k) for e in range(half) for a in range(half)]
    pairs += [(agg + p * half + a, core + a * half + c) for p in range(k) for a in range(half) for c in range(half)]
    nodes = core + half * half
    return "\n".join([f"{nodes} {nodes - hosts} {len(pairs)}", " ".join(map(str, range(hosts, nodes))),
                      *(f"{a} {b} 100Gbps 1000ns 0" for a, b in pairs)]) + "\n"


def theirs(program, directory, k, flows, stop_s):
    pathlib.Path(directory, "config.txt").write_text(CONFIG.format(stop=2 + stop_s, kmin=KMIN, kmax=KMAX, pmax=PMAX))
    pathlib.Path(directory, "trace.txt").write_text("0\n")
    os.environ["NS_ATTRIBUTE_DEFAULT"] = "ns3::SwitchNode::AckHighPrio=1"  # ACK_HIGH_PRIO is its hosts' alone
    status, _, cpu, peak = run([program, "config.txt"], directory)
    if status != 0:
        sys.exit(f"HPCC's simulation ended with {status}")
    fct = []
    for line in pathlib.Path(directory, "fct.txt").read_text().splitlines():
        source, target, *_, took, _ = line.split()
        a, b = (int(ip, 16) >> 8 & 0xffff for ip in (source, target))
        fct.append(int(took) / 1000 - links(k, a, b) * ACK_HOP_US)
    if len(fct) != len(flows):
        sys.exit(f"HPCC's simulation finished {len(fct)} of {len(flows)} flows")
    return statistics.fmean(fct), cpu, peak


def ours(program, directory, stop_s):
    scenario = {"fabric": "topology.txt", "duration_ns": round(stop_s * 1e9), "traffic": [{"kind": "file", "file": "flow.txt"}], "settings": SETTINGS}
    pathlib.Path(directory, "scenario.json").write_text(json.dumps(scenario))
    status, text, cpu, peak = run([program, "sim", "scenario.json", "--json"], directory)
    if status != 0:
        sys.exit(f"ours ended with {status}")
    result = json.loads(text)
    if result["drops"] or result["deadlock"] or any(f["fct_ns"] is None for f in result["flows"]):
        sys.exit("ours dropped frames, deadlocked or did not finish")
    return statistics.fmean(f["fct_ns"] for f in result["flows"]) / 1000, cpu, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("third")
    parser.add_argument("--quick", action="store_true", help="without the last case, fewer choices of paths")
    parser.add_argument("--lab", default=str(ROOT / "build/release/bin/lldp-level-lab"))
    args = parser.parse_args()
    program = os.path.abspath(args.third)
    cases = [("k=4 incast, 15 x 1 MB", 4, incast(16, 1_000_000), 1), ("k=4 all to all, 240 x 1 MB", 4, all_to_all(16, 1_000_000), 3),
             ("k=8 permutation, 128 x 1 MB", 8, permutation(128, 1_000_000), 3), ("k=8 all to all, 16,256 x 100 KB", 8, all_to_all(128, 100_000), 1)]
    print(f"{'':32} {'mean FCT, us':>20}            {'CPU, s':>15}            {'data packet-hops/s':>19}            {'peak, MB':>10}")
    print(f"{'':32} {'ours':>9} {'HPCC':>10} {'ratio':>7}    {'ours':>7} {'HPCC':>7} {'ratio':>7}   {'ours':>10} {'HPCC':>8} {'ratio':>7}     {'ours':>5} {'HPCC':>5}")
    off = False
    for name, k, flows, choices in cases[:3] if args.quick else cases:
        hops = sum((octets + 999) // 1000 * links(k, a, b) for a, b, octets in flows)
        us, them = [], []
        for choice in range(min(choices, 2) if args.quick else choices):
            with tempfile.TemporaryDirectory() as directory:
                pathlib.Path(directory, "topology.txt").write_text(fat_tree(k))
                lines = [str(len(flows)), *(f"{a} {b} 3 {100 + choice} {octets} 2" for a, b, octets in flows)]
                pathlib.Path(directory, "flow.txt").write_text("\n".join(lines) + "\n")
                us.append(ours(args.lab, directory, 0.04))
                them.append(theirs(program, directory, k, flows, 0.04))
        (fct, cpu, peak), (their_fct, their_cpu, their_peak) = ([statistics.fmean(column) for column in zip(*side)] for side in (us, them))
        off |= not 0.9 <= fct / their_fct <= 1.1
        print(f"{name:32} {fct:9.1f} {their_fct:10.1f} {fct / their_fct:7.3f}    {cpu:7.2f} {their_cpu:7.2f} {their_cpu / cpu:7.1f}   {hops / cpu:10.0f} "
              f"{hops / their_cpu:8.0f} {their_cpu / cpu:7.1f}     {peak:5.0f} {their_peak:5.0f}", flush=True)
    print(f"mean FCT within 10 %: {'NO' if off else 'yes'}; CPU is that of whole processes, on average; {os.getloadavg()[0]:.1f} wanted to run")
    sys.exit(off)


if __name__ == "__main__":
    main()
