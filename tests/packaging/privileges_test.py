#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the packages give the daemon and its companions against what the programs ask for: capabilities, users, the
unit's sandbox.

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
WORST = 20  # tenths, as systemd-analyze security counts


def of_unit(key):
    return re.findall(rf"(?m)^{key}=(.*)$", UNIT.read_text())


def of_code(file, pattern):
    return re.findall(pattern, (SOURCE / file).read_text())


class Privileges(unittest.TestCase):
    def test_capabilities_are_what_the_daemon_keeps_and_the_launchers_need(self):
        kept = of_code("agent/process/privileges.cpp", r"kKept\{([^}]*)\}")[0].replace(",", " ").split()
        wanted = {*kept, "CAP_SETUID", "CAP_SETGID"}
        for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
            self.assertEqual({word for line in of_unit(key) for word in line.split()}, wanted, key)

    def test_apparmor_has_the_same_and_knows_the_companions(self):
        text = (PACKAGING / "apparmor/lldp-level").read_text()
        profiles = dict(re.findall(r"(?ms)^profile ([\w-]+)[^\n]*\{\n(.*?)^\}", text))
        self.assertEqual(set(profiles), {"lldp-leveld", "lldp-level-exporter", "lldp-level-agentx", "lldp-level-hook"})
        has = {name: {"CAP_" + word.upper() for word in re.findall(r"(?m)^  capability (\w+),$", body)}
               for name, body in profiles.items()}
        self.assertEqual(has["lldp-leveld"], {word for line in of_unit("AmbientCapabilities") for word in line.split()})
        companions = set(profiles) - {"lldp-leveld"}
        self.assertEqual({name for name in companions if has[name]}, set())
        self.assertEqual(set(re.findall(r"rpix -> &([\w-]+),", profiles["lldp-leveld"])), companions)
        for name in companions:  # nothing of the wire's, nor of the rules'
            self.assertNotRegex(profiles[name], r"(?m)^  network(,| packet| netlink)|/sys/fs/bpf|/var/lib/lldp-level")

    def test_apparmor_reads_the_profile(self):
        if not shutil.which("apparmor_parser"):
            self.skipTest("no apparmor_parser here")
        said = subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache",
                               PACKAGING / "apparmor/lldp-level"], capture_output=True, text=True)
        wrong = [line for line in said.stderr.splitlines() if "interface file missing" not in line]
        self.assertEqual((said.returncode, wrong), (0, []))

    def test_users_of_the_companions_are_made_and_removed(self):
        users = of_code("agent/companions/companions.cpp", r'constexpr const char\* k\w+User = "([^"]+)"')
        self.assertEqual(len(users), 3)
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

    def test_sandbox_is_tight(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")
        said = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--threshold={WORST}", UNIT],
                              capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stdout[-200:] + said.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
