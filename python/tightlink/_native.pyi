"""The native module `tightlink._native`, the room `py`. The public classes are in the other files.

A `Value` is a bool, an int of any size, a finite float, a str, a list, tuple, range or array of values, or a dict with
keys of type str. A str is what `--set KEY=VALUE` takes, such as "1 bdp"; a text such as "12" stays a text.

`progress` is called on the caller's thread, at most every 50 ms, and once at the end. Its exception comes out as
itself, and so does KeyboardInterrupt. All that computes releases the GIL. Without `store` nothing is written.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, final

Value = Any
Capsule = Any            # types.CapsuleType, from Python 3.13
Path = str | PathLike[str]
Engine = Literal["model", "sim"]          # "live": CannotAnswer here; the package starts the program
Progress = Callable[[int, int], object]

VERSION: str          # "0.3.0"
BUILD: str            # "0.3.0 5f0c…": what kept points, workers and the program must share
COMMIT: str           # "4ae34b52f0c1", "4ae34b52f0c1-dirty" or "unknown"
DEBUG: bool           # True: a debug build (the package warns)

# ---- errors. `__module__` of each is "tightlink": the package re-exports them all (pickles need that).
# str(e) is the command's text without its help; each help is a note (e.__notes__).
@final
class Fault:
    """One thing that is wrong. Picklable, comparable."""
    key: str                 # "flow[0].rtt"; a file or an argument where there is no key
    file: str | None         # None: made in code, or from `set`
    line: int | None
    column: int | None
    found: str
    accepted: str            # "" if unknown
    help: str | None
    def __new__(cls, key: str, file: str | None, line: int | None, column: int | None,
                found: str, accepted: str, help: str | None) -> Fault: ...

class ScenarioError(ValueError):     # bad scenario, key, value, argument, file named by the user
    faults: tuple[Fault, ...]
class CannotAnswer(Exception):       # the engine has no answer to this scenario
    faults: tuple[Fault, ...]
class MachineError(OSError):         # full or read-only store, lacking rights, threads, kept points of another build
    faults: tuple[Fault, ...]
class SweepFailed(Exception):        # some points failed; all others are finished
    points: tuple[tuple[dict[str, str], str], ...]   # (swept keys and values, reason)
    frame: Any                                       # the public Frame of the rest
# An unknown metric, series or column raises KeyError(text), with `.faults` and the nearest name as a note.

@final
class Scenario:
    """Immutable. Equal, and with equal hash(), if all its points have equal content hashes (traces included)."""
    @staticmethod
    def read(path: Path) -> Scenario: ...
    @staticmethod
    def parse(text: str, name: str = "scenario.toml") -> Scenario: ...
    @staticmethod
    def from_dict(data: Mapping[str, Value], name: str = "scenario.toml") -> Scenario: ...
    @staticmethod
    def preset(name: str) -> Scenario: ...
    @staticmethod
    def figure(id: str) -> Scenario: ...
    @staticmethod
    def restored(text: str, name: str, settings: Sequence[tuple[str, str]], in_code: bool = False) -> Scenario: ...
        # `settings` as `--set` has them; pickles use it, and so can `python -m tightlink` started by the Rust command
    def set(self, changes: Mapping[str, Value] | None = None, /, **more: Value) -> Scenario: ...
    def to_toml(self) -> str: ...           # the text, after comments with what was set over it
    text: str                               # the text as read, without what was set
    name: str
    settings: list[tuple[str, str]]         # what was set over it
    title: str
    source: str | None
    hash: str                               # 16 hex digits
    keys: list[str]                         # the keys that [sweep] varies
    def __reduce__(self) -> Any: ...        # (restored, (text, absolute name, settings, in_code))
    # __eq__, __hash__, __repr__

    def run(self, engine: str = "sim", *, repeat: int = 1, progress: Progress | None = None) -> Run: ...
        # a scenario with [sweep] raises ScenarioError: sweep it, or set its keys
    def compare(self, engines: Sequence[str] = ("model", "sim"), *, repeat: int | None = None, estimates: bool = True,
                claims: str | None = None, jobs: int | None = None, progress: Progress | None = None) -> Comparison: ...
        # claims: the text of a file of claims; None: a figure() has its own
    def sweep(self, keys: Mapping[str, Iterable[Value]] | None = None, *, engine: str = "sim", repeat: int = 1,
              jobs: int | None = None, store: Path | None = None, failed: Mapping[int, str] | None = None,
              progress: Progress | None = None) -> Frame: ...
        # failed: points that failed elsewhere, by their numbers, with the reason: they are not run
        # repeat=n: n consecutive seeds as a further swept key. store: finished points are kept and reused, and
        # NAME.csv and NAME.parquet are written there, as `tightlink sweep --out` does
    def search(self, over: str, target: str, *, jobs: int | None = None, store: Path | None = None,
               progress: Progress | None = None) -> list[dict[str, Any]]: ...
        # one for each point of [sweep]: what `tightlink sweep --target --json` prints
    def size(self, *, engine: str = "sim", target_utilization: Value = None, max_delay: Value = None,
             max_loss: Value = None, store: Path | None = None, progress: Progress | None = None) -> Sizing: ...
    def tasks(self, keys: Mapping[str, Iterable[Value]] | None = None, *, engine: str = "sim",
              repeat: int = 1) -> Tasks: ...
    def kept(self, point: Sequence[tuple[str, str]], *, engine: str = "sim",
             progress: Progress | None = None) -> bytes: ...
        # a worker: runs the scenario at one point, and returns the point as a store keeps it

@final
class Run:
    """One run. Picklable (with its series)."""
    engine: str
    hash: str
    notes: list[str]
    scenario: Scenario
    point: list[tuple[str, str]]               # the swept keys and values, if it is a point of a sweep
    summary: dict[str, Any]                    # as summary.json
    def __getitem__(self, key: str) -> float | int | None: ...
    def get(self, key: str, default: Any = None) -> Any: ...
    def keys(self) -> list[str]: ...           # every number that it knows
    # __contains__, __iter__, __len__
    def series(self, name: str) -> Frame: ...
    series_names: list[str]                    # those that it has
    def to_frame(self) -> Frame: ...           # one row, the columns of a sweep
    @staticmethod
    def restored(scenario: Scenario, point: Any, summary: str, notes: Any, series: Any) -> Run: ...   # of a pickle

@final
class Comparison:
    frame: Frame                               # a row for each point and engine
    runs: list[Run]
    absent: list[str]                          # engines that could not answer, with the reason
    verdicts: list[dict[str, Any]]             # as --json has them
    headline: str | None                       # of a published figure
    def charts(self) -> list[dict[str, Any]]: ...          # of a published figure, as --json has them
    def report(self) -> str: ...               # the page, as HTML in one file

@final
class Frame:
    """Columns with units. Picklable."""
    columns: list[str]
    def __len__(self) -> int: ...              # rows
    def column(self, name: str) -> list[Any]: ...          # float, int, str or None
    def kind(self, name: str) -> Literal["float", "int", "str"]: ...   # "int" is unsigned with 64 bits
    def unit(self, name: str) -> str: ...      # "bit/s", "s", "1"; "" for texts
    def words(self, name: str) -> str: ...     # "goodput"; "" if there are none
    def shown(self, name: str) -> tuple[str, float]: ...    # ("Mbit/s", 1e-6)
    def buffer(self, name: str) -> bytes: ...              # of 64-bit numbers; a missing one is NaN, or 0
    def to_csv(self) -> str: ...               # the bytes of NAME.csv
    def to_dict(self) -> dict[str, list[Any]]: ...
    def __arrow_c_schema__(self) -> Capsule: ...
    def __arrow_c_stream__(self, requested_schema: Capsule | None = None) -> Capsule: ...
    # each Arrow field has metadata "unit" and "words"
    @staticmethod
    def restored(columns: Any) -> Frame: ...               # of a pickle

@final
class Sizing:
    """The answer about a buffer; a mapping as `tightlink size --json`."""
    data: dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def keys(self) -> list[str]: ...
    # __contains__, __iter__, __len__
    def report(self) -> str: ...               # the page, as HTML

@final
class Tasks:
    """The points of a sweep, by their numbers."""
    engine: str
    def __len__(self) -> int: ...
    def point(self, number: int) -> list[tuple[str, str]]: ...     # for Scenario.kept on a worker
    def label(self, number: int) -> str: ...                       # "limit = 1 bdp, seed = 3"
    hashes: list[str]
    files: list[str]                                               # files that the scenario reads, such as traces

@final
class Store:
    """The kept points of `tasks` in a results folder (FOLDER/points/ENGINE). Files are written whole or not at all."""
    def __new__(cls, folder: Path, tasks: Tasks) -> Store: ...     # MachineError: it cannot be written
    def missing(self) -> list[int]: ...  # numbers of the points that are not kept
    def put(self, data: bytes) -> int: ...                         # keeps one; returns its number
        # MachineError: of another build, damaged, or the disk is full; ScenarioError: of a hash that no task has

def size(rate: Value = None, *, trace: Path | None = None, rtt: Value = None, flows: Value = None,
         place: str = "edge", control: Value = None, packet: Value = None, queue: str | None = None,
         target_utilization: Value = None, max_delay: Value = None, max_loss: Value = None, engine: str = "sim",
         seed: int | None = None, store: Path | None = None, progress: Progress | None = None) -> Sizing: ...
def metrics() -> list[dict[str, Any]]: ...
def presets() -> list[str]: ...
def figures() -> list[str]: ...

def run_of(scenario: Scenario, folder: Path, engine: str, point: Sequence[tuple[str, str]]) -> Run: ...
def frame_of(runs: Sequence[Run], *, engine: bool = True) -> Frame: ...
