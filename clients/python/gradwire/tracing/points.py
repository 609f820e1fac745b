"""The point at which a function is differentiated: copies of its arguments, and derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from gradwire.bfloat16 import INEXACT
from gradwire.errors import NotTraceable, UsageError
from gradwire.tracing import literals
from gradwire.tracing.recorded import as_recorded, as_term, numbers_of
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import unflatten
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable

#: The differentiated positional arguments: one, or several for a tuple of derivatives.
Argnums: TypeAlias = "int | Sequence[int]"


class Point:
    """Copies of the differentiated arguments, and derivatives with respect to them.

    Raises: ``UsageError`` for integers, derivatives in which would be 0.
    """

    def __init__(self, argnums: Argnums, args: tuple[Any, ...]) -> None:
        self._single = isinstance(argnums, int)
        chosen = [argnums] if isinstance(argnums, int) else list(argnums)
        chosen = [position + len(args) if position < 0 else position for position in chosen]
        if any(not 0 <= position < len(args) for position in chosen):
            given = f"{len(args)} positional arguments"
            raise UsageError(f"argnums {argnums} is out of range for {given}")
        leaves, self._structure = numbers_of([args[position] for position in chosen])
        for position in () if leaves else chosen:
            if not isinstance(args[position], (Mapping, list, tuple)):
                kind = type(args[position]).__name__
                message = f"argument {position} is a {kind}: a number or an array is differentiated"
                raise UsageError(message, hint="argnums says which arguments these are")
        self.leaves: list[Tracer] = list(map(_copy, leaves))
        copies = unflatten(self._structure, iter(self.leaves))
        by_position = dict(zip(chosen, copies, strict=True))
        self.args: tuple[Any, ...] = tuple([by_position.get(i, arg) for i, arg in enumerate(args)])

    def call(self, function: str, value: Tracer, directions: Sequence[Term] | None = None) -> Term:
        """``function(value, [sources])``, or with directions for each source."""
        along = () if directions is None else (list(directions),)
        return Term(function, (value._term, [leaf._term for leaf in self.leaves], *along))

    def derivatives(self, function: str, value: Tracer) -> list[Tracer]:
        """A derivative for each source."""
        return self.items(
            self.call(function, value), value if function.endswith("jacobian") else None
        )

    def items(self, whole: Term, rows: Tracer | None = None) -> list[Tracer]:
        """The parts of a list that has one for each source, like it; with the axes of ``rows``."""
        return [
            Tracer(literals.part(whole, i), infer=partial(_derivative_aval, rows, leaf))
            for i, leaf in enumerate(self.leaves)
        ]

    def product(self, function: str, value: Tracer, directions: Sequence[Term]) -> Tracer:
        """A derivative along directions."""
        whole = self.call(function, value, directions)
        return Tracer(whole, infer=lambda: value.aval)

    def matched(self, vectors: Sequence[Any], what: str) -> list[Term]:
        """The terms of vectors that are nested as the sources are."""
        leaves, structure = numbers_of(list(vectors))
        if structure != self._structure:
            raise unlike(what, "the arguments")
        return list(map(as_term, leaves))

    def nested(self, parts: Sequence[Any]) -> Any:
        """Parts nested as the arguments are."""
        found = unflatten(self._structure, iter(parts))
        return found[0] if self._single else tuple(found)


def _copy(value: Any) -> Tracer:
    given = as_recorded([value])[0]
    if given._aval is not None and given._aval.dtype.kind not in INEXACT:
        hint = "convert it, x.astype(float), or do not differentiate in it"
        raise UsageError(f"there is no derivative with respect to {given._aval}", hint=hint)
    return Tracer(
        Term("copy", (given._term,)),
        given._aval,
        infer=lambda: given.aval,
        weak=given._weak,
        is_argument=True,
        is_ordered=given._is_ordered,
    )


def _derivative_aval(rows: Tracer | None, source: Tracer) -> Aval | None:
    if rows is None:
        return source.aval
    if rows.dtype.kind == "c" != source.dtype.kind:
        return None
    return Aval((*rows.shape, *source.shape), source.dtype)


def unlike(what: str, other: str) -> NotTraceable:
    """The error for values that are nested otherwise than they must be."""
    return not_traceable(f"{what} are not nested as {other}", "give both the same structure")
