"""Sample calls of every function that programs can call, by family and by function.

A family's samples are the list ``SAMPLES`` in ``samples/<family>.py``; names in ``REAL`` there are
left out with complex numbers, for want of meaning or because the samples must have a structure.
"""

import runpy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
from gradwire_engine.check import Call, Recorded, examine
from gradwire_engine.ops.base import FUNCTIONS

from tests.effort import some

_TABLES = {
    path.stem: runpy.run_path(str(path))
    for path in sorted((Path(__file__).parent / "samples").glob("*.py"))
}
FAMILIES: dict[str, list[Call]] = {name: table["SAMPLES"] for name, table in _TABLES.items()}
SAMPLES = [call for calls in FAMILIES.values() for call in calls]
REAL: set[str] = {name for table in _TABLES.values() for name in table.get("REAL", ())}


def by_function(calls: Iterable[Call]) -> Mapping[str, list[Call]]:
    """The calls of each function, also those that were written with one of its other names."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(FUNCTIONS[call.function].name, []).append(call)
    return found


#: The samples of each function.
FUNCTIONS_SAMPLED = by_function(SAMPLES)


def some_of_each(calls: Iterable[Call]) -> list[Call]:
    """Some of the calls of each function."""
    return [call for same in by_function(calls).values() for call in some(same)]


def checked(call: Call) -> list[Any]:
    """What a call gives, where types are as predicted and many examples give what each does."""
    recorded = Recorded(call.record, call.values)
    assert examine(recorded, order=0) == []
    return [recorded.found[z.slot] for z in recorded.outputs]


def with_arrays(call: Call, function: Callable[[Any], Any]) -> Call:
    """The call with ``function`` of each array among its arguments, also in lists."""
    kwargs = {key: _mapped(value, function) for key, value in call.kwargs.items()}
    return replace(call, args=_mapped(call.args, function), kwargs=kwargs)


def _mapped(x: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(x, np.ndarray):
        return function(x)
    return type(x)(_mapped(i, function) for i in x) if isinstance(x, list | tuple) else x


def in_dtype(call: Call, dtype: str) -> Call:
    """The call with floating arrays in another dtype; complex ones leave the real line."""

    def converted(x: Any) -> Any:
        if x.dtype.kind != "f":
            return x
        return np.asarray(x * (1 + 0.2j) + 0.1j if np.dtype(dtype).kind == "c" else x, dtype)

    return with_arrays(call, converted)
