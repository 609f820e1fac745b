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


class Spot:
    """Where a function is looked up: an attribute of a module, class or cell; a key of globals."""

    __slots__ = ("holder", "key", "name")

    def __init__(self, holder: Any, name: str) -> None:
        self.holder: Any = holder
        self.name: str = name
        self.key: tuple[int, str] = id(holder), name

    def read(self) -> Any:
        """What is there; ``None`` for nothing."""
        if type(self.holder) is dict:
            return self.holder.get(self.name)
        try:
            return getattr(self.holder, self.name, None)
        except ValueError:  # a cell that is empty yet
            return None

    def write(self, value: Any) -> None:
        """Put something there."""
        if type(self.holder) is dict:
            self.holder[self.name] = value
        else:
            setattr(self.holder, self.name, value)


class Substitute(NamedTuple):
    """A function that stands for another at a spot."""

    spot: Spot
    original: Any
    substitute: Any


class _Standing:
    __slots__ = ("count", "what")

    def __init__(self, what: Substitute) -> None:
        self.what = what
        #: For how many recordings it stands.
        self.count = 1


class Replacements:
    """What stands in the place of something else now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[tuple[int, str], _Standing] = {}

    @contextmanager
    def during(self, wanted: Iterable[Substitute]) -> Iterator[None]:
        """Have substitutes stand for originals."""
        entered: list[_Standing] = []
        try:
            with self._lock:
                self._enter(wanted, entered)
            yield
        finally:
            with self._lock:
                self._leave(entered)

    def original(self, spot: Spot) -> Any:
        """What is at a spot when nothing is recorded."""
        value = spot.read()
        standing = self._standing.get(spot.key)
        if standing is not None and standing.what.substitute is value:
            return standing.what.original
        return value

    def _enter(self, wanted: Iterable[Substitute], entered: list[_Standing]) -> None:
        for what in wanted:
            spot, original, substitute = what
            standing = self._standing.get(spot.key)
            if standing is not None:
                standing.count += 1
            elif spot.read() is original:  # else somebody has put something else there
                standing = self._standing[spot.key] = _Standing(what)
                spot.write(substitute)
            else:
                continue
            entered.append(standing)

    def _leave(self, entered: Iterable[_Standing]) -> None:
        for standing in entered:
            standing.count -= 1
            if not standing.count:
                spot, original, substitute = standing.what
                del self._standing[spot.key]
                if spot.read() is substitute:  # else it was set anew: let it be
                    spot.write(original)


REPLACEMENTS = Replacements()
