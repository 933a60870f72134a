#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BIN: a 3-level Clos of network namespaces learns its levels, loses a link and an agent, and is whole again.
set -euo pipefail
bin=$(cd "${1:?usage: demo.sh DIRECTORY_OF_THE_PROGRAMS}" && pwd)
prefix=lldp-demo-$$
dir=$(mktemp -d)
fabric=$dir/fabric.json
lab() { "$bin/lldp-level-lab" "$@"; }
live() { lab live "$1" "$fabric" --prefix "$prefix" --dir "$dir/lab" "${@:2}"; }
say() {
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then printf '\n\033[1m== %s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}
clean() {
  [ ! -e "$dir/lab/manifest" ] || lab live down --prefix "$prefix" --dir "$dir/lab"
  rm -r "$dir"
}
trap clean EXIT

lab topo clos --switches 4,4,2 --pods 2 --hosts 8 -o "$fabric"
say "18 agents start at once; nobody tells them where they stand"
live up
live run

say "what agg1 knows"
"$bin/lldp-level" show --socket "$dir/lab/agg1/control"

say "the link between tor1 and agg1 is cut, and agg3's agent is stopped: neighbours gone, levels kept"
ip -n "$prefix-tor1" link set swp3 down
kill "$(pgrep -f -- "--socket $dir/lab/agg3/control")"
sleep 0.5
live show

say "the link is repaired, and the agent started again"
ip -n "$prefix-tor1" link set swp3 up
live run
