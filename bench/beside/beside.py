#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures lldp-level beside Debian's lldpd, in the same run, on the same links, and prints the ratio.

usage: bench/beside/beside.py [--runs N] [--quick] [NAME...]      (root; namespaces of its own)

Every figure is the median of paired runs: us, lldpd, us, lldpd, ... so that a machine whose speed drifts
moves both. Build first: ./run build release
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agents import Lldpd, LldpLevel, enter, wait_until  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(TOP, "build/release/bin")
LIB = os.path.join(TOP, "build/release/bench")
BLAST = os.path.join(BIN, "blast")
AGENTS = (LldpLevel, Lldpd)
NEIGHBORS = 16


def batch(lines, ns=None):
    subprocess.run(["ip", *(["-n", ns] if ns else []), "-batch", "-"], input="\n".join(lines) + "\n",
                   text=True, check=True, capture_output=True)


@contextlib.contextmanager
def pair(run, links, settle_s=2.5, name=""):
    """Two namespaces joined by `links` veth pairs p0..pN-1, all up; of several at a time each has a name."""
    a, b = (f"beside{os.getpid()}{name}{side}" for side in "ab")
    batch([f"netns add {a}", f"netns add {b}"])
    try:
        batch([f"link add p{i} netns {a} type veth peer name p{i} netns {b}" for i in range(links)])
        for ns in (a, b):
            batch([f"link set {d} up" for d in ["lo", *(f"p{i}" for i in range(links))]], ns)
        time.sleep(settle_s)  # carrier and duplicate address detection
        yield a, b
    finally:
        batch([f"netns del {a}", f"netns del {b}"])
        time.sleep(0.5)


class Listener:
    """Hears LLDP in a namespace without an agent: when each port was first heard, and how many frames."""

    def __init__(self, ns):
        self.heard, self.frames, self.done = {}, [], False
        ready = threading.Event()

        def listen():
            enter(ns)  # a namespace is a thread's
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88CC)) as s:
                s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
                s.settimeout(0.1)
                ready.set()
                while not self.done:
                    try:
                        frame, address = s.recvfrom(2048)
                    except TimeoutError:
                        continue
                    if address[2] == socket.PACKET_OUTGOING:
                        continue
                    now = time.monotonic()
                    self.heard.setdefault(address[0], now)
                    self.frames.append(now)

        self.thread = threading.Thread(target=listen)
        self.thread.start()
        ready.wait()

    def stop(self):
        self.done = True
        self.thread.join()


class Row:
    """One line of the table: a figure of both agents and the bar it is held against."""

    def __init__(self, what, unit, bar, bar_is_ratio=False):
        self.what, self.unit, self.bar, self.bar_is_ratio = what, unit, bar, bar_is_ratio
        self.values = {cls: [] for cls in AGENTS}

    def add(self, cls, value):
        self.values[cls].append(value)

    def median(self, cls):
        values = self.values[cls]
        known = [v for v in values if v is not None]
        return statistics.median(known) if len(known) * 2 > len(values) else None

    def line(self):
        ours, theirs = (self.median(cls) for cls in AGENTS)
        show = lambda cls, v: "-" if not self.values[cls] else "never" if v is None else f"{v:.3g}"
        ratio = ours / theirs if ours is not None and theirs else None
        held = ratio if self.bar_is_ratio else ours
        verdict = "" if self.bar is None else "yes" if held is not None and held <= self.bar else "NO"
        bar = "" if self.bar is None else f"<= {self.bar:g}" + ("x" if self.bar_is_ratio else "")
        n = max(len(v) for v in self.values.values())
        return (f"{self.what:<58} {show(LldpLevel, ours):>9} {show(Lldpd, theirs):>9} {self.unit:<7} "
                f"{'-' if ratio is None else f'{ratio:.3f}':>7}  {bar:<9} {verdict:<4} n={n}")


HEADER = (f"{'':58} {'us':>9} {'lldpd':>9} {'':7} {'ratio':>7}  {'bar':<9} met")


