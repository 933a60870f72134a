#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary fabric that is healthy: two spines, three leaves, two hosts with lldpd at each, lldpd beside the agent of a
leaf. Links flap and daemons restart. (A host with an agent tells no PFC on a veth, and a leaf says so: the last hop is
unverified.) `check` may leave 0 only at a device that such an
event concerns, while it lasts and some seconds after; it names what is wrong; and no alarm comes more often than events do.
Exit status 0 if that holds.

usage: healthy.py [--bin DIR] [--seed N] [SECONDS]"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time

from rig import Lab, Verdicts, eventually, run

SETTLES = 8  # s after an event, and after the start: a second of grace of lldpd's, acknowledgements, rules that move to TCX
LEAVES, SPINES, HOSTS = 3, 2, 2
CHASSIS = re.compile(r"alarm ([\w-]+)(?: ([\w.]+))?:")


class Fabric:
    def __init__(self, lab):
        self.lab, self.spaces, self.daemons, self.cables = lab, {}, {}, []
        self.lldpds = {}  # by the name of their device
        for s in range(SPINES):
            self.add(f"spine{s}", "switch")
        for leaf in range(LEAVES):
            self.add(f"leaf{leaf}", "switch", "--transport", "lldpd" if leaf == 0 else "packet")
            for s in range(SPINES):
                self.cable(f"leaf{leaf}", f"u{s}", f"spine{s}", f"d{leaf}")
            for h in range(HOSTS):
                host = f"h{leaf}{h}"
                self.spaces[host] = lab.space(host)
                self.cable(f"leaf{leaf}", f"h{h}", host, "n0")

    def add(self, name, role, *options):
        self.spaces[name] = self.lab.space(name)
        self.daemons[name] = self.lab.daemon(self.spaces[name], "--role", role, "--system-name", name, "--chassis-id", name,
                                             *options)

    def cable(self, a, a_port, b, b_port):
        self.lab.cable(self.spaces[a], a_port, self.spaces[b], b_port)
        self.cables.append((a, a_port, b, b_port))

    def lldpd(self, name):
        """lldpd in that namespace; its socket is where the agent looks for it, for it alone."""
        socket = self.lab.directory / f"{name}.lldpd"
        self.lldpds[name] = subprocess.Popen(
            ["ip", "netns", "exec", self.spaces[name], "/usr/sbin/lldpd", "-d", "-u", socket, "-O", "/dev/null", "-L",
             "/usr/sbin/lldpcli"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return socket

    def end_lldpd(self, name):
        process = self.lldpds.pop(name)
        process.terminate()
        process.wait()

    def start(self):
        socket = self.lldpd("leaf0")
        self.daemons["leaf0"].command += ["--lldpd.socket", str(socket)]
        for host in set(self.spaces) - set(self.daemons):
            self.lldpd(host)
        for daemon in self.daemons.values():
            daemon.start()

    def end(self):
        for name in list(self.lldpds):
            self.end_lldpd(name)

    def check(self, name):
        """(exit status, the line)."""
        done = subprocess.run([self.lab.programs / "lldp-level", "check", "--socket", self.daemons[name].socket],
                              capture_output=True, text=True)
        return done.returncode, done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("seconds", nargs="?", type=int, default=300)
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("healthy: skipped: network namespaces need root")
        return 77
    if not shutil.which("lldpd"):
        print("healthy: skipped: lldpd is not installed")
        return 77
    chance = random.Random(args.seed)
    with Lab(os.path.abspath(args.bin)) as lab:
        os.chmod(lab.directory, 0o755)  # lldpd ends the pause in which it starts as a user of its own, over its socket there
        fabric = Fabric(lab)
        try:
            return 0 if watch(fabric, chance, args.seconds) else 1
        finally:
            fabric.end()


def watch(fabric, chance, seconds):
    verdicts, checks, unexplained, nameless = Verdicts(), 0, [], []
    fabric.start()
    names = list(fabric.daemons)
    def all_fine():
        return all(fabric.check(n)[0] == 0 for n in names)

    fine = eventually(all_fine, 120)
    time.sleep(SETTLES)
    fine = fine and eventually(all_fine, 60)
    verdicts.add("start", "all devices fine" if fine else
                 "; ".join(line for n in names for status, line in [fabric.check(n)] if status), fine)
    wrong_until, events, raised, standing, later = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0), {}, {}, []
    begin = time.monotonic()
    flaps = restarts = 0

    def concern(name, until):
        if name in wrong_until:
            wrong_until[name] = max(wrong_until[name], until + SETTLES)
            events[name] += 1

    while fine and (now := time.monotonic()) < begin + seconds + SETTLES:
        for due in [x for x in later if x[0] <= now]:
            later.remove(due)
            due[1]()
        if now < begin + seconds and chance.random() < 0.15:
            lasts = chance.choice([0.1, 0.5, 1, 2])
            if chance.random() < 0.7:
                a, port, b, _ = chance.choice(fabric.cables)
                end = (a, port)
                run("ip", "-n", fabric.spaces[a], "link", "set", end[1], "down")
                later.append((now + lasts, lambda a=a, p=port: run("ip", "-n", fabric.spaces[a], "link", "set", p, "up")))
                for name in (a, b):
                    concern(name, now + lasts)
                flaps += 1
            else:
                name = chance.choice(sorted(fabric.spaces))
                if not any(x[2:] == (name,) for x in later):
                    if name in names:
                        fabric.daemons[name].end(chance.choice([15, 15, 9]))
                        later.append((now + lasts, fabric.daemons[name].start, name))
                    else:
                        fabric.end_lldpd(name)
                        later.append((now + lasts, lambda n=name: fabric.lldpd(n), name))
                    for other in {x for c in fabric.cables if name in (c[0], c[2]) for x in (c[0], c[2])}:
                        concern(other, now + lasts)
                    restarts += 1
        for name in names:
            status, line = fabric.check(name)
            checks += 1
            at = time.monotonic()
            if status and at > wrong_until[name]:
                unexplained.append(f"{at - begin:.0f} s, {name}: {line}")
            if status and status != 3 and not re.search(r"alarm |protection (partial|failed)|no level", line):
                nameless.append(line)
            alarms = set(CHASSIS.findall(line)) if status else set()
            for alarm in alarms - standing.get(name, set()):
                raised[name, alarm] = raised.get((name, alarm), 0) + 1
            standing[name] = alarms
        time.sleep(max(0.0, 1 - (time.monotonic() - now)))
    flapping = [f"{name}: {' '.join(alarm)} {n} times with {events[name]} events"
                for (name, alarm), n in raised.items() if n > events[name]]
    verdicts.add("healthy", f"{checks} checks of {len(names)} devices in {time.monotonic() - begin:.0f} s, {flaps} flaps, "
                 f"{restarts} restarts: {len(unexplained)} not 0 without a cause" +
                 "".join(f"\n    {x}" for x in unexplained[:10]), fine and flaps and restarts and not unexplained)
    verdicts.add("named", f"{len(nameless)} lines that name nothing" + "".join(f"\n    {x}" for x in nameless[:5]), not nameless)
    verdicts.add("steady", f"{len(flapping)} alarms that come more often than events" +
                 "".join(f"\n    {x}" for x in flapping[:5]), not flapping)
    return verdicts.print()


if __name__ == "__main__":
    sys.exit(main())
