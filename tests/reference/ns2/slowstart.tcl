# One transfer on ns-2, alone on the path of tests/reference/ns2/p4_slowstart_ns2.csv, with another least timeout.
# usage: ns slowstart.tcl TCP D B SIZE ?MINRTO?; prints the seconds to the last acknowledgement, drops, timeouts and the threshold in
# the end. TCP is Reno or Sack1; B packets in the system, SIZE packets, MINRTO 0.2 seconds as ns-2 has it.
foreach {kind d buffer size least} [concat $argv 0.2] break
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
# The round trip of 200 ms has the service of a packet in it.
set way [expr {(0.2 - 512 * 8 / 1.5e6) / 2}]
$ns simplex-link $a $b 1.5Mb ${way}s DropTail
$ns queue-limit $a $b $buffer
$ns simplex-link $b $a 100Gb ${way}s DropTail
$ns queue-limit $b $a 1000000
set tcp [new Agent/TCP/$kind]
# ns-2 adds 40 bytes of headers.
$tcp set packetSize_ 472
$tcp set window_ 1000000
$tcp set windowInit_ 1
$tcp set minrto_ $least
set name Agent/TCPSink
if {$kind eq "Sack1"} { append name /Sack1 }
if {$d == 2} { append name /DelAck }
set sink [new $name]
if {$d == 2} { $sink set interval_ 100ms }
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set monitor [$ns monitor-queue $a $b ""]
$ns at 0 "$tcp advance $size"
proc look {} {
    global ns tcp monitor size
    if {[$tcp set ack_] >= $size - 1} {
        puts [format "%.3f s, %d drops, %d timeouts, threshold %g" [$ns now] [$monitor set pdrops_] \
            [$tcp set nrexmit_] [$tcp set ssthresh_]]
        exit 0
    }
    $ns at [expr {[$ns now] + 0.0005}] look
}
$ns at 0.1 look
$ns run
