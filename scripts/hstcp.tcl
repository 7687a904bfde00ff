# Ten HighSpeed flows on ns-2: the settings of tests/reference/ns2/p1_hstcp_ns2.csv, other seeds and the paper's case 2.
# usage: ns hstcp.tcl CASE BUFFER SEED; prints case,B,seed,util,drop_rate,timeouts of 60 s after 30 s.
foreach {case buffer seed} $argv break
# Case 1: 1 Gbit/s, RTTs of 115.5 to 124.5 ms; case 2: 2.5 Gbit/s, 38 to 142 ms. One service time of sending overhead.
foreach {rate least largest overhead} [expr {$case == 2 ? {2.5e9 38.0 142.0 3.2e-6} : {1e9 115.5 124.5 8e-6}}] break
set ns [new Simulator]
$ns use-scheduler Splay
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b [expr {$rate / 1e6}]Mb 0ms DropTail
$ns queue-limit $a $b $buffer
$ns simplex-link $b $a 100Gb 0ms DropTail
$ns queue-limit $b $a 1000000
set random [new RNG]
$random seed $seed
if {$seed != 1} { ns-random $seed }
for {set i 0} {$i < 10} {incr i} {
    set from [$ns node]
    set to [$ns node]
    set quarter [expr {($least + ($largest - $least) * $i / 9.0) / 4.0}]
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
    list [$monitor set pdepartures_] [$monitor set pdrops_] [$monitor set parrivals_] $timeouts
}
$ns at 30 { set before [look] }
$ns at 90 {
    foreach {departed dropped arrived timeouts} [look] {departed0 dropped0 arrived0 timeouts0} $before break
    puts [format "%d,%d,%d,%.4f,%.3e,%d" $case $buffer $seed [expr {($departed - $departed0) * 8000.0 / 60 / $rate}] \
        [expr {($dropped - $dropped0) * 1.0 / ($arrived - $arrived0)}] [expr {$timeouts - $timeouts0}]]
    exit 0
}
$ns run
