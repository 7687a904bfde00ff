"""`size`: the buffer that a link needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from . import _html, _native
from ._progress import Progress, reported


class Sizing(Mapping[str, Any]):
    """The answer about a buffer, with the keys of `tightlink size --json`: `sizing["recommended"]["packets"]`."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Sizing) -> None:
        self._native = native

    def __getitem__(self, key: str) -> Any:
        return self._native[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.keys())

    def __len__(self) -> int:
        return len(self._native.keys())

    def report(self) -> str:
        """Returns the report as an HTML page, which needs no network."""
        return self._native.report()

    def __repr__(self) -> str:
        names = ("least", "recommended", "most")
        return "Sizing: " + ", ".join(f"{name} {self[name]['packets']} packets" for name in names)

    def _repr_html_(self) -> str:
        return _html.page(self.report())


def size(
    rate: Any = None,
    *,
    trace: str | PathLike[str] | None = None,
    rtt: Any = None,
    flows: Any = None,
    place: str = "edge",
    control: str | None = None,
    packet: Any = None,
    queue: str | None = None,
    target_utilization: Any = None,
    max_delay: Any = None,
    max_loss: Any = None,
    engine: str = "sim",
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    progress: Progress = None,
) -> Sizing:
    """Finds the limits of a queue that keep a link busy, by theory and simulation.

    The arguments are the options of `tightlink size`, with their defaults. `engine="model"` asks theory alone, as
    `--quick` does. With `store`, finished simulations are kept there, and reused.

    In place of `rate`, `trace` names a file with the rate over time: a trace of mahimahi, or CSV. Only simulation
    answers then, and `preferred` compares the recommended limit with a policy.
    """
    with reported(progress) as call:
        return Sizing(
            _native.size(
                rate,
                trace=trace,
                rtt=rtt,
                flows=flows,
                place=place,
                control=control,
                packet=packet,
                queue=queue,
                target_utilization=target_utilization,
                max_delay=max_delay,
                max_loss=max_loss,
                engine=engine,
                seed=seed,
                store=store,
                progress=call,
            )
        )
