#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the model of the order (model/order.pml) in many configurations. docs/develop/model.md explains model and tables."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY = 7500  # MB, of all runs at a time


class Shape:
    """Devices, their ports, and the cables that may be plugged."""

    def __init__(self, devices, owner, cables, plugged, hub=False):
        self.devices, self.owner, self.cables, self.plugged, self.hub = devices, owner, cables, plugged, hub


SHAPES = {
    'pair': Shape(2, [0, 1], [(0, 1)], [(0, 1)]),
    'ports': Shape(2, [0, 0, 1], [(0, 2), (1, 2)], [(0, 2)]),
    'ports22': Shape(2, [0, 0, 1, 1], [(0, 2), (1, 2), (0, 3), (1, 3)], [(0, 2), (1, 3)]),
    'double': Shape(2, [0, 0, 1, 1], [(1, 3)], [(0, 2), (1, 3)]),
    'three': Shape(3, [0, 1, 2], [(0, 1), (0, 2), (1, 2)], [(0, 1)]),
    'line': Shape(3, [0, 0, 1, 2], [(0, 2), (1, 3), (0, 3), (2, 3)], [(0, 2), (1, 3)]),
    'hub': Shape(3, [0, 1, 2], [], [], hub=True),
}


def header(c, macros):
    """configuration.h: the macros, and what depends on the number of devices and ports."""
    shape, ranks, first, roles, stations, owner = c.shape, c.ranks, c.first, c.roles, c.stations, c.shape.owner
    devices, ports = range(shape.devices), range(len(owner))
    pairs = [(p, q) for p in ports for q in ports if owner[p] != owner[q] and (shape.hub or {(p, q), (q, p)} & set(shape.cables + shape.plugged))]
    begin = ''.join(f' mate[{p}] = {q + 1}; mate[{q}] = {p + 1};' for p, q in shape.plugged)
    begin += ''.join(f' role[{d}] = {r};' for d, r in enumerate(roles) if r)
    begin += ''.join(f' force[{p}] = NONE;' for p in ports if roles[owner[p]])
    if shape.hub and c.calm_begin:   # the waits of A10 are over
        begin += ''.join(f' A[{p} * N + {owner[q]}] = 0; heard[{p} * N + {owner[q]}] = {3 + q};' for p, q in pairs if c.calm_begin == 'all' or 2 in (p, q))
    elif shape.hub:
        begin += ''.join(f' stage[{d}] = NEWCOMER;' for d in devices) + ''.join(f' force[{p}] = NONE;' for p in ports)
    begin += ''.join(f' station[{p}] = {kind};' for p, kind in stations.items())
    out = ['#define ' + (a if b is True else f'{a} {b}') for a, b in macros.items()]
    out.append(f'#define BEGIN{begin}{c.begin} skip')
    choices = ''
    for d in devices:
        start = [0] if roles[d] else first[d]
        choices += ' if' + ''.join(f' :: R[{d}] = {r}' for r in start) + ' fi;'
    if c.starts:
        choices = ' if' + ''.join(c.starts) + ' fi;'
    out.append(f'#define RANKS{choices}')
    events = [f'MAY_TARGET({d}, {r})' for d in devices for r in ranks[d]]
    events += [f'MAY_HEAR({p}, {q})' for p, q in pairs]
    events += [f'MAY_APPLY({p})' for p in ports]
    if macros.get('CRASHES'):
        events += [f'MAY_CRASH({d})' for d in devices]
    if macros.get('LOSSES'):
        events += [f'MAY_LOSE({d})' for d in devices]
    if macros.get('PULLS'):
        events += [f'MAY_PULL({p}, {q})' for p, q in shape.cables]
    if macros.get('ROLES'):
        events += [f'MAY_TURN({d})' for d in devices]
    events += [f'MAY_INSTALL({d})' for d in devices if roles[d] == 2]
    events += [f'MAY_STATION({p}, {q})' for p, q in pairs if stations.get(p) == 2]
    events += [f'MAY_CLOCK({d})' for d in devices if roles[d] == 2 or shape.hub or macros.get('ROLES')]
    out.append('#define EVENTS ' + ' '.join(events))
    out.append('#define PENDING(d) (' + ' || '.join(f'((d) == {owner[p]} && req1[{p}] != 0)' for p in ports) + ')')
    both = [f'((d) != {owner[p]} || !CONNECTED({p}, {q}) || (heard[{p} * N + {owner[q]}] != 0 && heard[{q} * N + {owner[p]}] != 0))' for p, q in pairs]
    lit = [f'((d) != {owner[p]} || LIT({p}))' for p in ports] if 2 in roles else []
    out.append('#define BOTH_HEARD(d) (' + ' && '.join(both + lit or ['1']) + ')')
    return '\n'.join(out) + '\n'


