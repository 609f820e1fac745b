"""Methods of recorded arrays take the arguments of NumPy's, and agree with it."""

import gradwire
import numpy as np
import pytest

X = np.array([[2.0, -1.0, 0.5], [3.0, 4.0, -2.5]])
V = np.array([3.0, 1.0, 2.0])
M = np.array([True, False, True])
Z = np.array([1.0 + 2.0j, -0.5j])


def _in_place(change):
    def changed(x):
        y = x * 1.0
        change(y)
        return y

    return changed


CASES = [
    ("truth", lambda x: ((x > 3).all(0), (x > 3).any(1, keepdims=True)), X),
    ("places", lambda x: (x.argmax(), x.argmax(1), x.argmin(0, None, keepdims=True)), X),
    ("orders", lambda v: (v.argsort(), v.argsort(0, "stable"), v.argpartition(1)), V),
    ("clip", lambda x: (x.clip(0), x.clip(max=1), x.clip(-2, 1), x.clip(min=-2.0, max=1.0)), X),
    ("compress", lambda v: (v.compress(M), v.compress([1, 0, 1], axis=0)), V),
    ("compress rows", lambda x: (x.compress(M, 1), x.compress([True], axis=0)), X),
    ("conjugates", lambda z: (z.conj() * z, z.conjugate()), Z),
    ("running", lambda x: (x.cumsum(), x.cumsum(1), x.cumprod(axis=0), x.cumsum(0, np.float64)), X),
    ("diagonals", lambda x: (x.diagonal(), x.diagonal(1), x.trace(), x.trace(1, 0, 1)), X),
    ("products", lambda x: (x.dot(V), x.T.dot(x)), X),
    ("extremes", lambda x: (x.max(), x.max(1), x.min(0, None, True), x.max(initial=9.0)), X),
    ("means", lambda x: (x.mean(), x.mean(1), x.mean(0, None, None, True), x.mean(where=x > 0)), X),
    ("spread", lambda x: (x.std(), x.std(1, ddof=1), x.var(0), x.var(1, None, None, 1, True)), X),
    ("totals", lambda x: (x.sum(), x.sum(0, None, None, True), x.sum(initial=2.0, where=x > 0)), X),
    ("prod", lambda x: (x.prod(), x.prod(1), x.prod(axis=0, keepdims=True)), X),
    ("layout", lambda x: (x.ravel(), x.ravel("F"), x.flatten("F"), x.copy(), x.squeeze()), X),
    ("shapes", lambda x: (x.reshape(3, 2), x.reshape((6,)), x.reshape(3, -1, order="F")), X),
    ("axes", lambda x: (x.transpose(1, 0), x.transpose((1, 0)), x.swapaxes(0, 1)), X),
    ("repeat", lambda x: (x.repeat(2), x.repeat(2, 1), x.repeat([1, 2], axis=0)), X),
    ("round", lambda x: ((x + 0.3).round(), (x * 1.27).round(1)), X),
    ("search", lambda v: (v.searchsorted(1.5), v.searchsorted([2.0], "right")), np.sort(V)),
    ("take", lambda x: (x.take([0, 5]), x.take(1, 1), x.take([7, -1], mode="wrap")), X),
    ("nonzero", lambda x: x.nonzero(), np.array([0.0, 2.0, 3.0])),
    ("astype", lambda x: (x.astype("complex128"), x.astype(float), x.to_device("cpu")), X),
    ("put", _in_place(lambda y: y.put([0, 4], [7.0, 8.0])), X),
    ("put clipped", _in_place(lambda y: y.put([0, 99], [7.0, 8.0], mode="clip")), X),
    ("put wrapped", _in_place(lambda y: y.put([0, 8], [7.0, 8.0], "wrap")), X),
    ("fill", _in_place(lambda y: y.fill(2.0)), X),
    ("sort", _in_place(lambda y: y.sort()), X),
    ("sort columns", _in_place(lambda y: y.sort(0, kind="stable")), X),
    ("partition", _in_place(lambda y: y.partition(1)), np.sort(X, 1)),
]  # fmt: skip


def test_methods_agree_with_numpy(check, case):
    _, function, *args = case
    check(function, *args)


def test_copyto_refuses_what_numpy_refuses(client):
    def copied(x):
        whole = np.zeros_like(x, dtype=np.int64)
        np.copyto(whole, x, casting="same_kind")
        return whole

    with pytest.raises(TypeError, match="Cannot cast"):
        copied(X)
    with pytest.raises(TypeError, match="Cannot cast"):
        gradwire.function(copied, client=client)(X)
