# S1 and S2 of docs/concepts/performance.md on ns-2: prints M packets forwarded per CPU second.
# usage: ns peers.tcl FLOWS RATE LIMIT SECONDS
set flows [lindex $argv 0]
set rate [lindex $argv 1]
set limit [lindex $argv 2]
set seconds [lindex $argv 3]
set ns [new Simulator]
$ns use-scheduler Splay
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b $rate 0ms DropTail
$ns simplex-link $b $a 100Gb 50ms DropTail
# One packet of ns-2's limit is in service.
$ns queue-limit $a $b [expr {$limit + 1}]
$ns queue-limit $b $a 1000000
set random [new RNG]
$random seed 1
for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Sack1]
    $tcp set packetSize_ 1460
    $tcp set window_ 1000000
    $tcp set fid_ $i
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $a $tcp
    $ns attach-agent $b $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 1] "$ftp start"
}
set monitor [$ns monitor-queue $a $b ""]
proc cpu {} {
    set f [open /proc/self/schedstat]
    set nanos [lindex [read $f] 0]
    close $f
    return [expr {$nanos * 1e-9}]
}
$ns at $seconds {
    puts [expr {[$monitor set pdepartures_] / ([cpu] - $before) / 1e6}]
    exit 0
}
set before [cpu]
$ns run
