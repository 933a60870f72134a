#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the links of README, CONTRIBUTING and docs/ to files and headings, and looks for docs/ pages that are named elsewhere and
are not there.

usage: links.py SOURCE_DIR"""
import pathlib
import re
import sys

NAMED = re.compile(r"\bdocs/[\w/-]+\.md\b")
ROOMS = ("agent", "base", "bench", "cabling", "dataplane", "lab", "man", "model", "os", "packaging", "qos", "sim", "tests", "tlv")
TEXT = {".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".1", ".5", ".7", ".8", ".yml", ".yaml", ".md", ".txt", ".pml"}


def anchors(page):
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text())
    return {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main(root):
    root = pathlib.Path(root)
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    wrong, followed = [], 0
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            followed += 1
            if not target.exists() or (anchor and anchor not in anchors(target)):
                wrong.append(f"{page.relative_to(root)}: link to nowhere: {link}")
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in TEXT and p.is_file()):
        for name in NAMED.findall(path.read_text(errors="replace")):
            followed += 1
            if not (root / name).exists():
                wrong.append(f"{path.relative_to(root)}: {name} is not there")
    print("\n".join(wrong) or f"{followed} links and names of pages lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
