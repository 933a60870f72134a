#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every sample of output in README.md and docs/ against what the programs print.

A block of a page has a tag, which tests/architecture/samples.py demands, and the tag says what the block is:
- `console`: commands behind `$ `, each with what it prints. All commands of a page run in one directory, in their order.
  `...` alone in a line stands for any lines. Above the block may stand the world that its commands find:
  `<!-- with: leaf1 -->` is a daemon that answers what `tests/manual/leaf1.json` has,
  `<!-- with: NAME -->` what `world_NAME` below makes in the directory.
- `sh`: commands without their output: their options are held against --help; `ini`: settings, against check-config.
- a block of another tag below `<!-- file: NAME -->` is written to that file, for the commands of the page;
  below `<!-- from: FILE -->` it is what that file of the tree has.

usage: samples_test.py SOURCE_DIR BIN_DIR [unittest arguments]
"""
import collections
import contextlib
import functools
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE, BIN = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]
OURS = ("lldp-level", "lldp-level-lab", "lldp-leveld")

Block = collections.namedtuple("Block", "line tag source name text")


def blocks(page):
    """The fenced blocks of a page, each with the comment above it."""
    lines = page.read_text().splitlines()
    fences = [n for n, line in enumerate(lines) if line.startswith("```")]
    for begin, end in zip(fences[::2], fences[1::2]):
        said = re.fullmatch(r"<!-- (with|file|from): (\S+) -->", lines[begin - 1])
        yield Block(begin + 1, lines[begin][3:], *(said.groups() if said else (None, None)), lines[begin + 1:end])


def sessions(block):
    """A console's commands, each with the lines that it shows. A backslash continues a command."""
    found = []
    for line in block.text:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line, [])
        else:
            found[-1][1].append(line)
    return found


def first_difference(shown, printed):
    """Nothing if `printed` is what is shown, in which `...` stands for any lines; else the shown line that is not there."""
    at, any_lines = 0, False
    for line in shown:
        if line == "...":
            any_lines = True
            continue
        while any_lines and at < len(printed) and printed[at] != line:
            at += 1
        if at == len(printed) or printed[at] != line:
            return line
        at, any_lines = at + 1, False
    return None if any_lines or at == len(printed) else "(nothing more)"


