"""Ufuncs of recorded arrays, as operators and calls of the language."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial, reduce
from itertools import accumulate
from typing import Any

import numpy as np

from gradwire.bfloat16 import result_type
from gradwire.tracing import literals
from gradwire.tracing.calls import check_recorded, into, is_ordered, listed
from gradwire.tracing.operators import COMPARISONS
from gradwire.tracing.raising import checked, raises
from gradwire.tracing.shapes import Aval, check_cast, elementwise
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, term_of, to_own_term, to_term, truth
from gradwire.tracing.traces import not_traceable, recording

TRUTHS = frozenset({*COMPARISONS.values(), np.isnan, np.isfinite, np.isinf, np.logical_not})
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
OPERATORS: dict[np.ufunc, str] = {
    np.negative: "-",
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
ACCUMULATED: dict[np.ufunc, str] = {
    np.add: "np.cumsum",
    np.multiply: "np.cumprod",
    np.maximum: "np.maximum.accumulate",
    np.minimum: "np.minimum.accumulate",
    np.logaddexp: "np.logaddexp.accumulate",
}
#: Operators that convert Python's booleans to integers.
OF_INTEGERS = frozenset(
    {
        np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.power, np.negative,
        np.positive, np.absolute,
    }
)  # fmt: skip
#: Operators that raise an error for Python's numbers where the second is 0.
DIVISIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.divmod: divmod,
    np.power: operator.pow,
}
_INTEGER = Aval((), np.dtype(np.int64))
#: JAX's names of ``ufunc.at``.
UPDATED: dict[np.ufunc, str] = {
    np.add: "add",
    np.multiply: "multiply",
    np.maximum: "max",
    np.minimum: "min",
}


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Record ``ufunc.method(*inputs, **kwargs)``."""
    if not kwargs and method == "__call__":
        return applied(ufunc, inputs)
    given = dict(kwargs)
    out, where, casting = given.pop("out", None), True, given.get("casting", "same_kind")
    order = "K"
    if method in ("__call__", "outer"):
        where = given.pop("where", True)
        for name in ("casting", "subok"):
            given.pop(name, None)
        order = given.pop("order", "K")
    if out is None and where is not True:
        raise not_traceable(
            f"numpy.{ufunc.__name__} with where= leaves elements undefined",
            "give out=numpy.zeros_like(x), or choose with numpy.where",
        )
    made = _METHODS[method](ufunc, *inputs, **given)
    found = list(listed(made))
    if order in ("F", "f"):
        for part in found:
            part._is_ordered = False
    if out is None:
        return made
    for i, target in enumerate(listed(out)):
        if target is not None:
            check_cast(ufunc, found[i], target, casting)
            if where is not True:
                found[i] = _np.where(where, found[i], target)
    return into(out, tuple(found) if isinstance(made, tuple) else found[0])


def applied(ufunc: np.ufunc, inputs: tuple[Any, ...], *, is_operator: bool = False) -> Any:
    """Record ``ufunc(*inputs)``, or a Python operator, of which numbers give numbers."""
    made = _applied(ufunc, inputs, is_operator)
    if recording().decides_truths and ufunc in TRUTHS:
        return truth(made, of_python=made._weak)
    if is_operator and ufunc in DIVISIONS and all(map(_is_weak, inputs)):
        return checked(made, partial(_of_python, DIVISIONS[ufunc]), inputs, {})
    return checked(made, ufunc, inputs, {}) if raises() else made


def _of_python(operation: Callable[..., Any], *numbers: Any) -> None:
    """An operation of Python's numbers, for the error that it raises."""
    given = [np.asarray(number).item() for number in numbers]
    if isinstance(operation(*given), complex) and complex not in map(type, given):
        raise not_traceable(
            "a negative float to a fractional power is complex in Python",
            "take the power of complex(x), or of abs(x)",
        )


def _applied(ufunc: np.ufunc, inputs: tuple[Any, ...], is_operator: bool) -> Any:
    if ufunc in DECOMPOSITIONS:
        return DECOMPOSITIONS[ufunc](*inputs)
    numbers = is_operator and all(map(_is_weak, inputs))
    if numbers and ufunc in OF_INTEGERS:
        inputs = tuple(map(_as_integer, inputs))
    given = _unweakened(inputs)
    op = OPERATORS.get(ufunc) or _name(ufunc)
    if {Tracer}.issuperset(map(type, given)):  # most are, so without detours
        trace = recording()
        term = Term(op, tuple([to_own_term(value, trace) for value in given]))
    else:
        term = literals.call(op, given, {}, to_term)
    if ufunc.nout == 1:
        ordered = all(map(is_ordered, inputs))
        infer = partial(elementwise, ufunc, given)
        return Tracer(term, infer=infer, weak=numbers, is_ordered=ordered)
    parts = [
        Tracer(literals.part(term, i), infer=partial(elementwise, ufunc, given, i), weak=numbers)
        for i in range(ufunc.nout)
    ]
    return tuple(parts)


def _as_integer(value: Any) -> Any:
    """A truth value as the integer that it is for Python's operators."""
    if not isinstance(value, Tracer) or value.dtype.kind != "b":
        return value
    return Tracer(value.astype(np.int64)._term, _INTEGER, weak=True)


def _is_weak(value: Any) -> bool:
    return value._weak if isinstance(value, Tracer) else type(value) in (int, float, bool, complex)


