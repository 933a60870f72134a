#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Boots systemd in a copy of TREE, a Debian 12 tree with the package, in namespaces and a cgroup of its own, and holds the service
# and what runs beside it to their promises: each companion is there, once, as its own user and in its own unit, follows reloads,
# comes back whoever of them dies, and goes with the service; the package is upgraded and purged while all of it runs. Wants root.
# test-install.sh calls it; it ends with 77 where systemd cannot be booted so.
#
# usage: packaging/test-service.sh TREE NEXT.DEB
set -euo pipefail
self=$(readlink -f "$0")
kinds='exporter agentx hook'

say() { printf '\033[1m== %s\033[0m\n' "$*"; }
skip() {
  echo "test-service: skipped: $*" >&2
  exit 77
}

# The first process of the namespaces, until it is systemd.
boot() {
  local root=$1 device
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  mount -t bpf -o mode=700 bpf "$root/sys/fs/bpf"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root/dev/pts" "$root/dev/shm"
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ip link set lo up
  ip link add swp1 type veth peer name swp2
  ip link set swp1 up
  ip link set swp2 up
  cd "$root"
  pivot_root . mnt
  exec chroot . /usr/bin/env -i container=lldp-level-test PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    /bin/sh -c 'umount -l /mnt; exec "$0" "$@"' /lib/systemd/systemd --log-target=journal --show-status=no --unit=multi-user.target
}
[ "${1:-}" != --boot ] || boot "$2"

