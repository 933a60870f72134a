#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DF-KSP beside networkx's shortest_simple_paths (Yen's algorithm), on the same sample of pairs of an FC+ fabric.

paths.py [--switches N] [--ports S] [-k K] [--lossless N] [--pairs P] [--seed X] [--lab PROGRAM] [--sample-paths PROGRAM]

Each finds the K shortest paths of a pair that turn from down to up fewer times than there are lossless priorities: ours cuts off
what turns too often, networkx lists all paths by length and the script throws those away. The lengths must be the same. Times are
those of the processor, of one thread, without reading the file."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def turns(path, layers):
    """How often the way through the layers goes up after it went down; within a switch it goes from port to port."""
    way = [layer for a, b in zip(path, path[1:]) for layer in (layers[a, b], layers[b, a])]
    count, down = 0, False
    for last, layer in zip(way, way[1:]):
        if layer != last:
            count += down and layer > last
            down = layer < last
    return count


def theirs(networkx, graph, layers, pair, k, lossless):
    hops = []
    for path in networkx.shortest_simple_paths(graph, pair["from"], pair["to"]):
        if turns(path, layers) < lossless:
            hops.append(len(path) - 1)
            if len(hops) == k:
                break
    return hops


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--switches", type=int, default=500)
    parser.add_argument("--ports", type=int, default=18)
    parser.add_argument("-k", type=int, default=32)
    parser.add_argument("--lossless", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lab", default=ROOT / "build/release/bin/lldp-level-lab")
    parser.add_argument("--sample-paths", default=ROOT / "build/release/bin/sample_paths")
    args = parser.parse_args()
    try:
        import networkx
    except ImportError:
        print("paths.py: there is no networkx here (Debian: python3-networkx), and so nothing to compare with")
        return

    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "fabric.json")
        subprocess.run([args.lab, "topo", "fcplus", str(args.switches), "--ports", str(args.ports), "--seed", str(args.seed),
                        "-o", file], check=True)
        ours = json.loads(subprocess.run(
            [args.sample_paths, file, str(args.k), str(args.lossless), str(args.pairs), str(args.seed)],
            check=True, stdout=subprocess.PIPE).stdout)
        links = [link for link in json.loads(file.read_text())["links"] if "layers" in link]
    graph = networkx.Graph((link["source"], link["target"]) for link in links)
    layers = {}
    for link in links:
        a, b = link["source"], link["target"]
        layers[a, b], layers[b, a] = link["layers"][a], link["layers"][b]

    begin = time.process_time()
    found = [theirs(networkx, graph, layers, pair, args.k, args.lossless) for pair in ours["pairs"]]
    took = time.process_time() - begin
    each = 1000 / len(ours["pairs"])
    print(f"FC+ of {args.switches} switches, {args.ports} ports between them; {args.k} shortest paths, {args.lossless} lossless "
          f"priorities; {len(ours['pairs'])} pairs, seed {args.seed}")
    print(f"ours      {ours['seconds'] * each:10.3f} ms a pair")
    print(f"networkx  {took * each:10.3f} ms a pair (networkx {networkx.__version__})")
    print(f"ratio     {took / ours['seconds']:10.0f}")
    for pair, hops in zip(ours["pairs"], found):
        if pair["hops"] != hops:
            sys.exit(f"paths.py: {pair['from']} to {pair['to']}: our paths have {pair['hops']} hops, networkx's {hops}")


if __name__ == "__main__":
    main()
