"""NumPy's functions whose result shares its elements with their first argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.terms import AT, ITEM, Term, arguments_with
from gradwire.tracing.tracer import Tracer


def _functions(paths: str) -> frozenset[Any]:
    """NumPy's functions of these names; not every version of NumPy has all."""
    found = []
    for path in paths.split():
        value: Any = np
        for name in path.split("."):
            value = getattr(value, name, None)
        if value is not None:
            found.append(value)
    return frozenset(found)


#: Writable views: each element of the base at most once.
WRITABLE = _functions(
    "reshape ravel transpose permute_dims swapaxes moveaxis rollaxis squeeze expand_dims "
    "matrix_transpose linalg.matrix_transpose flip flipud fliplr rot90 atleast_1d atleast_2d "
    "atleast_3d split array_split hsplit vsplit dsplit unstack"
)
VIEWS = WRITABLE | _functions(
    "broadcast_to diagonal linalg.diagonal real imag lib.stride_tricks.sliding_window_view"
)


def as_view(
    made: Any,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    may_be_copy: bool = False,
) -> None:
    """Make the result of a call, or each part of it, a view of the call's first argument."""
    if isinstance(made, Tracer):
        _share(made, None, made._term, function, args, kwargs, may_be_copy)
    else:
        for i, part in enumerate(made):
            _share(part, i, part._term.args[0], function, args, kwargs, False)


def _share(
    made: Tracer,
    index: int | None,
    whole: Term,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    may_be_copy: bool,
) -> None:
    base: Tracer = args[0]
    viewed = base._term  # as it is now: it may be changed in place

    def take(term: Term) -> Term:
        again = Term(whole.op, *arguments_with(whole, {viewed: term}))
        return again if index is None else literals.part(again, index)

    def put(old: Term, new: Term) -> Term:
        """The base with the view's elements at their places."""
        positions: Any = function(np.arange(base.size).reshape(base.shape), *args[1:], **kwargs)
        taken = np.ravel(positions if index is None else positions[index])
        flat = Term("np.ravel", (new,))
        if len(taken) < base.size:
            places = base._trace.constant(taken)
            flat = Term(f"{AT}set", (Term("np.ravel", (old,)), places, flat))
        elif np.any(taken != np.arange(base.size)):
            flat = Term(ITEM, (flat, base._trace.constant(np.argsort(taken))))
        return Term("np.reshape", (flat, list(base.shape)))

    made.be_view(base, take, put if function in WRITABLE else None, may_be_copy=may_be_copy)
