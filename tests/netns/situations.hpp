// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

/// The rows of docs/operate/situations*.md: what other programs and operators do to a switch.
namespace lldp::netns {

/// What becomes of the packets, and what `check` says.
enum class Ends {
  kRight,  ///< the packets are right, `check` is 0
  kTold,   ///< the packets may be right or not, and `check` is not 0
  kWrong,  ///< the packets are wrong, and `check` is not 0
};

/// The packets that are sent through, and so what is to come out.
enum class Sent {
  kRouted,           ///< of the first class, out in the next
  kBridged,          ///< the same by a bridge
  kBridgedOther,     ///< by a bridge whose netfilter gives them DSCP 10
  kToMacvlan,        ///< to the address of m0
  kTagged,           ///< with VLAN 100, out without
  kPriorityTagged,   ///< with VLAN 0
  kBecomesOther,     ///< of the first class, made DSCP 10 in between
  kBecomesLossless,  ///< lossy, made of the first class in between
  kOfSecond,         ///< of the second class, out lossy
  kAnyAddress,       ///< of the first class, with another source address afterwards
  kWithOptions,
  kFragments,
  kJoined,  ///< fragments of a datagram in two classes, out lossy
  kWithEcn,
  kLossy,  ///< out as they came
  kIpv6,
  kRoutedTwice,  ///< of the first class, on the way through the machine routed twice
  kEncrypted,    ///< of the first class, out in a tunnel
  kDecrypted,    ///< of the first class, in by a tunnel
  kConnection,   ///< of the first class, of a connection that netfilter follows
};

/// A command that begins with @ is one of the test's own; else it is of the shell, with the
/// functions of kShell. Of several, separated by "; ", either all begin so or the first.
struct Situation {
  const char* name = "";  ///< what the table calls it
  const char* does = "";
  Ends ends{};
  const char* told = "";    ///< in what `check` says
  const char* undoes = "";  ///< then all is fine again
  bool fresh = false;  ///< of daemons that have not lost rules before: a loss in a row is an alarm
  Sent sent = Sent::kRouted;
  friend void PrintTo(const Situation& s, std::ostream* os) { *os << s.name; }
};

inline constexpr const char* kShell = R"(
flt() { d=$1 h=$2 p=$3; shift 3; tc qdisc add dev $d clsact 2>/dev/null
  tc filter add dev $d $h pref $p protocol ${OF:-ip} u32 match u32 0 0 "$@"; }
unflt() { tc filter del dev $1 $2 pref $3; }
prog() { tc qdisc add dev $1 clsact 2>/dev/null
  tc filter add dev $1 $2 pref $3 protocol all bpf da object-file $PROBE program $4; }
routes() { ip addr replace 192.0.2.254/24 dev ${1:-p0}; ip addr replace 198.51.100.254/24 dev ${2:-p1}
  ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev ${2:-p1}; }
br() { ip link add br0 address 02:00:00:00:00:09 up type bridge "$@" && ip link set p0 master br0 &&
  ip link set p1 master br0; }
unbr() { ip link del br0; routes; }
macvlan() { ip link add link p0 name m0 address 02:00:00:00:00:07 up type macvlan mode ${1:-bridge} &&
  ip addr flush dev p0 && routes m0; }
unmacvlan() { ip link del m0; routes; }
pair() { ip link add m0 address 02:00:00:00:00:03 up type veth peer name m1 && ip link set m1 up &&
  ip link add br0 up type bridge && ip link set m1 master br0 && ip link set p1 master br0 &&
  ip addr del 198.51.100.254/24 dev p1 && routes p0 m0; }
unpair() { ip link del m0; ip link del br0; routes; }
bond() { ip addr flush dev p$1; ip link add bond$1 type bond mode ${2:-active-backup} && ip link set p$1 down &&
  ip link set p$1 master bond$1 && ip link set bond$1 up && ip link set p$1 up; }
unbond() { ip link del bond$1; ip link set p$1 up; routes; }
macsec() { ip link add link $1 name $2 type macsec encrypt on && ip link set $2 up &&
  ip macsec add $2 tx sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff &&
  ip macsec add $2 rx port 1 address 02:00:00:00:00:$3 &&
  ip macsec add $2 rx port 1 address 02:00:00:00:00:$3 sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff; }
twice() { ip link set m0 up && ip link set $1 up && ip route add default dev m0 $2 table 77 && ip rule add iif p0 lookup 77; }
macvlans() { ip link add e0 up type bridge && ip link add m0 link e0 type macvlan mode bridge &&
  ip link add m1 link e0 address 02:00:00:00:00:0b type macvlan mode bridge && twice m1 'via 203.0.113.2 onlink' &&
  ip neigh replace 203.0.113.2 lladdr 02:00:00:00:00:0b dev m0; }
unmacvlans() { untwice; ip link del e0; }
untwice() { ip rule del iif p0 lookup 77; ip link del m0; }
esp() { ip link add m0 up type xfrm dev p0 if_id 7 && ip xfrm state add src $1 dst $2 proto esp spi 7 reqid 7 mode tunnel \
  if_id 7 enc 'ecb(cipher_null)' '' && ip xfrm policy add dir $3 src 0.0.0.0/0 dst 0.0.0.0/0 if_id 7 \
  tmpl src $1 dst $2 proto esp reqid 7 mode tunnel; }
unesp() { ip xfrm policy flush; ip xfrm state flush; ip link del m0; }
mangle() { nft "add table ip t; add chain ip t c { type filter hook $1 priority $2; }; add rule ip t c $3"; }
unmangle() { nft delete table ip t; }
netdev() { nft "add table netdev t; add chain netdev t s; add chain netdev t c { type filter hook $1 device $2 priority 0; }" &&
  shift 2 && for r in "$@"; do nft "add rule netdev t $r" || return; done; }
unnetdev() { nft delete table netdev t; }
inet_ingress() { nft "add table inet t; add chain inet t c { type filter hook ingress device $1 priority 0; }; add rule inet t c $2"; }
uninet() { nft delete table inet t; }
far() { ip link add ifb0 address 02:00:00:00:00:03 up type ifb && ip route replace 198.51.100.2/32 dev ifb0 &&
  ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev ifb0 &&
  ip rule add iif p1 lookup 77 && ip route replace 198.51.100.2/32 dev p1 table 77; }
unfar() { ip link del ifb0; ip rule del iif p1 lookup 77; ip route flush table 77; tc actions flush action mirred; true; }
red() { tc qdisc replace dev p1 root handle 1: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn \
  probability 0.1 bandwidth 10Mbit qevent $1 block 8; }
every() { (while :; do eval "$2"; sleep $1; done) >/dev/null 2>&1 & echo $! >$DIR/loop; sleep 1; }
enough() { kill $(cat $DIR/loop); }
AWAY="action mirred egress redirect dev lo"
XMIT="encap bpf xmit obj $ROUTE sec lwt_xmit"
)";

}  // namespace lldp::netns
