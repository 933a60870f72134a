#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what is shipped beside the programs against what they need: the service, the package's scripts, ./run.

usage: shipped_test.py SOURCE_DIR [unittest arguments]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
PACKAGING = SOURCE / "packaging"


def unit():
    """Sections of the service, each a list of (key, value)."""
    sections = {}
    for line in (PACKAGING / "lldp-level.service").read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(tuple(line.split("=", 1)))
    return sections


class Service(unittest.TestCase):
    def value(self, section, key):
        found = [value for name, value in unit()[section] if name == key]
        self.assertEqual(len(found), 1, key)
        return found[0]

    def test_no_end_is_final(self):
        self.assertEqual(self.value("Service", "Restart"), "always")
        self.assertEqual(self.value("Unit", "StartLimitIntervalSec"), "0")
        self.assertFalse([k for k, _ in unit()["Service"] if k.startswith(("RestartPrevent", "StartLimit"))])

    def test_tells_which_boot_it_is_where_it_hides_that(self):
        self.assertEqual(self.value("Service", "ProcSubset"), "pid")
        self.assertIn(("Environment", "LLDP_LEVEL_BOOT_ID=%b"), unit()["Service"])

    def test_starts_where_there_is_no_bpf_file_system_too(self):
        """Its directory comes to where the daemon looks; without the dash, where it is missing there is no start."""
        source, place = self.value("Service", "BindPaths").split(":")
        self.assertEqual(source, "-/sys/fs/bpf/lldp-level")
        self.assertEqual(self.value("Service", "ExecStart"), f"/usr/sbin/lldp-leveld --bpffs {place}")

    def test_reload_tells_what_is_wrong(self):
        self.assertEqual(self.value("Service", "ExecReload"), "/usr/bin/lldp-level reload")

    def test_lets_the_daemon_open_what_its_own_filter_lets_it_open(self):
        """Fewer, and it hears or sends nothing. Those by IP are for a Redis that is named by its address, and then for
        whoever names it to allow; the exporter is a service of its own."""
        text = (SOURCE / "agent/process/syscall_filter.cpp").read_text()
        sockets = re.search(r'allow_with\("socket", 0, \{([^}]*)\}', text)[1]
        families = set(re.findall(r"AF_\w+", sockets))
        self.assertEqual(families, {"AF_UNIX", "AF_NETLINK", "AF_PACKET"})
        self.assertEqual(set(self.value("Service", "RestrictAddressFamilies").split()), families)

    def test_directory_of_the_rules_is_the_daemons_alone(self):
        """What is pinned there is what packets are changed by."""
        lines = [l.split() for l in (PACKAGING / "tmpfiles.conf").read_text().splitlines() if not l.startswith("#")]
        source = self.value("Service", "BindPaths").split(":")[0].lstrip("-")
        user, group = self.value("Service", "User"), self.value("Service", "Group")
        self.assertEqual(lines, [["d", source, "0700", user, group, "-"]])

    def test_every_unit_says_what_it_is(self):
        units = [p for kind in ("*.service", "*.socket", "*.timer") for p in PACKAGING.rglob(kind)]
        self.assertGreaterEqual(len(units), 9)
        for unit in units:
            with self.subTest(unit.name):
                text = unit.read_text()
                self.assertRegex(text, r"(?m)\A(#.*\n)+\[Unit\]\nDescription=\S")
                self.assertEqual(len(re.findall(r"(?m)^\[\w+\]$", text)), len(set(re.findall(r"(?m)^\[\w+\]$", text))))
                section = "[Service]" if unit.suffix == ".service" else f"[{unit.suffix[1:].capitalize()}]"
                self.assertIn(f"\n{section}\n", text)

    def test_labels_are_made_where_feature_discovery_is(self):
        text = (PACKAGING / "kubernetes/lldp-level-nfd.service").read_text()
        folder = "/etc/kubernetes/node-feature-discovery/features.d"
        for line in (f"ConditionPathIsDirectory={folder}", f"ReadWritePaths={folder}", "Type=oneshot",
                     "ExecStart=/bin/sh /usr/share/lldp-level/kubernetes/nfd-labels",
                     "CapabilityBoundingSet=CAP_DAC_OVERRIDE"):
            self.assertIn(f"\n{line}\n", text)
        self.assertIn(folder, (PACKAGING / "kubernetes/nfd-labels").read_text())

    def test_systemd_takes_every_line(self):
        with tempfile.TemporaryDirectory() as directory:
            copies = []
            for shipped in [*PACKAGING.glob("*.service"), *PACKAGING.glob("*.socket")]:
                copy = pathlib.Path(directory) / shipped.name
                text = re.sub(r"(?m)^(Exec\w+)=\S+", r"\1=/bin/true", shipped.read_text())
                copy.write_text(re.sub(r"(?m)^((?:Socket)?User|Group)=lldp-level.*", r"\1=root", text))
                copies.append(copy)
            self.assertEqual(len(copies), 7)
            try:
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *copies],
                                      capture_output=True, text=True, timeout=60)
            except FileNotFoundError:
                self.skipTest("no systemd-analyze here")
            self.assertEqual([l for l in done.stderr.splitlines() if "lldp-level" in l], [])