class Configuration:
    def __init__(self, name, shape='pair', ranks=None, first=None, roles=None, stations=None, progress=True, search='exhaustive', expect='holds', large=False, note='', calm_begin=False, begin='', **macros):
        self.calm_begin = calm_begin
        self.begin = begin  # more of the first state, where the way to it is long
        self.name, self.shape, self.progress, self.search, self.expect, self.large, self.note = name, SHAPES[shape], progress, search, expect, large, note
        n = self.shape.devices
        self.ranks = ranks or [[0, 1, 3], [0, 2]] if n == 2 else ranks or [[0, 1, 4], [0, 2], [3]]
        self.roles = roles or [0] * n
        self.stations = stations or {}
        self.first = first or [[0] if self.shape.hub else r or [3] for r in self.ranks]
        self.macros = macros
        self.starts, self.runs = [], ''  # of accept.py: the first states of runs that are followed, and their table

    def settings(self, extra):
        m = dict(self.macros)
        m['N'], m['NP'] = self.shape.devices, len(self.shape.owner)
        owner = self.shape.owner
        m['DEV(p)'] = {(0, 1): '(p)', (0, 1, 2): '(p)', (0, 0, 1): '((p) / 2)', (0, 0, 1, 1): '((p) / 2)', (0, 0, 1, 2): '((p) < 2 -> 0 : (p) - 1)'}[tuple(owner)]
        if self.shape.hub:
            m['HUB'] = True
            m['NEWCOMERS'] = True
        if self.progress:
            m['PROGRESS'] = 1
        s = m.get('S', 2)
        k = m.get('CRASHES', 0) + m.get('ROLES', 0) + 1
        if 'LOWBOOT' in m:
            k += m.get('LOSSES', 0)
        m['K'] = k
        frames = ((k + 1) * s * (s + 1) + 2 * (k + 1)) * (2 if self.shape.hub else 1)
        m['WORDS_'] = (frames + 31) // 32
        if m['WORDS_'] > 3:
            sys.exit(f'{self.name}: too many kinds of frames')
        m.update({e: True for e in extra})
        return m


# A feature is what it adds to a pair of devices on one cable; two features are both of them together.
FEATURES = {
    'restart': dict(CRASHES=1),
    'loss': dict(CRASHES=1, LOSSES=1),
    'confirm': dict(CRASHES=1, CONFIRM=True),
    'queue': dict(Q=2),
    'clock': dict(CRASHES=1, LOSSES=1, LOWBOOT=True),
    'pull': dict(PULLS=1),
    'stale': dict(PULLS=1, STALE=True),
    'drops': dict(PULLS=1, DROPS=True),
    'ports': dict(shape='ports', PULLS=1),
    'move': dict(shape='three', PULLS=1),
    'hub': dict(shape='hub', calm_begin='all'),
    'roles': dict(ROLES=1, roles=[0, 1]),
    'none': dict(WITH_NONE=True),
    'stock': dict(HOSTPORT=True, NEWCOMERS=True, roles=[0, 2], stations={0: 2}),
}
# What two features cannot be together, and why.
NOT_TOGETHER = {
    ('ports', 'hub'): 'a hub keeps its carriers; devices have one port there',
    ('move', 'hub'): 'a hub keeps its carriers',
    ('pull', 'hub'): 'a hub keeps its carriers',
    ('stale', 'hub'): 'a hub keeps its carriers; frames are delayed without bound there anyway',
    ('drops', 'hub'): 'a hub keeps its carriers',
    ('loss', 'clock'): 'clock has the loss',
    ('stale', 'clock'): 'a late frame is what remains',
    ('none', 'stock'): 'stock begins with a port without rules',
    ('roles', 'stock'): 'one device changes its role, the other is installed: each alone',
    ('hub', 'stock'): 'a hub begins after the waits of A10',
    ('hub', 'none'): 'a hub begins after the waits of A10; the newcomers on a hub are a configuration of their own',
}


