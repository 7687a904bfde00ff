"""Progress: a callback of the caller, a bar of tqdm if it is installed, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Progress: TypeAlias = Callable[[int, int], object] | bool | None
"""A function of the number of finished parts and of all parts. None shows a bar if tqdm is installed and a person
looks on: on a terminal or in a notebook. True shows it always, False never."""


@contextmanager
def reported(progress: Progress) -> Iterator[Callable[[int, int], object] | None]:
    """Gives the function that the library calls."""
    if callable(progress):
        yield progress
        return
    watched = "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()
    kind = _tqdm() if progress or progress is None and watched else None
    if kind is None:
        yield None
        return
    with kind(unit="run", leave=False) as bar:

        def show(done: int, all: int) -> None:
            bar.total = all
            bar.update(done - bar.n)

        yield show


def _tqdm() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
