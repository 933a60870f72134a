#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what `reproduce` calls published stands in the paper: each number as it is printed there, each statement word by word.

    lldp-level-lab reproduce portfc --quick --json | tests/sim/published.py TEXT...

TEXT is the paper as text (`pdftotext -layout` will do): hyphens at the ends of lines, spaces and kinds of quotes do not count,
nor do the dollars and braces of formulas. Lists
what does not stand there; exit status 1 if anything does not."""
import json
import re
import sys


def plain(text):
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"').replace("\u2212", "-").replace("\ufb01", "fi").replace("\ufb02", "fl")
    text = re.sub(r"(\w)-\s*\n\s*(\w)", r"\1\2", text)
    return re.sub(r"[\s^${}-]+", "", text).lower()


def numbers(value, printed):
    """The numbers that have to stand in the text: those of `printed`, else the value's own."""
    if printed:
        return re.findall(r"\d+(?:\.\d+)?", printed)
    return [f"{value:.{digits}f}" for digits in (0, 1, 2, 3)]


def stands(number, text):
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\.?\d)", text) is not None


def said(quote, text):
    """Word by word; a page may end in the middle."""
    words = quote.split()
    return plain(quote).rstrip(".") in text or any(
        plain(" ".join(words[:i])) in text and plain(" ".join(words[i:])).rstrip(".") in text for i in range(4, len(words) - 3))


def main():
    texts = [open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:]]
    if not texts:
        raise SystemExit(__doc__)
    letters = [plain(t) for t in texts]
    checked = missing = 0
    seen = set()
    for line in sys.stdin:
        entry = json.loads(line)
        where = f"{entry.get('place')}, {entry.get('metric')}"
        if entry.get("published") is not None:
            printed = entry.get("printed", "")
            key = (printed or entry["published"],)
            if key not in seen:
                seen.add(key)
                checked += 1
                wanted = numbers(entry["published"], printed)
                found = all if printed else any
                # A formula has no number of its own; a paper prints 0.10 or 0.1.
                fits = plain(printed) in "".join(letters) if printed and not wanted else found(any(stands(n, t) for t in texts) for n in wanted)
                if not fits:
                    missing += 1
                    print(f"{where}: {printed or entry['published']} is not in the text")
        if quote := entry.get("statement"):
            if quote not in seen:
                seen.add(quote)
                checked += 1
                if not any(said(quote, t) for t in letters):
                    missing += 1
                    print(f"{where}: not in the text: {quote}")
    print(f"{checked} numbers and statements, {missing} not in the text")
    return 1 if missing or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
