"""Python functions as functions of the program, with nested arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwire.errors import NotTraceable
from gradwire.tracing import literals
from gradwire.tracing.recorded import as_term, is_number, item_of, listed, outputs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import LEAF, Structure, flatten, unflatten
from gradwire.tracing.terms import CALL, Body, Bound, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace, not_traceable


class Nest:
    """Nested values as one argument in the program: an array, or a list of arrays.

    With ``rows``, a function of the program gets a row of each.
    """

    def __init__(self, trace: Trace, value: Any, *, rows: bool = False) -> None:
        self.trace: Trace = trace
        self.leaves: list[Any]
        self.structure: Structure
        self.leaves, self.structure = flatten(value, is_number)
        self.bare: bool = self.structure == LEAF
        self._rows = rows

    def as_list(self) -> Nest:
        """As ``term``, but always a list, even of one array."""
        other: Nest = object.__new__(Nest)
        other.trace, other.leaves, other.structure = self.trace, self.leaves, self.structure
        other.bare, other._rows = False, self._rows
        return other

    @property
    def count(self) -> int:
        """The number of arrays."""
        return len(self.leaves)

    @property
    def term(self) -> Term:
        """The term that is passed to a function."""
        terms = [as_term(leaf, self.trace) for leaf in self.leaves]
        return terms[0] if self.bare else listed(terms)

    def read(self, whole: Term, axes: tuple[int, ...] = ()) -> Any:
        """The nested values of a list of arrays like these; with ``axes``, stacked."""
        avals = [self._aval(leaf) for leaf in self.leaves]
        stacks = [Aval((*axes, *aval.shape), aval.dtype) for aval in avals]
        if self.bare:
            return Tracer(whole, self.trace, stacks[0])
        parts = [item_of(whole, i, self.trace, aval) for i, aval in enumerate(stacks)]
        return unflatten(self.structure, iter(parts))

    def _aval(self, leaf: Any) -> Aval:
        if isinstance(leaf, Tracer):
            aval = leaf.aval
        else:
            array = np.asarray(leaf, np.float64 if isinstance(leaf, int) else None)
            aval = Aval(array.shape, array.dtype)
        return Aval(aval.shape[1:], aval.dtype) if self._rows else aval


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

    def read(self, whole: Term, trace: Trace, axes: tuple[int, ...] = ()) -> Any:
        """The nested values of a call of the function; with ``axes``, stacked."""
        terms = [whole]
        if self.structure != LEAF:
            terms = [literals.part(whole, i) for i in range(len(self.parts))]
        return self.nested(terms, trace, axes)

    def nested(self, terms: Sequence[Term], trace: Trace, axes: tuple[int, ...] = ()) -> Any:
        """Terms of arrays like these, nested alike."""
        made = [
            Tracer(term, trace, infer=partial(_stacked, like, axes))
            for term, like in zip(terms, self.parts, strict=True)
        ]
        return unflatten(self.structure, iter(made))


def body_of(trace: Trace, f: Callable[..., Any], params: Sequence[Nest]) -> tuple[Body, Returned]:
    """Record ``f`` as a function of the program; return that function and the result of ``f``."""
    with trace.inside() as scope:
        bounds = [Bound(scope) for _ in params]
        given = [nest.read(bound) for nest, bound in zip(params, bounds, strict=True)]
        returned = Returned(f(*given))
        return Body(scope, tuple(bounds), returned.term), returned


def written(name: str, *args: Any, options: Mapping[str, Any] | None = None) -> Term:
    """``name(*args, **options)`` of terms, recorded arrays, lists of these, and other values."""
    return literals.call(name, args, options or {}, _to_term)


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


def _stacked(like: Tracer, axes: tuple[int, ...]) -> Aval | None:
    try:
        return Aval((*axes, *like.shape), like.dtype)
    except NotTraceable:  # unknown by NumPy's rules: the service infers the whole
        return None


def _to_term(value: Any) -> Term | None:
    if isinstance(value, Tracer):
        return value._term
    return value if isinstance(value, Term) else None