def together(*features):
    """The macros of some features; of a number the largest counts."""
    out = {}
    for f in features:
        for key, value in FEATURES[f].items():
            if isinstance(value, int) and not isinstance(value, bool) and key in out:
                value = max(value, out[key])
            if key == 'shape' and 'shape' in out:
                value = 'line'
            out[key] = value
    n = SHAPES[out.get('shape', 'pair')].devices
    if 'roles' in out:
        out['roles'] = (out['roles'] + [0] * n)[:n]
    if n == 3:
        out.setdefault('ranks', [[1, 4], [2], []])
    return out


def sized(kw, **more):
    kw = dict(kw)
    kw.update(more)
    return kw


def table():
    small, tiny = [[0, 1, 3], [2]], [[1, 3], [2]]
    rows = []
    for f in FEATURES:
        kw = together(f)
        rows.append(Configuration(f, **sized(kw, **({} if 'ranks' in kw else {'ranks': small}))))
    rows.append(Configuration('restart, pull, two each', large=True, CRASHES=2, PULLS=2, ranks=tiny))
    rows.append(Configuration('restart, pull, all ranks', large=True, CRASHES=1, PULLS=1))
    rows.append(Configuration('restart, pull, three numbers', large=True, CRASHES=1, PULLS=1, S=3, ranks=tiny))
    rows.append(Configuration('loss, stale, all ranks', large=True, CRASHES=1, LOSSES=1, PULLS=1, STALE=True, ranks=small))
    rows.append(Configuration('two ports each', large=True, shape='ports22', PULLS=1, ranks=[[1, 3], [2]]))
    rows.append(Configuration('two ports each, restart', large=True, shape='ports22', PULLS=1, CRASHES=1, ranks=[[1, 3], [2]]))
    rows.append(Configuration('three with several ports', large=True, shape='line', PULLS=1, ranks=[[1, 4], [2], [3]]))
    rows.append(Configuration('newcomers on a hub', large=True, shape='hub', ranks=[[4], [2], []]))
    rows.append(Configuration('hub, falls', large=True, shape='hub', calm_begin='all', ranks=[[4], [0, 2], []], S=3, progress=False))
    rows.append(Configuration('both hosts', large=True, ROLES=2, roles=[1, 1], ranks=small))
    rows.append(Configuration('roles, two changes', large=True, ROLES=2, roles=[0, 1], CRASHES=1, ranks=small))
    rows.append(Configuration('stock host of host-ports', HOSTPORT=True, NEWCOMERS=True, roles=[0, 2], stations={0: 1}, ranks=small))
    rows.append(Configuration('host-ports lead to a switch, loss', HOSTPORT=True, NEWCOMERS=True, roles=[0, 2], stations={0: 1}, ranks=small, CRASHES=1, LOSSES=1,
                              expect='violated', note='a false entry in host-ports; see what remains'))
    rows.append(Configuration('clock, late frame', CRASHES=1, LOSSES=1, LOWBOOT=True, LATE=True, ranks=small, expect='violated',
                              note='state lost, clock wrong, and a frame of the lost process arrives later; see what remains'))
    names = list(FEATURES)
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            if (a, b) in NOT_TOGETHER or (b, a) in NOT_TOGETHER:
                continue
            kw = together(a, b)
            rows.append(Configuration(f'{a} + {b}', **sized(kw, **({} if 'ranks' in kw else {'ranks': tiny}), large=True)))
    for row in rows:
        if row.name in QUICK_PAIRS:
            row.large = False
    return rows


