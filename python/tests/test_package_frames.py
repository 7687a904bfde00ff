"""Frames: the same numbers in polars, duckdb and pandas without pyarrow, and pictures with words and units."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys

import duckdb
import matplotlib
import pandas
import polars
import pytest

from package import tl

matplotlib.use("agg")

LARGEST = 2**64 - 1


@pytest.fixture(scope="module")
def swept() -> tl.Frame:
    """It has texts, numbers, missing numbers, counts, and a seed beyond 2^63."""
    path = tl.Scenario.preset("first").set(duration="12s", warmup="2s", seed=LARGEST)
    return path.sweep({"link.queue.limit": ["2 packets", "1 bdp"], "flow.rtt": ["30ms", "40ms", "60ms"]})


def test_pyarrow_is_absent():
    assert importlib.util.find_spec("pyarrow") is None


def test_polars_duckdb_and_pandas_have_the_same_numbers(swept):
    table = swept.to_polars()
    by_duckdb = duckdb.sql("select * from swept")
    frame = swept.to_pandas()
    assert table.columns == by_duckdb.columns == list(frame.columns) == swept.columns
    rows = by_duckdb.fetchall()
    missing = 0
    for at, (name, values) in enumerate(swept.to_dict().items()):
        assert table[name].to_list() == values, name
        assert [row[at] for row in rows] == values, name
        in_pandas = [None if pandas.isna(value) else value for value in frame[name].tolist()]
        assert in_pandas == values, name
        missing += values.count(None)
    assert missing > 0
    assert table["seed"].to_list() == [LARGEST] * 6 and table.schema["seed"] == polars.UInt64
    assert frame["seed"].dtype == "uint64" and frame["seed"].max() == LARGEST
    assert frame["utilization"].dtype == "float64"


def test_series_have_the_same_numbers_too():
    flows = tl.Scenario.preset("first").set(duration="12s", warmup="2s").run("sim").series("flows")
    table, frame = flows.to_polars(), flows.to_pandas()
    assert table["t_s"].to_list() == flows["t_s"] == frame["t_s"].tolist()
    assert table["rate_bps"].to_list() == flows["rate_bps"]
    assert all(math.isfinite(time) for time in flows["t_s"])
    assert flows.unit("rate_bps") == "bit/s" and flows.unit("flow") == ""


def test_columns_have_units_and_words(swept):
    assert swept.unit("queueing_delay_s.mean") == "s" and swept.words("queueing_delay_s.mean") == "mean queueing delay"
    assert swept.unit("link.queue.limit_bytes") == "B" and swept.unit("utilization") == "1"
    assert swept.to_pandas().attrs["units"]["goodput_bps"] == "bit/s"
    known = {metric["key"] for metric in tl.metrics()}
    assert {"utilization", "flows.NAME.goodput_bps"} <= known


def test_a_field_of_the_schema_has_its_unit(swept):
    # polars and duckdb drop the metadata of fields, so its own schema is read through the C interface.
    import ctypes

    class Schema(ctypes.Structure):
        pass

    Schema._fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = swept.__arrow_c_schema__()
    schema = Schema.from_address(pointer(capsule, b"arrow_schema"))
    for at in range(schema.n_children):
        field = schema.children[at].contents
        if field.name == b"goodput_bps":
            metadata = ctypes.string_at(field.metadata, 64)
            assert b"unit" in metadata and b"bit/s" in metadata
            return
    pytest.fail("no field goodput_bps")


def test_a_plot_is_labelled_with_words_and_units(swept, tmp_path):
    axes = swept.plot("link.queue.limit_bdp", "utilization")
    assert axes.get_xlabel() == "buffer (bdp)" and axes.get_ylabel() == "utilization (%)"
    (line,) = axes.lines
    assert all(1 < value <= 100 for value in line.get_ydata())
    # Three RTTs share a buffer: a line joins their means, and a band shows the least and the greatest.
    texts = swept.plot("link.queue.limit", "utilization")
    assert len(texts.lines[0].get_ydata()) == 2 and len(texts.collections) == 1
    picture = tmp_path / "utilization.pdf"
    axes.figure.savefig(picture)
    assert picture.read_bytes().startswith(b"%PDF")
    ended = subprocess.run(["pdftotext", picture, "-"], capture_output=True, text=True, check=True)
    assert "utilization (%)" in ended.stdout and "buffer (bdp)" in ended.stdout


def test_a_line_for_each_value_of_a_column_and_a_band_over_seeds(swept):
    axes = swept.plot("link.queue.limit", "queueing_delay_s.mean", by="flow.rtt")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["30ms", "40ms", "60ms"]
    assert axes.get_ylabel() == "mean queueing delay (ms)"
    axes = swept.plot("link.queue.limit", ["goodput_bps", "flows.flow.goodput_bps"])
    assert len(axes.lines) == 2 and axes.get_ylabel() == "goodput (Mbit/s)"
    assert "goodput of flow" in [text.get_text() for text in axes.get_legend().get_texts()]
    other = swept.plot("link.queue.limit_bdp", "loss_rate", ax=axes, color="black")
    assert other is axes and axes.lines[-1].get_color() == "black"
    flows = tl.Scenario.preset("bbr-against-cubic").set(duration="5s", warmup="1s").run("sim").series("flows")
    axes = flows.plot("t_s", "rate_bps", by="flow")
    assert axes.get_ylabel() == "rate (Mbit/s)" and len(axes.lines) == 2
    matplotlib.pyplot.close("all")


def test_an_unknown_column_gets_the_nearest_one(swept):
    with pytest.raises(KeyError) as caught:
        swept.plot("link.queue.limit", "utilisation")
    assert "utilization" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("library", "ask", "install"),
    [
        ("matplotlib", lambda frame: frame.plot("goodput_bps", "utilization"), "tightlink[plot]"),
        ("pandas", lambda frame: frame.to_pandas(), "pip install pandas"),
        ("polars", lambda frame: frame.to_polars(), "pip install polars"),
    ],
)
def test_a_missing_library_is_named_with_the_way_to_install_it(swept, monkeypatch, library, ask, install):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        ask(swept)
    assert f"{library} is not installed" in str(caught.value) and install in caught.value.__notes__[0]
