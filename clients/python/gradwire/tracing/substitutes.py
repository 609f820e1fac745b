"""Substitutes: functions that record calls with recorded arrays, and else call the original."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from gradwire.tracing.lazy_arrays import (
    called_by_user,
    holds_recorded,
    recordable,
    unwrapped,
    with_out,
)
from gradwire.tracing.patching import Binding
from gradwire.tracing.traces import current

#: A function and its substitute; a class, the name of a method of it, and its substitute.
Substitute: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
Method: TypeAlias = tuple[type, str, Callable[..., Any]]


def substitute(
    original: Callable[..., Any],
    record: Callable[..., Any],
    concerns: Callable[[tuple[Any, ...]], bool] = holds_recorded,
) -> Callable[..., Any]:
    """A function that records calls whose arguments concern it, and else calls the original."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if current() is None or not concerns((*args, *kwargs.values())):
            return original(*args, **kwargs)
        return record(*unwrapped(args), **with_out(kwargs))

    return update_wrapper(function, original)


def making(original: Callable[..., Any], made_by: Callable[..., Any]) -> Callable[..., Any]:
    """A function of which the array may become recorded."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return original(*args, **kwargs)
        made = made_by(*args, **kwargs)
        is_new = all(made is not arg for arg in args)
        return recordable(made, (args, kwargs)) if is_new and called_by_user() else made

    return update_wrapper(function, original)


def substituted_method(kind: type, name: str, record: Callable[..., Any]) -> Method:
    """A class's method that records calls with recorded arrays."""
    return kind, name, substitute(vars(kind)[name], record)


def reads_recorded(value: Any, depth: int = 6) -> bool:
    """True of recorded arrays, nested values with them, and functions that capture them."""
    parts: Iterable[Any] = ()
    if isinstance(value, (list, tuple)):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, partial):
        parts = (value.func, value.args, value.keywords)
    elif isinstance(value, MethodType):
        parts = (value.__func__, getattr(value.__self__, "__dict__", {}))
    elif isinstance(value, FunctionType):
        cells = [Binding(cell, "cell_contents").read() for cell in value.__closure__ or ()]
        parts = (*cells, value.__defaults__, value.__kwdefaults__)
    elif callable(value) and not isinstance(value, type):
        parts = getattr(value, "__dict__", {}).values()
    else:
        return holds_recorded(value)
    return depth > 0 and any(reads_recorded(part, depth - 1) for part in parts)
