"""Sweeps on a cluster: the same table to the byte, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest
from clusters import CHANGED, Cluster, kept_files, small, tables, until
from package import ROOT, TARGET, tl

from tightlink import _native, cluster

PROGRAM = TARGET / "debug/tightlink"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with two workers, for the tests in which nothing dies."""
    with Cluster(tmp_path_factory.mktemp("two"), workers=2) as cluster:
        yield cluster


def fill(text: str, store: Path, on: Any, name: str = "small.toml", **more: Any) -> dict[int, str]:
    """Fills the store of the scenario's own sweep."""
    scenario = _native.Scenario.parse(text, name)
    return cluster.fill(scenario, scenario.tasks(), store, on=on, **more)


def test_a_cluster_gives_the_table_of_this_machine_to_the_byte(two: Cluster, tmp_path: Path) -> None:
    text, said = small(40), []
    scenario = _native.Scenario.parse(text, "small.toml")
    scenario.sweep(store=tmp_path / "here")
    few = _native.Scenario.parse(small(10), "small.toml")
    few.sweep(store=tmp_path / "there")
    before = kept_files(tmp_path / "there")
    assert len(before) == 10
    steps: list[tuple[int, int]] = []
    progress = lambda done, points: steps.append((done, points))  # noqa: E731
    with distributed.Client(two.address, set_as_default=False) as client:
        failed = fill(text, tmp_path / "there", client, say=said.append, progress=progress)
        assert client.status == "running", "the caller's client stays open"
        assert client.processing() == {worker: () for worker in client.nthreads()}
    assert failed == {}
    assert said[0] == f"40 points, 30 missing, 2 workers with 2 threads at {two.address}"
    assert steps[0] == (10, 40) and steps[-1] == (40, 40) and steps == sorted(steps)
    after = kept_files(tmp_path / "there")
    assert before.items() <= after.items(), "a kept point was computed again"
    scenario.sweep(store=tmp_path / "there")
    assert kept_files(tmp_path / "there") == after, "the table needs no run"
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    assert len(tables(tmp_path / "here")) == 2


def test_a_full_store_needs_no_cluster(tmp_path: Path) -> None:
    scenario = _native.Scenario.parse(small(3), "small.toml")
    scenario.sweep(store=tmp_path)
    said: list[str] = []
    assert cluster.fill(scenario, scenario.tasks(), tmp_path, on="tcp://127.0.0.1:1", say=said.append) == {}
    assert said == ["3 points, none missing"]


