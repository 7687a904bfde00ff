"""Sweeps on a Dask cluster: workers compute the points that a store lacks, and the ordinary sweep then makes the table.

A worker gets the scenario's text, its settings and some points, and returns these points as a store keeps them. Only
the client writes, so the workers need the package and no common file system, and the scheduler needs nothing.

`fill` is the only call. Its steps: `_connected` and `_workers` make sure of the cluster, `_Filling` sends chunks of
points and keeps what returns, and `_chunk` is the part that runs on the workers.
"""

from __future__ import annotations

import itertools
import logging
import os
import queue
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from . import _native
from ._errors import complain, machine

CHUNK_S = 2.0
"""The seconds of work in a chunk. Sending one costs up to 9 ms."""
CONNECT_S = 5.0
"""The seconds in which the scheduler must answer."""
FIRST_WORKER_S = 30.0
"""The seconds in which a first worker must appear."""
LINE_S = 10.0
"""The seconds between lines about the time left."""
LOOK_S = 1.0
"""The seconds between looks at the number of workers."""

Say = Callable[[str], object]
Progress = Callable[[int, int], object]


def fill(
    scenario: _native.Scenario,
    tasks: _native.Tasks,
    store: str | os.PathLike[str],
    *,
    on: Any,
    progress: Progress | None = None,
    say: Say | None = None,
) -> dict[int, str]:
    """Computes the points of `tasks` that `store` lacks on the cluster `on`, and keeps them there.

    `on` is a `distributed.Client`, which stays open, or an address such as "tcp://host:8786". `say` gets lines for a
    person; without it they go to stderr. Returns the points that failed, by their numbers, each with the reason.
    """
    say = say or _to_stderr
    _check(on)
    kept = _native.Store(store, tasks)
    missing = kept.missing()
    if not missing:
        say(f"{_count(len(tasks), 'point')}, none missing")
        return {}
    with _connected(on) as client:
        threads = _workers(client, say)
        workers = f"{_count(len(threads), 'worker')} with {_count(sum(threads.values()), 'thread')}"
        say(f"{_count(len(tasks), 'point')}, {len(missing)} missing, {workers} at {_address(client)}")
        filling = _Filling(client, scenario, tasks, kept, missing, sum(threads.values()), progress, say)
        return filling.run()


# What runs on the workers. These functions are sent by value, because the scheduler unpickles them, too, and may have
# no package.


def _telling() -> tuple[str, str]:
    """Returns "build" and the worker's build of the package, or "none" and the reason why it has none."""
    try:
        from tightlink import _native
    except ImportError as error:
        return "none", str(error)
    return "build", _native.BUILD


def _chunk(
    build: str, scenario: Sequence[Any], engine: str, points: list[list[tuple[str, str]]], most_s: float
) -> tuple[str, str, Any, float]:
    """Runs points on a worker, as many as fit into `most_s` seconds and at least one.

    Returns "done", the worker's address, a list with the bytes of each point or the text of its error, and the seconds.
    If the worker cannot work, the first is "none", "build", "fault" or "broken", and the third says more.
    """
    import time

    from distributed import get_worker

    begun = time.monotonic()
    address = get_worker().address
    try:
        from tightlink import _native
    except ImportError as error:
        return "none", address, str(error), 0.0
    if _native.BUILD != build:
        return "build", address, _native.BUILD, 0.0
    results: list[bytes | str] = []
    try:
        restored = _native.Scenario.restored(*scenario)
        for point in points:
            try:
                results.append(restored.kept(point, engine=engine))
            except _native.ScenarioError:
                raise
            except BaseException as error:
                # A panic of the engine is no Exception.
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                results.append(str(error))
            if time.monotonic() - begun > most_s:
                break
    except _native.ScenarioError as error:
        return "fault", address, str(error), 0.0
    except Exception as error:
        # Dask waits forever for an exception that it cannot pickle.
        return "broken", address, f"{type(error).__name__}: {error}", 0.0
    return "done", address, results, time.monotonic() - begun


# cloudpickle sends functions of __main__ by value, and those of an importable module by name.
_telling.__module__ = _chunk.__module__ = "__main__"


# The cluster.


