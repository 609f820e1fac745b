"""TensorFlow's names compute what TensorFlow says they do."""

import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.errors import ArgumentError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betainc, gammainc, gammaln, polygamma

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
Y = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])
S = np.array([[2.0, 0.5], [0.5, 1.0]])
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
K = np.array([2, 0])
VARIABLES = {"x": X, "y": Y, "v": V, "s": S, "p": P, "k": K}


def softplus(x):
    return np.log1p(np.exp(x))


def log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tf.reduce_sum(x, axis=1)", X.sum(1)),
        ("tf.reduce_sum(x, 1, True)", X.sum(1, keepdims=True)),
        ('tf.reduce_sum(input_tensor=x, name="total")', X.sum()),
        ("tf.math.reduce_mean(x, [0, 1])", X.mean()),
        ("tf.reduce_max(x, axis=0, keepdims=True)", X.max(0, keepdims=True)),
        ("tf.reduce_min(x)", X.min()),
        ("tf.reduce_prod(x, axis=-1)", X.prod(-1)),
        ("tf.math.reduce_std(x, axis=1)", X.std(1)),
        ("tf.math.reduce_variance(x, axis=1)", X.var(1)),
        ("tf.reduce_logsumexp(x, axis=1)", np.log(np.exp(X).sum(1))),
        ("tf.reduce_any(x > 1, axis=1)", (X > 1).any(1)),
        ("tf.reduce_all(x > -1, axis=1)", (X > -1).all(1)),
        ("tf.argmax(x)", X.argmax(0)),
        *[
            (f"tf.arg{which}([[1.0, nan, 2], [nan, 1, 2], [nan, nan, nan]], 1)", expected)
            for which, expected in (("max", [2, 2, 0]), ("min", [0, 1, 0]))
        ],
        ("tf.divide(x, y) + tf.subtract(x, y) * tf.multiply(2.0, y)", X / Y + (X - Y) * 2 * Y),
        ("tf.atan2(x, y)", np.arctan2(X, Y)),
        ("tf.math.floormod(x, y)", np.mod(X, Y)),
        ("tf.math.squared_difference(x, y)", (X - Y) ** 2),
        ("tf.math.divide_no_nan(x, [[1, 0, 2], [0, 1, 2]])", [[0.5, 0, 1], [0, 0.25, -0.375]]),
        ("tf.math.multiply_no_nan(inf, [0.0, 1.0])", [0, np.inf]),
        ("tf.add_n([x, y, x])", 2 * X + Y),
        ("tf.cumsum(x)", X.cumsum(0)),
        ("tf.cumsum(v, exclusive=True)", [0, 3, 4]),
        ("tf.cumsum(v, reverse=True)", [6, 3, 2]),
        ("tf.cumsum(v, exclusive=True, reverse=True)", [3, 2, 0]),
        ("tf.matmul(x, y, transpose_b=True)", X @ Y.T),
        ("tf.matmul(x, y, True)", X.T @ Y),
        ("tf.linalg.matvec(x, v)", X @ V),
        ("tf.linalg.matvec(x, [1.0, 2.0], transpose_a=True)", X.T @ [1, 2]),
        ("tf.transpose(x, perm=[1, 0])", X.T),
        ("tf.transpose(1j * s, conjugate=True)", (1j * S).conj().T),
        ("tf.linalg.inv(s)", np.linalg.inv(S)),
        ("tf.linalg.inv(s, adjoint=True)", np.linalg.inv(S.T)),
        ("tf.linalg.det(s)", np.linalg.det(S)),
        ("tf.linalg.logdet(s)", np.log(np.linalg.det(S))),
        ("tf.linalg.solve(s, x)", np.linalg.solve(S, X)),
        ("tf.linalg.cholesky(s)", np.linalg.cholesky(S)),
        ("tf.linalg.cholesky_solve(tf.linalg.cholesky(s), x)", np.linalg.solve(S, X)),
        ("tf.linalg.triangular_solve(s, x)", np.linalg.solve(np.tril(S), X)),
        ("tf.linalg.triangular_solve(s, x, False)", np.linalg.solve(np.triu(S), X)),
        ("tf.linalg.trace(s)", 3.0),
        ("tf.linalg.diag(x)", [np.diag(X[0]), np.diag(X[1])]),
        ("tf.linalg.diag_part(s)", [2, 1]),
        ("tf.norm(x)", np.linalg.norm(X)),
        ("tf.norm(x, 1)", np.abs(X).sum()),
        ("tf.norm(x, ord=1, axis=1)", np.abs(X).sum(1)),
        ("tf.norm(x, ord=1, axis=[0, 1])", np.linalg.norm(X, 1)),
        ('tf.einsum("ij,kj->ik", x, y)', X @ Y.T),
        ("tf.tensordot(x, y, axes=[[1], [1]])", X @ Y.T),
        ("tf.cast(x, tf.int32)", X.astype("int32")),
        ('tf.cast(k, "float32")', K.astype("float32")),
        ("tf.gather(x, [1, 1, 0])", X[[1, 1, 0]]),
        ("tf.gather(x, k, axis=1)", X[:, K]),
        ("tf.gather_nd(x, [[0, 2], [1, 0]])", [2.0, 1.0]),
        ("tf.gather_nd(x, [[1], [0]])", X[::-1]),
        ("tf.concat([x, y], 1)", np.concatenate([X, Y], 1)),
        ("tf.stack([x, y], axis=-1)", np.stack([X, Y], -1)),
        ("tf.unstack(x, axis=1)[1]", X[:, 1]),
        ("tf.split(v, 3)[1]", [1]),
        ("tf.split(x, [1, 2], axis=1)[1]", X[:, 1:]),
        ("tf.expand_dims(v, 0)", V[None]),
        ("tf.squeeze(tf.expand_dims(v, 0))", V),
        ("tf.reshape(x, [3, -1])", X.reshape(3, -1)),
        ("tf.tile(v, [2])", np.tile(V, 2)),
        ("tf.repeat(v, 2)", np.repeat(V, 2)),
        ("tf.reverse(x, [0])", X[::-1]),
        ("tf.roll(v, 1, 0)", np.roll(V, 1)),
        ("tf.where(x > 0, x, 0)", np.where(X > 0, X, 0)),
        ("tf.pad(v, [[1, 2]])", np.pad(V, (1, 2))),
        ("tf.clip_by_value(x, -1, 1)", X.clip(-1, 1)),
        ("tf.clip_by_norm(v, 2.0)", V * 2 / np.linalg.norm(V)),
        ("tf.clip_by_norm(v, 9.0)", V),
        ("tf.one_hot(k, 3)", np.eye(3)[K]),
        ("tf.one_hot(k, 3, axis=0)", np.eye(3)[K].T),
        ("tf.one_hot(k, depth=3, on_value=2, off_value=-1)", np.eye(3)[K] * 3 - 1),
        ("tf.range(3)", [0, 1, 2]),
        ("tf.range(1, 7, delta=2)", [1, 3, 5]),
        ("tf.linspace(0.0, 1.0, 3)", [0, 0.5, 1]),
        ("tf.zeros([2]) + tf.ones(2) + tf.fill([2], 3.0)", [4, 4]),
        ("tf.eye(2, batch_shape=[2])", [np.eye(2), np.eye(2)]),
        ("tf.zeros_like(x) + tf.ones_like(x)", np.ones((2, 3))),
        ("tf.reshape(x, [tf.shape(x)[1], tf.rank(x)]) + tf.size(x)", X.reshape(3, 2) + 6),
        ("tf.constant([1.0, 2.0]) + tf.identity([1, 2])", [2, 4]),
        ("tf.meshgrid(v, [1, 2])[1]", np.meshgrid(V, [1, 2])[1]),
        ('tf.meshgrid(v, [1, 2], indexing="ij")[1]', np.meshgrid(V, [1, 2], indexing="ij")[1]),
        ("tf.sort(v)", [1, 2, 3]),
        ("tf.math.top_k(v, k=2)[0]", [3, 2]),
        ("tf.math.polygamma(1, v)", polygamma(1, V)),
        ("tf.math.igamma(v, 1.5)", gammainc(V, 1.5)),
        ("tf.math.betainc(v, 2.0, 0.3)", betainc(V, 2, 0.3)),
        ("tf.math.lbeta(v)", gammaln(V).sum() - gammaln(V.sum())),
        ("tf.math.cumulative_logsumexp(v)", np.log(np.cumsum(np.exp(V)))),
        ("tf.searchsorted([1.0, 2.0], v)", [2, 0, 1]),
        ("tf.slice(x, [0, 1], [-1, 2])", X[:, 1:]),
        ("tf.linalg.svd(s)[0]", np.linalg.svd(S)[1]),
        ("s - tf.linalg.svd(s)[1] * tf.linalg.svd(s)[0] @ tf.linalg.svd(s)[2].T", 0 * S),
        ("tf.linalg.svd(x, compute_uv=False)", np.linalg.svd(X)[1]),
        ("tf.linalg.lstsq(s, x)", np.linalg.solve(S, X)),
        ("tf.linalg.band_part(x[:, :2], 0, -1)", np.triu(X[:, :2])),
        ("tf.linalg.band_part(x, -1, 1)", np.tril(X, 1)),
        ("tf.linalg.eigh(s)[0]", np.linalg.eigvalsh(S)),
        ("tf.nn.embedding_lookup(x, [1])", X[[1]]),
        ("tf.abs(tf.signal.fft(x))", np.abs(np.fft.fft(X))),
        ("tf.math.real(tf.signal.ifft2d(x))", np.fft.ifft2(X).real),
        ("tf.signal.irfft(tf.signal.rfft(v, [4]), fft_length=[4])", [3, 1, 2, 0]),
        ("tf.signal.fftshift(v)", np.fft.fftshift(V)),
        ("tf.scatter_nd([[1], [1], [0]], v, [3])", [2, 4, 0]),
        ("tf.tensor_scatter_nd_update(v, [[1]], [9.0])", [3, 9, 2]),
        ("tf.math.unsorted_segment_sum(v, [1, 0, 1], num_segments=2)", [1, 5]),
        ("tf.nn.relu(x)", np.maximum(X, 0)),
        ("tf.nn.leaky_relu(x)", np.where(X > 0, X, 0.2 * X)),
        ("tf.nn.leaky_relu(x, alpha=0.1)", np.where(X > 0, X, 0.1 * X)),
        ("tf.nn.elu(x)", np.where(X > 0, X, np.expm1(X))),
        ("tf.nn.softplus(x)", softplus(X)),
        ("tf.nn.softmax(x)", np.exp(log_softmax(X))),
        ("tf.nn.softmax(x, axis=0)", np.exp(log_softmax(X, 0))),
        ("tf.nn.log_softmax(x)", log_softmax(X)),
        ("tf.nn.silu(x, 2.0)", X / (1 + np.exp(-2 * X))),
        ("tf.nn.swish(x)", X / (1 + np.exp(-X))),
        ("tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=x)", softplus(X) - P * X),
        (
            "tf.nn.weighted_cross_entropy_with_logits(p, x, 3.0)",
            3 * P * softplus(-X) + (1 - P) * softplus(X),
        ),
        (
            "tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x)",
            -(P * log_softmax(X)).sum(-1),
        ),
        (
            "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=x)",
            -log_softmax(X)[[0, 1], K],
        ),
        ("tf.nn.l2_loss(x)", (X**2).sum() / 2),
        ("tf.nn.l2_normalize(x, axis=1)", X / np.linalg.norm(X, axis=1, keepdims=True)),
        ("tf.nn.moments(x, axes=[0])[1]", X.var(0)),
        ("tf.nn.bias_add(x, v)", X + V),
        ("tf.complex(v, v)", V + 1j * V),
        ("tf.float32 == tf.constant([1.0], dtype=tf.float32).dtype", True),
    ],
)
def test_value(ask, text, expected):
    found = ask.value(text, VARIABLES)
    assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-14)


