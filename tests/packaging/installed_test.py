#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what CMake installs against what there is to install, and against what the Debian and the RPM packages take of it.

usage: installed_test.py SOURCE_DIR [unittest arguments]
"""
import fnmatch
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
PACKAGING = SOURCE / "packaging"
# Below /, by CMake's names and by RPM's; where distributions differ, as Debian has it.
FOLDERS = {"CMAKE_INSTALL_BINDIR": "usr/bin", "CMAKE_INSTALL_SBINDIR": "usr/sbin", "CMAKE_INSTALL_LIBEXECDIR": "usr/libexec",
           "CMAKE_INSTALL_MANDIR": "usr/share/man", "CMAKE_INSTALL_DATADIR": "usr/share", "CMAKE_INSTALL_SYSCONFDIR": "etc",
           "CMAKE_INSTALL_LIBDIR": "usr/lib/any", "CMAKE_INSTALL_INCLUDEDIR": "usr/include",
           "LLDP_UNIT_DIR": "lib/systemd/system", "LLDP_ZSH_DIR": "usr/share/zsh/vendor-completions"}
MACROS = {"_bindir": "usr/bin", "_sbindir": "usr/sbin", "_libexecdir": "usr/libexec", "_mandir": "usr/share/man",
          "_datadir": "usr/share", "_sysconfdir": "etc", "_libdir": "usr/lib/any", "_includedir": "usr/include",
          "_docdir": "usr/share/doc", "_unitdir": "lib/systemd/system", "_sysusersdir": "usr/lib/sysusers.d",
          "_tmpfilesdir": "usr/lib/tmpfiles.d", "name": "lldp-level"}
# Which Debian package an RPM package is.
PACKAGES = {"": "lldp-level", "lldpctl": "lldp-level-lldpctl", "lab": "lldp-level-lab", "sim": "liblldp-level-sim0", "sim-devel": "liblldp-level-sim-dev"}


def installed():
    """(source, path) of every file that CMake installs; the source of a program is its name."""
    text = re.sub(r"#.*", "", (PACKAGING / "CMakeLists.txt").read_text())
    variables = dict(FOLDERS)
    for name, value in re.findall(r"set\((sim_\w+) (\S+)\)", text):
        variables[name] = re.sub(r"\$\{(\w+)\}", lambda m: FOLDERS[m[1]], value)
    for kind, body in re.findall(r"install\((\w+)\s+([^)]*)\)", text):
        words = [re.sub(r"\$\{(\w+)\}", lambda m: variables.get(m[1], ""), word) for word in body.split()]
        value = lambda key: words[words.index(key) + 1]
        into = value("DESTINATION")
        into = "usr/" + into if into.startswith("lib/") and not into.startswith("lib/systemd") else into
        names = words[:next(i for i, word in enumerate(words) if word.isupper())]
        if kind == "EXPORT":
            yield "", f"{into}/{value('FILE')}"
        elif names == ["lldp-level-sim"]:
            yield from ((names[0], path) for path in (f"{into}/liblldp-level-sim.so", f"{into}/liblldp-level-sim.so.0",
                                                      f"{words[-3]}/lldp_level_sim.h"))
        else:
            yield from ((name, f"{into}/{value('RENAME') if 'RENAME' in words else pathlib.Path(name).name}") for name in names)


def links():
    """(target, path) of every symbolic link, by package: the packages make them, not CMake."""
    return {path.stem: [tuple(line.split()) for line in path.read_text().splitlines()]
            for path in (PACKAGING / "debian").glob("*.links")}


def of_debian():
    """Patterns and where they are moved, by package."""
    return {path.stem: [(*line.split(), None)[:2] for line in path.read_text().splitlines()]
            for path in (PACKAGING / "debian").glob("*.install")}


def of_rpm():
    text = (PACKAGING / "rpm/lldp-level.spec").read_text()
    sections = re.findall(r"(?ms)^%files ?([\w-]*)\n(.*?)(?=^%files|^%changelog)", text)
    take = lambda line: re.sub(r"%\{(\w+)\}", lambda m: MACROS[m[1]], line.split()[-1]).replace("/site-functions/", "/vendor-completions/")
    return {PACKAGES[name]: [take(line) for line in body.split("\n") if "{_" in line and not line.startswith("%dir")]
            for name, body in sections}


def covers(pattern, path):
    return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern + "/*")


class Installed(unittest.TestCase):
    maxDiff = None

    def test_everything_that_is_for_a_user_is_installed_once(self):
        sources = [source for source, _ in installed() if source != "lldp-level-sim"]  # three files of one target
        self.assertEqual(len(sources), len(set(sources)))
        wanted = {f"../man/{path.name}" for path in (SOURCE / "man").iterdir()}
        for folder in ("completion", "schema", "grafana", "prometheus", "kubernetes", "wireshark", "apparmor"):
            wanted |= {f"{folder}/{path.name}" for path in (PACKAGING / folder).iterdir()}
        wanted |= {path.name for path in PACKAGING.iterdir() if path.suffix in (".service", ".socket", ".conf")}
        self.assertEqual(wanted - set(sources), set())
        of_the_tree = [source for source in sources if "/" in source and not source.startswith("/")]  # and not of the build
        self.assertEqual([source for source in of_the_tree if not (PACKAGING / source).exists()], [])

    def test_each_goes_where_its_reader_looks(self):
        paths = [path for _, path in installed()]
        for path in paths:
            name, folder = path.rsplit("/", 1)[1], path.rsplit("/", 1)[0]
            if re.search(r"/man\d/", path):
                self.assertEqual(folder[-1], name[-1], path)
            if name.startswith("_"):
                self.assertTrue(folder.endswith("zsh/vendor-completions"), path)
            if name.endswith(".fish"):
                self.assertTrue(folder.endswith("fish/vendor_completions.d"), path)
            if "/completions" in path:  # bash loads the file of the command's name
                self.assertIn(name, [p.rsplit("/", 1)[1] for p in paths if re.match(r"usr/s?bin/", p)])

    def test_programs_are_where_units_and_scripts_call_them(self):
        paths = {"/" + path for _, path in installed()}
        files = [*PACKAGING.glob("*.service"), *PACKAGING.glob("kubernetes/*.service"), *PACKAGING.glob("debian/lldp-level.p*"),
                 PACKAGING / "container/Containerfile", PACKAGING / "sonic/supervisord.conf"]
        called = {path for file in files for path in re.findall(r"/usr/(?:s?bin|libexec|share)/lldp[\w./-]*", file.read_text())}
        called -= {"/usr/sbin/lldpd"}
        self.assertGreaterEqual(len(called), 5)
        self.assertLessEqual(called, paths)

    def test_debian_takes_each_once(self):
        patterns = {(package, pattern) for package, lines in of_debian().items() for pattern, _ in lines}
        used = set()
        for _, path in installed():
            with self.subTest(path=path):
                by = {(package, pattern) for package, pattern in patterns if covers(pattern, path)}
                self.assertEqual(len(by), 1, by)
                used |= by
        self.assertEqual(patterns - used, set(), "nothing is there for these, and dh_install fails")

    def test_rpm_has_the_same_in_the_same_packages(self):
        debian, rpm = of_debian(), of_rpm()
        self.assertEqual(set(rpm), set(debian))
        used = set()
        for _, path in installed():
            with self.subTest(path=path):
                package, line = next((p, line) for p, lines in debian.items() for line in lines if covers(line[0], path))
                if line[1]:  # the documentation of a library is in a folder of its package's name
                    path = line[1].replace(package, "lldp-level-sim-devel") + "/examples/" + path.rsplit("/", 1)[1]
                by = {(p, pattern) for p, lines in rpm.items() for pattern in lines if covers(pattern, path)}
                self.assertEqual({p for p, _ in by}, {package})
                used |= by
        for package, made in links().items():
            for target, path in made:
                with self.subTest(link=path):
                    by = {(p, pattern) for p, lines in rpm.items() for pattern in lines if covers(pattern, path)}
                    self.assertEqual({p for p, _ in by}, {package})
                    self.assertIn(target, {path for _, path in installed()})
                    used |= by
        self.assertEqual({(p, line) for p, lines in rpm.items() for line in lines} - used, set())

    def test_versions_are_one(self):
        version = re.search(r"project\(lldp-level VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(re.search(r"(?m)^Version: (.*)$", (PACKAGING / "rpm/lldp-level.spec").read_text())[1], version)
        self.assertRegex((PACKAGING / "debian/changelog").read_text(), rf"\Alldp-level \({re.escape(version)}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
