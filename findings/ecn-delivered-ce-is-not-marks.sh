#!/bin/sh
# What does TCP_INFO count of congestion marks on a connection with classic ECN (RFC 3168)? Linux 6.18 has two counters:
# tcpi_delivered_ce at the sender, and tcpi_received_ce at the receiver, which came with the fields of accurate ECN. The
# guess before the run was that the first is about the number of marks, and the second stays zero without accurate ECN. But
# the second is exactly the number of marks, while the first counts every segment that is acknowledged until the sender's
# CWR arrives, a window for each mark.
#
# Seen with Linux 6.18.44, iproute2 6.1.0 and Python 3, 2026-11-29: 10 marks, tcpi_received_ce 10, tcpi_delivered_ce 625. Needs
# root and /dev/net/tun. Two fresh network namespaces are joined by a program that marks each 300th packet.
# A summary of `live` therefore counts marks at the receiver.
set -eu
exec python3 - <<'PYTHON'
import ctypes, fcntl, os, select, socket, struct, subprocess, sys, threading, time

print("kernel", os.uname().release)
libc = ctypes.CDLL(None, use_errno=True)
SIZE, EVERY = 4_500_000, 300

def device(own, peer):
    """Makes a TUN device in a new network namespace of this thread."""
    if libc.unshare(0x40000000):
        sys.exit("needs root")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH14x", b"t0", 0x1001))
    for line in ("link set lo up", f"addr add {own} peer {peer} dev t0", "link set t0 up txqueuelen 5000"):
        subprocess.run(["ip", *line.split()], check=True)
    with open("/proc/sys/net/ipv4/tcp_ecn", "w") as setting:
        setting.write("1")
    return fd

def info(sock):
    raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 400)
    if len(raw) < 252:
        sys.exit("this kernel has no tcpi_received_ce: Linux 6.18 or later is needed")
    return struct.unpack("I", raw[196:200])[0], struct.unpack("I", raw[248:252])[0]

ends, found, ready = {}, {}, threading.Barrier(3)

def receive():
    ends["far"] = device("10.9.0.2", "10.9.0.1")
    listener = socket.create_server(("10.9.0.2", 8000))
    ready.wait()
    sock = listener.accept()[0]
    left = SIZE
    while left:
        left -= len(sock.recv(65536))
    found["received"] = info(sock)[1]
    sock.sendall(b"!")

def send():
    ends["near"] = device("10.9.0.1", "10.9.0.2")
    ready.wait()
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    sock.connect(("10.9.0.2", 8000))
    sock.sendall(bytes(SIZE))
    sock.recv(1)
    found["delivered"] = info(sock)[0]

threads = [threading.Thread(target=job, daemon=True) for job in (receive, send)]
for thread in threads:
    thread.start()
ready.wait()
near, far, data, marked, held = ends["near"], ends["far"], 0, 0, []

def sum16(head):
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF

while threads[1].is_alive():
    for source in select.select([near, far], [], [], 0.001)[0]:
        packet = bytearray(os.read(source, 70000))
        if packet[0] >> 4 != 4:
            continue
        if source == near and packet[1] & 3 and len(packet) > 1000:
            data += 1
            if data % EVERY == 0:
                packet[1] |= 3
                packet[10:12] = bytes(2)
                packet[10:12] = struct.pack("!H", sum16(bytes(packet[:20])))
                marked += 1
        held.append((time.monotonic() + 0.01, far if source == near else near, bytes(packet)))
    while held and held[0][0] <= time.monotonic():
        _, to, packet = held.pop(0)
        os.write(to, packet)
print(f"marked {marked}, received_ce {found['received']}, delivered_ce {found['delivered']}")
same = marked > 5 and found["received"] == marked and found["delivered"] > 4 * marked
sys.exit(0 if same else "the behaviour has changed")
PYTHON
