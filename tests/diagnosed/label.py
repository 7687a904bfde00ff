#!/usr/bin/env python3
"""Labels cases by their configuration and the emulator's account, before any verdict is known.

    tests/diagnosed/label.py FOLDER

The rule, for a case whose data was sent from T0 to T1 (of the capture at the sender; T1 is a round trip after the last
data):

1. The link is *full* at a time if it sent at 95 % of its rate or more, cross traffic included, in the surrounding
   round trip (at least 100 ms). Then the network limits, whatever was configured.
2. *Slow start* lasts from T0 to the first time at which the link is full, drops a packet, or carries in a round trip
   80 % of what it carries later (median over round trips with data).
3. In the rest of the time the configured limit applies; without one, it is the network:
   - a program that pauses limits from the time at which all its data was sent (its own log) to its next write;
   - a reader that pauses limits from the begin of a pause to a round trip after its end;
   - a slow reader limits if it waited for data for less than half of its time; else the receive window does, which the
     kernel kept small.
4. The first cause is the one with the largest share, or another one within 10 points of it. If a slow reader reads as
   fast as the window of its first buffer allows, or up to 20 % slower, both limit, and their shares count together.
   (Added after the development set had such a case.)
5. The path is window-limited if the first cause is a window, a buffer, or the receiving program; not congested, if it
   is the sending program or slow start. If it is the network:
   - managed, if the queue is, and it dropped or marked a packet of the flow;
   - congested, if other traffic shared the link;
   - random loss, if the loss was configured, and at least half of the drops are expected from it;
   - self-induced, if packets were dropped; without a drop a full link is self-induced or not congested: both are right.
6. The bottleneck's rate is the configured one, and is judged where it is constant and the network is the first cause.
   The buffer is the configured limit, and is judged where drop-tail dropped packets of a flow alone.
7. Where something else is the first cause, or the network was not full, nobody has to find the rate. A rate that is
   found nevertheless must be the configured one (`rate_if_found`), unless other traffic shares the link.
"""

import bisect
import json
import pathlib
import statistics
import sys

import draw
import packets

STEP = 0.02
FULL = 0.95
NEAR = 0.10
TIED = 0.8
WINDOWS = ("receive-window", "send-buffer", "receiving-program", "program-window")


class Series:
    """A quantity per interval, by the ends of the intervals; the integral between two times."""

    def __init__(self, series):
        self.t, self.sums = [0.0], [0.0]
        for t, y in zip(series["t"], series["y"]):
            self.sums.append(self.sums[-1] + y * (t - self.t[-1]))
            self.t.append(t)

    def to(self, t):
        at = bisect.bisect_left(self.t, t)
        if at == 0:
            return 0.0
        if at == len(self.t):
            return self.sums[-1]
        share = (t - self.t[at - 1]) / (self.t[at] - self.t[at - 1])
        return self.sums[at - 1] + share * (self.sums[at] - self.sums[at - 1])

    def mean(self, begin, end):
        return (self.to(end) - self.to(begin)) / (end - begin)