def test_names_know_their_gradients(ask):
    text = "tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=x))"
    found = ask.gradients(text, {"x": X, "p": P}, sources="x")
    assert_allclose(found, 1 / (1 + np.exp(-X)) - P)
    found = ask.gradients("tf.math.divide_no_nan(x, y)", {"x": 1.0, "y": 0.0})
    assert found == {"x": 0, "y": 0}
    assert ask.gradients("x*tf.stop_gradient(x)", {"x": 3.0}) == {"x": 3}


@cases("text, message")
def test_what_does_not_fit_is_refused(ask, text, message):
    with pytest.raises(ArgumentError) as caught:
        ask.value(text, VARIABLES)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tf.reduce_sum(tf.boolean_mask(x, x > limit))", {"limit": 0.4}),
        ("tf.reduce_sum(tf.math.segment_max(x[0], k))", {"k": Leaf(np.array([0, 0, 2]))}),
        ("tf.cast(tf.shape(tf.where(x > limit))[0], tf.float64) * x[0]", {"limit": 0.4}),
    ],
)
def test_values_decide_on_shapes_anew(ask, ask_within, text, values):
    first = {"x": X, "limit": -5.0, "k": Leaf(np.array([0, 1, 1]))}
    ask.gradients(f"sum({text})", {name: first[name] for name in ("x", *values)}, sources="x")
    again = ask.gradients(f"sum({text})", {"x": X, **values}, sources="x")
    fresh = ask_within().gradients(f"sum({text})", {"x": X, **values}, sources="x")
    assert_array_equal(again, fresh)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_the_places_of_ones_may_be_of_any_integers_even_where_promotion_is_strict(ask, dtype):
    places = Leaf(K.astype(dtype))
    found = ask.value("tf.one_hot(k, 3, dtype='float32')", {"k": places}, promotion="strict")
    assert_array_equal(found, np.eye(3, dtype="float32")[K])
