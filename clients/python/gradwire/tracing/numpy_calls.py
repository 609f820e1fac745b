"""Calls of NumPy's functions on recorded arrays, as terms.

The program's language has NumPy's names and parameters, so that most calls are written out as they
were made. Here is what is not so: functions that tell about an array (``np.shape``), give several
arrays, or are written in another way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.shapes import Aval, called, elementwise
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import Trace, not_traceable

INFIX: dict[np.ufunc, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.floor_divide: "//",
    np.remainder: "%",
    np.power: "**",
    np.matmul: "@",
    np.bitwise_and: "&",
    np.bitwise_or: "|",
    np.bitwise_xor: "^",
    np.left_shift: "<<",
    np.right_shift: ">>",
    np.equal: "==",
    np.not_equal: "!=",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
}
REDUCED: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
ACCUMULATED: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}
#: Functions whose result shares its elements with the first argument.
VIEWS = frozenset(
    {
        np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
        np.expand_dims, np.broadcast_to, np.real, np.imag, np.diagonal, np.matrix_transpose,
    }
)  # fmt: skip
#: What tells about an array, and has no elements of it.
TOLD: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.iscomplexobj: lambda a: a.dtype.kind == "c",
    np.isrealobj: lambda a: a.dtype.kind != "c",
    np.copy: lambda a, *_, **__: a.copy(),
}


def call_ufunc(
    trace: Trace, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """What ``ufunc.method(*inputs, **kwargs)`` gives, recorded."""
    out = kwargs.get("out")
    if out is not None:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return _into(out, call_ufunc(trace, ufunc, method, inputs, rest))
    if method == "reduce" and ufunc in REDUCED:
        return REDUCED[ufunc](*inputs, **{"axis": 0, **kwargs})
    if method == "accumulate" and ufunc in ACCUMULATED:
        return ACCUMULATED[ufunc](*inputs, **{"axis": 0, **kwargs})
    if method == "outer":
        first, second = inputs
        return ufunc(np.reshape(first, (*np.shape(first), *[1] * np.ndim(second))), second)
    if method != "__call__":
        raise not_traceable(
            f"numpy.{ufunc.__name__}.{method} cannot be recorded",
            "use the function that NumPy has for it, such as numpy.sum",
        )
    given = _unweakened(inputs)

    def term_of(value: Any) -> Term | None:
        return to_term(value, trace)

    if ufunc in INFIX and not kwargs:
        term = literals.infix(INFIX[ufunc], given[0], given[1], term_of)
    elif ufunc is np.negative and not kwargs:
        phrase = literals.Phrase(term_of)
        phrase.text("-")
        phrase.value(given[0])
        term = phrase.term()
    else:
        term = literals.call(f"{_home(ufunc)}.{ufunc.__name__}", given, kwargs, term_of)
    weak = all(
        value._weak if isinstance(value, Tracer) else isinstance(value, (int, float))
        for value in inputs
    )
    dtype = kwargs.get("dtype")
    if ufunc.nout == 1:
        infer = None if dtype is not None else lambda: elementwise(ufunc, given)
        return Tracer(term, trace, infer=infer, weak=weak)
    return tuple(
        [_part(term, trace, i, partial(elementwise, ufunc, given, i)) for i in range(ufunc.nout)]
    )


def call_function(
    trace: Trace, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """What ``function(*args, **kwargs)`` gives, recorded."""
    told = TOLD.get(function)
    if told is not None:
        return told(*args, **kwargs)
    if kwargs.get("out") is not None:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return _into(kwargs["out"], call_function(trace, function, args, rest))
    given = {name: value for name, value in kwargs.items() if value is not np._NoValue}
    module = function.__module__.removesuffix("._function_base_impl")
    name = f"np{module.removeprefix('numpy')}.{function.__name__}"
    term = literals.call(name, args, given, lambda value: to_term(value, trace))
    if function in SEVERAL:
        return SEVERAL[function](trace, term, args, given)
    made = Tracer(term, trace, infer=lambda: _aval(called(function, args, given)))
    if function in VIEWS and isinstance(args[0], Tracer):
        args[0].shares(made)
    return made


def several(
    trace: Trace, term: Term, count: int, kind: Callable[[Sequence[Tracer]], Any] = list
) -> Any:
    """The parts of a term that gives a list, as recorded arrays."""
    return kind([_part(term, trace, i, None) for i in range(count)])


def _part(term: Term, trace: Trace, index: int, infer: Callable[[], Aval | None] | None) -> Tracer:
    return Tracer(Term(("", f"[{index}]"), (term,)), trace, infer=infer)


SEVERAL: dict[Any, Callable[[Trace, Term, tuple[Any, ...], Mapping[str, Any]], Any]] = {}


def _aval(value: Any) -> Aval | None:
    if value is None or isinstance(value, (list, tuple)):
        return None
    array = np.asarray(value)
    return Aval(array.shape, array.dtype)


def _into(out: Any, result: Any) -> Any:
    targets, results = (
        (out, result if isinstance(result, tuple) else (result,))
        if isinstance(out, tuple)
        else ((out,), (result,))
    )
    for target, made in zip(targets, results, strict=True):
        if not isinstance(target, Tracer):
            raise not_traceable(
                "a recorded result cannot be written into a plain NumPy array",
                "build the result from its parts (numpy.stack, numpy.concatenate), or begin with "
                "numpy.zeros_like of a recorded array",
            )
        target[...] = made
    return targets[0] if len(targets) == 1 else targets


def _unweakened(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, Python's numbers among them converted as NumPy would for what they meet."""
    if not any(isinstance(value, Tracer) and value._weak for value in inputs):
        return inputs
    strong = [
        value.dtype
        for value in inputs
        if isinstance(value, (Tracer, np.ndarray, np.generic))
        and not (isinstance(value, Tracer) and value._weak)
    ]
    if not strong:
        return inputs
    return tuple([_adapted(value, strong) for value in inputs])


def _adapted(value: Any, strong: list[np.dtype[Any]]) -> Any:
    if not (isinstance(value, Tracer) and value._weak):
        return value
    dtype = np.result_type(*strong, 1j if value.dtype.kind == "c" else 1.0)
    return value if dtype == value.dtype else value.astype(dtype)


def _home(ufunc: np.ufunc) -> str:
    """The prefix of a ufunc's library."""
    if getattr(np, ufunc.__name__, None) is ufunc:
        return "np"
    special = sys.modules.get("scipy.special")
    if special is not None and getattr(special, ufunc.__name__, None) is ufunc:
        return "scipy.special"
    raise not_traceable(
        f"{ufunc.__name__} is a ufunc of neither NumPy nor scipy.special",
        "compute it from functions of these",
    )