def decode(run, runs, quick):
    """One LLDPDU decoded and validated: our codec, and the decoder inside Debian's lldpd binary."""
    subprocess.run([BLAST, "--write", run], check=True)
    ours = {}
    out = subprocess.run([os.path.join(BIN, "codec_bench"), "--benchmark_format=json",
                          "--benchmark_filter=DecodeTypical|DecodeBroken", "--benchmark_repetitions=3"],
                         capture_output=True, text=True, check=True).stdout
    for b in json.loads(out)["benchmarks"]:
        if b["run_type"] == "iteration":
            ours.setdefault(b.get("label") or "typical", []).append(b["cpu_time"])
    rows = []
    for name in ("typical", "NoTtl", "RunsPastEnd", "EmptyChassis", "ShortOrganizational", "Noise"):
        row = Row(f"decode, {name}", "ns", 100)
        row.values[LldpLevel] = ours[name]
        for _ in range(3):
            probe = subprocess.run(["/usr/sbin/lldpd"], capture_output=True, text=True, env={
                "LLDPDU_FRAME": f"{run}/{name}", "LD_PRELOAD": os.path.join(LIB, "liblldpd_decode.so")})
            row.add(Lldpd, float(probe.stdout.split()[0]))
        rows.append(row)
    return rows


def discover(run, runs, quick):
    """start -> neighbour known, the peer running already; link down -> neighbour gone."""
    known = Row("start -> neighbour known, peer running", "ms", 15)
    gone = Row("link down -> neighbour gone", "ms", 20)
    for _ in range(runs):
        for cls in AGENTS:
            with pair(run, 1) as (a, b):
                peer = cls(run, b, "fast").start()
                wait_until(peer.ready, 20)
                time.sleep(5)
                agent = cls(run, a, "fast").start()
                at = agent.known(70)
                known.add(cls, at and (at - agent.began) * 1e3)
                time.sleep(2.3)
                begin = time.monotonic()
                subprocess.run(["ip", "-n", b, "link", "set", "p0", "down"], check=True)
                at = wait_until(lambda: agent.count() == 0, 30)
                gone.add(cls, at and known.values[cls][-1] and (at - begin) * 1e3)
                agent.stop()
                peer.stop()
    return [known, gone]


def first(run, runs, quick):
    """start -> first frame, nobody else there (as installed: we look for an lldpd first)."""
    row = Row("start -> first frame", "ms", 15)
    for _ in range(runs):
        for cls in AGENTS:
            with pair(run, 1) as (a, b):
                ear = Listener(b)
                agent = cls(run, a).start()
                at = wait_until(lambda: ear.heard, 60)
                row.add(cls, at and (min(ear.heard.values()) - agent.began) * 1e3)
                ear.stop()
                agent.stop()
    return [row]


def start512(run, runs, quick):
    """512 ports: start until every port has been announced; stop; both ends together."""
    n = 64 if quick else 512
    start = Row(f"start with {n} ports until all are announced", "s", 0.05)
    stop = Row(f"stop with {n} ports", "s", 0.3)
    both = Row(f"{n} links, both ends started together, all known", "s", 2)
    for _ in range(runs):
        for cls in AGENTS:
            with pair(run, n) as (a, b):
                ear = Listener(b)
                agent = cls(run, a).start()
                wait_until(lambda: len(ear.heard) >= n, 60)
                start.add(cls, max(ear.heard.values()) - agent.began if len(ear.heard) >= n else None)
                ear.stop()
                wait_until(agent.ready, 30)
                stop.add(cls, agent.stop())
                agents = [cls(run, ns).start() for ns in (a, b)]
                at = wait_until(lambda: all(x.count() >= n for x in agents), 60, 0.02)
                both.add(cls, at and at - agents[0].began)
                for x in agents:
                    x.stop()
    return [start, stop, both]


