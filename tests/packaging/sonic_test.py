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
    assert command[0] == "/usr/sbin/lldp-leveld" and command[2] == "/etc/lldp-level/lldp-level.conf", command
    # Whatever it ended for, as systemd does elsewhere: memory that had run out is there again, a file is mended.
    program = parser["program:lldp-leveld"]
    assert program.getboolean("autorestart") and program.getboolean("autostart")
    assert program.getint("startretries") >= 1_000_000
    # `docker stop` waits for longer than supervisor does, and that for as long as the daemon may take.
    stop = re.search(r"docker stop --time (\d+) lldp-level", (sonic / "lldp-level.service").read_text())
    assert program["stopsignal"] == "TERM" and 2 <= program.getint("stopwaitsecs") < int(stop[1])
    # What is written to a pipe or to nowhere cannot be turned over: supervisor would end with an error at 50 MB.
    for section in parser.values():
        for key, file in section.items():
            assert not key.endswith("logfile") or file.startswith("/dev/") and section[key + "_maxbytes"] == "0", key
    assert program["stdout_logfile"] == "/dev/stdout" and program["stderr_logfile"] == "/dev/stderr"
    # By which `supervisorctl status` is answered, and asked.
    assert parser["supervisorctl"]["serverurl"] == "unix://" + parser["unix_http_server"]["file"]
    assert parser["unix_http_server"]["chmod"] == "0700"
    assert parser["rpcinterface:supervisor"]["supervisor.rpcinterface_factory"] == "supervisor.rpcinterface:make_main_rpcinterface"
    try:  # supervisor itself, where it is installed
        from supervisor.options import ServerOptions
    except ImportError:
        return
    options = ServerOptions()
    options.realize(args=["-c", str(sonic / "supervisord.conf")])
    assert [g.name for g in options.process_group_configs] == ["lldp-leveld"]


def image():
    """Each file is where its reader looks for it."""
    text = re.sub(r"\\\n", " ", (sonic / "Dockerfile").read_text())
    copied = dict(re.findall(r"(?m)^COPY (\S+) (\S+)$", text))
    program = (sonic / "supervisord.conf").read_text()
    assert f'CMD ["-c", "{copied["packaging/sonic/supervisord.conf"]}"]' in text
    assert f'--config {copied["packaging/sonic/lldp-level.conf"]}\n' in program
    assert copied["packaging/sonic/critical_processes"] == "/etc/supervisor/critical_processes"  # SONiC's listener reads that
    assert re.search(r"(?m)^ENTRYPOINT \[\"/usr/bin/supervisord\"\]$", text)
    package = copied["lldp-level_*.deb"] + "lldp-level_*.deb"
    assert re.search(rf"(?m)^RUN apt-get update +&& apt-get install -y --no-install-recommends supervisor {re.escape(package)} "
                     rf"+&& rm -rf /var/lib/apt/lists/\* {re.escape(package)}$", text)
    # Debian 12 is what the package is built for.
    assert "\nFROM debian:bookworm-slim\n" in text


def container():
    """The script with a Docker that tells what it was asked for, and whose container `lldp` has a /run or has not."""
    for running in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            here = pathlib.Path(directory)
            (here / "merged/run").mkdir(parents=True)
            (here / "docker").write_text(f"""#!/bin/sh
printf '%s\\n' "$*" >>{here}/log
case $1 in inspect) {f"echo {here}/merged" if running else "exit 1"} ;; rm) exit 1 ;; esac
""")
            (here / "docker").chmod(0o755)
            done = subprocess.run(["sh", sonic / "lldp-level.sh"], capture_output=True, text=True,
                                  env={"PATH": f"{here}:/usr/bin:/bin"})
            asked = (here / "log").read_text().splitlines()
            assert asked[0].endswith("{{.GraphDriver.Data.MergedDir}} lldp"), asked
            if not running:  # else two agents would speak on the wire
                assert done.returncode == 1 and "two agents would speak" in done.stderr and len(asked) == 1, (done, asked)
                continue
            assert done.returncode == 0 and not done.stderr, done
            assert asked[1] == "rm --force lldp-level"  # of a host that went down, and its name is taken
            words = asked[2].split()
            assert words[:4] == ["run", "--rm", "--name", "lldp-level"] and words[-1] == "docker-lldp-level" and len(asked) == 3
            manual = (source / "docs/operate/sonic.md").read_text()
            volumes = dict(word.split(":") for flag, word in zip(words, words[1:]) if flag == "--volume")
            assert volumes.pop(f"{here}/merged/run") == "/run/lldp"
            assert len(volumes) == 3, volumes
            for path, inside in volumes.items():  # /var/run is /run there and here
                assert f"| `{path}` |" in manual and inside in (path, path.replace("/var/run", "/run"), path.replace("/host/", "/var/lib/")), path
            assert {"--net=host", "--cap-drop=ALL", "--cap-add=NET_RAW", "--cap-add=NET_ADMIN"} <= set(words)


def configuration():
    """As docs/operate/sonic.md has it: SONiC's front panel, by its databases, with the voice of its lldpd."""
    text = (sonic / "lldp-level.conf").read_text()
    assert dict(re.findall(r"(?m)^([\w.]+) = (.*)$", text)) == {
        "role": "switch", "ports": "Ethernet*", "backend": "sonic", "lldpd.socket": "/run/lldp/lldpd.socket"}


def rows():
    config = json.loads((sonic / "feature.json").read_text())
    # As `sonic-cfggen -j FILE --write-to-db` and `config load` write them: TABLE|KEY, fields.
    flat = {f"{table}|{key}": fields for table, keys in config.items() for key, fields in keys.items()}
    assert list(flat) == ["FEATURE|lldp-level"]
    assert all(isinstance(v, str) for fields in flat.values() for v in fields.values())
    # The leaves of sonic-feature.yang that hostcfgd reads without asking whether they are there, or whose default is another.
    flags = {"auto_restart": "enabled", "state": "enabled", "delayed": "False", "has_global_scope": "True",
             "has_per_asic_scope": "False", "high_mem_alert": "disabled", "set_owner": "local", "support_syslog_rate_limit": "false"}
    assert flat["FEATURE|lldp-level"] == flags
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
    manual = (source / "docs/operate/sonic.md").read_text()
    for path in sonic.iterdir():
        assert path.name in manual, f"docs/operate/sonic.md does not say what {path.name} is for"
    unit = configparser.RawConfigParser(strict=False, comment_prefixes="#")
    unit.optionxform = str
    unit.read_string((sonic / "lldp-level.service").read_text())
    assert unit["Service"]["ExecStart"] == "/usr/local/bin/lldp-level.sh"
    # Without databases nothing can be programmed, without `lldp` nothing be said; and it is theirs to begin and to end.
    assert unit["Unit"]["Requires"] == "database.service"
    assert {"database.service", "swss.service", "lldp.service"} <= set(unit["Unit"]["After"].split())
    assert unit["Unit"]["PartOf"] == "lldp.service" and "lldp.service" in unit["Install"]["WantedBy"].split()
    # However often the container ends; but not without a pause, for what it waits for may take minutes.
    assert unit["Unit"]["StartLimitIntervalSec"] == "0" and unit["Service"]["Restart"] == "always"
    assert 1 <= int(unit["Service"]["RestartSec"]) <= 10


supervisord()
image()
container()
configuration()
rows()
files()
