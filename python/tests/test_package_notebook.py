"""The notebook of the guide: its cells run, and show what a notebook can show.

TIGHTLINK_WRITE=1 writes its outputs anew. A cell is run as Jupyter does it: the value of a last expression is shown.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import os

import matplotlib
from matplotlib.figure import Figure

from package import ROOT

NOTEBOOK = ROOT / "docs/guide/buffer-against-delay.ipynb"


def shown(source: str, names: dict[str, object]) -> object:
    """Runs a cell, and returns the value of its last expression."""
    tree = ast.parse(source)
    *before, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)
        return None
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def data(value: object) -> dict[str, object]:
    """What a notebook shows of a value."""
    if isinstance(value, Figure):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=100, metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    return {"text/html": value._repr_html_().splitlines(True), "text/plain": repr(value).splitlines(True)}


def test_the_notebook_runs_and_shows_tables_and_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    notebook = json.loads(NOTEBOOK.read_text())
    names: dict[str, object] = {}
    kinds = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        value = shown("".join(cell["source"]), names)
        assert value is not None, cell["source"]
        display = data(value)
        kinds += display
        if "output" not in cell["metadata"]:
            about = {"execution_count": None, "metadata": {}, "output_type": "execute_result"}
            cell["outputs"] = [{"data": display, **about}]
        assert cell["outputs"] or "output" in cell["metadata"]
    matplotlib.pyplot.close("all")
    if os.environ.get("TIGHTLINK_WRITE"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    assert kinds.count("image/png") == 2 and kinds.count("text/html") == 4
    assert list(tmp_path.iterdir()) == []
