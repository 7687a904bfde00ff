"""The programs at both ends of a case. Usage: program.py send|receive CASE.json LOG.json

The log has the times of the monotonic clock at which something happened that the label needs.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import sys
import threading
import time

PORT, OTHERS = 5000, 5001
CHUNK = 16384
SIOCOUTQNSD = 0x894B
now = time.monotonic


def unsent(sock):
    """Returns the bytes that were written and not sent."""
    return struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQNSD, b"\0" * 4))[0]


def paced(rate, every, step, until):
    """Calls `step` with the bytes of each interval, as a program with a timer does."""
    share, due = rate * every / 8, now()
    owed = 0.0
    while now() < until:
        owed += share
        step(int(owed))
        owed -= int(owed)
        due += every
        time.sleep(max(0.0, due - now()))


class Credits:
    """The window of the program's own protocol: the other end returns credits as 4-byte numbers."""

    def __init__(self, sock, window):
        self.sock, self.left, self.change = sock, window, threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        rest = b""
        while got := self.sock.recv(4096):
            rest += got
            whole = len(rest) // 4
            numbers = struct.unpack(f"!{whole}I", rest[:4 * whole])
            rest = rest[4 * whole:]
            with self.change:
                self.left += sum(numbers)
                self.change.notify()

    def take(self, most, until):
        with self.change:
            while self.left == 0 and now() < until:
                self.change.wait(0.5)
            taken = min(self.left, most)
            self.left -= taken
            return taken


def send(case, log):
    options, address = case["sender"], os.environ["TIGHTLINK_FAR"]
    others = [threading.Thread(target=other, args=(address, case["seconds"] + 2), daemon=True)
              for _ in range(options.get("others", 0))]
    for one in others:
        one.start()
    if others:
        time.sleep(1.0)
    sock = socket.socket()
    if "sndbuf" in options:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options["sndbuf"])
    begin = now()
    while sock.connect_ex((address, PORT)) != 0:
        # The other end begins late on a busy machine.
        if now() > begin + 5:
            raise OSError("the receiver does not listen")
        time.sleep(0.05)
    data = memoryview(bytes(max(CHUNK, 1 << 20)))
    until = now() + case["seconds"]
    sock.settimeout(case["seconds"] + 5)
    log["local_port"] = sock.getsockname()[1]
    log["start"] = now()
    chunk = options.get("chunk", CHUNK)
    if "size" in options:
        sock.sendall(bytes(options["size"]))
    elif "writes" in options:
        paced(options["writes"]["rate"], options["writes"]["every"], lambda size: sock.sendall(bytes(size)), until)
    elif "pauses" in options:
        log["idle"] = []
        while now() < until:
            left = int(options["pauses"]["writes"])
            while left > 0 and now() < until:
                left -= sock.send(data[:min(left, CHUNK)])
            wakes = now() + options["pauses"]["waits"]
            while unsent(sock) > 0 and now() < wakes:
                time.sleep(0.001)
            empty = now()
            time.sleep(max(0.0, min(wakes, until) - now()))
            log["idle"].append([empty, now()])
    elif "inner" in options:
        credits = Credits(sock, options["inner"]["window"])
        while now() < until:
            taken = credits.take(chunk, until)
            if taken:
                sock.sendall(data[:taken])
    else:
        while now() < until:
            sock.send(data[:chunk])
    log["end"] = now()
    sock.shutdown(socket.SHUT_WR)
    # The end waits for what is in flight, so that a recording sees the last acknowledgement.
    sock.settimeout(1.0)
    try:
        while sock.recv(4096):
            pass
    except OSError:
        pass


def other(address, seconds):
    sock = socket.create_connection((address, OTHERS))
    until = now() + seconds
    while now() < until:
        sock.send(bytes(CHUNK))


def receive(case, log):
    options = case["receiver"]
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if "rcvbuf" in options:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options["rcvbuf"])
    threading.Thread(target=sink, daemon=True).start()
    listening.bind((os.environ["TIGHTLINK_FAR"], PORT))
    listening.listen()
    sock, _ = listening.accept()
    log["start"] = now()
    if "reads" in options:
        log["waited"], log["worked"] = 0.0, 0.0
        while True:
            asks = now()
            got = sock.recv(options["reads"]["chunk"])
            begins = now()
            if not got:
                return
            time.sleep(len(got) * 8 / options["reads"]["rate"])
            log["waited"] += begins - asks
            log["worked"] += now() - begins
    elif "pauses" in options:
        log["idle"] = []
        while True:
            ends = now() + options["pauses"]["reads"]
            while now() < ends:
                if not sock.recv(CHUNK * 4):
                    return
            begins = now()
            time.sleep(options["pauses"]["waits"])
            log["idle"].append([begins, now()])
    elif "inner" in options:
        owed = 0
        while got := sock.recv(CHUNK):
            owed += len(got)
            if owed >= options["inner"]["every"]:
                sock.sendall(struct.pack("!I", owed))
                owed = 0
    else:
        while sock.recv(CHUNK * 4):
            pass


def sink():
    listening = socket.create_server((os.environ["TIGHTLINK_FAR"], OTHERS))

    def drain(sock):
        while sock.recv(CHUNK * 4):
            pass
    while True:
        sock, _ = listening.accept()
        threading.Thread(target=drain, args=(sock,), daemon=True).start()


if __name__ == "__main__":
    role, case, out = sys.argv[1:]
    with open(case) as text:
        case = json.load(text)
    log = {}
    # The server is ended by SIGTERM; its log is written nevertheless.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        (send if role == "send" else receive)(case, log)
    except OSError as error:
        log["error"] = str(error)
    finally:
        with open(out, "w") as text:
            json.dump(log, text)
