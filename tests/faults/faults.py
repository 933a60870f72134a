#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real daemons, real links, and what goes wrong in years of running: kills at random moments, system calls that fail,
interfaces that come and go, a hostile neighbour. Prints a table; exit status 0 if every bar is held.

usage: faults.py [--bin DIR] [--seconds N] [--seed N] [SCENARIO...]     scenarios: kills syscalls storm flood toggle"""
import argparse
import functools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

from rig import Faults, Lab, Verdicts, eventually, run

MEMORY_KB = 16 << 10  # under a flood
ANSWER_MS = 100
TOGGLES = 100_000  # frames/s
TOGGLE_ANSWER_MS = 20  # for 99 of 100; a single one may have waited for another process, ANSWER_MS at most
TRIES = 3  # of what is too slow only: somebody else may have had the machine
TOGGLE_CPU = 0.6  # of a core
MOST = 40  # interfaces at a time
GROWTH = 1.05  # of memory from the first to the last interface


def fabric(lab, faults=None):
    """A switch of level 1 under test: a host at p1, at p0 a switch that stands above it whatever its level, 1 to 3."""
    test, above, below = lab.space("test"), lab.space("above"), lab.space("below")
    lab.cable(test, "p0", above, "p0")
    lab.cable(test, "p1", below, "p1")
    for space, options in ((above, ("--role", "switch", "--level", "5", "--backend", "none")),
                           (below, ("--role", "host", "--backend", "none"))):
        lab.daemon(space, *options).start()
    tested = lab.daemon(test, "--role", "switch", faults=faults)
    tested.start()
    return tested


def settled(daemon, level=1):
    """Its level and the rules of the port upwards, once they are there."""
    def is_up():  # a port of unknown order has rules too
        return any(p["name"] == "p0" and p["order"] == "up" for p in (daemon.ask() or {"ports": []})["ports"])

    if not eventually(lambda: daemon.level() == level and is_up() and len(daemon.rules("p0")) == 2):
        raise RuntimeError("no level or no rules:\n" + "\n".join(daemon.lines()))
    return daemon.rules("p0")


def kills(args, verdicts):
    """SIGKILL at random moments, in a fabric and to one that does nothing but write its state file."""
    with Lab(args.bin) as lab:
        spine, leaves, hosts = lab.space("spine"), [], []
        nodes = [(lab.daemon(spine, "--role", "switch"), 2, ["d0", "d1"])]
        for i in range(2):
            leaves.append(lab.space(f"leaf{i}"))
            hosts.append(lab.space(f"host{i}"))
            lab.cable(leaves[i], "u0", spine, f"d{i}")
            lab.cable(leaves[i], "d0", hosts[i], "p0")
            nodes.append((lab.daemon(leaves[i], "--role", "switch"), 1, ["u0", "d0"]))
            lab.daemon(hosts[i], "--role", "host", "--backend", "none").start()
        for daemon, *_ in nodes:
            daemon.start()
        if not eventually(lambda: all(d.level() == level for d, level, _ in nodes), 20):
            raise RuntimeError("the fabric does not find its levels")
        time.sleep(1)
        rules = {(d, p): d.rules(p) for d, _, ports in nodes for p in ports}

        end = time.monotonic() + args.seconds / 2
        writer = {"kills": 0, "torn": 0, "saved": 0}
        thread = threading.Thread(target=write_state, args=(args, lab, end, writer))
        thread.start()
        count = wrong_level = wrong_rules = torn = 0

        def wrong(daemon, ports, when):
            """Ports that have not the rules they had."""
            found = [(p, daemon.rules(p)) for p in ports]
            bad = [(p, now) for p, now in found if now != rules[daemon, p]]
            for p, now in bad:
                print(f"  {daemon.space} {p} {when}: {now} instead of {rules[daemon, p]}")
                for d, *_ in nodes:
                    print(f"  {d.space}:", *d.lines()[-12:], sep="\n    ")
            return len(bad)

        while time.monotonic() < end:
            daemon, level, ports = args.random.choice(nodes)
            time.sleep(args.random.uniform(0, 1))
            daemon.end()
            count += 1
            torn += not daemon.state_is_whole()
            wrong_rules += wrong(daemon, ports, "after a kill")
            daemon.start()
            if args.random.random() < 0.3:  # in the middle of its start
                time.sleep(args.random.uniform(0, 0.03))
                daemon.end()
                count += 1
                daemon.start()
            shown = daemon.answers()
            wrong_level += not shown or shown["device"]["level"] != level
            wrong_rules += wrong(daemon, ports, "after a start")
        thread.join()
        verdicts.add("kill -9, fabric of 5", f"{count} kills: {wrong_level} wrong levels, {wrong_rules} wrong rules, "
                     f"{torn} torn state files", not (wrong_level or wrong_rules or torn) and count > 0)
        verdicts.add("kill -9, state file", f"{writer['kills']} kills, {writer['saved']} times another: "
                     f"{writer['torn']} torn", writer["torn"] == 0 and writer["saved"] > 0)


def write_state(args, lab, end, out):
    """A daemon whose chassis ID changes all the time, so that kills meet it while it writes."""
    rng = random.Random(args.seed + 1)
    daemon = lab.daemon(lab.space("writer"), "--role", "switch", "--backend", "none")
    before = None
    while time.monotonic() < end:
        daemon.start()
        if not daemon.answers():
            raise RuntimeError("does not start: " + "\n".join(daemon.lines()))
        until = time.monotonic() + rng.uniform(0, 0.2)
        while time.monotonic() < until:
            daemon.configure(f"chassis-id = {rng.randrange(1000)}\n")
            daemon.process.send_signal(signal.SIGHUP)
            time.sleep(0.001)
        daemon.end()
        out["kills"] += 1
        out["torn"] += not daemon.state_is_whole()
        now = daemon.state.read_text() if daemon.state.exists() else None
        out["saved"] += now != before
        before = now
        daemon.configure("")


def disturb(args, daemon):
    """What makes the daemon call: links, a reload, questions, something else for the state file."""
    space = daemon.space
    name = f"x{args.random.randrange(3)}"
    run("ip", "-n", space, "link", "add", name, "type", "veth", "peer", "name", name + "p", check=False)
    run("ip", "-n", space, "link", "set", name, "up", check=False)
    daemon.ask(patience=1)
    daemon.ask("Rules", patience=1)
    daemon.configure(f"chassis-id = {args.random.randrange(100)}\nlevel = {args.random.choice((1, 2, 3))}\n")
    if daemon.answers(1) and daemon.process.poll() is None:
        daemon.process.send_signal(signal.SIGHUP)
    run("ip", "-n", space, "link", "del", name, check=False)


def one_line(lines):
    """What it said at last, if that is one clear line of its own."""
    return bool(lines) and re.fullmatch(r"lldp-leveld: [^\n]+", lines[-1]) is not None


def syscalls(args, verdicts):
    """Calls that fail: the daemon goes on, or ends with one line and is started again; its rules stay."""
    for kind, rate, start_rate in (("allocation", 300, 3000), ("disk", 300_000, 300_000),
                                   ("descriptor", 100_000, 100_000), ("link", 300_000, 300_000),
                                   ("permission", 100_000, 100_000), ("overrun", 100_000, 50_000)):
        if args.sanitized and kind == "allocation":
            continue  # the sanitizer has the allocator for itself
        with Lab(args.bin) as lab:
            faults = Faults(lab.directory / "faults", args.seed)
            daemon = fabric(lab, faults)
            rules = settled(daemon)
            ends = starts = 0
            wrong = []
            stop = time.monotonic() + args.seconds / 30
            faults.set(kind, rate)
            while time.monotonic() < stop:
                disturb(args, daemon)
                if daemon.process.poll() is not None:
                    ends += 1
                    wrong += verdict_of_end(daemon)
                    faults.set(kind, start_rate)
                    for _ in range(5):  # starts that fail, or do not
                        daemon.start()
                        starts += 1
                        daemon.answers(2)
                        if daemon.process.poll() is None:
                            break
                        ends += 1
                        wrong += verdict_of_end(daemon)
                    else:
                        faults.set(kind, 0)
                        daemon.start()
                        daemon.answers()
                    faults.set(kind, rate)
                if daemon.rules("p0") != rules:
                    wrong.append("rules lost")
            for _ in range(10):
                faults.set(kind, start_rate)
                daemon.end(signal.SIGKILL)
                daemon.start()
                starts += 1
                daemon.answers(0.5)
                if daemon.process.poll() is not None:
                    ends += 1
                    wrong += verdict_of_end(daemon)
                faults.set(kind, 0)
                # Where the state could not be saved or read, ports may be `up` until neighbors acknowledge (A9).
                if len(daemon.rules("p0")) != len(rules):
                    wrong.append("rules lost at the start")
                    print(daemon.rules("p0"), "\n".join(daemon.lines()[-20:]))
            # All calls of the kind fail, while things change; then none does, and nothing changes any more.
            if daemon.process.poll() is not None:
                daemon.start()
            daemon.answers()
            faults.set(kind, 0 if kind == "allocation" else 1_000_000)
            daemon.configure("chassis-id = last\n")
            daemon.process.send_signal(signal.SIGHUP)
            run("ip", "-n", daemon.space, "link", "add", "last", "type", "veth", "peer", "name", "lastp")
            time.sleep(1.5)
            faults.set(kind, 0)
            if any(line.endswith("nothing is changed") for line in daemon.lines()):  # a reload that could not be
                daemon.process.send_signal(signal.SIGHUP)
            names = {l["ifname"] for l in json.loads(run("ip", "-n", daemon.space, "-j", "link"))} - {"lo"}
            if not eventually(lambda: daemon.level() == 1 and daemon.rules("p0") == rules and
                              {p["name"] for p in daemon.ask()["ports"]} == names and
                              b"last".hex() in daemon.state.read_text(), 40):
                wrong.append("not as it should be when nothing fails any more")
                print(daemon.level(), daemon.rules("p0"), rules, names, daemon.ask(), daemon.state.read_text())
            if not daemon.state_is_whole():
                wrong.append("torn state file")
            verdicts.add(f"failing calls: {kind}", f"{faults.failed(kind)} failed, {ends} ends, {starts} starts" +
                         "".join(f"; {w}" for w in sorted(set(wrong))), not wrong and faults.failed(kind) > 0)
            if wrong:
                print("\n".join(daemon.lines()[-20:]))


def verdict_of_end(daemon):
    """What is wrong with how it ended."""
    code = daemon.process.returncode
    if code == -signal.SIGHUP:  # ours, which met it after it had said why it ends
        code = 2
    if code not in (1, 2):
        return [f"ended with {code}"]
    return [] if one_line(daemon.lines()) else ["no clear line at the end"]


def storm(args, verdicts):
    """Interfaces come, go, are renamed, moved, enslaved: the agent's list is the kernel's."""
    with Lab(args.bin) as lab:
        space, other = lab.space("storm"), lab.space("other")
        run("ip", "-n", space, "link", "add", "br0", "type", "bridge")
        daemon = lab.daemon(space, "--role", "switch")
        daemon.start()
        if not daemon.answers():
            raise RuntimeError("\n".join(daemon.lines()))
        here, there, number = [], [], 0

        def change(what=None):
            nonlocal number
            number += 1
            pick = args.random.choice
            what = what or pick(["add", "add", "add", "delete", "rename", "away", "back", "enslave", "release", "flap"])
            if what == "add" and len(here) < MOST:
                run("ip", "-n", space, "link", "add", f"v{number}", "type", "veth", "peer", "name", f"w{number}")
                run("ip", "-n", space, "link", "set", f"v{number}", "up")
                here.append(f"v{number}")
            elif what == "back" and there:
                name = there.pop(args.random.randrange(len(there)))
                run("ip", "-n", other, "link", "set", name, "netns", space)
                here.append(name)
            elif here:
                at = args.random.randrange(len(here))
                name = here[at]
                if what == "delete":
                    run("ip", "-n", space, "link", "del", here.pop(at))
                elif what == "rename":
                    here[at] = f"r{number}"
                    run("ip", "-n", space, "link", "set", name, "name", here[at])
                elif what == "away":
                    run("ip", "-n", space, "link", "set", here.pop(at), "netns", other)
                    there.append(name)
                elif what in ("enslave", "release"):
                    run("ip", "-n", space, "link", "set", name, *(("master", "br0") if what == "enslave" else ("nomaster",)))
                elif what == "flap":
                    run("ip", "-n", space, "link", "set", name, "down")
                    run("ip", "-n", space, "link", "set", name, "up")

        def clear():
            for where, names in ((space, here), (other, there)):
                while names:
                    run("ip", "-n", where, "link", "del", names.pop(), check=False)
            return eventually(lambda: daemon.ask() and daemon.ask()["ports"] == [])

        def as_kernel():
            kernel = {(l["ifname"], l["operstate"] == "UP") for l in json.loads(run("ip", "-n", space, "-j", "link"))
                      if l["ifname"] not in ("lo", "br0")}
            return {(p["name"], p["up"]) for p in (daemon.ask() or {"ports": []})["ports"]} == kernel

        seconds = args.seconds / 4
        total = round(1000 * seconds / 60)
        begin = time.monotonic()
        follows = True
        first = None
        for i in range(total):
            change()
            if i == total // 4:  # warm: it has had as many as it ever will, and what it keeps for good, it has
                while len(here) < MOST:
                    change("add")
                follows &= eventually(as_kernel)
                clear()
                time.sleep(0.5)
                first = daemon.status("VmRSS"), daemon.descriptors()
            time.sleep(max(0, begin + seconds * (i + 1) / total - time.monotonic()))
        took = time.monotonic() - begin
        follows &= eventually(as_kernel)
        cleared = clear()
        time.sleep(0.5)
        alive = daemon.process.poll() is None
        last = (daemon.status("VmRSS"), daemon.descriptors()) if alive else (0, 0)
        verdicts.add("interfaces", f"{total} changes in {took:.0f} s: list {'as' if follows else 'NOT as'} the kernel's, "
                     f"{first[1]} -> {last[1]} descriptors, {first[0]} -> {last[0]} kB",
                     alive and follows and cleared and first[1] == last[1] and
                     (not args.bars or last[0] <= first[0] * GROWTH))


def answers(times):
    """Of (ms, ms without waiting for a processor): a text, and of the former, which are judged, 99 of 100 and the longest."""
    def figures(each):
        each = sorted(each)
        return each[len(each) // 2], each[len(each) * 99 // 100], each[-1]
    took, own = figures(t for t, _ in times), figures(o for _, o in times)
    return (f"answers in {took[0]:.1f} ms, 99 of 100 in {took[1]:.1f} ms, at most {took[2]:.1f} ms "
            f"(not waiting for a processor: {own[1]:.1f} and {own[2]:.1f} ms)", took[1], took[2])


def at_speed(name, measure, args, verdicts):
    """measure() gives a text, whether it was right, and whether it was quick."""
    for attempt in range(1, TRIES + 1):
        text, right, quick = measure(args)
        if not right or quick or not args.bars:
            break
        print(f"  {name}: try {attempt}, too slow: {text}")
    verdicts.add(name, text, right and (quick or not args.bars))


def flood(args):
    """A neighbour that sends as fast as the link goes, another identity in each frame."""
    with Lab(args.bin) as lab:
        daemon = fabric(lab)
        hostile = lab.space("hostile")
        lab.cable(daemon.space, "p2", hostile, "p2")
        rules = settled(daemon)
        seconds = max(3, args.seconds / 16)
        before = daemon.status("VmRSS")
        sender = lab.blast(hostile, "p2", "vary", 2_000_000_000, 65535, 0)
        times, wrong, memory = [], 0, 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            shown, took, own = daemon.timed_ask()
            times.append((took, own))
            wrong += not shown or shown["device"]["level"] != 1
            memory = max(memory, daemon.status("VmRSS"))
            time.sleep(0.02)
        wrong += daemon.rules("p0") != rules
        sender.kill()
        sender.wait()
        memory = max(memory, daemon.status("VmHWM"))
        frames = next(p["statsFramesInTotal"] for p in daemon.ask("Stats")["ports"] if p["name"] == "p2")
        text, _, longest = answers(times)
        return (f"{frames / seconds:.0f} frames/s taken for {seconds:.0f} s: {wrong} times a wrong level or rule, "
                f"{before} -> {memory} kB, {text}",
                wrong == 0 and (not args.bars or memory < MEMORY_KB), longest <= ANSWER_MS)


def toggle(args):
    """A neighbour that is a host and a switch in turn, frame by frame, beside one that must lose no frame."""
    with Lab(args.bin) as lab:
        daemon = fabric(lab)
        hostile, quiet = lab.space("hostile"), lab.space("quiet")
        lab.cable(daemon.space, "p2", hostile, "p2")
        lab.cable(daemon.space, "p3", quiet, "p3")
        rules = settled(daemon)
        seconds = max(3, args.seconds / 24)
        rate = TOGGLES if args.bars else TOGGLES // 10
        count = round(1000 * seconds)

        def frames(port):
            return next(p["statsFramesInTotal"] for p in daemon.ask("Stats")["ports"] if p["name"] == port)

        before, changes = daemon.cpu(), len(daemon.lines())
        begin = time.monotonic()
        sender = lab.blast(hostile, "p2", "toggle", round(rate * seconds), 1, rate)
        other = lab.blast(quiet, "p3", "same", count, 1, 1000)
        times, wrong = [], 0
        while sender.poll() is None or other.poll() is None:
            shown, took, own = daemon.timed_ask()
            times.append((took, own))
            wrong += not shown or shown["device"]["level"] != 1
            time.sleep(0.02)
        took = time.monotonic() - begin
        eventually(lambda: frames("p3") >= count, 5)
        used = (daemon.cpu() - before) / took
        wrong += daemon.rules("p0") != rules
        lost = count - frames("p3")
        text, slow, longest = answers(times)
        return (f"{frames('p2') / took:.0f} frames/s for {took:.0f} s: another port lost {lost} of {count}, {wrong} times a wrong "
                f"level or rule, {100 * used:.0f} % of a core, {text}, {len(daemon.lines()) - changes} lines",
                lost == 0 and wrong == 0, used <= TOGGLE_CPU and slow <= TOGGLE_ANSWER_MS and longest <= ANSWER_MS)


SCENARIOS = {"kills": kills, "syscalls": syscalls, "storm": storm, "flood": functools.partial(at_speed, "flood", flood),
             "toggle": functools.partial(at_speed, "toggle", toggle)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--seed", type=int, default=os.environ.get("LLDP_SEED") or random.randrange(1 << 32))
    parser.add_argument("--no-bars", dest="bars", action="store_false", help="do not judge memory and time: no release build")
    parser.add_argument("--sanitized", action="store_true", help="do not let allocations fail: the sanitizer has the allocator for itself")
    parser.add_argument("scenarios", nargs="*", default=list(SCENARIOS))
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    if os.geteuid() != 0:
        print("faults: skipped: network namespaces need root")
        return 77
    print(f"faults: seed {args.seed}, {args.seconds:.0f} s", flush=True)
    verdicts = Verdicts()
    for name in args.scenarios:
        args.random = random.Random(f"{args.seed} {name}")
        SCENARIOS[name](args, verdicts)
    return 0 if verdicts.print() else 1


if __name__ == "__main__":
    sys.exit(main())
