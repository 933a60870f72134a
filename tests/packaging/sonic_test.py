#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the package for SONiC is made of: manifest and model, supervisord's configuration, the daemon's configuration, the
scripts, the plugins of SONiC's command line; and that each names what is there.

    sonic_test.py SOURCE BIN"""
import configparser
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

source, programs = map(pathlib.Path, sys.argv[1:])
sonic = source / "packaging/sonic"
text_of = lambda name: (sonic / name).read_text()


def supervisord():
    parser = configparser.RawConfigParser(inline_comment_prefixes=(" ;",))
    parser.read_string(text_of("supervisord.conf"))
    assert parser["supervisord"].getboolean("nodaemon"), "the container would end at once"
    names = {s.removeprefix("program:") for s in parser.sections() if s.startswith("program:")}
    assert names == {"lldp-leveld", "lldpd-socket"}
    critical = [line.split(":") for line in text_of("critical_processes").split()]
    assert critical == [["program", "lldp-leveld"]], critical
    # Whatever it ended for, as systemd does elsewhere: memory that had run out is there again, a file is mended.
    for name in names:
        program = parser["program:" + name]
        assert program.getboolean("autorestart") and program.getboolean("autostart"), name
        assert program.getint("startretries") >= 1_000_000, name
        assert program["stdout_logfile"] == "/dev/stdout" and program["stderr_logfile"] == "/dev/stderr", name
    # `docker stop` gives 10 s, more than supervisor gives the daemon.
    assert parser["program:lldp-leveld"]["stopsignal"] == "TERM" and 2 <= parser["program:lldp-leveld"].getint("stopwaitsecs") < 10
    # What is written to a pipe or to nowhere cannot be turned over: supervisor would end with an error at 50 MB.
    for section in parser.values():
        for key, file in section.items():
            assert not key.endswith("logfile") or file.startswith("/dev/") and section[key + "_maxbytes"] == "0", key
    # By which `supervisorctl status` is answered, and asked.
    assert parser["supervisorctl"]["serverurl"] == "unix://" + parser["unix_http_server"]["file"]
    assert parser["unix_http_server"]["chmod"] == "0700"
    assert parser["rpcinterface:supervisor"]["supervisor.rpcinterface_factory"] == "supervisor.rpcinterface:make_main_rpcinterface"
    return parser


def image(supervisor):
    """Each file is where its reader looks for it."""
    text = re.sub(r"\\\n", " ", text_of("Dockerfile"))
    placed = {}
    for words in re.findall(r"(?m)^COPY (.+)$", text):
        *files, to = words.split()
        for file in files:
            assert "*" in file or (source / file).exists(), file
            placed[(to + pathlib.Path(file).name) if to.endswith("/") else to] = file
            for below in (source / file).rglob("*") if (source / file).is_dir() else ():
                placed[to + "/" + str(below.relative_to(source / file))] = str(below.relative_to(source))
    for needed in ("/etc/lldp-level/lldp-level.conf", "/etc/supervisor/critical_processes"):  # SONiC's listener reads that
        assert needed in placed, needed
    assert re.search(r'(?m)^CMD \["-c", "/etc/supervisor/supervisord.conf"\]$', text) and "/etc/supervisor/supervisord.conf" in placed
    assert supervisor["program:lldp-leveld"]["command"] in placed
    relay = supervisor["program:lldpd-socket"]["command"]
    assert re.search(r"EXEC:(\S+)$", relay)[1] in placed
    assert re.search(r"UNIX-LISTEN:([^,]+),", relay)[1] == re.search(r"(?m)^lldpd.socket = (.*)$", text_of("lldp-level.conf"))[1]
    for script in ("sonic-start", "sonic-lldpd", "sonic-pre-shutdown", "sonic-dump"):
        assert os.access(sonic / script, os.X_OK), script
        subprocess.run(["sh", "-n", sonic / script], check=True)
    # What the scripts start is in the package or in Debian's, which are installed.
    installed = re.search(r"apt-get install -y --no-install-recommends ([^&]+)", text)[1].split()
    assert installed == ["redis-tools", "socat", "supervisor", "/tmp/lldp-level_*.deb"], installed
    # Debian 12 is what the package is built for.
    assert "\nFROM debian:bookworm-slim\n" in text
    return placed


def manifest(placed):
    it = json.loads(text_of("manifest.json"))
    version = re.search(r"project\(lldp-level VERSION (\S+)", (source / "CMakeLists.txt").read_text())[1]
    assert it["package"]["version"] == version and it["package"]["name"] == it["service"]["name"] == "lldp-level"
    for action in (it["package"]["debug-dump"], it["service"]["pre-shutdown-action"], *it["cli"]["show"], *it["cli"]["config"]):
        assert action in placed, action
    assert {p["name"] for p in it["processes"]} == {"lldp-leveld"}
    manual = (source / "docs/operate/sonic.md").read_text()
    for volume in it["container"]["volumes"]:
        assert f"| `{volume.split(':')[0]}` |" in manual, volume
    # SONiC's own: its schema, where a copy is named.
    theirs = os.environ.get("SONIC_UTILITIES")
    if not theirs:
        print("manifest.py of SONiC is not here (SONIC_UTILITIES): skipped")
        return it
    package = types.ModuleType("sonic_package_manager")
    package.__path__ = [theirs + "/sonic_package_manager"]  # what it starts with wants Docker
    sys.modules["sonic_package_manager"] = package
    sys.path.insert(0, theirs)
    from sonic_package_manager.manifest import Manifest
    read = Manifest.marshal(it).unmarshal()
    for part, fields in it.items():  # every field of ours is one that it knows
        for name in fields if isinstance(fields, dict) else ():
            assert name in read[part], (part, name)
    return it


def model(configured):
    """The model by libyang, alone or with SONiC's own, and rows that it takes and refuses."""
    yang = text_of("sonic-lldp-level.yang")
    assert all(table in yang for table in configured["package"]["init-cfg"])
    if not shutil.which("yanglint"):
        print("yanglint is not here: skipped")
        return
    with tempfile.TemporaryDirectory() as directory:
        models = os.environ.get("SONIC_YANG_MODELS", directory)
        if models == directory:  # in its place: ports have names
            (pathlib.Path(directory) / "sonic-port.yang").write_text(
                'module sonic-port { namespace "http://github.com/sonic-net/sonic-port"; prefix port; container sonic-port {'
                " container PORT { list PORT_LIST { key name; leaf name { type string; } leaf lanes { type string; } leaf speed { type string; } } } } }")
        def lint(rows):
            data = pathlib.Path(directory) / "rows.json"
            data.write_text(json.dumps({"sonic-port:sonic-port": {"PORT": {"PORT_LIST": [
                {"name": "Ethernet0", "lanes": "1", "speed": 100000 if models != directory else "100000"}]}},
                "sonic-lldp-level:sonic-lldp-level": rows}))
            return subprocess.run(["yanglint", "-p", models, "-t", "config", sonic / "sonic-lldp-level.yang",
                                   *sorted(pathlib.Path(models).glob("*.yang")), data], capture_output=True, text=True)
        device = lambda **fields: {"LLDP_LEVEL": {"GLOBAL": {k.replace("_", "-"): v for k, v in fields.items()}}}
        port = lambda name, **fields: {"LLDP_LEVEL_PORT": {"LLDP_LEVEL_PORT_LIST": [{"ifname": name, **fields}]}}
        taken = [device(role="switch", level=254, ports="Ethernet*,-Ethernet0", host_ports="Ethernet?", backend="none", tx_interval=30,
                        tx_hold=4, lossless="3:dscp3>2:dscp19,4:dscp4>5:dscp43", lossy="0:dscp0", restore="no", rewrite_verified="yes"),
                 device(role=configured["package"]["init-cfg"]["LLDP_LEVEL"]["GLOBAL"]["role"]),
                 port("Ethernet0", admin="off", description="rack 4", unheard="ok", crosslink="yes")]
        refused = [device(level=0), device(level=255), device(role="leaf"), device(lossless=""), device(lossy="8:dscp0"), device(color="red"),
                   device(tx_interval=3601), port("Ethernet1", admin="off"), port("Ethernet0", admin="on"), port("Ethernet0", unheard="no")]
        for rows in taken:
            done = lint(rows)
            assert done.returncode == 0, (rows, done.stderr)
        for rows in refused:
            assert lint(rows).returncode != 0, rows