# Small enough for CI.
QUICK_PAIRS = {
    'clock + none', 'confirm + none', 'confirm + pull', 'confirm + queue', 'drops + move', 'drops + none', 'drops + ports', 'drops + stock',
    'move + none', 'ports + none', 'pull + drops', 'pull + move', 'pull + none', 'pull + ports', 'pull + stale', 'pull + stock', 'queue + clock',
    'queue + drops', 'queue + move', 'queue + none', 'queue + ports', 'queue + pull', 'queue + roles', 'queue + stale', 'queue + stock',
    'restart + clock', 'restart + confirm', 'restart + drops', 'restart + move', 'restart + none', 'restart + ports', 'restart + pull',
    'restart + queue', 'roles + none', 'stale + drops', 'stale + move', 'stale + none', 'stale + ports',
}

# Mutations that nothing finds: the clause follows from others, and docs/develop/model.md says from which.
FOLLOW = {'A2_MIN', 'A12_NOTHING_COUNTED', 'A12_END_AT_ONCE', 'A12_NO_DOWN'}

def compile_model(c, where, extra, memory):
    """Makes the checker of a configuration."""
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    shutil.copy(os.path.join(HERE, 'order.pml'), where)
    with open(os.path.join(where, 'configuration.h'), 'w', encoding='ascii') as f:
        f.write(header(c, c.settings(extra)))
    if c.runs:
        with open(os.path.join(where, 'runs.h'), 'w', encoding='ascii') as f:
            f.write(c.runs)
    made = subprocess.run(['spin', '-a', 'order.pml'], cwd=where, capture_output=True, text=True, check=False)
    if made.returncode or 'Error' in made.stdout or not os.path.exists(os.path.join(where, 'pan.c')):
        sys.exit(f'{c.name}: spin refuses the model:\n{made.stdout}{made.stderr}')
    kind = ['-DHC4'] if c.search == 'hash compaction' else []
    subprocess.run(['gcc', '-O1', '-w', '-DSAFETY', '-DNOREDUCE', '-DNOFAIR', '-DNOBOUNDCHECK', f'-DMEMLIM={memory}', *kind, '-o', 'pan', 'pan.c'], cwd=where, check=True)


def run(configuration, where, extra=(), trace=False, memory=MEMORY, slots=22, limit=7200):
    """Generate, compile, search. Returns a row of the table."""
    c = configuration
    compile_model(c, where, list(extra) + ['TRACE'] * trace, memory)
    started = time.monotonic()
    said = subprocess.run(['timeout', '-s', 'INT', str(limit), './pan', '-E', '-m2000000', f'-w{slots}'], cwd=where, capture_output=True, text=True, check=False).stdout
    seconds = time.monotonic() - started
    broken = re.search(r'assertion violated (.*) \(at depth', said)
    states = re.search(r'(\d+) states, stored', said)
    used = re.search(r'([\d.]+)\s+total actual memory usage', said)
    complete = 'errors: 0' in said and 'Search not completed' not in said and 'max search depth too small' not in said
    result = 'violated' if broken else 'holds' if complete else 'not completed'
    what = ''
    if broken:
        text = broken.group(1)
        what = 'progress' if re.search(r'ord|F\[d\]|force\[p\]==3|==\(force', text) else 'invariant'
    return {'name': c.name, 'result': result, 'what': what, 'states': int(states.group(1)) if states else 0, 'seconds': round(seconds, 1),
            'megabytes': round(float(used.group(1))) if used else 0, 'search': c.search, 'progress': c.progress, 'said': said}


