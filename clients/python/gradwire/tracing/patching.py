"""Patches: functions that replace others during a recording, for the code that records only.

NumPy dispatches most of its functions on its arguments' types, but not those that make arrays, nor
do SciPy and ``math``. Their substitutes are seen by the context that records and by no other:

- a library's module gets a class that looks up functions by context (``aware``);
- a library's method is looked up by context (``MethodByContext``);
- a name of the user's own code is bound to a function that asks for the context when called.

All is undone when the last recording ends.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

from gradwire.tracing.traces import current


def aware(kind: type[ModuleType], substitute_of: Callable[[Any], Any]) -> type[ModuleType]:
    """The class of a library's module, with substitutes for the code that is recorded."""

    class Library(kind):  # type: ignore[valid-type, misc]  # modules may have classes of their own
        def __getattribute__(self, name: str) -> Any:
            value = kind.__getattribute__(self, name)
            if current() is None:
                return value
            substitute = substitute_of(value)
            return value if substitute is None else substitute

    return Library


class MethodByContext:
    """A method that is a substitute for the code that is recorded."""

    __slots__ = ("_original", "_substitute")

    def __init__(self, original: Any, substitute: Any) -> None:
        self._original = original
        self._substitute = substitute

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        chosen = self._original if current() is None else self._substitute
        return chosen.__get__(instance, owner)


class Binding:
    """A place of a value: an attribute, a variable of a function, an item of a container."""

    __slots__ = ("holder", "key", "name")

    def __init__(self, holder: Any, name: Any) -> None:
        self.holder: Any = holder
        self.name: Any = name
        self.key: tuple[int, Any] = id(holder), name

    def read(self) -> Any:
        """The current value; ``None`` if there is none."""
        holder = self.holder
        if type(holder) is dict:
            return holder.get(self.name)
        if type(holder) is list:
            return holder[self.name] if self.name < len(holder) else None
        try:
            if isinstance(holder, type):  # itself, not what it gives when it is looked up
                return vars(holder).get(self.name)
            return getattr(holder, self.name, None)
        except ValueError:  # a cell that is still empty
            return None

    def write(self, value: Any) -> None:
        """Set the value; ``None`` removes a global name, which is a builtin's again."""
        if type(self.holder) is dict and value is None:
            del self.holder[self.name]
        elif type(self.holder) in (dict, list):
            self.holder[self.name] = value
        else:
            setattr(self.holder, self.name, value)


class Patch(NamedTuple):
    """A substitute for the original value of a binding."""

    binding: Binding
    original: Any
    substitute: Any


class Patches:
    """The patches that are applied now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[tuple[int, Any], Patch] = {}
        #: The numbers of recordings that use them.
        self._uses: Counter[tuple[int, Any]] = Counter()

    @contextmanager
    def during(self, wanted: Iterable[Patch]) -> Iterator[None]:
        """Apply patches while the context lasts."""
        entered: list[tuple[int, Any]] = []
        try:
            with self._lock:
                entered.extend(patch.binding.key for patch in wanted if self._enter(patch))
            yield
        finally:
            with self._lock:
                for key in entered:
                    self._leave(key)

    def original(self, binding: Binding) -> Any:
        """The value of a binding without patches."""
        value = binding.read()
        standing = self._standing.get(binding.key)
        if standing is not None and standing.substitute is value:
            return standing.original
        return value

    def _enter(self, patch: Patch) -> bool:
        binding, original, substitute = patch
        if binding.key not in self._standing:
            if binding.read() is not original:  # it has been replaced by others
                return False
            self._standing[binding.key] = patch
            binding.write(substitute)
        self._uses[binding.key] += 1
        return True

    def _leave(self, key: tuple[int, Any]) -> None:
        self._uses[key] -= 1
        if not self._uses[key]:
            binding, original, substitute = self._standing.pop(key)
            del self._uses[key]
            if binding.read() is substitute:  # else it was set in the meantime
                binding.write(original)


PATCHES = Patches()
