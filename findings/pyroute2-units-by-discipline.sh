#!/bin/sh
# pyroute2 takes delays and rates in other forms and ranges for each queueing discipline.
#
# Guess: netem, tbf, htb and fq_codel all take the texts and the ranges that tc takes.
# Seen with pyroute2 0.9.7 (PyPI), in the requests that it would send to the kernel:
# - tbf's latency and fq_codel's target take "50ms". netem's delay does not ("invalid literal for int()"): it is a whole number
#   of microseconds.
# - htb takes "40gbit", by its attribute for 64 bits. tbf cannot say more than 2^32 - 1 bytes/s, 34.4 Gbit/s, and raises an error
#   although the kernel has TCA_TBF_RATE64.
# - A plain number as rate is bytes/s in all three, while tc's plain number is bit/s (tc(8), "PARAMETERS"). So 10_000_000 is
#   80 Mbit/s.
# - "10Mbit", which tc prints and reads, raises KeyError: units are lower-case.
# Source: pyroute2/netlink/rtnl/tcmsg/{common,sched_netem,sched_tbf,sched_htb}.py.
# A test bed that is moved from tc's command line to pyroute2 gets another path. Needs python3 and the network; no rights.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install pyroute2==0.9.7
"$folder/venv/bin/python" - <<'PYTHON'
from pyroute2.netlink.rtnl.tcmsg import sched_fq_codel, sched_htb, sched_netem, sched_tbf, tcmsg


def options(kind, build, **settings):
    """What the request for the kernel says, after it was written and read again."""
    request = tcmsg()
    request["attrs"] = [("TCA_KIND", kind), ("TCA_OPTIONS", build(settings))]
    request.encode()
    read = tcmsg(request.data)
    read.decode()
    return read.get_attr("TCA_OPTIONS")


def error(*arguments, **settings):
    try:
        return options(*arguments, **settings)
    except Exception as found:
        return type(found).__name__


tbf = sched_tbf.get_parameters
shown = {
    "fq_codel, target 5ms, us": options("fq_codel", sched_fq_codel.get_parameters, fqc_target="5ms").get_attr("TCA_FQ_CODEL_TARGET"),
    "tbf, latency 50ms, limit": options("tbf", tbf, rate="10mbit", latency="50ms", burst=15000).get_attr("TCA_TBF_PARMS")["limit"],
    "netem, delay 20ms": error("netem", sched_netem.get_parameters, delay="20ms"),
    "netem, delay 20000, microseconds": sched_netem.get_parameters({"delay": 20000})["delay"] / sched_netem.get_parameters({"delay": 1})["delay"],
    "htb, 40gbit, bytes/s": dict(sched_htb.get_class_parameters({"rate": "40gbit"})["attrs"][3:])["TCA_HTB_RATE64"],
    "tbf, 40gbit": error("tbf", tbf, rate="40gbit", latency="50ms", burst=15000),
    "tbf, 10mbit, bytes/s": tbf({"rate": "10mbit", "latency": "50ms", "burst": 15000})["attrs"][0][1]["rate"],
    "tbf, 10_000_000, bytes/s": tbf({"rate": 10_000_000, "latency": "50ms", "burst": 15000})["attrs"][0][1]["rate"],
    "tbf, 10Mbit": error("tbf", tbf, rate="10Mbit", latency="50ms", burst=15000),
}
for name, value in shown.items():
    print(f"{name}: {value}")
expected = [5000, 77500, "ValueError", 20000, 5e9, "error", 1250000, 10_000_000, "KeyError"]
raise SystemExit(list(shown.values()) != expected)
PYTHON
