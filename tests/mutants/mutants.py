#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts one-line bugs into the sources, one at a time, and tells which of them no test notices.

  ./run mutants                               40 mutants, drawn from all that is shipped
  ./run mutants agent/core dataplane/sonic    from these folders or files
  ./run mutants lab --count 60 --seed 7       another sample, of another size
  ./run mutants lab --seed 7 --only 12,31     of that sample those that got away, when there are tests for them
  ./run mutants agent/links/vlans.cpp --list  what would be drawn

A line is drawn by chance, then one of its mutants: a comparison flipped or its bound moved, a condition negated or taken for
false, an operand of && and || left out, an operator exchanged, a number changed by one, a statement dropped, a return with
nothing in it, two arguments of one type or min and max exchanged. All mutants of the sample are compiled in together, in a
copy of the tree in build/mutants, and LLDP_MUTANT=N chooses one at run time. Each test is run once without a
mutant, to see how long it takes and which mutants it comes by; then, for each mutant, those tests that come by it, quickest
first, until one fails that passes without it. One that takes five times as long fails. As root, as the tests want it. What is
not mutated comes from ccache where ./run build dev has been; with --programs only what the sample is to be tried with is built.

A number stands for the same mutant as long as folders, count and seed are the same and the sources have not changed; tests may.
By hand: LLDP_MUTANT=12 build/mutants/build/dev/bin/core_test."""
import argparse
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import candidates

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build/mutants"  # a copy of the tree, so that paths in it are as ever
BUILD = TREE / "build/dev"  # as the tree's own, so that ccache has what is not mutated
KEPT = BUILD / "candidates"
SHIPPED = ["agent", "base", "cabling", "dataplane", "lab", "os", "qos", "sim", "tlv"]
SPARE = 1.3  # so many more are drawn than wanted, for some do not compile
PATIENCE = 5.0  # times the unmutated time, and seconds on top


def say(*words):
    print(*words, flush=True)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(name, octets):
    """A file that is the same keeps its time."""
    path = TREE / name
    if not path.exists() or path.read_bytes() != octets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)
        path.chmod((ROOT / name).stat().st_mode)


def copy_tree(leave):
    """What git knows of the tree and what it does not ignore, and the octets of all that, but those files that are to be left as
    they are."""
    names = set(output("git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard").splitlines())
    names = {n for n in names if (ROOT / n).is_file()}
    TREE.mkdir(parents=True, exist_ok=True)
    list_of = TREE / ".files"
    for gone in set(list_of.read_text().splitlines() if list_of.exists() else []) - names:
        (TREE / gone).unlink(missing_ok=True)
    list_of.write_text("\n".join(sorted(names)))
    octets_of = {name: (ROOT / name).read_bytes() for name in names}
    for name, octets in octets_of.items():
        if not leave(name):
            write(name, octets)
    return octets_of


def is_mutated(name):
    path = TREE / name
    return path.exists() and path.read_bytes().startswith(candidates.PREAMBLE)


def configure():
    copy_tree(is_mutated)
    subprocess.run(["cmake", "--preset", "dev", "-DLLDP_UNITY=OFF"], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, "generated"], check=True, stdout=subprocess.DEVNULL)


def find(task):
    """The mutants of one source, kept from run to run."""
    name, arguments = task
    source = ROOT / name
    key = hashlib.sha256(source.read_bytes() + Path(candidates.__file__).read_bytes()).hexdigest()[:16]
    kept = KEPT / f"{name.replace('/', '_')}.{key}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    found, complaint = candidates.candidates(str(source), name, arguments)
    if complaint:
        say(f"{name}: not all of it could be read: {complaint}")
    KEPT.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found))
    return found


def draw(places, seed, count):
    """The sample: lines by chance, and a mutant of each by chance."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    tasks = {}
    for entry in entries:
        name = os.path.relpath(entry["file"], TREE)
        if any(name == p or name.startswith(p.rstrip("/") + "/") for p in places) and not name.startswith("build/"):
            words = shlex.split(entry["command"])
            wanted = [w for w in words if w.startswith(("-I", "-D", "-std="))]
            wanted += [x for a, b in zip(words, words[1:]) if a == "-isystem" for x in (a, b)]
            tasks[name] = wanted  # for two programs may compile it
    if not tasks:
        sys.exit(f"mutants: no source in {' '.join(places)}")
    with multiprocessing.Pool() as pool:
        found = pool.map(find, sorted(tasks.items()), chunksize=1)
    lines = {}
    for mutant in (m for of_file in found for m in of_file):
        lines.setdefault((mutant["file"], mutant["line"]), []).append(mutant)
    chance = random.Random(seed)
    places = sorted(lines)
    chance.shuffle(places)
    drawn = [chance.choice(lines[place]) for place in places[:int(count * SPARE) + 1]]
    for number, mutant in enumerate(drawn, 1):
        mutant["number"] = number
    say(f"{sum(map(len, lines.values()))} mutants on {len(lines)} lines of {len(found)} files")
    return drawn


