"""Views: arrays that share their elements with another, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.shapes import AbstractArray
from gradwire.tracing.terms import AT, ITEM, Term, arguments_with


class View:
    """The relation of a view to its base."""

    __slots__ = ("base", "may_be_copy", "may_be_number", "put", "seen", "take")

    def __init__(
        self,
        base: Any,
        take: Callable[[Term], Term],
        put: Callable[[Term, Term], Term] | None,
        may_be_number: bool,
        may_be_copy: bool,
    ) -> None:
        self.base: Any = base
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

    def of_number(self, made: AbstractArray) -> bool:
        """True if there is nothing to share: NumPy scalars are not arrays without axes."""
        return self.base.shape == () or (self.may_be_number and made.shape == ())


def _functions(paths: str) -> frozenset[Any]:
    """NumPy's functions of these names; not every version of NumPy has all."""
    found = set()
    for path in paths.split():
        value: Any = np
        for name in path.split("."):
            value = getattr(value, name, None)
        found.add(value)
    return frozenset(found - {None})


#: Functions whose result is a view of their first argument, and whether it can be written to.
VIEWS = {
    **dict.fromkeys(
        _functions(
            "reshape ravel transpose permute_dims swapaxes moveaxis rollaxis squeeze expand_dims "
            "matrix_transpose linalg.matrix_transpose flip flipud fliplr rot90 atleast_1d "
            "atleast_2d atleast_3d split array_split hsplit vsplit dsplit unstack"
        ),
        True,
    ),
    **dict.fromkeys(
        _functions(
            "broadcast_to diagonal linalg.diagonal real imag lib.stride_tricks.sliding_window_view"
        ),
        False,
    ),
}


def as_view(
    made: Any,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    is_writable: bool,
    may_be_copy: bool = False,
) -> None:
    """Make the result of a call, or each part of it, a view of the call's first argument."""
    base = args[0]
    viewed = base._term  # as it is now: it may be changed in place

    def share(made: Any, index: int | None, whole: Term) -> None:
        def take(term: Term) -> Term:
            again = Term(whole.op, *arguments_with(whole, {viewed: term}))
            return again if index is None else literals.part(again, index)

        def put(old: Term, new: Term) -> Term:
            positions: Any = function(np.arange(base.size).reshape(base.shape), *args[1:], **kwargs)
            return scattered(base, positions if index is None else positions[index], old, new)

        made.be_view(base, take, put if is_writable else None, may_be_copy=may_be_copy)

    if isinstance(made, (list, tuple)):
        for i, part in enumerate(made):
            share(part, i, part._term.args[0])
    else:
        share(made, None, made._term)


def scattered(base: Any, places: Any, old: Term, new: Term) -> Term:
    """The elements of a base, with a view's at their places among them."""
    taken = np.ravel(places)
    flat = literals.raveled(new)
    if len(taken) < base.size:
        flat = Term(f"{AT}set", (literals.raveled(old), base._trace.constant(taken), flat))
    elif np.any(taken != np.arange(base.size)):
        flat = Term(ITEM, (flat, base._trace.constant(np.argsort(taken))))
    return literals.reshaped(flat, base.shape)
