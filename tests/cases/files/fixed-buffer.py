#!/usr/bin/env python3
"""`fixed-buffer.py serve` sends for 8 s; `fixed-buffer.py SIZE` connects with a receive buffer of SIZE bytes set before, as iperf3 -w
does, which fixes the window's scale, and reads."""
import os
import socket
import sys
import time

if sys.argv[1] == "serve":
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", 9000))
    listener.listen(1)
    connection, _ = listener.accept()
    end = time.time() + 8
    try:
        while time.time() < end:
            connection.sendall(bytes(16384))
    except OSError:
        pass
else:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[1]))
    connection.connect((os.environ["TIGHTLINK_FAR"], 9000))
    while connection.recv(262144):
        pass