# Each clause that the model can take away: (clause, macro, what is missing, configurations in which the checker finds that).
MUTATIONS = [
    ('A1', 'A1_SESSION', 'a frame that names an earlier session counts', ['stale', 'loss', 'P']),
    ('A2', 'A2_NEVER_HEARD', 'an agent heard for the first time believes anything', ['P', 'restart']),
    ('A2', 'A2_MIN', 'hearing again does not lower the belief to the bound', ['P', 'stale', 'ports', 'roles', 'L']),
    ('A2', 'A2_LISTED', 'an agent that a frame lists is not heard', ['hub, half heard']),
    ('A2', 'A2_BOOT', 'a frame of an older boot counts', ['restart', 'loss', 'P']),
    ('A2', 'A2_SEQUENCE', 'a frame with a lower sequence number counts', ['restart', 'P3']),
    ('A2', 'A2_FORGET', 'a newer boot keeps sequence and bound', ['loss', 'restart']),
    ('A2', 'A2_KEEP', 'a newer boot resets the belief', ['restart', 'P', 'loss']),
    ('A3', 'A3_ONE', 'several neighbors may be below', ['hub']),
    ('A3', 'A3_FALLING', 'the rank we are falling to is not looked at', ['restart', 'P']),
    ('A3', 'A3_HOST', 'a stock host is below a device at the bottom', ['stock']),
    ('A4', 'A4_ENTRY', 'only the acknowledgement is withheld, not the entry', ['none', 'stock', 'ports', 'move', 'drops', 'roles', 'P3', 'newcomers in a line', 'P', 'restart', 'loss', 'stale']),
    ('A4', 'A4_REQUESTED', 'a requested `down` is not looked at', ['restart', 'P']),
    ('A4', 'A4_IN_FORCE', 'a `down` in force is not looked at', ['restart', 'P']),
    ('A4', 'A4_NONE', 'a port without rules gives entries', ['none']),
    ('A5', 'A5_TOLD', 'telling a bound does not lower the belief', ['restart', 'P', 'P3']),
    ('A5', 'A5_SINCE', 'what was told after s is not looked at', ['P3', 'restart']),
    ('A6', 'A6_WAIT', 'the rise does not wait', ['restart']),
    ('A6', 'A6_NO_REQUEST', 'a `shut` port with another order requested counts as shut', ['P', 'queue + pull']),
    ('A6', 'A6_REMEMBERED', 'only the neighbors heard on the port limit', ['P', 'ports']),
    ('A7', 'A7_UP_FIRST', 'the rank falls before ports are up', ['restart']),
    ('A7', 'A7_TOLD_LAST', 'the lower bound is told before the rank falls', ['restart', 'P3']),
    ('A7', 'A7_THEN_TOLD', 'the lower bound is not told', ['restart']),
    ('A8', 'A8_SHUT', 'a dark port is not shut before a rise', ['P']),
    ('A8', 'A8_KEPT', 'beliefs go with the carrier', ['P']),
    ('A9', 'A9_BELIEFS', 'beliefs go with a restart', ['restart']),
    ('A9', 'A9_BOOT', 'a restart has the boot of before', ['restart', 'loss', 'P']),
    ('A9', 'A9_UP_FIRST', 'after a loss nothing waits for `up` in force', ['loss', 'L']),
    ('A9', 'A9_SHUT_LAST', 'after a loss, ports that were shut open with the others', ['LL']),
    ('A9', 'A9_ENTRY', 'after a loss, entries are given while a `down` may be in force', ['LE']),
    ('A9', 'A9_BOTTOM', 'after a loss, agents that were not heard believe anything', ['loss', 'L']),
    ('A9', 'A9_UNHEARD', 'after a loss, a port where none has counted does not limit', ['loss', 'L']),
    ('A10', 'A10_WAIT', 'a newcomer does not wait', ['stock']),
    ('A10', 'A10_ENTRY', 'a newcomer gives entries', ['newcomers in a line', 'stock']),
    ('A10', 'A10_UP_FIRST', 'a newcomer rises before its ports are up', ['stock', 'newcomers in a line']),
    ('A11', 'A11_SHUT', 'a new carrier is not shut', ['P', 'move', 'ports']),
    ('A11', 'A11_A8', 'traffic passes before the order of A8 is in force', ['move', 'ports', 'P']),
    ('A11', 'A11_HOST_PORT', 'host-ports are exempt for ever', ['H', 'HP']),
    ('A12', 'A12_BOOT', 'a role change keeps the boot', ['RB']),
    ('A12', 'A12_SESSION', 'a role change keeps the sessions', ['RB', 'R2', 'roles', 'R']),
    ('A12', 'A12_NOTHING_COUNTED', 'a role change keeps what has counted', ['roles', 'R2', 'RB', 'R']),
    ('A12', 'A12_COUNTED', 'a frame that does not count says *host*', ['roles', 'R', 'R2']),
    ('A12', 'A12_END', 'a host stays left out when it speaks as a switch', ['R2', 'roles', 'R']),
    ('A12', 'A12_END_AT_ONCE', 'a host is left out until a frame that counts says switch', ['R2', 'roles', 'RB', 'R']),
    ('A12', 'A12_UP_FIRST', 'a host becomes a switch before its ports are up', ['roles', 'R']),
    ('A12', 'A12_NO_DOWN', 'a switch becomes a host with `down` in force', ['R2', 'RB', 'R']),
    ('A12', 'A12_FALL', 'a switch becomes a host without falling', ['roles', 'R']),
]


