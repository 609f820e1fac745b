"""One computation by several tools: checked, then measured in interleaved rounds."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from measure import interleave

from gpu.devices import Device, on_host

#: Computes everything once and waits for the device.
Run: TypeAlias = Callable[[], Sequence[Any]]
#: Moves the inputs to the device and compiles what can be compiled beforehand.
Prepare: TypeAlias = Callable[[], Run]
#: Calls before the measured ones: the first are interpreted, or compiled, or captured.
_WARM_UPS = 4
#: A tool that has taken as many seconds is not warmed up further, and calls that are so short that
#: what was before counts.
_LONG, _SHORT = 3.0, 0.1
#: The least and the greatest number of rounds; between them, as many as fit into the seconds.
_ROUNDS, _SECONDS, _QUICK_SECONDS = (3, 31), 1.5, 0.3


class Case(NamedTuple):
    """A computation: its tools, the result that is expected of them, and its least traffic.

    Tools named in ``unchecked`` have no result. ``moved_bytes`` are those that any implementation
    moves through the device's memory.
    """

    what: str
    tools: Mapping[str, Prepare]
    expected: Callable[[], Sequence[Any]]
    rtol: float
    moved_bytes: int | None = None
    unchecked: frozenset[str] = frozenset()


class Figure(NamedTuple):
    """What was measured of a tool: times in seconds, the largest error, or why there are none."""

    case: str
    tool: str = ""
    seconds: float | None = None
    first_seconds: float | None = None
    rounds: int = 0
    bytes_per_second: float | None = None
    error: float | None = None
    failure: str | None = None


def measured(case: Case, device: Device, *, quick: bool) -> list[Figure]:
    """A figure of each tool, in order; a tool that fails does not keep the others from running."""
    runs: dict[str, Run] = {}
    firsts: dict[str, float] = {}
    errors: dict[str, float] = {}
    failures: dict[str, str] = {}
    expected: Sequence[Any] | None = None
    for tool, prepare in case.tools.items():
        start = perf_counter()
        try:
            run = prepare()
            answer = run()
            firsts[tool] = perf_counter() - start
            for _ in range(_WARM_UPS):
                if perf_counter() - start < _LONG:
                    answer = run()
            if tool not in case.unchecked:
                expected = case.expected() if expected is None else expected
                errors[tool] = checked(answer, expected, case.rtol)
            runs[tool] = run
        except Exception as error:  # noqa: BLE001 - the table says so, and the others go on
            traceback.print_exc()
            failures[tool] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        answer = run = None  # type: ignore[assignment] # their memory is for the next
        gc.collect()
        device.release()
    seconds = _times(runs, quick=quick)
    runs.clear()
    gc.collect()
    device.release()
    return [
        Figure(
            case.what,
            tool,
            median(found) if (found := seconds.get(tool)) else None,
            firsts.get(tool),
            len(found or ()),
            case.moved_bytes / median(found) if found and case.moved_bytes else None,
            errors.get(tool),
            failures.get(tool),
        )
        for tool in case.tools
    ]


def checked(answer: Sequence[Any], expected: Sequence[Any], rtol: float) -> float:
    """The largest error of an answer, relative to the largest element of each array.

    Raises: ``ValueError`` if one exceeds ``rtol``, or an array has another shape.
    """
    largest = 0.0
    for number, (each, wanted) in enumerate(zip(answer, expected, strict=True)):
        found = on_host(each)
        if found.shape != np.shape(wanted):
            raise ValueError(f"result {number} has the shape {found.shape}, not {np.shape(wanted)}")
        scale = float(np.max(np.abs(wanted))) or 1.0
        error = float(np.max(np.abs(found - wanted))) / scale
        if not error <= rtol:
            raise ValueError(f"result {number} is wrong: relative error {error:.2g} > {rtol:g}")
        largest = max(largest, error)
    return largest


def _times(runs: Mapping[str, Run], *, quick: bool) -> dict[str, list[float]]:
    """The seconds of each round by tool."""
    if not runs:
        return {}
    (least, most), seconds = _ROUNDS, _QUICK_SECONDS if quick else _SECONDS
    once = sum(_seconds(run) for run in runs.values())
    rounds = int(min(most, max(least if once < 2 * _LONG else 1, seconds / once)))
    found = interleave(rounds, *[lambda _, run=run: _settled(run) for run in runs.values()])
    return dict(zip(runs, found, strict=True))


def _settled(run: Run) -> float:
    """The seconds of a call in a row of such.

    One before is not counted, if it is short: what else was done has emptied the caches, and let
    the device rest.
    """
    first = _seconds(run)
    return _seconds(run) if first < _SHORT else first


def _seconds(run: Run) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start
