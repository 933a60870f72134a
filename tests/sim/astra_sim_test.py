#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The network backend for ASTRA-sim, built against ASTRA-sim's own headers (ASTRA_SIM in the environment: its tree) and run as its
system layer would. Skipped where they are not.

usage: astra_sim_test.py SOURCE_DIR BUILD_DIR CXX SANITIZERS [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CXX = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
FLAGS = [f"-fsanitize={sys.argv[4]}"] if sys.argv[4] else []
HEADERS = pathlib.Path(os.environ.get("ASTRA_SIM", "/usr/include"))


class Backend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.directory.name)
        cls.library = next(BUILD.rglob("liblldp-level-sim.so")).parent
        subprocess.run([CXX, "-std=c++17", "-Wall", "-Wextra", *FLAGS, "-isystem", HEADERS, "-I", SOURCE / "sim/library",
                        SOURCE / "examples/astra-sim/ring.cc", "-L", cls.library, "-llldp-level-sim", "-o", cls.path / "ring"], check=True)
        for case, words in (("ft4", ("fattree", "4")), ("case1", ("case1",))):
            subprocess.run([BUILD / "bin/lldp-level-lab", "topo", *words, "-o", cls.path / f"{case}.json"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def ring(self, scenario, *words):
        (self.path / "s.json").write_text(json.dumps(scenario))
        return subprocess.run([self.path / "ring", "s.json", *map(str, words)], capture_output=True, text=True, timeout=100, cwd=self.path,
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})

    def test_a_ring_of_ranks_finishes(self):
        done = self.ring({"fabric": "ft4.json"}, 16, 100000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("16 ranks, 480 messages", done.stdout)
        us = float(re.search(r", ([\d.]+) us: finished", done.stdout)[1])
        # 30 steps: 100 frames of 1048 octets over 2 to 6 links, and 29 times 1 us for adding up.
        self.assertGreater(us, 30 * (101 * 1048 * 80e-6 + 2) + 29)
        self.assertLess(us, 1.05 * (30 * (105 * 1048 * 80e-6 + 6) + 29))

    def test_a_fabric_that_deadlocks_is_told(self):
        flows = [{"from": "host2", "to": "host4", "via": ["Spine1"]}, {"from": "host3", "to": "host1", "via": ["Spine2"]}]
        case = {"fabric": "case1.json", "failed": ["Spine1-Leaf4", "Spine2-Leaf1"], "flows": flows,
                "settings": {"protect": "none", "pfc": {"xoff_octets": 20000, "xon_octets": 17000}}}
        self.assertIn(": DEADLOCK", self.ring(case, 4, 10000000).stdout)
        case["settings"]["protect"] = "down-up"
        self.assertIn(": finished", self.ring(case, 4, 10000000).stdout)

    def test_what_cannot_be_is_one_line(self):
        done = self.ring({"fabric": "ft4.json"}, 17)
        self.assertEqual((done.returncode, done.stderr), (2, "ring: s.json: 16 hosts for 17 ranks\n"))
        self.assertIn("none.json", self.ring({"fabric": "none.json"}, 16).stderr)


if __name__ == "__main__":
    if not (HEADERS / "astra-sim/common/AstraNetworkAPI.hh").exists():
        print("no headers of ASTRA-sim: set ASTRA_SIM to its tree")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
