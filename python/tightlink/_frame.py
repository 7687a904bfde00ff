"""`Frame`: a table whose columns have units."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _html, _native

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

# A notebook's page has room for so many.
_ROWS, _COLUMNS = 20, 12


class Frame:
    """A table with named columns, each of which has a unit.

    polars, duckdb and other libraries that speak Arrow take a frame as it is: `polars.DataFrame(frame)`. A missing
    number is null there. Every Arrow field has its unit and its meaning as metadata `unit` and `words`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Frame) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.columns

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, column: str) -> list[Any]:
        return self._native.column(column)

    def __contains__(self, column: object) -> bool:
        return column in self._native.columns

    def unit(self, column: str) -> str:
        """Returns the unit of a column, such as "bit/s" or "s"; "1" for a number without a unit, "" for a text."""
        return self._native.unit(column)

    def words(self, column: str) -> str:
        """Returns the meaning of a column in words, as the metric table has it; "" if it has none."""
        return self._native.words(column)

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns as lists. A missing number is None."""
        return self._native.to_dict()

    def to_csv(self) -> str:
        """Returns the text of the CSV file that `tightlink sweep` writes."""
        return self._native.to_csv()

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas DataFrame. It needs pandas, and not pyarrow.

        A missing number is NaN in a column of floats, and <NA> in a column of integers. `attrs["units"]` has the units.
        """
        pandas = _library("pandas", "to_pandas", "pip install pandas")
        numpy = _library("numpy", "to_pandas", "pip install pandas")

        def column(name: str) -> Any:
            kind = self._native.kind(name)
            if kind == "float":
                return numpy.frombuffer(self._native.buffer(name)).copy()
            values = self._native.column(name)
            return pandas.array(values, dtype="str" if kind == "str" else "UInt64" if None in values else "uint64")

        table = pandas.DataFrame({name: column(name) for name in self.columns})
        table.attrs["units"] = {name: unit for name in self.columns if (unit := self.unit(name))}
        return table

    def to_polars(self) -> polars.DataFrame:
        """Returns a polars DataFrame. It needs polars, and not pyarrow."""
        return _library("polars", "to_polars", "pip install polars").DataFrame(self)

    def plot(
        self,
        x: str,
        y: str | Sequence[str],
        *,
        by: str | Sequence[str] = (),
        ax: Axes | None = None,
        **style: Any,
    ) -> Axes:
        """Draws the columns `y` against the column `x`, and returns matplotlib's axes.

        Each value of the columns `by` gets a line. If several rows of a line have the same `x`, because of several
        seeds for example, the line joins their means, and a band shows the least and the greatest. The axes are
        labelled with the words and units of the metric table. `ax` takes axes to draw into, and `style` is passed on
        to `Axes.plot`. It needs matplotlib: `pip install 'tightlink[plot]'`.
        """
        _library("matplotlib", "plot", "pip install 'tightlink[plot]'")
        from . import _plot

        return _plot.plot(self._native, x, y, by, ax, style)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Frame, (self._native,))

    def __repr__(self) -> str:
        shown = ", ".join(self.columns[:6]) + (", …" if len(self.columns) > 6 else "")
        return f"Frame of {_count(len(self), 'row')} and {_count(len(self.columns), 'column')}: {shown}"

    def _repr_html_(self) -> str:
        names = self.columns[:_COLUMNS]
        # Texts first, as swept keys and names are.
        head = [f"{name} [{self.unit(name)}]" if self.unit(name) not in ("", "1") else name for name in names]
        columns = [[_cell(value) for value in self[name][:_ROWS]] for name in names]
        table = _html.table(head, zip(*columns, strict=True))
        left = [_count(len(self) - _ROWS, "further row")] if len(self) > _ROWS else []
        left += [_count(len(self.columns) - _COLUMNS, "further column")] if len(self.columns) > _COLUMNS else []
        return table + (f"<p>… and {' and '.join(left)}</p>" if left else "")


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _library(name: str, caller: str, install: str) -> ModuleType:
    """Imports a library that only some calls need."""
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        missing = ModuleNotFoundError(f"{caller}: {name} is not installed", name=name)
        missing.add_note(f"help: {install}")
        raise missing from None