@contextlib.contextmanager
def bpffs(run):
    """A BPF file system for rules that move to TCX."""
    place = f"{run}/bpf"
    os.makedirs(place, exist_ok=True)
    subprocess.run(["mount", "-t", "bpf", "bpf", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def memory(run, runs, quick):
    """Resident memory and idle CPU, of us also with rules in the kernel."""
    rows = []
    window = 60 if quick else 120  # whole intervals of 30 s
    # Both send and hear the frames of 64 ports in one go twice a minute; of 512, we in eight turns an interval.
    busy = 0.6
    sizes = [(2, 0, 5000), (64, window, None), *([] if quick else [(512, window, None)])]
    for n, window, kb, mode in [(*size, mode) for size in sizes for mode in ("default", "rules")]:
        if mode == "rules" and not window:
            continue
        with_rules = ", rules" if mode == "rules" else ""
        resident = Row(f"RSS, all processes, {n} ports and neighbours{with_rules}", "kB", kb or 0.6, kb is None)
        cpu = Row(f"CPU per minute, idle, {n} ports{with_rules}", "s", busy, True)
        rows += [resident] + ([cpu] if window else [])
        for cls in AGENTS:
            with pair(run, n) as (a, b), bpffs(run):
                agent = cls(run, a, mode).start()
                wait_until(agent.ready, 60)
                peer = cls(run, b).start()
                wait_until(lambda: agent.count() >= n, 90, 0.1)
                time.sleep(10 + (n / 4 if mode == "rules" else 0))  # fast transmissions, and moves to TCX, are over
                if window:
                    begin, spent = time.monotonic(), agent.cpu_s()
                    time.sleep(window)
                    cpu.add(cls, (agent.cpu_s() - spent) * 60 / (time.monotonic() - begin))
                resident.add(cls, agent.memory_kb())
                agent.stop()
                peer.stop()
    return rows


def receive(run, runs, quick):
    """CPU per received frame by kind at 100,000 frames/s, at 10,000; frames lost at 500,000."""
    count = 50_000 if quick else 400_000
    kinds = {"same": 1.0, "vary": 1.3, "bad": 1.0}
    rows = {k: Row(f"receive CPU per frame at 100,000/s, {k}", "us", bar) for k, bar in kinds.items()}
    slow = Row("receive CPU per frame at 10,000/s, same", "us", 3)
    lost = Row("frames lost at 500,000 frames/s, same", "%", 0)
    with contextlib.ExitStack() as stack:
        for cls in AGENTS:
            with pair(run, 1) as (a, b):
                agent = cls(run, a).start()
                wait_until(agent.ready, 20)
                time.sleep(1)

                def blast(kind, rate, count=count):
                    seen, spent = agent.received("p0"), agent.cpu_s()
                    subprocess.run([BLAST, "p0", kind, str(count), str(NEIGHBORS), str(rate)], check=True,
                                   preexec_fn=lambda: enter(b), stdout=subprocess.DEVNULL)
                    last = -1.0
                    while agent.cpu_s() - last > 0.002:  # drained when it no longer works
                        last = agent.cpu_s()
                        time.sleep(0.3)
                    return agent.received("p0") - seen, agent.cpu_s() - spent

                for _ in range(runs):
                    for kind, row in rows.items():
                        got, cpu = blast(kind, 100_000)
                        row.add(cls, cpu / got * 1e6 if got else None)
                    got, cpu = blast("same", 10_000, count // 10)
                    slow.add(cls, cpu / got * 1e6 if got else None)
                    got, _ = blast("same", 500_000)
                    lost.add(cls, 100 * (1 - got / count))
                agent.stop()
    return [*rows.values(), slow, lost]


def burst(run, runs, quick):
    """The most periodic frames of many ports in any 100 ms."""
    n = 64 if quick else 512
    # 64 ports go together: the frames of each alone would cost a wake-up each, here and at the neighbors.
    row = Row(f"{n} ports: most periodic frames in 100 ms", "frames", 64)
    for cls in AGENTS:
        with pair(run, n) as (a, b):
            agent = cls(run, a).start()
            wait_until(agent.ready, 60)
            time.sleep(5)
            ear = Listener(b)
            time.sleep(35 if quick else 95)
            ear.stop()
            agent.stop()
            frames = ear.frames
            row.add(cls, max((sum(1 for f in frames[i:i + 2000] if f < t + 0.1) for i, t in enumerate(frames)),
                             default=None))
    return [row]


def sixty(run, runs, quick):
    """60 agents on one machine: proportional memory of each."""
    n = 60
    row = Row("PSS of each of 60 agents", "kB", 1024)
    for cls in AGENTS:
        names = [f"beside{os.getpid()}n{i}" for i in range(n)]
        batch([f"netns add {x}" for x in names])
        try:
            batch([f"link add p0 netns {names[i]} type veth peer name p1 netns {names[(i + 1) % n]}"
                   for i in range(n)])
            for x in names:
                batch(["link set lo up", "link set p0 up", "link set p1 up"], x)
            time.sleep(2)
            agents = [cls(run, x).start() for x in names]
            wait_until(lambda: all(x.ready() for x in agents), 60, 0.2)
            time.sleep(8)
            row.add(cls, statistics.mean(x.memory_kb("Pss") for x in agents))
            for x in agents:
                x.stop()
        finally:
            batch([f"netns del {x}" for x in names])
    return [row]


def lab(*words):
    """lldp-level-lab, its standard error returned; nothing where it failed."""
    done = subprocess.run([os.path.join(BIN, "lldp-level-lab"), *words], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    return done.stderr if done.returncode == 0 else None


def clos(run, runs, quick):
    """3-level Clos, 60 namespaces, 128 links: first launch -> every level and port type right, of us alone."""
    row = Row("3-level Clos, 60 agents: first launch -> all right", "s", 0.7)
    fabric, prefix = f"{run}/clos.json", f"beside{os.getpid()}"
    place = ["--prefix", prefix, "--dir", f"{run}/lab"]
    lab("topo", "clos", "--switches", "16,8,4", "--pods", "4", "--hosts", "32", "--links-per-host", "2",
        "-o", fabric)
    for _ in range(runs):
        if lab("live", "up", fabric, *place) is None:
            sys.exit("beside.py: lldp-level-lab live up failed: is an earlier lab still up?")
        try:
            time.sleep(2.5)  # carrier and duplicate address detection
            took = re.search(r"right after ([0-9.]+) s", lab("live", "run", fabric, *place) or "")
            row.add(LldpLevel, took and float(took[1]))
        finally:
            lab("live", "down", *place)
    return [row]


def converge(run, runs, quick):
    """A fat-tree in virtual time, by the agents' own core: no namespaces, and nothing to hold it against."""
    k = 16 if quick else 32
    settled = Row(f"fat-tree k={k}, 1 ms links: all right after the last start", "s", 0.1)
    wall = Row(f"fat-tree k={k}: time it takes to simulate", "s", 10)
    peak = Row(f"fat-tree k={k}: peak memory", "MB", 1000)
    fabric = f"{run}/fattree.json"
    lab("topo", "fattree", str(k), "--delay-ns", "1000000", "-o", fabric)
    for seed in range(1, runs + 1):
        begin = time.monotonic()
        with subprocess.Popen([os.path.join(BIN, "lldp-level-lab"), "converge", fabric, "--json", "--seed",
                               str(seed)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            out = process.stdout.read()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0  # it has been waited for
        wall.add(LldpLevel, time.monotonic() - begin)
        peak.add(LldpLevel, usage.ru_maxrss / 1000)
        settled.add(LldpLevel, json.loads(out)["convergence_s"])
    return [settled, wall, peak]


BENCHES = {f.__name__: f
           for f in (decode, discover, first, start512, memory, receive, burst, sixty, clos, converge)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="\n".join(f"{n:<10} {f.__doc__}" for n, f in BENCHES.items()))
    parser.add_argument("--runs", type=int, default=5, help="paired runs (default 5)")
    parser.add_argument("--quick", action="store_true", help="64 ports in place of 512, shorter windows")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which benchmarks (default: all)")
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in BENCHES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    if os.geteuid() != 0:
        sys.exit("beside.py: needs root to make network namespaces: run it as root")
    os.chdir(TOP)
    for program in (LldpLevel.binary, BLAST, os.path.join(BIN, "lldp-level-lab"), "/usr/sbin/lldpd"):
        if not os.path.exists(program):
            sys.exit(f"beside.py: {program} is missing: run ./run setup and ./run build release")
    version = subprocess.run(["/usr/sbin/lldpd", "-v"], capture_output=True, text=True).stdout.strip()
    print(f"lldp-level beside lldpd {version}, {os.cpu_count()} cores, kernel {os.uname().release}\n{HEADER}",
          flush=True)
    run = tempfile.mkdtemp(prefix="beside.")
    os.chmod(run, 0o755)  # lldpd takes its configuration as a user of its own, over its socket in here
    try:
        for name in args.names or BENCHES:
            for row in BENCHES[name](run, args.runs, args.quick):
                print(row.line(), flush=True)
    finally:
        shutil.rmtree(run)


if __name__ == "__main__":
    main()
