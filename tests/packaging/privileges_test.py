#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the packages give the daemon and its companions against what the programs ask for: capabilities, users,
AppArmor's profiles.

usage: privileges_test.py SOURCE_DIR [unittest arguments]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
PACKAGING = SOURCE / "packaging"
UNIT = PACKAGING / "lldp-level.service"
COMPANIONS = ("exporter", "agentx", "hook")


def of_unit(key, unit=UNIT):
    return re.findall(rf"(?m)^{key}=(.*)$", unit.read_text())


def of_code(file, pattern):
    return re.findall(pattern, (SOURCE / file).read_text())


class Privileges(unittest.TestCase):
    def test_capabilities_are_what_the_daemon_keeps(self):
        kept = of_code("agent/process/privileges.cpp", r"kKept\{([^}]*)\}")[0].replace(",", " ").split()
        for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
            self.assertEqual({word for line in of_unit(key) for word in line.split()}, set(kept), key)

    def test_companions_are_services_without_capabilities_of_users_of_their_own(self):
        kinds = dict(re.findall(r'(?s)const Kind k\w+\{\s*"(\w+)",\s*"[^"]+",\s*"([^"]+)"',
                                (SOURCE / "agent/companions/kind.cpp").read_text()))
        self.assertEqual(kinds, {kind: f"lldp-level-{kind}" for kind in COMPANIONS})
        folder, = of_unit("Environment=LLDP_LEVEL_LAUNCHERS")
        wanted = {word for line in of_unit("Wants") for word in line.split()}
        ordered = {word for line in of_unit("After") for word in line.split()}
        upheld = {word for line in of_unit("Upholds") for word in line.split()}
        for kind in COMPANIONS:
            service, socket = (PACKAGING / f"lldp-level-{kind}.{suffix}" for suffix in ("service", "socket"))
            self.assertLessEqual({socket.name}, wanted & ordered)
            self.assertIn(socket.name, upheld)  # however often its service fails
            self.assertLessEqual(int(*of_unit("TasksMax", service)), 256)
            self.assertEqual(of_unit("ListenSequentialPacket", socket), [f"{folder}/{kind}"])
            self.assertEqual(of_unit("SocketUser", socket) + of_unit("SocketMode", socket), [*of_unit("User"), "0600"])
            self.assertEqual(of_unit("User", service), [f"lldp-level-{kind}"])
            self.assertEqual(of_unit("CapabilityBoundingSet", service), [""])
            self.assertEqual(of_unit("AmbientCapabilities", service), [])
            self.assertEqual(of_unit("AppArmorProfile", service), [f"-lldp-level-{kind}"])
            self.assertEqual(of_unit("PartOf", service), [UNIT.name])
            self.assertEqual(of_unit("StopWhenUnneeded", socket), ["yes"])
            # The file, as root reads it, and not what whoever asks says.
            self.assertEqual(of_unit("ExecStart", service),
                             [f"/usr/libexec/lldp-level/lldp-level-launcher {kind} - /etc/lldp-level/lldp-level.conf.d"])
            self.assertEqual(of_unit("StandardInput", service), ["file:/etc/lldp-level/lldp-level.conf"])

    def test_apparmor_has_the_same_and_knows_the_companions(self):
        text = (PACKAGING / "apparmor/lldp-level").read_text()
        profiles = dict(re.findall(r"(?ms)^profile ([\w-]+)[^\n]*\{\n(.*?)^\}", text))
        self.assertEqual(set(profiles), {"lldp-leveld", "lldp-level-exporter", "lldp-level-agentx", "lldp-level-hook"})
        has = {name: {"CAP_" + word.upper() for word in re.findall(r"(?m)^  capability (\w+),$", body)}
               for name, body in profiles.items()}
        # By hand, as root, it forks the launchers, which become other users.
        self.assertEqual(has["lldp-leveld"], {"CAP_SETUID", "CAP_SETGID",
                                              *(word for line in of_unit("AmbientCapabilities") for word in line.split())})
        companions = set(profiles) - {"lldp-leveld"}
        self.assertEqual({name for name in companions if has[name]}, set())
        self.assertEqual(set(re.findall(r"rpix -> &([\w-]+),", profiles["lldp-leveld"])), companions)
        for name in companions:  # nothing of the wire's, nor of the rules'
            self.assertNotRegex(profiles[name], r"(?m)^  network(,| packet| netlink)|/sys/fs/bpf|/var/lib/lldp-level")

    def test_users_of_the_companions_are_made_and_removed(self):
        users = [f"lldp-level-{kind}" for kind in COMPANIONS]
        made = dict(re.findall(r"(?m)^u (\S+) (\S+)", (PACKAGING / "sysusers.conf").read_text()))
        self.assertEqual(set(made), {*users, *of_unit("User")})
        self.assertEqual(made["lldp-level-hook"], "-:lldp-level")  # it may look at the control socket
        purge = (PACKAGING / "debian/lldp-level.postrm").read_text()
        self.assertEqual(set(re.search(r"for user in (.*); do", purge)[1].split()), set(made))
        spec = (PACKAGING / "rpm/lldp-level.spec").read_text()
        self.assertEqual(set(re.findall(r"getent passwd (\S+)", spec)), set(made))

    def test_users_can_be_made(self):
        """A name with a colon is none to systemd, nor to useradd."""
        spec = (PACKAGING / "rpm/lldp-level.spec").read_text()
        self.assertEqual([name for name in re.findall(r"--comment '([^']*)'", spec) if ":" in name], [])
        if not shutil.which("systemd-sysusers"):
            self.skipTest("no systemd-sysusers here")
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / "etc").mkdir()
            said = subprocess.run(["systemd-sysusers", f"--root={root}", (PACKAGING / "sysusers.conf").resolve()],
                                  capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)
            made = (pathlib.Path(root) / "etc/passwd").read_text()
        self.assertEqual(set(re.findall(r"(?m)^([^:]+):", made)),
                         set(re.findall(r"(?m)^u (\S+)", (PACKAGING / "sysusers.conf").read_text())))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
