# The figure compare:utilization on ns-2: ten Reno or CUBIC flows at 100 Mbit/s and 50 ms against the buffer.
# usage: ns utilization.tcl CONTROL LIMIT SEED | grep , ; prints a row of scenarios/compare/utilization-ns2.csv: CONTROL, LIMIT, SEED,
# utilization, mean delay of the queue in seconds, drops over arrivals, timeouts; of 60 s after 20 s.
# LIMIT packets may wait; ns-2 counts the one being sent, too. Every segment is acknowledged, as ns-2's Reno counts
# acknowledgements where Linux counts segments.
foreach {control limit seed} $argv break
set rate 1e8
set segment 1500
set ns [new Simulator]
$ns use-scheduler Splay
ns-random $seed
set random [new RNG]
$random seed $seed
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 100Mb 0ms DropTail
$ns queue-limit $a $b [expr {$limit + 1}]
$ns simplex-link $b $a 100Gb 0ms DropTail
$ns queue-limit $b $a 1000000
for {set i 0} {$i < 10} {incr i} {
    set from [$ns node]
    set to [$ns node]
    foreach {one other} [list $from $a $b $to] {
        $ns duplex-link $one $other 100Gb 12.5ms DropTail
        $ns queue-limit $one $other 1000000
        $ns queue-limit $other $one 1000000
    }
    # ns-2 adds 40 bytes of headers, and 10 of a time stamp, which its CUBIC needs.
    if {$control eq "reno"} {
        set tcp [new Agent/TCP/Sack1]
        $tcp set packetSize_ [expr {$segment - 40}]
    } else {
        set tcp [new Agent/TCP/Linux]
        $tcp set packetSize_ [expr {$segment - 50}]
        $tcp set timestamps_ true
        $ns at 0 "$tcp select_ca $control"
    }
    $tcp set window_ 1000000
    # One service time of sending overhead, against phase effects.
    $tcp set overhead_ [expr {$segment * 8 / $rate}]
    set sink [new Agent/TCPSink/Sack1]
    if {$control ne "reno"} { $sink set ts_echo_rfc1323_ true }
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 1] "$ftp start"
    lappend flows $tcp
}
set monitor [$ns monitor-queue $a $b ""]
set bytes [$monitor get-bytes-integrator]
proc look {} {
    global ns monitor bytes flows
    set timeouts 0
    foreach tcp $flows { incr timeouts [$tcp set nrexmit_] }
    $bytes newpoint [$ns now] [$bytes set lasty_]
    list [$monitor set bdepartures_] [$monitor set pdrops_] [$monitor set parrivals_] $timeouts [$bytes set sum_]
}
$ns at 20 { set before [look] }
$ns at 80 {
    foreach {departed dropped arrived timeouts sum} [look] {departed0 dropped0 arrived0 timeouts0 sum0} $before break
    # The integral is of the packets waiting.
    set util [expr {($departed - $departed0) * 8.0 / 60 / $rate}]
    set waiting [expr {($sum - $sum0) / 60}]
    puts [format "%s,%d packets,%d,%.4f,%.3e,%.3e,%d" $control $limit $seed $util [expr {$waiting * 8 / $rate}] \
        [expr {($dropped - $dropped0) * 1.0 / ($arrived - $arrived0)}] [expr {$timeouts - $timeouts0}]]
    exit 0
}
$ns run