class Scripts(unittest.TestCase):
    def calls(self, *words, **environment):
        """How often the package's prerm, called as dpkg calls it, removes the rules."""
        with tempfile.TemporaryDirectory() as directory:
            stub, log = pathlib.Path(directory) / "remove-rules", pathlib.Path(directory) / "log"
            stub.write_text(f"#!/bin/sh\necho called >>{log}\nexit 1\n")
            stub.chmod(0o755)
            text = (PACKAGING / "debian/lldp-level.prerm").read_text()
            self.assertIn("/usr/libexec/lldp-level/remove-rules", text)
            done = subprocess.run(["sh", "-c", text.replace("/usr/libexec/lldp-level/remove-rules", str(stub)),
                                   "prerm", *words], env={"PATH": os.environ["PATH"], **environment})
            self.assertEqual(done.returncode, 0, "rules that stay keep no package from going")
            return log.read_text().count("called") if log.exists() else 0

    def test_rules_go_with_the_package_and_outlive_its_upgrade(self):
        self.assertEqual(self.calls("remove"), 1)
        self.assertEqual(self.calls("upgrade", "0.2.0"), 0)
        self.assertEqual(self.calls("failed-upgrade", "0.1.0"), 0)
        self.assertEqual(self.calls("deconfigure", "in-favour", "x", "1"), 0)

    def test_rules_of_this_machine_stay_when_the_package_is_another_trees(self):
        self.assertEqual(self.calls("remove", DPKG_ROOT="/mnt"), 0)


    def test_state_goes_with_a_purge_and_outlives_a_removal(self):
        for word, left in (("remove", True), ("upgrade", True), ("failed-upgrade", True), ("purge", False)):
            with self.subTest(word), tempfile.TemporaryDirectory() as root:
                kept = [pathlib.Path(root) / "var/lib/lldp-level/state", pathlib.Path(root) / "run/lldp-level/control"]
                for path in kept:
                    path.parent.mkdir(parents=True)
                    path.touch()
                done = subprocess.run(["sh", PACKAGING / "debian/lldp-level.postrm", word],
                                      env={"PATH": os.environ["PATH"], "DPKG_ROOT": root})
                self.assertEqual(done.returncode, 0)
                self.assertEqual([path.exists() for path in kept], [left, left])

    def calls_of(self, script, *words, groups="", exists=True, **environment):
        """What the package's script calls, each of which would change this machine, in order."""
        with tempfile.TemporaryDirectory() as directory:
            stubs, log = pathlib.Path(directory) / "bin", pathlib.Path(directory) / "log"
            stubs.mkdir()
            log.touch()
            answers = {"getent": f"exit {0 if exists else 2}", "id": f"echo {groups}"}
            for name in ("getent", "id", "usermod", "userdel", "deb-systemd-invoke", "rm", "systemd-sysusers",
                         "systemd-tmpfiles"):
                note = "" if name in answers else f'echo "{name} $*" >>{log}\n'
                (stubs / name).write_text(f"#!/bin/sh\n{note}{answers.get(name, 'exit 0')}\n")
                (stubs / name).chmod(0o755)
            text = (PACKAGING / "debian" / script).read_text().replace("/run/systemd/system", directory)
            done = subprocess.run(["sh", "-c", text, script, *words],
                                  env={"PATH": f"{stubs}:{os.environ['PATH']}", **environment})
            self.assertEqual(done.returncode, 0)
            return log.read_text().splitlines()

    def test_daemon_becomes_a_member_of_lldpds_group(self):
        folder = ["systemd-sysusers lldp-level.conf", "systemd-tmpfiles --create lldp-level.conf"]
        member = ["usermod --append --groups _lldpd lldp-level", "deb-systemd-invoke try-restart lldp-level.service"]
        for words in (["configure", ""], ["triggered", "/usr/sbin/lldpd"]):
            self.assertEqual(self.calls_of("lldp-level.postinst", *words, groups="lldp-level"), folder + member)
        self.assertEqual(self.calls_of("lldp-level.postinst", "configure", groups="'lldp-level _lldpd'"), folder)
        self.assertEqual(self.calls_of("lldp-level.postinst", "configure", exists=False), folder)
        self.assertEqual(self.calls_of("lldp-level.postinst", "configure", groups="x", DPKG_ROOT="/mnt"), [])

    def test_daemon_is_told_of_an_lldpd_that_comes_later(self):
        """By a trigger on what lldpd's package installs, which brings dpkg to the postinst above."""
        triggers = (PACKAGING / "debian/lldp-level.triggers").read_text().split()
        self.assertEqual(triggers, ["interest-noawait", "/usr/sbin/lldpd"])

    def test_every_script_runs_by_itself_and_stops_at_a_failure(self):
        """But for one that goes on, and ends with the failure's status."""
        scripts = [*(PACKAGING / "debian").glob("*.p*[mt]"), PACKAGING / "kubernetes/nfd-labels", PACKAGING / "build-sonic.sh",
                   PACKAGING / "remove-rules"]
        self.assertEqual(len(scripts), 6)
        for script in scripts:
            with self.subTest(script.name):
                text = script.read_text()
                self.assertTrue(text.startswith("#!/bin/sh\n"))
                self.assertRegex(text, r"(?m)^set -eu?$" if script.name != "remove-rules" else r"(?m)^exit \$status$")

    def test_users_go_with_a_purge(self):
        users = re.findall(r"(?m)^u\s+(\S+)", (PACKAGING / "sysusers.conf").read_text())
        removed = self.calls_of("lldp-level.postrm", "purge")
        self.assertEqual(removed[0], "rm -rf /var/lib/lldp-level /run/lldp-level /run/lldp-level-launch")
        self.assertEqual(sorted(removed[1:]), sorted(f"userdel {user}" for user in users))
        self.assertEqual(self.calls_of("lldp-level.postrm", "purge", exists=False), removed[:1])
        self.assertEqual(self.calls_of("lldp-level.postrm", "purge", DPKG_ROOT="/mnt"),
                         ["rm -rf /mnt/var/lib/lldp-level /mnt/run/lldp-level /mnt/run/lldp-level-launch"])
        self.assertEqual(self.calls_of("lldp-level.postrm", "remove"), [])

    def test_what_removes_the_rules_says_whether_it_could(self):
        """Its own pins go all the same, and only they: nothing else of the BPF file system is touched."""
        text = (PACKAGING / "remove-rules").read_text()
        self.assertEqual(re.findall(r"(?m)^rm .*", text), ["rm -rf /sys/fs/bpf/lldp-level"])
        for status in (0, 1):
            with self.subTest(status=status), tempfile.TemporaryDirectory() as directory:
                pins, log = pathlib.Path(directory) / "pins", pathlib.Path(directory) / "log"
                pins.mkdir()
                stub = pathlib.Path(directory) / "lldp-leveld"
                stub.write_text(f"#!/bin/sh\necho \"$*\" >>{log}\nexit {status}\n")
                stub.chmod(0o755)
                done = subprocess.run(["sh", "-c", text.replace("/sys/fs/bpf/lldp-level", str(pins))],
                                      env={"PATH": f"{directory}:{os.environ['PATH']}"})
                self.assertEqual(done.returncode, status)
                self.assertEqual(log.read_text(), f"--remove-rules --config /dev/null --bpffs {pins}\n")
                self.assertFalse(pins.exists())


