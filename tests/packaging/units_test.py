#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every line of the units to a reason: what a sandbox leaves open is what somebody needs, by systemd's own count, and a
directive that is no sandbox's has a line here of what would be seen without it.

usage: units_test.py SOURCE_DIR [unittest arguments]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
PACKAGING = SOURCE / "packaging"
KINDS = ("exporter", "agentx", "hook")
LABELS = ("lldp-level-nfd", "lldp-level-topograph")
UNITS = {path.name: path for folder in (PACKAGING, PACKAGING / "kubernetes")
         for path in folder.iterdir() if path.suffix in (".service", ".socket", ".timer")}

# What each sandbox leaves open, as `systemd-analyze security` calls it, and for whom.
ALL = {"RootDirectoryOrRootImage": "the host's programs and libraries",
       "DeviceAllow": "the clock, which ProtectClock= itself allows to be read",
       "PrivateUsers": "machines that forbid user namespaces could not start it",
       "RestrictAddressFamilies_AF_UNIX": "the daemon, its clients, the log"}
NETWORK = {"PrivateNetwork": "the host's ports, or whoever is spoken to over them"}
COMPANION = ALL | NETWORK | {"RestrictAddressFamilies_AF_INET_INET6": "HTTP, the SNMP agent, whoever is alerted",
                             "IPAddressDeny": "this machine; for a hook, any"}
OPEN = {
    "lldp-level": ALL | NETWORK | {
        "RestrictAddressFamilies_AF_PACKET": "frames",
        "RestrictAddressFamilies_AF_NETLINK": "links, filters, queues",
        "ProtectHostname": "the name of the host as it changes",
        "AmbientCapabilities": "it is no root",
        "CapabilityBoundingSet_CAP_BPF": "rules",
        "CapabilityBoundingSet_CAP_NET_ADMIN": "filters, queues",
        "CapabilityBoundingSet_CAP_NET_BIND_SERVICE_BROADCAST_RAW)": "frames",
        "SystemCallFilter_privileged": "bpf, and capset to give up what it has"},
    "lldp-level-exporter": COMPANION,
    "lldp-level-agentx": COMPANION,
    "lldp-level-hook": COMPANION | {"RestrictAddressFamilies_AF_NETLINK": "what a hook looks at of links"},
    **{name: ALL | {
        "UserOrDynamicUser": "its folder is root's",
        "CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER": "the control socket is lldp-level's",
        "UMask": "feature discovery reads the file",
        "SystemCallFilter_privileged": "a shell and coreutils",
        "SystemCallFilter_resources": "a shell and coreutils",
        "IPAddressDeny": "it has no network at all",
        "PrivateMounts": "it may not mount", "ProtectProc": "nothing is read there", "ProcSubset": "nothing is read there"} for name in LABELS},
}

# What is no sandbox's and checked nowhere else: its value, and what is seen without it.
SERVICE = {
    "SystemCallErrorNumber": ("EPERM", "a library that tries something would be killed, and not told that it may not")}
LAUNCHED = SERVICE | {
    "RefuseManualStart": ("yes", "one that is started by hand has no daemon to serve"),
    "StartLimitIntervalSec": ("0", "after five failures none would come back while the socket stands"),
    "StandardOutput": ("journal", "it would be the configuration's file, as standard input is"),
    "TimeoutStopSec": ("5", "a hook that hangs would hold up the machine's end for 90 s")}
PROMISED = {
    "lldp-level.service": SERVICE | {
        "Type": ("notify", "units after it would start before it has found its ports"),
        "RestartSec": ("1", "ten starts a second of a daemon whose configuration is wrong"),
        "OOMScoreAdjust": ("-500", "a machine short of memory would lose its LLDP agent before the hog"),
        "LimitMEMLOCK": ("infinity", "before Linux 5.11 no rules: their maps are locked memory"),
        "WantedBy": ("multi-user.target", "`systemctl enable` would do nothing")},
    **{f"lldp-level-{kind}.service": LAUNCHED for kind in KINDS},
    **{f"lldp-level-{kind}.socket": {"RemoveOnStop": ("yes", "what is left would look like a launcher to a daemon by hand")}
       for kind in KINDS},
    **{f"{name}.timer": {
        "OnActiveSec": ("10s", "no labels until somebody starts the service"),
        "OnUnitInactiveSec": ("1min", "labels of where the machine stood when it was started"),
        "WantedBy": ("timers.target", "no labels after the next start of the machine")} for name in LABELS},
}


