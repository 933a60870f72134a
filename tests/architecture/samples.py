#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds that no page shows output without a source. A block is fenced, and its tag says what it is:
- `console`: commands and what they print; tests/manual/samples_test.py runs each;
- `sh`: commands alone, in each line one; `yaml`, `ini`, `c`: what a reader writes;
- `json`, `csv`: below `<!-- file: NAME -->`, by which the commands of the page read it, or `<!-- from: FILE -->`, the file of the
  tree that has it;
- `text`: a drawing or a list, in the pages below.

usage: samples.py SOURCE_DIR"""
import pathlib
import re
import sys

WRITTEN = {"yaml", "ini", "c"}
DATA = {"json", "csv"}
TEXT = {"README.md": 1, "docs/develop/architecture.md": 1}
PROGRAMS = ("./run", "apt", "config", "dcb", "debootstrap", "docker", "exec", "for", "ip", "kubectl", "lldp-level", "lldp-level-lab",
            "lldp-leveld", "packaging/build-sonic.sh", "podman", "show", "sonic-db-cli", "sudo", "systemctl", "tar", "tc")


def faults(name, text):
    tags, lines, opened, in_list = [], text.splitlines(), None, False
    for number, line in enumerate(lines, 1):
        before = lines[number - 2] if number > 1 else ""
        if opened is None and not line.startswith("```"):
            in_list = in_list if not line or line.startswith(" ") else bool(re.match(r"[-*] |\d+\. ", line))
            if line.startswith("    ") and not before and not in_list:
                yield f"{name}:{number}: an indented block has no tag: fence it"
            continue
        if opened is None:
            opened = line[3:]
            tags.append(opened)
            if opened in DATA and not re.fullmatch(r"<!-- (file|from): \S+ -->", before):
                yield f"{name}:{number}: {opened} without a source: `<!-- file: NAME -->` or `<!-- from: FILE -->` above it"
            elif opened not in {"console", "sh", "text"} | WRITTEN | DATA:
                yield f"{name}:{number}: a block with the tag `{opened}`: see tests/architecture/samples.py"
            elif opened == "console" and not lines[number].startswith("$ "):
                yield f"{name}:{number}: a console begins with `$ ` and a command"
        elif line.startswith("```"):
            opened = None
        elif opened == "sh" and line and not line.startswith(("#", " ")) and line.split()[0] not in PROGRAMS:
            yield f"{name}:{number}: `{line.split()[0]}` is no command that is known in a block of commands"
    if opened is not None:
        yield f"{name}: a block is open at the end"
    if tags.count("text") != TEXT.get(name, 0):
        yield f"{name}: {tags.count('text')} blocks of text, {TEXT.get(name, 0)} are known: output wants `console`"


def main(root):
    root = pathlib.Path(root)
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted(root.glob("docs/**/*.md"))]
    wrong = [fault for page in pages for fault in faults(str(page.relative_to(root)), page.read_text())]
    print("\n".join(wrong) or f"every block of {len(pages)} pages has a source")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
