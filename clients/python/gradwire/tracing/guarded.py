"""Functions of which values decide the dtype or shape of the result, which is kept as a guard."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gradwire.tracing.calls import record_call
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable, recording

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part, if all imaginary parts are within ``tol`` machine epsilons of 0."""
    if a.dtype.kind != "c":
        return a
    within = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return _np.real(a) if bool(_np.all(np.absolute(_np.imag(a)) < within)) else a


def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The vector without its zeros in front, behind, or both."""
    kept = np.flatnonzero(np.asarray(np.not_equal(filt, 0)))
    if axis not in (None, 0, -1) or np.ndim(filt) != 1:
        raise not_traceable("numpy.trim_zeros of several axes cannot be recorded", "slice it")
    if not kept.size:
        return filt[:0]
    start = int(kept[0]) if "f" in trim.lower() else 0
    return filt[start : int(kept[-1]) + 1 if "b" in trim.lower() else None]


def _roots(p: Any) -> Any:
    """The roots of a polynomial: of zeros in front of its coefficients, NumPy makes none."""
    kept = np.flatnonzero(np.asarray(np.not_equal(p, 0)))
    if not kept.size:
        return np.array([])
    first, last = int(kept[0]), int(kept[-1])
    zeros = np.zeros(len(p) - 1 - last)
    if first == last:
        return zeros
    made = record_call("np.roots", np.roots, p[first : last + 1])
    return _np.concatenate([made, zeros.astype(made.dtype)])


def _polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials without zeros in front, as NumPy's ``poly1d`` has them."""
    return np.convolve(_leading(a1), _leading(a2))


def _leading(p: Any) -> Any:
    trimmed = _trim_zeros(p, "f") if isinstance(p, Tracer) else np.trim_zeros(p, "f")
    return trimmed if len(trimmed) else np.zeros(1)


def matrix_function(
    name: str, original: Callable[..., Any], matrix: Any, *args: Any, **kwargs: Any
) -> Any:
    """A function of a square matrix, complex where there is no real one."""
    made = record_call(name, original, matrix, *args, **kwargs)
    if matrix.dtype.kind == "c" or recording().scope or bool(_np.all(np.isfinite(made))):
        return made
    return record_call(name, original, matrix.astype(complex), *args, **kwargs)


def _eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors, real if all eigenvalues of real matrices are."""
    made = record_call("np.linalg.eig", np.linalg.eig, a)
    return type(made)(*_real_or_complex(a, *made))


def _eigvals(a: Any) -> Any:
    made = record_call("np.linalg.eigvals", np.linalg.eigvals, a)
    return _real_or_complex(a, made)[0]


def _real_or_complex(a: Any, *made: Any) -> list[Any]:
    """Eigenvalues, and what else is real where they are; from NumPy 2.5 on all are complex."""
    found = [part.astype(np.result_type(a.dtype, np.complex64)) for part in made]
    if a.dtype.kind == "c" or recording().scope or _always_complex():
        return found
    are_real = bool(_np.all(_np.imag(found[0]) == 0))
    return [_np.real(part) for part in found] if are_real else found


@cache
def _always_complex() -> bool:
    return np.linalg.eigvals(np.eye(1)).dtype.kind == "c"


def _or_complex(ufunc: np.ufunc, outside: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of ``np.emath``: complex where an element has no real value."""

    def function(x: Any, *others: Any) -> Any:
        array = _np.asarray(x)
        if array.dtype.kind != "c" and bool(_np.any(outside(array))):
            array = array.astype(np.result_type(array.dtype, np.complex64))
        return ufunc(array, *others)

    return function


def _is_negative(x: Any) -> Any:
    return x < 0


def _is_beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


def _logn(n: Any, x: Any) -> Any:
    return np.emath.log(x) / np.emath.log(n)


def _emath_power(x: Any, p: Any) -> Any:
    exponent = _np.asarray(p)
    if exponent.dtype.kind in "iu" and bool(_np.any(exponent < 0)):
        exponent = exponent * 1.0
    return _or_complex(np.power, _is_negative)(x, exponent)


DECIDED: dict[Any, Callable[..., Any]] = {
    np.real_if_close: _real_if_close,
    np.trim_zeros: _trim_zeros,
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
    **{
        getattr(np.emath, name): _or_complex(getattr(np, name), _is_negative)
        for name in ("sqrt", "log", "log2", "log10")
    },
    **{
        getattr(np.emath, name): _or_complex(getattr(np, name), _is_beyond_one)
        for name in ("arccos", "arcsin", "arctanh")
    },
    np.emath.logn: _logn,
    np.emath.power: _emath_power,
    np.polymul: _polymul,
    np.roots: _roots,
}
