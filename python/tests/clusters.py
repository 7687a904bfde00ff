"""Clusters of Dask for tests: a scheduler and workers as processes, which a test may kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import distributed
import package  # noqa: F401  It puts the package where workers import it, too.

# The scheduler has no package, so that a test notices a message which it could not read.
SCHEDULER = "import sys; sys.modules['tightlink'] = None; from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"

# What a worker loads first, for workers that are not as they should be.
WITHOUT_PACKAGE = "import sys; sys.modules['tightlink'] = None"
OTHER_BUILD = "import tightlink._native as native; native.BUILD = '0.0.1 ffff'"
# A worker that changes what it is asked for: it dies at one seed, or it reads the files of another folder.
CHANGED = """
import os, signal
from pathlib import Path
import tightlink._native as native
# Dask loads this twice into one module.
if not hasattr(native, "RealScenario"): native.RealScenario = native.Scenario
class Scenario:
    def __init__(self, real): self.real = real
    @staticmethod
    def restored(text, name, *rest):
        other = os.environ.get("OTHER_FOLDER")
        return Scenario(native.RealScenario.restored(text, str(Path(other, Path(name).name)) if other else name, *rest))
    def kept(self, point, **how):
        if dict(point).get("seed") == os.environ.get("DEADLY_SEED"): os.kill(os.getpid(), signal.SIGKILL)
        return self.real.kept(point, **how)
native.Scenario = Scenario
"""


SMALL = """title = "small"
duration = "SECONDSs"
warmup = "500ms"

[link]
rate = "10Mbit/s"
delay = "5ms"
queue = { kind = "drop-tail", limit = "1 bdp" }

[[flow]]
control = "reno"

[[traffic]]
kind = "poisson"
rate = "2Mbit/s"

[sweep]
seed = [SEEDS]
"""


def small(points: int, seconds: int = 5) -> str:
    """Returns a scenario whose points have the seeds from 1; each second costs 0.1 ms and more."""
    return SMALL.replace("SECONDS", str(seconds)).replace("SEEDS", ", ".join(map(str, range(1, points + 1))))


def kept_files(store: Path) -> dict[str, int]:
    """Returns the kept points, each with a number that changes when it is written again."""
    files = (store / "points/sim").glob("*.json")
    return {file.name: file.stat().st_ino for file in files}


def tables(store: Path) -> dict[str, bytes]:
    """Returns the tables of all points."""
    return {file.name: file.read_bytes() for file in store.iterdir() if file.is_file()}


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits until the condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.05)


class Cluster:
    """A scheduler and its workers. All end with the `with` block."""

    def __init__(
        self,
        folder: Path,
        workers: int = 1,
        preload: str = "",
        allowed_failures: int = 3,
        **env: str,
    ) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.address = ""
        self.scheduler: subprocess.Popen[bytes]
        self.start(allowed_failures)
        for _ in range(workers):
            self.add_worker(preload, **env)

    def start(self, allowed_failures: int = 3) -> None:
        """Starts the scheduler."""
        about = self.folder / f"scheduler-{time.monotonic_ns()}.json"
        env = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        command = [*"--host 127.0.0.1 --port 0 --no-dashboard --scheduler-file".split(), str(about)]
        self.scheduler = self.process("scheduler", SCHEDULER, command, env)
        until(lambda: about.exists() and about.stat().st_size > 0)
        self.address = json.loads(about.read_text())["address"]

    def add_worker(self, preload: str = "", threads: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """Starts a worker, which loads `preload` first."""
        command = [self.address, "--nthreads", str(threads), "--no-dashboard", "--local-directory", str(self.folder)]
        command += ["--death-timeout", "60", *(["--preload", preload] if preload else [])]
        worker = self.process("worker", WORKER, command, env)
        self.workers.append(worker)
        return worker

    def wait_for_workers(self) -> None:
        """Waits until the scheduler knows all workers."""
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=120)

    def process(
        self, name: str, program: str, arguments: list[str], env: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{name}.log", "ab") as log:
            command = [sys.executable, "-c", program, *arguments]
            how = {"stdout": log, "stderr": log, "start_new_session": True}
            return subprocess.Popen(command, env={**os.environ, **env}, **how)  # type: ignore[call-overload]

    def kill_working(self) -> int:
        """Kills the processes that compute by -9. Their nannies, which we started, start others in their place."""
        killed = 0
        for worker in self.workers:
            for child in children(worker.pid):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(child, signal.SIGKILL)
                    killed += 1
        return killed

    def __enter__(self) -> Cluster:
        if self.workers:
            self.wait_for_workers()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in [*self.workers, self.scheduler]:
            # A nanny's worker is in its session. All of it at once is quicker than what they would do at a SIGTERM.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def children(process: int) -> Iterator[int]:
    """Returns the processes that `process` started."""
    for task in Path(f"/proc/{process}/task").iterdir():
        yield from map(int, (task / "children").read_text().split())
