"""Records what the kernel says about the TCP sockets of this network namespace. Usage: readings.py OUT SECONDS PORT

Each answer of `sock_diag` is kept as the kernel gives it: f64 time of the monotonic clock, u32 length, bytes; every
20 ms. So a recording can be judged again after the reader of these answers has changed.
"""

import socket
import struct
import sys
import time

SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, NLM_F_DUMP, NETLINK_SOCK_DIAG = 20, 1, 0x300, 4
# ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING.
STATES = sum(1 << state for state in (1, 4, 5, 8, 9, 11))
EVERY = 0.020


def main(out, seconds, port):
    request = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 0xff, 0, STATES) + bytes(48)
    header = struct.pack("=IHHII", 16 + len(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0)
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
    due = time.monotonic()
    ends = due + seconds
    with open(out, "wb", buffering=0) as file:
        while due < ends:
            link.send(header + request)
            done = False
            at = time.monotonic()
            while not done:
                answer, offset = link.recv(1 << 17), 0
                while offset + 16 <= len(answer):
                    length, kind = struct.unpack_from("=IH", answer, offset)
                    if kind != SOCK_DIAG_BY_FAMILY:
                        done = True
                        break
                    here, there = struct.unpack_from("!HH", answer, offset + 16 + 4)
                    if port in (here, there):
                        file.write(struct.pack("=dI", at, length - 16) + answer[offset + 16:offset + length])
                    offset += (length + 3) & ~3
            due += EVERY
            time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
