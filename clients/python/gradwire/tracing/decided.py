"""Functions of which the values decide the dtype of the result, which is kept as a guard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing.calls import record_call
from gradwire.tracing.traces import Trace

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _real_if_close(trace: Trace, a: Any, tol: float = 100) -> Any:
    """The real part, if all imaginary parts are within ``tol`` machine epsilons of 0."""
    if a.dtype.kind != "c":
        return a
    within = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return _np.real(a) if bool(_np.all(np.absolute(_np.imag(a)) < within)) else a


def matrix_function(
    name: str,
    trace: Trace,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    """A function of a square matrix, complex where there is no real one."""
    matrix, *rest = args
    made = record_call(trace, name, original, args, kwargs)
    if matrix.dtype.kind == "c" or trace.scope is not None or bool(_np.all(np.isfinite(made))):
        return made
    return record_call(trace, name, original, (matrix.astype(complex), *rest), kwargs)


def _eig(trace: Trace, a: Any) -> Any:
    """Eigenvalues and eigenvectors, real if all eigenvalues of real matrices are."""
    made = record_call(trace, "np.linalg.eig", np.linalg.eig, (a,), {})
    if not _are_real(trace, a, made[0]):
        return made
    return type(made)(_np.real(made[0]), _np.real(made[1]))


def _eigvals(trace: Trace, a: Any) -> Any:
    made = record_call(trace, "np.linalg.eigvals", np.linalg.eigvals, (a,), {})
    return _np.real(made) if _are_real(trace, a, made) else made


def _are_real(trace: Trace, a: Any, eigenvalues: Any) -> bool:
    if a.dtype.kind == "c" or trace.scope is not None:
        return False
    return bool(_np.all(_np.imag(eigenvalues) == 0))


DECIDED: dict[Any, Callable[..., Any]] = {
    np.real_if_close: _real_if_close,
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
}
