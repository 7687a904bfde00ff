#!/usr/bin/env python3
"""A bulk transfer by CUBIC, or by another control that is named: `bulk.py serve` at the far end, `bulk.py SECONDS [CONTROL]` at
the near one, which sends. The far end prints the payload that arrived, in Mbit/s."""
import os
import socket
import sys
import time

PORT = 9000
if sys.argv[1] == "serve":
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", PORT))
    listener.listen(1)
    connection, _ = listener.accept()
    received, begin = 0, None
    while data := connection.recv(262144):
        received, begin = received + len(data), begin or time.monotonic()
    print(f"{received * 8 / (time.monotonic() - begin) / 1e6:.2f} Mbit/s arrived", flush=True)
else:
    control = sys.argv[2] if len(sys.argv) > 2 else "cubic"
    for _ in range(50):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        if connection.connect_ex((os.environ["TIGHTLINK_FAR"], PORT)) == 0:
            break
        time.sleep(0.1)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        connection.sendall(bytes(16384))
