"""Views: arrays that share their elements with another, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from gradwire.tracing.terms import Term


class Shared(Protocol):
    """An array that counts the changes of its elements."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def changes(self) -> int: ...


A = TypeVar("A", bound=Shared)


class View(Generic[A]):
    """The relation of a view to its base."""

    __slots__ = ("base", "may_be_copy", "may_be_number", "put", "seen", "take")

    def __init__(
        self,
        base: A,
        take: Callable[[Term], Term],
        put: Callable[[Term, Term], Term] | None,
        may_be_number: bool,
        may_be_copy: bool,
    ) -> None:
        self.base: A = base
        #: From the base's term to the view's.
        self.take: Callable[[Term], Term] = take
        #: From the base's term and the view's new one to the base's new one; ``None`` if the view
        #: is read-only.
        self.put: Callable[[Term, Term], Term] | None = put
        #: True if it shares nothing when it has no axes, as ``x[0]`` of a vector.
        self.may_be_number: bool = may_be_number
        #: True if it may be a copy, depending on the order in memory, which is not known.
        self.may_be_copy: bool = may_be_copy
        #: The number of the base's changes that it has applied.
        self.seen: int = base.changes

    def of_number(self, made: A) -> bool:
        """True if there is nothing to share: NumPy scalars are not arrays without axes."""
        return self.base.shape == () or (self.may_be_number and made.shape == ())