def beyond():
    """Configurations that only mutations need."""
    tiny = [[1, 3], [2]]
    return {c.name: c for c in [
        Configuration('hub, half heard', shape='hub', calm_begin='half', ranks=[[4], [2], []]),
        Configuration('P', CRASHES=1, PULLS=1, ranks=[[0, 1, 3], [2]]),
        Configuration('P3', S=3, ranks=[[1, 3], [0, 2]]),
        Configuration('L', CRASHES=1, LOSSES=1, PULLS=1, ranks=[[1, 3], [2]]),
        Configuration('LP', CRASHES=1, LOSSES=1, PULLS=1, shape='ports', ranks=[[1, 3], [2]]),
        # Device 0 has risen from 1 to 3: port 0 is down to device 1, whose bound is 2; port 1 was dark then, so it is shut. Device 1 is dead, and its port 3 still down.
        Configuration('LL', CRASHES=1, LOSSES=1, shape='double', ranks=[[3], []], first=[[3], [2]], begin=' alive[1] = 0; force[0] = DOWN; force[1] = SHUT; force[3] = DOWN;'
                      ' A[1] = 3; A[3] = 1; A[4] = 2; A[6] = 2; heard[1] = 5; heard[3] = 2; heard[4] = 3; cseq[1] = 1; cbound[1] = 2; cseq[4] = 1; cbound[4] = 3;'
                      ' hboot[1] = 1; hboot[3] = 1; hboot[4] = 1; hboot[6] = 1;'),
        # Device 0 is above on both cables, and loses its state.
        Configuration('LE', CRASHES=1, LOSSES=1, shape='double', ranks=[[3], []], first=[[3], [2]], begin=' force[0] = DOWN; force[1] = DOWN;'
                      ' A[1] = 3; A[3] = 3; A[4] = 2; A[6] = 2; heard[1] = 5; heard[3] = 6; heard[4] = 3; heard[6] = 4; cseq[1] = 1; cbound[1] = 2;'
                      ' cseq[3] = 1; cbound[3] = 2; cseq[4] = 1; cbound[4] = 3; cseq[6] = 1; cbound[6] = 3; hboot[1] = 1; hboot[3] = 1; hboot[4] = 1; hboot[6] = 1;'),
        Configuration('H', HOSTPORT=True, NEWCOMERS=True, roles=[0, 2], stations={0: 1}, ranks=tiny, PULLS=1),
        Configuration('HP', HOSTPORT=True, NEWCOMERS=True, roles=[0, 2], stations={0: 1}, ranks=tiny, CRASHES=1),
        Configuration('R', ROLES=1, roles=[0, 1], CRASHES=1, PULLS=1, ranks=tiny),
        Configuration('RB', ROLES=2, S=3, ranks=[[1], [0, 2]], LOWBOOT=True),
        Configuration('R2', ROLES=2, roles=[0, 1], ranks=[[0, 1, 3], [2]]),
        Configuration('newcomers in a line', shape='line', NEWCOMERS=True, roles=[2, 0, 0], ranks=[[1, 4], [2], [3]]),
    ]}


def build_directory(name):
    return os.path.join(os.path.dirname(HERE), 'build', 'model', re.sub(r'[^a-z0-9]+', '-', name.lower()))


def line(row, expected):
    word = row['result'] + (f" ({row['what']})" if row['what'] else '')
    good = 'as expected' if row['result'] == expected else f'EXPECTED: {expected}'
    return f"{row['name']:34} {word:22} {row['states']:>10} states {row['seconds']:>7} s {row['megabytes']:>5} MB  {row['search']}  {good}"


