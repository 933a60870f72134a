#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the container, in the foreground, with what it shares of the host and of the container `lldp`. What that one has
# for /run is a directory of its own, which is another one whenever it is made anew: lldp-level.service follows it.
set -eu
# Of the running container; without it, or with another storage driver, nothing is started: two agents would speak.
lldp=$(docker inspect --format '{{.GraphDriver.Data.MergedDir}}' lldp 2>/dev/null || true)
[ -d "$lldp/run" ] && [ -n "$lldp" ] || { echo "lldp-level: no container lldp with a /run of its own: two agents would speak" >&2; exit 1; }
docker rm --force lldp-level >/dev/null 2>&1 || true
exec docker run --rm --name lldp-level --net=host \
  --cap-drop=ALL --cap-add=NET_RAW --cap-add=NET_ADMIN --cap-add=SETUID --cap-add=SETGID --cap-add=KILL \
  --volume /var/run/redis:/var/run/redis \
  --volume "$lldp/run:/run/lldp" \
  --volume /host/lldp-level:/var/lib/lldp-level \
  --volume /var/run/lldp-level:/run/lldp-level \
  docker-lldp-level
