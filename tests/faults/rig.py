# SPDX-License-Identifier: Apache-2.0
"""What the fault injection and the soak run on: namespaces, daemons in them, and questions to both."""
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

# The order of preload.cpp's enum.
KINDS = ["allocation", "disk", "descriptor", "link", "permission", "overrun"]


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def eventually(done, patience=10.0):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Lab:
    """Namespaces and files of one run; all of it goes with the object."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="lldp-level-faults-"))
        self.spaces = []
        self.daemons = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.end()
        for space in self.spaces:
            run("ip", "netns", "del", space, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def space(self, name):
        space = f"lldpf{os.getpid()}-{name}"
        run("ip", "netns", "add", space)
        self.spaces.append(space)
        run("ip", "-n", space, "link", "set", "lo", "up")
        return space

    def cable(self, a, a_port, b, b_port):
        run("ip", "-n", a, "link", "add", a_port, "type", "veth", "peer", "name", b_port, "netns", b)
        run("ip", "-n", a, "link", "set", a_port, "up")
        run("ip", "-n", b, "link", "set", b_port, "up")

    def daemon(self, space, *options, faults=None):
        daemon = Daemon(self, space, options, faults)
        self.daemons.append(daemon)
        return daemon

    def blast(self, space, *arguments):
        return subprocess.Popen(["ip", "netns", "exec", space, self.programs / "blast", *map(str, arguments)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Faults:
    """The rates of preload.cpp, shared with the daemon that it is loaded into."""

    HEADER, ENTRY = 8, 12

    def __init__(self, path, seed):
        size = self.HEADER + self.ENTRY * len(KINDS)
        path.write_bytes(struct.pack("Q", seed) + bytes(size - self.HEADER))
        self.path = path
        with open(path, "r+b") as file:
            self.table = mmap.mmap(file.fileno(), size)

    def set(self, kind, per_million):
        struct.pack_into("I", self.table, self.HEADER + self.ENTRY * KINDS.index(kind), per_million)

    def failed(self, kind):
        return struct.unpack_from("III", self.table, self.HEADER + self.ENTRY * KINDS.index(kind))[2]


class Daemon:
    def __init__(self, lab, space, options, faults):
        self.space = space
        self.programs = lab.programs
        self.base = lab.directory / f"{space}.{len(lab.daemons)}"
        self.socket, self.state, self.config, self.log = (
            self.base.with_name(self.base.name + end) for end in (".control", ".state", ".conf", ".log"))
        self.configure("")
        self.command = ["ip", "netns", "exec", space, lab.programs / "lldp-leveld", "--config", self.config,
                        "--socket", self.socket, "--state-file", self.state, "--bpffs", lab.directory, *options]
        self.environment = dict(os.environ)
        if faults:
            self.command[4:4] = ["env", f"LD_PRELOAD={lab.programs / 'lldp_faults.so'}", f"LLDP_FAULTS={faults.path}",
                                 "ASAN_OPTIONS=verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")]
        self.process = None

    def configure(self, text):
        self.config.write_text("ports = *\nqos.lossless = slides\n" + text)  # nothing in a namespace is physical

    def start(self):
        self.log_from = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def end(self, number=signal.SIGKILL):
        if self.process:
            if self.process.poll() is None:
                self.process.send_signal(number)
            self.process.wait()

    def lines(self):
        """What it has said since it was last started."""
        with open(self.log, errors="replace") as log:
            log.seek(self.log_from)
            return log.read().splitlines()

    def ask(self, method="Show", patience=5.0):
        """The reply's parameters; None when there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(patience)
                s.connect(str(self.socket))
                s.sendall(b'{"method":"org.lldplevel.%s"}\0' % method.encode())
                reply = b""
                while not reply.endswith(b"\0"):
                    part = s.recv(1 << 16)
                    if not part:
                        return None
                    reply += part
            return json.loads(reply[:-1]).get("parameters")
        except OSError:
            return None

    def answers(self, patience=10.0):
        """Waits until it answers; the first answer."""
        first = []
        eventually(lambda: self.process.poll() is not None or first.append(self.ask()) or first[-1], patience)
        return first[-1] if first else None

    def level(self):
        shown = self.ask()
        return shown and shown["device"]["level"]

    def rules(self, port):
        """What of ours the kernel has on that port, without the numbers that each loading gives anew."""
        found = []
        for way in ("ingress", "egress"):
            text = run("tc", "-n", self.space, "filter", "show", "dev", port, way, check=False)
            found += [f"{way} {name}" for name in re.findall(r"lldp-level ([0-9a-f-]+)", text)]
        return found

    def state_is_whole(self):
        """The file, and what was written and is not durable yet: each all of one writing, or not there."""
        def whole(path):
            try:
                text = path.read_text()
            except FileNotFoundError:
                return True
            keys = ("chassis-id|role|level|supported|agent|rank-id|start|rank|bound|births|lost|location|location-until|classes|near|"
                    "boot|port|order|knows")
            return re.fullmatch(rf"lldp-level-state 3\n(({keys}) [^\n]+\n)*end\n", text) is not None

        return all(whole(self.state.with_name(self.state.name + suffix)) for suffix in ("", ".new", ".sync"))

    def status(self, key):
        """A number of /proc/PID/status, in kB for memory."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1])

    def timed_ask(self):
        """The reply; the ms it took; and those of them for which neither this nor we waited for a processor that others had."""
        def waited():
            return sum(schedstat(pid)[1] for pid in (self.process.pid, "self"))
        began, before = time.monotonic(), waited()
        reply = self.ask()
        took = time.monotonic() - began
        return reply, 1000 * took, 1000 * max(0, took - (waited() - before))

    def cpu(self):
        """Seconds of processor time since its start."""
        return schedstat(self.process.pid)[0]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def schedstat(pid):
    """Seconds for which a process (its first thread) had a processor, and for which it waited for one."""
    had, waited, _ = pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(had) / 1e9, int(waited) / 1e9


class Verdicts:
    """The table at the end: what was tried, what came of it, whether that is within the bar."""

    def __init__(self):
        self.rows = []

    def add(self, what, figures, holds):
        self.rows.append((what, figures, holds))
        print(f"  {what}: {figures}: {'ok' if holds else 'FAILED'}", flush=True)

    def print(self):
        width = [max(len(row[i]) for row in self.rows) for i in (0, 1)]
        print()
        for what, figures, holds in self.rows:
            print(f"{what:{width[0]}}  {figures:{width[1]}}  {'ok' if holds else 'FAILED'}")
        return all(holds for *_, holds in self.rows)
