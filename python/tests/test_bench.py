"""How the benches end: by exit status and by name where a goal was missed, whatever else they print.

The real scripts run in a folder of their own. What they would measure is played by programs that come first on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What the scripts measure with, as programs that print what they are told to.
CARGO = """case "$*" in
build*) exit "${BUILD_ENDS:-0}" ;;
*--no-run*) echo '{"executable":"/target/release/deps/peers-0123"}' ;;
*peers*) echo "scenario header"; echo "S1 13.00 1 100 1 0 1"; echo "S2 13.00 1 100 1 0 1"; echo "S3 13.00 1 100 1 0 1" ;;
*hold_rate*) echo "${RATE_SAYS:-97 Mbit/s held}"; exit "${RATE_ENDS:-0}" ;;
esac"""
NS = "echo ${NS_SAYS:-0.5}"
VALGRIND = """for word; do case "$word" in control=*) control=${word#control=} ;; seconds=*) seconds=${word#seconds=} ;; paced) paced=1 ;; esac; done
per=100; pace=none
case "$control" in bbr) per=${BBR_COSTS:-150}; pace=own ;; cubic) per=${CUBIC_COSTS:-120} ;; esac
if [ "${paced:-}" ]; then per=130; fi
echo "pace $pace"; echo "S1 1.0 1.0 $((seconds * 1000)) 1.0 0.0 1.0"; echo "I refs: $((seconds * 1000 * per)),000" | sed 's/,000$//'"""


@pytest.fixture
def place(tmp_path):
    """A folder with the scripts and the programs; the parts that take long say that all is well."""
    for name in ("scripts", "bin", "crates/cc/src"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("bench", "controls", "goals", "not-judged"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    (tmp_path / "crates/cc/src/controls.rs").write_text(
        'pub const CONTROLS: &[Control] = &[\n        name: "reno",\n        name: "cubic",\n        name: "bbr",\n];\n'
    )
    programs = {"cargo": CARGO, "ns": NS, "valgrind": VALGRIND, "taskset": 'shift 2; exec "$@"'}
    for name, text in programs.items():
        executable(tmp_path / "bin" / name, text)
    for name in ("bench-command", "bench-sweep", "bench-transfer"):
        executable(tmp_path / "scripts" / name, "echo well")
    return tmp_path


def executable(path: Path, text: str):
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


def run(place: Path, script: str, *arguments: str, **env: str) -> tuple[int, list[str]]:
    env = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **env}
    ended = subprocess.run([place / "scripts" / script, *arguments], env=env, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.splitlines()


def test_controls_judges_a_paced_controller_beside_a_paced_reno_and_the_others_beside_reno(place):
    code, said = run(place, "controls")
    assert (code, said[-1]) == (0, "no goal was missed")
    rows = {line.split()[0]: line for line in said[1:-1]}
    assert rows["bbr"].endswith("1.15 times paced Reno") and rows["cubic"].endswith("1.20 times Reno")
    code, said = run(place, "controls", "bbr", "cubic", BBR_COSTS="170", CUBIC_COSTS="140")
    assert code == 1
    assert said[-1] == (
        "goals missed: bbr: 1.31 times the instructions of paced Reno (goal: 1.30 at most); "
        "cubic: 1.40 times the instructions of Reno (goal: 1.30 at most)"
    )
    assert run(place, "controls", "cubic", GOAL="1.1")[0] == 1


def test_controls_that_cannot_count_has_missed(place):
    executable(place / "bin/valgrind", "echo broken; exit 1")
    code, said = run(place, "controls", "cubic")
    assert (code, said[-1]) == (1, "goals missed: reno: its instructions could not be counted")


def test_a_bench_that_meets_its_goals_ends_with_0(place):
    code, said = run(place, "bench")
    assert (code, said[-1]) == (0, "no goal was missed"), said


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"NS_SAYS": "1.0"}, "packets per CPU second on S3: 13.0 times those of ns-2 (goal: 20)"),
        ({"BBR_COSTS": "170"}, "bbr: 1.31 times the instructions of paced Reno (goal: 1.30 at most)"),
        ({"RATE_SAYS": "missed: 97 Mbit/s", "RATE_ENDS": "1"}, "97 Mbit/s"),
        ({"RATE_ENDS": "101"}, "emulator: it failed with exit status 101"),
    ],
)
def test_a_bench_names_each_missed_goal_at_its_end_and_ends_with_1(place, env, named):
    code, said = run(place, "bench", **env)
    assert (code, said[-1]) == (1, f"goals missed: {named}"), said


def test_goals_that_could_not_be_judged_are_named_and_are_not_met(place):
    code, said = run(place, "bench", RATE_SAYS="not judged: 97 Mbit/s: the host stalled 20 ms of 4.00 s")
    assert (code, said[-2:]) == (
        0,
        ["goals not judged: 97 Mbit/s: the host stalled 20 ms of 4.00 s", "no goal was missed"],
    )
    code, said = run(place, "bench", RATE_SAYS="no /dev/net/tun", RATE_ENDS="3", NS_SAYS="2.0")
    assert code == 1
    assert said[-2] == "goals not judged: emulator: this machine cannot"
    assert said[-1].count("times those of ns-2") == 3


def test_a_part_that_fails_is_a_missed_goal_and_the_others_go_on(place):
    executable(place / "scripts/bench-sweep", "exit 7")
    executable(place / "scripts/bench-transfer", "echo 'missed: memory of a transfer'; exit 1")
    code, said = run(place, "bench")
    assert code == 1
    assert said[-1] == "goals missed: sweep: it failed with exit status 7; memory of a transfer"
    code, said = run(place, "bench", BUILD_ENDS="101")
    assert code == 1
    assert "simulator: it failed with exit status 101" in said[-1] and "sweep: it failed with exit status 101" in said[-1]


def test_tests_that_could_not_judge_are_listed_once_each(place):
    kept = place / "kept"
    assert run(place, "not-judged", str(kept)) == (0, ["no test reported that it could not judge"])
    kept.write_text("b (x.rs:9)\tstalls\na (x.rs:1)\tno ip\nb (x.rs:9)\tstalls\n")
    assert run(place, "not-judged", str(kept))[1] == [
        "tests that could not judge: 2",
        "    a (x.rs:1): no ip",
        "    b (x.rs:9): stalls",
    ]
