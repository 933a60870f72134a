#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of build/package/ into a fresh Debian 12 tree, boots systemd in a copy of it (test-service.sh), runs
# the daemon there as a container with the rights that the DaemonSet gives, and beside a peer as its own user with the unit's
# capabilities, upgrades it, removes and purges it: rules and level outlive the upgrade, nothing outlives the purge. Wants root and, for the first part, the network; it works
# below build/install-test/ and in namespaces of its own.
#
# usage: packaging/test-install.sh [MIRROR]     (else the mirror that this machine uses)
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
mirror=${1:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)}
work=$PWD/build/install-test
root=$work/root
base=$work/bookworm.tar  # kept for the next run
unit=packaging/lldp-level.service

say() { printf '\033[1m== %s\033[0m\n' "$*"; }
die() {
  echo "test-install: $*" >&2
  exit 1
}
become() {  # the calling shell, for a process to be known by its id
  exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}
within() { (become "$@"); }
apt() {
  within apt-get -y -o APT::Install-Recommends=false -o Dpkg::Use-Pty=0 "$@" >"$work/apt.log" 2>&1 || {
    tail -20 "$work/apt.log" >&2
    die "apt-get $*"
  }
}
everything() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/log -o \
    -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./etc/ld.so.cache \) -prune -o -print |
    grep -v -- '-$' | sort
  cut -d: -f1 etc/passwd etc/group)
}

# A tree with nothing but Debian, and the package in it, by way of apt.
prepare() {
  mkdir -p "$work/archives"
  rm -rf "$root"
  mkdir "$root"
  if [ ! -f "$base" ]; then
    say 'debootstrap'
    debootstrap --variant=minbase --include=iproute2 --cache-dir="$work/archives" bookworm "$root" "$mirror" \
      >"$work/debootstrap.log" || die "debootstrap failed: see $work/debootstrap.log"
    within apt-get update -qq
    tar -C "$root" -cf "$base.new" .
    mv "$base.new" "$base"
  else
    tar -C "$root" -xf "$base"
  fi
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"  # no service starts by itself
  chmod +x "$root/usr/sbin/policy-rc.d"
  cp build/package/lldp-level_*.deb "$root/tmp/lldp-level.deb"
  mount --bind "$work/archives" "$root/var/cache/apt/archives"
  mount -t proc proc "$root/proc"
  # What it needs comes beforehand, so that what is measured and compared is the package alone.
  say 'apt-get install of what it depends on, and recommends'
  apt install $(dpkg-deb -f "$root/tmp/lldp-level.deb" Depends Recommends | sed 's/^[A-Z][a-z]*://' | tr ',' '\n' | sed 's/[|(].*//')
  everything >"$work/before"
  say 'apt-get install ./lldp-level.deb'
  apt install /tmp/lldp-level.deb
  [ ! -e "$root/sys/fs/bpf/lldp-level" ] || die 'an image is given a folder of the running kernel'
  # The next version: the same, rebuilt.
  dpkg-deb -R "$root/tmp/lldp-level.deb" "$work/next"
  sed -i 's/^Version: .*/&+1/' "$work/next/DEBIAN/control"
  dpkg-deb -b "$work/next" "$root/tmp/lldp-level-next.deb" >/dev/null
  rm -r "$work/next"
}

# The daemon as the unit starts it, in so far as that can be done without systemd.
start() {
  local user caps
  user=$(sed -n 's/^User=//p' "$unit")
  caps=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | sed 's/CAP_/+/g; s/ /,/g' | tr '[:upper:]' '[:lower:]')
  install -d -o "$(within id -u "$user")" -g "$(within id -g "$user")" "$root/run/lldp-level" "$root/var/lib/lldp-level"
  mkdir -p "$root/run/lldp-level/bpf"
  within systemd-tmpfiles --create lldp-level.conf
  mount --bind "$root/sys/fs/bpf/lldp-level" "$root/run/lldp-level/bpf"
  become setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \
    --inh-caps "-all,$caps" --ambient-caps "-all,$caps" --bounding-set "-all,$caps" \
    env LLDP_LEVEL_BOOT_ID="$(tr -d - </proc/sys/kernel/random/boot_id)" \
    $(sed -n 's/^ExecStart=//p' "$unit") --role switch &
  daemon=$!
}
stop() {
  kill -TERM "$daemon"
  wait "$daemon" || true
  umount "$root/run/lldp-level/bpf"
  rm -rf "$root/run/lldp-level"
}
rules() { tc filter show dev swp1 "$1" | grep -c "lldp-level" || true; }