def check(configurations, memory):
    bad = 0
    rows = []
    for c in configurations:
        row = run(c, build_directory(c.name), memory=memory)
        row.pop('said')
        rows.append(row)
        bad += row['result'] != c.expect
        print(line(row, c.expect), flush=True)
    print(f"{len(rows)} configurations, {sum(r['states'] for r in rows)} states, {round(sum(r['seconds'] for r in rows))} s of search; {bad} not as expected")
    return rows, bad


def mutate(by_name, only, memory):
    """Take each clause away. Found: the first configuration of its list in which the checker sees a violation."""
    bad = 0
    rows = []
    for clause, macro, what, where in MUTATIONS:
        if only and macro not in only:
            continue
        found = None
        for name in where:
            row = run(by_name[name], build_directory('mutation'), [f'WITHOUT_{macro}'], memory=memory)
            if row['result'] == 'violated':
                found = row
                break
        good = bool(found) != (macro in FOLLOW)
        bad += not good
        result = f"{found['what']} in {found['name']}, {found['states']} states" if found else 'nothing in ' + ', '.join(where)
        rows.append({'clause': clause, 'macro': macro, 'what': what, 'found': result})
        print(f"{clause:4} {what:72} {result}{'' if good else '  NOT AS EXPECTED'}", flush=True)
    print(f'{len(rows)} mutations, {bad} not as expected')
    return rows, bad


def show_trail(configuration, extra):
    """The shortest part of a violation that is of use: events, and the state after each."""
    where = build_directory('trail')
    row = run(configuration, where, extra, trace=True)
    print(f"# {row['name']}: {row['result']} {row['what']}")
    if row['result'] == 'violated':
        said = subprocess.run(['spin', '-t', '-k', 'order.pml.trail', 'order.pml'], cwd=where, capture_output=True, text=True, check=False).stdout
        print('\n'.join(l.strip() for l in said.split('spin: trail ends')[0].splitlines()))


def walk(configuration, seed, steps):
    """One random run, as a trace: its lines."""
    where = build_directory('walk')
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    shutil.copy(os.path.join(HERE, 'order.pml'), where)
    c = configuration
    c.progress = False
    with open(os.path.join(where, 'configuration.h'), 'w', encoding='ascii') as f:
        f.write(header(c, c.settings(['TRACE'])))
    said = subprocess.run(['spin', f'-n{seed}', f'-u{steps}', 'order.pml'], cwd=where, capture_output=True, text=True, check=False).stdout
    return [l.strip() for l in said.split('-------------')[0].splitlines()]


def traced():
    """Configurations for random runs: larger than a search can exhaust. tests/core/traces has runs, which tests/core/model_traces_test.cpp replays on agent/core."""
    two, bottom = [[1, 3, 5], [2, 4]], [[0, 1, 3], [0, 2, 4]]
    much = dict(CRASHES=2, PULLS=3, Q=2, S=4, progress=False)
    return {c.name: c for c in [
        Configuration('run of a pair', ranks=two, **much),
        Configuration('run with the bottom', ranks=bottom, **much),
        Configuration('run with late frames', ranks=two, STALE=True, **much),
        Configuration('run with two ports', shape='ports', ranks=two, **much),
        Configuration('run with two ports each', shape='ports22', ranks=two, **much),
        Configuration('run of three', shape='three', ranks=[[1, 4], [2, 5], [3, 6]], **much),
        Configuration('run with late confirmations', ranks=two, CONFIRM=True, **much),
        Configuration('run with a loss', ranks=two, LOSSES=1, **much),
        Configuration('run without rules', ranks=two, WITH_NONE=True, **much),
        Configuration('run on a hub', shape='hub', calm_begin='all', ranks=[[4, 1], [2, 5], [3]], **dict(much, CRASHES=1, PULLS=0, S=3)),
    ]}


def is_state(l):
    return l.split(' ', 1)[0] in ('device', 'port', 'neighbor')


def steps_of(lines):
    """Events with the lines of the state that they change; the first has no event."""
    known, steps = {}, [('', [])]
    for l in lines:
        key = tuple(l.split(' ')[:2])
        if not l:
            continue
        if not is_state(l):
            steps.append((l, []))
        elif known.get(key) != l:
            known[key] = l
            steps[-1][1].append(l)
    return steps


