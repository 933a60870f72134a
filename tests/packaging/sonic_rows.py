#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds rows of CONFIG_DB against SONiC's YANG models, by yanglint.

    sonic_rows.py ROWS MODELS

ROWS: JSON, one object a line: {"TABLE|KEY": {field: value}}. MODELS: the models of sonic-yang-models, templates rendered."""
import json
import pathlib
import subprocess
import sys
import tempfile

rows_file, models = map(pathlib.Path, sys.argv[1:])
# Table: module, and of a map the names of its two columns.
MAPS = {"DSCP_TO_TC_MAP": ("sonic-dscp-tc-map", "dscp", "tc"), "TC_TO_DSCP_MAP": ("sonic-tc-dscp-map", "tc", "dscp"),
        "TC_TO_QUEUE_MAP": ("sonic-tc-queue-map", "tc", "qindex"), "TC_TO_PRIORITY_GROUP_MAP": ("sonic-tc-priority-group-map", "tc", "pg"),
        "MAP_PFC_PRIORITY_TO_QUEUE": ("sonic-pfc-priority-queue-map", "pfc_priority", "qindex")}
# Table: module, and the leaves of its key.
LISTS = {"BUFFER_POOL": ("sonic-buffer-pool", "name"), "BUFFER_PROFILE": ("sonic-buffer-profile", "name"),
         "BUFFER_PG": ("sonic-buffer-pg", "port pg_num"), "PFC_WD": ("sonic-pfcwd", "ifname")}
NUMBERS = {"tc", "dynamic_th", "detection_time", "restoration_time"}  # of 32 bits; those of 64 are strings in JSON


def number(name, value):
    return int(value) if name in NUMBERS and value.lstrip("-").isdigit() else value


def document(rows):
    out = {"sonic-port:sonic-port": {"PORT": {"PORT_LIST": []}}}
    for key, row in rows.items():
        table, name = key.split("|", 1)
        if table == "PORT":
            out["sonic-port:sonic-port"]["PORT"]["PORT_LIST"].append(
                {"name": name, **{k: int(v) if k == "speed" else v for k, v in row.items()}})
        elif table in MAPS:
            module, first, second = MAPS[table]
            out.setdefault(f"{module}:{module}", {}).setdefault(table, {}).setdefault(table + "_LIST", []).append(
                {"name": name, table: [{first: number(first, k), second: number(second, v)} for k, v in row.items()]})
        elif table in LISTS:
            module, leaves = LISTS[table]
            out.setdefault(f"{module}:{module}", {}).setdefault(table, {}).setdefault(table + "_LIST", []).append(
                {**dict(zip(leaves.split(), name.split("|"))), **{k: number(k, v) for k, v in row.items()}})
        elif table == "PORT_QOS_MAP":
            out.setdefault("sonic-port-qos-map:sonic-port-qos-map", {}).setdefault(table, {}).setdefault(table + "_LIST", []).append(
                {"ifname": name, **row})
    return out


checked = 0
with tempfile.TemporaryDirectory() as directory:
    data = pathlib.Path(directory) / "rows.json"
    for number_of_line, line in enumerate(rows_file.read_text().splitlines(), 1):
        rows = json.loads(line)
        data.write_text(json.dumps(document(rows)))
        done = subprocess.run(["yanglint", "-p", models, "-t", "config", *sorted(models.glob("*.yang")), data], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"line {number_of_line}: {[e for e in done.stderr.splitlines() if 'err' in e]}")
        checked += sum(1 for key in rows if "LLDP_LEVEL" in key or key.startswith(("PORT_QOS_MAP|", "PFC_WD|", "BUFFER_PG|")))
print(f"{checked} rows are valid by {models}")
