#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of training as a GOAL trace: every group of ranks does a ring all-reduce, then smaller groups exchange all to all.

goal.py FILE [--ranks 1024] [--ring 128] [--exchange 64] [--octets 1000000]

Ranks of a group follow each other. In a ring of N each rank sends N - 1 chunks of --octets and then as many again, each when the one before
has come; in an exchange each sends --octets to every other one of its group. Run it by `lldp-level-lab sim --topology FABRIC --traffic FILE`."""
import argparse


def step(ranks, ring, exchange, octets):
    yield f"num_ranks {ranks}\n"
    for rank in range(ranks):
        yield f"rank {rank} {{\n"
        group = rank - rank % ring
        after, before = group + (rank + 1 - group) % ring, group + (rank - 1 - group) % ring
        for i in range(2 * (ring - 1)):
            yield f"s{i}: send {octets}b to {after} tag {i}\nr{i}: recv {octets}b from {before} tag {i}\n"
            if i:
                yield f"s{i} requires r{i - 1}\n"
        last = f"r{2 * (ring - 1) - 1}"
        group = rank - rank % exchange
        for peer in range(group, group + exchange):
            if peer != rank:
                yield f"x{peer}: send {octets}b to {peer} tag 9999\nx{peer} requires {last}\ny{peer}: recv {octets}b from {peer} tag 9999\n"
        yield "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    for name, value in (("ranks", 1024), ("ring", 128), ("exchange", 64), ("octets", 1_000_000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    words = parser.parse_args()
    with open(words.file, "w", encoding="ascii") as out:
        out.writelines(step(words.ranks, words.ring, words.exchange, words.octets))


if __name__ == "__main__":
    main()
