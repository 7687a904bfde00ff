#!/bin/bash
# Linux counts in SndbufErrors of /proc/net/snmp (Udp) each send() of a non-blocking socket that ends with EAGAIN, since
# the send buffer is full. The program repeats the call, and no datagram is lost. A blocking socket counts none. So the
# counter of a QUIC program says how often it waited, and not what it lost; RcvbufErrors of the receiver are losses.
#
# Seen with Linux 6.18.44, iproute2 6.1.0 and Python 3, 2026-11-28: 500 datagrams sent, 9 times EAGAIN, SndbufErrors 9;
# blocking: 500 sent, SndbufErrors 0; all 1000 were received. Needs root and the tbf qdisc. Nothing outside of two fresh
# network namespaces is touched. The note of `tightlink emulate` about this counter says so.
set -euo pipefail
if [ "${1:-}" != inside ]; then exec unshare -n bash "$0" inside; fi
uname -r
unshare -n sleep 30 & far=$!
work=$(mktemp -d)
trap 'kill $far 2>/dev/null || true; rm -rf "$work"' EXIT
sleep 0.5
ip link add va type veth peer name vb netns $far
ip addr add 198.18.0.1/30 dev va && ip link set va up
inside() { nsenter -t $far -n "$@"; }
inside ip addr add 198.18.0.2/30 dev vb && inside ip link set vb up
tc qdisc replace dev va root tbf rate 4mbit burst 10k limit 2000000
inside timeout 25 python3 -uc '
import socket
s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("198.18.0.2", 9)); s.settimeout(3); n = 0
try:
    while s.recv(2000): n += 1
except OSError: print("received", n)' > $work/far &
server=$!
sleep 1
python3 - <<'P' | tee $work/near
import socket, select
def errors():
    names, numbers = (line.split()[1:] for line in open("/proc/net/snmp") if line.startswith("Udp:"))
    return int(dict(zip(names, numbers))["SndbufErrors"])
for blocking in (False, True):
    before, sent, again = errors(), 0, 0
    s = socket.socket(type=socket.SOCK_DGRAM); s.setblocking(blocking)
    while sent < 500:
        try: s.sendto(bytes(1400), ("198.18.0.2", 9)); sent += 1
        except BlockingIOError: again += 1; select.select([], [s], [])
    counted = errors() - before
    print("blocking" if blocking else "non-blocking", "EAGAIN", again, "SndbufErrors", counted)
    assert counted == again and (again == 0) == blocking, "the kernel counts otherwise"
P
wait $server
cat $work/far; grep -qx "received 1000" $work/far
