#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packets of a wrong priority while an lldpd is started and stopped, again and again, where bounced traffic turns and at
one of its neighbours, and agents are restarted meanwhile: must be none. Each start makes lldpd our voice, each stop takes it.
Wants root; namespaces of its own.

usage: bench/beside/handover.py [RESTARTS [PACKETS_PER_SECOND]]
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(TOP, "build/release/bin/lldp-level-lab")
RESTARTS = sys.argv[1] if len(sys.argv) > 1 else "24"
RATE = sys.argv[2] if len(sys.argv) > 2 else "50000"
NODES = ("Leaf3", "Spine2")  # of case1: where the flow turns, and whom it leaves to


def transport(path):
    """What the agent says; nothing while it does not answer."""
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(2)
            s.connect(path)
            s.sendall(b'{"method":"org.lldplevel.Show","parameters":{}}\0')
            reply = bytearray()
            while not reply.endswith(b"\0"):
                part = s.recv(1 << 16)
                if not part:
                    return None
                reply += part
        return json.loads(reply[:-1])["parameters"]["device"]["transport"]
    except (OSError, ValueError, KeyError):
        return None


def waited(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def main():
    if os.geteuid() != 0:
        sys.exit("handover.py: needs root to make network namespaces: run it as root")
    prefix = f"h{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="handover.") as run:
        os.chmod(run, 0o755)  # lldpd takes its configuration as a user of its own, over its socket in here
        argv = [LAB, "bounce", "case1", "--restarts", RESTARTS, "--rate", RATE, "--prefix", prefix, "--dir", f"{run}/lab", "--json"]
        for word in ("--transport", "auto", "--lldpd.socket", f"{run}/{{node}}.lldpd"):
            argv += ["--agent-arg", word] if not word.startswith("-") else [f"--agent-arg={word}"]
        with open(f"{run}/out", "wb") as out:
            bounce = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)
        taken = given = 0
        while bounce.poll() is None:
            for node in NODES:
                ours, theirs = f"{run}/lab/{node}/control", f"{run}/{node}.lldpd"
                if bounce.poll() is not None or not os.path.exists(f"/run/netns/{prefix}-{node}"):
                    time.sleep(0.05)
                    continue
                lldpd = subprocess.Popen(["ip", "netns", "exec", f"{prefix}-{node}", "/usr/sbin/lldpd", "-d", "-u", theirs,
                                          "-O", "/dev/null", "-L", "/usr/sbin/lldpcli"],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                taken += waited(lambda: transport(ours) == "lldpd" or bounce.poll() is not None, 8) and bounce.poll() is None
                time.sleep(0.5)
                lldpd.send_signal(signal.SIGTERM)
                lldpd.wait(20)
                given += waited(lambda: transport(ours) == "packet" or bounce.poll() is not None, 8) and bounce.poll() is None
        text = open(f"{run}/out", encoding="utf-8").read()
    try:
        seen = json.loads(text)["restarts"]
    except ValueError:
        sys.exit(f"handover.py: {text.strip()}")
    print(f"{seen['restarts']} restarts, {taken} hand-overs to lldpd, {given} back, in {seen['seconds']:.0f} s: "
          f"{seen['sent'] / seen['seconds']:.0f} packets/s sent, {seen['right'] + seen['wrong']} of {seen['sent']} arrived, "
          f"{seen['wrong']} with a wrong priority")
    sys.exit(0 if seen["wrong"] == 0 and seen["right"] > 0 and taken > 0 else 1)


if __name__ == "__main__":
    main()
