"""The normal law of vectors, as an object of parameters too, and with singular covariances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwire.tracing.calls import record_call
from gradwire.tracing.substitutes import Method, recording
from gradwire.tracing.traces import Trace

#: SciPy's bound of eigenvalues that count as 0, in machine epsilons of the greatest.
NEGLIGIBLE = 1e6
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def methods(law: Any) -> list[Method]:
    """The substitutes of methods of ``scipy.stats.multivariate_normal`` and of its frozen ones."""
    kind = type(law)
    frozen = type(law(0.0, 1.0))
    found: list[Method] = []
    for name in ("logpdf", "pdf", "entropy"):
        record = _METHODS[name]
        found.append((kind, name, recording(vars(kind)[name], _of_law(record))))
        found.append((frozen, name, recording(vars(frozen)[name], _of_frozen(record))))
    found.append((kind, "__call__", recording(vars(kind)["__call__"], _frozen)))
    return found


@dataclass(frozen=True)
class RecordedNormal:
    """A normal law whose parameters are recorded."""

    trace: Trace
    mean: Any
    cov: Any
    allow_singular: bool = False

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""
        return _logpdf(self.trace, x, self.mean, self.cov, self.allow_singular)

    def pdf(self, x: Any) -> Any:
        """The density."""
        return _pdf(self.trace, x, self.mean, self.cov, self.allow_singular)

    def entropy(self) -> Any:
        """The entropy."""
        return _entropy(self.trace, self.mean, self.cov)


def _logpdf(
    trace: Trace, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False
) -> Any:
    center, matrix = _parameters(mean, cov)
    if np.ndim(x) < 2 and len(matrix) == 1:  # one number, or a column of them
        x = _np.reshape(x, (1,) if np.ndim(x) == 0 else (-1, 1))
    if allow_singular:
        return _np.squeeze(_singular(x, center, matrix))
    name = "scipy.stats.multivariate_normal.logpdf"
    return _np.squeeze(record_call(trace, name, _density_of_rows, (x, center, matrix), {}))


def _pdf(trace: Trace, *args: Any, **kwargs: Any) -> Any:
    return np.exp(_logpdf(trace, *args, **kwargs))


def _entropy(trace: Trace, mean: Any = None, cov: Any = 1) -> Any:
    """``(n (1 + ln 2π) + ln det cov) / 2``."""
    _, matrix = _parameters(mean, cov)
    return 0.5 * (len(matrix) * (1 + math.log(2 * math.pi)) + _np.linalg.slogdet(matrix)[1])


def _singular(x: Any, mean: Any, cov: Any) -> Any:
    """``-(rank ln 2π + ln pdet cov + ‖u‖²) / 2`` within the span of ``cov``, else ``-inf``."""
    values, vectors = _np.linalg.eigh(cov)
    least = NEGLIGIBLE * np.finfo(float).eps * max(np.abs(values))
    kept = np.array([bool(value > least) for value in values])
    apart = x - mean
    u = apart @ (vectors[:, kept] / np.sqrt(values[kept]))
    logs = _np.sum(np.log(values[kept]))
    found = -0.5 * (kept.sum() * math.log(2 * math.pi) + logs + _np.sum(u * u, axis=-1))
    outside = _np.linalg.norm(apart @ vectors[:, ~kept], axis=-1) >= 1e3 * least
    return _np.where(outside, -np.inf, found)


def _parameters(mean: Any, cov: Any) -> tuple[Any, Any]:
    """The mean as a vector and the covariance as a matrix, of the length that SciPy finds."""
    mean, cov = _np.asarray(0.0 if mean is None else mean), _np.asarray(1 if cov is None else cov)
    length = mean.size if mean.ndim else max(cov.shape[:1], default=1)
    if cov.ndim == 0:
        cov = cov * np.eye(length)
    elif cov.ndim == 1:
        cov = _np.diag(cov)
    return _np.broadcast_to(mean, (length,)), cov


def _density_of_rows(x: Any, mean: Any, cov: Any) -> Any:
    """An array of the shape of the densities."""
    return np.broadcast_to(x, np.broadcast_shapes(np.shape(x), np.shape(mean)))[..., 0]


_METHODS: dict[str, Callable[..., Any]] = {"logpdf": _logpdf, "pdf": _pdf, "entropy": _entropy}


def _of_law(record: Callable[..., Any]) -> Any:
    def recorded(
        trace: Trace, original: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        return record(trace, *args[1:], **kwargs)

    return recorded


def _of_frozen(record: Callable[..., Any]) -> Any:
    def recorded(
        trace: Trace, original: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        law, *given = args
        singular = {"allow_singular": law.allow_singular} if given else {}
        return record(trace, *given, law.mean, law.cov, **singular)

    return recorded


def _frozen(
    trace: Trace, original: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> RecordedNormal:
    return RecordedNormal(trace, *args[1:], **kwargs)
