"""`python3 -m tightlink`: the part of `tightlink sweep --on` that talks to a cluster. People use the package itself.

`--version` prints the build. `fill` reads a line of JSON from standard input: the scenario (`text`, `name`,
`settings`), `engine`, `out` and `on`. It fills the store in the folder `out`, and answers with a line of JSON: `failed`, a list of
point numbers and reasons, or `error` and the exit `code` for it. If standard input ends before, so does this program.
"""

import _thread
import json
import sys
import threading
from contextlib import suppress
from typing import Any

from . import _native, cluster

USAGE, ENVIRONMENT, INTERRUPTED = 2, 3, 130
"""The exit codes of the program, which `docs/reference/commands.md` explains."""


def main(arguments: list[str]) -> int:
    """Answers to the program `tightlink`. Returns the exit code."""
    if arguments == ["--version"]:
        print(f"tightlink {_native.BUILD}")
        return 0
    if arguments != ["fill"]:
        print("error: this is a part of the command `tightlink sweep FILE --on ADDRESS`", file=sys.stderr)
        return USAGE
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    kept = "no point is computed yet"

    def progress(done: int, points: int) -> None:
        nonlocal kept
        kept = f"{done} of {points} points are done"

    try:
        answer = _fill(asked, progress)
    except KeyboardInterrupt:
        answer = {"error": f"interrupted: {kept}; the same command goes on", "code": INTERRUPTED}
    except Exception as error:
        usage = isinstance(error, _native.ScenarioError | _native.CannotAnswer)
        if not usage and not isinstance(error, _native.MachineError):
            raise
        notes = [f"  {note}" for note in getattr(error, "__notes__", [])]
        answer = {"error": "\n".join([str(error), *notes]), "code": USAGE if usage else ENVIRONMENT}
    # The program may have ended.
    with suppress(BrokenPipeError):
        print(json.dumps(answer), flush=True)
    return int(answer.get("code", 0))


def _fill(asked: dict[str, Any], progress: cluster.Progress) -> dict[str, Any]:
    settings = [(key, value) for key, value in asked["settings"]]
    scenario = _native.Scenario.restored(asked["text"], asked["name"], settings)
    tasks = scenario.tasks(engine=asked["engine"])
    failed = cluster.fill(scenario, tasks, asked["out"], on=asked["on"], progress=progress)
    return {"failed": list(failed.items())}


def _end_with_stdin() -> None:
    """Interrupts this program when the one that started it has ended."""
    sys.stdin.read()
    _thread.interrupt_main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
