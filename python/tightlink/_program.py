"""The program `tightlink`, which the package starts for runs on the kernel.

An ordinary user's network namespaces need a process with a single thread, which an interpreter is not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from . import _native
from ._errors import machine, of_program

# A run on the kernel ends its processes and removes its namespaces.
_PATIENCE_S = 5.0
CLAIM_FAILED = 1


class Answer(NamedTuple):
    """The results of a run of the program."""

    runs: list[_native.Run]
    verdicts: list[dict[str, Any]]
    absent: list[str]
    report: str


def run(scenario: _native.Scenario, repeat: int = 1, store: str | PathLike[str] | None = None) -> list[_native.Run]:
    """Runs the points of a scenario on the kernel, one after the other."""
    return _answer(scenario, ["run", "-", "--engine", "live", "--repeat", str(repeat)], store=store).runs


def compare(scenario: _native.Scenario, engines: Sequence[str], repeat: int | None, claims: str | None) -> Answer:
    """Compares engines, the kernel among them."""
    words = ["compare", "-", "--engines", ",".join(engines)]
    words += ["--repeat", str(repeat)] if repeat is not None else []
    return _answer(scenario, words, claims, report=True)


def _answer(
    scenario: _native.Scenario,
    words: list[str],
    claims: str | None = None,
    report: bool = False,
    store: str | PathLike[str] | None = None,
) -> Answer:
    with TemporaryDirectory(prefix="tightlink-") as folder:
        page, claimed = Path(folder, "report.html"), Path(folder, "claims.toml")
        out = folder if store is None else os.path.abspath(store)
        words = [program(), *words, "--json", "--out", out]
        words += ["--report", str(page)] if report else []
        if claims is not None:
            claimed.write_text(claims, encoding="utf-8")
            words += ["--claims", str(claimed)]
        for key, value in scenario.settings:
            words += ["--set", f"{key}={value}"]
        # Files that the scenario names are read from its folder, and standard input has the name of its text no more.
        name = Path(scenario.name)
        with _started(words, name.parent) as child:
            printed, err = child.communicate(scenario.text.encode())
        talk = err.decode(errors="replace").replace("standard input:", f"{name}:")
        if child.returncode not in (0, CLAIM_FAILED):
            message = talk.partition("error: ")[2] or talk or f"the program ended with {child.returncode}"
            raise of_program(child.returncode, message.rstrip("\n"))
        lines = [json.loads(line) for line in printed.decode().splitlines()]
        runs = [
            _native.run_of(scenario, out, line["summary"]["engine"], list(line["point"].items()))
            for line in lines
            if "summary" in line and "found" not in line
        ]
        verdicts = [line["verdict"] for line in lines if "verdict" in line]
        absent = [line for line in talk.splitlines() if "cannot answer" in line]
        return Answer(runs, verdicts, absent, page.read_text(encoding="utf-8") if report else "")


@contextmanager
def _started(words: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a command. If the caller is interrupted, the command is, too, and has time to clean up."""
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder)
    try:
        yield child
    except BaseException:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
        raise
    finally:
        child.wait()


def program() -> str:
    """Returns the path of the program: TIGHTLINK_PROGRAM, or the one that came with the package, or that on PATH.

    Raises MachineError if there is none, or one of another version.
    """
    found = os.environ.get("TIGHTLINK_PROGRAM") or _installed() or shutil.which("tightlink")
    help = "install the package from its wheel, or set TIGHTLINK_PROGRAM to the path of the program"
    if found is None:
        raise machine("", "there is no program tightlink, which runs on the kernel need", help)
    try:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise machine(found, f"cannot be started: {error}", help) from None
    if said[1:2] != [_native.VERSION]:
        version = " ".join(said[1:2]) or "unknown"
        raise machine(found, f"is of version {version}, and this package of version {_native.VERSION}", help)
    return found


def _installed() -> str | None:
    """Returns the program that the wheel brought along."""
    try:
        files = metadata.files("tightlink") or []
    except metadata.PackageNotFoundError:
        return None
    brought = [Path(str(file.locate())) for file in files if file.name == "tightlink" and file.parent.name == "bin"]
    brought.append(Path(sysconfig.get_path("scripts"), "tightlink"))
    return next((str(path.resolve()) for path in brought if path.is_file()), None)
