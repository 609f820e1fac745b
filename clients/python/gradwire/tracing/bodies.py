"""Python functions as functions of the program, with nested arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

from gradwire.errors import NotTraceable
from gradwire.tracing import literals
from gradwire.tracing.recorded import as_term, aval_of, listed, numbers_of, outputs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import LEAF, Structure, unflatten
from gradwire.tracing.terms import CALL, Body, Bound, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable, recording


class Nest:
    """Nested values as one argument in the program: an array, or a list of arrays.

    With ``rows``, a function of the program gets a row of each.
    """

    def __init__(self, value: Any, *, rows: bool = False) -> None:
        self.leaves: list[Any]
        self.structure: Structure
        self.leaves, self.structure = numbers_of(value)
        self.bare: bool = self.structure == LEAF
        self._rows = rows

    def as_list(self) -> Nest:
        """As ``term``, but always a list, even of one array."""
        other = copy(self)
        other.bare = False
        return other

    @property
    def count(self) -> int:
        """The number of arrays."""
        return len(self.leaves)

    @property
    def term(self) -> Term:
        """The term that is passed to a function."""
        terms = list(map(as_term, self.leaves))
        return terms[0] if self.bare else listed(terms)

    def read(self, whole: Term, axes: tuple[int, ...] = ()) -> Any:
        """The nested values of a list of arrays like these; with ``axes``, stacked."""
        avals = []
        for leaf in self.leaves:
            shape, dtype = aval_of(leaf)
            avals.append(Aval((*axes, *shape[1 if self._rows else 0 :]), dtype))
        if self.bare:
            return Tracer(whole, avals[0])
        parts = [Tracer(literals.part(whole, i), aval) for i, aval in enumerate(avals)]
        return unflatten(self.structure, iter(parts))


class Returned:
    """The result of a Python function that was recorded as a function of the program."""

    def __init__(self, value: Any) -> None:
        self.parts: list[Tracer]
        self.structure: Structure
        self.parts, self.structure = outputs(value)

    @property
    def term(self) -> Term:
        """The term that the program's function returns: an array, or a list of all nested ones."""
        terms = [part._term for part in self.parts]
        return terms[0] if self.structure == LEAF else listed(terms)

    def read(self, whole: Term) -> Any:
        """The nested values of a call of the function."""
        if self.structure == LEAF:
            return self.nested([whole])
        return self.nested([literals.part(whole, i) for i in range(len(self.parts))])

    def nested(self, terms: Sequence[Term], axes: tuple[int, ...] = ()) -> Any:
        """Terms of arrays like these, nested alike; with ``axes``, stacked."""
        made = [
            Tracer(term, infer=partial(stacked, like, axes))
            for term, like in zip(terms, self.parts, strict=True)
        ]
        return unflatten(self.structure, iter(made))


def body_of(f: Callable[..., Any], params: Sequence[Nest]) -> tuple[Body, Returned]:
    """Record ``f`` as a function of the program; return that function and the result of ``f``."""
    with recording().inside() as scope:
        bounds = [Bound(scope) for _ in params]
        given = [nest.read(bound) for nest, bound in zip(params, bounds, strict=True)]
        returned = Returned(f(*given))
        return Body(scope, tuple(bounds), returned.term), returned


def step_of(f: Callable[..., Any], params: Sequence[Nest], carry: Nest) -> Body:
    """Record ``f``, which needs to return values nested as ``carry`` is."""
    body, returned = body_of(f, params)
    check_carry(returned, carry)
    return body


def applied(function: Term, args: Sequence[Term]) -> Term:
    """A call of a term that is a function of the program."""
    return Term(CALL, (function, *args))


def check_carry(returned: Returned, nest: Nest) -> None:
    """Raise an error unless a function returns the structure of its argument."""
    if returned.structure != nest.structure:
        raise not_traceable(
            "the function returns another structure than that of its argument",
            "return values nested as the argument is: they are its next argument",
        )


def stacked(like: Tracer, lengths: tuple[int, ...], place: int = 0) -> Aval | None:
    """An array's shape with further axes; ``None`` if unknown by NumPy's rules."""
    try:
        shape = like.shape
    except NotTraceable:  # the service infers the whole
        return None
    place = place if place >= 0 else place + len(shape) + 1
    return Aval((*shape[:place], *lengths, *shape[place:]), like.dtype)