def test_several_keys_a_cell_and_a_trace_give_the_same_bytes(two: Cluster, tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("time_ms,size\n" + "".join(f"{at},1500\n" for at in range(0, 900, 3)))
    traced = small(2).replace('kind = "poisson"\nrate = "2Mbit/s"', 'kind = "replay"\nfile = "trace.csv"')
    cell = (ROOT / "scenarios/wlan/fig8.toml").read_text().split("[sweep]")[0]
    cell = cell.replace("250s", "6s").replace('"50s"', '"1s"') + '[sweep]\n"flow.upload.count" = [0, 2]\n'
    keys = '"link.queue.limit" = ["0.5 bdp", "1 bdp"]\n"flow.rtt" = ["20ms", "40ms"]\n'
    for name, text in (("keys", small(2) + keys), ("cell", cell), ("trace", traced)):
        file = tmp_path / f"{name}.toml"
        file.write_text(text)
        scenario = _native.Scenario.read(file)
        scenario.sweep(store=tmp_path / "here")
        failed = cluster.fill(scenario, scenario.tasks(), tmp_path / "there", on=two.address, say=lambda _: None)
        assert failed == {}, name
        kept = kept_files(tmp_path / "there")
        scenario.sweep(store=tmp_path / "there")
        assert kept_files(tmp_path / "there") == kept, name
    assert len(kept) == 8 + 2 + 2
    assert tables(tmp_path / "there") == tables(tmp_path / "here")


def test_a_point_that_fails_says_why_and_the_rest_finishes(two: Cluster, tmp_path: Path) -> None:
    text = small(1).split("[[traffic]]")[0].replace('duration = "5s"\nwarmup = "500ms"', "") + "size = '1MB'\n"
    swept = text + '[sweep]\nwarmup = ["0s", "100s", "100ms"]\n'
    failed = fill(swept, tmp_path, two.address, say=lambda _: None)
    assert list(failed) == [1] and failed[1].startswith("every flow ended by "), failed
    assert len(kept_files(tmp_path)) == 2
    with pytest.raises(tl.SweepFailed) as error:
        tl.Scenario.parse(text).sweep({"warmup": ["0s", "100s", "100ms"]}, on=two.address, progress=False)
    [(point, reason)] = error.value.points
    assert point == {"warmup": "100s"} and reason.startswith("every flow ended by ")
    assert error.value.frame["warmup"] == ["0s", "100ms"]


def test_the_package_sweeps_on_a_client(two: Cluster) -> None:
    scenario = tl.Scenario.parse(small(1).split("[sweep]")[0])
    keys: dict[str, Any] = {"link.queue.limit": ["0.5 bdp", "1 bdp"], "seed": range(3)}
    here = scenario.sweep(keys, progress=False)
    with distributed.Client(two.address, set_as_default=False) as client:
        there = scenario.sweep(keys, on=client, progress=False)

        def stop(done: int, points: int) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            scenario.sweep(keys, on=client, progress=stop)
        until(lambda: not any(client.processing().values()))
    assert there.to_dict() == here.to_dict() and len(there) == 6


def test_workers_that_are_killed_cost_their_chunks_only(tmp_path: Path) -> None:
    text = small(60, seconds=300)
    _native.Scenario.parse(text, "small.toml").sweep(store=tmp_path / "here")
    with Cluster(tmp_path, workers=2) as killed:
        threading.Thread(target=kill_in_the_middle, args=(killed, tmp_path / "there")).start()
        assert fill(text, tmp_path / "there", killed.address, say=lambda _: None) == {}
    kept = kept_files(tmp_path / "there")
    _native.Scenario.parse(text, "small.toml").sweep(store=tmp_path / "there")
    assert kept_files(tmp_path / "there") == kept and len(kept) == 60
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
    assert "killed 2" in (tmp_path / "killed").read_text()


def kill_in_the_middle(cluster: Cluster, store: Path) -> None:
    until(lambda: len(kept_files(store)) >= 5)
    (cluster.folder / "killed").write_text(f"killed {cluster.kill_working()}")


def test_after_the_schedulers_death_the_same_call_goes_on(tmp_path: Path) -> None:
    text, store = small(60, seconds=300), tmp_path / "store"
    with Cluster(tmp_path, workers=2) as killed:

        def kill() -> None:
            until(lambda: len(kept_files(store)) >= 5)
            killed.scheduler.kill()

        threading.Thread(target=kill).start()
        with pytest.raises(_native.MachineError, match="does not answer any more") as died:
            fill(text, store, killed.address, say=lambda _: None)
        before = kept_files(store)
        assert f"{len(before)} of 60 points are kept" in str(died.value)
        assert "start the scheduler and all workers again" in died.value.__notes__[0]
        assert 5 <= len(before) < 60
        killed.start()
        killed.add_worker()
        assert fill(text, store, killed.address, say=lambda _: None) == {}
    after = kept_files(store)
    assert before.items() <= after.items() and len(after) == 60, "a kept point was computed again"


def test_a_point_that_kills_its_process_is_named(tmp_path: Path) -> None:
    said: list[str] = []
    with Cluster(tmp_path, workers=2, preload=CHANGED, allowed_failures=0, DEADLY_SEED="7") as deadly:
        failed = fill(small(20, seconds=200), tmp_path / "store", deadly.address, say=said.append)
    assert list(failed) == [6] and "its process died" in failed[6], failed
    assert any(line.startswith("seed = 7: ") for line in said), said
    assert len(kept_files(tmp_path / "store")) == 19


def test_ctrl_c_cancels_what_is_under_way(two: Cluster, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(small(200, seconds=2000))
    command = [PROGRAM, "sweep", "small.toml", "--on", two.address]
    env = {**os.environ, "TIGHTLINK_PYTHON": sys.executable}
    with distributed.Client(two.address, set_as_default=False) as client:
        # A terminal sends the signal to all processes of the command.
        how: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        run = subprocess.Popen(command, cwd=tmp_path, env=env, **how)
        until(lambda: len(kept_files(tmp_path / "results")) >= 2)
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=30)
        assert run.returncode == 130, said
        assert "interrupted: " in said and "of 200 points are done; the same command goes on" in said
        until(lambda: not any(client.processing().values()))
    assert "Traceback" not in said


def test_the_program_prints_the_table_of_this_machine(two: Cluster, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(small(6))
    env = {**os.environ, "TIGHTLINK_PYTHON": sys.executable}

    def sweep(out: str, *more: str) -> str:
        command = [PROGRAM, "sweep", "small.toml", "--out", out, *more]
        return subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True).stdout

    assert sweep("here") == sweep("there", "--on", two.address)
    assert tables(tmp_path / "here") == tables(tmp_path / "there")
    here, there = sweep("none", "--json"), sweep("none", "--json", "--on", two.address)
    assert [measured(line) for line in here.splitlines()] == [measured(line) for line in there.splitlines()]


def measured(line: str) -> dict[str, Any]:
    """Returns a line of `--json` without what a run costs."""
    point: dict[str, Any] = json.loads(line)
    costs = {"wall_s", "peak_rss_bytes"}
    point["summary"] = {key: value for key, value in point["summary"].items() if key not in costs}
    return point
