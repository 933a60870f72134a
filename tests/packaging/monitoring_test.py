#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what is shipped for monitoring against what the programs tell: the names in the dashboard and the rules
against the metrics, the JSON schemas against real answers.

usage: monitoring_test.py SOURCE_DIR BIN_DIR [unittest arguments]
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
import time
import unittest

import schemas

SOURCE, BIN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PACKAGING, GOLDEN = SOURCE / "packaging", SOURCE / "tests"
METRICS = {}  # name: set of labels, of the golden text
for name, labels in re.findall(r"(?m)^(\w+)(\{.*\})? \S+$", (GOLDEN / "metrics/golden/metrics.txt").read_text()):
    METRICS.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
OF_PROMETHEUS = {"instance", "job"}


def dashboard():
    return json.loads((PACKAGING / "grafana/lldp-level.json").read_text())


def expressions_of_dashboard():
    board = dashboard()
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])
    yield from (a["expr"] for a in board["annotations"]["list"])
    yield from (v["definition"] for v in board["templating"]["list"] if "definition" in v)


def expressions_of_rules():
    text = (PACKAGING / "prometheus/lldp-level.rules.yml").read_text()
    yield from re.findall(r"(?m)^ +expr: (.*)$", text)


class Names(unittest.TestCase):
    def check(self, expressions):
        used = set()
        for expression in expressions:
            with self.subTest(expression=expression):
                names = set(re.findall(r"\blldp_level_\w+", expression))
                self.assertTrue(names)
                self.assertLessEqual(names, set(METRICS))
                used |= names
                labels = OF_PROMETHEUS.union(*(METRICS[name] for name in names))
                matched = re.findall(r'[{,](\w+)(?:=~|!~|!=|=)"', expression)
                grouped = re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
                self.assertLessEqual({*matched, *re.findall(r"\w+", " ".join(grouped))}, labels)
                # What one side has not matches nothing of the other's.
                on_both = OF_PROMETHEUS.union(set.intersection(*(METRICS[name] for name in names)))
                for joined in re.findall(r"\bon \(([^)]*)\)", expression):
                    self.assertLessEqual(set(re.findall(r"\w+", joined)), on_both)
        return used

    def test_dashboard(self):
        used = self.check(expressions_of_dashboard())
        for wanted in ("device_level", "port_info", "alarm", "bounces_total", "port_neighbors",
                       "frames_discarded_total", "tlvs_discarded_total"):
            self.assertIn(f"lldp_level_{wanted}", used)
        ids = [panel["id"] for panel in dashboard()["panels"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_panel_shows_something_and_says_what(self):
        board = dashboard()
        self.assertEqual([v["name"] for v in board["templating"]["list"]], ["datasource", "instance"])
        self.assertTrue(board["title"] and board["uid"] and board["description"] and board["time"] and board["refresh"])
        places = set()
        for panel in board["panels"]:
            with self.subTest(panel=panel["title"]):
                self.assertEqual(panel["datasource"]["uid"], "${datasource}")
                self.assertIn(panel["type"], ("stat", "timeseries", "table"))
                at = panel["gridPos"]
                self.assertLessEqual(at["x"] + at["w"], 24)
                covered = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
                self.assertEqual(covered & places, set(), "it lies upon another")
                places |= covered
                for target in panel["targets"]:
                    self.assertEqual(target.get("datasource", panel["datasource"])["uid"], "${datasource}")
                    names = re.findall(r"lldp_level_\w+", target["expr"])
                    self.assertIn('{instance=~"$instance"', target["expr"])  # of the devices that were chosen
                    only = re.search(r"\bby \(([^)]*)\)", target["expr"])
                    labels = set(re.findall(r"\w+", only[1])) if only else OF_PROMETHEUS.union(*(METRICS[n] for n in names))
                    if panel["type"] == "table":  # all labels are columns
                        self.assertEqual((target["format"], target["instant"]), ("table", True))
                        continue
                    shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                    self.assertLessEqual(shown, labels)
                    self.assertIn("instance", shown)
                self.assertEqual(len({t.get("legendFormat") for t in panel["targets"]}), len(panel["targets"]), "who is who")
                units = {"bytes": "bytes", "cpu_seconds": "percentunit", "start_time": "dateTimeFromNow", "bounces": "pps", "frames_out": "pps", "pauses": "pps", "paused_seconds": "percentunit", "last_pause": "dateTimeFromNow"}
                self.assertEqual(panel["fieldConfig"]["defaults"].get("unit"),
                                 next((unit for word, unit in units.items() if word in panel["targets"][0]["expr"]), None))
        self.assertTrue(all(a["enable"] and a["titleFormat"] for a in board["annotations"]["list"]))

    def test_rules(self):
        self.check(expressions_of_rules())

    def test_values_of_labels_are_those_that_there_are(self):
        """A misspelt state makes an alert that never fires."""
        show, rules = (json.loads((PACKAGING / "schema" / f"{name}.schema.json").read_text()) for name in ("show", "rules"))
        part, port = rules["$defs"]["part"]["properties"], show["$defs"]["port"]["properties"]
        known = {("lldp_level_protection_state", "state"): show["properties"]["protection"]["properties"]["state"]["enum"],
                 ("lldp_level_alarm", "severity"): show["$defs"]["alarm"]["properties"]["severity"]["enum"],
                 ("lldp_level_device_info", "role"): show["properties"]["device"]["properties"]["role"]["enum"],
                 ("lldp_level_device_info", "transport"): show["properties"]["device"]["properties"]["transport"]["enum"],
                 ("lldp_level_port_info", "type"): show["$defs"]["port_type"]["enum"],
                 ("lldp_level_neighbor_info", "device_type"): show["$defs"]["neighbor"]["properties"]["device_type"]["enum"],
                 ("lldp_level_port_info", "order"): port["order"]["enum"],
                 ("lldp_level_port_rules_info", "installed"): rules["$defs"]["port"]["properties"]["installed"]["enum"],
                 ("lldp_level_pfc_pauses_total", "direction"): ("received", "sent"),
                 ("lldp_level_pfc_paused_seconds_total", "direction"): ("received", "sent"),
                 ("lldp_level_pfc_last_pause_timestamp_seconds", "direction"): ("received", "sent"),
                 ("lldp_level_port_part_state", "part"): part["part"]["enum"],
                 ("lldp_level_port_part_state", "state"): part["state"]["enum"]}
        held = 0
        for expression in (*expressions_of_rules(), *expressions_of_dashboard()):
            for metric, selector in re.findall(r"(lldp_level_\w+)\{([^}]*)\}", expression):
                for label, values in re.findall(r'(\w+)(?:=~|!~|!=|=)"([^"$]*)"', selector):
                    with self.subTest(expression=expression, label=label):
                        self.assertLessEqual(set(values.split("|")), set(known[metric, label]))
                        held += 1
        self.assertGreaterEqual(held, 4)
        reason = show["$defs"]["reason"]["properties"]
        self.assertEqual(reason["part"], part["part"])
        self.assertEqual(set(reason["state"]["enum"]), set(part["state"]["enum"]) - {"done"})

    def test_what_is_not_protected_is_critical(self):
        """As `lldp-level check` says 2; docs/operate/monitoring.md has both."""
        text = (PACKAGING / "prometheus/lldp-level.rules.yml").read_text()
        alerts = {name: re.search(r"severity: (\w+)", body)[1]
                  for name, body in re.findall(r"(?ms)- alert: (\w+)\n(.*?)(?=- alert:|\Z)", text)}
        rows = re.findall(r"(?m)^\| (\d) \w+ \|.*\| (.*?) ?\|$", (SOURCE / "docs/operate/monitoring.md").read_text())
        self.assertEqual([status for status, _ in rows], list("0123"))
        severity = {"1": "warning", "2": "critical", "3": "warning"}
        for status, names in rows:
            for name in re.findall(r"`(\w+)`", names):
                self.assertEqual(alerts[name], severity[status], name)
        self.assertIn('lldp_level_protection_state{state=~"failed|partial"} == 1', text)

    def test_whoever_is_alerted_reads_where_and_why(self):
        text = (PACKAGING / "prometheus/lldp-level.rules.yml").read_text()
        for name, body in re.findall(r"(?ms)- alert: (\w+)\n(.*?)(?=- alert:|\Z)", text):
            with self.subTest(alert=name):
                expression = re.search(r"(?m)^ +expr: (.*)$", body)[1]
                summary = re.search(r'(?m)^        annotations:\n          summary: "(.*)"$', body)[1]
                only = re.search(r"\bby \(([^)]*)\)", expression)  # what is summed has no other label left
                metric = re.search(r"\blldp_level_\w+", expression)[0]
                labels = set(re.findall(r"\w+", only[1])) if only else METRICS[metric] | OF_PROMETHEUS
                told = set(re.findall(r"\$labels\.(\w+)", summary))
                self.assertLessEqual(told, labels)  # another's value would be nothing
                self.assertLessEqual({"instance", "port"} & labels, told)
                self.assertRegex(re.sub(r"\{\{.*?\}\}", "", summary), r"\w+ \w+ ?")

    def test_documentation(self):
        rows = re.findall(r"(?m)^\| `(lldp_level_\w+)` \| (.*?) \|", (SOURCE / "docs/operate/monitoring.md").read_text())
        self.assertEqual({name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}, METRICS)

    def test_promtool(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        text = (GOLDEN / "metrics/golden/metrics.txt").read_text()
        run = lambda *words, **kw: subprocess.run(["promtool", "check", *words], capture_output=True, text=True, **kw)
        done = run("metrics", input=text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = run("rules", PACKAGING / "prometheus/lldp-level.rules.yml")
        self.assertEqual(done.returncode, 0, done.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:  # the dashboard's, as if they were rules
            file.write("groups:\n- name: dashboard\n  rules:\n")
            for i, expression in enumerate(e for e in expressions_of_dashboard() if "label_values" not in e):
                expression = expression.replace("$__rate_interval", "5m")
                file.write(f"  - {{record: 'r:{i}', expr: {json.dumps(expression)}}}\n")
            file.flush()
            done = run("rules", file.name)
            self.assertEqual(done.returncode, 0, done.stderr)


class Alerts(unittest.TestCase):
    """Each alert over a time that it is for, by promtool's own evaluation."""
    LEAF = 'instance="leaf1"'
    PORT = 'instance="leaf1",port="swp1"'

    def beside(state, role, neighbor):
        return {f'lldp_level_protection_state{{instance="leaf1",state="{state}"}}': "1x60",
                f'lldp_level_device_info{{instance="leaf1",role="{role}"}}': "1x60",
                'lldp_level_port_up{instance="leaf1",port="swp1"}': "1x60",
                f'lldp_level_neighbor_info{{instance="leaf1",port="swp1",device_type="{neighbor}"}}': "1x60"}

    # alert: (series that it is for, the minute from which it stands), and series that it is not for
    CASES = {
        "LldpLevelDown": ({f"lldp_level_up{{{LEAF}}}": "0x60"}, 2, [{f"lldp_level_up{{{LEAF}}}": "1x60"}]),
        "LldpLevelUnprotected": (
            {f'lldp_level_protection_state{{{LEAF},state="partial"}}': "1x60"}, 2,
            [{f'lldp_level_protection_state{{{LEAF},state="active"}}': "1x60",
              f'lldp_level_protection_state{{{LEAF},state="failed"}}': "0x60"}]),
        "LldpLevelNoPorts": (
            {f'lldp_level_device_info{{{LEAF},role="switch"}}': "1x60"}, 2,
            [{f'lldp_level_device_info{{{LEAF},role="switch"}}': "1x60", f"lldp_level_port_up{{{PORT}}}": "0x60"},
             {f'lldp_level_device_info{{{LEAF},role="host"}}': "1x60"}]),
        "LldpLevelNoRules": (beside("inactive", "switch", "switch"), 2,
                             [beside("active", "switch", "switch"), beside("inactive", "host", "switch"),
                              beside("inactive", "switch", "host")]),
        "LldpLevelPart": (
            {f'lldp_level_port_part_state{{{PORT},part="remap",state="foreign"}}': "1x60"}, 2,
            [{f'lldp_level_port_part_state{{{PORT},part="remap",state="done"}}': "1x60",
              f'lldp_level_port_part_state{{{PORT},part="remap",state="missing"}}': "0x60"}]),
        "LldpLevelRestored": (
            {f"lldp_level_rules_restored_total{{{PORT}}}": "0x9 1+1x49"}, 12,
            [{f"lldp_level_rules_restored_total{{{PORT}}}": "0x9 1x50"}]),
        "LldpLevelAlarm": ({f'lldp_level_alarm{{{PORT},code="silent",severity="warning"}}': "1x60"}, 1,
                           [{f'lldp_level_alarm{{{PORT},code="silent",severity="ok"}}': "1x60"}]),
        "LldpLevelCritical": ({f'lldp_level_alarm{{{PORT},code="pfc-mismatch",severity="critical"}}': "1x60"}, 1,
                              [{f'lldp_level_alarm{{{PORT},code="pfc-mismatch",severity="ok"}}': "1x60"}]),
        "LldpLevelCompanion": ({f'lldp_level_companion_ok{{{LEAF},key="on-change"}}': "0x60"}, 2,
                               [{f'lldp_level_companion_ok{{{LEAF},key="on-change"}}': "1x60"}]),
        "LldpLevelChanged": ({f"lldp_level_device_level{{{LEAF}}}": "1x20 2x40"}, 21,
                             [{f"lldp_level_device_level{{{LEAF}}}": "2x60"}]),
        "LldpLevelBounces": ({f'lldp_level_bounces_total{{{PORT},priority="5"}}': "0+100x60"}, 11,
                             [{f'lldp_level_bounces_total{{{PORT},priority="5"}}': "100x60"},
                              {f'lldp_level_bounces_total{{{PORT},priority="5"}}': "0x20 100x40"}]),
        "LldpLevelFramesLost": ({f'lldp_level_lost_frames_total{{{PORT},priority="5",where="queue"}}': "3x9 4x50"}, 10,
                                [{f'lldp_level_lost_frames_total{{{PORT},priority="5",where="queue"}}': "3x60"}]),
        "LldpLevelPauses": ({f'lldp_level_pfc_pauses_total{{{PORT},priority="5",direction="received"}}': "0+60000x60"}, 11,
                            [{f'lldp_level_pfc_pauses_total{{{PORT},priority="5",direction="received"}}': "0+60x60"},
                             {f'lldp_level_pfc_pauses_total{{{PORT},priority="5",direction="sent"}}': "0+60000x60"}]),
        "LldpLevelPaused": ({f'lldp_level_pfc_paused_seconds_total{{{PORT},priority="5",direction="received"}}': "0+40x60"}, 14,
                            [{f'lldp_level_pfc_paused_seconds_total{{{PORT},priority="5",direction="received"}}': "0+20x60"},
                             {f'lldp_level_pfc_paused_seconds_total{{{PORT},priority="5",direction="sent"}}': "0+40x60"}]),
        "LldpLevelFramesDiscarded": ({f"lldp_level_frames_discarded_total{{{PORT}}}": "0+12x60"}, 13,
                                     [{f"lldp_level_frames_discarded_total{{{PORT}}}": "0+5x60"}]),
        "LldpLevelTooManyNeighbors": ({f"lldp_level_too_many_neighbors_total{{{PORT}}}": "0x5 1+1x55"}, 6,
                                      [{f"lldp_level_too_many_neighbors_total{{{PORT}}}": "7x60"}]),
    }

    def test_every_alert_has_a_case(self):
        text = (PACKAGING / "prometheus/lldp-level.rules.yml").read_text()
        self.assertEqual(re.findall(r"(?m)- alert: (\w+)", text), list(self.CASES))
        # What makes a case of one alert must not be lacking in what the exporter tells.
        for series in (s for fires, _, silent in self.CASES.values() for group in (fires, *silent) for s in group):
            name = series.split("{")[0]
            self.assertLessEqual(set(re.findall(r'(\w+)="', series)), METRICS[name] | OF_PROMETHEUS, series)

    # The same for an alert that several things are for: the scrape of a daemon that took its exporter along.
    MORE = [("LldpLevelDown", {f'up{{{LEAF},job="lldp-level"}}': "1x9 0x50"}, 12, [{f'up{{{LEAF},job="node"}}': "1x9 0x50"}]),
            ("LldpLevelDown", {f'up{{{LEAF},job="leaves"}}': "1x9 0x50", f'lldp_level_up{{{LEAF},job="leaves"}}': "1x9 stale"}, 12,
             [{f'up{{{LEAF},job="leaves"}}': "1x60", f'lldp_level_up{{{LEAF},job="leaves"}}': "1x9 stale"}])]

    def test_fires_when_it_has_stood_for_its_time_and_only_then(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        # Quiet for every alert but the one that a case is for.
        quiet = {f"lldp_level_up{{{self.LEAF}}}": "1x60"}
        rules = (PACKAGING / "prometheus/lldp-level.rules.yml").resolve()
        tests = []
        for alert, fires, minute, silent in [*((name, *case) for name, case in self.CASES.items()), *self.MORE]:
            for series, at in ((fires, minute), *((s, None) for s in silent)):
                times = [(at, True), (at - 1, False)] if at is not None else [(m, False) for m in (2, 15, 25, 40)]
                labels = dict(re.findall(r'(\w+)="([^"]*)"', next(iter(series))))
                tests.append({"interval": "1m",
                              "input_series": [{"series": s, "values": v} for s, v in {**quiet, **series}.items()],
                              "promql_expr_test": [
                                  {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                                   "eval_time": f"{m}m", "exp_samples": [{"labels": "{}", "value": int(stands)}]}
                                  for m, stands in times if m >= 0]})
                self.assertEqual(labels["instance"], "leaf1")
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": tests}, file)
            file.flush()
            done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Schemas(unittest.TestCase):
    OF_DETAIL = {"muted_until", "announced", "scope", "source", "unchanged_for", "lldpdu"}
    DECODED = {"sends", "tlvs"}  # by the client

    def validator(self, name):
        return schemas.validator(self, PACKAGING / "schema" / f"{name}.schema.json")

    def refuses(self, validator, value, change):
        broken = copy.deepcopy(value)
        change(broken)
        self.assertFalse(validator.is_valid(broken))

    def test_show_golden(self):
        show = json.loads((GOLDEN / "report/golden/show.json").read_text())
        validator = self.validator("show")
        schemas.holds(self, validator, show, free={"set"}, below_zero={"expires_in"})
        detail = {"scope": "nearest-bridge", "source": None, "unchanged_for": 3, "lldpdu": "0207"}
        neighbor = show["ports"][0]["neighbors"][0]
        neighbor.update(detail, tlvs=[{"name": "ttl", "seconds": 120}])
        validator.validate(show)
        for key in detail:
            self.refuses(validator, show, lambda v: v["ports"][0]["neighbors"][0].update({key: []}))
        self.refuses(validator, show, lambda v: v["device"].update(level=255))
        self.refuses(validator, show, lambda v: v["ports"][0].update(type="sideways"))
        self.refuses(validator, show, lambda v: v["device"].update(system_name="raw \x1b escape"))

    def test_rules_golden(self):
        rules = json.loads((GOLDEN / "report/golden/rules.json").read_text())
        validator = self.validator("rules")
        validator.validate(rules)
        for port in rules["ports"]:  # null before: not counted
            port["unclassed"] = {"26": 4}
        schemas.holds(self, validator, rules, free={"bounces", "unclassed"})
        rules["ports"][0]["pauses"] = [{"priority": 3, "received": 1, "sent": 0}]  # of a driver that tells
        schemas.holds(self, validator, rules, free={"bounces", "unclassed"})
        self.refuses(validator, rules, lambda v: v["ports"][0]["pauses"][0].update(priority=8))

    def test_doctor_golden(self):
        answer = json.loads((GOLDEN / "cli/golden/doctor.json").read_text())
        validator = self.validator("doctor")
        schemas.holds(self, validator, answer)
        self.refuses(validator, answer, lambda v: v.update(status=3))
        self.refuses(validator, answer, lambda v: v["ports"][0]["findings"][0].update(code="no-such-word"))
        for name, beyond in (("priority", 8), ("dscp", 64)):
            self.refuses(validator, answer, lambda v: v["lossless"][0].update({name: beyond}))
        answer["ports"][0]["pauses"] = None  # the driver does not tell
        validator.validate(answer)
        told = set(re.findall(r'"([a-z]+-[a-z-]+|mtu|nobody|elsewhere|down)"', (SOURCE / "agent/cli/doctor.cpp").read_text()))
        codes = validator.schema["properties"]["ports"]["items"]["properties"]["findings"]["items"]["properties"]["code"]["enum"]
        self.assertLessEqual(set(codes), told)

    def test_real_answers(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root: the daemon runs in a namespace of its own")
        show, change = self.validator("show"), self.validator("change")
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            control, log = f"{directory}/control", f"{directory}/log"
            script = (f"ip link add p0 type veth peer name p1; ip link set p0 up; ip link set p1 up;"
                      f"exec {BIN}/lldp-leveld --role switch --ports '*' --backend none --socket {control} "
                      f"--state-file {directory}/state --on-change 'cat >&2'")
            with open(log, "w") as stderr:
                daemon = subprocess.Popen(["unshare", "--net", "sh", "-c", script], stderr=stderr)
            try:
                lines = []
                for _ in range(500):  # our own frames come back by the other port: that is an alarm
                    lines = [l for l in pathlib.Path(log).read_text().split("\n") if l.startswith("{")]
                    if len(lines) >= 2 or daemon.poll() is not None:
                        break
                    time.sleep(0.02)
                answer, detail, rules = (
                    subprocess.run([BIN / "lldp-level", *words.split(), "--json", "--socket", control],
                                   capture_output=True, text=True, timeout=20)
                    for words in ("show", "show detail", "rules"))
            finally:
                daemon.terminate()
                daemon.wait(20)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        show.validate(json.loads(answer.stdout))
        whole = json.loads(detail.stdout)
        show.validate(whole)
        port = whole["ports"][0]
        self.assertEqual([t["name"] for t in port["sends"]][:3], ["chassis-id", "port-id", "ttl"])
        self.assertEqual(bytes.fromhex(port["announced"])[:1], b"\x02")
        self.refuses(show, whole, lambda v: v["ports"][0].update(announced="0"))
        self.validator("rules").validate(json.loads(rules.stdout))
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            change.validate(json.loads(line))
        one = json.loads(lines[0])
        self.assertEqual(one["event"], "alarm-raised")
        for key in one:
            if key not in ("type", "order"):
                self.refuses(change, one, lambda v: v.pop(key))

    def test_every_event_is_described(self):
        made = set(re.findall(r'return "([a-z-]+)";', (SOURCE / "agent/report/change_json.cpp").read_text()))
        schema = json.loads((PACKAGING / "schema/change.schema.json").read_text())
        self.assertEqual(set(schema["properties"]["event"]["examples"]), made)
        page = (SOURCE / "man/lldp-level.conf.5").read_text().split(".Sh CHANGES")[1]
        self.assertLessEqual(made, set(re.findall(r"(?m)^\.Ql ([a-z-]+)", page)))
        self.assertEqual(set(re.findall(r"\.It Va (.*)", page.replace(" , Va ", "\n.It Va "))), set(schema["properties"]))

    def test_varlink_has_the_same_members(self):
        text = (SOURCE / "agent/control/org.lldplevel.varlink").read_text()
        schema = json.loads((PACKAGING / "schema/show.schema.json").read_text())
        rules = json.loads((PACKAGING / "schema/rules.schema.json").read_text())
        defs = {"Reason": schema["$defs"]["reason"], "PortRules": rules["$defs"]["port"], "Part": rules["$defs"]["part"],
                "Port": schema["$defs"]["port"], "Neighbor": schema["$defs"]["neighbor"],
                "Alarm": schema["$defs"]["alarm"], **{k.capitalize(): schema["properties"][k] for k in ("device", "protection")}}
        for name, definition in defs.items():
            with self.subTest(type=name):
                body = re.search(rf"(?ms)^type {name} \((.*?)^\)", text)[1]
                body = re.sub(r"#.*", "", body)
                members = [p for p in definition["properties"] if p not in self.DECODED]
                self.assertEqual(re.findall(r"(?m)^  (\w+):", body), members)
                self.assertEqual(definition["required"], [m for m in members if m not in self.OF_DETAIL])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
