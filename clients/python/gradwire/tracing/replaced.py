"""Functions that stand in the place of others while something is recorded, and only then.

NumPy lets arrays of other kinds take over most of its functions; SciPy's and ``math``'s, and those
that make arrays, it cannot. These are looked up in a module, or in the user's own module, when
they are called: there a function stands that records where it is given recorded arrays inside of a
recording, and is the original in every other case, so that no other thread notices.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Spot(NamedTuple):
    """Where a function is looked up: an attribute of a module, class or cell; a key of globals."""

    holder: Any
    name: str

    def read(self) -> Any:
        """What is there; ``None`` for nothing."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.name)
        try:
            return getattr(self.holder, self.name, None)
        except ValueError:  # a cell that is empty yet
            return None

    def write(self, value: Any) -> None:
        """Put something there."""
        if isinstance(self.holder, dict):
            self.holder[self.name] = value
        else:
            setattr(self.holder, self.name, value)


class _Standing:
    __slots__ = ("count", "original", "spot", "substitute")

    def __init__(self, spot: Spot, original: Any, substitute: Any) -> None:
        self.spot, self.original, self.substitute, self.count = spot, original, substitute, 0


class Replacements:
    """What stands in the place of something else now, for how many recordings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[tuple[int, str], _Standing] = {}

    @contextmanager
    def during(self, wanted: Iterable[tuple[Spot, Any, Any]]) -> Iterator[None]:
        """Have substitutes stand for originals at some spots: ``(spot, original, substitute)``."""
        keys: list[tuple[int, str]] = []
        try:
            with self._lock:
                for spot, original, substitute in wanted:
                    self._enter(spot, original, substitute, keys)
            yield
        finally:
            with self._lock:
                for key in keys:
                    self._leave(key)

    def original(self, spot: Spot) -> Any:
        """What stands at a spot when nothing is recorded."""
        value = spot.read()
        standing = self._standing.get((id(spot.holder), spot.name))
        return standing.original if standing and standing.substitute is value else value

    def _enter(
        self, spot: Spot, original: Any, substitute: Any, keys: list[tuple[int, str]]
    ) -> None:
        key = id(spot.holder), spot.name
        standing = self._standing.get(key)
        if standing is None:
            if spot.read() is not original:  # replaced by somebody else meanwhile
                return
            standing = self._standing[key] = _Standing(spot, original, substitute)
            spot.write(substitute)
        standing.count += 1
        keys.append(key)

    def _leave(self, key: tuple[int, str]) -> None:
        standing = self._standing[key]
        standing.count -= 1
        if not standing.count:
            del self._standing[key]
            if standing.spot.read() is standing.substitute:  # else it was set anew: let it be
                standing.spot.write(standing.original)


REPLACEMENTS = Replacements()
