"""Python functions as functions of the program, with nested arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

from gradwire.errors import NotTraceable
from gradwire.tracing import literals
from gradwire.tracing.recorded import listed, outputs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import LEAF, Structure, unflatten
from gradwire.tracing.terms import CALL, Body, Bound, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable, recording


class Nest:
    """Nested values as one value of the program: an array, or a list of arrays.

    They are an argument or the result of a function of the program. With ``rows``, the function
    gets a row of each.
    """

    def __init__(self, value: Any, *, rows: bool = False) -> None:
        self.leaves: list[Tracer]
        self.structure: Structure
        self.leaves, self.structure = outputs(value)
        self.bare: bool = self.structure == LEAF
        self._rows = rows

    def as_list(self) -> Nest:
        """As ``term``, but always a list, even of one array."""
        other = copy(self)
        other.bare = False
        return other

    @property
    def term(self) -> Term:
        """The term that is passed to a function, or that it returns."""
        terms = [leaf._term for leaf in self.leaves]
        return terms[0] if self.bare else listed(terms)

    def read(self, whole: Term, axes: tuple[int, ...] = (), place: int = 0) -> Any:
        """The nested values of a term of arrays like these, with further axes at a place."""
        parts = [whole if self.bare else literals.part(whole, i) for i in range(len(self.leaves))]
        return self.nested(parts, axes, place)

    def nested(self, terms: Sequence[Term], axes: tuple[int, ...] = (), place: int = 0) -> Any:
        """Terms of arrays like these, nested alike."""
        made = [
            Tracer(term, infer=partial(self._aval, leaf, axes, place))
            for term, leaf in zip(terms, self.leaves, strict=True)
        ]
        return unflatten(self.structure, iter(made))

    def _aval(self, leaf: Tracer, axes: tuple[int, ...], place: int) -> Aval | None:
        trace = recording()
        refused = trace.refused
        try:
            shape = leaf.shape[1 if self._rows else 0 :]
        except NotTraceable:  # unknown by NumPy's rules: the service infers the whole
            trace.refused = refused
            return None
        place = place if place >= 0 else place + len(shape) + 1
        return Aval((*shape[:place], *axes, *shape[place:]), leaf.dtype)


def body_of(f: Callable[..., Any], params: Sequence[Nest]) -> tuple[Body, Nest]:
    """Record ``f`` as a function of the program; return that function and the result of ``f``."""
    with recording().inside() as scope:
        bounds = [Bound(scope) for _ in params]
        given = [nest.read(bound) for nest, bound in zip(params, bounds, strict=True)]
        returned = Nest(f(*given))
        return Body(scope, tuple(bounds), returned.term), returned


def step_of(f: Callable[..., Any], params: Sequence[Nest], carry: Nest) -> Body:
    """Record ``f``, which needs to return values nested as ``carry`` is."""
    body, returned = body_of(f, params)
    check_carry(returned, carry)
    return body


def applied(function: Term, args: Sequence[Term]) -> Term:
    """A call of a term that is a function of the program."""
    return Term(CALL, (function, *args))


def check_carry(returned: Nest, nest: Nest) -> None:
    """Raise an error unless a function returns the structure of its argument."""
    if returned.structure != nest.structure:
        raise not_traceable(
            "the function returns another structure than that of its argument",
            "return values nested as the argument is: they are its next argument",
        )
