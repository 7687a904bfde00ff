"""Pictures of frames with matplotlib, labelled for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes

from . import _native

# Endings of columns that state a unit, which a label has in parentheses.
_ENDS = ("_packets_per_s", "_packets", "_segments", "_bytes", "_bps", "_bdp", "_ms", "_value", "_s")
# Half the width of a page, with the ratio of most journals.
_SIZE = (4.8, 3.2)


def plot(
    frame: _native.Frame,
    x: str,
    y: str | Sequence[str],
    by: str | Sequence[str],
    ax: Axes | None,
    style: dict[str, Any],
) -> Axes:
    """Draws the columns `y` against the column `x`, with a line for each value of the columns `by`."""
    several = [y] if isinstance(y, str) else list(y)
    keys = [by] if isinstance(by, str) else list(by)
    names = [frame.column(key) for key in keys]
    horizontal = _shown(frame, x)
    if ax is None:
        _, ax = pyplot.subplots(figsize=_SIZE, layout="constrained")
    labelled = bool(keys) or len(several) > 1
    for column in several:
        vertical = _shown(frame, column)
        lines: dict[tuple[Any, ...], list[tuple[Any, float]]] = {}
        for at, (left, up) in enumerate(zip(horizontal, vertical, strict=True)):
            line = lines.setdefault(tuple(name[at] for name in names), [])
            if left is not None and up is not None:
                line.append((left, up))
        for values, points in lines.items():
            parts = [str(value) for value in values]
            parts += [_words(frame, column)] if len(several) > 1 else []
            _line(ax, points, ", ".join(parts) if labelled else None, style)
    ax.set_xlabel(_label(frame, x))
    ax.set_ylabel(_label(frame, several[0]) if len(several) == 1 else _common(frame, several))
    if labelled:
        ax.legend(title=", ".join(_words(frame, key) for key in keys) or None, frameon=False)
    return ax


def _line(ax: Axes, points: list[tuple[Any, float]], label: str | None, style: dict[str, Any]) -> None:
    """Draws one line through the means at each place, and a band from the least to the greatest."""
    if not points or not isinstance(points[0][0], str):
        points = sorted(points)
    else:
        # Texts are in the order in which the table has them.
        order = {text: at for at, text in reversed(list(enumerate(left for left, _ in points)))}
        points = sorted(points, key=lambda point: order[point[0]])
    groups = [(left, [up for _, up in group]) for left, group in groupby(points, key=lambda point: point[0])]
    places = [left for left, _ in groups]
    means = [sum(ups) / len(ups) for _, ups in groups]
    marker = {"marker": "o", "markersize": 3} if len(groups) <= 50 else {}
    (line,) = ax.plot(places, means, label=label, **{"linewidth": 1.2, **marker, **style})
    if any(len(ups) > 1 for _, ups in groups):
        least, most = [min(ups) for _, ups in groups], [max(ups) for _, ups in groups]
        ax.fill_between(places, least, most, color=line.get_color(), alpha=0.2, linewidth=0)


def _shown(frame: _native.Frame, column: str) -> list[Any]:
    """Returns the values in the unit for readers."""
    values = frame.column(column)
    if frame.kind(column) == "str":
        return values
    _, scale = frame.shown(column)
    return [None if value is None else value * scale for value in values]


def _words(frame: _native.Frame, column: str) -> str:
    """Returns the meaning of a column, with the name of the flow, link or source that it is of."""
    words = frame.words(column)
    if words:
        place, _, name = column.partition(".")
        if place in ("flows", "links", "traffic", "sessions") and "." in name:
            return f"{words} of {_owner(name)}"
        return words
    end = next((end for end in _ENDS if column.endswith(end) and frame.kind(column) != "str"), "")
    return column.removesuffix(end).replace("_", " ")


def _owner(rest: str) -> str:
    """Returns the name in `NAME.goodput_bps` and `NAME.rtt_s.mean`."""
    parts = rest.split(".")
    summed = parts[-1] in ("mean", "max", "min", "p1", "p5", "p50", "p95", "p99")
    return ".".join(parts[: -2 if summed else -1])


def _label(frame: _native.Frame, column: str) -> str:
    unit = "" if frame.kind(column) == "str" else frame.shown(column)[0]
    return f"{_words(frame, column)} ({unit})" if unit else _words(frame, column)


def _common(frame: _native.Frame, columns: Sequence[str]) -> str:
    """Returns the label of an axis for several columns: their words and unit, as far as they agree."""
    words = {frame.words(column) for column in columns}
    units = {frame.shown(column)[0] for column in columns}
    word = words.pop() if len(words) == 1 else ""
    unit = units.pop() if len(units) == 1 else ""
    return f"{word} ({unit})".strip() if unit else word
