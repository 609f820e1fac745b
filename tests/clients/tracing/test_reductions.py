"""Reductions, sorting, cumulative sums and differences of neighbours as in NumPy."""

from typing import Any

import numpy as np
import scipy.integrate

RNG = np.random.default_rng(3)
X = RNG.uniform(0.2, 0.9, (2, 3))
V = RNG.permutation(np.linspace(0.3, 2.0, 6))
W = RNG.uniform(0.5, 1.5, 6)
A = RNG.permutation(np.linspace(-1.0, 1.0, 12)).reshape(3, 4) + 0.01
N = np.array([3, 1, 2, 1])
H = np.where(A > 0.5, np.nan, A)
F = A.astype(np.float32)
Z = X + 1j * X[::-1]
P = np.stack([A, A + 3.0])

CASES: list[Any] = [
    (
        "lists",
        lambda v: (np.sum([v, v]), np.mean([v[0], 2.0]), np.prod(list(v)), np.max([v, -v], axis=0)),
        V,
    ),
    (
        "lists",
        lambda v: (
            np.linalg.norm([v[0], 1.0]),
            np.dot([v[0], v[1]], [1.0, 2.0]),
            np.cumsum([v[0], v[1]]),
        ),
        V,
    ),
    ("sum", lambda a: (np.sum(a), a.sum(0), np.sum(a, axis=(0, 1), keepdims=True), sum(a)), A),
    ("sum", lambda a: (np.sum(a, where=a > 0), np.sum(a, initial=3.0), a.sum(axis=-1)), A),
    ("sum", lambda a: (np.add.reduce(a), np.add.reduce(a, axis=1), np.add.reduce(a, None)), A),
    ("sum", lambda f: (np.sum(f), np.sum(f, dtype=np.float64), f.mean(), np.sum(f > 0)), F),
    ("sum", lambda n: (np.sum(n), np.mean(n), n.max(), np.prod(n), n.var()), N),
    ("sum", lambda z: (np.sum(z), z.mean(1), np.prod(z, 0), np.var(z), np.cumsum(z)), Z),
    ("mean", lambda a: (np.mean(a), a.mean(1), a.mean(axis=0, keepdims=True)), A),
    ("mean", lambda a: np.mean(a, axis=1, where=a > -0.5), A),
    ("prod", lambda v: (np.prod(v), v.prod(keepdims=True), np.multiply.reduce(v)), V),
    ("prod with a zero", lambda v: np.prod(v - v[0]), V),
    ("max", lambda a: (np.max(a), a.max(0), np.amax(a, axis=1), np.maximum.reduce(a)), A),
    (
        "max",
        lambda a: (max(a[0]), np.max(a, axis=1, initial=0.2), np.max(a, where=a < 0.3, initial=-9)),
        A,
    ),
    ("min", lambda a: (np.min(a), a.min(0), np.amin(a, axis=1, keepdims=True), min(a[0])), A),
    ("var", lambda a: (np.var(a), a.var(axis=1), np.var(a, 0, ddof=1), np.var(a, correction=1)), A),
    ("std (ddof 1)", lambda a: (np.std(a, ddof=1), a.std(axis=0, ddof=1), np.std(a, 1)), A),
    ("norm 2", lambda a: (np.linalg.norm(a), np.linalg.norm(a, axis=1), np.linalg.norm(a, 2)), A),
    ("norm 2", lambda a: (np.linalg.vector_norm(a, axis=0), np.linalg.matrix_norm(a)), A),
    (
        "norm 1 / inf",
        lambda a: (np.linalg.norm(a, 1), np.linalg.norm(a, np.inf), np.linalg.norm(a, "nuc")),
        A,
    ),
    (
        "norm 1 / inf",
        lambda v: (np.linalg.norm(v, 1), np.linalg.norm(v, 3), np.linalg.norm(v, -np.inf)),
        V,
    ),
    (
        "nansum / nanmean",
        lambda h: (
            np.nansum(np.where(h > 0.5, np.nan, h), 0),
            np.nanmean(np.where(h > 0.5, np.nan, h)),
        ),
        A,
    ),
    (
        "nansum / nanmean",
        lambda h: (
            np.nanvar(np.where(h > 0.5, np.nan, h)),
            np.nanstd(np.where(h > 0.5, np.nan, h)),
            np.nanprod(h),
            np.nancumsum(h),
        ),
        A,
    ),
    ("median", lambda a: (np.median(a), np.median(a, axis=1), np.nanmedian(a, axis=0)), A),
    (
        "quantile",
        lambda a: (np.quantile(a, 0.3), np.quantile(a, [0.2, 0.7], axis=1), np.percentile(a, 40)),
        A,
    ),
    (
        "quantile",
        lambda a: (
            np.nanquantile(a, 0.3, axis=0),
            np.nanpercentile(a, 30),
            np.quantile(a, 0.3, method="hazen"),
        ),
        A,
    ),
    (
        "nanmax",
        lambda h: (np.nanmax(np.where(h > 0.5, np.nan, h)), np.nanmin(h, axis=0), np.nanargmax(h)),
        A,
    ),
    ("ptp", lambda a: (np.ptp(a), np.ptp(a, axis=1), np.ptp(a, 0, keepdims=True)), A),
    ("argmax (zero)", lambda a: (np.argmax(a), a.argmax(1), np.argmin(a, axis=0), a.argmin()), A),
    (
        "all/any",
        lambda a: (
            np.all(a > 0),
            (a > 0).any(0),
            np.any(a > 2),
            (a > -2).all(),
            np.count_nonzero(a > 0),
        ),
        A,
    ),
    (
        "trapezoid",
        lambda v, w: (np.trapezoid(v), np.trapezoid(v, np.cumsum(w)), np.trapezoid(v, dx=0.5)),
        V,
        W,
    ),
    (
        "trapezoid",
        lambda v: (
            scipy.integrate.trapezoid(v),
            scipy.integrate.simpson(v),
            scipy.integrate.cumulative_trapezoid(v),
        ),
        V,
    ),
    ("average (weights)", lambda v, w: (np.average(v, weights=w), np.average(v)), V, W),
    ("average (weights)", lambda a: np.average(a, axis=0, weights=[1, 2, 3], returned=True), A),
    (
        "cov / corrcoef",
        lambda a: (np.cov(a), np.corrcoef(a), np.cov(a[0], a[1], bias=True), np.cov(a.T)),
        A,
    ),
    (
        "sort",
        lambda a: (np.sort(a), np.sort(a, axis=0), np.sort(a, axis=None), np.sort(a)[::-1]),
        A,
    ),
    (
        "argsort gather",
        lambda a, v: (v[np.argsort(v)], np.argsort(a, axis=0), v.argsort(), np.lexsort((v,))),
        A,
        V,
    ),
    ("partition", lambda v: (np.partition(v, 2)[2], np.argpartition(v, 2)[2]), V),
    ("unique", lambda n: (np.unique(n), np.unique(n, return_index=True, return_counts=True)), N),
    (
        "unique",
        lambda n: (np.sort(np.unique_values(n)), np.unique_counts(n), np.unique_inverse(n)),
        N,
    ),
    (
        "sets",
        lambda n: (
            np.isin(n, [1, 2]),
            np.union1d(n, [9]),
            np.intersect1d(n, [1, 9]),
            np.setdiff1d(n, [1]),
        ),
        N,
    ),
    (
        "cumsum",
        lambda a: (
            np.cumsum(a),
            a.cumsum(axis=0),
            np.add.accumulate(a, 1),
            np.cumulative_sum(a, axis=1, include_initial=True),
        ),
        A,
    ),
    (
        "cumprod",
        lambda a: (
            np.cumprod(a),
            a.cumprod(axis=0),
            np.multiply.accumulate(a),
            np.cumulative_prod(a, axis=0),
        ),
        A,
    ),
    ("cummax", lambda v: (np.maximum.accumulate(v), np.minimum.accumulate(v)), V),
    ("cumlogsumexp", np.logaddexp.accumulate, V),
    (
        "accumulate by steps",
        lambda a: (np.hypot.accumulate(a), np.subtract.accumulate(a, 1, dtype=np.complex128)),
        A,
    ),
    (
        "reduce by steps",
        lambda a: (
            np.hypot.reduce(a),
            np.subtract.reduce(a, axis=1, keepdims=True),
            np.hypot.reduce(a, axis=(0, 1), initial=2.0),
            np.logaddexp.reduce(a, axis=None, keepdims=True),
        ),
        A,
    ),
    (
        "reduceat",
        lambda a: (np.add.reduceat(a, [0, 2, 1], axis=1), np.hypot.reduceat(a, [1, 0])),
        A,
    ),
    (
        "diff",
        lambda a: (
            np.diff(a),
            np.diff(a, axis=0),
            np.diff(a, n=2),
            np.diff(a, prepend=0.0),
            np.ediff1d(a),
        ),
        A,
    ),
    (
        "gradient",
        lambda a, v: (np.gradient(a), np.gradient(v), np.gradient(v, 0.5), np.gradient(a, axis=1)),
        A,
        V,
    ),
    ("gradient", lambda v, w: (np.gradient(v, np.cumsum(w)), np.gradient(v, edge_order=2)), V, W),
    (
        "interp (1-d table)",
        lambda x, v: (
            np.interp(x, np.linspace(0, 1, 6), v),
            np.interp(0.3, np.linspace(0, 1, 6), v),
        ),
        X,
        V,
    ),
    ("searchsorted gather", lambda x, v: v[np.searchsorted(np.linspace(0, 1, 6), x)], X, V),
    ("searchsorted gather", lambda x: np.digitize(x, np.array([0.3, 0.5])), X),
    (
        "histogram (zero)",
        lambda a: (
            np.histogram(a, bins=4, range=(-1, 1)),
            np.histogram(a, np.array([-1.0, 0.0, 1.0])),
        ),
        A,
    ),
    ("bincount", lambda n, w: np.bincount(n, weights=w[:4]), N, W),
    (
        "convolve 1d",
        lambda v, w: (np.convolve(v, w), np.convolve(v, w[:3], "same"), np.correlate(v, w, "full")),
        V,
        W,
    ),
    (
        "polynomials",
        lambda v: (
            np.polyval(v, 0.5),
            np.polyder(v),
            np.polyint(v),
            np.polymul(v, [1, 2]),
            np.polyadd(v, [1.0]),
        ),
        V,
    ),
    (
        "polynomials",
        lambda v, w: (np.polyfit(np.arange(6.0), v, 2), np.vander(v, 3), np.unwrap(v * 4)),
        V,
        W,
    ),
]


def test_reductions_and_sequences_agree_with_numpy(case, check):
    _, f, *args = case
    check(f, *args)
