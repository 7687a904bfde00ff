"""Errors that this package makes itself, in the form of those of the native module."""

from __future__ import annotations

from typing import TypeVar

from ._native import CannotAnswer, Fault, MachineError, ScenarioError

HELP = "  help: "
_E = TypeVar("_E", ScenarioError, CannotAnswer, MachineError)


def complain(place: str, found: str, accepted: str = "", help: str | None = None) -> ScenarioError:
    """Returns the error of a fault in an argument."""
    text = f"{place}: {found}" + (f"\n  accepted: {accepted}" if accepted else "")
    return _with(ScenarioError(text), Fault(place, None, None, None, found, accepted, help))


def machine(place: str, found: str, help: str | None = None, accepted: str = "") -> MachineError:
    """Returns the error of something that the machine lacks."""
    text = (f"{place}: {found}" if place else found) + (f"\n  accepted: {accepted}" if accepted else "")
    return _with(MachineError(text), Fault(place, None, None, None, found, accepted, help))


def of_program(code: int, message: str) -> CannotAnswer | MachineError:
    """Returns the error for which the program ended with `code`. Its scenario was read before, so the engine failed."""
    lines = message.splitlines()
    text = "\n".join(line for line in lines if not line.startswith(HELP))
    helps = [line.removeprefix(HELP) for line in lines if line.startswith(HELP)]
    fault = Fault("", None, None, None, text, "", "\n".join(helps) or None)
    return _with(CannotAnswer(text), fault) if code == 2 else _with(MachineError(text), fault)


def _with(error: _E, fault: Fault) -> _E:
    error.faults = (fault,)
    if fault.help:
        error.add_note(f"help: {fault.help}")
    return error
