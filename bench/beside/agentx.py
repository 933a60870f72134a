#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a manager walks LLDP-MIB of a switch with 512 ports, a neighbor at each, through snmpd and lldp-level-agentx; and
what the subagent weighs. The daemon is one that always says the same. As root."""
import argparse
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

BIN = pathlib.Path(__file__).resolve().parents[2] / "build/release/bin"
ROOT = "1.0.8802.1.1.2"
TABLE = ROOT + ".1.4.1.1"  # lldpRemTable
COUNTERS = ("statsFramesOutTotal", "statsFramesInTotal", "statsFramesInErrorsTotal", "statsFramesDiscardedTotal",
            "statsTLVsDiscardedTotal", "statsTLVsUnrecognizedTotal", "statsAgeoutsTotal", "statsTooManyNeighborsTotal")


def lldpdu(name, port):
    def tlv(number, value):
        return (number << 9 | len(value)).to_bytes(2, "big") + value
    return (tlv(1, b"\4\2\0\0\0" + hash(name).to_bytes(8, "big", signed=True)[-2:]) + tlv(2, b"\5" + port.encode()) + tlv(3, b"\0\x79") +
            tlv(4, b"to somewhere") + tlv(5, name.encode()) + tlv(6, b"Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64") +
            tlv(7, b"\0\x14\0\4") + tlv(8, bytes([5, 1, 192, 0, 2, 1, 2, 0, 0, 0, 1, 0])) + tlv(0, b"")).hex()


def answers(ports):
    names = [f"swp{i + 1}" for i in range(ports)]
    detail = {"version": 1, "device": {"chassis_id": "02:00:00:00:00:01"}, "alarms": [],
              "ports": [{"name": name, "ifindex": i + 3, "admin": "rxtx", "announced": lldpdu("spine1", name),
                         "neighbors": [{"scope": "nearest-bridge", "lldpdu": lldpdu(f"leaf{i}", "swp1")}]}
                        for i, name in enumerate(names)]}
    stats = {"version": 1, "ports": [{"name": name, **dict.fromkeys(COUNTERS, 7)} for name in names]}
    return {"org.lldplevel.Detail": detail, "org.lldplevel.Stats": stats}


def serve(path, replies):
    """Varlink: JSON objects that end with NUL."""
    texts = {method: json.dumps({"parameters": reply}, separators=(",", ":")).encode() + b"\0" for method, reply in replies.items()}
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def talk(connection):
        with connection:
            asked = b""
            while octets := connection.recv(65536):
                *calls, asked = (asked + octets).split(b"\0")
                for call in calls:
                    connection.sendall(texts[json.loads(call)["method"]])

    def accept():
        while True:
            threading.Thread(target=talk, args=server.accept()[:1], daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ports", type=int, default=512)
    ports = arguments.parse_args().ports
    if os.geteuid() != 0:
        sys.exit("bench/beside/agentx.py: wants root")
    space = f"agentx{os.getpid()}"
    subprocess.run(["ip", "netns", "add", space], check=True)
    inside = ["ip", "netns", "exec", space]
    subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
    running = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            serve(f"{directory}/control", answers(ports))
            pathlib.Path(f"{directory}/conf").write_text(
                f"rocommunity public 127.0.0.1\nmaster agentx\nagentXSocket {directory}/agentx\nagentAddress udp:127.0.0.1:10161\n")
            running.append(subprocess.Popen(
                [*inside, "env", f"SNMP_PERSISTENT_DIR={directory}/state", "snmpd", "-f", "-Lf", "/dev/null", "-C", "-c",
                 f"{directory}/conf", "-I", "-smux"]))
            while not os.path.exists(f"{directory}/agentx"):
                time.sleep(0.02)
            subagent = subprocess.Popen([*inside, BIN / "lldp-level-agentx", f"{directory}/control", f"{directory}/agentx"])
            running.append(subagent)

            def walk(program, root):
                begin = time.monotonic()
                text = subprocess.run([*inside, program, "-v2c", "-cpublic", "-m", "", "-On", "-r0", "-t5", "127.0.0.1:10161", root],
                                      capture_output=True, text=True).stdout
                return time.monotonic() - begin, sum(" = " in line and "No Such" not in line for line in text.splitlines())
            for _ in range(100):
                if walk("snmpwalk", ROOT + ".1.3.1")[1]:
                    break
                time.sleep(0.1)
            print(f"{ports} ports, a neighbor at each")
            for program in "snmpwalk", "snmpbulkwalk":
                for what, root in ("lldpRemTable", TABLE), ("all of lldpMIB", ROOT):
                    took, objects = min(walk(program, root) for _ in range(5))
                    print(f"  {program} of {what}: {objects} objects in {took:.2f} s")
            # The process inside `ip netns exec` is the same one: it execs.
            rollup = pathlib.Path(f"/proc/{subagent.pid}/smaps_rollup").read_text()
            print(f"  the subagent's PSS: {int(re.search(r'Pss: +([0-9]+)', rollup)[1]) / 1024:.1f} MB")
        finally:
            for process in running:
                process.terminate()
                process.wait()
            subprocess.run(["ip", "netns", "del", space], check=True)


if __name__ == "__main__":
    main()
