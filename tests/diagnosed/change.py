#!/usr/bin/env python3
"""Makes the changes that `tightlink diagnose` proposes, and compares the goodput with its prediction.

    tests/diagnosed/change.py target/release/tightlink [CASE ...]

Each case is a kernel transfer of 10 s behind `tightlink emulate` with a window that is too small. `diagnose --rate`
watches it and predicts. Then the proposed change is made, and the transfer runs again. It needs root, or user namespaces.
Its exit code is 1 if fewer than nine of ten predictions are within 10 %.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# name, rate in Mbit/s, one-way delay in ms, kind of limit, its size in bytes
CASES = [
    ("sysctl-10", 10, 40, "tcp_rmem", 50_000),
    ("sysctl-40", 40, 40, "tcp_rmem", 200_000),
    ("sysctl-50-long", 50, 75, "tcp_rmem", 300_000),
    ("rcvbuf-20", 20, 25, "SO_RCVBUF", 30_000),
    ("rcvbuf-50", 50, 20, "SO_RCVBUF", 60_000),
    ("tune-30", 30, 50, "tune", 120_000),
    ("wmem-30", 30, 50, "tcp_wmem", 150_000),
    ("wmem-50", 50, 20, "tcp_wmem", 120_000),
    ("inner-20", 20, 50, "program", 60_000),
    ("inner-50", 50, 40, "program", 150_000),
]

# The cause that each kind of limit has; the others are receive windows.
CAUSES = {"tcp_wmem": "send-buffer", "program": "program-window"}

RECEIVER = """
import os, socket, sys
size, window = int(sys.argv[1]), int(sys.argv[2])
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if size: server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
server.bind(("", 7001)); server.listen(64)
while True:
    connection, _ = server.accept()
    if os.fork(): continue
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    unsaid = 0
    while data := connection.recv(1 << 18):
        unsaid += len(data)
        # A window of the program's own: an answer for each eighth of it.
        while window and unsaid >= window // 8:
            connection.sendall(b"x"); unsaid -= window // 8
    os._exit(0)
"""

SENDER = """
import os, socket, sys, time
seconds, window, count = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def connect():
    for _ in range(100):
        try: return socket.create_connection((os.environ["TIGHTLINK_FAR"], 7001))
        except OSError: time.sleep(0.05)
    sys.exit("no receiver")
for _ in range(count - 1):
    if os.fork() == 0: break
connection = connect()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
end, block, left = time.time() + seconds, b"x" * 8192, window
while time.time() < end:
    if window:
        while left < len(block): left += window // 8 * len(connection.recv(4096))
        left -= len(block)
    connection.sendall(block)
os._exit(0)
"""


def transfer(tool, folder, case, change=None):
    """Runs the transfer of a case, and returns what diagnose says about each direction that was sent."""
    _, rate, delay, kind, size = case
    near, far = folder / "near.sh", folder / "far.sh"
    (folder / "receiver.py").write_text(RECEIVER)
    (folder / "sender.py").write_text(SENDER)
    option = inner = 0
    before, setup, count, tune = "", "", 1, ""
    if kind == "tcp_rmem" or kind == "tune":
        setup = f"sysctl -qw net.ipv4.tcp_rmem='4096 65536 {size}'"
    elif kind == "SO_RCVBUF":
        option = size
    elif kind == "tcp_wmem":
        before = f"sysctl -qw net.ipv4.tcp_wmem='4096 16384 {size}'"
    else:
        inner = size
    if change:
        commands = [remedy["command"] for remedy in change["remedies"]]
        if kind == "tcp_rmem":
            setup = next(command for command in commands if "tcp_rmem" in command)
        elif kind == "SO_RCVBUF":
            option = change["needed_bytes"]
        elif kind == "tcp_wmem":
            before = next(command for command in commands if "tcp_wmem" in command)
        elif kind == "tune":
            # The handshake's scale has to allow the window, so the memory is that of the proposal, too.
            setup = next(command for command in commands if "tcp_rmem" in command)
            tune = f"{tool} tune --port 7001 --pid $! >tune.txt 2>&1 &"
        else:
            count = change["connections"]
    far.write_text(f"cd {folder}\n{setup}\npython3 receiver.py {option} {inner} &\n{tune}\nwait\n")
    near.write_text(
        f"cd {folder}\n{before}\npython3 sender.py 12 {inner} {count} &\nsleep 3\n"
        f"{tool} diagnose --port 7001 --all --for 8s --rate {rate}Mbit/s --json >said.json\nwait\n"
    )
    command = [tool, "emulate", "--rate", f"{rate}Mbit/s", "--delay", f"{delay}ms", "--control", "cubic"]
    ran = subprocess.run([*command, "--server", f"sh {far}", "--", "sh", near], capture_output=True, text=True)
    said = [json.loads(line) for line in (folder / "said.json").read_text().splitlines()]
    sent = [one for one in said if one["vantage"] == "sender-socket" and one["delivered_bytes"] > 50_000]
    if not sent:
        sys.exit(f"{case[0]}: nothing was sent\n{ran.stderr}")
    return sent


def main():
    tool, names = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    right = judged = 0
    print(f"{'case':16} {'cause':18} {'before':>7} {'predicted':>9} {'measured':>8} {'error':>7}  Mbit/s")
    for case in CASES:
        if names and case[0] not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            first = max(transfer(tool, Path(folder), case), key=lambda one: one["delivered_bytes"])
            change = first["proposal"]
            wanted = CAUSES.get(case[3], "receive-window")
            if first["cause"] != wanted or not change["after"]:
                judged += 1
                cause = first["cause"] or "unknown"
                print(f"{case[0]:16} {cause:18} {first['goodput_bps'] / 1e6:7.2f} no prediction, {wanted} was set", flush=True)
                continue
            after = transfer(tool, Path(folder), case, change)
        measured = sum(one["goodput_bps"] for one in after)
        predicted = change["after"]["goodput_bps"]
        error = predicted / measured - 1
        judged += 1
        right += abs(error) <= 0.1
        print(
            f"{case[0]:16} {first['cause']:18} {first['goodput_bps'] / 1e6:7.2f} {predicted / 1e6:9.2f} "
            f"{measured / 1e6:8.2f} {error:+7.1%}",
            flush=True,
        )
    print(f"{right} of {judged} predictions are within 10 %")
    return 0 if right >= 0.9 * judged else 1


if __name__ == "__main__":
    sys.exit(main())