def programs(files, wanted):
    """The programs so named in whose making one of these files has a part."""
    all_of = re.findall(r"^(bin/\S+): C(?:XX)?_EXECUTABLE_LINKER", output("ninja", "-C", BUILD, "-t", "targets", "all"), re.M)
    paths = {str(TREE / f) for f in files}
    return [p for p in all_of if wanted.search(p) and paths & set(output("ninja", "-C", BUILD, "-t", "inputs", p).splitlines())]


def compile_sample(drawn, wanted):
    """Builds what the sample has a part in; leaves out the mutants that do not compile."""
    left = list(drawn)
    files = sorted({m["file"] for m in drawn})
    targets = programs(files, wanted)
    octets_of = copy_tree(files.__contains__)  # once: somebody may work on the tree meanwhile
    for old in (BUILD / "bin").glob("*"):  # of another sample: its mutants have the same numbers
        if f"bin/{old.name}" not in targets:
            old.unlink()
    while True:
        for name in files:
            mutants = [m for m in left if m["file"] == name]
            write(name, candidates.schema(octets_of[name], str(TREE / name), mutants) if mutants else octets_of[name])
        say(f"building {len(targets)} programs with {len(left)} mutants")
        built = subprocess.run(["ninja", "-C", BUILD, "-k", "0", *targets], text=True, capture_output=True)
        if built.returncode == 0:
            return left
        errors = {(os.path.relpath(os.path.join(BUILD, f), TREE), int(line))
                  for f, line in re.findall(r"^(\S+?):(\d+):\d+: error:", built.stdout, re.M)}
        starting = [m for m in left if (m["file"], m["line"]) in errors]
        bad = starting or [m for m in left if any(f == m["file"] and m["line"] <= line <= m["last"] for f, line in errors)]
        if not bad:  # a header of somebody else's, into which the compiler saw from the mutant
            failed = re.findall(r"^FAILED: .*?CMakeFiles/\S+?\.dir/(\S+)\.o\b", built.stdout, re.M)
            bad = [m for m in left if any(m["file"].endswith("/" + f) for f in failed)]
        if not bad:
            sys.exit(built.stdout[-4000:] + built.stderr)
        left = [m for m in left if m not in bad]


