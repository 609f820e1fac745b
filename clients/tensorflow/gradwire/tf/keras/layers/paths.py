"""The layers within which a weight is made, whose names are its path."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ENTERED = threading.local()


@contextmanager
def within(layer: Any) -> Iterator[None]:
    """A context in which weights are made within a layer, too."""
    entered: list[Any] = _ENTERED.__dict__.setdefault("layers", [])
    if entered and entered[-1] is layer:
        yield
        return
    entered.append(layer)
    try:
        yield
    finally:
        entered.pop()


def names_within(layer: Any) -> list[str]:
    """The names of the layers around, and that of a layer itself."""
    with within(layer):
        return [each.name for each in _ENTERED.layers]
