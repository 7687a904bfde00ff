#!/bin/sh
# Pastes the shaped tbf line that `tightlink size "$@"` prints on a veth between two namespaces of its own, and sends 40
# datagrams of 1500 bytes. Prints the line, and how many arrived as JSON. Needs root, iproute2 and python3.
a=cases-a-$$ b=cases-b-$$
line=$(tightlink size "$@" --json | python3 -c '
import json, sys
lines = [line["line"] for line in json.load(sys.stdin)["lines"]]
print(next(word for line in lines for word in line.splitlines() if " tbf " in word))') || exit 3
echo "$line"
trap 'ip netns del $a; ip netns del $b' EXIT
ip netns add $a && ip netns add $b || exit 3
ip link add veth-a netns $a type veth peer name veth-b netns $b
ip -n $a addr add 10.99.0.1/24 dev veth-a
ip -n $b addr add 10.99.0.2/24 dev veth-b
ip -n $a link set veth-a up
ip -n $b link set veth-b up
sleep 1
ip netns exec $a sh -c "${line%%DEV*}veth-a${line#*DEV}" || exit 3
ip netns exec $b python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('10.99.0.2', 7000))
s.settimeout(3)
n = 0
try:
    while s.recv(4096):
        n += 1
except TimeoutError:
    pass
print('{\"arrived\": %d}' % n, flush=True)" &
receiver=$!
sleep 0.5
ip netns exec $a python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('10.99.0.2', 7000))
for _ in range(40):
    s.send(bytes(1472))"
wait $receiver
