"""The right size for the buffers on a TCP path: theory, simulation and the real kernel answer the same question.

>>> import tightlink as tl
>>> s = tl.Scenario.preset("first").set({"link.queue.limit": "1 bdp"})
>>> r = s.run("sim")
>>> round(r["utilization"], 3)
1.0

- A `Scenario` is read from a file, a text or a dictionary. Its questions are `run`, `compare`, `sweep`, `search` and
  `size`.
- A `Frame` is a table with units, for pandas, polars, duckdb and matplotlib.
- `size` asks about a buffer without a scenario.
- A wrong argument or scenario raises `ScenarioError`, an engine without an answer `CannotAnswer`. If the machine lacks
  something, that is a `MachineError`. Each has `faults`, and the way to fix it as a note.
"""

from __future__ import annotations

import warnings

from . import _native
from ._frame import Frame
from ._native import CannotAnswer, Fault, MachineError, ScenarioError, SweepFailed
from ._run import Comparison, Run
from ._scenario import Scenario
from ._size import Sizing, size

__all__ = [
    "CannotAnswer",
    "Comparison",
    "Fault",
    "Frame",
    "MachineError",
    "Run",
    "Scenario",
    "ScenarioError",
    "Sizing",
    "SweepFailed",
    "__build__",
    "__commit__",
    "__version__",
    "figures",
    "metrics",
    "presets",
    "size",
]

__version__ = _native.VERSION
__build__ = _native.BUILD
__commit__ = _native.COMMIT

if _native.DEBUG:
    warnings.warn("this is a debug build of tightlink, which is slow: use the wheel of `make wheel`", stacklevel=2)


def presets() -> list[str]:
    """Returns the names of the scenarios to start from, for `Scenario.preset`."""
    return _native.presets()


def figures() -> list[str]:
    """Returns the ids of the published results, for `Scenario.figure`."""
    return _native.figures()


def metrics() -> list[dict[str, object]]:
    """Returns every number of a run: its `key`, its meaning in `words`, its `unit` in files and the `better` direction.

    `shown` is the unit for readers, and `scale` the factor to it. NAME stands for the name of a flow, link or source.
    """
    return _native.metrics()
