#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo_bounce.sh BIN: on the fabric of CASE 1, links are cut, packets turn down-up, and change priority where they turn.
set -euo pipefail
bin=$(cd "${1:?usage: demo_bounce.sh DIRECTORY_OF_THE_PROGRAMS}" && pwd)
fabric=$(mktemp --suffix .json)
trap 'rm "$fabric"' EXIT
lab() { "$bin/lldp-level-lab" "$@"; }
say() {
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then printf '\n\033[1m== %s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}

lab topo case1 -o "$fabric"
say "another fabric: in one priority its buffers can wait on each other in a circle"
lab prove "$fabric" --rules none --lossless 1 | sed -n 2,3p || true
say "with a second priority for packets that turned, they cannot"
lab prove "$fabric" | sed -n 2,4p
say "the same on this kernel: two links are cut, and packets of X and Y turn down-up until the routing converges"
lab bounce case1
