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
complete -c lldp-level -n __fish_use_subcommand -s h -l help -d 'commands and options'
complete -c lldp-level -n __fish_use_subcommand -s V -l version -d 'the version'
complete -c lldp-level -n __fish_use_subcommand -a show -d 'device, ports, neighbours, protection, alarms'
complete -c lldp-level -n __fish_use_subcommand -a watch -d 'the same, as it changes'
complete -c lldp-level -n __fish_use_subcommand -a location -d 'where it stands: its leaf, pod and fabric'
complete -c lldp-level -n __fish_use_subcommand -a rules -d 'rules wanted and installed, packets bounced'
complete -c lldp-level -n __fish_use_subcommand -a stats -d '802.1AB counters'
complete -c lldp-level -n __fish_use_subcommand -a wait -d 'waits until all that is asked for holds'
complete -c lldp-level -n __fish_use_subcommand -a check -d 'for monitoring: 0 fine, 1 alarm, 2 not protected, 3 unknown'
complete -c lldp-level -n __fish_use_subcommand -a doctor -d 'is the path of lossless traffic lossless?'
complete -c lldp-level -n __fish_use_subcommand -a metrics -d 'for Prometheus: all of that as its text, once or by HTTP'
complete -c lldp-level -n __fish_use_subcommand -a expect -d 'are the cables as a topology file has them?'
complete -c lldp-level -n __fish_use_subcommand -a decode -d 'LLDPDUs of a pcap or pcapng file'
complete -c lldp-level -n __fish_use_subcommand -a replay -d 'what the inference makes of a capture'
complete -c lldp-level -n __fish_use_subcommand -a record -d 'frames sent and received, as a pcap file'
complete -c lldp-level -n __fish_use_subcommand -a reload -d 'makes the daemon read its configuration anew'
complete -c lldp-level -n __fish_use_subcommand -a forget -d 'what ports remember of who is gone; alone: the level, to be learnt anew'
complete -c lldp-level -n __fish_use_subcommand -a update -d 'sends now, as soon as 802.1AB lets it'
complete -c lldp-level -n __fish_use_subcommand -a pause -d 'sends and hears nothing there, until resume'
complete -c lldp-level -n __fish_use_subcommand -a resume -d 'ends that; alone: everywhere'
complete -c lldp-level -n __fish_use_subcommand -a set -d 'another value of a key, until the next reload'
complete -c lldp-level -n __fish_use_subcommand -a check-config -d 'says what is wrong in a configuration file'
complete -c lldp-level -n '__fish_seen_subcommand_from show watch location rules stats doctor expect decode replay' -l json -d 'JSON instead of text'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l format -x -a 'table json keyvalue csv' -d 'how it is printed'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l filter -x -d 'ports and neighbours for which that holds'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -l as -x -a 'lldpctl-plain lldpctl-keyvalue lldpctl-json lldpctl-json0 lldpctl-xml' -d 'what lldpctl prints'
complete -c lldp-level -n '__fish_seen_subcommand_from expect' -l as -x -d 'what the file calls this device'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l labels -d 'as labels for schedulers'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l prefix -x -d 'text before the number of the tier'
complete -c lldp-level -n '__fish_seen_subcommand_from location' -l first -x -d 'number of the tier next to the hosts'
complete -c lldp-level -n '__fish_seen_subcommand_from doctor' -l watch -d 'goes on until it is stopped'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l level -x -d 'the device has this level'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l protected -d 'protection is active'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l port -x -a '(__lldp_level_ports_and_types)' -d 'the port has this type'
complete -c lldp-level -n '__fish_seen_subcommand_from wait' -l timeout -x -d 'no longer than this'
complete -c lldp-level -n '__fish_seen_subcommand_from metrics' -l listen -x -d 'answers HTTP there'
complete -c lldp-level -n '__fish_seen_subcommand_from replay' -l port -x -a '(__lldp_level_ports)' -d 'the port it was taken on'
complete -c lldp-level -n '__fish_seen_subcommand_from replay' -l own -x -d 'the address of that port'
complete -c lldp-level -n '__fish_seen_subcommand_from show' -a detail -d 'all TLVs heard'
complete -c lldp-level -n '__fish_seen_subcommand_from show watch stats doctor record forget update pause resume' -a '(__lldp_level_ports)'
complete -c lldp-level -n '__fish_seen_subcommand_from decode expect record replay check-config' -F
