"""Substitutes: functions that record calls with recorded arrays, and else call the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, TypeAlias

from gradwire.tracing.recordable import holds_recorded, unwrapped
from gradwire.tracing.traces import Trace, current

#: Records a call: of the recording, the original function, and the arguments.
Record: TypeAlias = Callable[[Trace, Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
#: A function and its substitute; a class, the name of a method of it, and its substitute.
Substitute: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
Method: TypeAlias = tuple[type, str, Callable[..., Any]]


def recording(original: Callable[..., Any], record: Record) -> Callable[..., Any]:
    """A function that records calls with recorded arrays, and otherwise calls the original."""

    def function(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is None or not holds_recorded((*args, *kwargs.values())):
            return original(*args, **kwargs)
        return record(trace, original, unwrapped(args), unwrapped(kwargs))

    return update_wrapper(function, original)