def write_traces(by_name, directory, names, most, runs, seeds):
    """The runs of each configuration that show most: the kinds of events, each with what it changes."""
    os.makedirs(directory, exist_ok=True)
    for name in names:
        c = by_name[name]
        walks = {seed: steps_of(walk(c, seed, 1000 * most))[:-1][:most] for seed in seeds}
        kinds = {seed: {(re.sub(r'(port|device|from|ports)=\S+|start=\d+', '', event), tuple(re.sub(r'\s.*?\s', ' ', l, count=1) for l in changes))
                        for event, changes in steps} for seed, steps in walks.items()}
        seen = set()
        for _ in range(runs):
            best = max(sorted(kinds), key=lambda seed: len(kinds[seed] - seen))
            seen |= kinds.pop(best)
            owner = ','.join(map(str, c.shape.owner))
            lines = [f'# ./run model --walk {name!r} --seed {best}', f"run ports={owner} requests={c.macros.get('Q', 1)} hub={int(c.shape.hub)}"]
            for event, changes in walks[best]:
                lines += ([event] if event else []) + changes
            with open(os.path.join(directory, f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}-{best}.txt"), 'w', encoding='ascii') as f:
                f.write('\n'.join(lines) + '\n')


def main():
    parser = argparse.ArgumentParser(prog='./run model', description='Check the model of the order with spin.')
    parser.add_argument('--large', action='store_true', help='all pairs of features and the large sizes too')
    parser.add_argument('--mutations', action='store_true', help='take each clause away and see the checker find it')
    parser.add_argument('--only', metavar='NAME', action='append', default=[], help='only this configuration, or with --mutations this clause')
    parser.add_argument('--trail', metavar='NAME', help='print the violation of a configuration as a trace')
    parser.add_argument('--without', metavar='CLAUSE', action='append', default=[], help='with --trail: take this clause away')
    parser.add_argument('--walk', metavar='NAME', help='print a random run of a configuration as a trace')
    parser.add_argument('--seed', type=int, default=1, help='of --walk (1)')
    parser.add_argument('--steps', type=int, default=100000, help='statements of --walk (100000)')
    parser.add_argument('--traces', metavar='DIRECTORY', help='write random runs for tests/core/model_traces_test.cpp, of --only or of those that are kept')
    parser.add_argument('--runs', type=int, default=3, help='with --traces: of each configuration, from --seed on those that show most (3)')
    parser.add_argument('--events', type=int, default=50, help='with --traces: events of a run (50)')
    parser.add_argument('--list', action='store_true', help='list the configurations')
    parser.add_argument('--json', metavar='FILE', help='write the rows to FILE')
    parser.add_argument('--memory', type=int, default=MEMORY, help=f'megabytes of a search ({MEMORY})')
    options = parser.parse_args()
    rows = table()
    by_name = {c.name: c for c in rows}
    by_name.update(beyond())
    by_name.update(traced())
    unknown = [n for n in [options.trail, options.walk] + ([] if options.mutations else options.only) if n and n not in by_name]
    if unknown:
        parser.error(f'no configuration {unknown[0]}; --list names them')
    if options.list:
        for c in rows:
            print(f"{c.name:34} {'large' if c.large else ''}")
        return 0
    if options.trail:
        show_trail(by_name[options.trail], [f'WITHOUT_{w}' for w in options.without])
        return 0
    if options.walk:
        print('\n'.join(walk(by_name[options.walk], options.seed, options.steps)))
        return 0
    if options.traces:
        write_traces(by_name, options.traces, options.only or list(traced()), options.events, options.runs, range(options.seed, options.seed + 4 * options.runs))
        return 0
    if options.mutations:
        done, bad = mutate(by_name, options.only, options.memory)
    else:
        wanted = [by_name[n] for n in options.only] if options.only else [c for c in rows if options.large or not c.large]
        done, bad = check(wanted, options.memory)
    if options.json:
        with open(options.json, 'w', encoding='ascii') as f:
            json.dump(done, f, indent=1)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
