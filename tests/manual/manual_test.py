#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the manual pages, the default configuration and the completions against what the programs
themselves say in --help, which is printed from their one description of every option and command.

usage: manual_test.py SOURCE_DIR BIN_DIR [unittest arguments]
"""
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BIN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PAGES = sorted((SOURCE / "man").glob("*.[1-8]"))


def run(program, *arguments):
    return subprocess.run([BIN / program, *arguments], capture_output=True, text=True, timeout=20,
                          stdin=subprocess.DEVNULL)


class Option:
    def __init__(self, name, argument, text):
        self.name, self.argument, self.text = name, argument, text
        take = lambda pattern: (re.search(pattern, text) or [None, None])[1]
        self.preset = take(r"\[([^][]*)\]$")  # [..] at the end
        self.values = take(r"\(([^()]*)\)(?: \[[^][]*\])?$")  # (..) before it
        if argument == "yes|no":
            self.values = argument
        self.choices = self.values.split("|") if self.values and re.fullmatch(r"[\w|-]+", self.values) \
            and not self.values[0].isdigit() else []


def help_options(program, *command):
    text = run(program, *command, "--help").stdout
    found = {}
    for line in re.split(r"\n(?=  (?:-\w|--))|\n(?=\S)|\n\n", text):
        line = " ".join(part.rstrip() if not i else part.strip() for i, part in enumerate(line.split("\n")))
        start = re.match(r"  (?:-\w \[ )?--([\w.-]+)(?: \])?(?: (\S+))?(?: \(=[^)]*\))? +(.*)$", line)
        if start:
            found[start[1]] = Option(start[1], start[2] or "", start[3].strip())
    return found


DAEMON = help_options("lldp-leveld")
DAEMON_ALONE = {"config", "help", "remove-rules", "version"}
KEYS = {name: option for name, option in DAEMON.items() if name not in DAEMON_ALONE}
CLIENT = help_options("lldp-level")
CLIENT_COMMANDS = re.findall(r"(?m)^  (\w[\w-]*)(?: [^ ]+)* {2,}", run("lldp-level", "--help").stdout)
LAB_COMMANDS = re.findall(r"(?m)^  (\w+) {2,}", run("lldp-level-lab", "--help").stdout)
LAB = {command: help_options("lldp-level-lab", command) for command in LAB_COMMANDS}


@functools.cache
def accepted_by(command):
    """The options that this command of lldp-level obeys, --socket besides; nobody is there to answer."""
    refused = re.compile(r"is not an option of")
    takes = {"level": "1", "port": "p=uplink", "timeout": "0"}
    obeyed = set()
    for name in CLIENT.keys() - {"help", "version"}:
        words = [command, f"--{name}"] + ([takes.get(name, "/nonexistent")] if CLIENT[name].argument else [])
        if command == "wait" and name != "timeout":
            words += ["--timeout", "0"]
        if not refused.search(run("lldp-level", *words, "--socket=/nonexistent" if name != "socket" else "--").stderr):
            obeyed.add(name)
    return obeyed


def every_help():
    """What each program of ours says to --help, by its words."""
    yield ("lldp-leveld",), run("lldp-leveld", "--help")
    yield ("lldp-level",), run("lldp-level", "--help")
    yield ("lldp-level-lab",), run("lldp-level-lab", "--help")
    yield ("lldp-level-exporter",), run("lldp-level-exporter", "--help")
    yield ("lldp-level-agentx",), run("lldp-level-agentx", "--help")
    yield ("lldp-level-launcher",), run("lldp-level-launcher", "--help")
    for command in LAB_COMMANDS:
        yield ("lldp-level-lab", command), run("lldp-level-lab", command, "--help")


class Page:
    def __init__(self, name):
        self.text = (SOURCE / "man" / name).read_text()

    def section(self, title):
        found = re.search(rf'(?ms)^\.S[sh] {re.escape(title)}$(.*?)(?=^\.S[sh] |\Z)', self.text)
        return found[1] if found else ""

    def items(self, kind, within=None):
        """(rest of the .It line, body) by name, of all items of a kind: Cm, Fl, Sy."""
        text = self.text if within is None else self.section(within)
        return {name: (rest, body) for name, rest, body in re.findall(
            rf"(?ms)^\.It {kind} -?([\w.-]+)([^\n]*)\n(.*?)(?=^\.It |^\.El)", text)}

    def flags(self, within):
        """Every option named in the .It lines of a section."""
        lines = re.findall(r"(?m)^\.It (.*)$", self.section(within))
        return {flag for line in lines for flag in re.findall(r"\bFl -([\w.-]+)", line)}


class Manual(unittest.TestCase):
    maxDiff = None

    def test_help_was_understood(self):
        self.assertGreater(len(KEYS), 20)
        self.assertEqual(KEYS["lldp.tx-hold"].preset, "4")
        self.assertEqual(KEYS["lldp.tx-hold"].values, "1-100")
        self.assertEqual(KEYS["role"].choices, ["auto", "host", "switch"])
        self.assertIn("json", CLIENT)
        self.assertIn("show", CLIENT_COMMANDS)
        self.assertIn("rules", LAB["prove"])
        self.assertIn("output", LAB["topo"])

    def test_help_fits_eighty_columns_and_has_a_letter(self):
        for words, said in every_help():
            with self.subTest(program=words):
                self.assertEqual((said.returncode, said.stderr), (0, ""))
                self.assertEqual([line for line in said.stdout.splitlines() if len(line) > 80], [])
                self.assertEqual(run(*words, "-h").stdout, said.stdout)
                if len(words) == 1:
                    version = run(*words, "--version")
                    self.assertRegex(version.stdout, rf"^{words[0]} \d+\.\d+\.\d+\n$")
                    self.assertEqual(run(*words, "-V").stdout, version.stdout)

    def test_conf5_describes_every_key(self):
        items = Page("lldp-level.conf.5").items("Cm")
        self.assertEqual(sorted(items), sorted(KEYS))
        for name, option in KEYS.items():
            rest, body = items[name]
            with self.subTest(key=name):
                argument = "|".join(option.choices) or option.argument
                self.assertEqual(rest, f" No = Ar {argument}")
                default = re.search(r"Default:\n\.Ql (.*) \.", body)
                self.assertEqual(default and default[1], option.preset)
                if option.values and not option.choices:
                    self.assertIn(option.values, body)

    def test_default_configuration_has_every_key(self):
        text = (SOURCE / "packaging/lldp-level.conf").read_text()
        entries = re.findall(r"(?ms)\n\n((?:# [^\n]*\n)+)#([\w.-]+) = ([^\n]*)", text)
        self.assertEqual(sorted(key for _, key, _ in entries), sorted(KEYS))
        for comment, key, value in entries:
            with self.subTest(key=key):
                option = KEYS[key]
                self.assertEqual("Example:" in comment, option.preset is None)
                if option.preset is not None:
                    self.assertEqual(value, option.preset)
                if option.values and not option.choices:
                    self.assertIn(option.values, comment)
        for line in re.findall(r"(?m)^[^#\n].*", text):
            self.fail(f"not a comment: {line}")
        here = {"expect": SOURCE.resolve() / "tests/manual/cables.dot", "control.group": "root"}
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            for _, key, value in entries:
                file.write(f"{key} = {here.get(key, value)}\n")
            file.flush()
            checked = run("lldp-level", "check-config", file.name)
            wrong = [line for line in checked.stderr.splitlines() if "is no interface here" not in line]
            self.assertEqual((checked.returncode, wrong), (0, []))

    def test_leveld8_describes_the_options_that_are_no_keys(self):
        page = Page("lldp-leveld.8")
        self.assertEqual(page.flags("DESCRIPTION"), DAEMON_ALONE)
        known = dict(re.findall(r'{"([\w-]+)", AlarmSeverity::k(\w+)}', (SOURCE / "agent/core/alarm.cpp").read_text()))
        self.assertEqual(set(page.items("Sy", "ALARMS")), set(known))
        critical = re.search(r"Critical are\n\.Sy ([^;]*?) ;", page.text).group(1)
        self.assertEqual(set(re.split(r"[ ,\n]+|\band\b|\.Sy", critical)) - {""},
                         {name for name, severity in known.items() if severity == "Critical"})

    def test_level1_describes_every_command_and_option(self):
        page = Page("lldp-level.1")
        commands = {**page.items("Cm", "Commands that ask the daemon"),
                    **page.items("Cm", "Commands without a daemon")}
        self.assertEqual(sorted(commands), sorted(CLIENT_COMMANDS))
        for name, (rest, _) in commands.items():
            with self.subTest(command=name):
                self.assertEqual(set(re.findall(r"Fl -([\w-]+)", rest)), accepted_by(name) - {"socket"})
        self.assertEqual(page.flags("Options"), set(CLIENT))

    def test_lab1_describes_every_command_and_option(self):
        page = Page("lldp-level-lab.1")
        self.assertEqual(sorted(re.findall(r"(?m)^\.Ss (\w+)$", page.text)), sorted(LAB))
        for command, options in LAB.items():
            with self.subTest(command=command):
                self.assertEqual(page.flags(command) - {""}, set(options) - {"help"})

    # Macros of mdoc(7) that are called within a line: in a heading such a word ("In") is not printed.
    CALLABLE = set("Ac Ad An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bsx Bx Cd Cm Dc Do Dq Dv Dx Ec Em En Eo Er Es Ev Fa Fc Fl Fn "
                   "Fo Fr Ft Fx Ic In Lb Li Lk Ms Mt Nm No Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pq Qc Ql Qo Qq Sc So Sq St Sx Sy "
                   "Tn Ux Va Vt Xc Xo Xr".split())

    def test_headings_are_printed_whole(self):
        for page in PAGES:
            for heading in re.findall(r"(?m)^\.S[hs] (.*)$", page.read_text()):
                with self.subTest(page=page.name, heading=heading):
                    self.assertEqual(set(heading.split()) & self.CALLABLE, set())

    def test_pages_are_sound(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                if shutil.which("mandoc"):
                    lint = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True)
                    # The pages refer to each other, and need not be installed here.
                    self.assertEqual([l for l in lint.stdout.splitlines()
                                      if "referenced manual not found" not in l], [])
                if shutil.which("man"):
                    man = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
                                         capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80"})
                    self.assertEqual((man.returncode, man.stderr), (0, ""))


class BashCompletion(unittest.TestCase):
    LIBRARY = pathlib.Path("/usr/share/bash-completion/bash_completion")

    # One shell answers all questions: to read the library takes longer than to complete. A question is a line of
    # words, each with \x1f after it; so is an answer.
    SCRIPT = r"""
        source "$1"; shift
        for file; do source "$file"; done
        compopt() { :; }
        while IFS=$'\x1f' read -r -a all; do
          COMP_WORDS=("${all[@]:0:${#all[@]}-1}") COMP_CWORD=$((${#all[@]} - 2)) COMPREPLY=()
          COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
          "_${COMP_WORDS[0]//-/_}" "${COMP_WORDS[0]}"
          printf '%s\x1f' "${COMPREPLY[@]}"; echo
        done"""

    @classmethod
    def setUpClass(cls):
        if not cls.LIBRARY.exists():
            raise unittest.SkipTest("bash-completion is not installed")
        files = [SOURCE / "packaging/completion" / name for name in ("lldp-level", "lldp-leveld", "lldp-level-lab")]
        cls.shell = subprocess.Popen(["bash", "-c", cls.SCRIPT, "bash", cls.LIBRARY, *files], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @classmethod
    def tearDownClass(cls):
        _, complaints = cls.shell.communicate()
        if complaints:
            raise AssertionError(complaints)

    def complete(self, *words):
        """What is offered for the last of the words."""
        print("".join(word + "\x1f" for word in words) + ".", file=self.shell.stdin, flush=True)
        return {reply for reply in self.shell.stdout.readline().rstrip("\n").split("\x1f") if reply}

    def test_daemon(self):
        self.assertEqual(self.complete("lldp-leveld", "--"), {f"--{name}" for name in DAEMON})
        for name, option in KEYS.items():
            if option.choices:
                with self.subTest(option=name):
                    self.assertEqual(self.complete("lldp-leveld", f"--{name}", ""), set(option.choices))
        self.assertIn("lo", self.complete("lldp-leveld", "--ports", ""))
        self.assertIn("swp1,lo", self.complete("lldp-leveld", "--ports", "swp1,l"))

    def test_client(self):
        self.assertEqual(self.complete("lldp-level", ""), set(CLIENT_COMMANDS))
        self.assertEqual(self.complete("lldp-level", "--"), {"--socket", "--help", "--version"})
        for command in CLIENT_COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.complete("lldp-level", command, "--"),
                                 {f"--{name}" for name in accepted_by(command)})
        self.assertIn("lo", self.complete("lldp-level", "show", ""))
        self.assertIn("lo=", self.complete("lldp-level", "wait", "--port", "l"))
        self.assertEqual(self.complete("lldp-level", "wait", "--port", "lo=u"), {"uplink", "unmarked"})

    def test_lab(self):
        self.assertEqual(self.complete("lldp-level-lab", ""), set(LAB))
        for command, options in LAB.items():
            with self.subTest(command=command):
                self.assertEqual(self.complete("lldp-level-lab", command, "--"), {f"--{name}" for name in options})


class ZshCompletion(unittest.TestCase):
    @staticmethod
    def flags(text):
        return {name.rstrip("=-") for name in re.findall(r"[',(*{ ]--([\w.-]+)", text)}

    def test_syntax(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        for name in ("_lldp-level", "_lldp-level-lab"):
            done = subprocess.run(["zsh", "-n", SOURCE / "packaging/completion" / name], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_daemon_and_client(self):
        text = (SOURCE / "packaging/completion/_lldp-level").read_text()
        client, daemon = text.split("_lldp_level_daemon() {")
        self.assertEqual(self.flags(daemon), set(DAEMON))
        for name, option in KEYS.items():
            if option.choices:
                self.assertRegex(daemon, rf"'--{re.escape(name)}=[^']*:\({' '.join(option.choices)}\)'")
        self.assertEqual(self.flags(client), set(CLIENT))
        self.assertEqual(sorted(re.findall(r'(?m)([\w-]+)\\:"', client)), sorted(CLIENT_COMMANDS))
        shared = {"socket": "$socket", "json": "$json"}
        arms = re.findall(r"(?ms)^    ([a-z][a-z |-]*)\)(.*?);;", client)
        self.assertEqual(sorted(c for arm, _ in arms for c in arm.split(" | ")), sorted(CLIENT_COMMANDS))
        for arm, body in arms:
            for command in arm.split(" | "):
                with self.subTest(command=command):
                    offered = self.flags(body) | {name for name, word in shared.items() if word in body}
                    self.assertEqual(offered, accepted_by(command))

    def test_lab(self):
        text = (SOURCE / "packaging/completion/_lldp-level-lab").read_text()
        arms = dict(re.findall(r"(?ms)^  (\w+)\)(.*?);;", text))
        self.assertEqual(sorted(arms), sorted(LAB))
        for command, options in LAB.items():
            with self.subTest(command=command):
                self.assertEqual(self.flags(arms[command]), set(options))


class FishCompletion(unittest.TestCase):
    FILES = [SOURCE / "packaging/completion" / f"{name}.fish" for name in ("lldp-level", "lldp-leveld", "lldp-level-lab")]

    @classmethod
    def setUpClass(cls):
        if not shutil.which("fish"):
            raise unittest.SkipTest("fish is not installed")

    def complete(self, *lines):
        """What is offered at the end of each line."""
        script = "; ".join([*(f"source {file}" for file in self.FILES),
                            *(f"complete -C '{line}'; echo" for line in lines)])
        with tempfile.TemporaryDirectory() as home:
            said = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LC_ALL": "C.UTF-8"})
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        answers = re.split(r"(?m)^\n", said.stdout)
        self.assertEqual(len(answers), len(lines) + 1)
        return [{line.split("\t")[0] for line in answer.splitlines()} for answer in answers[:-1]]

    def test_daemon(self):
        choices = {name: option.choices for name, option in KEYS.items() if option.choices}
        offered, ports, *chosen = self.complete(
            "lldp-leveld --", "lldp-leveld --ports lo,l", *(f"lldp-leveld --{name}=" for name in choices))
        self.assertEqual({name.rstrip("=") for name in offered}, {f"--{name}" for name in DAEMON})
        self.assertIn("lo,lo", ports)
        for (name, wanted), got in zip(choices.items(), chosen):
            self.assertEqual(got, {f"--{name}={choice}" for choice in wanted})

    def test_client(self):
        commands, options, ports, types, *of = self.complete(
            "lldp-level ", "lldp-level --", "lldp-level show ", "lldp-level wait --port lo=u",
            *(f"lldp-level {command} --" for command in CLIENT_COMMANDS))
        self.assertEqual(commands, set(CLIENT_COMMANDS))
        self.assertEqual(options, {"--socket", "--help", "--version"})
        self.assertLessEqual({"detail", "lo"}, ports)
        self.assertEqual(types, {"lo=uplink", "lo=unmarked"})
        for command, offered in zip(CLIENT_COMMANDS, of):
            with self.subTest(command=command):
                self.assertEqual(offered, {f"--{name}" for name in accepted_by(command)})

    def test_lab(self):
        commands, *of = self.complete("lldp-level-lab ", *(f"lldp-level-lab {command} --" for command in LAB))
        self.assertEqual(commands, set(LAB))
        for (command, options), offered in zip(LAB.items(), of):
            with self.subTest(command=command):
                self.assertEqual(offered, {f"--{name}" for name in options})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
