"""Runs on the kernel from Python: the program runs them, and the objects are those of a simulation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from package import ROOT, TARGET, tl

QUICK = ROOT / "scenarios/presets/quick.toml"
# The program needs a network namespace and a TUN device; the words are those of its errors.
CHILD = """
import os, sys, warnings
warnings.simplefilter("ignore")
import tempfile, encodings.idna, tightlink as tl, tightlink._program
program, scenario, user = sys.argv[1:]
os.environ["TIGHTLINK_PROGRAM"] = program
scenario = tl.Scenario.parse(open(scenario).read(), "/tmp/quick.toml")
if int(user):
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
try:
    live = scenario.compare(["sim", "live"])
except tl.MachineError as error:
    print("MachineError", error.faults[0].found)
    sys.exit(77)
sim = scenario.sweep()
swept = [column for column in live.frame.columns if column != "engine"]
print(swept == sim.columns, live.frame["engine"])
for run in live.runs:
    flows = run.series("flows")
    print(run.engine, run.series_names, flows.columns, len(flows) > 10, run["utilization"] > 0.1)
print(len(live.report()) > 100_000)
"""


@pytest.mark.parametrize("user", [0, 65534])
def test_the_kernel_gives_the_columns_of_a_simulation(user, tmp_path):
    if os.geteuid() != 0 and user:
        pytest.skip("only root can become another user")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != folder.parent and "pytest" in str(folder):
            folder.chmod(0o755)
    program = tmp_path / "tightlink"
    shutil.copy(os.environ["TIGHTLINK_PROGRAM"], program)
    program.chmod(0o755)
    words = [sys.executable, "-c", CHILD, program, QUICK, str(user)]
    if user:
        # A device that everybody may open, as on most machines, in a namespace of its own.
        device = 'mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200; exec "$@"'
        words = ["unshare", "-m", "sh", "-c", device, "sh", *words]
    ended = subprocess.run(words, capture_output=True, text=True, cwd="/")
    if ended.returncode == 77:
        pytest.skip(ended.stdout)
    assert ended.returncode == 0, ended.stderr
    same, *runs, report = ended.stdout.splitlines()
    assert same == "True ['sim', 'live', 'sim', 'live']" and report == "True"
    of_sim = {line.removeprefix("sim ") for line in runs if line.startswith("sim")}
    of_live = {line.removeprefix("live ") for line in runs if line.startswith("live")}
    assert len(runs) == 4 and of_live == of_sim and all(line.endswith("True True") for line in runs)


def test_a_run_and_a_sweep_on_the_kernel(monkeypatch):
    path = tl.Scenario.preset("first").set(duration="2s", warmup="1s")
    try:
        run = path.run("live")
    except tl.MachineError as error:
        pytest.skip(str(error))
    assert run.engine == "live" and run["flows.flow.goodput_bps"] > 1e6
    assert run.series("link").columns[:2] == ["t_s", "backlog_bytes"]
    swept = path.sweep({"link.queue.limit": ["20 packets", "1 bdp"]}, engine="live")
    assert swept.columns == path.sweep({"link.queue.limit": ["20 packets", "1 bdp"]}).columns and len(swept) == 2


def test_a_program_that_lacks_the_right_is_a_machine_error(monkeypatch, tmp_path):
    # The program says so itself; here it is one that ends as it does without the right.
    said = "error: cannot make a network namespace: Operation not permitted"
    said += "\n  help: run as root, or allow user namespaces"
    program = tmp_path / "tightlink"
    version = f'if [ "$1" = --version ]; then echo tightlink {tl.__version__}; exit; fi'
    program.write_text(f"#!/bin/sh\n{version}\ncat > /dev/null\nprintf '%s\\n' '{said}' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("TIGHTLINK_PROGRAM", str(program))
    with pytest.raises(tl.MachineError) as caught:
        tl.Scenario.preset("first").run("live")
    assert str(caught.value) == "cannot make a network namespace: Operation not permitted"
    assert caught.value.__notes__ == ["help: run as root, or allow user namespaces"]
    assert isinstance(caught.value, OSError)


def test_no_program_and_one_of_another_version_are_named(monkeypatch, tmp_path):
    program = tmp_path / "tightlink"
    program.write_text("#!/bin/sh\necho tightlink 0.0.1\n")
    program.chmod(0o755)
    monkeypatch.setenv("TIGHTLINK_PROGRAM", str(program))
    with pytest.raises(tl.MachineError) as caught:
        tl.Scenario.preset("first").run("live")
    assert "0.0.1" in str(caught.value) and "wheel" in caught.value.__notes__[0]
    monkeypatch.setenv("TIGHTLINK_PROGRAM", str(tmp_path / "nothing"))
    with pytest.raises(tl.MachineError, match="cannot be started"):
        tl.Scenario.preset("first").run("live")
    assert TARGET


def test_an_engine_that_the_kernel_cannot_be_is_no_machine_error():
    fitting = tl.Scenario.preset("parking-lot").set(duration="2s", warmup="1s")
    with pytest.raises(tl.CannotAnswer) as caught:
        fitting.run("live")
    assert caught.value.faults[0].found