class Test:
    """One entry of ctest."""

    def __init__(self, entry):
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.name = entry["name"]
        self.command = entry.get("command", [])
        self.folder = properties.get("WORKING_DIRECTORY", str(BUILD))
        self.environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        self.longest = float(properties.get("TIMEOUT", 1500))
        self.skipped = properties.get("SKIP_RETURN_CODE")
        self.took = 0.0
        self.reaches = frozenset()

    def run(self, limit, **more):
        """Whether it passed. All that it started ends with it."""
        mark = f"LLDP_MUTANTS_RUN={os.getpid()}.{time.monotonic_ns()}"
        environment = os.environ | self.environment | more | dict([mark.split("=")])
        began = time.monotonic()
        process = subprocess.Popen(self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.last = time.monotonic() - began
        if status != 0:
            end_marked(mark.encode())
        return status == 0 or (status is not None and status == self.skipped)  # none: it took too long


def end_marked(mark):
    """What a test that failed has left running."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            pass


def tests():
    listed = json.loads(output("ctest", "--test-dir", str(BUILD), "--show-only=json-v1"))["tests"]
    built = [t for t in listed if t.get("command") and shutil.which(t["command"][0])]  # the others' programs are not
    return [Test(case) for entry in built for case in cases(entry)]


def cases(entry):
    """A program of GoogleTest that is one entry of ctest is here as many as it has cases."""
    if "--gtest_brief=1" not in entry["command"]:
        return [entry]
    out, suite = [], ""
    filters = [word for word in entry["command"] if word.startswith("--gtest_filter=")]
    for line in output(entry["command"][0], "--gtest_list_tests", *filters).splitlines()[1:]:  # after whose main() it is
        word = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = word
        elif not (suite + word).count("DISABLED_"):
            out.append(entry | {"name": suite + word, "command": [entry["command"][0], f"--gtest_filter={suite}{word}"]})
    return out


def measure(test):
    """How long it takes without a mutant, and which it comes by. Whether it passes."""
    path = BUILD / f"reached.{os.getpid()}.{id(test)}"
    path.write_bytes(bytes(4096))
    path.chmod(0o666)
    passed = test.run(test.longest, LLDP_MUTANTS_REACHED=str(path))
    test.took = test.last
    test.reaches = frozenset(n for n, octet in enumerate(path.read_bytes()) if octet)
    path.unlink()
    return passed


def try_mutant(mutant, usable, budget):
    """What noticed it, or None; and what is to be said of it."""
    reaching = sorted((t for t in usable if mutant["number"] in t.reaches), key=lambda t: t.took)
    spent = 0.0
    for ran, test in enumerate(reaching):
        if spent > budget:
            return None, f"survived {ran} of the {len(reaching)} tests that come by it, for the time"
        spent += test.took
        limit = PATIENCE * test.took + PATIENCE
        if test.run(limit, LLDP_MUTANT=str(mutant["number"])):
            continue
        late = test.last >= limit
        if test.run(limit):  # else it is the test, or the machine
            return test.name, f"noticed by {test.name}" + " (time-out)" * late
    return None, f"survived {len(reaching)} tests" if reaching else "survived: no test comes by it"


def told(mutant):
    return f"{mutant['number']:4} {mutant['file']}:{mutant['line']}: {mutant['was'][:100]}  ->  {mutant['became'][:100]}"


def main():
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", nargs="*", default=SHIPPED, help="folders or sources, as agent/core")
    parser.add_argument("--count", type=int, default=40, help="how many mutants (40)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--only", metavar="N,N-N", help="try these of the sample")
    parser.add_argument("--list", action="store_true", help="show the sample, and build nothing of it")
    parser.add_argument("--programs", metavar="REGEX", type=re.compile, default=re.compile(""),
                        help="build of the test programs and what they start only these: 'bin/(?!fuzz|lldp-level-lab)'")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), help="mutants tried at a time")
    parser.add_argument("--budget", type=float, default=300, metavar="SECONDS",
                        help="of unmutated time for the tests of one mutant (300)")
    asked = parser.parse_args()
    if not 0 < asked.count <= 3000:
        parser.error("--count: from 1 to 3000")
    configure()
    drawn = draw(asked.room, asked.seed, asked.count)
    if asked.list:
        for mutant in drawn[:asked.count]:
            say(told(mutant))
        return 0
    sample = compile_sample(drawn, asked.programs)[:asked.count]
    if asked.only:
        ranges = [[int(n) for n in part.split("-")] for part in asked.only.split(",")]
        sample = [m for m in sample if any(r[0] <= m["number"] <= r[-1] for r in ranges)]
    every = tests()
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        say(f"running {len(every)} tests without a mutant")
        passed = list(pool.map(measure, every))
        usable = [t for t, good in zip(every, passed) if good]
        for test in (t for t, good in zip(every, passed) if not good):
            say(f"left out, for it fails without a mutant: {test.name}")
        say(f"{len(usable)} tests, {sum(t.took for t in usable):.0f} s; now each mutant")
        survivors = []

        def one(mutant):
            noticed, words = try_mutant(mutant, usable, asked.budget)
            say(f"{told(mutant)}\n       {words}")
            if not noticed:
                survivors.append((mutant, words))
            return noticed

        noticed = sum(1 for n in pool.map(one, sample) if n)
    say("")
    for mutant, words in sorted(survivors, key=lambda s: s[0]["number"]):
        say(f"{told(mutant)}\n       {words}")
    say(f"{noticed} of {len(sample)} mutants noticed ({100 * noticed / max(1, len(sample)):.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
