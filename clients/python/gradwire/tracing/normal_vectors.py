"""The normal law of vectors, as an object of parameters too, and with singular covariances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwire.tracing.calls import record_call
from gradwire.tracing.substitutes import Method, substituted_method

#: SciPy's bound of eigenvalues that count as 0, in machine epsilons of the greatest.
NEGLIGIBLE = 1e6
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


class RecordedNormal:
    """A normal law of vectors; the mean and covariance have the length that SciPy finds."""

    def __init__(self, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> None:
        mean = _np.asarray(0.0 if mean is None else mean)
        cov = _np.asarray(1 if cov is None else cov)
        length = mean.size if mean.ndim else max(cov.shape[:1], default=1)
        if cov.ndim == 0:
            cov = cov * np.eye(length)
        elif cov.ndim == 1:
            cov = _np.diag(cov)
        self.mean: Any = _np.broadcast_to(mean, (length,))
        self.cov: Any = cov
        self.allow_singular: bool = allow_singular

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""
        if np.ndim(x) < 2 and len(self.cov) == 1:  # one number, or a column of them
            x = _np.reshape(x, (1,) if np.ndim(x) == 0 else (-1, 1))
        if self.allow_singular:
            return _np.squeeze(self._singular(x))
        name = "scipy.stats.multivariate_normal.logpdf"
        return _np.squeeze(record_call(name, _density_of_rows, x, self.mean, self.cov))

    def pdf(self, x: Any) -> Any:
        """The density."""
        return np.exp(self.logpdf(x))

    def entropy(self) -> Any:
        """``(n (1 + ln 2π) + ln det cov) / 2``."""
        n = len(self.cov)
        return 0.5 * (n * (1 + math.log(2 * math.pi)) + _np.linalg.slogdet(self.cov)[1])

    def _singular(self, x: Any) -> Any:
        """``-(rank ln 2π + ln pdet cov + ‖u‖²) / 2`` within the span of ``cov``, else ``-inf``."""
        values, vectors = _np.linalg.eigh(self.cov)
        least = NEGLIGIBLE * np.finfo(float).eps * _np.max(np.abs(values))
        kept = np.array([bool(value > least) for value in values])
        apart = x - self.mean
        u = apart @ (vectors[:, kept] / np.sqrt(values[kept]))
        logs = _np.sum(np.log(values[kept]))
        found = -0.5 * (kept.sum() * math.log(2 * math.pi) + logs + _np.sum(u * u, axis=-1))
        outside = _np.linalg.norm(apart @ vectors[:, ~kept], axis=-1) >= 1e3 * least
        return _np.where(outside, -np.inf, found)


def _density_of_rows(x: Any, mean: Any, cov: Any) -> Any:
    """An array of the shape of the densities."""
    return np.broadcast_to(x, np.broadcast_shapes(np.shape(x), np.shape(mean)))[..., 0]


def methods(law: Any) -> Iterator[Method]:
    """The substitutes of methods of ``scipy.stats.multivariate_normal`` and of its frozen ones."""
    kind, frozen = type(law), type(law(0.0, 1.0))
    yield substituted_method(kind, "__call__", _frozen)
    yield substituted_method(
        kind, "entropy", lambda *args, **kwargs: _frozen(*args, **kwargs).entropy()
    )
    for density in (RecordedNormal.logpdf, RecordedNormal.pdf):
        yield substituted_method(kind, density.__name__, _of_parameters(density))
    for method in (RecordedNormal.logpdf, RecordedNormal.pdf, RecordedNormal.entropy):
        yield substituted_method(frozen, method.__name__, _of_frozen(method))


def _frozen(_: Any, *args: Any, **kwargs: Any) -> RecordedNormal:
    return RecordedNormal(*args, **kwargs)


def _of_parameters(density: Callable[..., Any]) -> Callable[..., Any]:
    return lambda law, x, *args, **kwargs: density(_frozen(law, *args, **kwargs), x)


def _of_frozen(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda law, *x: method(RecordedNormal(law.mean, law.cov, law.allow_singular), *x)
