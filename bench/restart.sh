#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packets of a wrong priority while the agent where they turn and those of its neighbors are killed, stopped and started
# again, under 100,000 packets/s of bounced traffic, routed and bridged: must be none. Needs root.
#   restart.sh [RESTARTS [PACKETS_PER_SECOND]]
set -euo pipefail
lab="$(dirname "$(readlink -f "$0")")/../build/release/bin/lldp-level-lab"
for mode in '' --bridged; do
  "$lab" bounce case1 $mode --restarts "${1:-20}" --rate "${2:-100000}" --json | jq -r '.mode as $mode | .restarts |
    "\(.switches + .neighbors | join(", ")) restarted \(.restarts) times in \(.seconds | round) s, \($mode): \(.sent / .seconds | round) packets/s" +
    " sent, \(.right + .wrong) of \(.sent) arrived, \(.wrong) with a wrong priority"'
done
