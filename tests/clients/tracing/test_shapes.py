"""Shapes, indices, gathering and scattering as in NumPy."""

from typing import Any

import gradwire
import numpy as np
from gradwire.tracing.shapes import Aval
from hypothesis import given
from hypothesis.extra import numpy as hnp

RNG = np.random.default_rng(5)
A = RNG.uniform(-1.0, 1.0, (3, 4))
V = RNG.uniform(0.2, 1.0, 5)
U = RNG.uniform(0.2, 1.0, 3)
P = RNG.uniform(0.2, 1.0, (2, 3, 4))
I = np.array([2, 0, 1, 2])  # noqa: E741 - an index
M = np.array([True, False, True])
T = 0.7
UNANSWERED = gradwire.Client("http://127.0.0.1:1", max_retries=0)


def filled(a):
    a = a * 1.0
    a[1] = 0.0
    a[:, 2] += 1.0
    a[0, 0] *= 3.0
    a[a > 0.9] = 0.5
    return a


def accumulated(v):
    out = np.zeros_like(v)
    for i in range(len(v)):
        out[i] = v[: i + 1].sum() ** 2
    return out


def through_views(a):
    a = a.copy()
    row, column, turned, flat = a[0], a[:, 1], a.T, a.reshape(-1)
    row[1:3] = 2 * a[1, 1:3]
    column += 1.0
    turned[3] **= 2
    flat[::5] = 0.0
    first, second = np.split(a, 2, axis=1)
    second *= first
    return a, row, column, turned, flat, second


def snapshots(v):
    v = v * 2.0
    first, copied = v[0], v[1:].copy()
    v[:] = v[::-1]
    return v, first, copied


def scattered(v):
    out = np.zeros(3, like=v)
    np.add.at(out, I, v[:4])
    top = np.full(3, -1.0, like=v)
    np.maximum.at(top, I, v[:4])
    low = np.ones_like(out)
    np.minimum.at(low, I, v[:4])
    scaled = out + 1.0
    np.multiply.at(scaled, I, v[:4])
    np.subtract.at(scaled, [0, 0], v[0])
    np.divide.at(scaled, [1, 2, 1], v[:3])
    return out, top, low, scaled


def put(a, u):
    b, c, d, e = a.copy(), a.copy(), a.copy(), a[:, :3].copy()
    np.put(b, [0, 5], u[:2])
    np.putmask(c, c > 0.5, 0.0)
    np.copyto(d, 1.0, where=d < 0)
    np.fill_diagonal(e, u)
    b.fill(3.0) if a.shape == (0,) else None
    np.put_along_axis(c, np.array([[1], [0], [2]]), u[:, None], 1)
    np.put_along_axis(d, np.array([1, 4]), u[:2], None)
    f, g = a.copy(), a.T.copy()
    np.place(f, np.eye(3, 4, dtype=bool), u[:2])
    np.place(f, a > 9.0, u)
    g.flat[1:3] = u[:2]
    return b, c, d, e, f, g, a.T.flat[2]


def written_into(a):
    out = np.empty_like(a)
    np.multiply(a, 2.0, out=out)
    np.divide(1.0, a, out=out, where=a > 0.5)
    total = np.zeros_like(a[0])
    np.sum(a, axis=0, out=total)
    a.cumsum(axis=1, out=out)
    return out, total


def by_array_api(a):
    xp = a.__array_namespace__()
    b = xp.permute_dims(xp.concat([a, xp.asarray(a)], axis=0), (1, 0))
    c = xp.linalg.matrix_norm(b) + xp.linalg.vector_norm(a, axis=1)
    d = xp.astype(a, xp.complex128, copy=False)
    e = xp.matrix_transpose(a) @ xp.expand_dims(c, axis=-1)
    f = xp.where(xp.isdtype(a.dtype, "real floating") and a > 0, a, xp.zeros(4, device=a.device))
    return b, c, d, e, f, xp.take(a, xp.asarray([0, 2]), axis=1), xp.sum(a, axis=-1), xp.atan(a)


