#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to speak through lldpd (transport = lldpd): from lldpd's start to the level at every neighbour, for how
long lldpd's first frames are without it, and a new level. Wants root; namespaces of its own.

usage: bench/beside/through.py [PORTS]
"""
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import agents

PORTS = int(sys.argv[1]) if len(sys.argv) > 1 else 256
TR = b"\x00\x80\xc2\x14"
PACKET_OUTGOING, SO_RCVBUFFORCE = 4, 33


class Ours(agents.LldpLevel):
    """Our daemon beside the lldpd of that socket, on the level that its file says."""

    def __init__(self, run, ns, lldpd):
        super().__init__(run, ns)
        self.lldpd, self.config = lldpd, f"{run}/{ns}.level"
        self.pin(3)

    def pin(self, level):
        with open(self.config, "w") as f:
            f.write(f"level = {level}\n")

    def argv(self):
        argv = super().argv() + ["--role", "switch", "--transport", "lldpd", "--lldpd.socket", self.lldpd]
        argv[argv.index("/dev/null")] = self.config
        return argv

    def speaks_through_lldpd(self):
        return self.ready() and self.show()["device"]["transport"] == "lldpd"


def listen(ns, levels, queue, stop):
    """Per interface of `ns` the time of the first frame without a level, and of the first with each of `levels`."""
    agents.enter(ns)
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88CC))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    tap.settimeout(0.1)
    first = {level: {} for level in (None, *levels)}
    while not stop.is_set():
        try:
            frame, address = tap.recvfrom(2000)
        except TimeoutError:
            continue
        at = frame.find(TR)
        level = frame[at + 5] if at >= 0 else None
        if address[2] != PACKET_OUTGOING and level in first:
            first[level].setdefault(address[0], time.monotonic())
    queue.put(first)


def measure(run, a, b):
    pairs = "".join(f"link add p{i} type veth peer name p{i} netns {b}\nlink set p{i} up\n" for i in range(PORTS))
    ups = "".join(f"link set p{i} up\n" for i in range(PORTS))
    subprocess.run(["ip", "-n", a, "-batch", "-"], input=pairs, text=True, check=True)
    subprocess.run(["ip", "-n", b, "-batch", "-"], input=ups, text=True, check=True)
    lldpd = agents.Lldpd(run, a)
    lldpd.socket = f"{run}/lldpd.sock"
    ours = Ours(run, a, lldpd.socket)
    queue, stop = multiprocessing.Queue(), multiprocessing.Event()
    tap = multiprocessing.Process(target=listen, args=(b, (3, 4), queue, stop))
    try:
        ours.start()
        agents.wait_until(ours.ready, 20)
        tap.start()
        time.sleep(0.5)
        began = time.monotonic()
        lldpd.start()
        agents.wait_until(ours.speaks_through_lldpd, 60, 0.02)
        time.sleep(3)
        before = [agent.cpu_s() for agent in (ours, lldpd)]
        changed = time.monotonic()
        ours.pin(4)
        os.kill(ours.process.pid, signal.SIGHUP)
        time.sleep(4)
        cpu = [agent.cpu_s() - was for agent, was in zip((ours, lldpd), before)]
        stop.set()
        first = queue.get()
        tap.join()
    finally:
        for agent in (ours, lldpd):
            if agent.process:
                agent.kill9()
    bare = [first[3][port] - at for port, at in first[None].items() if first[3].get(port, 0) > at]
    print(f"{PORTS} ports, {len(first[3])} told level 3, {len(first[4])} level 4")
    earliest = min(at for ports in first.values() for at in ports.values())
    print(f"lldpd's start to its first frame          {earliest - began:6.2f} s")
    print(f"lldpd's start to the level at all ports   {max(first[3].values()) - began:6.2f} s")
    print(f"ports that sent frames without it first   {len(bare):6}, for at most {max(bare, default=0):.2f} s")
    print(f"a new level at all ports                  {max(first[4].values()) - changed:6.2f} s"
          f" (CPU: ours {1e3 * cpu[0]:.0f} ms, lldpd {1e3 * cpu[1]:.0f} ms)")


def main():
    a, b = (f"through{os.getpid()}{side}" for side in "ab")
    try:
        for ns in (a, b):
            subprocess.run(["ip", "netns", "add", ns], check=True)
        with tempfile.TemporaryDirectory() as run:
            os.chmod(run, 0o755)  # lldpd's own client is another user
            measure(run, a, b)
    finally:
        for ns in (a, b):
            subprocess.run(["ip", "netns", "del", ns])


if __name__ == "__main__":
    main()
