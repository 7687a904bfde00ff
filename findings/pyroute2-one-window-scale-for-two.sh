#!/usr/bin/env bash
# pyroute2 0.9.7 (netlink for Python, from PyPI): the window scales that DiagSocket reads from a connection's TCP_INFO.
#
# Guess: the byte of TCP_INFO with both scales is split into its halves: the low one is the peer's (tcpi_snd_wscale), the
# high one our own (tcpi_rcv_wscale), as getsockopt(TCP_INFO) gives them.
# Seen, 2026-11-29, Linux 6.18: tcpi_rcv_wscale is always the same number as tcpi_snd_wscale. A receiver that can advertise at
# most 65 535 bytes (scale 0) is said to reach 64 MB (scale 10), and its sender the other way round. The fields end with
# tcpi_snd_wnd, so the window that the socket advertises itself (tcpi_rcv_wnd, since Linux 6.2) is not there either.
# Who wants to know whether a window limits a transfer should read the bytes of getsockopt, or `ss -ti`. Needs Python and
# Linux; packets stay on loopback.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyroute2==0.9.7
cat > "$folder/scales.py" <<'PY'
import socket
from pyroute2 import DiagSocket

INET_DIAG_INFO = 2
listener = socket.socket()
# A small buffer before the connection: the receiver needs no scale. The other side has the system's own.
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
listener.bind(("127.0.0.1", 0))
listener.listen()
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()


def of_kernel(end):
    byte = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[6]
    return byte & 15, byte >> 4


def of_library(end):
    with DiagSocket() as netlink:
        netlink.bind()
        for found in netlink.get_sock_stats(family=socket.AF_INET, extensions=1 << (INET_DIAG_INFO - 1)):
            ports = (found["idiag_sport"], found["idiag_dport"])
            if ports == (end.getsockname()[1], end.getpeername()[1]):
                info = found.get_attr("INET_DIAG_INFO")
                return info["tcpi_snd_wscale"], info["tcpi_rcv_wscale"], "tcpi_rcv_wnd" in info


for name, end in (("receiver", server), ("sender", client)):
    (peers, own), (said_peers, said_own, has_window) = of_kernel(end), of_library(end)
    assert peers != own, (peers, own)
    print(f"{name}: peer's scale right {said_peers == peers}, own scale right {said_own == own},",
          f"own scale equals peer's {said_own == said_peers}, own window {has_window}")
PY
"$folder/venv/bin/python" "$folder/scales.py" | tee "$folder/seen"
diff "$folder/seen" - <<'EXPECTED'
receiver: peer's scale right True, own scale right False, own scale equals peer's True, own window False
sender: peer's scale right True, own scale right False, own scale equals peer's True, own window False
EXPECTED
