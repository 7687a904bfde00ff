#!/bin/bash
# Linux prefers the congestion control of a route (`ip route … congctl NAME`) to one that a program set by
# TCP_CONGESTION before it connected, or on the socket that it listens with. No error tells the program. A control that
# is set on the open connection stays.
#
# Seen with Linux 6.18.44 and iproute2 6.1.0, 2026-11-28. Needs root (or `unshare -rn`), python3, and the controls reno and
# cubic. Nothing outside of two fresh network namespaces is touched.
# Where it matters: `tightlink emulate --control` uses such a route for controls that tcp_allowed_congestion_control does
# not list. docs/guide/emulate.md says so.
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
ip route replace 198.18.0.0/30 dev va src 198.18.0.1 congctl cubic
inside ip route replace 198.18.0.0/30 dev vb src 198.18.0.2 congctl cubic
inside timeout 20 python3 -uc '
import socket
s = socket.create_server(("198.18.0.2", 7)); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
c, _ = s.accept(); print("accepted by a listener with reno:", c.getsockopt(6, 13, 16).split(b"\0")[0].decode()); c.recv(1)' > $work/far &
server=$!
sleep 1
near=$(python3 -c '
import socket
name = lambda: c.getsockopt(6, 13, 16).split(b"\0")[0].decode()
c = socket.socket(); c.setsockopt(6, 13, b"reno"); before = name()
c.connect(("198.18.0.2", 7)); after = name()
c.setsockopt(6, 13, b"reno"); print("before connect:", before, "after:", after, "set again:", name())')
wait $server
found="$near, $(cat $work/far)"
echo "$found"
[ "$found" = "before connect: reno after: cubic set again: reno, accepted by a listener with reno: cubic" ]
