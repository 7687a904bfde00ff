"""Draws paths and programs by seed: each case has one limit that was meant, and a path on which it may apply or not.

A case is plain data. Sizes are bytes, rates bit/s, times seconds.
"""

import math
import random

KINDS = [
    "window-sysctl", "window-option", "slow-reader", "pausing-reader", "send-sysctl", "send-option", "slow-writer",
    "pausing-writer", "inner-window", "self-induced", "self-induced", "beside-tcp", "beside-cbr", "random-loss",
    "managed", "changing", "window-changing", "short", "window-unused",
]
"""The kinds of cases, one after the other. Congestion alone is drawn twice, because its buffer is shallow or deep."""

MEANT = {
    "window-sysctl": "receive-window", "window-option": "receive-window", "slow-reader": "receiving-program",
    "pausing-reader": "receiving-program", "send-sysctl": "send-buffer", "send-option": "send-buffer",
    "slow-writer": "sending-program", "pausing-writer": "sending-program", "inner-window": "program-window",
    "window-changing": "receive-window",
}
"""The limit that a kind configures; the network alone limits the others. The window of `window-unused` is larger than
path and buffer together, so that it cannot apply."""

WINDOW_SHARE = 0.66
"""The part of a receive buffer that becomes window behind a TUN device (docs/guide/emulate.md)."""


def between(rng, low, high):
    """Draws a number whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def draw(seed):
    """Draws the case of a seed."""
    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    # A window or a buffer holds at least eight segments, and is a part of the path's product.
    least, most = {"short": (250e3, 1e9), "self-induced": (15e3, 1e9), "beside-tcp": (15e3, 1e9)}.get(kind, (8e3, 1e9))
    if kind in ("window-sysctl", "window-option", "send-sysctl", "send-option", "inner-window", "window-changing"):
        least = 90e3
    if kind == "random-loss":
        least = 60e3
    while True:
        rate, rtt = between(rng, 2e6, 50e6), between(rng, 0.010, 0.150)
        bdp = rate * rtt / 8
        if least <= bdp <= most:
            break
    control = rng.choices(["cubic", "reno", "bbr"], [5, 2, 3])[0]
    case = {
        "seed": seed, "kind": kind, "rate": round(rate, -4), "rtt": round(rtt, 3), "control": control,
        "queue": "1bdp", "one_way": rng.random() < 0.5, "seconds": 10.0, "set": [], "sender": {}, "receiver": {},
    }
    sender, receiver = case["sender"], case["receiver"]
    if kind == "window-sysctl":
        receiver["rmem"] = int(max(rng.uniform(0.15, 0.75) * bdp, 14e3) / WINDOW_SHARE)
    elif kind == "window-option":
        receiver["rcvbuf"] = int(max(rng.uniform(0.15, 0.75) * bdp, 14e3) / WINDOW_SHARE / 2)
    elif kind == "window-unused":
        receiver["rmem"] = int(max(rng.uniform(4, 8) * bdp, 60e3) / WINDOW_SHARE)
        case["queue"] = "0.6bdp"
    elif kind == "slow-reader":
        receiver["reads"] = {"rate": rng.uniform(0.15, 0.6) * rate, "chunk": rng.choice([4096, 16384, 65536])}
        if rng.random() < 0.3:
            receiver["rcvbuf"] = 65536
    elif kind == "pausing-reader":
        receiver["pauses"] = {"reads": rng.uniform(0.2, 0.8), "waits": rng.uniform(1.0, 2.5)}
    elif kind == "send-sysctl":
        sender["wmem"] = int(max(rng.uniform(0.2, 0.7) * bdp, 16e3))
    elif kind == "send-option":
        sender["sndbuf"] = int(max(rng.uniform(0.2, 0.7) * bdp, 16e3) / 2)
        sender["chunk"] = 1448
    elif kind == "slow-writer":
        sender["writes"] = {"rate": rng.uniform(0.1, 0.6) * rate, "every": rng.choice([0.005, 0.02, 0.1])}
    elif kind == "pausing-writer":
        sender["pauses"] = {"writes": max(rng.uniform(0.3, 1.0), 8 * rtt) * rate / 8, "waits": rng.uniform(0.7, 2.5)}
    elif kind == "inner-window":
        window = int(max(rng.uniform(0.2, 0.75) * bdp, 14e3))
        sender["inner"] = receiver["inner"] = {"window": window, "every": window // rng.choice([4, 16])}
    elif kind == "self-induced":
        case["queue"] = f"{between(rng, 0.15, 4):.2f}bdp"
    elif kind == "beside-tcp":
        sender["others"] = rng.randint(1, 3)
        case["queue"] = f"{between(rng, 0.4, 3):.2f}bdp"
    elif kind == "beside-cbr":
        share = rng.uniform(0.2, 0.6)
        case["cross"] = share
        case["set"].append(rng.choice([
            'traffic=[{kind="cbr", rate="%dbit/s"}]' % (share * rate),
            'traffic=[{kind="poisson", rate="%dbit/s"}]' % (share * rate),
        ]))
    elif kind == "random-loss":
        case["loss"] = round(between(rng, 0.001, 0.02), 4)
    elif kind == "managed":
        case["queue"] = rng.choice(["codel", "fq-codel", "pie"])
    elif kind in ("changing", "window-changing"):
        low = rng.uniform(0.2, 0.5)
        every = rng.uniform(2, 5)
        case["steps"] = [[0.0, case["rate"]], [round(every / 2, 2), round(low * case["rate"], -4)], round(every, 2)]
        if kind == "window-changing":
            receiver["rmem"] = int(rng.uniform(1.3, 2.0) * low * bdp / WINDOW_SHARE)
    elif kind == "short":
        # A power of two segments below the product: slow start ends with the data.
        rounds = int(math.log2(bdp * 0.7 / 14480))
        sender["size"] = 1448 * 10 * (2 ** (rounds + 1) - 1)
    return case


def limit(queue, case):
    """Returns the room of a drop-tail queue in bytes; `None` for a managed one."""
    if not queue.endswith("bdp"):
        return None
    mean = case["rate"]
    if "steps" in case:
        (_, high), (_, low), _ = case["steps"]
        mean = (high + low) / 2
    return max(float(queue[:-3]) * mean * case["rtt"] / 8, 15e3)
