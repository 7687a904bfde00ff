"""Pieces of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as escape

RIGHT = ' style="text-align:right"'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table. Its first `texts` columns are aligned to the left, and the others to the right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        aligned = enumerate(row)
        return "".join(f"<{tag}{RIGHT if at >= texts else ''}>{escape(cell)}</{tag}>" for at, cell in aligned)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def page(html: str, height: int = 900) -> str:
    """Returns a whole page as a frame inside of another one. It asks nothing of the network."""
    look = f"width:100%;height:{height}px;border:0"
    return f'<iframe srcdoc="{escape(html)}" style="{look}" sandbox="allow-scripts allow-downloads"></iframe>'