CASES: list[Any] = [
    (
        "reshape",
        lambda a: (
            a.reshape(4, 3),
            np.reshape(a, (2, -1)),
            a.reshape((12,)),
            a.reshape(-1, order="F"),
            np.reshape(a, (6, 2), order="F"),
        ),
        A,
    ),
    ("ravel", lambda a: (a.ravel(), a.flatten(), np.ravel(a, order="F"), a.flat[3]), A),
    (
        "expand/squeeze",
        lambda a: (
            a[None],
            a[:, np.newaxis],
            np.expand_dims(a, (0, 2)),
            np.squeeze(a[:1]),
            a[:1].squeeze(0),
            np.atleast_3d(a),
        ),
        A,
    ),
    (
        "broadcast_to",
        lambda v: (np.broadcast_to(v, (2, 5)), np.broadcast_arrays(v, np.ones((2, 1)))),
        V,
    ),
    (
        "concatenate",
        lambda a, u: (
            np.concatenate([a, a]),
            np.concatenate((a, a), axis=1),
            np.hstack([a, a]),
            np.vstack([a, a]),
            np.append(u, 1.0),
            np.concat([u, u]),
            np.concatenate([a, a], axis=None),
        ),
        A,
        U,
    ),
    (
        "stack",
        lambda u: (
            np.stack([u, u]),
            np.stack((u, 2 * u), axis=-1),
            np.dstack([u, u]),
            np.column_stack([u, u]),
        ),
        U,
    ),
    (
        "stack",
        lambda u, t: (
            np.array([u, 2 * u]),
            np.array([t, 1.0, t * t]),
            np.array([[t, 0], [1, u[0]]]),
            np.asarray([t, t]),
        ),
        U,
        T,
    ),
    (
        "stack",
        lambda u, t: (np.r_[u, t, 1.0], np.c_[u, 2 * u], np.block([[u, u], [2 * u, u]])),
        U,
        T,
    ),
    (
        "split",
        lambda a: (
            np.split(a, 2, axis=1),
            np.array_split(a, 2),
            np.hsplit(a, 2),
            np.vsplit(a, 3),
            np.unstack(a),
            np.split(a, [1, 3], 1),
        ),
        A,
    ),
    ("tile", lambda u: (np.tile(u, 2), np.tile(u, (2, 2)), np.resize(u, (2, 4))), U),
    (
        "repeat",
        lambda a: (np.repeat(a, 2), a.repeat(2, axis=0), np.repeat(a, [1, 0, 2], axis=0)),
        A,
    ),
    ("roll", lambda a: (np.roll(a, 1), np.roll(a, (1, -1), axis=(0, 1)), np.roll(a, 2, 1)), A),
    ("flip", lambda a: (np.flip(a), np.flipud(a), np.fliplr(a), np.flip(a, 0)), A),
    ("rot90", lambda a: (np.rot90(a), np.rot90(a, 2), np.rot90(a, -1)), A),
    (
        "moveaxis/swapaxes",
        lambda p: (
            np.moveaxis(p, 0, -1),
            p.swapaxes(0, 2),
            np.swapaxes(p, 1, 2),
            np.rollaxis(p, 2),
            np.moveaxis(p, [0, 1], [1, 2]),
        ),
        P,
    ),
    (
        "pad constant",
        lambda a: (
            np.pad(a, 1),
            np.pad(a, ((1, 0), (0, 2)), constant_values=2.0),
            np.pad(a, [(0, 1), (2, 0)], mode="constant"),
        ),
        A,
    ),
    (
        "pad reflect/edge",
        lambda a: (
            np.pad(a, 2, mode="reflect"),
            np.pad(a, 1, mode="edge"),
            np.pad(a, 1, "wrap"),
            np.pad(a, 1, "symmetric"),
        ),
        A,
    ),
    ("slice (strided)", lambda a: (a[1:], a[::2, 1:3], a[..., -1], a[-1], a[1][2], a[0, 1:4:2]), A),
    ("negative-step slice", lambda a: (a[::-1], a[:, ::-2], a[2:0:-1]), A),
    (
        "gather by integer array",
        lambda a: (
            a[I],
            a[[0, 2]],
            a[:, [1, 1]],
            np.take(a, I, axis=0),
            a.take([1, 5]),
            a[np.array([[0, 1], [2, 2]])],
        ),
        A,
    ),
    (
        "2-d index pairs",
        lambda a: (
            a[[0, 1, 2], [3, 1, 0]],
            a[np.ix_([0, 2], [1, 3])],
            a[np.arange(3), I[:3]],
            a[np.tril_indices(3)],
            a[np.diag_indices(3)],
        ),
        A,
    ),
    (
        "boolean mask",
        lambda a, v: (
            a[a > 0],
            a[M],
            a[:, np.array([True, False, True, True])],
            v[v > 0.5].sum(),
            np.extract(v > 0.5, v),
            np.compress(M, a, axis=0),
        ),
        A,
        V,
    ),
    (
        "take_along_axis",
        lambda a: (
            np.take_along_axis(a, np.argsort(a, axis=1), axis=1),
            np.choose([0, 1, 0, 1], [a[0], a[1]]),
        ),
        A,
    ),
    ("scatter set", filled, A),
    ("scatter set", accumulated, V),
    ("scatter set", through_views, A),
    ("scatter set", snapshots, V),
    ("scatter set", put, A, U),
    ("scatter set", written_into, A),
    (
        "scatter set",
        lambda v: (np.delete(v, 1), np.insert(v, 2, 0.5), np.insert(v, [0, 2], v[:2])),
        V,
    ),
    ("scatter add", scattered, V),
    ("scatter max/min", scattered, V),
    ("scatter multiply", scattered, V),
    ("scatter add", lambda v: (np.add.reduceat(v, [0, 2, 3]), np.bincount(I, weights=v[:4])), V),
    (
        "meshgrid",
        lambda u, v: (
            np.meshgrid(u, v),
            np.meshgrid(u, v, indexing="ij"),
            np.meshgrid(u, v, sparse=True),
        ),
        U,
        V,
    ),
    (
        "linspace in ends",
        lambda t: (
            np.linspace(t, 2.0, 4),
            np.linspace(0, t, 3, endpoint=False),
            np.linspace(0.0, t, 3, retstep=True),
            np.geomspace(t, 2.0, 3),
            np.logspace(t, 1.0, 3),
        ),
        T,
    ),
    (
        "select / piecewise",
        lambda v: (
            np.select([v < 0.4, v < 0.8], [v, v**2], 1.0),
            np.piecewise(v, [v < 0.5, v >= 0.5], [lambda x: -x, lambda x: x * x]),
        ),
        V,
    ),
    (
        "select / piecewise",
        lambda v: (
            np.piecewise(v, [v < 0.5], [0.0, lambda x: x**3]),
            np.where(v > 0.5, v, np.where(v > 0.3, 1.0, -v)),
        ),
        V,
    ),
    (
        "functions of functions",
        lambda a: (
            np.apply_along_axis(np.sum, 0, a),
            np.apply_along_axis(np.cumsum, 1, a),
            np.apply_over_axes(np.sum, a, [0, 1]),
        ),
        A,
    ),
    (
        "functions of functions",
        lambda v: (
            np.vectorize(lambda x: x * x if x > 0.5 else -x)(v),
            np.fromfunction(lambda i, j: v[0] * (i + j), (2, 3)),
        ),
        V,
    ),
    (
        "windows",
        lambda v: (
            np.lib.stride_tricks.sliding_window_view(v, 3),
            np.diff(v),
            np.trim_zeros(np.array([0.0, 1.0])) * v[0],
        ),
        V,
    ),
    (
        "told",
        lambda a: (
            a * a.shape[0],
            a * np.size(a),
            a * len(a),
            a * a.ndim,
            a.astype(np.result_type(a, np.float32)),
            a if np.can_cast(a, complex) else 0 * a,
        ),
        A,
    ),
    (
        "made alike",
        lambda a: (
            np.zeros_like(a) + a,
            np.ones_like(a, dtype=np.float32),
            np.full_like(a, 2.0),
            np.zeros((2, 2), like=a),
            np.full((2, 2), a[0, 0]),
            np.eye(3) * a[0, 0],
        ),
        A,
    ),
    ("told", lambda a: (a[np.triu_indices_from(a)], a[:, :3][np.diag_indices_from(a[:, :3])]), A),
    ("array API", by_array_api, A),
]


def test_shapes_and_indices_agree_with_numpy(case, check):
    _, f, *args = case
    check(f, *args)


@given(hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=4, max_side=3))
def test_the_shape_of_a_product_is_known_without_the_service(shapes):
    left, right = shapes.input_shapes
    a, b = np.ones(left, np.float32), np.ones(right)
    known = gradwire.Function(lambda a, b: {(a @ b).aval}).traced(a, b)
    traced, _ = UNANSWERED.run(known)
    product = a @ b
    assert traced.result([]) == {Aval(product.shape, product.dtype)}


def test_masked_shapes_combine_with_numbers_without_the_service():
    f: Any = gradwire.Function(lambda x, t: np.sum(x[x > 0] * t), UNANSWERED)
    traced, _ = UNANSWERED.run(f.traced(V.astype(np.float32), T))
    assert "np.astype(t, 'float32')" in traced.text
