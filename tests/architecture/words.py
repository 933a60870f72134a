#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the texts of this project to plain technical English, by what can be counted:
- words for persons (who, somebody, nobody, he, ...) per 1,000 words of comments, program texts, manual pages and docs: the
  subject of a sentence is the thing itself (the neighbor, another program), not a person;
- sentences of docs/ with more than 40 words, and pages with more than 250 lines;
- names of types that headers of two rooms define at namespace scope: one word for one thing;
- subjects of commits since this file exists: at most 72 characters, `room: imperative`.

usage: words.py SOURCE_DIR [--list ROOM_OR_PAGE]"""
import collections
import math
import pathlib
import re
import subprocess
import sys

PERSONS = re.compile(r"(?<!user )(?<![`'\"])\b(?:who|whoever|whom|nobody|somebody|everybody|anybody|he|his|him)\b", re.I)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
ROOMS = ("agent", "base", "cabling", "cmake", "dataplane", "examples", "lab", "os", "qos", "sim", "tlv")  # what is shipped, and examples
CODE, HEADERS = {".cpp", ".hpp", ".c", ".h"}, {".hpp", ".h"}
COMMENT = re.compile(r"(?:^|\s)(?://[/!]?<?|/\*+|\*(?=\s))\s?(.*)$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
MAX_CODE, MAX_MAN, MAX_DOCS = 1.0, 1.0, 2.0  # per 1,000 words
MAX_WORDS, MAX_LINES, MAX_DOUBLE_NAMES = 40, 250, 24
# Names of one idea in two rooms, on purpose: the port of a device and of a topology, what is told and how it is printed.
SAME_IDEA = (
    "CaptureWriter",  # pcap, pcapng
    "Command",  # of a command line
    "Link", "Node", "Port",  # of a device, of a topology, on the wire between processes
    "CustomTlv", "MacPhy", "ManagementAddress", "Neighbor",  # what is told, and its TLV or lldpd's value
    "PartReading", "PortRules", "PortStatistics",  # what the daemon has, and how it is reported
    "Done", "Read", "Set", "View",  # messages to a switch in another process: libsai's, the software switch
)


def room_of(path):
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] in ("agent", "dataplane", "lab", "sim") and len(parts) > 2 else parts[0]


def texts_of(source):
    """Comments and string literals of C++ and C."""
    for line in source.splitlines():
        code, comment = line, ""
        if found := COMMENT.search(line):
            if line.count('"', 0, found.start()) % 2 == 0:
                code, comment = line[:found.start()], found[1]
        if not code.lstrip().startswith("#include"):
            yield from STRING.findall(code)
        yield comment


def persons(text):
    return len(WORD.findall(text)), len(PERSONS.findall(text))


def sentences(markdown):
    """Sentences of running text and list items: (line, text). Blocks of code, tables and headings are none."""
    blocks, fenced = [], False
    for number, line in enumerate(markdown.splitlines(), 1):
        fenced ^= line.startswith("```")
        starts = re.match(r"\s*(?:[-*]|\d+\.|[a-z]\.)\s", line)
        if fenced or not line.strip() or line.startswith(("```", "#", "|")) or (
                line.startswith("    ") and not starts and (not blocks or blocks[-1] is None or not blocks[-1][2])):
            blocks.append(None)
        elif starts or not blocks or blocks[-1] is None:
            blocks.append([number, line, bool(starts)])
        else:
            blocks[-1][1] += " " + line.strip()
    for block in filter(None, blocks):
        text = re.sub(r"`[^`]*`", "code", block[1])
        for part in re.split(r"(?<=[.!?:;])[*_)\"']*\s+(?=[A-Z*`(\[])|(?<=[.!?])\s+(?=code\b)", text):
            yield block[0], part


def types(path):
    """Types that are defined at namespace scope: this code does not indent namespaces."""
    for line in path.read_text(errors="replace").splitlines():
        found = re.match(r"(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: : [^;]*)? ?\{", line)
        if found:
            yield found[1]


def measure(root):
    """Words and words for persons of each room and page."""
    counts = collections.defaultdict(lambda: [0, 0])
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in CODE):
        for text in texts_of(path.read_text(errors="replace")):
            for i, n in enumerate(persons(text)):
                counts[room_of(path.relative_to(root))][i] += n
    pages = [*root.glob("man/*.[1-8]"), *root.glob("docs/**/*.md"), *root.glob("*.md"), *root.glob("packaging/completion/*")]
    for path in sorted(p for p in pages if p.is_file()):
        for i, n in enumerate(persons(path.read_text())):
            counts[str(path.relative_to(root))][i] += n
    return counts


def commit_subjects(root):
    def git(*words):
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
        return done.stdout.splitlines() if done.returncode == 0 else []

    first = git("log", "--diff-filter=A", "--format=%H", "--", "tests/architecture/words.py")
    for subject in git("log", "--no-merges", "--format=%s", f"{first[-1]}..HEAD") if first else []:
        start = re.match(r"[a-z][\w/., -]*: ([a-z][\w-]*)", subject)
        if len(subject) > 72:
            yield f"commit subject of {len(subject)} characters, 72 are allowed: {subject}"
        elif not start or re.search(r"(?<!e)ed$|(?<!^br)ing$", start[1]):
            yield f"commit subject is not `room: imperative`: {subject}"


def main(root, listed=None):
    root = pathlib.Path(root)
    wrong = []
    counts = measure(root)
    for name, (words, found) in counts.items():
        limit = MAX_MAN if name.startswith(("man/", "packaging/")) else MAX_DOCS if name.endswith(".md") else MAX_CODE
        if found > math.ceil(limit * words / 1000):
            wrong.append(f"{name}: {found} words for persons in {words}, {1000 * found / words:.1f} per 1,000; {limit} are allowed")
    for path in sorted(root.glob("docs/**/*.md")):
        name, text = str(path.relative_to(root)), path.read_text()
        long = [(n, s) for n, s in sentences(text) if len(WORD.findall(s)) > MAX_WORDS]
        if name == listed:
            print("\n".join(f"{name}:{n}: {len(WORD.findall(s))} words: {s.strip()}" for n, s in long))
        if long:
            wrong.append(f"{name}: {len(long)} sentences of more than {MAX_WORDS} words (lines {', '.join(str(n) for n, _ in long)})")
        lines = text.count("\n")
        if lines > MAX_LINES:
            wrong.append(f"{name}: {lines} lines, {MAX_LINES} are allowed")
    where = collections.defaultdict(set)
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in HEADERS):
        for name in types(path):
            where[name].add(room_of(path.relative_to(root)))
    double = {name: rooms for name, rooms in where.items() if len(rooms) > 1 and name not in SAME_IDEA}
    wrong += [f"{name}: defined in one room: take it off SAME_IDEA" for name in SAME_IDEA if len(where[name]) < 2]
    if listed == "types":
        print("\n".join(f"{name}: {' '.join(sorted(rooms))}" for name, rooms in sorted(double.items())))
    if len(double) > MAX_DOUBLE_NAMES:
        wrong.append(f"{len(double)} names of types are defined in two rooms, {MAX_DOUBLE_NAMES} are allowed: words.py SOURCE_DIR --list types")
    if listed == "all":
        print("\n".join(f"{name}: {n} of {words}, {1000 * n / max(1, words):.1f}" for name, (words, n) in counts.items()))
    elif listed and (root / listed).is_dir():
        for path in sorted(p for p in (root / listed).rglob("*") if p.suffix in CODE):
            if room_of(path.relative_to(root)) == listed:
                for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                    if PERSONS.search(" ".join(texts_of(line))):
                        print(f"{path.relative_to(root)}:{number}: {line.strip()}")
    wrong += commit_subjects(str(root))
    total, found = (sum(c[i] for c in counts.values()) for i in (0, 1))
    print("\n".join(wrong) or f"{1000 * found / total:.1f} words for persons per 1,000; {len(double)} names of types in two rooms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[3] if sys.argv[2:3] == ["--list"] else None))
