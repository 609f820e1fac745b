"""Name scopes."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

__all__ = ["name_scope"]


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.stack: list[str] = []


_scopes = _Scopes()


def scoped(name: str) -> str:
    """A name within the scopes that are entered."""
    return "/".join([*(scope for scope in _scopes.stack if scope), name])


class name_scope:  # noqa: N801 - TensorFlow's name
    """A context in whose name the names of new variables begin."""

    def __init__(self, name: str) -> None:
        self._name: str = name

    @property
    def name(self) -> str:
        """The scope's own name."""
        return self._name

    def __enter__(self) -> str:
        _scopes.stack.append(self._name.rstrip("/"))
        return "/".join(_scopes.stack) + "/"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _scopes.stack.pop()

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self._name,)
