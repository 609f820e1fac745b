"""Measures how long the calls of a store take."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import ParamSpec, TypeVar

from gradwire_service.store.interface import Store

P = ParamSpec("P")
T = TypeVar("T")

#: The calls that requests wait for.
OPERATIONS = (
    "put",
    "commit",
    "publish",
    "peek",
    "find",
    "list_records",
    "consume",
    "remove",
    "exchange",
)


def time_calls(store: Store, observe: Callable[[str, float], None]) -> None:
    """Have each call of a store that makes callers wait observed: its name and its seconds."""
    if not store.waits:
        return
    for operation in OPERATIONS:
        setattr(store, operation, _timed(operation, getattr(store, operation), observe))


def _timed(
    operation: str, call: Callable[P, T], observe: Callable[[str, float], None]
) -> Callable[P, T]:
    @wraps(call)
    def timed(*arguments: P.args, **named: P.kwargs) -> T:
        begun = perf_counter()
        try:
            return call(*arguments, **named)
        finally:
            observe(operation, perf_counter() - begun)

    return timed
