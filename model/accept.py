#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Have the model of the order (order.pml) follow random runs of agents of agent/core, which tests/core/core_runs makes. A run is accepted if the
model can do each event and then has what the agents have. docs/develop/model.md says what is compared."""
import argparse
import re
import subprocess
import sys

import check

# The numbers of order.pml.
EVENT = {'target': 1, 'hear': 2, 'confirm': 4, 'crash': 5, 'start': 7, 'pull': 9, 'plug': 10}
FOLLOWED = [('pair', False), ('ports', False), ('ports22', False), ('three', False), ('pair', True)]  # and whether frames outlive a cable
FOLLOW_C = r"""
static int is_next(void) {
  const struct step *s = &steps[now.step_];
  return !s->first && now.ev == s->ev && now.pp == s->p && now.qq == s->q && (s->kf < 0 || now.kf == s->kf);
}
static int same(const char *what, int at, int model, int core) {
  if (core < 0 || model == core) return 1;
  printf("run %d event %d: %s %d: model %d, core %d\n", steps[now.step_].run, steps[now.step_].number, what, at, model, core);
  return 0;
}
static int is_as_told(void) {
  const struct step *s = &steps[now.step_];
  int all = 1, i;
  for (i = 0; i < DEVICES; i++) {
    all &= same("alive", i, now.alive[i], s->alive[i]) & same("rank", i, now.R[i], s->rank[i]) & same("bound", i, now.B[i], s->bound[i]);
    all &= same("start", i, now.inc[i], s->start[i]) & same("seq", i, now.seq[i], s->seq[i]);
  }
  for (i = 0; i < PORTS; i++)
    all &= same("force", i, now.force[i], s->force[i]) & same("req1", i, now.req1[i], s->req1[i]) & same("req2", i, now.req2[i], s->req2[i]);
  for (i = 0; i < PORTS * DEVICES; i++) {
    all &= same("A", i, now.A[i], s->A[i]) & same("heard", i, now.heard[i] != 0, s->heard[i]) & same("counted", i, now.cseq[i] != 0, s->counted[i]);
    all &= same("bound of a neighbor", i, now.cbound[i], s->cbound[i]) & same("entry", i, entry[i], s->entry[i]);
  }
  if (all) printf("run %d event %d is the model's%s\n", s->run, s->number, s[1].first ? ", the last" : "");
  return all;
}
"""


def runs_of(text):
    """Each run: events, and after each the state that its lines have told."""
    runs = []
    for l in text.splitlines():
        words = l.split()
        if words[0] == 'run':
            runs.append([('', {})])
        elif check.is_state(l):
            state = runs[-1][-1][1]
            state[words[0] + words[1]] = dict(w.split('=') for w in words[2:])
        else:
            runs[-1].append((l, {}))
    return runs


def event_of(line, k, s):
    """ev, pp, qq, kf as order.pml has them."""
    word, *rest = line.split()
    v = dict(w.split('=') for w in rest)
    ev = EVENT[word] + (v.get('requests') == 'dropped')
    if word == 'target':
        return ev, int(v['device']), int(v['rank']), -1
    if word == 'hear':
        sender = k if int(v['session']) else int(v['start'])
        frame = (sender * s + int(v['seq']) - 1) * (s + 1) + int(v['ack']) if int(v['naming']) else (k + 1) * s * (s + 1) + 2 * sender + int(v['bound'])
        return ev, int(v['from']), int(v['port']), frame
    if word in ('pull', 'plug'):
        return (ev, *map(int, v['ports'].split(',')), -1)
    return ev, int(v.get('device', v.get('port'))), 0, -1


def table_of(runs, shape, k, s):
    devices, ports = shape.devices, len(shape.owner)

    def values(state, word, key, names):
        return '{' + ','.join(str(int(state.get(f'{word}{n}', {}).get(key, -1))) for n in names) + '}'
    rows = []
    for r, run in enumerate(runs):
        for n, (event, state) in enumerate(run):
            ev, p, q, kf = event_of(event, k, s) if event else (0, 0, 0, -1)
            for port in range(ports):
                told = state.get(f'port{port}')
                if told:
                    told['req1'], told['req2'] = told['req'].split(',')
            pairs = [f'{a}.{b}' for a in range(ports) for b in range(devices)]
            row = [str(x) for x in (int(n == 0), r, n, ev, p, q, kf)]
            row += [values(state, 'device', key, range(devices)) for key in ('alive', 'rank', 'bound', 'start', 'seq')]
            row += [values(state, 'port', key, range(ports)) for key in ('force', 'req1', 'req2')]
            row += [values(state, 'neighbor', key, pairs) for key in ('A', 'heard', 'counted', 'bound', 'entry')]
            rows.append('{' + ','.join(row) + '}')
    rows.append('{1}')
    struct = 'struct step { int first, run, number, ev, p, q, kf; short alive[DEVICES], rank[DEVICES], bound[DEVICES], start[DEVICES], seq[DEVICES],'
    struct += ' force[PORTS], req1[PORTS], req2[PORTS], A[PORTS * DEVICES], heard[PORTS * DEVICES], counted[PORTS * DEVICES], cbound[PORTS * DEVICES], entry[PORTS * DEVICES]; };'
    return f'#define DEVICES {devices}\n#define PORTS {ports}\n{struct}\nstatic const struct step steps[] = {{\n' + ',\n'.join(rows) + '\n};\n' + FOLLOW_C


def accept(program, seed, count, events, extra, memory):
    """Has the model follow runs of the core. Counts those that it does not accept."""
    refused = 0
    for shape_name, stale in FOLLOWED:
        shape, name = check.SHAPES[shape_name], shape_name + ', stale' * stale
        ranks = [[1 + level * shape.devices + d for level in range(3)] for d in range(shape.devices)]
        c = check.Configuration(f'runs of the core, {name}', shape=shape_name, ranks=ranks, CRASHES=2, PULLS=3, Q=2, S=4, progress=False, **({'STALE': True} if stale else {}))
        said = subprocess.run([program, ','.join(map(str, shape.owner)), str(seed), str(count), str(events)] + ['stale'] * stale, capture_output=True, text=True, check=True).stdout
        runs = runs_of(said)
        step = 0
        for run in runs:
            c.starts.append(f' :: step_ = {step}; ' + ' '.join(f"R[{d}] = {run[0][1][f'device{d}']['rank']};" for d in range(shape.devices)))
            step += len(run)
        c.runs = table_of(runs, shape, c.settings([])['K'], c.macros['S'])
        row = follow(c, check.build_directory(c.name), extra, memory)
        reached = {int(r): int(n) for r, n in re.findall(r"^run (\d+) event (\d+) is the model's", row, re.M)}
        good = {int(r) for r in re.findall(r"^run (\d+) event \d+ is the model's, the last", row, re.M)}
        for r, run in enumerate(runs):
            if r not in good:
                at = reached.get(r, -1) + 1
                print(f'{name}, seed {seed + r}: not accepted from event {at} on: {run[at][0]}')
                print('\n'.join(sorted(set(re.findall(rf'^(run {r} event {at}: .*)$', row, re.M)))))
        refused += len(runs) - len(good)
        print(f'{name}: {len(good)} of {len(runs)} runs accepted, {sum(len(r) - 1 for r in runs)} events', flush=True)
    return refused


def follow(c, where, extra, memory):
    """What the checker says of runs that the model follows."""
    check.compile_model(c, where, ['FOLLOW', *extra], memory)
    return subprocess.run(['./pan', '-E', '-m100000', '-w18'], cwd=where, capture_output=True, text=True, check=False).stdout


def main():
    parser = argparse.ArgumentParser(description='Have the model of the order follow random runs of the core.')
    parser.add_argument('program', help='tests/core/core_runs, built')
    parser.add_argument('--seed', type=int, default=1, help='of the first run (1)')
    parser.add_argument('--runs', type=int, default=50, help='of each shape (50)')
    parser.add_argument('--events', type=int, default=60, help='of a run, at most (60)')
    parser.add_argument('--without', metavar='CLAUSE', action='append', default=[], help='take this clause of the model away')
    options = parser.parse_args()
    return 1 if accept(options.program, options.seed, options.runs, options.events, [f'WITHOUT_{w}' for w in options.without], check.MEMORY) else 0


if __name__ == '__main__':
    sys.exit(main())