def _check(on: Any) -> None:
    """Raises the error of an `on` that is neither an open client nor an address."""
    accepted = 'a dask.distributed.Client, or an address such as "tcp://host:8786"'
    if isinstance(on, str):
        if re.fullmatch(r"(tcp|tls)://(\[[^\]]+\]|[^\s/:]+):\d+/?", on) is None:
            help = f"write on=\"tcp://{on}:8786\"" if re.fullmatch(r"[\w.-]+", on) else "give protocol, host and port"
            raise complain("on", f'"{on}" is not the address of a scheduler', accepted, help)
        return
    distributed = _distributed()
    if not isinstance(on, distributed.Client):
        raise complain("on", f"{type(on).__name__} is not a client of Dask", accepted)
    if on.asynchronous:
        raise complain("on", "the client is asynchronous", "a client that waits", "make it without asynchronous=True")
    if on.status != "running":
        found = f"the client is {on.status}"
        raise complain("on", found, "an open client", "connect anew: Client(address)")


def _distributed() -> Any:
    """Returns the module `distributed`."""
    try:
        import distributed
    except ImportError:
        help = "pip install 'tightlink[dask]', or pip install distributed"
        raise machine("on", "this Python has no Dask", help, "dask.distributed") from None
    return distributed


@contextmanager
def _connected(on: Any) -> Iterator[Any]:
    """Gives the client: `on` itself, or one for its address, which is closed at the end."""
    if not isinstance(on, str):
        yield on
        return
    distributed = _distributed()
    log = logging.getLogger("distributed.client")
    level = log.level
    # What it would say is in our errors.
    log.setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(on, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        help = "start one: dask scheduler --host HOST --port PORT"
        found = f"no scheduler answers within {CONNECT_S:.0f} s ({_first_line(error)})"
        raise machine(on, found, help, "the address of a scheduler of Dask") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=2)
        log.setLevel(level)


def _address(client: Any) -> str:
    return str(client.scheduler.address) if client.scheduler is not None else "the scheduler"


def _workers(client: Any, say: Say) -> dict[str, int]:
    """Waits for a first worker, and checks the build of all. Returns the number of threads of each."""
    address = _address(client)
    until = time.monotonic() + FIRST_WORKER_S
    waiting = False
    with _while_connected(client):
        while not sum((threads := dict(client.nthreads())).values()):
            if time.monotonic() > until:
                found = f"no worker within {FIRST_WORKER_S:.0f} s"
                help = f"start some where the package is installed: dask worker {address}"
                raise machine(address, found, help, "at least one worker")
            if not waiting:
                say(f"{address} has no worker yet; waiting {FIRST_WORKER_S:.0f} s for one")
                waiting = True
            time.sleep(0.1)
        versions = client.get_versions()
        _same_python(versions["scheduler"], f"the scheduler {address}")
        for worker, its in versions["workers"].items():
            _same_python(its, f"worker {worker}")
        for worker, told in client.run(_telling, on_error="return").items():
            # A worker that ended meanwhile gives an exception. It does not matter.
            if isinstance(told, tuple) and told != ("build", _native.BUILD):
                raise _unfit(worker, *told)
    return threads


def _same_python(versions: dict[str, Any], whose: str) -> None:
    """Raises an error if another minor version of Python runs there, because code objects differ between them."""
    here = ".".join(map(str, sys.version_info[:2]))
    there = ".".join(str(versions.get("host", {}).get("python", here)).split(".")[:2])
    if there != here:
        help = f"start it with Python {here}, or this program with Python {there}"
        raise machine(whose, f"it runs on Python {there}", help, f"Python {here}, as here")


def _unfit(worker: str, kind: str, more: str) -> Exception:
    """Returns the error of a worker that cannot work, by the answer of `_telling` or `_chunk`."""
    wheel = f"tightlink-{_native.VERSION}-….whl"
    install = f"install the same wheel for that worker (pip install --force-reinstall {wheel}), and start it again"
    place = f"worker {worker}"
    if kind == "none":
        found = f"it cannot import the package tightlink ({more})"
        return machine(place, found, install, f"tightlink {_native.BUILD}, as here")
    if kind == "build":
        found = f"it has another build of tightlink: {more}"
        return machine(place, found, install, f"{_native.BUILD}, as here")
    if kind == "broken":
        return machine(place, f"it failed: {more}", "the log of that worker may say more")
    help = "put the files that the scenario names where all workers read them under the same path"
    return machine(place, f"it cannot read the scenario: {more}", help, "the same files as here")


