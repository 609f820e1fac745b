"""How arrays share their elements, as NumPy's views do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradwire.tracing.terms import Term

if TYPE_CHECKING:
    from gradwire.tracing.tracer import Tracer


class View:
    """How an array shares its elements with another."""

    __slots__ = ("base", "may_be_copy", "may_be_number", "put", "seen", "take")

    def __init__(
        self,
        base: Tracer,
        take: Callable[[Term], Term],
        put: Callable[[Term, Term], Term] | None,
        may_be_number: bool,
        may_be_copy: bool,
    ) -> None:
        self.base: Tracer = base
        #: Its term, of the base's.
        self.take: Callable[[Term], Term] = take
        #: The base's term once it has other elements, of the base's and its own; ``None`` where
        #: it cannot be written to.
        self.put: Callable[[Term, Term], Term] | None = put
        #: Whether it shares nothing if it has no axes, as ``x[0]`` of a vector.
        self.may_be_number: bool = may_be_number
        #: Whether it may share nothing, by the order in memory, which is not known.
        self.may_be_copy: bool = may_be_copy
        #: The changes of what it shares that it has taken over.
        self.seen: int = base.changes

    def of_number(self, made: Tracer) -> bool:
        """Whether there is nothing to share: NumPy's numbers are not arrays without axes."""
        return self.base.shape == () or (self.may_be_number and made.shape == ())
