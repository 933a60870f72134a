#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time and system calls of an idle lldp-leveld, with and without rules, and of lldpd, all at once on one machine; and how
long a TCX link that is detached stays away.

usage: bench/beside/idle.py [--ports N] [--seconds S] [--bar RATIO] [--detach N]      (root; namespaces of its own)

Each has N ports and a neighbor of its own kind at each. The CPU time is that of /proc/PID/task/*/schedstat over S seconds. Then
the kernel counts system calls for S seconds more, where it can (raw_syscalls, a histogram by process). At last the links of N
ports (5) are detached, one after the other. Ends with 1 if the daemon with rules takes more than RATIO of lldpd's CPU time (0.6),
or, where the kernel tells of TCX hooks, a link stays away for more than 1 s. Build first: ./run build release
"""
import argparse
import contextlib
import ctypes
import glob
import os
import re
import shutil
import statistics
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agents import Lldpd, LldpLevel, enter, wait_until  # noqa: E402
from beside import TOP, bpffs, pair  # noqa: E402

TRACING = "/sys/kernel/tracing"
TRIGGER = f"{TRACING}/events/raw_syscalls/sys_enter/trigger"
HISTOGRAM = f"{TRACING}/events/raw_syscalls/sys_enter/hist"
COUNT = "hist:keys=common_pid,id.syscall:size=8192"


@contextlib.contextmanager
def counting():
    """A function that tells of each thread how often it made which call; None where the kernel does not count."""
    if not os.path.exists(TRIGGER):
        os.system(f"mount -t tracefs tracefs {TRACING} 2>/dev/null")
    try:
        with open(TRIGGER, "w") as f:
            f.write(COUNT)
    except OSError:
        yield None
        return

    def counts():
        with open(HISTOGRAM) as f:
            found = re.findall(r"common_pid: +(\d+), id: (\w+) .*hitcount: +(\d+)", f.read())
        return [(int(tid), call, int(n)) for tid, call, n in found]

    try:
        yield counts
    finally:
        with open(TRIGGER, "w") as f:
            f.write("!" + COUNT)


def threads(agent):
    return {int(tid) for pid in agent.pids() for tid in os.listdir(f"/proc/{pid}/task")}


def rules_where(agent):
    """Whether its rules are on clsact or on TCX, and whether the kernel tells of changes there."""
    hooks = os.popen(f"ip netns exec {agent.ns} tc filter show dev p0 egress").read()
    watched = "lldp_chains" in os.popen("bpftool prog show 2>/dev/null").read()
    return f"{'clsact' if 'lldp-level' in hooks else 'TCX'}, {'watched' if watched else 'asked at glances'}", watched


class Links:
    """bpf(2), as far as it is about links on TCX hooks: bpftool of Debian 12 does not know them."""
    OBJ_GET, PROG_QUERY, LINK_DETACH = 7, 16, 34
    TCX_EGRESS = 47

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)

    def call(self, command, attr):
        attr = ctypes.create_string_buffer(attr, 128)
        return self.libc.syscall(321, command, attr, 128), attr.raw

    def detach(self, path):
        name = ctypes.create_string_buffer(path.encode())
        link, _ = self.call(self.OBJ_GET, struct.pack("=QI", ctypes.addressof(name), 0))
        if link < 0:
            return False
        done, _ = self.call(self.LINK_DETACH, struct.pack("=I", link))
        os.close(link)
        return done == 0

    def programs(self, ifindex):
        """How many are on the egress hook."""
        result, attr = self.call(self.PROG_QUERY, struct.pack("=IIIIQI", ifindex, self.TCX_EGRESS, 0, 0, 0, 0))
        return struct.unpack_from("=I", attr, 24)[0] if result == 0 else None


def away(agent, place, times):
    """Seconds that the egress link of one port after the other is away; a port of which none is there is left out."""
    took = []
    enter(agent.ns)
    links = Links()
    for path in sorted(glob.glob(f"{place}/lldp-level/*/port-*-egress"))[:times]:
        ifindex = int(path.split("-")[-2])
        begin = time.monotonic()
        if not links.detach(path) or links.programs(ifindex) != 0:
            continue
        while links.programs(ifindex) == 0 and time.monotonic() - begin < 120:
            time.sleep(0.001)
        took.append(time.monotonic() - begin)
        time.sleep(2)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ports", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--bar", type=float, default=0.6)
    parser.add_argument("--detach", type=int, default=5)
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("idle.py: needs root to make network namespaces: run it as root")
    os.chdir(TOP)
    run = tempfile.mkdtemp(prefix="idle.")
    os.chmod(run, 0o755)
    try:
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(bpffs(run))
            agents = {}
            for name, cls, mode in (("rules", LldpLevel, "rules"), ("no rules", LldpLevel, "default"), ("lldpd", Lldpd, "default")):
                a, b = stack.enter_context(pair(run, args.ports, name=name[:2]))
                agents[name] = cls(run, a, mode).start()
                stack.callback(agents[name].kill9)
                peer = cls(run, b).start()
                stack.callback(peer.kill9)
            for name, agent in agents.items():
                if wait_until(lambda: agent.count() >= args.ports, 120, 0.5) is None:
                    sys.exit(f"idle.py: {name}: not all neighbors are known")
            time.sleep(40 + args.ports / 4)  # fast transmissions, and moves to TCX, are over
            where, watched = rules_where(agents["rules"])
            print(f"{args.ports} ports, Linux {os.uname().release}, rules on {where}, {args.seconds} s", flush=True)
            before = {name: agent.cpu_s() for name, agent in agents.items()}
            begin = time.monotonic()
            time.sleep(args.seconds)
            minutes = (time.monotonic() - begin) / 60
            cpu = {name: (agent.cpu_s() - before[name]) / minutes for name, agent in agents.items()}
            with counting() as counts:
                begin = time.monotonic()
                time.sleep(args.seconds if counts else 0)
                found = counts() if counts else []
                minutes = (time.monotonic() - begin) / 60
            for name, agent in agents.items():
                mine = threads(agent)
                calls = {}
                for tid, call, n in found:
                    if tid in mine:
                        calls[call] = calls.get(call, 0) + n
                often = ", ".join(f"{call.removeprefix('sys_')} {n / minutes:.1f}" for call, n in
                                  sorted(calls.items(), key=lambda c: -c[1])[:6])
                print(f"{name:<9} {cpu[name] * 1000:8.1f} ms of CPU a minute, {cpu[name] / cpu['lldpd']:.2f} of lldpd's; "
                      + (f"{sum(calls.values()) / minutes:.0f} calls a minute: {often}" if counts else "calls are not counted here"), flush=True)
            took = away(agents["rules"], place, args.detach)
            if took:
                print(f"a detached link is back after {statistics.median(took) * 1000:.0f} ms, at most {max(took) * 1000:.0f}, n={len(took)}")
    finally:
        shutil.rmtree(run, ignore_errors=True)
    return 0 if cpu["rules"] <= args.bar * cpu["lldpd"] and not (watched and max(took, default=0) > 1) else 1


if __name__ == "__main__":
    sys.exit(main())