class Labels(unittest.TestCase):
    """Where a machine stands, for Kubernetes' node feature discovery."""

    def write(self, directory, says, status=0, options=()):
        stub = pathlib.Path(directory) / "bin"
        stub.mkdir(exist_ok=True)
        (stub / "lldp-level").write_text(f"#!/bin/sh\n[ \"$*\" = '{' '.join(('location', '--labels', *options[1:]))}' ] || exit 9\n{says}\nexit {status}\n")
        (stub / "lldp-level").chmod(0o755)
        features = pathlib.Path(directory) / "features.d"
        features.mkdir(exist_ok=True)
        done = subprocess.run(["sh", PACKAGING / "kubernetes/nfd-labels", features, *options], timeout=60,
                              env={"PATH": f"{stub}:{os.environ['PATH']}"})
        self.assertEqual([p.name for p in features.iterdir() if p.name.startswith(".")], [])
        return done.returncode, features / (options[0] if options else "lldp-level")

    def test_are_written_whole_if_they_changed_and_go_with_the_location(self):
        with tempfile.TemporaryDirectory() as directory:
            status, file = self.write(directory, "", 1)
            self.assertEqual((status, file.exists()), (0, False))
            status, file = self.write(directory, "echo lldp-level.tier-1=a")
            self.assertEqual((status, file.read_text(), file.stat().st_mode & 0o777), (0, "lldp-level.tier-1=a\n", 0o644))
            before = file.stat().st_ino
            self.assertEqual(self.write(directory, "echo lldp-level.tier-1=a")[1].stat().st_ino, before)
            self.assertEqual(self.write(directory, "echo broken", 3)[0], 3)  # no daemon
            self.assertEqual(file.read_text(), "lldp-level.tier-1=a\n")
            self.write(directory, "echo lldp-level.tier-1=b")
            self.assertEqual(file.read_text(), "lldp-level.tier-1=b\n")
            self.assertEqual(self.write(directory, "", 1)[0], 0)  # the location is unknown
            self.assertFalse(file.exists())

    def test_have_the_keys_that_are_asked_for(self):
        with tempfile.TemporaryDirectory() as directory:
            status, file = self.write(directory, "echo fabric.topograph.run/tier-0=a",
                                      options=("other", "--prefix", "fabric.topograph.run/tier-", "--first", "0"))
            self.assertEqual((status, file.name, file.read_text()), (0, "other", "fabric.topograph.run/tier-0=a\n"))

    def test_systemd_takes_every_line(self):
        with tempfile.TemporaryDirectory() as directory:
            for unit in PACKAGING.glob("kubernetes/*.[st][ei]*"):
                (pathlib.Path(directory) / unit.name).write_text(unit.read_text())
            try:
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                                       pathlib.Path(directory) / "lldp-level-nfd.timer"],
                                      capture_output=True, text=True, timeout=60)
            except FileNotFoundError:
                self.skipTest("no systemd-analyze here")
            self.assertEqual([l for l in done.stderr.splitlines() if "lldp-level" in l], [])


