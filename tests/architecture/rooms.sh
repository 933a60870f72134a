#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the #includes against the arrows of docs/architecture.md: who may look at whom, and that the pure rooms
# include no system, socket or library header that does I/O.
set -u
top=${1:?usage: rooms.sh SOURCE_DIR}
cd "$top" || exit 2
bad=0
complain() { printf '%s\n' "$1"; bad=1; }

# room: the rooms whose headers it may include, itself among them
allowed() {
  case $1 in
    base) echo "base" ;;
    tlv) echo "tlv base" ;;
    cabling) echo "cabling base" ;;
    qos) echo "qos base" ;;
    agent/core) echo "agent/core cabling tlv base" ;;
    agent/config) echo "agent/config agent/core cabling qos tlv base" ;;
    agent/report) echo "agent/report agent/core cabling qos tlv base" ;;
    agent/lldpd) echo "agent/lldpd dataplane tlv base" ;;
    agent/io) echo "agent/io agent/lldpd agent/config agent/report agent/core dataplane cabling qos tlv base" ;;
    agent/cli) echo "agent/cli agent/config agent/report agent/core cabling qos tlv base" ;;
    agent/metrics) echo "agent/metrics agent/cli agent/config agent/report base" ;;
    dataplane) echo "dataplane qos base" ;;
  esac
}
headers_of() { grep -HnoE '^#include [<"][^>"]+[>"]' -r "$1" --include='*.hpp' --include='*.cpp' 2>/dev/null; }

for room in base tlv cabling qos agent/core agent/config agent/report agent/lldpd agent/io agent/cli agent/metrics dataplane; do
  [ -d "$room" ] || continue
  while IFS= read -r line; do
    header=$(sed -E 's/.*#include "([^"]+)".*/\1/' <<<"$line")
    ok=0
    for a in $(allowed "$room"); do case $header in "$a"/*) ok=1 ;; esac; done
    [ $ok = 1 ] || complain "${line%%:#*}: $room may not include \"$header\""
  done < <(headers_of "$room" | grep '#include "' | grep -vE '"[^/"]+"$')
done

pure='base tlv cabling qos agent/core agent/report'
system='<(sys/|net/|netinet/|linux/|arpa/|netlink/|boost/|unistd\.h|fcntl\.h|poll\.h|pthread\.h|time\.h|ctime|fstream|iostream|filesystem|thread|mutex|condition_variable|future|atomic|cstdio|stdio\.h|csignal|pcap)'
for room in $pure; do
  while IFS= read -r line; do complain "${line%%:#*}: a pure room includes ${line#*#include }"; done \
    < <(headers_of "$room" | grep -E "#include $system")
  while IFS= read -r line; do complain "$line: a pure room asks for the time"; done \
    < <(grep -rnE '(system_clock|steady_clock|high_resolution_clock)::now|clock_gettime|gettimeofday' "$room")
done
for d in agent base tlv cabling qos dataplane; do
  while IFS= read -r line; do complain "${line%%:#*}: the agent may not depend on the lab"; done \
    < <(headers_of $d | grep '#include "lab/')
done
[ $bad = 0 ] && echo "every #include follows the arrows"
exit $bad