@contextlib.contextmanager
def daemon(path, show):
    """Answers at the control socket: each call gets the same, which is what `lldp-level show --json` prints."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve():
            with contextlib.suppress(OSError):  # closed at the end
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        while connection.recv(65536).endswith(b"\0"):
                            connection.sendall(b'{"parameters":' + show.strip() + b"}\0")

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def lab(*words):
    return subprocess.run([BIN / "lldp-level-lab", *words], capture_output=True, text=True, timeout=100, check=True).stdout


# What the devices of a fabric tell by `show --json` and `rules --json`, as far as `collect` reads it.

CHAIN = [{"priority": 5, "dscp": 43}, {"priority": 6, "dscp": 51}]
LOSSY = {"priority": 0, "dscp": 0}
TURNS = [{"from": CHAIN[0], "to": CHAIN[1]}, {"from": CHAIN[1], "to": LOSSY}]


def dump(device, ports, speeds=False, not_done=()):
    """`ports`: by name the neighbor and its port. A device: its name, number, role and level."""
    def order_of(far):
        return "up" if far["level"] > device["level"] else "down"

    def neighbor(far, port):
        return {"chassis_id": far["chassis"], "system_name": far["id"], "port_id": port, "port_description": "",
                "device_type": far["role"], "level": far["level"]}

    orders = {port: order_of(far) for port, (far, _) in ports.items()}
    show = {"version": 1,
            "device": {"chassis_id": device["chassis"], "system_name": device["id"], "role": device["role"],
                       "level": device["level"]},
            "ports": [{"name": port, "order": orders[port], "up": True, "neighbors": [neighbor(*far)],
                       **({"speed_mbps": 100000, "mtu": 9216} if speeds else {})} for port, far in ports.items()],
            "protection": {"state": "active", "reasons": []}, "alarms": []}
    rules = {"version": 1, "backend": "bpf,dcb", "lossless": CHAIN, "lossy": LOSSY,
             "ports": [{"name": port, "order": order, "installed": "yes", "turns": TURNS if order == "up" else [],
                        "parts": [{"part": "classify", "state": "done"},
                                  {"part": "remap", "state": "missing" if port in not_done else "done"}]}
                       for port, order in orders.items()]}
    return json.dumps(show) + "\n" + json.dumps(rules) + "\n"


def fabric_dumps(at, silent=(), not_done=None):
    """What the ten switches of `topo clos` tell, in dumps/, and through an ssh that reads it there."""
    fabric = json.loads(lab("topo", "clos"))
    nodes = {node["id"]: node for node in fabric["nodes"]}
    ports = collections.defaultdict(dict)
    for link in fabric["links"]:
        for near, far in ((link["source"], link["target"]), (link["target"], link["source"])):
            ports[near][link["ports"][near]] = (nodes[far], link["ports"][far])
    (at / "dumps").mkdir(exist_ok=True)
    for file in (at / "dumps").iterdir():
        file.unlink()
    switches = [name for name, node in nodes.items() if node["role"] == "switch"]
    for name in set(switches) - set(silent):
        (at / f"dumps/{name}.json").write_text(dump(nodes[name], ports[name], not_done=(not_done or {}).get(name, ())))
    (at / "switches").write_text("\n".join(switches) + "\n")
    (at / "bin").mkdir(exist_ok=True)
    ssh = at / "bin/ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\ncat "dumps/$2.json"\n')
    ssh.chmod(0o755)


def world_fabric(at):
    fabric_dumps(at)


def world_holes(at):
    fabric_dumps(at, silent=["spine2"], not_done={"agg3": ["swp2"]})


def two_leaves(at, host2, host3):
    """Two leaves below a spine; the plan of the cables is plan.csv of the page."""
    def device(name, number, role, level):
        return {"id": name, "chassis": f"02:00:00:00:00:{number:02x}", "role": role, "level": level}

    hosts = {n: device(f"host{n}", 0x10 + n, "host", 0) for n in (1, 2, 3)}
    leaf1, leaf2, spine = device("leaf1", 1, "switch", 1), device("leaf2", 2, "switch", 1), device("spine1", 3, "switch", 2)
    (at / "dumps").mkdir()
    for one, ports in ((leaf1, {"swp1": (hosts[1], "eth0"), "swp2": (hosts[host2], "eth0"), "swp3": (spine, "swp1")}),
                       (leaf2, {"swp1": (hosts[host3], "eth0"), "swp3": (spine, "swp2")}),
                       (spine, {"swp1": (leaf1, "swp3"), "swp2": (leaf2, "swp3")})):
        (at / f"dumps/{one['id']}.json").write_text(dump(one, ports, speeds=True))


def world_swapped(at):
    two_leaves(at, host2=3, host3=2)


def world_leaves(at):
    two_leaves(at, host2=2, host3=3)


def world_rails(at):
    """Four hosts of two NICs, NIC k of each on leaf k; the cables of host2 are exchanged."""
    def device(name, number, role, level):
        return {"id": name, "chassis": f"02:00:00:00:00:{number:02x}", "role": role, "level": level}

    hosts = [device(f"host{n}", 0x10 + n, "host", 0) for n in range(1, 5)]
    (at / "dumps").mkdir(exist_ok=True)
    for file in (at / "dumps").iterdir():
        file.unlink()
    for rail in (0, 1):
        leaf = device(f"leaf{rail + 1}", rail + 1, "switch", 1)
        ports = {f"swp{n}": (host, f"eth{1 - rail if n == 2 else rail}") for n, host in enumerate(hosts, 1)}
        (at / f"dumps/{leaf['id']}.json").write_text(dump(leaf, ports))


@functools.cache
def options_of(program, command=None):
    said = subprocess.run([BIN / program, *([command] if command else []), "--help"], capture_output=True, text=True, timeout=20)
    return set(re.findall(r"(?m)^  (?:-\w \[ )?(--[\w.-]+)", said.stdout)) | set(re.findall(r"(?m)^  (-\w)\b", said.stdout))


class Samples(unittest.TestCase):
    maxDiff = None

    def run_page(self, page):
        consoles = 0
        with tempfile.TemporaryDirectory() as directory:
            at = pathlib.Path(directory)
            (at / "bin").mkdir()
            (at / "bin/lldp-level").write_text(f'#!/bin/sh\nexec {BIN}/lldp-level --socket "$SOCKET" "$@"\n')
            (at / "bin/lldp-level").chmod(0o755)
            for block in blocks(page):
                text = "\n".join(block.text) + "\n"
                if block.source == "file":
                    (at / block.name).write_text(text)
                elif block.source == "from":
                    self.assertIn(text, (SOURCE / block.name).read_text(), f"{page.name}:{block.line}")
                if block.tag != "console":
                    continue
                consoles += 1
                with contextlib.ExitStack() as world:
                    control = at / f"control{consoles}"
                    if block.name and f"world_{block.name}" in globals():
                        globals()[f"world_{block.name}"](at)
                    elif block.name:
                        world.enter_context(daemon(control, (SOURCE / f"tests/manual/{block.name}.json").read_bytes()))
                    for command, shown in sessions(block):
                        done = subprocess.run(["/bin/sh", "-c", command], cwd=at, text=True, timeout=100, stdin=subprocess.DEVNULL,
                                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                              env={**os.environ, "PATH": f"{at}/bin:{BIN}:{os.environ['PATH']}", "SOCKET": str(control)})
                        missing = first_difference(shown, done.stdout.splitlines())
                        self.assertIsNone(missing, f"{page.name}:{block.line}: $ {command}\n{done.stdout}")
        return consoles

    def test_pages_show_what_is_printed(self):
        consoles = 0
        for page in PAGES:
            with self.subTest(page=str(page.relative_to(SOURCE))):
                consoles += self.run_page(page)
        self.assertGreaterEqual(consoles, 16)

    def test_options_of_commands_exist(self):
        commands = 0
        for page in PAGES:
            for block in blocks(page):
                if block.tag not in ("sh", "console"):
                    continue
                text = "\n".join(command for command, _ in sessions(block)) if block.tag == "console" else "\n".join(block.text)
                for line in re.sub(r"\\\n", " ", text).split("\n"):
                    words = shlex.split(line, comments=True)
                    for n, word in enumerate(words):
                        if word not in OURS or (n > 0 and words[n - 1] in ("stop", "disabled", "uninstall", "feature")):
                            continue
                        rest = words[n + 1:]
                        end = next((i for i, w in enumerate(rest) if w in ("&&", ";", "|", ">>", "--")), len(rest))
                        rest = rest[:end]
                        command = rest[0] if word == "lldp-level-lab" and rest else None
                        known = options_of(word, command)
                        with self.subTest(page=page.name, line=line):
                            self.assertLessEqual({w.split("=")[0] for w in rest if w.startswith("-")}, known)
                        commands += 1
        self.assertGreater(commands, 60)

    def test_settings_are_accepted(self):
        for page in PAGES:
            for block in blocks(page):
                if block.tag == "ini":
                    with self.subTest(page=page.name), tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
                        file.write("\n".join(block.text) + "\n")
                        file.flush()
                        done = subprocess.run([BIN / "lldp-level", "check-config", file.name], capture_output=True, text=True, timeout=20)
                        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_difference_is_found(self):
        printed = ["a", "b", "c"]
        for shown in (["a", "b", "c"], ["...", "c"], ["a", "..."], ["a", "...", "c"], ["..."]):
            self.assertIsNone(first_difference(shown, printed), shown)
        for shown in ([], ["a"], ["a", "b"], ["b", "..."], ["...", "b"], ["a", "...", "a", "..."], ["a", "b", "c", "d"]):
            self.assertIsNotNone(first_difference(shown, printed), shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
