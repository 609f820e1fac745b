"""Substitutes: functions that record calls with recorded arrays, and else call the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from types import CellType, FunctionType, MethodType
from typing import Any, TypeAlias

from gradwire.tracing.recordable import holds_recorded, unwrapped
from gradwire.tracing.traces import Trace, current

#: Records a call: of the recording, the original function, and the arguments.
Record: TypeAlias = Callable[[Trace, Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
#: A function and its substitute; a class, the name of a method of it, and its substitute.
Substitute: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
Method: TypeAlias = tuple[type, str, Callable[..., Any]]


def recording(
    original: Callable[..., Any],
    record: Record,
    concerns: Callable[[tuple[Any, ...]], bool] = holds_recorded,
) -> Callable[..., Any]:
    """A function that records calls whose arguments concern it, and else calls the original."""

    def function(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is None or not concerns((*args, *kwargs.values())):
            return original(*args, **kwargs)
        return record(trace, original, unwrapped(args), unwrapped(kwargs))

    return update_wrapper(function, original)


def reads_recorded(value: Any, depth: int = 4) -> bool:
    """True of recorded arrays, nested values with them, and functions that capture them."""
    if holds_recorded(value):
        return True
    if not depth:
        return False
    if isinstance(value, (list, tuple)):
        return any(reads_recorded(item, depth) for item in value)
    parts: list[Any] = []
    if isinstance(value, partial):
        parts = [value.func, *value.args, *value.keywords.values()]
    elif isinstance(value, MethodType):
        parts = [value.__func__, *getattr(value.__self__, "__dict__", {}).values()]
    elif isinstance(value, FunctionType):
        cells = value.__closure__ or ()
        parts = [*map(_content, cells), *(value.__defaults__ or ())]
        parts += (value.__kwdefaults__ or {}).values()
    elif callable(value) and not isinstance(value, type):
        parts = list(getattr(value, "__dict__", {}).values())
    return any(reads_recorded(part, depth - 1) for part in parts)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty yet
        return None
