#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lldp-level-lab topo, throughput, converge and config from outside: fabrics with the counts of their formulas, throughputs that can
be worked out by hand, and that what is printed, written to files and told by exit statuses is one and the same.

usage: commands_test.py BIN_DIR [unittest arguments]
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

BIN = pathlib.Path(sys.argv[1])


def lab(*words):
    return subprocess.run([BIN / "lldp-level-lab", *map(str, words)], capture_output=True, text=True, timeout=100)


class Command(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name)

    def printed(self, *words, status=0):
        done = lab(*words)
        self.assertEqual((done.returncode, done.stderr), (status, ""), words)
        return done.stdout

    def refused(self, what, *words, status=2):
        done = lab(*words)
        self.assertEqual((done.returncode, done.stdout), (status, ""), words)
        self.assertIn(what, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertTrue(done.stderr.startswith(f"lldp-level-lab {words[0]}: "))

    def fabric(self, *words):
        file = self.path / "f.json"
        file.write_text(self.printed("topo", *words))
        return file


class Topo(Command):
    # words: (switches by level, hosts, links, degrees of switches)
    FORMULAS = {
        "clos": ([4, 4, 2], 8, 8 + 4 * 2 + 4 * 2, {4}),
        "clos --switches 6,3 --hosts 12 --links-per-host 2": ([6, 3], 12, 12 * 2 + 6 * 3, {4 + 3, 6}),
        "clos --switches 8,8,4,2 --pods 4,2 --hosts 8": ([8, 8, 4, 2], 8, 8 + 8 * 2 + 8 * 2 + 4 * 2, {1 + 2, 2 + 2, 4 + 2, 4}),
        "fattree 6": ([18, 18, 9], 54, 3 * 6 ** 3 // 4, {6}),
        "jellyfish 12 --ports 4 --hosts-per-switch 2": ([12], 24, 24 + 12 * 4 // 2, {6}),
        "fcplus 12 --ports 6": ([12], 12, 12 + 12 * 6 // 2, {7}),
        "fc 24 --ports 6 --hosts-per-switch 3": ([24], 72, 72 + 24 * 6 // 2, {9}),
        "ndc 3 2": ([27], 27, 27 * 3, {3}),  # 3^3 servers of three ports, 3 * 3^2 switches
        "railonly --domains 3 --rails 4": ([3 + 4], 12, 12 * 2, {3, 4}),
        "railoptimized --domains 3 --rails 4 --spines 2": ([3 + 4, 2], 12, 12 * 2 + 4 * 2, {4, 3 + 2}),
        "case1": ([4, 2], 4, 6 + 6, {2, 3, 4}),
    }
    SHAPED = [words for words in FORMULAS if words != "case1"]

    def test_counts_are_those_of_the_formulas(self):
        for words, (switches, hosts, links, degrees) in self.FORMULAS.items():
            with self.subTest(words):
                said = json.loads(self.printed("topo", *words.split()))
                levels = collections.Counter(node["level"] for node in said["nodes"])
                self.assertEqual(levels, {0: hosts, **dict(enumerate(switches, 1))})
                role = {node["id"]: node["role"] for node in said["nodes"]}
                self.assertEqual(collections.Counter(role.values()), {"host": hosts, "switch": sum(switches)})
                self.assertEqual(len(said["links"]), links)
                ends = collections.Counter(end for link in said["links"] for end in (link["source"], link["target"]))
                if words != "case1":
                    self.assertEqual({ends[name] for name, kind in role.items() if kind == "switch"}, degrees)
                ports = [(name, port) for link in said["links"] for name, port in link["ports"].items()]
                self.assertEqual(len(ports), len(set(ports)))
                self.assertEqual(len(ports), 2 * links)
                pairs = {frozenset((link["source"], link["target"])) for link in said["links"]}
                self.assertEqual(len(pairs), links, "two links between two nodes")

    def test_every_link_has_the_quality_that_was_asked_for(self):
        for words in self.SHAPED:
            with self.subTest(words):
                said = json.loads(self.printed("topo", *words.split(), "--rate-bps", 25_000_000_000, "--delay-ns", 321))
                self.assertEqual({link["delay_ns"] for link in said["links"]}, {321})
                between = [link for link in said["links"] if not link["target"].startswith("nvs")]  # a server's own have theirs
                self.assertEqual({link["rate_bps"] for link in between}, {25_000_000_000})

    def test_seed_is_what_is_drawn_and_nothing_else(self):
        for words in ("jellyfish 24 --ports 6", "fcplus 12 --ports 6", "fc 24 --ports 6"):
            with self.subTest(words):
                one, same, other = (self.printed("topo", *words.split(), "--seed", seed) for seed in (1, 1, 2))
                self.assertEqual(one, same)
                self.assertNotEqual(one, other)
                self.assertEqual(one, self.printed("topo", *words.split()))

    def test_one_fabric_in_every_format(self):
        for words in self.FORMULAS:
            with self.subTest(words):
                text = self.printed("topo", *words.split())
                files = {suffix: self.path / f"f.{suffix}" for suffix in ("json", "dot", "svg")}
                for file in files.values():
                    self.assertEqual(self.printed("topo", *words.split(), "-o", file), "")
                self.assertEqual(files["json"].read_text(), text)
                self.assertEqual(files["dot"].read_text(), self.printed("topo", *words.split(), "--dot"))
                self.assertEqual(self.printed("topo", *words.split(), "--json", "-o", files["dot"]), "")  # what is said outweighs the name
                self.assertEqual(files["dot"].read_text(), text)
                self.assertEqual(self.printed("topo", "convert", files["json"]), text)
                self.printed("topo", *words.split(), "-o", files["dot"])
                self.assertEqual(self.printed("topo", "convert", files["dot"], "--json"), text)
                drawn = [element.text for element in xml.parse(files["svg"]).iter() if element.text]
                for node in json.loads(text)["nodes"]:
                    if node["role"] == "switch":
                        self.assertTrue(any(node["id"] in text for text in drawn), node["id"])

    def test_what_cannot_be_made_is_refused(self):
        name = "name a topology and its size, one of the cases or `convert FABRIC`"
        for words, what in {"": name, "nothing": name, "clos 4": name, "fattree": name, "fattree 4 4": name, "ndc 3": name, "case1 2": name,
                            "convert": name, "fattree x": "K: `x` is not a whole number", "ndc 3 1x": "K: `1x` is not a whole number",
                            "ndc x 1": "N: `x` is not a whole number", "jellyfish 4.5": "N: `4.5` is not a whole number",
                            "clos --switches 4,b": "--switches: `b` is not a whole number",
                            "fc 24 --ports 6 --degrees 4,x": "--degrees: `x` is not a whole number",
                            "railoptimized --spines 0": "railoptimized: 0 spines: at least 1"}.items():
            with self.subTest(words):
                self.refused(what, "topo", *words.split())
        self.refused("cannot be read", "topo", "convert", self.path / "none.json")
        self.refused("No such file or directory", "topo", "clos", "-o", self.path / "none/f.json")


class Throughput(Command):
    def measured(self, file, *words, status=0):
        said = json.loads(self.printed("throughput", file, "--json", *words, status=status))
        text = self.printed("throughput", file, *words, status=status)
        if not said["pairs_without_path"]:
            self.assertIn(f"throughput {said['lower']:.4f} to {said['upper']:.4f}, proven in {said['rounds']} rounds; "
                          f"no routing carries more than {said['bound']:.4f}", text)
        self.assertIn(f"{said['switches_with_hosts']} switches with hosts, {said['pairs']} pairs send ({said['traffic']}), "
                      f"{said['paths']} paths ({said['routing']}), {said['hops']:.3f} hops on average", text)
        self.assertLessEqual(said["lower"], said["upper"])
        self.assertLessEqual(said["upper"], max(said["bound"], said["lower"]))
        return said

    def test_star_carries_what_its_uplinks_do(self):
        """Each leaf has one link up and so many hosts: whoever they send to, all of it goes by that link."""
        for hosts in (1, 2, 4):
            file = self.fabric("clos", "--switches", "9,1", "--hosts", 9 * hosts)
            for traffic, pairs in (("all-to-all", 9 * 8), ("uniform", 9), ("near-worst", 9)):
                for routing in ("df-ksp", "ksp", "updown"):
                    with self.subTest(hosts=hosts, traffic=traffic, routing=routing):
                        said = self.measured(file, "--traffic", traffic, "--routing", routing)
                        self.assertEqual((said["switches_with_hosts"], said["pairs"], said["hops"]), (9, pairs, 2))
                        if traffic == "all-to-all":  # there and back by one path
                            self.assertEqual(said["paths"], pairs / 2)
                        self.assertLessEqual(said["upper"] / said["lower"], 1.011)
                        # Drawn at random, several may have chosen one leaf: its one link down is theirs.
                        busiest = round(1 / said["upper"] / hosts) if traffic == "uniform" else 1
                        self.assertLessEqual(busiest, 9)
                        self.assertLessEqual(said["lower"], 1 / hosts / busiest + 1e-9)
                        self.assertGreaterEqual(said["upper"], 1 / hosts / busiest - 1e-9)

    def test_fat_tree_carries_all_of_it_by_every_up_down_path(self):
        file = self.fabric("fattree", 4)
        said = self.measured(file, "--routing", "updown")
        # To each of the 6 leaves of other pods 4 paths of 4 hops, to the one beside it 2 of 2.
        self.assertEqual((said["pairs"], said["paths"]), (8 * 7, 8 * (6 * 4 + 2) / 2))
        self.assertAlmostEqual(said["hops"], (6 * 4 + 2) / 7)
        self.assertGreaterEqual(said["lower"], 1 - 1e-9)
        few = self.measured(file, "--routing", "df-ksp", "--lossless", 1, "--paths", 1)
        self.assertEqual(few["paths"], 28)
        self.assertLess(few["upper"], said["lower"])

    def test_gap_is_what_was_asked_for(self):
        file = self.fabric("jellyfish", 12, "--ports", 4)
        gaps = []
        for gap in (0.2, 0.01):
            said = self.measured(file, "--gap", gap)
            gaps.append(said["upper"] / said["lower"] - 1)
            self.assertLessEqual(gaps[-1], gap + 1e-9)
        self.assertLess(gaps[1], gaps[0])

    def test_lossless_priorities_are_turns_and_tagger_counts_them(self):
        file = self.fabric("case1")
        for lossless in (1, 2):
            said = self.measured(file, "--lossless", lossless, "--tagger")
            self.assertIn(f"Tagger needs {said['tagger_priorities']} lossless priorities for these paths",
                          self.printed("throughput", file, "--lossless", str(lossless), "--tagger"))
            self.assertLessEqual(said["tagger_priorities"], lossless)
        self.assertNotIn("tagger_priorities", self.measured(file))

    def test_threads_change_nothing(self):
        file = self.fabric("jellyfish", 12, "--ports", 4)
        for traffic in ("uniform", "near-worst"):
            answers = {self.printed("throughput", file, "--json", "--traffic", traffic, "--threads", n) for n in (1, 2, 3)}
            self.assertEqual(len(answers), 1)
            self.assertEqual(json.loads(answers.pop())["seed"], 1)

    def test_what_makes_no_sense_is_refused(self):
        file = self.fabric("fattree", 4)
        self.refused("--traffic: `x` is not all-to-all, uniform or near-worst", "throughput", file, "--traffic", "x")
        self.refused("--routing: `x` is not df-ksp, ksp, updown or edge-disjoint", "throughput", file, "--routing", "x")
        self.refused("name one fabric file", "throughput")
        self.refused("name one fabric file", "throughput", file, file)
        self.refused("cannot be read", "throughput", self.path / "none.json")
        said = json.loads(file.read_text())
        between = next(l for l in said["links"] if not {l["source"][:4], l["target"][:4]} & {"host"})
        between["rate_bps"] //= 2
        file.write_text(json.dumps(said))
        self.refused("links between switches of different rates", "throughput", file)
        file = self.fabric("clos", "--switches", "1,1", "--hosts", 2)
        self.refused("fewer than two switches have hosts", "throughput", file)

    def test_pairs_without_a_path_are_told(self):
        said = json.loads(self.fabric("clos", "--switches", "3,1", "--hosts", 3).read_text())
        cut = next(l for l in said["links"] if "leaf1" in (l["source"], l["target"]) and "host" not in l["source"] + l["target"])
        said["links"].remove(cut)
        (self.path / "f.json").write_text(json.dumps(said))
        done = self.measured(self.path / "f.json", status=1)
        self.assertEqual((done["pairs_without_path"], done["pairs"], done["paths"]), (4, 6, 1))
        self.assertIn("throughput 0: 4 pairs have no path", self.printed("throughput", self.path / "f.json", status=1))


class Converge(Command):
    def converged(self, file, *words, status=0):
        return json.loads(self.printed("converge", file, "--json", *words, status=status))

    def test_every_fabric_comes_to_rest_right(self):
        for words, devices, links in (("clos", 18, 24), ("fattree 4", 36, 48), ("fcplus 12 --ports 6", 24, 48), ("case1", 10, 12)):
            with self.subTest(words):
                said = self.converged(self.fabric(*words.split()), "--seed", 5)
                self.assertEqual((said["devices"], said["links"], said["seed"]), (devices, links, 5))
                self.assertEqual([said[key] for key in said if key.startswith("wrong_") or key.endswith("alarms")], [[]] * 4)
                self.assertEqual(said["curve"][0]["levels"], devices)
                self.assertEqual((said["curve"][-1]["levels"], said["curve"][-1]["ports"]), (0, 0))
                self.assertTrue(0 < said["last_start_s"] <= 1 and said["last_disturbance_s"] == said["last_start_s"])
                self.assertEqual(said["frames_lost"], 0)

    def test_seed_decides_all(self):
        file = self.fabric("case1")
        one, same, other = (self.printed("converge", file, "--json", "--seed", seed, "--loss", "0.2") for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertNotEqual(self.converged(file)["seed"], self.converged(file)["seed"])

    def test_disturbances_fall_into_their_span(self):
        file = self.fabric("clos")
        said = self.converged(file, "--seed", 1, "--start-spread", 5)
        self.assertTrue(3 < said["last_start_s"] <= 5)
        for words in (("--restarts", 9), ("--cuts", 9)):
            said = self.converged(file, "--seed", 1, *words, "--churn-span", 40)
            passed = said["last_disturbance_s"] - said["last_start_s"]
            self.assertTrue(20 < passed <= 40 + 60, passed)  # what was cut is repaired a little later
            self.assertEqual(said["wrong_levels"], [])
        lossy = self.converged(file, "--seed", 1, "--loss", 0.3)
        self.assertTrue(0.2 < lossy["frames_lost"] / lossy["frames_sent"] < 0.4)

    def test_without_enough_time_it_says_who_is_wrong(self):
        file = self.fabric("clos")
        said = self.converged(file, "--seed", 1, "--loss", 0.999, "--timeout", 1, status=1)
        self.assertTrue(said["wrong_levels"])
        text = self.printed("converge", file, "--seed", 1, "--loss", 0.999, "--timeout", 1, status=1)
        for wrong in said["wrong_levels"][:1]:
            self.assertIn(str(wrong["name"] if isinstance(wrong, dict) else wrong), text)

    def test_report_is_what_was_printed(self):
        file, report, page = self.fabric("case1"), self.path / "r.json", self.path / "r.html"
        text = self.printed("converge", file, "--seed", 1, "-o", report)
        self.assertEqual(report.read_text(), self.printed("converge", file, "--seed", 1, "--json"))
        self.assertEqual(self.printed("converge", file, "--seed", 1, "-o", page), text)
        self.assertRegex(page.read_text(), r"(?s)\A<!DOCTYPE html>.*<svg.*</html>\s*\Z")
        self.assertNotIn("{", text)
        self.assertRegex(text, r"(?m)^seed +1$")

    def test_what_makes_no_sense_is_refused(self):
        file = self.fabric("case1")
        self.refused("name one fabric file", "converge")
        self.refused("cannot be read", "converge", self.path / "none")
        self.refused("`x`", "converge", file, "--script", "x")
        self.refused("--loss: give a number", "converge", file, "--loss", 1)

    def test_every_script_is_played(self):
        for words, scripts in (("clos", ("rolling-upgrade", "empty-racks", "hosts-on-spine", "moved", "late-pod")),):
            file = self.fabric(*words.split())
            for script in scripts:
                with self.subTest(script):
                    said = self.converged(file, "--seed", 3, "--script", script)
                    self.assertGreater(said["last_disturbance_s"], said["last_start_s"])


class Config(Command):
    def test_tells_each_port_the_layers_of_its_link(self):
        file = self.fabric("fcplus", 12, "--ports", 6)
        said = json.loads(file.read_text())
        names = [node["id"] for node in said["nodes"] if node["role"] == "switch"]
        for name in names[:3]:
            text = self.printed("config", file, "--node", name)
            told = dict(re.findall(r"(?m)^port\.(\S+)\.layers = (\d+:\d+) ", text))
            wanted = {}
            for link in said["links"]:
                if name in (link["source"], link["target"]) and "layers" in link:
                    peer = link["target"] if link["source"] == name else link["source"]
                    wanted[link["ports"][name]] = f"{link['layers'][name]}:{link['layers'][peer]}"
            self.assertEqual(told, wanted)
            self.assertEqual(self.printed("config", file, "--node", name, "-o", self.path / "c.conf"), "")
            self.assertEqual((self.path / "c.conf").read_text(), text)
        self.refused("nobody", "config", file, "--node", "nobody")
        self.assertEqual(lab("config", file).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
