#!/usr/bin/env python3
"""`busy-receiver.py serve` looks at its socket only after 2.5 s; `busy-receiver.py` sends it 1200 datagrams of 1452 B in 0.3 s."""
import os
import socket
import sys
import time

s = socket.socket(type=socket.SOCK_DGRAM)
if len(sys.argv) > 1:
    s.bind(("0.0.0.0", 9999))
    time.sleep(2.5)
    s.setblocking(False)
    held = 0
    try:
        while s.recv(2000):
            held += 1
    except BlockingIOError:
        print("datagrams held:", held, flush=True)
else:
    time.sleep(0.5)
    for _ in range(1200):
        s.sendto(bytes(1452), (os.environ["TIGHTLINK_FAR"], 9999))
        time.sleep(0.0002)
    time.sleep(3)
