#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator's library as a stranger uses it: installed, found by pkg-config and by CMake, built against from C and C++,
and the example run.

usage: library_use_test.py SOURCE_DIR BUILD_DIR CC SANITIZERS [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
FLAGS = [f"-fsanitize={sys.argv[4]}"] if sys.argv[4] else []
HEADER = SOURCE / "sim/library/lldp_level_sim.h"
EXAMPLE = SOURCE / "examples/ring-all-reduce"


def run(*words, **how):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=100, **how)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.directory.name)
        cls.root = cls.path / "root"
        run("cmake", "--install", BUILD, "--component", "simulator", env={**os.environ, "DESTDIR": str(cls.root)})
        cls.library = next(cls.root.rglob("liblldp-level-sim.so")).parent
        run(BUILD / "bin/lldp-level-lab", "topo", "fattree", "4", "-o", cls.path / "ft4.json")
        (cls.path / "s.json").write_text(json.dumps({"fabric": "ft4.json"}))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def all_reduce(self, program, *words):
        out = run(program, self.path / "s.json", *words, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        self.assertIn("16 hosts", out)
        self.assertIn("480 flows", out, "2 (n - 1) steps of n flows")
        self.assertIn(" 0 drops", out)
        return out, float(re.search(r": ([\d.]+) us", out)[1]), float(re.search(r"([\d.]+) Gb/s", out)[1])

    def test_a_program_finds_it_by_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "lldp-level-sim",
                    env={**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(self.root)}).split()
        program = self.path / "by-pkg-config"
        run(CC, "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *FLAGS, EXAMPLE / "ring_all_reduce.c", *flags, "-o", program)
        out, us, rate = self.all_reduce(program, 1600000)
        self.assertEqual(out, self.all_reduce(program, 1600000)[0], "the same bytes every time")
        # A step is a chunk of 100 frames over up to 6 links, 1 us and a frame's time each; none is faster than over 2.
        self.assertGreater(us, 30 * (101 * 1048 * 80e-6 + 2))
        self.assertLess(us, 30 * (105 * 1048 * 80e-6 + 6) * 1.05)
        self.assertLess(rate, 95.5)
        slower = self.all_reduce(program, 1600000, 10000)[1]
        self.assertGreaterEqual(slower, us + 15 * 10 - 1, "15 steps add up, each for 10 us")

    def test_a_project_finds_it_by_cmake(self):
        build = self.path / "by-cmake"
        prefix = next(p for p in (self.library, *self.library.parents) if (p / "include/lldp_level_sim.h").exists())
        run("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_C_FLAGS={' '.join(FLAGS)}")
        run("cmake", "--build", build)
        self.all_reduce(build / "ring_all_reduce", 160000)

    def python(self, *words, **how):
        return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=100, cwd=self.path,
                              env={**os.environ, "LLDP_LEVEL_SIM_LIBRARY": str(self.library / "liblldp-level-sim.so"), **how,
                                   "PYTHONPATH": str(SOURCE / "examples/python"), "PYTHONDONTWRITEBYTECODE": "1"})

    @unittest.skipIf(FLAGS, "a sanitizer's library cannot be loaded into Python")
    def test_python_runs_the_same_all_reduce(self):
        done = self.python(SOURCE / "examples/python/ring_all_reduce.py", "s.json", 1600000, "results.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("16 hosts, 480 of 480 flows", done.stdout)
        self.assertIn(" 0 drops", done.stdout)
        lines = [json.loads(line) for line in (self.path / "results.jsonl").read_text().splitlines()]
        self.assertEqual(len(lines), 480)
        program = self.path / "by-hand"
        run(CC, *FLAGS, "-I", HEADER.parent, EXAMPLE / "ring_all_reduce.c", "-L", self.library, "-llldp-level-sim", "-o", program)
        us = self.all_reduce(program, 1600000)[1]
        self.assertIn(f": {us:.1f} us", self.python("-c", """
import ring_all_reduce as r
from lldp_level_sim import Simulation
with Simulation("s.json") as sim:
    r.all_reduce(sim, 1600000)
    sim.run()
    print(f": {max(f['at_ns'] for f in sim.results) / 1000:.1f} us")
""").stdout)

    @unittest.skipIf(FLAGS, "a sanitizer's library cannot be loaded into Python")
    def test_python_keeps_what_came_of_a_run_that_is_cut_short(self):
        done = self.python("-c", """
from lldp_level_sim import *
with Simulation("s.json", record="cut.jsonl") as sim:
    sim.send(0, 1, 1000)
    sim.send("host1", "host9", 10**9, done=lambda flow: None)
    sim.at(5 * US, lambda: 1 / 0)
    try:
        sim.run()
    except ZeroDivisionError:
        print("raised", len(sim.results), sim.now_us)
    def cut(_):
        raise KeyboardInterrupt
    try:
        sim.run(progress=cut)
    except KeyboardInterrupt:
        print("cut", len(sim.results), sim.totals.unfinished)
    for wrong in (lambda: sim.send("nobody", 0, 1), lambda: sim.send(0, 0, 1), lambda: Simulation({"fabric": "none.json"})):
        try:
            wrong()
        except Error as e:
            print("refused", e)
""")
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "raised 1 5.0")
        self.assertEqual(lines[1], "cut 1 1")
        self.assertEqual(lines[2:4], ["refused nobody: the fabric has no such host", "refused to: is where the flow begins"])
        self.assertIn("none.json", lines[4])
        self.assertEqual([json.loads(line)["octets"] for line in (self.path / "cut.jsonl").read_text().splitlines()], [1000])

    def test_python_says_where_the_library_is_not(self):
        done = self.python("-c", "from lldp_level_sim import Simulation; Simulation({})", LLDP_LEVEL_SIM_LIBRARY="/none.so")
        self.assertIn("install liblldp-level-sim, or set LLDP_LEVEL_SIM_LIBRARY", done.stderr)

    def test_says_what_is_wrong(self):
        program = self.path / "wrong"
        run(CC, *FLAGS, "-I", HEADER.parent, EXAMPLE / "ring_all_reduce.c", "-L", self.library, "-llldp-level-sim", "-o", program)
        done = subprocess.run([program, self.path / "none.json"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none.json", done.stderr)

    def test_the_header_is_c_and_cpp(self):
        for words in (("-x", "c", "-std=c99"), ("-x", "c", "-std=c17"), ("-x", "c++", "-std=c++11"), ("-x", "c++", "-std=c++20")):
            run(CC, *words, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", HEADER)

    def test_nothing_else_gets_out(self):
        symbols = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", self.library / "liblldp-level-sim.so").splitlines()}
        declared = set(re.findall(r"LLS_PUBLIC[^;]*?\b(lls_\w+)\(", HEADER.read_text()))
        self.assertGreater(len(declared), 15)
        self.assertEqual(symbols - {"LLDP_LEVEL_SIM_0"}, declared)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