class Setup(unittest.TestCase):
    def setup_with(self, apt_get):
        """`./run setup` on a machine that lacks everything; what it says, and its exit status."""
        with tempfile.TemporaryDirectory() as directory:
            here = pathlib.Path(directory)
            for name, text in (("apt-get", f"echo \"$@\" >>{here}/log\n{apt_get}"), ("dpkg-query", "exit 1"),
                               ("sleep", ":"), ("sudo", 'exec "$@"'), ("systemctl", ":")):
                (here / name).write_text(f"#!/bin/bash\n{text}\n")
                (here / name).chmod(0o755)
            done = subprocess.run([SOURCE / "run", "setup"], capture_output=True, text=True, timeout=60,
                                  env={"PATH": f"{here}:{os.environ['PATH']}", "HOME": directory})
            return done, (here / "log").read_text().splitlines(), here

    def test_waits_for_the_locks_of_another_apt(self):
        busy = ('n=$(grep -c . "${0%/*}/log"); [ "$n" -ge 4 ] || '
                '{ echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)" >&2; exit 100; }')
        done, calls, _ = self.setup_with(busy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(["update" in call for call in calls], [True] * 4 + [False])
        self.assertTrue(all("DPkg::Lock::Timeout=" in call for call in calls))
        self.assertEqual(done.stderr.count("waiting for another apt"), 1)

    def test_says_what_else_keeps_apt_from_it(self):
        done, calls, _ = self.setup_with("echo 'E: Unable to locate package' >&2; exit 100")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("E: Unable to locate package", done.stderr)
        self.assertEqual(len(calls), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