def of_unit(name, key):
    return re.findall(rf"(?m)^{key}=(.*)$", UNITS[name].read_text())


class Sandboxes(unittest.TestCase):
    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")

    def analyzed(self, name, *more):
        path = UNITS[f"{name}.service"]
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", *more, path],
                              capture_output=True, text=True, check=True)
        return done.stdout

    def test_every_service_is_looked_at(self):
        self.assertEqual({name.removesuffix(".service") for name in UNITS if name.endswith(".service")}, set(OPEN))

    def test_leave_open_what_is_needed_and_nothing_else(self):
        for name, needed in OPEN.items():
            with self.subTest(unit=name):
                checks = {check["json_field"]: check for check in json.loads(self.analyzed(name, "--json=short"))}
                self.assertEqual({field for field, check in checks.items() if check["set"] is False}, set(needed))
                # A list of what is forbidden lets through what the next kernel has.
                for field, check in checks.items():
                    if field.startswith("SystemCallFilter_"):
                        self.assertTrue(check["description"].startswith("System call allow list"), check)

    def test_what_is_said_of_the_scores_is_so(self):
        text = (SOURCE / "docs/operate/security.md").read_text()
        said = dict(re.findall(r"(?m)^\| `([\w-]+)\.service` \| (\d\.\d) \|", text))
        self.assertEqual(set(said), set(OPEN) - set(LABELS))
        for name, score in said.items():
            self.assertEqual(re.search(r"Overall exposure level for \S+: ([\d.]+)", self.analyzed(name))[1], score, name)


class Promises(unittest.TestCase):
    def test_are_kept(self):
        for name, promises in PROMISED.items():
            for key, (value, otherwise) in promises.items():
                with self.subTest(unit=name, key=key):
                    self.assertEqual(of_unit(name, key), [value], f"without it: {otherwise}")

    def test_manual_is_named_and_there(self):
        for name in UNITS:
            with self.subTest(unit=name):
                pages = re.findall(r"man:([\w.-]+)\((\d)\)", *of_unit(name, "Documentation"))
                self.assertTrue(pages)
                for page, section in pages:
                    self.assertTrue((SOURCE / "man" / f"{page}.{section}").is_file(), page)

    def test_daemon_that_hangs_is_back_before_its_neighbors_forget_it(self):
        options = (SOURCE / "agent/config/options.cpp").read_text()
        interval, hold = (int(re.search(rf'"lldp\.{key}", "\w+", "(\d+)"', options)[1])
                          for key in ("tx-interval", "tx-hold"))
        silence, pause = (int(*of_unit("lldp-level.service", key)) for key in ("WatchdogSec", "RestartSec"))
        self.assertLess(silence + pause + interval, interval * hold)

    def test_folders_are_where_the_daemon_looks(self):
        """It is no root, and could make none of them."""
        config = "".join((SOURCE / "agent/config" / name).read_text() for name in ("options.cpp", "config.hpp"))
        for key, folder, constant in (("RuntimeDirectory", "/run", "kDefaultSocket"),
                                      ("StateDirectory", "/var/lib", "kDefaultStateFile")):
            name, = of_unit("lldp-level.service", key)
            self.assertRegex(config, rf'{constant}\b[^;]*"{folder}/{re.escape(name)}/')

    def test_companion_has_the_group_that_it_is_to_have(self):
        """Its own; a hook's is the daemon's, by which it may look at the control socket."""
        for kind in KINDS:
            self.assertEqual(of_unit(f"lldp-level-{kind}.service", "Group"),
                             ["lldp-level" if kind == "hook" else f"lldp-level-{kind}"])

    def test_companion_that_serves_this_machine_hears_no_other(self):
        for kind, allowed in (("exporter", ["localhost"]), ("agentx", ["localhost"]), ("hook", [])):
            self.assertEqual(of_unit(f"lldp-level-{kind}.service", "IPAddressAllow"), allowed)

    def test_tasks_are_bounded(self):
        for kind, most in (("exporter", 16), ("agentx", 16), ("hook", 256)):
            self.assertEqual(of_unit(f"lldp-level-{kind}.service", "TasksMax"), [str(most)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
