"""What NumPy's functions give may share elements with an argument: changes are seen as in NumPy.

Where a view is not recorded as one, or may be a copy, changes are refused.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from gradwire import NotTraceable

from tests.effort import some

#: Results that may share elements with ``y``, or be ``y``, and the copies beside them.
RESULTS = """
y[...] | y[:] | y[None] | y[0] | y[0, 1:] | y[::-1] | y[[0, 1]] | y[y > 2] | list(y)[1] | y.T | y.mT
np.einsum('ii->i', y[:, :2]) | np.einsum('ij->ji', y) | np.einsum('ij->ij', y) | np.einsum('ji', y)
np.einsum('i->i', y[0]) | np.einsum(y, [0, 1], [1, 0]) | np.einsum('ij->ji', y, optimize=True)
np.einsum('...j->j...', y) | np.einsum('ij->i', y) | np.einsum('ij,j->ij', y, y[0])
np.einsum('iij->ij', y[:, None] + y[None, :, :1] + np.zeros((2, 2, 3))) | np.einsum('ij,->ij', y, 1)
y.reshape(-1) | y.reshape(3, 2, copy=True) | np.reshape(y, -1, copy=False)
np.reshape(y, (3, 2), 'F') | np.reshape(y, (3, 2), 'F', copy=True) | y.T.reshape(-1)
np.ravel(y) | y.ravel('F') | np.ravel(y.T) | y.flatten() | np.resize(y, (2, 3))
y.flat[1:] | y.flat[...] | y.flat[[0, 1]] | y.flat[::-1] | y.flat[np.arange(6) > 2]
y.conj() | y.conjugate() | np.conj(y) | np.conjugate(y) | (y > 2).conj() | (y * 1j).conj()
np.meshgrid(y[0], y[1])[0] | np.meshgrid(y[0], y[1], copy=False)[0] | np.meshgrid(y[0])[0]
np.meshgrid(y[0], y[1], sparse=True)[0] | np.meshgrid(y[0], y[1], sparse=True, copy=False)[1]
np.meshgrid(y[0], copy=False)[0] | np.meshgrid(y[0], y[1], indexing='ij', copy=False)[1]
np.asarray(y) | np.asanyarray(y) | np.asarray(y, float, copy=True) | np.asarray(y, copy=False)
np.array(y) | np.array(y, copy=False) | np.array(y, copy=None) | np.array(y, ndmin=3)
np.array(y, ndmin=3, copy=None) | np.array(y, copy=None, order='F') | np.array([y[0], y[1]])
np.ascontiguousarray(y) | np.ascontiguousarray(y.T) | np.ascontiguousarray(y[0])
np.ascontiguousarray(y[0, ::2]) | np.asfortranarray(y) | np.asfortranarray(y[0])
np.asfortranarray(y[:1]) | np.asarray_chkfinite(y) | np.require(y) | y.view()
y.astype(float, copy=False) | y.astype(float) | y.astype(np.float32, copy=False)
np.astype(y, float, copy=False) | np.nan_to_num(y, copy=False) | np.nan_to_num(y)
np.atleast_1d(y) | np.atleast_2d(y[0]) | np.atleast_3d(y) | np.atleast_1d(y, y)[0]
np.diag(y) | np.diag(y[0]) | np.diagonal(y) | y.diagonal() | np.linalg.diagonal(y)
np.diagflat(y) | np.squeeze(y) | np.squeeze(y[:1]) | y.squeeze() | np.squeeze(y, ())
np.transpose(y) | y.transpose() | np.permute_dims(y) | np.matrix_transpose(y) | y.swapaxes(0, 1)
np.linalg.matrix_transpose(y) | np.swapaxes(y, 0, 0) | np.moveaxis(y, 0, 1) | np.moveaxis(y, [], [])
np.rollaxis(y, 1) | np.rollaxis(y, 0) | np.expand_dims(y, 0) | np.expand_dims(y, ())
np.flip(y) | np.flip(y, ()) | np.fliplr(y) | np.flipud(y) | np.rot90(y) | np.rot90(y, 0)
np.split(y, 2)[0] | np.array_split(y, 2)[1] | np.hsplit(y, 3)[0] | np.vsplit(y, 2)[1]
np.dsplit(y[:, :, None], 1)[0] | np.unstack(y)[0] | y.to_device('cpu') | np.trim_zeros(y[0])
np.real(y) | y.real | np.real(y * 1j) | (y * 1j).imag | np.real_if_close(y)
np.broadcast_to(y, (2, 2, 3)) | np.broadcast_arrays(y, y)[0] | np.broadcast_arrays(y)[0]
np.lib.stride_tricks.sliding_window_view(y, 2, 1) | np.lib.stride_tricks.as_strided(y, (2,), (8,))
np.diff(y, 0) | np.diff(y, n=0, axis=0) | np.diff(y) | np.polyder(y[0], 0) | np.polyint(y[0], m=0)
np.polyder(y[0]) | np.linalg.matrix_power(y[:, :2], 1) | np.linalg.matrix_power(y[:, :2], 0)
np.apply_over_axes(np.sum, y, []) | np.apply_along_axis(lambda row: row, 0, y)
np.vectorize(lambda v: v)(y) | np.piecewise(y, [y > 0], [lambda v: v]) | np.where(True, y, 0)
+y | np.positive(y) | np.tile(y, 1) | np.repeat(y, 1) | np.roll(y, 0) | np.pad(y, 0) | np.copy(y)
np.concatenate([y]) | np.vstack([y]) | np.block([y]) | np.stack([y]) | np.r_[y] | np.c_[y]
np.sum(y, axis=()) | np.mean(y, axis=()) | np.clip(y, None, 100) | y.clip(0) | np.round(y)
np.take(y, [0, 1], 0) | np.compress([True, True], y, 0) | np.delete(y, [], 0) | np.append(y, [])
np.insert(y, [], 0) | np.select([True], [y]) | np.triu(y) | np.sort(y) | np.fft.fftshift(y)
np.dot(y, 1) | np.kron(1, y) | np.cumsum(y, 0) | np.polynomial.polyutils.trimcoef(y[0])
"""
TEXTS = [text.strip() for text in RESULTS.replace("\n", "|").split("|") if text.strip()]
X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
#: Arrays whose order in memory is known, and not.
MADE = {"C": "x * 1.0", "F": "np.asfortranarray(x)", "K": "(x.T + 0.0).T"}


def changed(text: str, made: str, way: str) -> Any:
    result = eval(f"lambda y: {text}", {"np": np})
    base = eval(f"lambda x: {made}", {"np": np})

    def change(x: Any) -> Any:
        y = base(x)
        z = result(y)
        if way == "result":
            z[...] = z * 10 + 1
        else:
            y[...] = y * 10 + 1
        return y, z

    return change


@pytest.mark.parametrize("way", ["result", "argument"])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("text", some(TEXTS))
def test_changes_are_seen_as_in_numpy_or_refused(client, text, made, way):
    change = changed(text, MADE[made], way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a view that will be read-only
        try:
            expected = change(X)
        except ValueError:  # it is read-only
            expected = None
    try:
        found = client.function(change)(X)
    except NotTraceable:
        return
    assert expected is not None
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


#: Those of an array in C order that are recorded as the views, copies or arrays that they are.
RECORDED = (
    "np.einsum('ii->i', y[:, :2])", "np.einsum('ij->ji', y)", "np.einsum('i->i', y[0])",
    "y.reshape(3, 2, copy=True)", "y.flat[1:]", "y.conj()", "y.conjugate()", "np.conj(y)",
    "np.meshgrid(y[0], y[1], sparse=True)[0]", "np.ascontiguousarray(y)", "np.asfortranarray(y)",
    "np.asfortranarray(y[0])", "np.diff(y, 0)", "np.linalg.matrix_power(y[:, :2], 1)",
)  # fmt: skip


@pytest.mark.parametrize("text", RECORDED)
def test_these_are_not_refused(client, text):
    change = changed(text, MADE["C"], "result")
    for one, other in zip(client.function(change)(X), change(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", ["np.einsum('ij->ji', y)", "np.diff(y, 0)", "y.conj()"])
def test_an_argument_is_not_changed_through_them(client, text):
    with pytest.raises(NotTraceable, match="caller's array"):
        client.function(changed(text, "x", "result"))(X)


def test_a_gradient_passes_through_a_diagonal_that_is_set(client):
    def trace(x):
        y = np.outer(x, x)
        np.einsum("ii->i", y)[:] *= x
        return np.trace(y)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(client.grad(trace)(x), 3 * x**2)
