"""`Run` and `Comparison`: the answers of engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from . import _html, _native
from ._frame import Frame

# The numbers of the command's table. More flows than a screen has lines have no rows of their own.
_SHOWN = (
    "goodput_bps",
    "rtt_s.mean",
    "loss_rate",
    "retransmits",
    "utilization",
    "queueing_delay_s.mean",
    "queueing_delay_s.p95",
)
_FLOWS = 12


class Run(Mapping[str, "float | int | None"]):
    """One run of one engine: its numbers by their keys, its series, its notes.

    `run["utilization"]` and `run["flows.NAME.goodput_bps"]` are numbers in the units of the metric table; None if the
    engine cannot know the number. An unknown key raises KeyError, which names the nearest key.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Run) -> None:
        self._native = native

    @property
    def engine(self) -> str:
        """The engine: "model", "sim" or "live"."""
        return self._native.engine

    @property
    def hash(self) -> str:
        """The content hash of the scenario that was run."""
        return self._native.hash

    @property
    def notes(self) -> list[str]:
        """Remarks on the run."""
        return self._native.notes

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers, as in `summary.json`."""
        return self._native.summary

    @property
    def series_names(self) -> list[str]:
        """The kinds of series that the run has."""
        return self._native.series_names

    def series(self, name: str) -> Frame:
        """Returns what changed with time: "flows", "link", "spread", "fairness" or "acks"; or "queue", the queue's lengths.

        The columns are those of the Parquet files that the command writes. KeyError if the run has no such series.
        """
        return Frame(self._native.series(name))

    def to_frame(self) -> Frame:
        """Returns the numbers as a frame of one row, with the columns of a sweep."""
        return Frame(self._native.to_frame())

    def __getitem__(self, key: str) -> float | int | None:
        return self._native[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.keys())

    def __len__(self) -> int:
        return len(self._native.keys())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Run, (self._native,))

    def __repr__(self) -> str:
        busy, goodput = self.get("utilization"), self.get("goodput_bps")
        shown = f", {goodput / 1e6:.2f} Mbit/s of goodput" if goodput is not None else ""
        shown += f", {busy:.2%} busy" if busy is not None else ""
        return f"Run of {self.engine}{shown}"

    def _repr_html_(self) -> str:
        return _table([self]) + _notes(self.notes)


class Comparison:
    """The answers of several engines to the same scenario."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native

    @property
    def frame(self) -> Frame:
        """A row for each point and engine: the engine, then the columns of a sweep."""
        return Frame(self._native.frame)

    @property
    def runs(self) -> list[Run]:
        """The runs, point by point."""
        return [Run(run) for run in self._native.runs]

    @property
    def absent(self) -> list[str]:
        """Engines without an answer, each with the reason."""
        return self._native.absent

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdicts on the claims, as `--json` prints them; only published figures and `claims` have any."""
        return self._native.verdicts

    def report(self) -> str:
        """Returns the report as an HTML page, which needs no network."""
        return self._native.report()

    def __repr__(self) -> str:
        held = sum(verdict["held"] is True for verdict in self.verdicts)
        judged = f", {held} of {len(self.verdicts)} claims held" if self.verdicts else ""
        return f"Comparison of {', '.join(dict.fromkeys(run.engine for run in self.runs))}{judged}"

    def _repr_html_(self) -> str:
        return _html.page(self.report())


@cache
def _metrics() -> dict[str, dict[str, Any]]:
    return {metric["key"]: metric for metric in _native.metrics()}


def _table(runs: Sequence[Run]) -> str:
    """Returns the command's table: a row for each run, and one for each of its flows if it has some."""
    metrics = [_metrics()[key] for key in _SHOWN]
    head = ["", *(f"{metric['words']} {metric['shown']}".strip() for metric in metrics)]

    def row(name: str, run: Run, place: str) -> list[str]:
        def cell(metric: dict[str, Any]) -> str:
            value = run.get(place + metric["key"]) if not place or place + metric["key"] in run else None
            return "–" if value is None else f"{value * metric['scale']:.{metric['digits']}f}"

        return [name, *map(cell, metrics)]

    rows = []
    for run in runs:
        rows.append(row(run.engine, run, ""))
        flows = [flow["name"] for flow in run.summary["flows"]]
        rows += [row(name, run, f"flows.{name}.") for name in flows if 1 < len(flows) <= _FLOWS]
    return _html.table(head, rows)


def _notes(notes: Sequence[str]) -> str:
    return "".join(f"<p>note: {_html.escape(note)}</p>" for note in notes)
