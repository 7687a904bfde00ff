#!/usr/bin/env python3
"""Runs cases behind the emulated link, and keeps what every observer saw. Needs root, tcpdump and python3.

    tests/diagnosed/run.py TIGHTLINK FOLDER FIRST LAST [SECONDS]

A case of seed N leaves FOLDER/N/ with:

- `case.json`: the case (`draw.py`), the programs' logs, and the emulator's account against time;
- `near.pcap.gz`, `far.pcap.gz`: captures at the sender and at the receiver, 128 bytes of each packet;
- `near.readings.gz`, `far.readings.gz`: the kernel's readings of the socket (`readings.py`).

A case that is there already is left as it is.
"""

import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import draw

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = """for side in near far; do
    until grep -qs listening $side.tcpdump && [ -e $side.readings ]; do sleep 0.05; done
done"""
MEMORY = {"near": "sender", "far": "receiver"}


def watch(side, case):
    """Writes the lines of shell that set the memory of an end and begin its recordings."""
    options = case[MEMORY[side]]
    lines = []
    for key, least, start in (("rmem", 4096, 131072), ("wmem", 4096, 16384)):
        if key in options:
            most = max(options[key], least)
            lines.append(f"sysctl -qw net.ipv4.tcp_{key}='{least} {min(start, most)} {most}'")
    capture = f"tcpdump -Z root --immediate-mode -U -i tight -s 128 -w {side}.pcap 'tcp port 5000'"
    lines.append(f"{capture} 2>{side}.tcpdump & TCPDUMP=$!")
    lines.append(f"python3 {HERE}/readings.py {side}.readings {case['seconds'] + 6} 5000 & READINGS=$!")
    return "\n".join(lines)


def command(program, case):
    """Returns the command of a case."""
    room = draw.limit(case["queue"], case)
    out = [
        program, "emulate", "--as-root", "--json", "--report", "page.html", "--seed", str(case["seed"]),
        "--control", case["control"], "--delay", f"{case['rtt'] / 2 * 1e3:.3f}ms",
        "--queue", case["queue"] if room is None else f"{int(room)}B", "--rate", f"{case['rate']:.0f}bit/s",
    ]
    if case["one_way"]:
        out.append("--one-way")
    if "loss" in case:
        out += ["--loss", str(case["loss"])]
    if "steps" in case:
        (_, high), (middle, low), every = case["steps"]
        text = f'[["0s", "{high:.0f}bit/s"], ["{middle}s", "{low:.0f}bit/s"]]'
        out += ["--set", f'link.rate={{ steps = {text}, every = "{every}s" }}']
    for change in case["set"]:
        out += ["--set", change]
    server = f"{watch('far', case)}\nexec python3 {HERE}/program.py receive case.json far.json"
    near = (f"cat /proc/uptime > begin\n{watch('near', case)}\n{RECORDED}\n"
            f"python3 {HERE}/program.py send case.json near.json\n"
            "sleep 0.5\nkill $TCPDUMP $READINGS\nwait")
    return [*out, "--server", server, "--", "sh", "-c", near]


def account(page):
    """Returns the emulator's account of the direction to the far end: lists against time."""
    text = page.read_text()
    begin = text.index('<script type="application/json" id="report-data">')
    data = json.loads(text[text.index(">", begin) + 1:text.index("</script>", begin)])
    out = {}
    for chart in data["cases"][0]["charts"]:
        trace = chart["traces"][0]
        out[chart["kind"]] = {"t": trace["x"], "y": trace["y"]}
        if chart.get("area"):
            out["capacity"] = {"t": chart["area"]["x"], "y": chart["area"]["y"]}
    return out


def run(program, folder, seed, seconds):
    """Runs the case of a seed."""
    case = draw.draw(seed)
    case["seconds"] = seconds
    kept = folder / str(seed)
    if (kept / "case.json").exists():
        return
    with tempfile.TemporaryDirectory(dir=folder) as place:
        place = pathlib.Path(place)
        (place / "case.json").write_text(json.dumps(case))
        done = subprocess.run(command(program, case), cwd=place, capture_output=True, text=True, timeout=60)
        lines = done.stdout.strip().splitlines()
        if done.returncode != 0 or not lines:
            sys.exit(f"seed {seed}: exit code {done.returncode}\n{done.stderr}")
        case["emulated"] = json.loads(lines[-1])
        case["account"] = account(place / "page.html")
        case["begin"] = float((place / "begin").read_text().split()[0])
        case["clock"] = time.time() - time.monotonic()
        for side in MEMORY:
            log = place / f"{side}.json"
            case[side] = json.loads(log.read_text()) if log.exists() else {}
        kept.mkdir()
        for side in MEMORY:
            for name in ("pcap", "readings"):
                with open(place / f"{side}.{name}", "rb") as plain:
                    with gzip.open(kept / f"{side}.{name}.gz", "wb", 4) as out:
                        shutil.copyfileobj(plain, out)
        (kept / "case.json").write_text(json.dumps(case))
    far = case["emulated"]["to_far"]
    path = f"{case['control']:5} {case['rate'] / 1e6:5.1f} Mbit/s {case['rtt'] * 1e3:4.0f} ms"
    busy = f"{100 * far['utilization']:5.1f} % busy, {far['packets_dropped']} dropped"
    print(f"{seed:5} {case['kind']:16} {path}  {busy}", flush=True)


if __name__ == "__main__":
    program, folder, first, last, *seconds = sys.argv[1:]
    program, folder = str(pathlib.Path(program).resolve()), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(int(first), int(last) + 1):
        run(program, folder, seed, float(seconds[0]) if seconds else 10.0)
