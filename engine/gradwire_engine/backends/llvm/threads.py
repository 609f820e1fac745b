"""The blocks of a sweep shared among threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

from gradwire_engine.backends.errstate import errstate


def on_threads(rows: int, block: int, threads: int, part: Callable[[int, int], Any]) -> list[Any]:
    """The results of ``part`` for all rows, in order: on each thread whole blocks of them."""

    def elsewhere(first: int, last: int) -> Any:
        return errstate.run(part, first, last)

    each = -(-rows // block // threads) * block
    mine, *others = [(first, min(first + each, rows)) for first in range(0, rows, each)]
    futures = [_executor(threads - 1).submit(elsewhere, *other) for other in others]
    try:
        return [part(*mine), *[future.result() for future in futures]]
    finally:  # nothing writes on after a failure
        wait(futures)


@cache
def _executor(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "gradwire-block")
