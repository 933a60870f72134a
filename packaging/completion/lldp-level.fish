# fish completion for lldp-level(1)
# SPDX-License-Identifier: Apache-2.0

function __lldp_level_ports
    command ls /sys/class/net
end

function __lldp_level_ports_and_types
    for port in (command ls /sys/class/net)
        printf '%s\n' $port={uplink,downlink,crosslink,unmarked}
    end
end

complete -c lldp-level -f
complete -c lldp-level -l socket -r -F -d 'control socket'
complete -c lldp-level -n __fish_use_subcommand -s h -l help -d 'list commands and options'
complete -c lldp-level -n __fish_use_subcommand -s V -l version -d 'print the version'
complete -c lldp-level -n __fish_use_subcommand -a show -d 'print device, ports, neighbors, protection and alarms'
complete -c lldp-level -n __fish_use_subcommand -a watch -d 'print the same at every change'
complete -c lldp-level -n __fish_use_subcommand -a location -d 'print leaf, pod and fabric of this device'
complete -c lldp-level -n __fish_use_subcommand -a rules -d 'print rules wanted and installed, and packets bounced'
complete -c lldp-level -n __fish_use_subcommand -a stats -d 'print the IEEE 802.1AB counters'
complete -c lldp-level -n __fish_use_subcommand -a wait -d 'block until level, port types and protection are as asked for'
complete -c lldp-level -n __fish_use_subcommand -a check -d 'print one line for monitoring: 0 fine, 1 alarm, 2 not protected, 3 unknown'
complete -c lldp-level -n __fish_use_subcommand -a doctor -d 'check that the path of lossless traffic is lossless'
complete -c lldp-level -n __fish_use_subcommand -a metrics -d 'print the metrics for Prometheus once, or serve them by HTTP'
complete -c lldp-level -n __fish_use_subcommand -a expect -d 'compare the cables with a topology file'
complete -c lldp-level -n __fish_use_subcommand -a decode -d 'print the LLDPDUs of a pcap or pcapng file'
complete -c lldp-level -n __fish_use_subcommand -a replay -d 'run the inference on a capture; needs no daemon'
complete -c lldp-level -n __fish_use_subcommand -a record -d 'write frames sent and received to a pcap file'
complete -c lldp-level -n __fish_use_subcommand -a reload -d 'make the daemon read its configuration again'
complete -c lldp-level -n __fish_use_subcommand -a forget -d 'drop the remembered neighbor of PORT; without PORT, drop and relearn the level'
complete -c lldp-level -n __fish_use_subcommand -a update -d 'send an LLDPDU now, as soon as IEEE 802.1AB allows'
complete -c lldp-level -n __fish_use_subcommand -a pause -d 'stop sending and receiving LLDP on PORT until resume'
complete -c lldp-level -n __fish_use_subcommand -a resume -d 'end a pause; without PORT, on all ports'
complete -c lldp-level -n __fish_use_subcommand -a accept -d 'accept that the rules took PFC from others on PORT'
complete -c lldp-level -n __fish_use_subcommand -a reject -d 'withdraw an accept'
complete -c lldp-level -n '__fish_seen_subcommand_from accept reject' -a 'pfc (__lldp_level_ports)'
complete -c lldp-level -n __fish_use_subcommand -a set -d 'change a key until the next reload'
complete -c lldp-level -n __fish_use_subcommand -a explain -d 'tell what the order and the rules of a port depend on, or what an alarm means'
complete -c lldp-level -n __fish_use_subcommand -a mute -d 'have check pass over an alarm for a time'
complete -c lldp-level -n __fish_use_subcommand -a config -d 'print every key in force, its value, and where it is set'
complete -c lldp-level -n __fish_use_subcommand -a help -d 'print this text, or what COMMAND does and takes'
complete -c lldp-level -n __fish_use_subcommand -a check-config -d 'list the errors of a configuration file'
complete -c lldp-level -n '__fish_seen_subcommand_from show watch location rules config stats doctor expect decode replay' -l json -d 'print JSON instead of text'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l format -x -a 'table json keyvalue csv' -d 'format of the output'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l filter -x -d 'only ports and neighbors that match'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l as -x -a 'lldpctl-plain lldpctl-keyvalue lldpctl-json lldpctl-json0 lldpctl-xml' -d 'print as lldpctl does'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l sent -d 'the TLVs that each port sends'
complete -c lldp-level -n '__fish_seen_subcommand_from mute' -l for -x -d 'how long'
complete -c lldp-level -n '__fish_seen_subcommand_from expect' -l as -x -d 'name of this device in the file'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l labels -d 'print labels for schedulers'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l prefix -x -d 'text before the number of the tier'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l first -x -d 'number of the tier next to the hosts'
complete -c lldp-level -n '__fish_seen_subcommand_from doctor' -l watch -d 'print which end pauses which priority until stopped'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l level -x -d 'until the device has this level'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l protected -d 'until protection is active'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l port -x -a '(__lldp_level_ports_and_types)' -d 'until the port has this type'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l timeout -x -d 'give up after this time'
complete -c lldp-level -n '__fish_seen_subcommand_from metrics' -l listen -x -d 'answer HTTP there'
complete -c lldp-level -n '__fish_seen_subcommand_from replay' -l port -x -a '(__lldp_level_ports)' -d 'the port it was taken on'
complete -c lldp-level -n '__fish_seen_subcommand_from replay' -l own -x -d 'the address of that port'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -a detail -d 'all TLVs heard'
complete -c lldp-level -n '__fish_seen_subcommand_from show watch stats doctor record forget update pause resume' -a '(__lldp_level_ports)'
complete -c lldp-level -n '__fish_seen_subcommand_from decode expect record replay check-config' -F
