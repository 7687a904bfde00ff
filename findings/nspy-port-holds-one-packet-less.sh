#!/usr/bin/env bash
# ns.py 0.4.3 (a network simulator on SimPy 4.1.2, from PyPI): what `Port(qlimit=N)` admits.
#
# Guess: a burst that meets an idle port with a limit of N packets gets N packets through (ns-2's limit has the packet being
# sent in it), or N + 1 (Linux's pfifo has it apart).
# Seen, 2026-11-28: N - 1 get through, and with a limit of one packet none ever does, though the port is idle. A port that is
# sending lets N - 1 wait, so it has N in all. A limit in bytes counts the packet being sent, and drops the packet that would
# fill the last byte. So a buffer of N packets elsewhere is `qlimit=N + 1` here. Needs Python; nothing leaves the process.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ns.py==0.4.3 simpy==4.1.2
cat > "$folder/burst.py" <<'PY'
import simpy
from ns.packet.packet import Packet
from ns.port.port import Port


class Sink:
    def __init__(self):
        self.packets = []

    def put(self, packet):
        self.packets.append(packet.packet_id)


def through(limit, in_bytes, busy):
    """Returns how many of 20 packets of 100 bytes that come at once get through; if `busy`, one was already being sent."""
    env, sink = simpy.Environment(), Sink()
    port = Port(env, rate=8000.0, qlimit=limit, limit_bytes=in_bytes)
    port.out = sink

    def burst():
        if busy:
            port.put(Packet(env.now, 100, 100, flow_id=0))
        yield env.timeout(0.05)
        for number in range(20):
            port.put(Packet(env.now, 100, number, flow_id=0))

    env.process(burst())
    env.run(until=100)
    return len([packet for packet in sink.packets if packet < 100])


for limit, in_bytes in ((10, False), (2, False), (1, False), (1000, True), (100, True)):
    unit = "bytes" if in_bytes else "packets"
    print(f"limit {limit} {unit}: idle {through(limit, in_bytes, False)}, busy {through(limit, in_bytes, True)}")
PY
"$folder/venv/bin/python" "$folder/burst.py" | tee "$folder/seen"
diff "$folder/seen" - <<'EXPECTED'
limit 10 packets: idle 9, busy 9
limit 2 packets: idle 1, busy 1
limit 1 packets: idle 0, busy 0
limit 1000 bytes: idle 9, busy 8
limit 100 bytes: idle 0, busy 0
EXPECTED