# What Containerfile makes and daemonset.yaml asks for, in namespaces of our own: root with these capabilities alone, a root file
# system that is read-only, and of the node its network and the two folders. Beside it the exporter, with none.
container() {
  local caps daemon exporter folder
  caps=$(sed -n 's/^ *add: \[\(.*\)\]/\1/p' packaging/container/daemonset.yaml | tr -d ' ' | tr '[:upper:]' '[:lower:]' | sed 's/^/+/; s/,/,+/g')
  [ "$caps" = +net_raw,+net_admin,+bpf,+perfmon ] || die "daemonset.yaml asks for other capabilities: $caps"
  mkdir -p "$root/run/lldp-level" "$root/var/lib/lldp-level" "$work/bpf"
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  for folder in run/lldp-level var/lib/lldp-level; do mount -t tmpfs -o mode=755 tmpfs "$root/$folder"; done
  mkdir "$root/run/lldp-level/bpf"
  mount -t bpf -o mode=700 bpf "$work/bpf"
  mkdir "$work/bpf/lldp-level"
  mount --bind "$work/bpf/lldp-level" "$root/run/lldp-level/bpf"
  mount -o remount,bind,ro "$root"
  ip link set lo up
  ip link add swp1 type veth peer name swp2
  ip link set swp1 up
  ip link set swp2 up

  say 'the daemon, as a container with the rights of the DaemonSet'
  local entry
  entry=$(sed -n 's/^ENTRYPOINT \[\(.*\)\]/\1/p' packaging/container/Containerfile | tr -d '",')
  become setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set "-all,$caps" \
    $entry --ports 'swp1' --role switch --level 1 --metrics.listen 9999 2>"$work/container.log" &
  daemon=$!
  become setpriv --no-new-privs --reuid 65534 --regid 0 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all \
    lldp-level metrics --listen 127.0.0.1:9888 2>"$work/exporter.log" &
  exporter=$!
  within lldp-level wait --timeout 30 || die "$(cat "$work/container.log")"
  [ "$(tc filter show dev swp1 ingress | grep -c lldp-level)" -ge 1 ] || die "no rules: $(cat "$work/container.log")"
  [ -n "$(find "$work/bpf/lldp-level" -type f)" ] || die 'nothing is kept in the BPF file system'
  [ -s "$root/var/lib/lldp-level/state" ] || die 'nothing is kept of the state'
  for ((i = 0; i < 100; ++i)); do
    ! bash -c 'exec 3<>/dev/tcp/127.0.0.1/9888; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' 2>/dev/null |
      grep -q '^lldp_level_up 1' || break
    sleep 0.1
  done
  [ $i -lt 100 ] || die "the exporter does not answer: $(cat "$work/exporter.log")"
  ! within setpriv --no-new-privs --reuid 65534 --regid 0 --clear-groups --bounding-set=-all lldp-level pause 2>/dev/null ||
    die 'the exporter may command'
  # What such a container cannot have, it says, in one line.
  [ "$(grep -c 'metrics.listen.*no launcher.*CAP_SETUID' "$work/container.log")" = 1 ] || die "$(cat "$work/container.log")"
  kill "$exporter" "$daemon"
  wait "$exporter" "$daemon" || true
  become setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set "-all,$caps" \
    lldp-leveld --remove-rules --bpffs /run/lldp-level/bpf &
  wait $! || die 'the rules cannot be removed'
  [ "$(tc filter show dev swp1 ingress | grep -c lldp-level || true)" = 0 ] || die 'rules are left'
  umount "$work/bpf" "$root/run/lldp-level/bpf"
}

# In namespaces of our own: a cable, a peer on level 2, the life of the package.
live() {
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount -t bpf -o mode=700 bpf "$root/sys/fs/bpf"
  ip link set lo up
  ip link add swp1 type veth peer name swp2
  ip link set swp1 up
  ip link set swp2 up
  become lldp-leveld --ports swp2 --backend none --role switch --level 2 --system-name peer \
    --socket /tmp/peer --state-file /tmp/peer.state 2>"$work/peer.log" &
  local peer=$!

  say 'the daemon, as its own user with the capabilities of the unit'
  local began=$EPOCHREALTIME
  start
  sed -i 's/^#ports = .*/ports = swp1/; s/^#qos.lossless = .*/qos.lossless = roce/' "$root/etc/lldp-level/lldp-level.conf"
  within lldp-level wait --timeout 30
  within lldp-level reload
  within lldp-level wait --level 3 --protected --port swp1=downlink --timeout 30
  echo "level and protection: $(awk "BEGIN { printf \"%.2f\", $EPOCHREALTIME - $began }") s after the start"
  within lldp-level show
  [ "$(rules ingress)" -ge 1 ] && [ "$(rules egress)" -ge 1 ] || die 'no rules in the kernel'

  say 'upgrade'
  tc filter show dev swp1 egress >"$work/rules"
  stop
  apt install /tmp/lldp-level-next.deb
  tc filter show dev swp1 egress | cmp - "$work/rules" || die 'the rules changed in the upgrade'
  grep -q '^ports = swp1' "$root/etc/lldp-level/lldp-level.conf" || die 'the configuration was lost'
  kill "$peer"
  wait "$peer" || true
  start
  within lldp-level wait --level 3 --timeout 30 || die 'the level was lost'
  tc filter show dev swp1 egress | cmp - "$work/rules" || die 'the rules changed at the start after it'
  stop

  say 'remove'
  apt remove lldp-level
  [ "$(rules ingress)$(rules egress)" = 00 ] || die 'rules are left'
  [ -z "$(tc qdisc show dev swp1 clsact)" ] || die 'a clsact qdisc is left'
  [ ! -e "$root/sys/fs/bpf/lldp-level" ] || die '/sys/fs/bpf/lldp-level is left'
  [ -e "$root/etc/lldp-level/lldp-level.conf" ] || die 'the configuration was removed without a purge'
  say 'purge'
  apt purge lldp-level
  everything >"$work/after"
  diff "$work/before" "$work/after" || die 'something is left, or missing'
  say 'nothing is left'
}

case ${1:-} in
  --prepare)
    mirror=$2
    prepare
    ;;
  --container) container ;;
  --live) live ;;
  *)
    [ "$(id -u)" = 0 ] || {
      echo 'test-install: skipped: needs root' >&2
      exit 77
    }
    unshare --mount "$0" --prepare "$mirror"
    packaging/test-service.sh "$root" "$root/tmp/lldp-level-next.deb" || [ $? = 77 ]
    # Whatever becomes of it, nothing that it started outlives it.
    unshare --mount --net --pid --fork --kill-child "$0" --container
    unshare --mount --net --pid --fork --kill-child "$0" --live
    rm -rf "$root"
    ;;
esac
