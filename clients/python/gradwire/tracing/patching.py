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


class Binding:
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


class Patch(NamedTuple):
    """A function that stands for another at a spot."""

    binding: Binding
    original: Any
    substitute: Any


class _ActivePatch:
    __slots__ = ("count", "what")

    def __init__(self, what: Patch) -> None:
        self.what = what
        #: For how many recordings it stands.
        self.count = 1


class Patches:
    """What stands in the place of something else now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[tuple[int, str], _ActivePatch] = {}

    @contextmanager
    def during(self, wanted: Iterable[Patch]) -> Iterator[None]:
        """Have substitutes stand for originals."""
        entered: list[_ActivePatch] = []
        try:
            with self._lock:
                self._enter(wanted, entered)
            yield
        finally:
            with self._lock:
                self._leave(entered)

    def original(self, binding: Binding) -> Any:
        """What is at a spot when nothing is recorded."""
        value = binding.read()
        standing = self._standing.get(binding.key)
        if standing is not None and standing.what.substitute is value:
            return standing.what.original
        return value

    def _enter(self, wanted: Iterable[Patch], entered: list[_ActivePatch]) -> None:
        for what in wanted:
            binding, original, substitute = what
            standing = self._standing.get(binding.key)
            if standing is not None:
                standing.count += 1
            elif binding.read() is original:  # else somebody has put something else there
                standing = self._standing[binding.key] = _ActivePatch(what)
                binding.write(substitute)
            else:
                continue
            entered.append(standing)

    def _leave(self, entered: Iterable[_ActivePatch]) -> None:
        for standing in entered:
            standing.count -= 1
            if not standing.count:
                binding, original, substitute = standing.what
                del self._standing[binding.key]
                if binding.read() is substitute:  # else it was set anew: let it be
                    binding.write(original)


PATCHES = Patches()
