#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the #includes against the arrows of docs/develop/architecture.md: which room may look at which, and that the
pure rooms include no system, socket or library header that does I/O, and do not ask for the time."""
import pathlib
import re
import sys

ALLOWED = {  # room: the rooms whose headers it may include besides its own
    "base": "",
    "os": "base",
    "tlv": "base",
    "cabling": "base",
    "qos": "base",
    "dataplane": "qos os base",
    "agent/core": "cabling qos tlv base",
    "agent/config": "agent/core cabling qos os base",
    "agent/report": "agent/core cabling qos tlv base",
    "agent/wire": "agent/core tlv os base",
    "agent/links": "agent/wire agent/core os base",
    "agent/process": "agent/report os base",
    "agent/control": "os base",
    "agent/companions": "agent/process agent/config agent/report os base",
    "agent/lldpd": "agent/process agent/config agent/core tlv os base",
    "agent/configdb": "agent/config agent/report agent/core dataplane qos os base",
    "agent/daemon": "agent/configdb agent/wire agent/links agent/control agent/process agent/companions agent/lldpd agent/config"
                    " agent/report agent/core dataplane cabling qos tlv os base",
    "agent/cli": "agent/control agent/config agent/report agent/core cabling qos tlv os base",
    "agent/agentx": "agent/control tlv os base",
    "agent/metrics": "agent/control agent/config agent/report os base",
}
# What the lab is built of; nothing of the product looks at it. Inside, a room may look at the ranks before its own.
LAB = ("agent/core agent/config agent/control agent/report cabling dataplane qos tlv os base").split()
LAB_RANKS = [["lab/des"], ["lab/topology"], ["lab/report"], ["lab/routing", "lab/agents", "lab/live", "lab/collect", "lab/sweep"],
             ["lab/whatif"], ["lab/commands"], ["sim/flow", "sim/bounce", "sim/packets"], ["sim/papers", "sim/library", "sim/lossless"],
             ["sim/commands"]]
PURE = ("base", "tlv", "cabling", "qos", "agent/core", "agent/report")
SYSTEM = re.compile(r"(sys/|net/|netinet/|linux/|arpa/|netlink/|boost/(?!container/)|pcap)|(unistd\.h|fcntl\.h|poll\.h|pthread\.h|time\.h"
                    r"|ctime|fstream|iostream|filesystem|thread|mutex|condition_variable|future|atomic|cstdio|stdio\.h"
                    r"|csignal)$")
CLOCK = re.compile(r"(system_clock|steady_clock|high_resolution_clock)::now|clock_gettime|gettimeofday|boot_time\(")
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]')

top = pathlib.Path(sys.argv[1])
complaints = []


def sources(room):
    return sorted(p for p in (top / room).rglob("*") if p.suffix in (".hpp", ".cpp"))


def check(room, path, allowed):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.relative_to(top)}:{number}"
        if room in PURE and CLOCK.search(line):
            complaints.append(f"{where}: a pure room asks for the time")
        found = INCLUDE.match(line)
        if not found:
            continue
        kind, header = found.groups()
        if kind == '"' and "/" in header and not any(header.startswith(a + "/") for a in allowed):
            complaints.append(f'{where}: {room} may not include "{header}"')
        if kind == "<" and room in PURE and SYSTEM.match(header):
            complaints.append(f"{where}: a pure room includes <{header}>")


for room, others in ALLOWED.items():
    files = sources(room)
    if not files:
        complaints.append(f"{room}: no such room")
    for path in files:
        check(room, path, [room, *others.split()])
before = []
for rank in LAB_RANKS:
    for room in rank:
        if not sources(room):
            complaints.append(f"{room}: no such room")
        for path in sources(room):
            check(room, path, [room, *before, *LAB])
    before += rank
known = tuple(r + "/" for r in [*ALLOWED, *before])
for path in [*sources("agent"), *sources("lab"), *sources("sim")]:
    name = str(path.relative_to(top))
    if name != "agent/main.cpp" and not name.startswith(known):
        complaints.append(f"{name}: stands in no room")
print("\n".join(complaints) or "every #include follows the arrows")
sys.exit(bool(complaints))