def label(case, sent):
    """Returns the label of a case whose data packets were sent as in `sent`."""
    zero = case["begin"]
    begin, end = (at - case["clock"] - zero for at in (sent[0][0], sent[-1][0]))
    rtt, kind = case["rtt"], case["kind"]
    end += rtt
    rate = Series(case["account"]["rate"])
    offered = Series(case["account"]["capacity"]) if "capacity" in case["account"] else None
    drops = [t for t, y in zip(case["account"]["drops"]["t"], case["account"]["drops"]["y"]) if y > 0]
    apart = case["account"]["drops"]["t"][0]
    width = max(rtt, 0.1)

    def capacity(low, high):
        return offered.mean(low, high) if offered else case["rate"] / 1e6

    def full(t):
        low, high = t - width / 2, t + width / 2
        return rate.mean(low, high) >= FULL * capacity(low, high)

    grid = [begin + STEP * (number + 0.5) for number in range(max(1, int((end - begin) / STEP)))]
    carried = [rate.mean(t - rtt, t) for t in grid]
    usual = statistics.median([y for y in carried if y > 0.01 * case["rate"] / 1e6] or [0.0])
    started = end
    for t, y in zip(grid, carried):
        if full(t) or any(drop - apart <= t for drop in drops) or (kind != "short" and y >= 0.8 * usual):
            started = t
            break
    meant = draw.MEANT.get(kind, "network")
    logs = [case["near"], case["far"]]
    if kind == "slow-reader" and logs[1].get("waited", 0) > logs[1].get("worked", 0):
        meant = "receive-window"
    idle = None
    if kind in ("pausing-writer", "pausing-reader"):
        later = rtt if kind == "pausing-reader" else 0.0
        pauses = logs[kind == "pausing-reader"].get("idle", [])
        idle = [(low - zero, high - zero + later) for low, high in pauses]
        if kind == "pausing-reader":
            # The log lacks a pause that the end of the run cut.
            last = max([high for _, high in idle], default=begin) + case["receiver"]["pauses"]["reads"]
            idle.append((last, end))
    shares = {}
    for t in grid:
        if idle is not None and kind == "pausing-writer" and any(low <= t < high for low, high in idle):
            cause = meant
        elif t < started:
            cause = "slow-start"
        elif full(t):
            cause = "network"
        elif idle is not None and not any(low <= t < high for low, high in idle):
            cause = "network"
        else:
            cause = meant
        shares[cause] = shares.get(cause, 0) + 1 / len(grid)
    most = max(shares.values())
    causes = sorted((cause for cause in shares if shares[cause] >= most - NEAR), key=lambda cause: -shares[cause])
    first_window = draw.WINDOW_SHARE * 131072 * 8 / rtt
    together = kind == "slow-reader" and case["receiver"]["reads"]["rate"] >= TIED * first_window
    if together and causes[0] == meant:
        causes = sorted({*causes, "receive-window", "receiving-program"})
    paths = sorted({path for cause in causes for path in paths_of(case, cause)})
    far = case["emulated"]["to_far"]
    dropped = "loss" not in case and far["packets_dropped"] > 0
    steady = "steps" not in case and "network" in causes[:1]
    room = draw.limit(case["queue"], case)
    alone = not case["set"] and "others" not in case["sender"]
    return {
        "together": together, "shares": shares, "causes": causes, "paths": paths, "seconds": end - begin,
        "rate": case["rate"] if steady else None,
        "rate_if_found": case["rate"] if "steps" not in case and not steady and alone else None,
        "buffer": room if steady and dropped and alone and room is not None else None,
    }


def paths_of(case, cause):
    """Returns the states of the path that are right with a first cause."""
    far = case["emulated"]["to_far"]
    if cause in WINDOWS:
        return ["window-limited"]
    if cause in ("sending-program", "slow-start"):
        return ["not-congested"]
    if draw.limit(case["queue"], case) is None and far["packets_dropped"] + far["marks"] > 0:
        return ["managed"]
    if case["kind"].startswith("beside"):
        return ["congested"]
    if "loss" in case and case["loss"] * far["packets"] >= far["packets_dropped"] / 2:
        return ["random-loss"]
    return ["self-induced"] if far["packets_dropped"] > 0 else ["not-congested", "self-induced"]


def main(folder):
    for place in sorted(at for at in pathlib.Path(folder).iterdir() if at.name.isdigit()):
        if not (place / "case.json").exists() or (place / "label.json").exists():
            continue
        case = json.loads((place / "case.json").read_text())
        sent, _ = packets.read(place / "near.pcap.gz")
        if not sent:
            sys.exit(f"{place}: the capture has no data")
        (place / "label.json").write_text(json.dumps(label(case, sent)))
        # An observer between: after the queue, from the receiver's capture; and before it, from the sender's.
        part = case["rtt"] * (0.1 + 0.05 * (case["seed"] % 6))
        packets.between(place / "far.pcap.gz", place / "after.pcap.gz", -part, part)
        packets.between(place / "near.pcap.gz", place / "before.pcap.gz", part, -part)


if __name__ == "__main__":
    main(sys.argv[1])
