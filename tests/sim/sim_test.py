#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lldp-level-lab sim from outside: what it prints against the schemas, exit statuses, scenarios that are refused with the
key's path, captures and curves.

usage: sim_test.py SOURCE_DIR BIN_DIR [unittest arguments]
"""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BIN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests/packaging"))
import schemas

FLOW = {"from": "host2", "to": "host4", "via": ["Spine1"], "octets": 100000}


def lab(*words, text=None):
    return subprocess.run([BIN / "lldp-level-lab", *words], capture_output=True, text=True, timeout=100, input=text)


class Sim(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.directory.name)
        lab("topo", "case1", "-o", cls.path / "case1.json")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def scenario(self, **change):
        (self.path / "s.json").write_text(json.dumps({"fabric": "case1.json", "flows": [FLOW], **change}))
        return lab("sim", self.path / "s.json", "--json")

    def validator(self, name):
        return schemas.validator(self, SOURCE / f"packaging/schema/{name}.schema.json")

    def test_exit_status_tells_of_a_deadlock(self):
        for protect, status in (("none", 1), ("down-up", 0)):
            done = lab("sim", "case1", "--protect", protect, "--duration", "0.3", "--json")
            self.assertEqual((done.returncode, done.stderr), (status, ""))
            said = json.loads(done.stdout)
            self.assertEqual(said["deadlock"], status == 1)
            self.assertEqual(said["drops"], 0)
            self.assertEqual(bool(said["stuck"]), status == 1)
            schemas.holds(self, self.validator("sim"), said)
        said = json.loads(lab("sim", "case1", "--protect", "itsy", "--duration", "0.3", "--json").stdout)
        self.assertTrue(said["verdicts"])
        schemas.holds(self, self.validator("sim"), said)
        for path in ("stuck", "verdicts"):  # 802.1Q has eight
            for entry in said[path]:
                entry["priority"] = 8
                self.assertFalse(self.validator("sim").is_valid(said), path)
                entry["priority"] = 7

    def test_schema_takes_what_the_program_takes(self):
        """Of every number of a scenario the first that is too small, the first that is too large; of every choice each, and
        another; a key that there is none of."""
        schema = self.validator("scenario")
        base = {"fabric": "case1.json", "duration_ns": 1000, "name": "n", "failed": ["Spine1-Leaf4"],
                "flows": [FLOW], "traffic": [{"kind": "incast", "senders": 2}], "settings": {}, "events": [{"link": "Spine2-Leaf1"}],
                "storms": [{"host": "host1"}]}
        schema.validate(base)
        self.assertEqual(self.scenario(**base).returncode, 0)
        whole = {**base, "duration_ns": 1000.0}
        schema.validate(whole)
        self.assertEqual(self.scenario(**whole).stdout, self.scenario(**base).stdout)

        def leaves(at, path):
            for key, member in at.get("properties", {}).items():
                if member.get("type") == "array" and "properties" in member["items"]:
                    yield from leaves(member["items"], [*path, key, 0])
                elif "properties" in member:
                    yield from leaves(member, [*path, key])
                else:
                    yield [*path, key], member

        # What the program's reader asks for.
        text = "".join(file.read_text() for file in (SOURCE / "sim/packets").glob("plan_*.cpp"))
        read = set(re.findall(r'\b\w+\.\w+\(\s*"([a-z]\w+)"', text))
        self.assertGreater(len(read), 60)
        self.assertLessEqual(read, {path[-1] for path, _ in leaves(schema.schema, [])} | {"settings", *schema.schema["properties"],
                                                                                          *schema.schema["properties"]["settings"]["properties"]})

        def tried(path, value):
            said = copy.deepcopy(base)
            at = said
            for key in path[:-1]:
                at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
            at[path[-1]] = value
            return schema.is_valid(said), self.scenario(**said)

        numbers = 0
        for path, leaf in leaves(schema.schema, []):
            beyond = [leaf[end] + step for end, step in (("minimum", -1), ("maximum", 1)) if end in leaf]
            beyond += ["no such"] if "enum" in leaf else [2] if "const" in leaf else ["ab"] if "minLength" in leaf else []
            for value in beyond or [None]:
                valid, done = tried(path, value)
                with self.subTest(path=path, value=value):
                    self.assertFalse(valid)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(re.sub(r"\.(\d)", r"[\1]", ".".join(map(str, path))), done.stderr)
                numbers += 1
            for value in [v for end, v in (("minimum", -1), ("maximum", 10 ** 18)) if leaf.get("type") == "integer" and end not in leaf]:
                self.assertNotIn("give a whole number from", tried(path, value)[1].stderr, f"{path}: the schema has no such bound")
        self.assertGreater(numbers, 90)
        for path in (["none"], ["flows", 0, "none"], ["events", 0, "none"], ["storms", 0, "none"], ["traffic", 0, "none"],
                     *(["settings", *more, "none"] for more in ([], ["pfc"], ["watchdog"], ["itsy"], ["ecn"], ["dcqcn"]))):
            valid, done = tried(path, 1)
            self.assertEqual((valid, done.returncode), (False, 2), path)
            self.assertIn("there is no such key", done.stderr)
        for path in (["fabric"], ["flows", 0, "from"], ["flows", 0, "to"], ["events", 0, "link"], ["storms", 0, "host"], ["traffic", 0, "kind"]):
            said = copy.deepcopy(base)
            at = said
            for key in path[:-1]:
                at = at[key]
            del at[path[-1]]
            self.assertFalse(schema.is_valid(said), path)
            (self.path / "s.json").write_text(json.dumps(said))
            self.assertEqual(lab("sim", self.path / "s.json").returncode, 2, path)

    def test_a_scenario_runs_and_fits_its_schema(self):
        said = {"fabric": "case1.json", "name": "mine", "duration_ns": 2000000, "failed": ["Spine1-Leaf4"], "flows": [{**FLOW, "transport": "irn"}],
                "events": [{"at_ns": 1000, "link": "Spine2-Leaf1", "up": False}],
                "traffic": [{"kind": "incast", "senders": 3, "octets": 30000}, {"kind": "poisson", "sizes": "storage", "load_percent": 30}],
                "settings": {"ecn": {"kmin_octets": 10000}, "dcqcn": {}, "watchdog": {"drops": True}, "pfc": {"xoff_octets": 50000, "xon_octets": 40000}}}
        self.validator("scenario").validate(said)
        done = self.scenario(**said)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = json.loads(done.stdout)
        self.validator("sim").validate(out)
        self.assertEqual(out["case"], "mine")
        self.assertEqual([f["name"] for f in out["flows"] if f["fct_ns"] is None], [])
        self.assertEqual(done.stdout, self.scenario(**said).stdout)

    def test_what_cannot_be_is_refused_with_the_keys_path(self):
        fabric = json.loads((self.path / "case1.json").read_text())
        still = copy.deepcopy(fabric)
        still["links"][2]["rate_bps"] = 0
        refused = [
            ({"flows": [FLOW, {**FLOW, "to": "nobody"}]}, "flows[1].to: the fabric has no node `nobody`"),
            ({"flows": [{**FLOW, "to": "Leaf1"}]}, "flows[0].to: `Leaf1` is no host"),
            ({"flows": [{**FLOW, "rate_bps": 0}]}, "flows[0].rate_bps: 0: give a whole number from 1000"),
            ({"flows": [{**FLOW, "rate_bps": 1000.5}]}, "flows[0].rate_bps: 1000.5: give a whole number from 1000"),
            ({"flows": [{**FLOW, "rate": 5}]}, "flows[0].rate: there is no such key"),
            ({"flows": []}, "flows: there are none"),
            ({"failed": ["Leaf1-Leaf2"]}, "failed[0]: "),
            ({"events": [{"link": "Spine1-Nix"}]}, "events[0].link: "),
            ({"traffic": [{"kind": "flood"}]}, "traffic[0].kind: `flood`"),
            ({"traffic": [{"kind": "incast", "senders": 4}]}, "traffic[0].senders: 4: give 1 to 3"),
            ({"traffic": [{"kind": "permutation", "to": "host1"}]}, "traffic[0].to: there is no such key"),
            ({"traffic": [{"kind": "poisson", "start_ns": 9, "until_ns": 9}]}, "traffic[0].until_ns: is not after start_ns"),
            ({"flows": [{**FLOW, "via": ["host1"]}]}, "flow 1: via: `host1` is on none of the ways"),
            ({"settings": {"pfc": {"headroom_octets": 27159}}}, "settings.pfc.headroom_octets: 27159: "),
            ({"settings": {"pfc": {"alpha_256": 64, "headroom_octets": 28207}}}, "settings.pfc.headroom_octets: 28207: "),
            ({"settings": {"pfc": {"xoff_octets": 5000, "xon_octets": 5000}}}, "settings.pfc.xon_octets: 5000: not below XOFF"),
            ({"settings": {"pfc": {"quanta": 36}}}, "settings.pfc.quanta: 36: a pause would end before it is told again"),
            ({"settings": {"flow_control": "portfc"}}, "settings.flow_control: for NDC(n, 1) alone"),
            ({"settings": {"flow_control": "bfc"}}, "settings.flow_control: `bfc`: there are pfc, none, pfc-star, portfc, cbfc"),
            ({"settings": {"flow_control": "cbfc", "cbfc": {"credit_limit": 0}}}, "settings.cbfc.credit_limit: 0: give a whole number from 1 to 1048575"),
            ({"settings": {"flow_control": "cbfc", "cbfc": {"credit_limit": 4}}}, "settings.cbfc.credit_limit: 4: a frame of 1048 octets takes 5"),
            ({"settings": {"flow_control": "cbfc", "cbfc": {"virtual_channels": 3}}}, "settings.cbfc.virtual_channels: 3: there are 2 lossless classes, so no class uses the last"),
            ({"settings": {"buffer_octets": 1000}}, "settings.buffer_octets: 1000: the headrooms of "),
            ({"settings": {"lossless": "9"}}, "settings.lossless: "),
            ({"fabric": "nowhere.json"}, "fabric: "),
            ({"fabric": still}, ".rate_bps"),
            ({"duration_ns": -1}, "duration_ns: -1: "),
        ]
        for change, what in refused:
            with self.subTest(what=what):
                done = self.scenario(**change)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(what, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("line 1: cut off: the JSON has no end: write the file again", lab("sim", "-", text="{").stderr)
        self.assertIn("line 2: this is no JSON", lab("sim", "-", text='{"fabric": "x",\n,}').stderr)
        deep = '{"fabric": ' + '{"a":' * 500000 + "1" + "}" * 500001
        self.assertIn("nested more than 32 levels deep", lab("sim", "-", text=deep).stderr)
        lab("topo", "dualtor", "-o", self.path / "dualtor.json")
        self.assertEqual(lab("prove", self.path / "dualtor.json", "--rules", "none").returncode, 1)
        for words in (("--qos.lossless", "pcbb"), ()):
            self.assertEqual(lab("prove", self.path / "dualtor.json", *words).returncode, 0)
        self.assertEqual(lab("sim", "dualtor", "--protect", "none").returncode, 1)
        self.assertEqual(lab("sim", "dualtor", "--qos.lossless", "pcbb").returncode, 0)
        self.assertEqual(lab("sim", "case1", "--flow-control", "cbfc", "--channels", "1", "--protect", "none").returncode, 1)
        self.assertEqual(lab("sim", "case1", "--flow-control", "cbfc", "--channels", "2").returncode, 0)
        self.assertEqual(lab("sim", "case1", "--channels", "2").stderr.count("only with --flow-control cbfc"), 1)
        for words in (("case1", "--flow-control", "bfc"), ("case1", "--protect", "oracle"), ("case1", "--duration", "0"), ()):
            self.assertEqual(lab("sim", *words).returncode, 2)

    def test_flows_are_counted_where_there_are_two_directions(self):
        self.scenario()
        for case in ("fcplus", "ndc-loop", "itsy-fig3", self.path / "s.json"):
            done = lab("sim", case, "--flows", "1+1")
            self.assertEqual((done.returncode, done.stdout), (2, ""), case)
            self.assertIn("--flows: of case1, case2, dualtor, flap, last-hop; whatever else is run has its own", done.stderr)

    def test_a_number_that_is_none_is_refused(self):
        for words, what in ((("sim", "case1", "--seed", "-1"), "--seed: give a number, 0 or more"),
                            (("sim", "case1", "--duration", "nan"), "--duration: give a number from"),
                            (("reproduce", "dot1", "--seed", "-1"), "--seed: give a number, 0 or more"),
                            (("reproduce", "fcplus", "--seed", "18446744073709551616"), "--seed: give a number from 0 to 18446744073709551615"),
                            (("reproduce", "fcplus", "--switches", "-1"), "--switches: give a number from 1 to 5000"),
                            (("reproduce", "fcplus", "--table", "9"), "--table: give a number from 1 to 8")):
            done = lab(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(what, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_layered_expander_is_not_routed_by_levels(self):
        lab("topo", "fcplus", "12", "--ports", "6", "-o", self.path / "layered.json")
        done = self.scenario(fabric="layered.json", flows=[], traffic=[{"kind": "permutation"}])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("in a layered expander `via` names every switch between, in order", done.stderr)

    def test_the_seed_of_the_command_line_is_the_traffics(self):
        said = {"traffic": [{"kind": "poisson", "sizes": "storage"}], "duration_ns": 100000}
        seeds = {}
        for seed in (1, 7):
            self.scenario(**said, settings={"seed": seed})
            seeds[seed] = json.loads(lab("sim", self.path / "s.json", "--json").stdout)["digest"]
        done = lab("sim", self.path / "s.json", "--seed", "1", "--json")
        self.assertEqual(json.loads(done.stdout)["digest"], seeds[1])
        self.assertNotEqual(seeds[1], seeds[7])

    def test_any_number_of_threads_gives_the_same_bytes(self):
        """What is printed, the curves, and the page but for its command."""
        results = []
        for threads in map(str, range(1, 1 + min(3, os.cpu_count()))):
            curve, page = self.path / "t.csv", self.path / "t.html"
            done = lab("sim", "flap", "--protect", "none", "--duration", "0.3", "--threads", threads, "--csv", curve, "-o", page, "--json")
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            results.append((done.stdout, curve.read_text(), re.sub("<code>.*</code>", "", page.read_text())))
        self.assertEqual(results, results[:1] * len(results))
        for threads in ("0", "65", "-1"):
            done = lab("sim", "case1", "--threads", threads)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--threads", done.stderr)

    def test_no_more_threads_than_processors(self):
        """They would wait for each other most of the time."""
        most = os.cpu_count()
        if most >= 64:
            self.skipTest("all that may be asked for are there")
        done = lab("sim", "case1", "--duration", "0.05", "--threads", str(most + 1))
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"lldp-level-lab sim: {'one thread' if most == 1 else f'{most} threads'}: there are no more processors\n"))

    def test_what_needs_one_thread_says_so(self):
        captures = []
        for threads in ("1", "2"):
            captures.append(self.path / f"{threads}.pcapng")
            done = lab("sim", "case1", "--duration", "0.05", "--threads", threads, "--trace", captures[-1])
            self.assertEqual(done.returncode, 0)
            self.assertEqual("one thread: a capture" in done.stderr, threads == "2")
        self.assertEqual(captures[0].read_bytes(), captures[1].read_bytes())
        self.assertIn("one thread: what itsy", lab("sim", "case1", "--duration", "0.05", "--protect", "itsy", "--threads", "2").stderr)

    def test_what_cannot_be_written_is_an_error(self):
        if not pathlib.Path("/dev/full").is_char_device():
            self.skipTest("there is no /dev/full")
        for option in ("--csv", "--trace"):
            done = lab("sim", "case1", "--duration", "0.05", option, "/dev/full")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("/dev/full: cannot be written", done.stderr)
            self.assertEqual(lab("sim", "case1", option, "-").returncode, 2)

    def test_a_shared_buffer_drops_nothing(self):
        """The frame that raises XOFF may be the first beyond the limit: where that moves, or the shared part is full."""
        lab("topo", "fattree", "4", "-o", self.path / "ft4.json")
        traffic = [{"kind": "incast", "octets": 200000, "senders": 12, "transport": "paced"}, {"kind": "permutation", "octets": 200000, "transport": "paced"}]
        for settings in ({"pfc": {"alpha_256": 64}}, {"pfc": {"alpha_256": 2048}}, {"buffer_octets": 900000}):
            for seed in (4, 5):
                done = self.scenario(fabric="ft4.json", flows=[], traffic=traffic, settings={**settings, "seed": seed}, duration_ns=3000000)
                self.assertEqual(done.stderr, "")
                self.assertEqual(json.loads(done.stdout)["drops"], 0)

    def test_layers_are_what_the_operator_says(self):
        lab("topo", "layered", "-o", self.path / "fc.json")
        fabric = json.loads((self.path / "fc.json").read_text())
        names = [n["id"] for n in fabric["nodes"]]
        done = self.scenario(fabric="fc.json", flows=[{"from": names[-2], "to": names[-1]}])
        self.assertIn("no link from", done.stderr, "a way through layers is laid, not found by levels")

    def test_itsy_explains_itself(self):
        done = lab("sim", "itsy-fig3", "--duration", "1", "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        said = json.loads(done.stdout)
        self.validator("sim").validate(said)
        self.assertEqual(said["protect"], "itsy")
        self.assertTrue(said["verdicts"] and all(v["true"] for v in said["verdicts"]))
        self.assertEqual(said["detections"], len(said["verdicts"]))
        done = lab("sim", "itsy-fig3", "--duration", "1", "--explain")
        self.assertIn("paused first: S10 (from S6)", done.stdout)
        done = lab("sim", "itsy-fig4", "--explain")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_host_that_pauses(self):
        said = {"storms": [{"host": "host4", "from_ns": 1000, "until_ns": 900000, "pause_ns": 40000, "every_ns": 50000}],
                "settings": {"protect": "itsy", "itsy": {"patience_ns": 50000, "break_up": True, "handle": False, "least_bps": 1000000}}}
        said["flows"] = [{**FLOW, "octets": 10000000}]
        self.validator("scenario").validate({"fabric": "case1.json", **said})
        out = json.loads(self.scenario(**said).stdout)
        self.assertGreater(out["pauses"], 17)
        for storm, what in (({"host": "Leaf1"}, "`Leaf1` is no host"), ({"host": "host1", "pause_ns": 9, "every_ns": 5000, "x": 1}, "storms[0].x: "),
                            ({"host": "host1", "pause_ns": 5000, "every_ns": 5000}, "storms[0].pause_ns: is not below every_ns")):
            self.assertIn(what, self.scenario(storms=[storm]).stderr)

    def test_nodes_that_relay(self):
        for control, status in (("pfc", 1), ("pfc-star", 0), ("portfc", 0)):
            done = lab("sim", "ndc-loop", "--flow-control", control, "--duration", "2", "--json")
            self.assertEqual((done.returncode, done.stderr), (status, ""))
            said = json.loads(done.stdout)
            self.validator("sim").validate(said)
            self.assertEqual((said["deadlock"], said["drops"], said["flow_control"]), (status == 1, 0, control))
            self.assertLessEqual(said["pause_hops"], 3)

    def test_who_waits_for_whom_and_experts(self):
        lab("topo", "railonly", "--domains", "4", "--rails", "4", "-o", self.path / "rail.json")
        said = {"fabric": "rail.json", "duration_ns": 50000000,
                "flows": [{"name": "first", "from": "gpu1-1", "to": "gpu1-2", "octets": 50000},
                          {"from": "gpu1-2", "to": "gpu2-2", "octets": 1000, "after": ["first"], "start_ns": 700}],
                "traffic": [{"kind": "moe", "experts": 3, "top_k": 1, "skew": 2, "octets": 100000},
                            {"kind": "parameter-server", "to": "gpu2-1", "octets": 20000}],
                "settings": {"protect": "none", "flow_control": "portfc", "ate_percent": 90}}
        self.validator("scenario").validate(said)
        done = self.scenario(**said)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = json.loads(done.stdout)
        self.validator("sim").validate(out)
        first, second = out["flows"][:2]
        self.assertEqual(second["start_ns"], int(first["start_ns"] + first["fct_ns"] + 700))
        self.assertEqual([f["name"] for f in out["flows"] if f["fct_ns"] is None], [])
        self.assertEqual(out["drops"], 0)
        flows, settings = said["flows"], said["settings"]
        for change, what in (({"flows": [{**flows[1], "after": ["first"]}, flows[0]]}, "flows[0].after[0]: name a flow that comes before this one"),
                             ({"flows": [flows[0], {**flows[1], "after": [7]}]}, "flows[1].after[0]: name a flow that comes before"),
                             ({"flows": [flows[0], {**flows[1], "from": "gpu2-1"}]}, "flow 2: after: those that it waits for"),
                             ({"traffic": [{"kind": "moe", "experts": 17}]}, "traffic[0].experts: 17: give 1 to 16"),
                             ({"traffic": [{"kind": "moe", "octets": 255}]}, "traffic[0].octets: 255: a host has 256 tokens"),
                             ({"traffic": [{"kind": "moe", "top_k": 5}]}, "traffic[0].top_k: 5: give 1 to 4"),
                             ({"traffic": [{"kind": "parameter-server", "to": "nvs1"}]}, "traffic[0].to: the fabric has no host `nvs1`"),
                             ({"traffic": [{"kind": "incast", "experts": 2}]}, "traffic[0].experts: there is no such key"),
                             ({"settings": {**settings, "ate_percent": 0}}, "settings.ate_percent: 0: give a whole number from 1 to 100"),
                             ({"fabric": "case1.json", "flows": [FLOW], "traffic": [], "settings": {"ate_percent": 90}},
                              "settings.ate_percent: no node that relays has links of two rates")):
            done = self.scenario(**{**said, **change})
            self.assertEqual((done.returncode, done.stdout), (2, ""), what)
            self.assertIn(what, done.stderr)

    def test_reproduce_is_asked_for_what_there_is(self):
        for words, what in ((("portfc", "--figure", "3"), "--figure: portfc has 4, 5, 7"), (("dot1", "--figure", "4"), "--figure is of fcplus and portfc"),
                            (("portfc", "--table", "1"), "--table, --switches and --fct are of fcplus"), (("itsy", "--threads", "0"), "--threads: give a number"),
                            (("bfc",), "name the paper")):
            done = lab("reproduce", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(what, done.stderr)
        done = lab("reproduce", "fcplus", "--quick", "--table", "2", "--switches", "101")
        self.assertEqual(done.returncode, 2)
        self.assertIn("101 switches do not fill the 4 layers of a group evenly: 100 or 104 do", done.stderr)
        done = lab("reproduce", "portfc", "--quick", "--figure", "5", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *rows, last = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((last["summary"]["holds"], last["summary"]["values"], last["summary"]["news"]), (3, len(rows), 0))
        self.assertEqual({r["place"] for r in rows}, {"II-C, Figure 5"})
        self.assertEqual([(r["row"]["scenario"], r["ours"], r["verdict"]) for r in rows if r["metric"] == "deadlocks"],
                         [("PFC", 1, "holds"), ("PFC*", 0, "holds"), ("PortFC", 0, "holds")])
        two = lab("reproduce", "portfc", "--quick", "--figure", "5", "--json", "--seeds", "2")
        *all_rows, last = [json.loads(line) for line in two.stdout.splitlines()]
        self.assertEqual([r for r in all_rows if r.pop("seed", None) == 1], rows, "each seed's values come first, as if it were alone")
        medians = [r for r in all_rows if "by_seed" in r]
        self.assertEqual((len(medians), len(all_rows), last["summary"]["values"]), (len(rows), 3 * len(rows), len(rows)))

    def test_a_report_is_one_page(self):
        page, words = self.path / "r.html", ("sim", "case1", "--protect", "none", "--duration", "0.3", "--json")
        done = lab(*words, "-o", page)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(done.stdout, lab(*words).stdout, "who looks on changes nothing")
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), "https?://|src=|@import", "nothing is fetched")
        moments = json.loads("[" + text.split("const moments = [")[1].split("];")[0].strip().rstrip(",") + "]")
        times = [m[0] for m in moments]
        self.assertEqual(times, sorted(set(times)))
        states = {}
        for _, arcs, _ in moments:
            states.update(zip(arcs[::2], arcs[1::2]))
        self.assertEqual(sum(s == 2 for s in states.values()), 4, "the ring of the deadlock")
        for arc in states:
            self.assertIn(f'id="a{arc}"', text)
        for title in ("Throughput", "The longest queues", "Ports that are paused"):
            self.assertIn(f"<figcaption>{title}</figcaption>", text)
        picture = text.split('<svg class="fabric"')[1].split("</style>")[0].split("<style>")[1]
        for selector in re.findall(r"([^{}]*)\{", picture.replace("@media(prefers-color-scheme:dark){", "")):
            for one in selector.split(","):
                self.assertTrue(one.startswith(".fabric"), f"{one} would be of the page's charts, too")
        both = self.path / "both.csv"
        lab(*words, "-o", page, "--csv", both)
        alone = self.path / "alone.csv"
        lab(*words, "--csv", alone)
        self.assertEqual(both.read_text(), alone.read_text())
        done = lab(*words, "-o", self.path / "r.json")
        self.assertEqual((self.path / "r.json").read_text(), done.stdout)

    def test_a_report_tells_of_flows_that_had_no_way_on(self):
        self.scenario(failed=["Spine1-Leaf4"], events=[{"at_ns": 1000, "link": "host4-Leaf4"}], duration_ns=3000)
        page = self.path / "w.html"
        self.assertIn("1 time a flow had no way on", lab("sim", self.path / "s.json", "-o", page).stdout)
        self.assertIn('<td>times that a flow had no way on</td><td class="n">1</td>', page.read_text())

    def test_names_in_a_report_are_no_markup(self):
        fabric = (self.path / "case1.json").read_text().replace("Leaf1", "<b>L1")
        (self.path / "evil.json").write_text(fabric)
        said = {"fabric": "evil.json", "name": "<script>alert(1)", "flows": [{**FLOW, "name": "</script><i>"}]}
        (self.path / "s.json").write_text(json.dumps(said))
        done = lab("sim", self.path / "s.json", "-o", self.path / "e.html")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = (self.path / "e.html").read_text()
        self.assertNotIn("<b>", text)
        self.assertNotIn("<i>", text)
        self.assertNotIn("<script>alert", text)

    def test_files_of_other_simulators(self):
        topology, traffic = self.path / "topology.txt", self.path / "flow.txt"
        topology.write_text("6 2 5\n4 5\n" + "".join(f"{h} {4 + h // 2} 100Gbps 0.001ms 0\n" for h in range(4)) + "4 5 100Gbps 0.001ms 0\n")
        for text, names in (("2\n0 2 3 100 10000 2\n1 3 3 100 20000 2.0001\n", ["1", "2"]),
                            ("Nodes 4\nConnections 2\nTriggers 1\n0->2 id 8 start 0 size 10000 send_done_trigger 1\n2->0 id 9 trigger 1 size 10000\n"
                             "trigger id 1 oneshot\n", ["8", "9"]),
                            ("num_ranks 2\nrank 0 {\nsend 10000b to 1\n}\nrank 1 {\nrecv 10000b from 0\n}\n", ["0-1.1"])):
            traffic.write_text(text)
            done = lab("sim", "--topology", topology, "--traffic", traffic, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            said = json.loads(done.stdout)
            self.validator("sim").validate(said)
            self.assertEqual([f["name"] for f in said["flows"] if f["fct_ns"]], names)
            links = 3 if len(names) > 1 else 2
            self.assertAlmostEqual(said["flows"][0]["fct_ns"], links * 1000 + (10 + links - 1) * 1048 * .08, 3)
            self.assertLess(said["duration_ns"], 10 ** 6, "it ends when all has arrived")
        scenario = {"fabric": "topology.txt", "traffic": [{"kind": "file", "file": "flow.txt", "transport": "irn"}]}
        self.validator("scenario").validate(scenario)
        done = self.scenario(**{**scenario, "flows": []})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        traffic.write_text("1\n0 9 3 100 10000 2\n")
        done = lab("sim", "--topology", topology, "--traffic", traffic)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("flow.txt: line 2: `9`: the fabric has no such host", done.stderr)
        for words in (("--topology", topology), ("--traffic", traffic), ("case1", "--topology", topology, "--traffic", traffic)):
            self.assertEqual(lab("sim", *words).returncode, 2)
        self.assertIn("nowhere.txt", lab("sim", "--topology", topology, "--traffic", "nowhere.txt").stderr)

    def test_capture_and_curves(self):
        capture, curve = self.path / "t.pcapng", self.path / "c.csv"
        done = lab("sim", "case1", "--duration", "0.2", "--trace", capture, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = json.loads(done.stdout)
        lab("sim", "case1", "--protect", "none", "--duration", "0.2", "--csv", curve)
        rows = [line.split(",") for line in curve.read_text().splitlines()]
        self.assertEqual(rows[0], ["time_ns", "what", "name", "value"])
        self.assertEqual({row[1] for row in rows[1:]}, {"throughput_bps", "queue_octets", "paused"})
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed")
        frames = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "eth.type", "-e", "macc.opcode", "-e", "ip.dsfield.dscp",
                                 "-e", "udp.dstport"], capture_output=True, text=True, timeout=60).stdout.splitlines()
        pauses = sum("0x8808\t0x0101" in f for f in frames)
        self.assertEqual(pauses, said["pause_frames"])
        self.assertEqual(sum("\t43\t4791" in f or "\t51\t4791" in f for f in frames), len(frames) - pauses)
        self.assertTrue(any("\t51\t" in f for f in frames), "no packet changed its class")
        lab("sim", self.acknowledged(), "--duration", "0.1", "--trace", self.path / "acks.pcapng")
        for file in (capture, self.path / "acks.pcapng"):
            seen = subprocess.run(["tshark", "-r", file, "-Y", "_ws.malformed"], capture_output=True, text=True, timeout=60)
            self.assertEqual((seen.returncode, seen.stdout), (0, ""), "frames that a dissector takes for malformed")

    def acknowledged(self):
        """A scenario with acknowledgements."""
        file = self.path / "acks.json"
        lab("topo", "clos", "--hosts", "2", "--switches", "2,1", "-o", self.path / "small.json")
        file.write_text(json.dumps({"fabric": "small.json", "flows": [{"from": "host1", "to": "host2", "octets": 20000, "transport": "go-back-n"}]}))
        return file


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
