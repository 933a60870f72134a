#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts where tests sleep or read the clock of the machine, and holds it to the list below, so that such uses stay few. A test
asserts what happens, not when; it moves time by hand, or waits for the event with a limit that only a hang reaches. What must
be quick is a benchmark in bench/ with a bar.

usage: clocks.py SOURCE_DIR"""
import pathlib
import re
import sys

USES = re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\b|\bnanosleep\b|\bclock_gettime\b|\bgettimeofday\b|[cC]lock::now\b")
ALLOWED = {
    "cli/cli_test.cpp": 3,
    "cli/watch_test.cpp": 4,
    "companions/companions_test.cpp": 3,
    "companions/launcher_fixture.hpp": 1,
    "companions/launcher_test.cpp": 6,
    "companions/service_test.cpp": 2,
    "configdb/config_db_test.cpp": 2,
    "control/connection_test.cpp": 17,
    "control/control_fixture.hpp": 2,
    "control/control_test.cpp": 2,
    "control/source_test.cpp": 1,
    "dataplane/bpf_restart_test.cpp": 1,
    "dataplane/bpf_verify_test.cpp": 1,
    "dataplane/chip.hpp": 2,
    "dataplane/fake_sai/libsai.cpp": 1,
    "dataplane/plan_test.cpp": 2,
    "dataplane/probe.hpp": 1,
    "dataplane/sai_kill_test.cpp": 1,
    "dataplane/sai_process_test.cpp": 12,
    "dataplane/soft_client_test.cpp": 9,
    "dataplane/sonic_driver.hpp": 2,
    "dataplane/sonic_retries_test.cpp": 2,
    "dataplane/sonic_server.hpp": 1,
    "dataplane/sonic_standin.hpp": 1,
    "dataplane/sonic_test.cpp": 6,
    "dataplane/switch_flower_test.cpp": 2,
    "sim/live_lossless_test.cpp": 5,
    "lab/live_test.cpp": 2,
    "sim/soft_test.cpp": 5,
    "metrics/exporter_test.cpp": 1,
    "metrics/server_test.cpp": 2,
    "netns/bounce_lossless_test.cpp": 1,
    "netns/daemon_test.cpp": 2,
    "netns/hardening_test.cpp": 1,
    "netns/ports_test.cpp": 1,
    "netns/readback_test.cpp": 4,
    "netns/soft_late_test.cpp": 1,
    "netns/sonic_test.cpp": 1,
    "netns/support.cpp": 3,
    "process/log_test.cpp": 3,
    "process/service_test.cpp": 1,
}


def uses(path):
    return sum(len(USES.findall(line)) for line in path.read_text().splitlines())


def main(root):
    tests = pathlib.Path(root) / "tests"
    found = {str(p.relative_to(tests)): n for p in sorted(tests.rglob("*.[ch]pp")) if (n := uses(p))}
    wrong = [f"tests/{name}: sleeps or reads a clock {n} times, {ALLOWED.get(name, 0)} are listed in tests/architecture/clocks.py"
             for name, n in found.items() if n > ALLOWED.get(name, 0)]
    wrong += [f"tests/{name}: sleeps or reads a clock {found.get(name, 0)} times: list that instead of {n}"
              for name, n in ALLOWED.items() if found.get(name, 0) < n]
    print("\n".join(wrong) or f"{sum(found.values())} uses of sleeps and clocks in {len(found)} files of tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
