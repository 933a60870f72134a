# SPDX-License-Identifier: Apache-2.0
"""The two LLDP agents that are measured side by side, behind the same eight calls."""
import ctypes
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import time

_libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
MS_REC, MS_SLAVE = 1 << 14, 1 << 19
MNT_DETACH = 2


def enter(ns):
    """Moves the calling process into the network namespace `ns` (made by `ip netns add`)."""
    with open(f"/run/netns/{ns}") as f:
        if _libc.setns(f.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {ns}")


def spawn(ns, argv, log):
    """What `ip netns exec` does, lldpd wants to see the namespace's own /sys; and the monotonic time
    at which the agent itself began, for to get there takes as long as a start."""
    began = mmap.mmap(-1, 8)

    def prepare():
        enter(ns)
        for call in ((_libc.unshare, CLONE_NEWNS), (_libc.mount, b"", b"/", b"none", MS_SLAVE | MS_REC, None),
                     (_libc.umount2, b"/sys", MNT_DETACH), (_libc.mount, ns.encode(), b"/sys", b"sysfs", 0, None)):
            if call[0](*call[1:]) != 0:
                raise OSError(ctypes.get_errno(), call[0].__name__)
        began[:] = struct.pack("d", time.monotonic())

    with open(log, "ab") as out:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=prepare)
    return process, struct.unpack("d", began)[0]


class Agent:
    """One instance in one namespace; its files are in `run`. mode: default, fast (1 s interval), rules
    (ours: a switch whose rules are in the kernel; the BPF file system is `run`/bpf)."""
    name = ""

    def __init__(self, run, ns, mode="default"):
        self.run, self.ns, self.mode = run, ns, mode
        self.socket = f"{run}/{ns}.sock"
        self.log = f"{run}/{ns}.log"
        self.process = None
        self.began = None  # when it was executed, monotonic

    def argv(self):
        raise NotImplementedError

    def start(self):
        self.process, self.began = spawn(self.ns, self.argv(), self.log)
        return self

    def pids(self):
        """The agent's processes, privilege-separated children included."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [pid] + [int(x) for x in f.read().split()]

    def stop(self):
        """SIGTERM; returns the seconds until the process has gone."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill9()
        return time.monotonic() - begin

    def known(self, timeout_s):
        """The monotonic time at which the first neighbour was known, or None; asked every 2 ms."""
        return wait_until(lambda: self.count() >= 1, timeout_s)

    def kill9(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def cpu_s(self):
        total = 0
        for pid in self.pids():
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                    total += int(f.read().split()[0])
        return total / 1e9

    def memory_kb(self, what="Rss"):
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/smaps_rollup") as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith(what + ":"))
        return total


class Lldpd(Agent):
    """Debian's lldpd."""
    name = "lldpd"

    def argv(self):
        config = f"{self.run}/{self.ns}.conf"
        with open(config, "w") as f:
            f.write("configure system max-neighbors 1000\n")
            if self.mode == "fast":
                f.write("configure lldp tx-interval 1\n")
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        return ["/usr/sbin/lldpd", "-d", "-u", self.socket, "-O", config, "-L", "/usr/sbin/lldpcli"]

    def _cli(self, *words):
        return subprocess.run(["/usr/sbin/lldpcli", "-u", self.socket, *words],
                              capture_output=True, text=True).stdout

    def ready(self):
        return os.path.exists(self.socket) and "configuration.config.tx-delay=" in self._cli(
            "-f", "keyvalue", "show", "configuration")

    def count(self):
        out = self._cli("-f", "keyvalue", "show", "neighbors", "summary")
        return sum(1 for line in out.splitlines()
                   if any(k in line for k in (".chassis.mac=", ".chassis.local=", ".chassis.ifname=")))

    def received(self, port):
        """(frames in, discarded) of one port; lldpd counts only what it accepts as in."""
        text = self._cli("-f", "keyvalue", "show", "statistics", "ports", port)
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        get = lambda key: next((int(v) for k, v in values.items() if k.endswith(key)), 0)
        return max(get(".rx.rx"), get(".rx_discarded_cnt.rx_discarded_cnt"))


class LldpLevel(Agent):
    """This project's daemon, from build/release/bin."""
    name = "lldp-level"
    binary = "build/release/bin/lldp-leveld"

    def argv(self):
        argv = [self.binary, "--config", "/dev/null", "--socket", self.socket,
                "--state-file", f"{self.run}/{self.ns}.state", "--ports", "*"]
        if self.mode == "rules":
            argv += ["--backend", "bpf", "--bpffs", f"{self.run}/bpf", "--role", "switch", "--level", "1",
                     "--qos.lossless", "roce"]
        else:
            argv += ["--backend", "none"]
        if self.mode == "fast":
            argv += ["--lldp.tx-interval", "1"]
        return argv

    def call(self, method, **parameters):
        """One Varlink call over the control socket."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.socket)
            request = {"method": f"org.lldplevel.{method}", "parameters": parameters}
            s.sendall(json.dumps(request).encode() + b"\0")
            reply = bytearray()
            while not reply.endswith(b"\0"):
                part = s.recv(1 << 16)
                if not part:
                    break
                reply += part
        return json.loads(reply[:-1])["parameters"]

    def show(self):
        return self.call("Show")

    def ready(self):
        try:
            self.call("Show", ports=["none"])
            return True
        except (OSError, ValueError, KeyError):
            return False

    def count(self):
        try:
            return sum(len(p["neighbors"]) for p in self.show()["ports"])
        except (OSError, ValueError):
            return 0

    def known(self, timeout_s):
        """By subscription: to be asked every 2 ms, with three processes on two cores, took 3 ms of the 17."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(timeout_s)
            wait_until(lambda: s.connect_ex(self.socket) == 0, timeout_s, 0.0005)
            told = b""
            try:
                s.sendall(b'{"method":"org.lldplevel.Watch","parameters":{},"more":true}\0')
                while part := s.recv(1 << 16):
                    at = time.monotonic()
                    *whole, told = (told + part).split(b"\0")
                    if any(port["neighbors"] for view in whole for port in json.loads(view)["parameters"]["ports"]):
                        return at
            except OSError:  # none that answers, or not in time
                pass
        return None

    def received(self, port):
        stats = self.call("Stats")
        return next(p["statsFramesInTotal"] for p in stats["ports"] if p["name"] == port)


def wait_until(condition, timeout_s, poll_s=0.002):
    """The monotonic time at which `condition()` first held, or None."""
    end = time.monotonic() + timeout_s
    while True:
        if condition():
            return time.monotonic()
        if time.monotonic() > end:
            return None
        time.sleep(poll_s)
