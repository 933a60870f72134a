#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds AppArmor's profiles against what each process opens in its life, and against what none may. The rules are read here as
apparmor.d(5) says, with Debian's abstractions; tests/vm/apparmor has the kernel hold the processes to them, where one can be booted.

usage: apparmor_test.py SOURCE_DIR [unittest arguments]
"""
import functools
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
FILE = SOURCE / "packaging/apparmor/lldp-level"
ABSTRACTIONS = pathlib.Path("/etc/apparmor.d")
VARIABLES = {"run": "{/run,/var/run}", "PROC": "/proc", "sys": "/sys", "pid": "[0-9]*", "etc_ro": "{/etc,/usr/etc}",
             "multiarch": "*-linux-gnu*", "HOME": "/home/*", "HOMEDIRS": "/home"}
LIBRARY = "/usr/lib/x86_64-linux-gnu/"

# What a process with the C library does before its main().
STARTS = [("/etc/ld.so.cache", "r"), (LIBRARY + "libc.so.6", "mr"), ("/dev/null", "rw")]
LOGS = [("/run/systemd/journal/socket", "w"), ("/run/systemd/journal/stdout", "rw")]
SNMP = [("/var/agentx/master", "rw"), ("/etc/hosts", "r"), ("/etc/resolv.conf", "r"), ("/etc/ssl/openssl.cnf", "r"), ("/proc/stat", "r")]
HOOK = [("/usr/bin/logger", "x"), ("/bin/sh", "x"), ("/usr/local/bin/page", "x"), ("/usr/libexec/pager", "x"),
        ("/etc/ssl/certs/ca-certificates.crt", "r"), ("/etc/resolv.conf", "r"), ("/tmp/of-a-hook", "rw"), ("/proc/42/stat", "r")]
LAUNCHER = "/usr/libexec/lldp-level/lldp-level-launcher"


def launched(kind):
    """What the launcher of a kind does, and its program on the connection that it was handed."""
    return [*STARTS, *LOGS, (LAUNCHER, "mrx"), ("/etc/lldp-level/lldp-level.conf", "r"), ("/etc/passwd", "r"),
            (f"/run/lldp-level-launch/{kind}", "rw"), ("/run/lldp-level/control", "rw"), ("/proc/42/stat", "r")]


NEEDS = {
    "lldp-leveld": [
        *STARTS, *LOGS, ("/usr/sbin/lldp-leveld", "mr"), ("/usr/local/sbin/lldp-leveld", "mr"),
        ("/etc/lldp-level/lldp-level.conf", "r"), ("/etc/lldp-level/topology.dot", "r"), ("/etc/passwd", "r"), ("/etc/group", "r"),
        ("/run/lldp-level/control", "rwk"), ("/var/lib/lldp-level/state.new", "rwk"), ("/run/lldp-level-launch/hook", "rw"),
        ("/sys/fs/bpf/lldp-level/1/state", "rw"), ("/run/lldp-level/bpf/1/state", "rw"), ("/sys/bus/pci/devices/", "r"),
        ("/sys/devices/system/cpu/possible", "r"), ("/sys/devices/pci0000:00/0000:00:01.0/net/", "r"),
        # Where lldpd's socket will be made, and what notifies of it.
        ("/run/lldpd.socket", "rw"), ("/run/", "r"), ("/run/lldp/", "r"), ("/run/systemd/notify", "rw"),
        ("/run/systemd/journal/dev-log", "rw"), ("/proc/sys/net/ipv4/ip_forward", "r"),
        ("/run/redis/redis.sock", "rw"), ("/run/redis/sonic-db/database_config.json", "r"),
        # Of those that it starts where they are no services, under its profile too.
        *SNMP, *HOOK, ("/usr/libexec/lldp-level/lldp-level-sai", "x"), ("/proc/42/task/43/children", "r")],
    "lldp-level-exporter": [*launched("exporter"), ("/usr/libexec/lldp-level/lldp-level-exporter", "mrx")],
    "lldp-level-agentx": [*launched("agentx"), ("/usr/libexec/lldp-level/lldp-level-agentx", "mrx"), *SNMP],
    "lldp-level-hook": [*launched("hook"), *HOOK, ("/proc/42/task/43/children", "r")],
}
NEVER = {
    "lldp-leveld": [("/etc/lldp-level/lldp-level.conf", "w"), ("/etc/shadow", "r"), ("/etc/gshadow-", "r"), ("/home/me/.ssh/id", "r"),
                    ("/root/.bashrc", "r"), ("/usr/bin/ls", "w"), ("/sys/fs/bpf/another/map", "r"), ("/sys/fs/bpf/another/map", "w"),
                    ("/dev/mem", "r"), ("/proc/sys/net/ipv4/ip_forward", "w"), ("/sys/devices/system/cpu/possible", "w")],
    "lldp-level-exporter": [("/var/lib/lldp-level/state", "r"), ("/bin/sh", "x"), ("/etc/lldp-level/lldp-level.conf", "w"),
                            ("/etc/shadow", "r"), ("/tmp/x", "w"), ("/run/lldp-level-launch/hook", "w")],
    "lldp-level-agentx": [("/var/lib/lldp-level/state", "r"), ("/bin/sh", "x"), ("/etc/snmp/snmpd.conf", "rw"),
                          ("/var/lib/snmp/cert_indexes/", "w"),
                          ("/etc/shadow", "r"), ("/tmp/x", "w"), ("/run/lldp-level-launch/hook", "w")],
    "lldp-level-hook": [("/var/lib/lldp-level/state", "r"), ("/etc/shadow", "r"), ("/etc/gshadow-", "r"), ("/etc/aa", "w"),
                        ("/run/lldp-level/bpf/1/state", "w"), ("/sys/fs/bpf/lldp-level/1/state", "w"),
                        ("/run/lldp-level-launch/exporter", "w"), ("/usr/bin/logger", "w")],
}


def expression(glob):
    """What a path has to match, by apparmor.d(5)."""
    for _ in range(3):
        glob = re.sub(r"@\{(\w+)\}", lambda m: VARIABLES[m[1]], glob)
    glob = re.sub(r"/{2,}", "/", glob)
    out, depth = "", 0
    for token in re.findall(r"\*\*|\[[^]]*\]|.", glob):
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        out += {"**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}.get(token) or (
            "|" if token == "," and depth else token if token.startswith("[") else re.escape(token))
    return re.compile(out)


@functools.cache
def rules_of(text):
    """Every rule, those of included files among them."""
    found = []
    for line in re.sub(r"(?m)#(?!include).*$", "", text).splitlines():
        if include := re.match(r"\s*#?include (if exists )?<(.*)>", line):
            path = ABSTRACTIONS / include[2]
            if path.is_file():
                found += rules_of(path.read_text())
            elif not include[1]:
                raise FileNotFoundError(path)
        else:
            found += [rule.strip() for rule in re.findall(r"\s*(.+?),\s*$", line)]
    return found


@functools.cache
def profiles():
    return {name: [rule.replace("@{profile_name}", name) for rule in rules_of(body)] for name, body in
            re.findall(r"(?ms)^profile ([\w-]+)[^\n]*\{\n(.*?)^\}", FILE.read_text())}


@functools.cache
def files_of(profile):
    """(denied, expression, letters) of every rule about files."""
    found = []
    for rule in profiles()[profile]:
        if match := re.fullmatch(r'(deny )?(?:audit )?(?:owner )?([/@]\S*) +([a-zA-Z]+)(?: -> .*)?', rule):
            found.append((bool(match[1]), expression(match[2]), set(match[3])))
    return found


def allows(profile, path, access):
    given = set()
    for denied, pattern, letters in files_of(profile):
        if pattern.fullmatch(path):
            if denied and letters & set(access):
                return False
            given |= letters
    return set(access) <= given


def families(profile):
    return {"AF_" + rule.split()[1].upper() for rule in profiles()[profile] if re.match(r"network \w+", rule)}


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (ABSTRACTIONS / "abstractions/base").is_file():
            raise unittest.SkipTest("AppArmor's abstractions are not installed")

    def test_rules_are_understood(self):
        self.assertTrue(expression("/{usr/,}{bin,sbin}/**").fullmatch("/sbin/a/b"))
        self.assertFalse(expression("/etc/*").fullmatch("/etc/a/b"))
        self.assertTrue(expression("@{run}/{,**/}").fullmatch("/var/run/a/b/"))
        self.assertEqual(set(profiles()), set(NEEDS))

    def test_every_process_may_do_its_work(self):
        for profile, needed in NEEDS.items():
            for path, access in needed:
                with self.subTest(profile=profile, path=path, access=access):
                    self.assertTrue(allows(profile, path, access))

    def test_none_may_do_what_is_not_its_work(self):
        for profile, forbidden in NEVER.items():
            for path, access in forbidden:
                with self.subTest(profile=profile, path=path, access=access):
                    self.assertFalse(allows(profile, path, access))

    def test_every_path_that_the_daemons_sources_name_can_be_read(self):
        rooms = [SOURCE / "agent" / room for room in ("config", "daemon", "links", "lldpd", "process", "wire")]
        sources = itertools.chain.from_iterable(room.rglob("*.?pp") for room in (*rooms, SOURCE / "os", SOURCE / "dataplane"))
        named = {path for file in sources for path in re.findall(r'"(/(?:etc|proc|run|sys|usr|var)/[^"\s]+)"', file.read_text())}
        self.assertGreater(len(named), 12)
        for path in named:
            # A daemon looks at itself; whose links of /proc it asks for is no question of files. What it names below /sys/class/net
            # are links into /sys/devices.
            real = re.sub("^/proc/(thread-)?self", "/proc/42", path)
            if real in ("/proc/42/exe", "/proc/42/ns/net", "/sys/class/net"):
                continue
            with self.subTest(path=path):
                self.assertTrue(any(allows("lldp-leveld", p, "r") for p in (real, real + "/")))

    def test_sockets_are_those_of_the_units(self):
        for profile, unit in (("lldp-leveld", "lldp-level"), *((name, name) for name in NEEDS if name != "lldp-leveld")):
            text = (SOURCE / f"packaging/{unit}.service").read_text()
            wanted = set(re.search(r"(?m)^RestrictAddressFamilies=(.*)$", text)[1].split())
            if profile == "lldp-leveld":  # and of the companions that it starts where they are no services
                wanted |= families("lldp-level-exporter") | families("lldp-level-agentx")
            with self.subTest(profile=profile):
                has = families(profile)
                self.assertLessEqual(wanted, has)
                self.assertLessEqual(has - wanted, {"AF_NETLINK"})  # of abstractions/nameservice

    def test_whoever_has_to_end_can_be_told(self):
        """systemd tells the daemon and the launchers; a launcher ends what it started, under both profiles too."""
        for profile in NEEDS:
            received = [rule for rule in profiles()[profile]
                        if re.match(r"signal \([^)]*receive|signal peer|signal,", rule) and " set=" not in rule]
            peers = [re.search(r"peer=(\S+)", rule) for rule in received]
            hears = lambda name: any(p is None or expression(p[1]).fullmatch(name) for p in peers)
            for name in {"lldp-leveld": ("unconfined", "lldp-level-hook//&lldp-leveld")}.get(profile, ("unconfined", "lldp-leveld")):
                self.assertTrue(hears(name), (profile, name))
        for profile, whom in (("lldp-leveld", "lldp-level-exporter//&lldp-leveld"), ("lldp-level-hook", "lldp-leveld")):
            sent = [re.search(r"peer=(\S+)", rule) for rule in profiles()[profile] if re.match(r"signal \([^)]*send", rule)]
            self.assertTrue(any(p and expression(p[1]).fullmatch(whom) for p in sent), profile)

    def test_an_operator_has_a_place_for_each(self):
        """A changed file would be asked about at every upgrade."""
        text = FILE.read_text()
        self.assertEqual(re.findall(r"(?m)^  include if exists <local/([\w-]+)>$", text),
                         ["lldp-level", "lldp-level-exporter", "lldp-level-agentx", "lldp-level-hook"])
        self.assertIn("\nabi <abi/3.0>,\n", text)  # without it, the kernel's own: network rules may count for nothing

    def test_parser_reads_them(self):
        if not shutil.which("apparmor_parser"):
            self.skipTest("no apparmor_parser here")
        said = subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", FILE], capture_output=True, text=True)
        wrong = [line for line in said.stderr.splitlines() if "interface file missing" not in line]
        self.assertEqual((said.returncode, wrong), (0, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