def scripts():
    """What the container runs, with programs in the place of SONiC's."""
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        def program(name, body):
            (here / name).write_text(f"#!/bin/sh\n{body}\n")
            (here / name).chmod(0o755)
        def log():
            return (here / "log").read_text().splitlines() if (here / "log").exists() else []
        path = {"PATH": f"{here}:/usr/bin:/bin"}
        # The rules go where the feature was disabled, and at no other stop.
        for state, gone in (("disabled", True), ("enabled", False), ("", False)):
            (here / "log").unlink(missing_ok=True)
            program("redis-cli", f'[ "$*" = "-s /r -n 4 hget FEATURE|lldp-level state" ] && echo {state}')
            for name in ("supervisorctl", "lldp-leveld"):
                program(name, f'echo "{name} $*" >>{here}/log')
            done = subprocess.run(["sh", sonic / "sonic-pre-shutdown"], env=path | {"REDIS_SOCKET": "/r"})
            assert done.returncode == 0
            assert log() == (["supervisorctl stop lldp-leveld", "lldp-leveld --config /etc/lldp-level/lldp-level.conf --remove-rules"]
                             if gone else []), (state, log())
        # The dump has every command's answer, also where one fails.
        program("lldp-level", 'echo "says $*"; [ "$1" != doctor ]')
        dump = subprocess.run(["sh", sonic / "sonic-dump"], env=path, capture_output=True, text=True).stdout
        for command in ("show", "rules", "config", "stats", "doctor", "show --sent"):
            assert f"=== lldp-level {command}\nsays {command}\n" in dump, dump
        # The group of Redis' socket, whose number is the host's, is the daemon's.
        program("setpriv", f'echo "$*" >{here}/log')
        (here / "redis").touch()
        for socket_file, group in ((here / "redis", (here / "redis").stat().st_gid), (here / "none", 0)):
            subprocess.run(["sh", sonic / "sonic-start"], env=path | {"REDIS_SOCKET": str(socket_file)}, check=True)
            assert log() == [f"--groups 0,{group} /usr/sbin/lldp-leveld --config /etc/lldp-level/lldp-level.conf"], log()


