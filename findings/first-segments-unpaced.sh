#!/bin/bash
# Linux paces a TCP connection from its tenth segment on, whatever asks for the pace: SO_MAX_PACING_RATE, or BBR's own rate
# (tcp_update_skb_after_send). So a new connection with a rate of 1 Mbit/s sends its first nine or ten segments, 14 kB, at
# once, and a short answer of a rate-limited server is not limited at all. The guess was that the rate holds from the first
# byte.
#
# Seen with Linux 6.18.44 and Python 3.11, 2026-11-28: of 40 segments of 1448 bytes at 1 Mbit/s the first 10 came within
# 5 ms, the others took 9.7 to 12.4 ms each. Only loopback is used. `bbr_variant = "linux"` of tightlink does the same.
set -euo pipefail
uname -r
python3 - <<'P'
import socket, threading, time
SEGMENT, COUNT, RATE = 1448, 40, 125_000
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
came = []
def read():
    peer, _ = server.accept()
    total = 0
    while data := peer.recv(1 << 16):
        total += len(data)
        came.append((time.monotonic(), total))
reader = threading.Thread(target=read); reader.start()
sender = socket.socket()
sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT + 12)
sender.setsockopt(socket.SOL_SOCKET, 47, RATE)  # SO_MAX_PACING_RATE, bytes per second
sender.connect(server.getsockname())
sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
begun = time.monotonic()
sender.sendall(bytes(SEGMENT * COUNT))
sender.close(); reader.join()
at_once = max(total for at, total in came if at - came[0][0] < 0.005)
rest = (came[-1][0] - came[0][0]) / ((SEGMENT * COUNT - at_once) / SEGMENT)
print(f"{at_once / SEGMENT:.0f} segments at once, then {rest * 1e3:.1f} ms for each (the rate asks for {SEGMENT / RATE * 1e3:.1f})")
assert 9 <= at_once / SEGMENT <= 12, "the first segments are paced, too"
assert rest > 0.5 * SEGMENT / RATE, "the rest is not paced"
P
