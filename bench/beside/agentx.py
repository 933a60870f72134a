#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a manager walks LLDP-MIB of a switch with 512 ports, a neighbor at each, through snmpd: what lldp-level-agentx tells
for our daemon beside what lldpd tells itself (-x), of the same neighbors in the same run, and as many objects of snmpd's own, for
no subagent can be quicker than that; and what the subagent weighs. As root."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from agents import Lldpd, LldpLevel, wait_until
from beside import BIN, pair

ROOT = "1.0.8802.1.1.2"
REMOTE = ROOT + ".1.4.1.1"  # lldpRemTable
INTERFACES = "1.3.6.1.2.1.2.2"  # ifTable


class Snmpd:
    """Debian's, in a namespace, with an AgentX socket of its own."""

    def __init__(self, run, ns, port):
        self.inside = ["ip", "netns", "exec", ns]
        self.address = f"127.0.0.1:{port}"
        self.master = f"{run}/agentx{port}"
        pathlib.Path(f"{run}/conf{port}").write_text(
            f"rocommunity public 127.0.0.1\nmaster agentx\nagentXSocket {self.master}\nagentAddress udp:{self.address}\n")
        self.process = subprocess.Popen(
            [*self.inside, "env", f"SNMP_PERSISTENT_DIR={run}/state{port}", "snmpd", "-f", "-Lf", "/dev/null", "-C", "-c",
             f"{run}/conf{port}", "-I", "-smux"])
        wait_until(lambda: os.path.exists(self.master), 10)

    def walk(self, program, root):
        """(seconds, objects)"""
        begin = time.monotonic()
        text = subprocess.run([*self.inside, program, "-v2c", "-cpublic", "-m", "", "-On", "-r0", "-t5", self.address, root],
                              capture_output=True, text=True).stdout
        return time.monotonic() - begin, sum(" = " in line and "No Such" not in line for line in text.splitlines())


class LldpdOverAgentx(Lldpd):
    def __init__(self, run, ns, master):
        super().__init__(run, ns)
        self.master = master

    def argv(self):
        return [*super().argv(), "-x", "-X", self.master, "-r"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ports", type=int, default=512)
    arguments.add_argument("--runs", type=int, default=5)
    arguments = arguments.parse_args()
    ports = arguments.ports
    if os.geteuid() != 0:
        sys.exit("bench/beside/agentx.py: wants root")
    LldpLevel.binary = f"{BIN}/lldp-leveld"
    with tempfile.TemporaryDirectory() as run, pair(run, ports) as (here, there):
        os.chmod(run, 0o755)  # lldpd and its client are there as a user of their own
        masters, running = [], []
        try:
            for port in 10161, 10162:
                masters.append(Snmpd(run, here, port))
                running.append(masters[-1].process)
            ours = LldpLevel(run, here).start()
            running.append(ours.process)
            subagent = subprocess.Popen([*masters[0].inside, f"{BIN}/lldp-level-agentx", ours.socket, masters[0].master])
            running.append(subagent)
            os.mkdir(f"{run}/lldpd")  # each agent's files are named by its namespace
            running.append(LldpdOverAgentx(f"{run}/lldpd", here, masters[1].master).start().process)
            running.append(LldpLevel(run, there).start().process)
            for master in masters:
                if not wait_until(lambda: master.walk("snmpbulkwalk", REMOTE + ".9")[1] == ports, 90, poll_s=1):
                    sys.exit("bench/beside/agentx.py: not every neighbor is told")
            print(f"{ports} ports, a neighbor at each: seconds, the median of {arguments.runs} walks of each in turn")
            print(f"{'':40} {'us':>16} {'lldpd -x':>16}  an object, us / lldpd")
            for program in "snmpwalk", "snmpbulkwalk":
                for what, root in ("lldpRemTable", REMOTE), ("all of lldpMIB", ROOT), ("snmpd's own ifTable", INTERFACES):
                    walks = [[master.walk(program, root) for master in masters] for _ in range(arguments.runs)]
                    took = [statistics.median(seconds for seconds, _ in of_one) for of_one in zip(*walks)]
                    objects = [of_one[-1][1] for of_one in zip(*walks)]
                    shown = [f"{t:.2f} s {n:>6}" for t, n in zip(took, objects)]
                    print(f"  {program + ' of ' + what:38} {shown[0]:>16} {shown[1]:>16}  "
                          f"{took[0] / objects[0] / (took[1] / objects[1]):.3f}")
            # The process inside `ip netns exec` is the same one: it execs.
            rollup = pathlib.Path(f"/proc/{subagent.pid}/smaps_rollup").read_text()
            print(f"  the subagent's PSS: {int(re.search(r'Pss: +([0-9]+)', rollup)[1]) / 1024:.1f} MB")
        finally:
            for process in reversed(running):
                process.terminate()
            for process in running:
                process.wait()


if __name__ == "__main__":
    main()
