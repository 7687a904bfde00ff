#!/usr/bin/env python3
"""Sends three datagrams of 84 bytes (with their headers), as `ping -c 3` does, over two seconds."""
import os
import socket
import time

s = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(3):
    s.sendto(bytes(56), (os.environ["TIGHTLINK_FAR"], 9))
    time.sleep(0.7)