def relay():
    """lldpd's control socket is found by its process, whichever it is, and joined."""
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        def process(pid, name, listening):
            run = here / "proc" / str(pid) / "root/run"
            run.mkdir(parents=True)
            (here / "proc" / str(pid) / "comm").write_text(name + "\n")
            if not listening:
                return None
            server = socket.socket(socket.AF_UNIX)
            server.bind(str(run / "lldpd.socket"))
            server.listen()
            return server
        process(7, "bash", False)
        process(8, "lldpd", False)  # in a directory of its own
        join = ["sh", sonic / "sonic-lldpd", here / "proc"]
        none = subprocess.run(join, capture_output=True, text=True)
        assert none.returncode == 1 and "no lldpd with a control socket" in none.stderr, none
        if not shutil.which("socat"):
            print("socat is not here: skipped")
            return
        server = process(9, "lldpd", True)
        other = process(6, "other", True)
        def answer():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"heard " + connection.recv(100))
        thread = threading.Thread(target=answer)
        thread.start()
        said = subprocess.run(join, input=b"hello", capture_output=True, timeout=60)
        thread.join()
        assert said.stdout == b"heard hello", said
        server.close(), other.close()


def plugins():
    """`show lldp-level` and `config lldp-level`, with click; without it their commands cannot run."""
    yang = text_of("sonic-lldp-level.yang")
    try:
        import click
        from click.testing import CliRunner
    except ImportError:
        print("click is not here: skipped")
        return
    class Db:
        def __init__(self):
            self.rows = {"LLDP_LEVEL": {"GLOBAL": {"role": "switch"}}, "PORT": {"Ethernet0": {}}}
            self.cfgdb = self
        def get_config(self):
            return json.loads(json.dumps(self.rows))
        def set_entry(self, table, key, row):
            if row is None:
                self.rows[table].pop(key, None)
            else:
                self.rows.setdefault(table, {})[key] = row
    db = Db()
    cli, general = types.ModuleType("utilities_common.cli"), types.ModuleType("utilities_common.general")
    cli.pass_db = click.make_pass_decorator(Db)
    seen = []
    class Mgmt:
        def loadData(self, config):
            seen.append(config)
            if config["LLDP_LEVEL"].get("GLOBAL", {}).get("level") == "0":
                raise ValueError("Value \"0\" is out of range")
    general.load_module_from_source = lambda *_: types.SimpleNamespace(FormatConverter=types.SimpleNamespace(to_serialized=lambda c: c))
    config = types.ModuleType("config")
    config.config_mgmt = types.SimpleNamespace(ConfigMgmt=Mgmt)
    common = types.ModuleType("utilities_common")
    common.cli, common.general = cli, general
    sys.modules |= {"utilities_common": common, "utilities_common.cli": cli, "utilities_common.general": general, "config": config}
    def load(name):
        spec = importlib.util.spec_from_file_location("plugin_" + name, sonic / "cli" / (name + ".py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        group = click.Group()
        module.register(group)
        return module, group
    module, group = load("config")
    leaves = lambda part: set(re.findall(r"leaf ([\w-]+) \{", part)) - {"ifname"}
    device, port = re.split("container LLDP_LEVEL_PORT", yang)
    assert set(module.DEVICE) == leaves(device) and set(module.PORT) == leaves(port)
    def say(*words):
        return CliRunner().invoke(group, ["lldp-level", *words], obj=db)
    assert say("global", "set", "level", "2").exit_code == 0 and db.rows["LLDP_LEVEL"]["GLOBAL"] == {"role": "switch", "level": "2"}
    bad = say("global", "set", "level", "0")
    assert bad.exit_code == 1 and "LLDP_LEVEL|GLOBAL: level: the model refuses it" in bad.output and db.rows["LLDP_LEVEL"]["GLOBAL"]["level"] == "2"
    assert say("global", "set", "color", "red").exit_code == 2
    assert say("global", "del", "role").exit_code == 0 and say("global", "del", "role").exit_code == 1
    assert say("global", "del", "level").exit_code == 0 and "GLOBAL" not in db.rows["LLDP_LEVEL"]
    assert say("port", "set", "Ethernet0", "admin", "off").exit_code == 0 and db.rows["LLDP_LEVEL_PORT"] == {"Ethernet0": {"admin": "off"}}
    assert say("port", "del", "Ethernet0", "admin").exit_code == 0 and not db.rows["LLDP_LEVEL_PORT"] and seen
    module, group = load("show")
    asked = []
    module.subprocess = types.SimpleNamespace(run=lambda words: asked.append(words) or types.SimpleNamespace(returncode=len(asked) - 1))
    assert say().exit_code == 0 and say("check").exit_code == 1 and say("ports", "Ethernet0").exit_code == 2
    assert [words[4:] for words in asked] == [["show"], ["check"], ["show", "Ethernet0"]]
    assert all(words[:4] == ["docker", "exec", "lldp-level", "lldp-level"] for words in asked)


def build():
    """The labels are what sonic-package-manager reads of the image."""
    script = source / "packaging/build-sonic.sh"
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        (here / "docker").write_text('#!/bin/sh\ncase $1 in build) for w; do printf "%s\\0" "$w"; done >>' + f'{here}/words;; save) echo image;; esac\n')
        (here / "docker").chmod(0o755)
        subprocess.run(["sh", script, here / "out.gz"], cwd=source, check=True, env={"PATH": f"{here}:/usr/bin:/bin"})
        words = (here / "words").read_text().split("\0")
        labels = dict(w.split("=", 1) for flag, w in zip(words, words[1:]) if flag == "--label")
        assert json.loads(labels["com.azure.sonic.manifest"]) == json.loads(text_of("manifest.json"))
        assert labels["com.azure.sonic.yang-module"] == text_of("sonic-lldp-level.yang").rstrip("\n")
        assert subprocess.run(["gzip", "-dc", here / "out.gz"], capture_output=True).stdout == b"image\n"
        assert not (here / "out.gz.tar").exists()


def files():
    """The daemon's configuration is one, and docs/operate/sonic.md says what each file is for."""
    assert dict(re.findall(r"(?m)^([\w.-]+) = (.*)$", text_of("lldp-level.conf"))) == {
        "role": "switch", "ports": "Ethernet*", "backend": "sonic", "sonic.config-db": "yes", "transport": "lldpd",
        "lldpd.socket": "/run/lldp/lldpd.socket"}
    subprocess.run([programs / "lldp-level", "check-config", sonic / "lldp-level.conf"], check=True, stdout=subprocess.DEVNULL)
    manual = (source / "docs/operate/sonic.md").read_text()
    for path in [*sonic.iterdir(), source / "packaging/build-sonic.sh"]:
        assert path.name in manual, f"docs/operate/sonic.md does not say what {path.name} is for"
    # An emergency leaves the configuration: no command deletes all rows of our tables.
    assert "LLDP_LEVEL*" not in manual and "del 'LLDP_LEVEL" not in manual


model(manifest(image(supervisord())))
scripts()
relay()
plugins()
build()
files()
