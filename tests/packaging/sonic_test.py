#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a container on SONiC is made of: supervisord's configuration, the rows for CONFIG_DB (loaded into a Redis, where there
is one), the daemon's configuration, the script, and that each names what is there.

    sonic_test.py SOURCE BIN"""
import configparser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

source, programs = map(pathlib.Path, sys.argv[1:])
sonic = source / "packaging/sonic"


def supervisord():
    parser = configparser.RawConfigParser(inline_comment_prefixes=(" ;",))
    parser.read_string((sonic / "supervisord.conf").read_text())
    assert parser["supervisord"].getboolean("nodaemon"), "the container would end at once"
    names = {s.removeprefix("program:") for s in parser.sections() if s.startswith("program:")}
    critical = [line.split(":") for line in (sonic / "critical_processes").read_text().split()]
    assert all(kind == "program" and name in names for kind, name in critical), critical
    command = parser["program:lldp-leveld"]["command"].split()
    assert command[0] == "/usr/sbin/lldp-leveld" and command[2] == "/etc/lldp-level.conf", command
    # Mistakes in the configuration are not repaired by starts; all else is worth one.
    assert parser["program:lldp-leveld"]["exitcodes"] == "2"
    try:  # supervisor itself, where it is installed
        from supervisor.options import ServerOptions
    except ImportError:
        return
    options = ServerOptions()
    options.realize(args=["-c", str(sonic / "supervisord.conf")])
    assert [g.name for g in options.process_group_configs] == ["lldp-leveld"]


def rows():
    config = json.loads((sonic / "feature.json").read_text())
    # As `sonic-cfggen -j FILE --write-to-db` and `config load` write them: TABLE|KEY, fields.
    flat = {f"{table}|{key}": fields for table, keys in config.items() for key, fields in keys.items()}
    assert list(flat) == ["FEATURE|lldp-level"]
    assert all(isinstance(v, str) for fields in flat.values() for v in fields.values())
    if not shutil.which("redis-server"):
        return
    with tempfile.TemporaryDirectory() as d:
        socket = d + "/redis.sock"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", d],
                                  stdout=subprocess.DEVNULL)
        ask = ["redis-cli", "-s", socket, "-n", "4"]
        try:
            for _ in range(500):
                if subprocess.run(ask + ["ping"], capture_output=True).stdout == b"PONG\n":
                    break
                time.sleep(0.01)
            for key, fields in flat.items():
                words = [w for pair in fields.items() for w in pair]
                subprocess.run(ask + ["hset", key, *words], check=True, stdout=subprocess.DEVNULL)
                said = subprocess.run(ask + ["hgetall", key], capture_output=True, text=True, check=True).stdout.split("\n")
                assert dict(zip(said[::2], said[1::2])) == fields, said
        finally:
            server.kill()
            server.wait()


def files():
    subprocess.run([programs / "lldp-level", "check-config", sonic / "lldp-level.conf"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["sh", "-n", sonic / "lldp-level.sh"], check=True)
    for path in re.findall(r"^COPY (packaging/\S+)", (sonic / "Dockerfile").read_text(), re.M):
        assert (source / path).is_file(), path
    manual = (source / "docs/sonic.md").read_text()
    for path in sonic.iterdir():
        assert path.name in manual, f"docs/sonic.md does not say what {path.name} is for"
    unit = configparser.RawConfigParser(strict=False, comment_prefixes="#")
    unit.optionxform = str
    unit.read_string((sonic / "lldp-level.service").read_text())
    assert unit["Service"]["ExecStart"] == "/usr/local/bin/lldp-level.sh"


supervisord()
rows()
files()
