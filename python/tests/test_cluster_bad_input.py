"""Faults of a cluster, a worker or a store are errors with place, found, accepted and help."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest
from clusters import CHANGED, OTHER_BUILD, WITHOUT_PACKAGE, Cluster, kept_files, small, until
from test_cluster import fill

from tightlink import _native, cluster


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler without workers; each test adds its own, and ends them."""
    with Cluster(tmp_path_factory.mktemp("empty"), workers=0) as cluster:
        yield cluster


def refused(kind: type[Exception], on: object, store: Path, text: str = "", **more: object) -> str:
    """Returns the text and the help of the error."""
    with pytest.raises(kind) as error:
        fill(text or small(3), store, on, say=lambda _: None, **more)
    [fault] = error.value.faults  # type: ignore[attr-defined]
    assert fault.key and fault.found
    return "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])


def test_a_word_is_not_an_address(tmp_path: Path) -> None:
    said = refused(_native.ScenarioError, "localhost", tmp_path)
    assert '"localhost" is not the address of a scheduler' in said and "tcp://localhost:8786" in said
    assert "accepted: a dask.distributed.Client, or an address" in said


def test_a_number_is_not_a_client(tmp_path: Path) -> None:
    assert "int is not a client of Dask" in refused(_native.ScenarioError, 8786, tmp_path)


def test_a_port_without_a_scheduler_is_an_error_within_ten_seconds(tmp_path: Path) -> None:
    begun = time.monotonic()
    said = refused(_native.MachineError, "tcp://127.0.0.1:1", tmp_path)
    assert "tcp://127.0.0.1:1: no scheduler answers" in said and "help: start one: dask scheduler" in said
    assert time.monotonic() - begun < 10


def test_a_closed_client_is_an_error(empty: Cluster, tmp_path: Path) -> None:
    client = distributed.Client(empty.address, set_as_default=False)
    client.close()
    said = refused(_native.ScenarioError, client, tmp_path)
    assert "the client is closed" in said and "accepted: an open client" in said and "help: connect anew" in said


def test_a_scheduler_without_workers_is_an_error(
    empty: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.FIRST_WORKER_S == 30
    monkeypatch.setattr(cluster, "FIRST_WORKER_S", 1.0)
    said = refused(_native.MachineError, empty.address, tmp_path)
    assert "no worker within 1 s" in said and f"dask worker {empty.address}" in said


@pytest.mark.parametrize(
    ("preload", "found"),
    [(WITHOUT_PACKAGE, "cannot import the package tightlink"), (OTHER_BUILD, "another build of tightlink: 0.0.1 ffff")],
)
def test_a_worker_that_lacks_the_package_is_named(empty: Cluster, tmp_path: Path, preload: str, found: str) -> None:
    worker = empty.add_worker(preload)
    said = refused(_native.MachineError, empty.address, tmp_path)
    end(empty, worker)
    assert "worker tcp://127.0.0.1:" in said and found in said
    assert _native.BUILD in said and "help: install the same wheel" in said
    assert not kept_files(tmp_path)


def test_a_worker_that_joins_late_without_the_package_is_named(empty: Cluster, tmp_path: Path) -> None:
    good, late = empty.add_worker(), []

    def join() -> None:
        until(lambda: kept_files(tmp_path))
        late.append(empty.add_worker(WITHOUT_PACKAGE))

    thread = threading.Thread(target=join)
    thread.start()
    said = refused(_native.MachineError, empty.address, tmp_path, small(2000, seconds=5000))
    thread.join()
    end(empty, good, *late)
    assert "worker tcp://127.0.0.1:" in said and "cannot import the package" in said


def test_a_trace_that_differs_on_a_worker_is_refused_with_its_name(empty: Cluster, tmp_path: Path) -> None:
    for folder, size in (("here", 1500), ("there", 1400)):
        (tmp_path / folder).mkdir()
        lines = "".join(f"{at},{size}\n" for at in range(0, 900, 3))
        (tmp_path / folder / "trace.csv").write_text("time_ms,size\n" + lines)
    text = small(3).replace('kind = "poisson"\nrate = "2Mbit/s"', 'kind = "replay"\nfile = "trace.csv"')
    scenario = str(tmp_path / "here/traced.toml")
    worker = empty.add_worker(CHANGED, OTHER_FOLDER=str(tmp_path / "there"))
    said = refused(_native.MachineError, empty.address, tmp_path / "store", text, name=scenario)
    end(empty, worker)
    assert "trace.csv has another content there" in said and "worker tcp://" in said
    assert not kept_files(tmp_path / "store")

    worker = empty.add_worker(CHANGED, OTHER_FOLDER=str(tmp_path / "nowhere"))
    said = refused(_native.MachineError, empty.address, tmp_path / "store", text, name=scenario)
    end(empty, worker)
    assert "cannot read the scenario" in said and f"{tmp_path}/nowhere/trace.csv" in said


def test_a_store_that_cannot_be_written_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    said = refused(_native.MachineError, "tcp://127.0.0.1:1", tmp_path / "file/store")
    assert f"{tmp_path}/file/store" in said and "scheduler" not in said


def test_a_store_that_gets_full_is_an_error_and_what_was_kept_stays(empty: Cluster, tmp_path: Path) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", tmp_path], capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        worker = empty.add_worker()

        def fill_up() -> None:
            until(lambda: kept_files(tmp_path))
            try:
                with open(tmp_path / "ballast", "wb", buffering=0) as ballast:
                    while ballast.write(bytes(1 << 20)):
                        pass
            except OSError:
                pass

        threading.Thread(target=fill_up).start()
        said = refused(_native.MachineError, empty.address, tmp_path, small(2000, seconds=1000))
        end(empty, worker)
        assert "No space left" in said and str(tmp_path) in said
        os.remove(tmp_path / "ballast")
        assert kept_files(tmp_path)
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def end(cluster: Cluster, *workers: subprocess.Popen[bytes]) -> None:
    """Ends workers, and waits until the scheduler knows."""
    for worker in workers:
        worker.terminate()
        worker.wait(20)
        cluster.workers.remove(worker)
    with distributed.Client(cluster.address, set_as_default=False) as client:
        until(lambda: not client.nthreads())
