"""Recordings of what NumPy dispatches: operators, ufuncs and functions.

The program's language has NumPy's names and parameters, so that most calls are written out as they
were made. Those that are not are in ``REWRITTEN``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradwire.tracing import literals
from gradwire.tracing.calls import into, record_call
from gradwire.tracing.decompositions import DECOMPOSITIONS
from gradwire.tracing.guarded import DECIDED
from gradwire.tracing.lazy_arrays import unwrapped, with_out
from gradwire.tracing.mutations import MUTATIONS
from gradwire.tracing.shapes import Aval
from gradwire.tracing.terms import ITEM, Scope, Term
from gradwire.tracing.tracer import Tracer, term_of, truth
from gradwire.tracing.traces import Trace, current, not_traceable
from gradwire.tracing.ufuncs import applied, call_ufunc
from gradwire.tracing.views import VIEWS, as_view, scattered

#: Modules of NumPy's functions that are top-level in the language.
_MODULES = {"numpy.lib.stride_tricks": "np", "numpy._core.multiarray": "np"}
#: Most calls that are recorded; some take minutes, and a gigabyte.
MOST_CALLS = 1_000_000
#: Functions that give a truth value, and if it is Python's.
_TRUTHS = {
    np.all: False, np.any: False, np.allclose: True, np.array_equal: True, np.array_equiv: True,
}  # fmt: skip
#: Functions of which a call is more than a call of the same name.
REWRITTEN = DECOMPOSITIONS | MUTATIONS | DECIDED


class NumpyTrace(Trace):
    """A recording of code that computes with NumPy."""

    mutations: ClassVar[frozenset[Any]] = frozenset(MUTATIONS)
    #: The number of calls that were recorded.
    _calls = 0

    def operator(self, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        return self._in_recording(applied, ufunc, unwrapped(operands), is_operator=True)

    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], given: dict[str, Any]
    ) -> Any:
        given = with_out(given) if given else given
        return self._in_recording(call_ufunc, ufunc, method, unwrapped(inputs), given)

    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        made = self._in_recording(call_function, function, unwrapped(args), with_out(kwargs))
        return truth(made, of_python=_TRUTHS[function]) if function in _TRUTHS else made

    def _in_recording(self, record: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Record a call, also in a thread that the function has started."""
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise not_traceable(
                f"the function has called {MOST_CALLS:,} operations, and goes on",
                "gradwire.fori, gradwire.scan and gradwire.while_loop record a loop's body once",
            )
        if current() is self:
            return record(*args, **kwargs)
        with self.recording():
            return record(*args, **kwargs)

    def recorded_copy(self, array: NDArray[Any], scope: Scope | None) -> Tracer:
        first = array.flat[0].item() if array.size else 0
        if np.all(array == first) and array.dtype != bool:
            term = term_of("np.full", list(array.shape), first, dtype=array.dtype)
        else:
            term = Term("copy", (self.constant(array),))
        aval = Aval(array.shape, array.dtype)
        made = Tracer(term, aval, trace=self, is_ordered=array.flags.c_contiguous)
        made._scope = scope
        return made

    def recorded_view(self, base: Tracer, places: NDArray[Any]) -> Tracer:
        def take(term: Term) -> Term:
            flat = literals.raveled(term)
            taken = Term(ITEM, (flat, self.constant(places.ravel())))
            return literals.reshaped(taken, places.shape)

        made = Tracer(take(base._term), Aval(places.shape, base.dtype), trace=self)
        made.be_view(base, take, partial(scattered, base, places))
        return made


def call_function(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Record ``function(*args, **kwargs)``."""
    names = _from_out(function)
    if names and len(args) > len(names[0]):
        place = len(names[0])
        kwargs = dict(zip(names[1], args[place:], strict=False)) | dict(kwargs)
        args = args[:place]
    if "out" in kwargs:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        made = call_function(function, args, rest)
        return made if kwargs["out"] is None else into(kwargs["out"], made)
    rewritten = REWRITTEN.get(function)
    if rewritten is not None:
        return rewritten(*args, **kwargs)
    module = function.__module__
    home = _MODULES.get(module) or f"np{module.removeprefix('numpy')}"
    made = record_call(f"{home}.{function.__name__}", function, *args, **kwargs)
    if function in VIEWS and args and isinstance(args[0], Tracer):
        as_view(made, function, args, kwargs, is_writable=VIEWS[function])
    return made


@cache
def _from_out(function: Callable[..., Any]) -> tuple[Sequence[str], Sequence[str]] | None:
    """A function's parameters before ``out`` and from it on, if it may be given by its place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a function in C
        return None
    names = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    if "out" not in names:
        return None
    place = names.index("out")
    return names[:place], names[place:]
