"""The package `tightlink` as the tests import it: python/tightlink beside the native module that cargo built.

With TIGHTLINK_INSTALLED=1 the tests take the installed package instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
SOURCE = ROOT / "python/tightlink"
FOLDER = TARGET / "python"


def assemble() -> None:
    """Builds the native module and puts the package together in target/python. `make test` has built it before."""
    # With the whole workspace, as for the tests in Rust: alone it would compile every room anew, without the kernel.
    subprocess.run(["cargo", "build", "-q", "--workspace", "--lib", "--bins", "--examples"], cwd=ROOT, check=True)
    package = FOLDER / "tightlink"
    package.mkdir(parents=True, exist_ok=True)
    for old in package.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for file in SOURCE.iterdir():
        if file.is_file():
            (package / file.name).symlink_to(file)
    shutil.copy(TARGET / "debug/lib_native.so", package / "_native.abi3.so")


if not os.environ.get("TIGHTLINK_INSTALLED"):
    assemble()
    sys.path.insert(0, str(FOLDER))
    # For the interpreters that tests start.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))
    os.environ.setdefault("TIGHTLINK_PROGRAM", str(TARGET / "debug/tightlink"))

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import tightlink as tl

__all__ = ["FOLDER", "ROOT", "TARGET", "tl"]
