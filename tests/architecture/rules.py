#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every number of a rule that code, tests and documents cite against docs/develop/rules.md, and finds citations of rules that
have no number there."""
import pathlib
import re
import sys

ROOMS = ("agent", "base", "dataplane", "docs", "lab", "man", "os", "packaging", "qos", "sim", "tests", "tlv")
TEXT = {".cpp", ".hpp", ".c", ".h", ".py", ".md", ".1", ".5", ".7", ".8", ".yml", ".conf", ".sh", ".varlink", ".json"}
# `docs/develop/rules.md L3`, `(A2)`, `L1 to L6`, `TEST(L4, ...)`; not the L2 of a network's layer in other words.
CITED = re.compile(r"(?:rules\.md[)\],]*,?\s+|\(|//\s*(?:docs/rules\.md )?|TEST(?:_F)?\(|to |and |, )([ACLOP]\d+)[ab]?\b")
OLD = re.compile(r"\b(?:DESIGN(?:\.md)?[ ,]+(?:section|rule)|[Rr]ules? [0-9]+\b|split[- ]horizon)")


def main(root):
    root = pathlib.Path(root)
    defined = set(re.findall(r"^- \*\*([ACLOP]\d+)\*\*", (root / "docs/develop/rules.md").read_text(), re.M))
    wanted = [f"{kind}{i}" for kind, last in (("A", 13), ("C", 8), ("L", 8), ("P", 6)) for i in range(1, last + 1)] + ["O6"]
    wrong = [f"docs/develop/rules.md: {name} is missing" for name in wanted if name not in defined]
    tested = set()
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in TEXT and p.is_file()):
        name = str(path.relative_to(root))
        if name == "tests/architecture/rules.py":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for rule in CITED.findall(line):
                if rule not in defined and "rules.md" in line:
                    wrong.append(f"{name}:{number}: there is no rule {rule} in docs/develop/rules.md")
                if name.startswith("tests/"):
                    tested.add(rule)
            if path.suffix in {".cpp", ".hpp", ".py"} and OLD.search(line):
                wrong.append(f"{name}:{number}: cites a rule by what is no number of docs/develop/rules.md: {line.strip()}")
    wrong += [f"no test cites {rule}" for rule in sorted(defined - tested)]
    print("\n".join(wrong) or f"{len(defined)} rules, all cited by tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