tree=$(readlink -f "$1") next=$(readlink -f "$2")
work=$(mktemp -d "$(dirname "$tree")/service.XXXXXX")
root=$work/root
cgroup=
guest=
cleanup() {
  [ -z "$guest" ] || { kill -KILL "$guest" && wait "$guest" || true; } 2>/dev/null
  if [ -n "$cgroup" ]; then
    echo $$ >"$cgroup/../cgroup.procs"
    for ((i = 0; i < 100; ++i)); do  # what was killed is gone a moment later
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null && break || sleep 0.05
    done
  fi
  rm -rf "$work"
}
trap cleanup EXIT
die() {
  echo "test-service: $*" >&2
  if [ -n "$init" ]; then
    inside systemctl --no-pager --lines=0 status 'lldp-level*' >&2 || true
    inside journalctl --no-pager -n 60 -o short-precise >&2 || true
  fi
  tail -5 "$work/console" >&2
  exit 1
}
init=
inside() {
  nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --root --wd -- \
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
eventually() {
  for ((i = 0; i < 300; ++i)); do
    ! "$@" &>/dev/null || return 0
    sleep 0.05
  done
  die "not in time: $*"
}

mounted=$(awk '$3 == "cgroup2" && $4 ~ /^rw/ { print $2; exit }' /proc/mounts)
[ -n "$mounted" ] || skip 'there is no cgroup2 that may be written'
mkdir "$mounted/lldp-level-test.$$" 2>/dev/null || skip "$mounted cannot be written"
cgroup=$mounted/lldp-level-test.$$
mkdir "$root"
cp -a "$tree/." "$root/"
rm -f "$root/usr/sbin/policy-rc.d"  # here services start
cp "$next" "$root/root/next.deb"
cat >"$root/etc/lldp-level/lldp-level.conf" <<'CONF'
role = switch
ports = swp1
level = 1
metrics.listen = 9001
snmp.agentx = tcp:localhost:705
on-change = echo first; cat; id -un; touch /run/lldp-level/state 2>&1 || true
CONF

echo $$ >"$cgroup/cgroup.procs"
unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup "$self" --boot "$root" >"$work/console" 2>&1 &
guest=$!
eventually grep -q . "/proc/$guest/task/$guest/children"
init=$(tr -d " " <"/proc/$guest/task/$guest/children")
for ((i = 0; i < 400; ++i)); do
  [[ $(inside systemctl is-system-running 2>/dev/null) =~ ^(running|degraded)$ ]] && break
  kill -0 "$guest" 2>/dev/null || break
  sleep 0.05
done
[[ $(inside systemctl is-system-running 2>/dev/null) =~ ^(running|degraded)$ ]] || {
  init=
  tail -3 "$work/console" >&2
  skip 'systemd does not come up here'
}

state() { inside systemctl show -P "$2" "$1"; }
active() { [ "$(state "$1" ActiveState)" = active ]; }
inactive() { [ "$(state "$1" ActiveState)" = inactive ]; }
pids() { sort -n "$cgroup/system.slice/$1/cgroup.procs" 2>/dev/null || true; }  # in the order in which they came
# programs UNIT NAME : how many of that name run in the unit
programs() {
  local pid count=0
  for pid in $(pids "$1"); do
    [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") =~ $2 ]] && count=$((count + 1)) || true
  done
  echo $count
}
one() { [ "$(programs "lldp-level-$1.service" "/lldp-level-$1 ")" = 1 ]; }
none() { [ -z "$(pids "lldp-level-$1.service")" ]; }
scrape() { inside bash -c "exec 3<>/dev/tcp/127.0.0.1/$1; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3" 2>/dev/null; }
answers() { scrape "$1" | grep -q '^lldp_level_up 1'; }
silent() { ! scrape "$1" >/dev/null; }
said() { inside journalctl -q --no-pager -o cat -u "$1" | grep -q "$2"; }
status_of() { sed -n "s/^$2:\t//p" "/proc/$1/status"; }
main() { pids lldp-level.service | head -1; }
configure() {
  sed -i "$1" "$root/etc/lldp-level/lldp-level.conf"
  inside systemctl reload lldp-level
}

say 'the service, with what runs beside it'
eventually active lldp-level.service
inside lldp-level wait --timeout 30
eventually answers 9001
eventually one agentx
daemon=$(main)
# CAP_NET_ADMIN, CAP_NET_RAW, CAP_PERFMON, CAP_BPF, and no more in any set.
for set in CapInh CapPrm CapEff CapBnd; do
  caps=$(status_of "$daemon" $set)
  [ $((0x$caps & ~0xc000003000)) = 0 ] || die "the daemon's $set is $caps"
done
[ "$(pids lldp-level.service | wc -l)" = 1 ] || die 'the daemon has started something by itself'
for kind in exporter agentx; do
  for pid in $(pids "lldp-level-$kind.service"); do
    [ "$(status_of "$pid" Uid | cut -f1)" = "$(inside id -u "lldp-level-$kind")" ] || die "$kind is somebody else"
    for set in CapInh CapPrm CapEff CapBnd CapAmb; do
      [ "$(status_of "$pid" $set)" = 0000000000000000 ] || die "$kind has capabilities"
    done
  done
done
# An alarm, as swp2 is paused: the hook is told, as itself, and may change nothing of the daemon's.
inside lldp-level pause swp1
eventually said lldp-level-hook.service '"event":"alarm-raised"'
eventually said lldp-level-hook.service '^lldp-level-hook$'
eventually said lldp-level-hook.service "cannot touch '/run/lldp-level/state'"
inside lldp-level resume swp1
for kind in $kinds; do
  [ "$(inside stat -c '%U %a' "/run/lldp-level-launch/$kind")" = 'lldp-level 600' ] ||
    die "the socket of $kind is open to others"
done

say 'whoever dies comes back, and once'
kill -KILL "$(pids lldp-level-exporter.service | tail -1)"
eventually one exporter
eventually answers 9001
kill -KILL "$(pids lldp-level-exporter.service | head -1)"  # its launcher
eventually one exporter
eventually answers 9001
kill -KILL "$daemon"
another() { [[ $(main) && $(main) != "$daemon" ]]; }
eventually another
eventually active lldp-level.service
eventually answers 9001
eventually one exporter
eventually one agentx

say 'launchers that cannot be started for a moment'
# systemd closes a socket whose service fails so often, and has it back: the daemon tries again.
launcher=$root/usr/libexec/lldp-level/lldp-level-launcher
chmod 000 "$launcher"
for kind in exporter hook; do kill -KILL "$(pids "lldp-level-$kind.service" | head -1)"; done
inside lldp-level pause swp1
eventually said lldp-level-exporter.socket 'Trigger limit hit'
eventually said lldp-level-hook.socket 'Trigger limit hit'
configure 's/^on-change = .*/on-change = cat; echo later/'
chmod 755 "$launcher"
inside lldp-level resume swp1
eventually answers 9001
eventually one exporter
eventually said lldp-level-hook.service '^later$'

say 'reload'
configure 's/^metrics.listen.*/metrics.listen = 9002/; s/^on-change = .*/on-change = echo second/'
eventually answers 9002
eventually silent 9001
eventually one exporter
inside lldp-level pause swp1
eventually said lldp-level-hook.service '^second$'
inside lldp-level resume swp1
! inside lldp-level set on-change 'echo third' 2>"$work/refused" || die 'what no file says can be set'
grep -q 'goes by the file alone' "$work/refused" || die 'the refusal gives no reason'
configure '/^metrics.listen/d; /^snmp.agentx/d; /^on-change/d'
for kind in $kinds; do eventually none $kind; done
eventually silent 9002
echo 'metrics.listen = 9003' >>"$root/etc/lldp-level/lldp-level.conf"
inside systemctl reload lldp-level
eventually answers 9003
said lldp-level.service 'there is no launcher' && die 'a restart was asked for'

say 'stop and start'
inside systemctl stop lldp-level
for kind in $kinds; do
  eventually inactive "lldp-level-$kind.service"
  eventually inactive "lldp-level-$kind.socket"
  eventually none $kind
done
[ -z "$(inside find /run/lldp-level-launch -type s)" ] || die 'sockets are left'
inside systemctl start lldp-level
eventually answers 9003
inside systemctl restart lldp-level
eventually answers 9003
eventually one exporter

say 'upgrade and purge while it runs'
before=$(main)
inside dpkg -i /root/next.deb >"$work/dpkg" 2>&1 || die "dpkg: $(tail -3 "$work/dpkg")"
eventually active lldp-level.service
[ "$(main)" != "$before" ] || die 'the upgrade has not restarted it'
eventually answers 9003
eventually one exporter
inside dpkg --purge lldp-level >"$work/dpkg" 2>&1 || die "dpkg: $(tail -3 "$work/dpkg")"
no_unit() { [ -z "$(inside systemctl --no-legend --plain list-units 'lldp-level*' | grep -v not-found)" ]; }
eventually no_unit
[ -z "$(pids lldp-level.service)" ] || die 'the daemon is left'
for kind in $kinds; do eventually none $kind; done
[ -z "$(inside find /run /etc /lib /usr /var/lib -xdev -name 'lldp-level*' ! -path '/var/lib/dpkg/*' ! -path '/var/lib/apt/*')" ] ||
  die "left: $(inside find /run /etc /lib /usr /var/lib -xdev -name 'lldp-level*' ! -path '/var/lib/dpkg/*')"
[ -z "$(inside grep lldp-level /etc/passwd)" ] || die 'users are left'
say 'each came, went and came back as it should'
