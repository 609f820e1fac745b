"""Recordings of what NumPy dispatches: operators, ufuncs and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.tracing import literals
from gradwire.tracing.decompositions import in_one_axis
from gradwire.tracing.numpy_calls import call_function
from gradwire.tracing.recordable import changing, unwrapped, with_out
from gradwire.tracing.shapes import Aval
from gradwire.tracing.terms import Scope, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace
from gradwire.tracing.ufuncs import applied, call_ufunc


class NumpyTrace(Trace):
    """A recording of code that computes with NumPy."""

    def operator(self, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        return applied(self, ufunc, unwrapped(operands), is_operator=True)

    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], given: dict[str, Any]
    ) -> Any:
        if given:
            given = with_out(given)
        return call_ufunc(self, ufunc, method, unwrapped(inputs), given)

    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        args, kwargs = changing(function, args, kwargs)
        given = with_out(kwargs)
        return call_function(self, function, unwrapped(args), given)

    def in_one_axis(self, array: Any) -> Any:
        return in_one_axis(array)

    def recorded_copy(self, array: NDArray[Any], scope: Scope | None) -> Tracer:
        first = array.flat[0].item() if array.size else 0
        if np.all(array == first) and array.dtype != bool:
            options = {"dtype": array.dtype}
            term = literals.call("np.full", (list(array.shape), first), options, _term)
        else:
            term = literals.call("copy", (self.constant(array),), {}, _term)
        aval = Aval(array.shape, array.dtype)
        made = Tracer(term, self, aval, is_ordered=array.flags.c_contiguous)
        made._scope = scope
        return made

    def recorded_view(self, base: Tracer, places: NDArray[Any]) -> Tracer:
        def take(term: Term) -> Term:
            flat = literals.call("np.ravel", (term,), {}, _term)
            taken = literals.item(flat, self.constant(places.ravel()), _term)
            return literals.call("np.reshape", (taken, list(places.shape)), {}, _term)

        def put(old: Term, new: Term) -> Term:
            flat, values = (literals.call("np.ravel", (term,), {}, _term) for term in (old, new))
            mixed = base._with_items(flat, places.ravel(), "set", values)
            return literals.call("np.reshape", (mixed, list(base.shape)), {}, _term)

        made = Tracer(take(base._term), self, Aval(places.shape, base.dtype))
        made.be_view(base, take, put)
        return made


def _term(value: Any) -> Term | None:
    return value if isinstance(value, Term) else None
