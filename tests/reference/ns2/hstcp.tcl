# HighSpeed flows on ns-2: the settings of tests/reference/ns2/p1_hstcp_ns2.csv, other seeds, RED, the paper's other cases.
# usage: ns hstcp.tcl CASE BUFFER SEED ?RED?; prints case,B,seed,util,drop_rate,timeouts,ratio of 60 s after 30 s. The ratio is
# of what the flow of the shortest RTT had acknowledged to that of the longest.
foreach {case buffer seed kind} [concat $argv DropTail] break
# Case 1: 1 Gbit/s, RTTs of 115.5 to 124.5 ms; case 2: 2.5 Gbit/s, 38 to 142 ms; case 3: two flows, 1 Gbit/s, 40 and 80 ms. One
# service time of sending overhead.
foreach {rate count least largest overhead} [switch $case {
    1 { list 1e9 10 115.5 124.5 8e-6 }
    2 { list 2.5e9 10 38.0 142.0 3.2e-6 }
    3 { list 1e9 2 40.0 80.0 8e-6 }
}] break
set ns [new Simulator]
$ns use-scheduler Splay
set a [$ns node]
set b [$ns node]
# RED as in the ledger's P1.red: from 0.4 of the lesser of buffer and bandwidth-delay product (case 1: 12500 packets, 2: 6250) to
# all of it, at most 0.1 and on to 1 at twice that (gentle); packets, and a distance between drops (ns-2's default).
set room [expr {min($buffer, [lindex {0 12500 6250 2500} $case])}]
foreach {name value} [list bytes_ false queue_in_bytes_ false mean_pktsize_ 1000 thresh_ [expr {0.4 * $room}] \
    maxthresh_ $room linterm_ 10 q_weight_ 0.002 gentle_ true wait_ true setbit_ false] { Queue/RED set $name $value }
$ns simplex-link $a $b [expr {$rate / 1e6}]Mb 0ms $kind
$ns queue-limit $a $b $buffer
$ns simplex-link $b $a 100Gb 0ms DropTail
$ns queue-limit $b $a 1000000
set random [new RNG]
$random seed $seed
if {$seed != 1} { ns-random $seed }
for {set i 0} {$i < $count} {incr i} {
    set from [$ns node]
    set to [$ns node]
    set quarter [expr {($least + ($largest - $least) * $i / ($count - 1.0)) / 4.0}]
    foreach {one other} [list $from $a $b $to] {
        $ns duplex-link $one $other 100Gb ${quarter}ms DropTail
        $ns queue-limit $one $other 1000000
        $ns queue-limit $other $one 1000000
    }
    set tcp [new Agent/TCP/Sack1]
    # ns-2 adds 40 bytes of headers.
    $tcp set packetSize_ 960
    $tcp set window_ 1000000
    $tcp set windowOption_ 8
    $tcp set low_window_ 38
    $tcp set high_window_ 83000
    $tcp set high_p_ 0.0000001
    $tcp set high_decrease_ 0.1
    $tcp set max_ssthresh_ 100
    $tcp set overhead_ $overhead
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 2] "$ftp start"
    lappend flows $tcp
}
set monitor [$ns monitor-queue $a $b ""]
proc look {} {
    global monitor flows
    set timeouts 0
    foreach tcp $flows { incr timeouts [$tcp set nrexmit_] }
    list [$monitor set pdepartures_] [$monitor set pdrops_] [$monitor set parrivals_] $timeouts \
        [[lindex $flows 0] set ack_] [[lindex $flows end] set ack_]
}
$ns at 30 { set before [look] }
$ns at 90 {
    foreach {departed dropped arrived timeouts short long} [look] \
        {departed0 dropped0 arrived0 timeouts0 short0 long0} $before break
    puts [format "%d,%d,%d,%.4f,%.3e,%d,%.2f" $case $buffer $seed [expr {($departed - $departed0) * 8000.0 / 60 / $rate}] \
        [expr {($dropped - $dropped0) * 1.0 / ($arrived - $arrived0)}] [expr {$timeouts - $timeouts0}] \
        [expr {1.0 * ($short - $short0) / ($long - $long0)}]]
    exit 0
}
$ns run