def _call(ufunc: np.ufunc, *inputs: Any, dtype: Any = None, **given: Any) -> Any:
    named = [name for name in given if name not in ("axis", "axes") or given[name] is not None]
    if named:
        raise not_traceable(
            f"numpy.{ufunc.__name__} with {', '.join(named)} cannot be recorded",
            "move the axes with numpy.moveaxis first",
        )
    if dtype is None or ufunc.nout > 1:
        return applied(ufunc, inputs)
    if np.dtype(dtype) == bool:
        return applied(ufunc, inputs).astype(bool)
    return applied(ufunc, tuple([_as_dtype(value, np.dtype(dtype)) for value in inputs]))


def _as_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    return value.astype(dtype) if isinstance(value, Tracer) else np.asarray(value, dtype)


def _outer(ufunc: np.ufunc, first: Any, second: Any, **given: Any) -> Any:
    wide = _np.reshape(first, (*np.shape(first), *[1] * np.ndim(second)))
    return _call(ufunc, wide, second, **given)


def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, **options: Any) -> Any:
    if ufunc in REDUCED:
        return REDUCED[ufunc](array, axis=axis, **options)
    keepdims, initial = options.pop("keepdims", False), options.pop("initial", None)
    if options.get("where", True) is not True or options.get("dtype") is not None:
        raise _no_method(ufunc, "reduce")
    rows = _rows(array, axis)
    made = reduce(ufunc, rows if initial in (None, np._NoValue) else [initial, *rows])
    if not keepdims:
        return made
    return np.expand_dims(made, tuple(range(np.ndim(array))) if axis is None else axis)


def _rows(array: Any, axis: Any) -> list[Any]:
    """The reduced array, along one axis, several or all."""
    if axis is None:
        return list(array.reshape(-1))
    if isinstance(axis, tuple) and len(axis) != 1:
        moved = _np.moveaxis(array, axis, range(len(axis)))
        return list(moved.reshape(-1, *moved.shape[len(axis) :]))
    return list(_np.moveaxis(array, axis, 0))


def _accumulate(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    if dtype is not None:
        array = array.astype(dtype)
    name = ACCUMULATED.get(ufunc)
    if name is not None:
        infer = partial(elementwise, ufunc, (array, array))
        return Tracer(term_of(name, array, axis), infer=infer)
    return np.stack(list(accumulate(_rows(array, axis), ufunc)), axis)


def _reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    if isinstance(indices, Tracer) or dtype is not None:
        raise _no_method(ufunc, "reduceat")
    starts = [int(i) for i in indices]
    first = _np.moveaxis(array, axis, 0)
    ends = [*starts[1:], first.shape[0]]
    rows = [
        ufunc.reduce(first[i:j], axis=0) if i < j else first[i]
        for i, j in zip(starts, ends, strict=True)
    ]
    return np.stack(rows, axis)


def _at(ufunc: np.ufunc, array: Any, index: Any, *values: Any) -> None:
    check_recorded(array)
    name = UPDATED.get(ufunc)
    if name is not None:
        array.update(index, name, values[0])
    elif ufunc is np.subtract:
        array.update(index, "add", -values[0])
    elif ufunc is np.divide:
        array.update(index, "multiply", 1 / values[0])
    else:
        raise _no_method(ufunc, "at")


_METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call,
    "outer": _outer,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "reduceat": _reduceat,
    "at": _at,
}


def _no_method(ufunc: np.ufunc, method: str) -> Exception:
    return not_traceable(
        f"numpy.{ufunc.__name__}.{method} cannot be recorded with these arguments",
        "use the function that NumPy has for it, such as numpy.sum",
    )


def _unweakened(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, Python's numbers converted as NumPy would with the other operands."""
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
    if not (isinstance(value, Tracer) and value._weak) or value.dtype.kind == "b":
        return value
    dtype = result_type(*strong, {"c": 1j, "f": 1.0}.get(value.dtype.kind, 1))
    return value if dtype == value.dtype else value.astype(dtype)


def _frexp(x: Any) -> tuple[Any, Any]:
    """``x = m * 2**e`` with ``0.5 <= |m| < 1``: one step corrects the logarithm's last bit."""
    where, is_zero = _np.where, np.equal(x, 0)
    e = where(is_zero, 0, np.floor(np.log2(np.abs(where(is_zero, 1, x)))) + 1)
    m = x * np.exp2(-e)
    up, down = np.abs(m) >= 1, (np.abs(m) < 0.5) & ~is_zero
    shift = where(up, 1, where(down, -1, 0))
    return m * np.exp2(-shift), (e + shift).astype(np.int32)


def _ldexp(x: Any, n: Any) -> Any:
    return x * np.exp2(n)


DECOMPOSITIONS: dict[np.ufunc, Callable[..., Any]] = {np.frexp: _frexp, np.ldexp: _ldexp}


@cache
def _name(ufunc: np.ufunc) -> str:
    """A ufunc's name in the language."""
    name = ufunc.__name__
    for home, module in (("np", np), ("scipy.special", sys.modules.get("scipy.special"))):
        if getattr(module, name, None) is ufunc:
            return f"{home}.{name}"
    raise not_traceable(
        f"{name} is not a ufunc of NumPy or scipy.special", "compute it from their functions"
    )