@contextmanager
def _while_connected(client: Any, kept: Callable[[], str] = lambda: "nothing was sent") -> Iterator[None]:
    """Turns the exceptions of Dask after the scheduler's end into the error that says how to go on."""
    from concurrent.futures import CancelledError

    try:
        yield
    except _native.MachineError:
        raise
    except (OSError, CancelledError, TimeoutError, RuntimeError) as error:
        raise _lost(client, kept(), error) from None


def _lost(client: Any, kept: str, error: BaseException) -> Exception:
    found = f"the scheduler does not answer any more ({_first_line(error)}); {kept}"
    help = "start the scheduler and all workers again, since workers end with it; the same command then goes on"
    return machine(_address(client), found, help)


# The work.


class _Filling:
    """The points under way, those that wait, and those that failed."""

    def __init__(
        self,
        client: Any,
        scenario: _native.Scenario,
        tasks: _native.Tasks,
        store: _native.Store,
        missing: list[int],
        threads: int,
        progress: Progress | None,
        say: Say,
    ) -> None:
        self.client = client
        self.scenario = scenario.__reduce__()[1]
        self.tasks = tasks
        self.hashes = tasks.hashes
        self.store = store
        self.threads = threads
        self.progress = progress
        self.say = say
        # Points with the same content have the same hash; the first of them is enough, and the others share its fate.
        self.same: dict[str, list[int]] = {self.hashes[number]: [] for number in missing}
        for number, hash in enumerate(self.hashes):
            if hash in self.same:
                self.same[hash].append(number)
        self.waiting = deque(numbers[0] for numbers in self.same.values())
        self.under_way: dict[str, tuple[Any, list[int]]] = {}
        self.ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        # Chunks that Dask gave up. They run one at a time after all others, so that no other chunk's death is theirs.
        self.suspects: list[list[int]] = []
        self.died: dict[int, int] = {}
        self.failed: dict[int, str] = {}
        self.point_s: float | None = None
        self.done = len(tasks) - sum(map(len, self.same.values()))
        self.begun = self.told = self.looked = time.monotonic()
        self.first = self.done
        self.stem = _stem(scenario.name)
        self.run_id = os.urandom(4).hex()
        self.chunks = itertools.count()

    def run(self) -> dict[int, str]:
        """Sends chunks until no point is missing, and cancels what is under way if anything else ends this."""
        try:
            self.tell()
            while self.waiting or self.under_way or self.suspects:
                with _while_connected(self.client, self.kept):
                    self.send()
                try:
                    key = self.ended.get(timeout=LOOK_S / 4)
                except queue.Empty:
                    pass
                else:
                    self.take(key)
                with _while_connected(self.client, self.kept):
                    self.look()
        except BaseException:
            with suppress(Exception):
                self.client.cancel([future for future, _ in self.under_way.values()], force=True)
            raise
        return dict(sorted(self.failed.items()))

    def send(self) -> None:
        """Submits chunks, at most two for each thread. A suspect is alone."""
        while self.waiting and len(self.under_way) < 2 * max(self.threads, 1):
            size = min(self.size(), len(self.waiting))
            self.submit([self.waiting.popleft() for _ in range(size)])
        if not self.under_way and self.suspects:
            self.submit(self.suspects.pop())

    def size(self) -> int:
        """Returns the number of points for the next chunk. The last are smaller, so that all threads end together."""
        if self.point_s is None:
            return 1
        share = len(self.waiting) / (2 * max(self.threads, 1))
        seconds = min(CHUNK_S, max(share * self.point_s, CHUNK_S / 10))
        return max(1, round(seconds / max(self.point_s, 1e-6)))

    def submit(self, numbers: list[int]) -> None:
        key = f"{self.stem}-{self.run_id}-{next(self.chunks):05}"
        points = [self.tasks.point(number) for number in numbers]
        arguments = (_native.BUILD, self.scenario, self.tasks.engine, points, 2 * CHUNK_S)
        future = self.client.submit(_chunk, *arguments, key=key, pure=False)
        self.under_way[key] = future, numbers
        future.add_done_callback(lambda future: self.ended.put(future.key))

    def take(self, key: str) -> None:
        """Keeps the points of a chunk that ended."""
        future, numbers = self.under_way.pop(key)
        if future.status == "finished":
            try:
                result = future.result()
            except Exception as error:
                if self.client.status != "running":
                    raise _lost(self.client, self.kept(), error) from None
                # The worker that had the result died, and Dask gave up fetching it.
                self.suspects.append(numbers)
                return
            self.keep(numbers, *result)
            return
        failure = future.exception() if future.status == "error" else None
        if type(failure).__name__ == "KilledWorker":
            self.give_up(numbers)
        elif failure is not None:
            found = f"a worker failed: {type(failure).__name__}: {_first_line(failure)}; {self.kept()}"
            raise machine(_address(self.client), found, "the worker's log says more")
        else:
            with suppress(Exception):
                future.result(timeout=1)
            raise _lost(self.client, self.kept(), ConnectionError("what was under way was cancelled"))

    def keep(self, numbers: list[int], kind: str, worker: str, results: Any, seconds: float) -> None:
        """Puts a chunk's points into the store."""
        if kind != "done":
            raise _unfit(worker, kind, results)
        for number, result in zip(numbers, results, strict=False):
            same = self.same[self.hashes[number]]
            if isinstance(result, str):
                # The error of a run begins with the point, which the table has in columns of its own.
                reason = result.removeprefix(f"{self.tasks.label(number)}: ")
                self.failed.update(dict.fromkeys(same, reason))
            else:
                try:
                    self.store.put(result)
                except _native.ScenarioError as error:
                    raise self.differs(worker, error) from None
            self.done += len(same)
        each = seconds / len(results)
        self.point_s = each if self.point_s is None else (self.point_s + each) / 2
        # A chunk that took too long left some of its points.
        self.waiting.extendleft(reversed(numbers[len(results) :]))
        self.tell()

    def differs(self, worker: str, error: Exception) -> Exception:
        """Returns the error of a worker whose point is not one of this sweep."""
        place = f"worker {worker}"
        if not self.tasks.files:
            return machine(place, _first_line(error), None, "points of this sweep")
        files = " or ".join(self.tasks.files)
        found = f"{files} has another content there, so its points are refused"
        help = "give all workers the same file, for example in a shared folder"
        return machine(place, found, help, "the content that the file has here")

    def give_up(self, numbers: list[int]) -> None:
        """Halves a chunk whose workers died again and again. One point is named after it died alone."""
        if len(numbers) > 1:
            half = len(numbers) // 2
            self.suspects += [numbers[half:], numbers[:half]]
            return
        [number] = numbers
        self.died[number] = self.died.get(number, 0) + 1
        if self.died[number] < 2:
            self.suspects.append(numbers)
            return
        reason = "its process died each time, also when it ran alone"
        same = self.same[self.hashes[number]]
        self.failed.update(dict.fromkeys(same, reason))
        self.done += len(same)
        self.say(f"{self.tasks.label(number) or 'the point'}: {reason}")
        self.tell()

    def look(self) -> None:
        """Looks after the workers from time to time, and says the time left."""
        now = time.monotonic()
        if now - self.looked >= LOOK_S:
            self.looked = now
            self.threads = sum(self.client.nthreads().values())
        if now - self.told < LINE_S:
            return
        self.told = now
        line = f"{self.done} of {len(self.tasks)} points"
        if not self.threads:
            self.say(f"{line}; no worker is left, waiting for one")
        elif self.done == self.first:
            self.say(f"{line}, time left unknown")
        else:
            pace = (now - self.begun) / (self.done - self.first)
            self.say(f"{line}, about {_rough(pace * (len(self.tasks) - self.done))} left")

    def tell(self) -> None:
        if self.progress is not None:
            self.progress(self.done, len(self.tasks))

    def kept(self) -> str:
        return f"{self.done - len(self.failed)} of {_count(len(self.tasks), 'point')} are kept"


# Words.


def _stem(name: str) -> str:
    """Returns the scenario's file name as a key of Dask may have it: the dashboard cuts a key at its first number."""
    stem = re.sub(r"[^\w.]", "_", os.path.basename(name))
    return stem if stem[:1].isalpha() else f"sweep_{stem}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _rough(seconds: float) -> str:
    """Returns a time with at most two digits."""
    if seconds < 90:
        return f"{-(-seconds // 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
