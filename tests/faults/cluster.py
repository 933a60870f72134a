#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster of 100 agents, each a process in a namespace of its own: 2 spines, 4 pods of 2 aggregation switches and 4 leaves,
74 hosts. All start at once. Then agents restart, are killed, a leaf loses its state, a leaf is replaced by another device, a
leaf is added and removed. After each, levels and labels are held against the plan, and `lldp-level-lab collect --expect`
against its cables: two hosts share a label exactly if they are below one leaf, pod or fabric, and no label changes but
those of hosts whose own leaf is another one. Exit status 0 if that holds.

usage: cluster.py [--bin DIR] [--seed N]"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import time

from rig import Lab, Verdicts, eventually, run

PODS, AGGS, LEAVES, SPINES, AGENTS = 4, 2, 4, 2, 100
PATIENCE = 600  # s: only a cluster that hangs takes so long
STAYS = 10  # s for which nothing may change then: acknowledgements, levels that are withdrawn, late hints
LEVELS = {"host": 0, "leaf": 1, "agg": 2, "spine": 3}


class Cluster:
    def __init__(self, lab):
        self.lab, self.spaces, self.daemons, self.cables, self.chassis = lab, {}, {}, {}, {}
        self.leaf_of, self.pod_of = {}, {}  # of a host its leaf, of a leaf its pod: the plan
        for s in range(SPINES):
            self.add(f"spine{s}")
        for pod in range(PODS):
            for a in range(AGGS):
                self.add(f"agg{pod}-{a}")
                self.cable(f"agg{pod}-{a}", f"spine{a % SPINES}")
        leaves = [f"leaf{pod}-{n}" for pod in range(PODS) for n in range(LEAVES)]
        hosts = AGENTS - len(self.daemons) - len(leaves)
        for n, leaf in enumerate(leaves):
            self.add_leaf(leaf, int(leaf[4]), hosts // len(leaves) + (n < hosts % len(leaves)))

    def add(self, name):
        self.spaces[name] = self.lab.space(name)
        self.chassis[name] = name
        role = "host" if name.startswith("host") else "switch"
        self.daemons[name] = self.lab.daemon(self.spaces[name], "--role", role, "--system-name", name)
        self.tell(name)

    def tell(self, name):
        self.daemons[name].configure(f"chassis-id = {self.chassis[name]}\n")

    def cable(self, below, above):
        """Ports are named after the other end's device."""
        self.lab.cable(self.spaces[below], above, self.spaces[above], below)
        self.cables[below, above] = True

    def add_leaf(self, leaf, pod, hosts):
        self.add(leaf)
        self.pod_of[leaf] = pod
        for a in range(AGGS):
            self.cable(leaf, f"agg{pod}-{a}")
        for h in range(hosts):
            host = f"host{leaf[4:]}-{h}"
            self.add(host)
            self.leaf_of[host] = leaf
            self.cable(host, leaf)
        return [leaf] + self.hosts_of(leaf)

    def hosts_of(self, leaf):
        return [h for h, its in self.leaf_of.items() if its == leaf]

    def remove_leaf(self, leaf):
        for name in [leaf] + self.hosts_of(leaf):
            self.daemons.pop(name).end()
            for cable in [c for c in self.cables if name in c]:
                run("ip", "-n", self.spaces[cable[0]], "link", "del", cable[1])
                del self.cables[cable]
            self.leaf_of.pop(name, None)
        del self.pod_of[leaf]

    def replug(self, leaf):
        """All its cables anew, as another device in its place has them: no rules, and no carrier meanwhile."""
        mine = [cable for cable in self.cables if leaf in cable]
        for below, above in mine:
            run("ip", "-n", self.spaces[below], "link", "del", above)
        for cable in mine:
            self.cable(*cable)

    def client(self, name, *words):
        return subprocess.run([self.lab.programs / "lldp-level", *words, "--socket", self.daemons[name].socket],
                              capture_output=True, text=True)

    def each(self, ask):
        """What ask(NAME) says of every device."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return dict(zip(self.daemons, pool.map(ask, list(self.daemons))))

    def labels(self, host):
        """The labels of tiers 1 to 3 by its own word; fewer while they are not known."""
        return tuple(re.findall(r"^lldp-level\.tier-\d+=(.+)$", self.client(host, "location", "--labels").stdout, re.M))

    def faults(self):
        """Every level and label that is not as planned."""
        levels = self.each(lambda name: self.daemons[name].level())
        wrong = [f"{name}: level {level}" for name, level in levels.items() if level != LEVELS[re.match("[a-z]+", name)[0]]]
        ids, told = {}, self.each(lambda name: self.labels(name) if name in self.leaf_of else ())
        for host, leaf in self.leaf_of.items():
            if len(told[host]) != 3:
                wrong.append(f"{host}: labels {told[host]}")
                continue
            for tier, group in enumerate((leaf, self.pod_of[leaf], "fabric")):
                ids.setdefault((tier, told[host][tier]), set()).add(group)
                ids.setdefault((tier, "group", group), set()).add(told[host][tier])
        wrong += [f"tier {key[0] + 1}: {key[-1]} stands for {sorted(map(str, found))}" for key, found in ids.items() if len(found) > 1]
        return wrong, {host: told[host] for host in self.leaf_of}

    def settles(self):
        """Waits until all is as planned and stays so; (what is not, labels, s until it was first)."""
        began, last = time.monotonic(), [(["no answer"], {})]
        first = [0.0]

        def right():
            last[0] = self.faults()
            return not last[0][0]

        def stays():
            if not eventually(right, PATIENCE):
                return True
            first[0], labels = time.monotonic() - began, last[0][1]
            time.sleep(STAYS)
            return right() and last[0][1] == labels

        eventually(stays, PATIENCE)
        return *last[0], first[0]

    def collect(self):
        """`collect --expect` on what all devices tell: (exit status, its report)."""
        dumps, plan = self.lab.directory / "dumps", self.lab.directory / "plan.csv"
        run("rm", "-rf", dumps)
        dumps.mkdir()

        def dump(name):
            (dumps / f"{name}.show.json").write_text(self.client(name, "show", "--json").stdout)
            (dumps / f"{name}.rules.json").write_text(self.client(name, "rules", "--json").stdout)

        self.each(dump)
        plan.write_text("source,source port,destination,destination port\n" +
                        "".join(f"{below},{above},{above},{below}\n" for below, above in self.cables))
        done = subprocess.run([self.lab.programs / "lldp-level-lab", "collect", dumps, "--expect", plan, "-o",
                               self.lab.directory / "now.json"], capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).strip()

    def memory(self):
        """Resident kB: (all processes, the largest)."""
        each = [daemon.status("VmRSS") for daemon in self.daemons.values()]
        return sum(each), max(each)


def churn(cluster, chance):
    """(what is done, hosts whose own leaf is another one afterwards), each done as it is taken."""
    names = sorted(cluster.daemons)
    ten = chance.sample(names, 10)
    for name in ten:
        cluster.daemons[name].end(15)
    for name in ten:
        cluster.daemons[name].start()
    yield "restart 10", []
    five = chance.sample(names, 5)
    for name in five:
        cluster.daemons[name].end(9)
    for name in five:
        cluster.daemons[name].start()
    yield "kill 5", []
    leaf = chance.choice(sorted(cluster.pod_of))
    cluster.daemons[leaf].end(9)
    cluster.daemons[leaf].state.unlink()
    cluster.daemons[leaf].start()
    yield f"{leaf} loses its state", []
    leaf = chance.choice(sorted(cluster.pod_of))
    cluster.daemons[leaf].end(9)
    cluster.daemons[leaf].state.unlink()
    cluster.replug(leaf)
    cluster.chassis[leaf] += "-new"
    cluster.tell(leaf)
    cluster.daemons[leaf].start()
    yield f"{leaf} is replaced", cluster.hosts_of(leaf)
    pod = chance.randrange(PODS)
    added = f"leaf{pod}-{LEAVES}"
    for name in cluster.add_leaf(added, pod, 2):
        cluster.daemons[name].start()
    yield f"{added} is added", []
    cluster.remove_leaf(added)
    yield f"{added} is removed", []


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("cluster: skipped: network namespaces need root")
        return 77
    with Lab(os.path.abspath(args.bin)) as lab:
        return 0 if watch(Cluster(lab), random.Random(args.seed)) else 1


def watch(cluster, chance):
    verdicts = Verdicts()

    def hold(what, before, moved):
        wrong, labels, took = cluster.settles()
        changed = [f"{host}: {before[host]} is now {labels.get(host)}" for host in before
                   if host in cluster.leaf_of and host not in moved and labels.get(host) != before[host]]
        status, report = cluster.collect()
        planned = re.search(r"(\d+) of (\d+) planned cables are right", report)
        fine = status == 0 and planned and planned[1] == planned[2] == str(len(cluster.cables))
        bad = wrong + changed + ([] if fine else [f"collect: status {status}", *report.splitlines()])
        verdicts.add(what, f"{len(cluster.daemons)} agents, {planned[0] if planned else 'no plan held'}, "
                     f"{len(changed)} labels changed, {took:.0f} s" + "".join(f"\n    {x}" for x in bad[:12]), not bad)
        return labels

    for daemon in cluster.daemons.values():
        daemon.start()
    labels = hold("start", {}, [])
    everything, largest = cluster.memory()
    print(f"  resident: {everything // 1024} MB in {len(cluster.daemons)} processes, {largest} kB in the largest", flush=True)
    for what, moved in churn(cluster, chance):
        labels = hold(what, labels, moved)
    return verdicts.print()


if __name__ == "__main__":
    sys.exit(main())
