"""The documents about the package: their lines of Python print what stands below them, and the reference is made from
the docstrings. TIGHTLINK_WRITE=1 writes outputs and reference anew."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import matplotlib
import pytest

from package import ROOT, tl

WRITES = bool(os.environ.get("TIGHTLINK_WRITE"))
FENCED = re.compile(r"^(?P<before>[^\n]*)\n```(?P<kind>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {"README.md": 1, "docs/guide/python.md": 10}


@pytest.mark.parametrize("page", PAGES)
def test_the_python_lines_of_a_page_print_what_stands_below_them(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    text = (ROOT / page).read_text()
    names: dict[str, object] = {"__name__": "page"}
    wrong, written, run = [], text, 0
    for block in FENCED.finditer(text):
        code, kind = block["code"], block["kind"]
        if kind == "toml" and not Path("first.toml").exists():
            Path("first.toml").write_text(code)
        if kind == "sh" and page.startswith("docs"):
            for line in code.splitlines():
                if line.startswith("tightlink "):
                    by_program(line)
        if kind != "python" or block["before"].startswith("<!-- not run: "):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{page}, block {run}", "exec"), names)
        run += 1
        shown = OUTPUT.match(text, block.end())
        expected = shown[1] if shown else ""
        if printed.getvalue() != expected:
            wrong.append(f"{code}\nprints\n{printed.getvalue()}and not\n{expected}")
            if shown:
                whole = text[block.start() : shown.end()]
                output = f"{whole[: block.end() - block.start()]}\n\n```text\n{printed.getvalue()}```"
                written = written.replace(whole, output)
    matplotlib.pyplot.close("all")
    if WRITES and written != text:
        (ROOT / page).write_text(written)
    assert run >= PAGES[page], f"{page}: {run} blocks ran"
    assert not wrong, "\n\n".join(wrong)
    pictures = list(Path().glob("*.pdf"))
    assert pictures and all(picture.read_bytes().startswith(b"%PDF") for picture in pictures)


def by_program(line: str):
    """Runs a line of a shell block, which may end with `> FILE`."""
    command, _, file = line.partition(" > ")
    words = [os.environ["TIGHTLINK_PROGRAM"], *shlex.split(command)[1:]]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, f"{line}: {ended.stderr}"
    if file:
        Path(file).write_text(ended.stdout)


def test_the_example_of_the_package_is_right():
    assert doctest.testmod(tl).failed == 0 and doctest.testmod(tl).attempted > 2


HEAD = """# Python

The calls of the package `tightlink`. [In Python](../guide/python.md) is the guide to it.

This page is made from the docstrings in `python/tightlink/`: change them, then run
`TIGHTLINK_WRITE=1 .venv/bin/python -m pytest python/tests/test_package_docs.py`.
"""


def test_the_reference_is_made_from_the_docstrings():
    page = ROOT / "docs/reference/python.md"
    made = reference()
    if WRITES:
        page.write_text(made)
    assert page.read_text() == made, "docs/reference/python.md is not that of the docstrings: see its head"


def reference() -> str:
    parts = [HEAD]
    public = [getattr(tl, name) for name in tl.__all__ if not name.startswith("__")]
    first = [tl.Scenario, tl.Run, tl.Comparison, tl.Frame, tl.size, tl.Sizing]
    for item in first + [item for item in public if item not in first]:
        if inspect.isclass(item):
            bases = [base.__name__ for base in item.__mro__[1:-1] if issubclass(base, Exception)]
            base = f" ({bases[0]})" if bases and bases[0] != "Exception" else ""
            parts.append(f"## `{item.__name__}`{base}\n\n{described(item)}")
            parts += members(item)
        else:
            parts.append(f"## `{item.__name__}`\n\n{signature(item.__name__, item)}\n{described(item)}")
    return "\n".join(parts)


def members(item: type) -> list[str]:
    """The public attributes and methods of a class, in the order of its source."""
    found = []
    attributes = []
    # Classes of the native module have their attributes in any order.
    own = vars(item).items() if item.__module__.startswith("tightlink._") else sorted(vars(item).items())
    for name, member in own:
        if name.startswith("_"):
            continue
        if isinstance(member, property) or inspect.isdatadescriptor(member):
            attributes.append(f"- `{name}`: {described(member).strip()}")
        else:
            called = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            name = f"{item.__name__}.{name}"
            found.append(f"### `{name}`\n\n{signature(name, called)}\n{described(member)}")
    return (["\n".join(attributes) + "\n"] if attributes else []) + found


class Bare(str):
    """An annotation, which is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


class Quoted(str):
    """A default, which is shown in double quotes as in the source."""

    def __repr__(self) -> str:
        return f'"{self}"'


def signature(name: str, call: object) -> str:
    """A block with the signature: on one line, or with a line for each parameter."""

    def plain(one: inspect.Parameter) -> inspect.Parameter:
        default = one.default
        if isinstance(default, str):
            default = Quoted(default)
        elif isinstance(default, tuple):
            default = tuple(Quoted(value) for value in default)
        return one.replace(annotation=Bare(one.annotation), default=default)

    found = inspect.signature(call)
    kept = [plain(one) for one in found.parameters.values() if one.name != "self"]
    returns = Bare(found.return_annotation)
    line = f"{name}{found.replace(parameters=kept, return_annotation=returns)}"
    if len(line) > 100:
        head, inside = line.split("(", 1)
        # A comma inside of brackets or quotes separates no parameters.
        inside, end = inside.rsplit(") -> ", 1)
        parts = re.findall(r"(?:[^,\[(\"]|\[[^]]*\]|\([^)]*\)|\"[^\"]*\")+", inside)
        line = f"{head}(\n" + "".join(f"    {part.strip()},\n" for part in parts) + f") -> {end}"
    return f"```python\n{line}\n```\n"


def described(item: object) -> str:
    text = inspect.getdoc(item)
    assert text, f"{item} has no docstring"
    # An example of the interpreter becomes a block of code.
    text = re.sub(r"((?:^>>> .*\n?(?:^(?!>>>)\S.*\n?)*)+)", r"```python\n\1```\n", text, flags=re.MULTILINE)
    return text.rstrip() + "\n"


def test_the_stubs_have_the_names_of_the_native_module():
    from tightlink import _native

    stubs = (ROOT / "python/tightlink/_native.pyi").read_text()
    declared = set(re.findall(r"^(?:class|def) (\w+)|^([A-Z]+):", stubs, re.MULTILINE))
    declared = {one or other for one, other in declared}
    there = {name for name in vars(_native) if not name.startswith("_")}
    assert declared == there
    for kind in (getattr(_native, name) for name in sorted(there)):
        if not inspect.isclass(kind) or issubclass(kind, Exception):
            continue
        (body,) = re.findall(rf"^class {kind.__name__}:\n(.*?)(?=^\S)", stubs + "\n.", re.MULTILINE | re.DOTALL)
        declared = set(re.findall(r"^    (?:def )?(\w+)(?=[:(])", body, re.MULTILINE))
        public = {name for name in vars(kind) if not name.startswith("_")}
        assert {name for name in declared if not name.startswith("_")} == public, kind.__name__

