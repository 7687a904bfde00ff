"""`Scenario`: a path with its flows, and the questions about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from . import _html, _native, _program
from ._errors import complain
from ._frame import Frame
from ._progress import Progress, reported
from ._run import Comparison, Run
from ._size import Sizing

if TYPE_CHECKING:
    from distributed import Client


class Scenario:
    """A path with its flows, as a scenario file describes it. It never changes; `set` returns a new one.

    Two scenarios are equal if their content hashes are, whatever their texts look like. A scenario can be pickled.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Scenario) -> None:
        self._native = native

    @staticmethod
    def read(path: str | PathLike[str]) -> Scenario:
        """Reads a scenario file. Files that it names, such as traces, are relative to its folder."""
        return Scenario(_native.Scenario.read(path))

    @staticmethod
    def parse(text: str, name: str = "scenario.toml") -> Scenario:
        """Reads the text of a scenario. Errors name it `name`, and files that it names are relative to its folder."""
        return Scenario(_native.Scenario.parse(text, name))

    @staticmethod
    def from_dict(data: Mapping[str, Any], name: str = "scenario.toml") -> Scenario:
        """Makes a scenario of the keys of a file: `{"title": "One flow", "link": {"rate": "20Mbit/s"}}`."""
        return Scenario(_native.Scenario.from_dict(data, name))

    @staticmethod
    def preset(name: str) -> Scenario:
        """Returns a scenario to start from, as `tightlink new NAME` writes it. `presets()` lists the names."""
        return Scenario(_native.Scenario.preset(name))

    @staticmethod
    def figure(id: str) -> Scenario:
        """Returns the scenario of a published result, such as "sobas:fig1-4". `figures()` lists the ids.

        Its comparison judges the claims of the publication.
        """
        return Scenario(_native.Scenario.figure(id))

    @property
    def title(self) -> str:
        """The title."""
        return self._native.title

    @property
    def name(self) -> str:
        """The file that the scenario is from, or the name of its text."""
        return self._native.name

    @property
    def hash(self) -> str:
        """The content hash. It is the name of the folder in which the command keeps results."""
        return self._native.hash

    def to_toml(self) -> str:
        """Returns the text of a scenario file."""
        return self._native.to_toml()

    def set(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Scenario:
        """Returns the scenario with other values of keys: `s.set({"link.queue.limit": "1 bdp"}, seed=7)`.

        Keys are those of `--set`: `flow.rtt` is every flow's, `flow.NAME.rtt` one flow's.
        """
        return Scenario(self._native.set(changes, **more))

    def run(self, engine: str = "sim", *, repeat: int = 1, progress: Progress = None) -> Run:
        """Runs the scenario on one engine: "model", "sim" or "live". Nothing is written.

        With `repeat`, it runs with so many consecutive seeds, and the run with the median goodput is returned. "live"
        runs on this machine's kernel, in real time. It starts the program that came with this package.
        """
        with reported(progress) as call:
            if engine != "live":
                return Run(self._native.run(engine, repeat=repeat, progress=call))
            self._one_point("run")
            (found,) = _program.run(self._native, repeat)
            if call is not None:
                call(1, 1)
            return Run(found)

    def compare(
        self,
        engines: Sequence[str] = ("model", "sim"),
        *,
        repeat: int | None = None,
        claims: str | None = None,
        jobs: int | None = None,
        progress: Progress = None,
    ) -> Comparison:
        """Asks several engines. An engine that cannot answer is among the `absent` ones, with the reason.

        `claims` is the text of a file of claims, which are judged. With "live" among the engines, the program that
        came with this package compares them.
        """
        if isinstance(engines, str):
            engines = [engines]
        with reported(progress) as call:
            if "live" not in engines:
                told = self._native.compare(engines, repeat=repeat, claims=claims, jobs=jobs, progress=call)
                return Comparison(told)
            answer = _program.compare(self._native, engines, repeat, claims)
            if call is not None:
                call(len(answer.runs), len(answer.runs))
            return _OfProgram(answer)

    def sweep(
        self,
        keys: Mapping[str, Iterable[Any]] | None = None,
        *,
        engine: str = "sim",
        repeat: int = 1,
        jobs: int | None = None,
        store: str | PathLike[str] | None = None,
        on: Client | str | None = None,
        progress: Progress = None,
    ) -> Frame:
        """Runs every combination of the values of keys, on all cores, and returns a row for each.

        `keys` come on top of those of the scenario's `[sweep]`. Without `store` nothing is written. With it, finished
        points are kept in that folder and reused, and the tables are written there, as `tightlink sweep` does. `on` is
        a Dask client, or the address of a scheduler such as "tcp://host:8786": its workers then run the points. With
        the engine "live" the points run one after the other, in real time.

        Points without a result raise SweepFailed, which has the frame of all others.
        """
        axes = {key: _values(key, values) for key, values in (keys or {}).items()}
        asked: dict[str, Any] = {"engine": engine, "repeat": repeat}
        with reported(progress) as call:
            try:
                if engine == "live":
                    runs = _program.run(self._with(axes, repeat), store=store)
                    if call is not None:
                        call(len(runs), len(runs))
                    return Frame(_native.frame_of(runs, engine=False))
                if on is None:
                    return Frame(self._native.sweep(axes, jobs=jobs, store=store, progress=call, **asked))
                from . import cluster

                with TemporaryDirectory(prefix="tightlink-") as folder:
                    store = folder if store is None else store
                    tasks = self._native.tasks(axes, **asked)
                    failed = cluster.fill(self._native, tasks, store, on=on, progress=call)
                    return Frame(self._native.sweep(axes, jobs=jobs, store=store, failed=failed, **asked))
            except _native.SweepFailed as error:
                error.frame = Frame(error.frame)
                raise

    def search(
        self,
        over: str,
        target: str,
        *,
        jobs: int | None = None,
        store: str | PathLike[str] | None = None,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Searches for the smallest or largest value of the key `over` that meets `target`, such as "utilization>=99%".

        Returns the keys of `found` that `tightlink sweep --target --json` prints, and the `summary` of a run at the
        value: `found["value"]`, and of a queue's limit also `found["room"]["packets"]`.
        """
        self._one_point("search")
        with reported(progress) as call:
            (line,) = self._native.search(over, target, jobs=jobs, store=store, progress=call)
        return {**line["found"], "summary": line["summary"]}

    def size(
        self,
        *,
        engine: str = "sim",
        target_utilization: Any = None,
        max_delay: Any = None,
        max_loss: Any = None,
        store: str | PathLike[str] | None = None,
        progress: Progress = None,
    ) -> Sizing:
        """Finds the limits of the queue that keep the link busy, as `tightlink size FILE` does."""
        asked = {"target_utilization": target_utilization, "max_delay": max_delay, "max_loss": max_loss}
        with reported(progress) as call:
            return Sizing(self._native.size(engine=engine, store=store, progress=call, **asked))

    def _with(self, axes: Mapping[str, list[Any]], repeat: int) -> _native.Scenario:
        """Returns the scenario with further keys in its [sweep]; `repeat` is one of them, as of other engines."""
        if repeat > 1:
            raise complain("repeat", "a sweep on the kernel", 'repeat=1', 'sweep the seed: {"seed": range(1, 6)}')
        return self._native.set({f"sweep.{json.dumps(key)}": values for key, values in axes.items()})

    def _one_point(self, question: str) -> None:
        if keys := self._native.keys:
            raise complain(
                question,
                f"the scenario has a [sweep] over {', '.join(keys)}",
                "a scenario without [sweep]",
                f"give {keys[0]} one value: s.set({{{keys[0]!r}: ...}})",
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._native == other._native

    def __hash__(self) -> int:
        return hash(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (_native.BUILD, self._native))

    def __repr__(self) -> str:
        return f"Scenario {self.title!r} ({self.hash})" if self.title else f"Scenario {self.hash}"

    def _repr_html_(self) -> str:
        text = f"<pre>{_html.escape(self.to_toml())}</pre>"
        return f"<details><summary>{_html.escape(repr(self))}</summary>{text}</details>"


def _restored(build: str, native: _native.Scenario) -> Scenario:
    """Makes the scenario of a pickle. Another build could read it in another way."""
    if build != _native.BUILD:
        found, accepted = f"a scenario of build {build}", f"build {_native.BUILD}"
        raise complain("pickle", found, accepted, "install the same wheel on both machines")
    return Scenario(native)


def _values(key: str, values: Iterable[Any]) -> list[Any]:
    """Returns the values of a swept key; a generator is read once."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        found = f"one value ({values!r:.40})"
        help = f"to give the key this value, use s.set({{{key!r}: {values!r:.40}}})"
        raise complain(key, found, "a list of values", help)
    return list(values)


class _OfProgram(Comparison):
    """A comparison that the program made."""

    __slots__ = ("_answer",)

    def __init__(self, answer: _program.Answer) -> None:
        self._answer = answer

    @property
    def frame(self) -> Frame:
        return Frame(_native.frame_of(self._answer.runs))

    @property
    def runs(self) -> list[Run]:
        return [Run(run) for run in self._answer.runs]

    @property
    def absent(self) -> list[str]:
        return self._answer.absent

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        return self._answer.verdicts

    def report(self) -> str:
        return self._answer.report
