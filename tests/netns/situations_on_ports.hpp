// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/netns/situations.hpp"

namespace lldp::netns {

/// What happens to ports, their filters, and the interfaces around them.
inline const Situation kOnPorts[] = {
    {"nothing is wrong", "", Ends::kRight},
    // filters
    {"a filter before the rules redirects at the ingress (clsact)",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 1 protocol ip u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 1"},
    {"a filter behind the rules redirects out of a port",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 100"},
    {"a filter behind the rules redirects into the ingress of another interface",
     "ip link add ifb0 up type ifb; tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 "
     "ingress pref 100 protocol ip u32 match u32 0 0 action mirred ingress redirect dev ifb0",
     Ends::kTold, "classify bypassed", "tc filter del dev p0 ingress pref 100; ip link del ifb0"},
    {"a filter behind the rules sends a copy out (a mirror port)",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 action mirred egress mirror dev lo",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 100"},
    {"a filter behind the rules ends the ingress with TC_ACT_OK and a class",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip "
     "u32 match "
     "u32 0 0 flowid 1:7",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 100"},
    {"the same with a macvlan on the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; tc qdisc add dev p0 clsact "
     "2>/dev/null; tc filter add dev p0 ingress pref 100 protocol ip u32 match u32 0 0 flowid 1:7",
     Ends::kTold, "packets that go on by m0 are known",
     "tc filter del dev p0 ingress pref 100; ip link del m0"},
    {"a filter on a macvlan of the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; tc qdisc add dev m0 clsact; tc "
     "filter "
     "add dev m0 ingress pref 9 protocol ip u32 match u32 0 0 flowid 1:7",
     Ends::kTold, "on m0, which stands on this port", "ip link del m0"},
    {"a macvlan on the port", "ip link add link p0 name m0 up type macvlan mode bridge",
     Ends::kRight, "", "ip link del m0"},
    {"a filter behind the rules at the egress ends it with a class",
     "tc qdisc add dev p1 clsact 2>/dev/null; tc filter add dev p1 egress pref 100 protocol ip u32 "
     "match "
     "u32 0 0 flowid 1:7",
     Ends::kRight, "", "tc filter del dev p1 egress pref 100"},
    {"a filter behind the rules redirects at the egress",
     "tc qdisc add dev p1 clsact 2>/dev/null; tc filter add dev p1 egress pref 100 protocol ip u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kTold, "remap bypassed", "tc filter del dev p1 egress pref 100"},
    {"a filter of another protocol before the rules",
     "tc qdisc add dev p0 clsact 2>/dev/null; tc filter add dev p0 ingress pref 1 protocol arp u32 "
     "match "
     "u32 0 0 action mirred egress redirect dev lo",
     Ends::kRight, "", "tc filter del dev p0 ingress pref 1"},
    {"all filters of a port are deleted",
     "tc filter del dev p0 ingress; tc filter del dev p0 egress; true", Ends::kRight},
    {"the clsact qdisc of a port is deleted", "tc qdisc del dev p0 clsact; true", Ends::kRight},
    {"a root qdisc is configured",
     "tc qdisc replace dev p1 root tbf rate 1gbit burst 1m latency 1s", Ends::kRight, "",
     "tc qdisc del dev p1 root"},
    // XDP
    {"an XDP program on the port that packets come in by",
     "ip link set dev p0 xdpgeneric obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p0 xdpgeneric off"},
    {"an XDP program on the port that packets leave by",
     "ip link set dev p1 xdpgeneric obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p1 xdpgeneric off"},
    {"an XDP program on a macvlan of the port",
     "ip link add link p0 name m0 up type macvlan mode bridge; ip link set dev m0 xdpgeneric obj "
     "$XDP sec xdp",
     Ends::kTold, "on m0, which stands on this port", "ip link del m0"},
    // BPF file system
    {"the links of the rules are removed from the BPF file system",
     "rm -f $BPFFS/lldp-level/*/port-*", Ends::kRight},
    {"the directory of the rules is removed", "rm -rf $BPFFS/lldp-level", Ends::kRight},
    {"--remove-rules beside the daemon", "$LEVELD --remove-rules --config $CONF 2>/dev/null; true",
     Ends::kRight, "", "", true},
    // links
    {"a port loses its carrier and gets it back",
     "ip link set q1 down; sleep 0.2; ip link set q1 up", Ends::kRight},
    {"a port is set down and up, and loses its addresses",
     "ip link set p1 down; ip link set p1 up; ip addr replace 198.51.100.254/24 dev p1; ip neigh "
     "replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1",
     Ends::kRight},
    {"a port gets another MTU", "ip link set p1 mtu 1400", Ends::kRight, "",
     "ip link set p1 mtu 1500"},
    {"a port is renamed and `ports` has its old name",
     "ip link set p1 down; ip link set p1 name x1; ip link set x1 up; ip addr replace "
     "198.51.100.254/24 dev x1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev x1",
     Ends::kWrong, "alarm port-missing p1",
     "ip link set x1 down; ip link set x1 name p1; ip link set p1 up; ip addr replace "
     "198.51.100.254/24 dev p1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1"},
    {"the ports stand in a bridge, whose own address routes",
     "ip addr flush dev p0; ip addr flush dev p1; ip link add br0 address 02:00:00:00:00:03 up "
     "type "
     "bridge; ip link set p0 master br0; ip link set p1 master br0; ip addr add 192.0.2.254/24 dev "
     "br0; ip addr add 198.51.100.254/24 dev br0; ip neigh replace 198.51.100.2 lladdr "
     "02:00:00:00:00:04 dev br0",
     Ends::kRight, "",
     "ip link del br0; ip addr replace 192.0.2.254/24 dev p0; ip addr replace 198.51.100.254/24 "
     "dev "
     "p1; ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1"},
    {"forwarding derives no priority from the TOS octet",
     "echo 0 >/proc/sys/net/ipv4/ip_forward_update_priority", Ends::kRight, "",
     "echo 1 >/proc/sys/net/ipv4/ip_forward_update_priority"},
    {"the TCX links of the rules are detached by force",
     "for l in $BPFFS/lldp-level/*/port-*; do bpftool link detach pinned $l; done", Ends::kRight,
     "", "", true},
    // daemons
    {"the daemon hangs", "kill -STOP $LEAF_PID", Ends::kTold, "UNKNOWN", "kill -CONT $LEAF_PID"},
    {"the daemon of a neighbor hangs", "kill -STOP $SPINE_PID", Ends::kRight, "",
     "kill -CONT $SPINE_PID"},
    // requests
    {"a port is paused", "$LEVEL pause p1 --socket $SOCKET", Ends::kTold, "alarm silent p1",
     "$LEVEL resume p1 --socket $SOCKET"},
    {"a key is set on request", "$LEVEL set infer.raise-hold 59 --socket $SOCKET", Ends::kTold,
     "alarm set", "$LEVEL reload --socket $SOCKET"},
    // more filters
    {"a filter before the rules redirects at the egress", "flt p1 egress 1 $AWAY", Ends::kTold,
     "remap bypassed", "unflt p1 egress 1"},
    {"a filter before the rules of another protocol at the egress", "OF=arp flt p1 egress 1 $AWAY",
     Ends::kRight, "", "unflt p1 egress 1"},
    {"a filter of a chain that nothing leads to", "flt p0 ingress '1 chain 9' $AWAY", Ends::kRight,
     "", "tc filter del dev p0 ingress chain 9"},
    {"a filter behind the rules sends a copy into the ingress of another interface",
     "ip link add ifb0 up type ifb; flt p0 ingress 100 action mirred ingress mirror dev ifb0",
     Ends::kTold, "classify bypassed", "unflt p0 ingress 100; ip link del ifb0"},
    {"a filter behind the rules sends a copy out at the egress",
     "flt p1 egress 100 action mirred egress mirror dev lo", Ends::kRight, "",
     "unflt p1 egress 100"},
    {"a filter at the egress of a port sends a copy out of another port",
     "flt p1 egress 100 action mirred egress mirror dev p0", Ends::kTold, "remap bypassed",
     "unflt p1 egress 100"},
    // interfaces that have nothing to do with a port
    {"a filter elsewhere sends packets into the ingress of a port",
     "far; flt ifb0 egress 9 action mirred ingress redirect dev p1", Ends::kTold,
     "p1: classify bypassed: a filter (u32, preference 9) at the egress of ifb0", "unfar"},
    {"a filter elsewhere sends a copy into the ingress of a port",
     "far; flt ifb0 egress 9 action mirred ingress mirror dev p1", Ends::kTold,
     "p1: classify bypassed: a filter (u32, preference 9) at the egress of ifb0", "unfar"},
    {"a filter of a root qdisc elsewhere sends packets into the ingress of a port",
     "far; tc qdisc replace dev ifb0 root handle 1: htb && tc filter add dev ifb0 parent 1: pref 9 "
     "protocol ip u32 match u32 0 0 action mirred ingress redirect dev p1",
     Ends::kTold, "p1: classify bypassed: a filter of the root qdisc (u32, preference 9)", "unfar"},
    {"a filter of another chain elsewhere sends packets into the ingress of a port",
     "far; flt ifb0 egress '9 chain 7' action mirred ingress redirect dev p1; flt ifb0 egress 9 "
     "action mirred egress mirror dev lo goto chain 7",
     Ends::kTold, "p1: classify bypassed: a filter (u32, preference 9) at the egress of ifb0",
     "unfar"},
    {"the action of a filter elsewhere is changed, and sends packets into the ingress of a port",
     "far; tc actions add action mirred egress redirect dev p1 index 7 && flt ifb0 egress 9 action "
     "mirred index 7 && tc actions replace action mirred ingress redirect dev p1 index 7",
     Ends::kTold, "p1: classify bypassed: a filter (u32, preference 9) at the egress of ifb0",
     "unfar"},
    {"a filter elsewhere sends packets out of a port",
     "far; flt ifb0 egress 9 action mirred egress redirect dev p1", Ends::kRight, "", "unfar"},
    {"a filter elsewhere of another protocol would send packets into the ingress of a port",
     "far; flt ifb0 egress 8 action mirred egress redirect dev p1; OF=arp flt ifb0 egress 9 action "
     "mirred ingress redirect dev p1",
     Ends::kRight, "", "unfar"},
    {"an action that no filter has would send packets into the ingress of a port",
     "tc actions add action mirred ingress redirect dev p1 index 7", Ends::kRight, "",
     "tc actions flush action mirred"},
    {"a filter on an interface elsewhere chooses a class",
     "ip link add ifb0 up type ifb; flt ifb0 egress 9 flowid 1:7", Ends::kRight, "", "unfar"},
    {"a program of another on an interface elsewhere",
     "ip link add ifb0 up type ifb; prog ifb0 egress 9 stranger", Ends::kTold,
     "classify bypassed: a filter (bpf, preference 9) at the egress of ifb0", "unfar"},
    {"a TCX program of another on an interface that has nothing to do with a port",
     "ip link add ifb0 up type ifb; @tcx ifb0 egress", Ends::kTold,
     "at the egress of ifb0 may send packets into the ingress of this port", "@detach; unfar"},
    {"a program of another on a netkit device elsewhere", "ip link add m0 type netkit; @netkit m0",
     Ends::kTold, "a netkit program (", "@detach; ip link del m0"},
    {"an interface elsewhere goes with a program of another on it",
     "ip link add ifb0 up type ifb; prog ifb0 egress 9 stranger; $LEVEL check --socket $SOCKET "
     ">/dev/null; ip "
     "link del ifb0",
     Ends::kRight},
    {"five hundred harmless filters stand behind the rules",
     "tc qdisc add dev p0 clsact 2>/dev/null; for i in $(seq 500); do echo filter add dev p0 "
     "ingress pref $((100 + i)) protocol ip u32 match u32 $i 0xffffffff flowid 1:7; done | tc "
     "-batch -",
     Ends::kRight, "", "tc filter del dev p0 ingress"},
    {"a program of another behind the rules at the ingress", "prog p0 ingress 100 stranger",
     Ends::kTold, "classify bypassed", "unflt p0 ingress 100"},
    {"a program of another before the rules at the ingress (clsact)", "prog p0 ingress 1 stranger",
     Ends::kTold, "classify bypassed", "unflt p0 ingress 1"},
    {"a program of another before the rules lets none come after it (clsact)",
     "prog p0 ingress 1 last_word", Ends::kTold, "classify bypassed", "unflt p0 ingress 1"},
    {"a program of another behind the rules at the egress", "prog p1 egress 100 stranger",
     Ends::kTold, "remap bypassed", "unflt p1 egress 100"},
    {"a program of another before the rules at the egress (clsact)", "prog p1 egress 1 last_word",
     Ends::kTold, "remap bypassed", "unflt p1 egress 1"},
    {"a TCX program of another before the rules at the ingress", "@tcx p0 ingress", Ends::kTold,
     "a TCX program", "@detach"},
    {"a TCX program of another before the rules at the egress", "@tcx p1 egress", Ends::kTold,
     "a TCX program", "@detach"},
    {"a filter of a block that ports share redirects",
     "tc qdisc del dev p0 clsact 2>/dev/null; tc qdisc add dev p0 ingress_block 22 clsact && tc "
     "filter add block 22 pref 9 protocol ip u32 match u32 0 0 $AWAY",
     Ends::kTold, "classify bypassed", "tc qdisc del dev p0 clsact"},
    {"a filter of a shared block at the egress redirects",
     "tc qdisc del dev p1 clsact 2>/dev/null; tc qdisc add dev p1 egress_block 23 clsact && tc "
     "filter add block 23 pref 9 protocol ip u32 match u32 0 0 $AWAY",
     Ends::kTold, "remap bypassed", "tc qdisc del dev p1 clsact"},
    {"an ingress qdisc takes the place of clsact",
     "tc qdisc del dev p0 clsact 2>/dev/null; tc qdisc add dev p0 ingress", Ends::kRight, "",
     "tc qdisc del dev p0 ingress"},
    {"an ingress qdisc with a filter that redirects",
     "tc qdisc del dev p0 clsact 2>/dev/null; tc qdisc add dev p0 ingress; tc filter add dev p0 "
     "parent ffff: pref 9 protocol ip u32 match u32 0 0 $AWAY",
     Ends::kTold, "classify bypassed", "tc qdisc del dev p0 ingress"},
    {"a filter changes DSCP behind the rules (pedit)",
     "flt p0 ingress 100 action pedit ex munge ip dsfield set 0 retain 0xfc", Ends::kTold,
     "classify bypassed", "unflt p0 ingress 100"},
    {"a filter changes DSCP behind the rules at the egress (pedit)",
     "flt p1 egress 100 action pedit ex munge ip dsfield set 0 retain 0xfc", Ends::kTold,
     "remap bypassed", "unflt p1 egress 100"},
    {"a filter changes the priority behind the rules (skbedit)",
     "flt p1 egress 100 action skbedit priority 0", Ends::kTold, "remap bypassed",
     "unflt p1 egress 100"},
    {"a filter counts and drops none behind the rules (gact)", "flt p0 ingress 100 action pass",
     Ends::kRight, "", "unflt p0 ingress 100"},
    {"a policer behind the rules", "flt p0 ingress 100 action police rate 1gbit burst 1m",
     Ends::kRight, "", "unflt p0 ingress 100"},
    {"a filter ends the ingress, and a macvlan that is down stands on the port",
     "flt p0 ingress 100 flowid 1:7; ip link add link p0 name m0 type macvlan mode bridge",
     Ends::kRight, "", "unflt p0 ingress 100; ip link del m0"},
    {"a policer passes packets behind the rules by pass, and a macvlan stands on the port",
     "macvlan && flt p0 ingress 100 action police rate 1gbit burst 1m conform-exceed drop",
     Ends::kTold, "a filter (u32, preference 100) behind the rules ends the hook",
     "unflt p0 ingress 100; unmacvlan", false, Sent::kToMacvlan},
    {"a policer passes packets behind the rules by pipe, and a macvlan stands on the port",
     "macvlan && flt p0 ingress 100 action police rate 1gbit burst 1m conform-exceed drop/pipe",
     Ends::kRight, "", "unflt p0 ingress 100; unmacvlan", false, Sent::kToMacvlan},
    {"a policer passes packets by pipe on a macvlan that stands on the port",
     "macvlan && flt m0 ingress 100 action police rate 1gbit burst 1m conform-exceed drop/pipe",
     Ends::kRight, "", "unmacvlan", false, Sent::kToMacvlan},
    {"a filter goes to another chain behind the rules (gact)",
     "flt p0 ingress 100 action goto chain 7", Ends::kTold, "classify bypassed",
     "unflt p0 ingress 100"},
    {"a mirror behind the rules goes to another chain",
     "flt p1 egress 100 action mirred egress mirror dev lo goto chain 7", Ends::kTold,
     "remap bypassed", "unflt p1 egress 100"},
    {"a filter is replaced every 100 ms",
     "every 0.1 'flt p0 ingress 100 flowid 1:7; unflt p0 ingress 100'", Ends::kRight, "",
     "enough; unflt p0 ingress 100; true"},
    {"a program deletes all filters every 100 ms",
     "every 0.1 'tc filter del dev p0 ingress; tc filter del dev p1 egress'", Ends::kRight, "",
     "enough"},
    {"a program deletes clsact every second", "every 1 'tc qdisc del dev p1 clsact'", Ends::kRight,
     "", "enough"},
    // queues
    {"the root qdisc is replaced by htb with classes and filters",
     "tc qdisc replace dev p1 root handle 1: htb default 10 && tc class add dev p1 parent 1: "
     "classid 1:10 htb rate 1gbit && tc filter add dev p1 parent 1: protocol ip u32 match u32 0 0 "
     "flowid 1:10",
     Ends::kRight, "", "tc qdisc del dev p1 root"},
    {"a filter of the root qdisc sends packets out of another interface",
     "tc qdisc replace dev p1 root handle 1: htb default 10 && tc class add dev p1 parent 1: "
     "classid 1:10 htb rate 1gbit && tc filter add dev p1 parent 1: protocol ip u32 match u32 0 0 "
     "$AWAY",
     Ends::kTold, "remap bypassed", "tc qdisc del dev p1 root"},
    {"a filter of a class within the root qdisc sends packets out of another interface",
     "tc qdisc replace dev p1 root handle 1: htb default 10 && tc class add dev p1 parent 1: "
     "classid 1:10 htb rate 1gbit && tc class add dev p1 parent 1:10 classid 1:20 htb rate 1gbit "
     "&& "
     "tc filter add dev p1 parent 1: protocol ip u32 match u32 0 0 flowid 1:10 && tc filter add "
     "dev "
     "p1 parent 1:10 protocol ip u32 match u32 0 0 flowid 1:20 $AWAY",
     Ends::kTold, "remap bypassed", "tc qdisc del dev p1 root"},
    {"RED sends packets that it would drop out of another interface (qevent)",
     "red early_drop && tc filter add block 8 pref 9 protocol ip u32 match u32 0 0 $AWAY",
     Ends::kTold, "p1: remap bypassed: a filter of block 8 of the qdisc 1:0 (u32, preference 9)",
     "tc qdisc del dev p1 root"},
    {"RED sends a copy of packets that it marks out of another interface (qevent)",
     "red mark && tc filter add block 8 pref 9 protocol ip u32 match u32 0 0 action mirred egress "
     "mirror dev lo",
     Ends::kRight, "", "tc qdisc del dev p1 root"},
    {"RED changes DSCP of packets that it marks (qevent, pedit)",
     "red mark && tc filter add block 8 pref 9 protocol ip u32 match u32 0 0 action pedit ex munge "
     "ip dsfield set 0 retain 0xfc",
     Ends::kTold, "p1: remap bypassed: a filter of block 8", "tc qdisc del dev p1 root"},
    {"RED without filters of its events", "red early_drop", Ends::kRight, "",
     "tc qdisc del dev p1 root"},
    {"the root qdisc is replaced by pfifo", "tc qdisc replace dev p1 root pfifo limit 100",
     Ends::kRight, "", "tc qdisc del dev p1 root"},
    {"the root qdisc is replaced by prio", "tc qdisc replace dev p1 root prio", Ends::kRight, "",
     "tc qdisc del dev p1 root"},
    {"the root qdisc is replaced by ets",
     "tc qdisc replace dev p1 root ets bands 8 strict 8 priomap 0 1 2 3 4 5 6 7", Ends::kRight, "",
     "tc qdisc del dev p1 root"},
    {"the root qdisc is replaced by fq_codel", "tc qdisc replace dev p1 root fq_codel",
     Ends::kRight, "", "tc qdisc del dev p1 root"},
    {"the root qdisc clears the DSCP (cake wash)", "tc qdisc replace dev p1 root cake wash",
     Ends::kTold, "remap bypassed", "tc qdisc del dev p1 root"},
    {"the root qdisc delays packets (netem)", "tc qdisc replace dev p1 root netem delay 1ms",
     Ends::kRight, "", "tc qdisc del dev p1 root"},
    {"the qdiscs of a port are replaced every 200 ms",
     "every 0.2 'tc qdisc replace dev p1 root tbf rate 1gbit burst 1m latency 1s; tc qdisc del dev "
     "p1 root'",
     Ends::kRight, "", "enough; tc qdisc del dev p1 root; true"},
    // more XDP
    {"an XDP program in the driver of the port that packets come in by",
     "ip link set dev p0 xdpdrv obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p0 xdpdrv off"},
    {"an XDP program in the driver of the port that packets leave by",
     "ip link set dev p1 xdpdrv obj $XDP sec xdp", Ends::kTold, "an XDP program",
     "ip link set dev p1 xdpdrv off"},
    {"an XDP program by a link", "@xdp p0", Ends::kTold, "an XDP program", "@detach"},
    {"an XDP program at the other end of the link",
     "ip link set dev q1 xdpgeneric obj $XDP sec xdp", Ends::kRight, "",
     "ip link set dev q1 xdpgeneric off"},
    {"an XDP program on the bridge that the ports stand in",
     "br; ip link set dev br0 xdpgeneric obj $XDP sec xdp", Ends::kTold,
     "on br0, which stands on this port", "unbr", false, Sent::kBridged},
    // bridges and other upper devices
    {"the ports stand in a bridge", "br", Ends::kRight, "", "unbr", false, Sent::kBridged},
    {"the ports stand in a bridge that filters VLANs", "br vlan_filtering 1", Ends::kRight, "",
     "unbr", false, Sent::kBridged},
    {"a bridge whose ports are isolated from others",
     "br; ip link set p0 type bridge_slave hairpin on; ip link set p1 type bridge_slave learning "
     "off",
     Ends::kRight, "", "unbr", false, Sent::kBridged},
    {"a filter on the bridge that the ports stand in", "br; flt br0 ingress 9 flowid 1:7",
     Ends::kTold, "on br0, which stands on this port", "unbr", false, Sent::kBridged},
    {"nftables sets another DSCP in a bridge",
     "br; nft 'add table bridge t; add chain bridge t c { type filter hook forward priority 0; }; "
     "add rule bridge t c ip dscp set 10'",
     Ends::kRight, "", "nft delete table bridge t; unbr", false, Sent::kBridgedOther},
    {"a tap device stands in the bridge",
     "br; ip tuntap add t0 mode tap; ip link set t0 up master br0", Ends::kRight, "",
     "unbr; ip tuntap del t0 mode tap", false, Sent::kBridged},
    {"the ports join a bridge and leave it again and again",
     "for i in 1 2 3 4 5; do br; unbr; done", Ends::kRight, "", ""},
    {"packets come in by a macvlan of the port", "macvlan", Ends::kRight, "", "unmacvlan", false,
     Sent::kToMacvlan},
    {"the macvlan is in private mode", "macvlan private", Ends::kRight, "", "unmacvlan", false,
     Sent::kToMacvlan},
    {"the macvlan is in vepa mode", "macvlan vepa", Ends::kRight, "", "unmacvlan", false,
     Sent::kToMacvlan},
    {"a TCX program of another on the macvlan that packets come in by", "macvlan; @tcx m0 ingress",
     Ends::kTold, "on m0, which stands on this port", "@detach; unmacvlan", false,
     Sent::kToMacvlan},
    {"a macvlan of the port is in a container",
     "ip link add link p0 name m0 type macvlan mode bridge && "
     "ip netns add situation && ip link set m0 netns situation",
     Ends::kRight, "", "ip netns del situation"},
    {"a macvtap on the port", "ip link add link p0 name m0 up type macvtap mode bridge",
     Ends::kRight, "", "ip link del m0"},
    {"an ipvlan on the port", "ip link add link p0 name m0 up type ipvlan mode l2", Ends::kRight,
     "", "ip link del m0"},
    {"a VXLAN device on a port",
     "ip link add vx0 up type vxlan id 7 dstport 4789 dev p1 remote "
     "198.51.100.2",
     Ends::kRight, "", "ip link del vx0"},
    {"a VLAN on the port that packets come in by",
     "ip link add link p0 name p0.100 up type vlan id 100", Ends::kRight, "", "ip link del p0.100"},
    {"packets come in by a VLAN of the port",
     "ip link add link p0 name p0.100 up type vlan id 100 && ip addr flush dev p0 && routes p0.100",
     Ends::kRight, "", "ip link del p0.100; routes", false, Sent::kTagged},
    {"a VLAN with a map of priorities",
     "ip link add link p0 name p0.100 up type vlan id 100 ingress-qos-map 0:3 egress-qos-map 5:1 "
     "&& ip "
     "addr flush dev p0 && routes p0.100",
     Ends::kRight, "", "ip link del p0.100; routes", false, Sent::kTagged},
    {"a filter on the VLAN that packets come in by",
     "ip link add link p0 name p0.100 up type vlan id 100 && flt p0.100 ingress 9 flowid 1:7",
     Ends::kTold, "on p0.100, which stands on this port", "ip link del p0.100"},
    {"a TCX program of another on the VLAN that packets come in by",
     "ip link add link p0 name p0.100 up type vlan id 100 && ip addr flush dev p0 && routes "
     "p0.100; "
     "@tcx p0.100 ingress",
     Ends::kTold, "on p0.100, which stands on this port", "@detach; ip link del p0.100; routes",
     false, Sent::kTagged},
    {"packets come in by a bond of the port", "bond 0 && routes bond0", Ends::kRight, "",
     "unbond 0"},
    {"packets leave by a bond of the port", "bond 1 && routes p0 bond1", Ends::kRight, "",
     "unbond 1"},
    {"packets come in by a VLAN of a bond of the port",
     "bond 0 balance-xor && ip link add link bond0 name bond0.100 up type vlan id 100 && routes "
     "bond0.100",
     Ends::kRight, "", "ip link del bond0.100; unbond 0", false, Sent::kTagged},
    {"a filter on the bond that packets come in by",
     "bond 0 && routes bond0 && flt bond0 ingress 9 flowid 1:7", Ends::kTold,
     "on bond0, which stands on this port", "unbond 0"},
    {"a TCX program of another on the bond that packets come in by",
     "bond 0 && routes bond0; @tcx bond0 ingress", Ends::kTold,
     "on bond0, which stands on this port", "@detach; unbond 0"},
    {"MACsec on the port that packets leave by",
     "macsec p1 m0 04 && ip addr flush dev p1 && routes p0 m0", Ends::kTold,
     "see packets of m0 encrypted (MACsec)", "ip link del m0; routes"},
    {"packets leave by a tunnel of IPsec",
     "esp 198.51.100.254 198.51.100.3 out && ip route add 198.51.100.2/32 dev m0 && ip neigh "
     "replace "
     "198.51.100.3 lladdr 02:00:00:00:00:04 dev p1",
     Ends::kRight, "", "unesp", false, Sent::kEncrypted},
    {"packets come in by a tunnel of IPsec", "esp 192.0.2.2 192.0.2.254 fwd", Ends::kRight, "",
     "unesp", false, Sent::kDecrypted},
    {"packets pass a veth pair between two tables of routes",
     "ip link add m0 type veth peer name m1 address 02:00:00:00:00:0b && twice m1 'via 203.0.113.2 "
     "onlink' && ip neigh replace 203.0.113.2 lladdr 02:00:00:00:00:0b dev m0",
     Ends::kRight, "", "untwice", false, Sent::kRoutedTwice},
    {"packets pass a netkit pair between two tables of routes",
     "ip link add m0 type netkit && twice nk0", Ends::kRight, "", "untwice", false,
     Sent::kRoutedTwice},
    {"the ports stand in a VRF",
     "ip link add m0 up type vrf table 77 && ip link set p0 master m0 && ip link set p1 master m0 "
     "&& routes",
     Ends::kRight, "", "ip link del m0; routes"},
    // names and places
    {"a port gets a second name", "ip link property add dev p1 altname swp1", Ends::kRight, "",
     "ip link property del dev p1 altname swp1"},
    {"a port gets an alias", "ip link set p1 alias uplink", Ends::kRight, "",
     "ip link set p1 alias ''"},
    {"a port is moved to another namespace and back",
     "ip netns add situation && ip link set p1 netns situation && sleep 0.3 && ip -n situation "
     "link set p1 netns $LEAF_PID && ip netns del situation && ip link set p1 up && routes",
     Ends::kRight, "", "ip netns del situation; true", true},
    {"a port is in another namespace", "ip netns add situation && ip link set p1 netns situation",
     Ends::kTold, "alarm port-missing p1",
     "ip -n situation link set p1 netns $LEAF_PID; ip netns del situation; ip link set p1 up; "
     "routes",
     true},
    {"another interface takes the name of a port",
     "ip link set p1 down; ip link set p1 name x1; ip link set x1 up; routes p0 x1; ip link add p1 "
     "up type "
     "veth peer name p2; ip link set p2 up",
     Ends::kTold, "alarm port-missing p1",
     "ip link del p1; ip link set x1 down; ip link set x1 name p1; ip link set p1 up; "
     "routes",
     true},
    {"the ports swap their names",
     "ip link set p0 down; ip link set p1 down; ip link set p0 name x1; ip link set p1 name p0; ip "
     "link set "
     "x1 name p1; ip link set p0 up; ip link set p1 up; routes p1 p0",
     Ends::kRight, "",
     "ip link set p0 down; ip link set p1 down; ip link set p0 name x1; ip link set p1 name p0; ip "
     "link set "
     "x1 name p1; ip link set p0 up; ip link set p1 up; routes",
     true},
    {"a port is promiscuous, as under a capture",
     "ip link set p1 promisc on; ip link set p0 promisc on", Ends::kRight, "",
     "ip link set p1 promisc off; ip link set p0 promisc off"},
    {"checksum and segmentation offloads are off",
     "ethtool -K p0 tx off gro off tso off 2>/dev/null; ethtool -K p1 tx off gro off tso off",
     Ends::kRight, "",
     "ethtool -K p0 tx on gro on tso on; ethtool -K p1 tx on gro on tso on; true"},
    {"the kernel puts packets into lists (rx-gro-list)", "ethtool -K p0 rx-gro-list on",
     Ends::kTold, "rx-gro-list is on", "ethtool -K p0 rx-gro-list off"},
    {"the kernel puts packets into lists, and the daemon may not read features",
     "ethtool -K p0 rx-gro-list on; @refuse features", Ends::kTold,
     "whether rx-gro-list is on at p", "ethtool -K p0 rx-gro-list off; @stop leaf; @start leaf",
     true},
    {"the kernel gathers packets of UDP (rx-udp-gro-forwarding)",
     "ethtool -K p0 gro on rx-udp-gro-forwarding on && ethtool -K p1 gro on rx-udp-gro-forwarding "
     "on",
     Ends::kRight, "",
     "ethtool -K p0 rx-udp-gro-forwarding off; ethtool -K p1 rx-udp-gro-forwarding off"},
    {"offloads of VLANs are off",
     "ethtool -K p0 rxvlan off txvlan off && ethtool -K p1 rxvlan off txvlan off", Ends::kRight, "",
     "ethtool -K p0 rxvlan on txvlan on; ethtool -K p1 rxvlan on txvlan on", false,
     Sent::kPriorityTagged},
    {"the queue of a port gets another length", "ip link set p1 txqueuelen 10", Ends::kRight, "",
     "ip link set p1 txqueuelen 1000"},
    {"a port gets a hundred addresses",
     "for i in $(seq 100); do echo addr add 203.0.113.$i/32 dev p1; done | ip -batch -",
     Ends::kRight, "",
     "for i in $(seq 100); do echo addr del 203.0.113.$i/32 dev p1; done | ip -batch -"},
    {"fifty interfaces of containers come and go",
     "for i in $(seq 50); do echo link add c$i type veth peer name d$i; echo link del c$i; done | "
     "ip -batch -",
     Ends::kRight},
    // flapping
    {"the carrier of a port flaps ten times",
     "for i in $(seq 10); do ip link set q1 down; ip link set q1 up; done", Ends::kRight},
    {"a port is set down and up ten times",
     "for i in $(seq 10); do ip link set p0 down; ip link set p0 up; done; routes", Ends::kRight,
     "", "", true},
    {"a port flaps every 300 ms for three seconds",
     "for i in $(seq 10); do ip link set q0 down; sleep 0.1; ip link set q0 up; sleep 0.2; done",
     Ends::kRight, "", "", true},
    // routing and netfilter
};

}  // namespace lldp::netns
