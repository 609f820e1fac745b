"""Expressions in the names of this library, with their variables."""

import re
from typing import Any

import numpy as np

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    """Numbers of no structure and few digits."""
    return np.round(RNG.normal(size=shape), 2)


M, N = drawn(3, 3), drawn(3, 3) + 1j * drawn(3, 3)
#: What expressions may name; upper case are matrices.
VARIABLES: dict[str, Any] = {
    "x": drawn(2, 3),
    "y": drawn(2, 3),
    "v": drawn(3),
    "w": drawn(6),
    "u": np.array([0.25, 0.5, 0.875]),
    "r": np.round(RNG.uniform(0.1, 0.9, (2, 3)), 2),
    "g": np.round(RNG.uniform(1.2, 3.0, (2, 3)), 2),
    "c": drawn(2, 3, 4),
    "q": np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]),
    "t": np.array([1.0, 3.0, 3.0, -2.0]),
    "o": np.zeros(2),
    "e": np.array([-1.0, 0.0, 1.0]),
    "n": np.array([0.0, np.inf, -np.inf, 2.0]),
    "f": drawn(2, 3).astype("float32"),
    "i": np.array([[7, -7, 6], [2, -5, 1]], "int32"),
    "j": np.array([[3, 3, -3], [5, 2, 4]], "int32"),
    "k": np.array([2, 0], "int32"),
    "s": np.array([0, 0, 1, 1, 1, 3], "int32"),
    "l": np.array([[True, False, True], [False, False, True]]),
    "z": drawn(2, 3) + 1j * drawn(2, 3),
    "d": drawn(2, 3) + 1j * drawn(2, 3),
    "A": M,
    "B": drawn(3, 2),
    "C": drawn(2, 3, 3) + 3 * np.eye(3),
    "T": drawn(3, 4),
    "S": np.round(M @ M.T + np.eye(3), 2),
    "Z": N,
    "D": drawn(3, 2) + 1j * drawn(3, 2),
    "H": np.round(N @ N.conj().T + np.eye(3), 2),
}


def cases(*texts: str) -> list[tuple[str, dict[str, Any]]]:
    """A case for each line, with the variables that it names."""
    lines = [line.strip() for text in texts for line in text.strip().splitlines()]
    words = [set(re.findall(r"(?<![.\w])[a-zA-Z](?![\w=])", line)) for line in lines]
    return [
        (line, {name: value for name, value in VARIABLES.items() if name in named})
        for line, named in zip(lines, words, strict=True)
    ]


def each(names: str, *arguments: str) -> str:
    """A line for each of the names with each of the arguments."""
    return "\n".join(f"tf.{name}({a})" for a in arguments for name in names.split())


ARITHMETIC = cases(
    each("add subtract multiply divide maximum minimum", "x, v"),
    each("add subtract multiply divide", "z, d"),
    each("math.pow math.floormod math.mod math.floordiv math.xdivy", "g, y"),
    each("abs sign floor math.ceil round square negative", "x"),
    each("math.rint math.reciprocal", "x"),
    each("abs sign square negative", "i"),
    each("add subtract multiply divide maximum math.floordiv math.floormod", "i, j"),
    each("less less_equal greater greater_equal equal not_equal", "i, 2"),
    each("logical_and logical_or math.logical_xor", "l, x > 0"),
    each("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor", "i, j"),
    each("math.is_nan math.is_inf math.is_finite", "n"),
    """
    x + y * 2 - v / 3.0
    -(x ** 2) + g ** y
    2.0 ** x
    g % r
    g // r
    abs(x) @ v[:, tf.newaxis]
    tf.add(x=x, y=y, name="sum")
    tf.math.add_n([x, y, x])
    tf.add_n([x, y])
    tf.math.accumulate_n([x, y])
    tf.scalar_mul(2.0, x)
    tf.pow(x, 2.0)
    tf.pow(i, 3)
    tf.pow(g, [[1.0], [0.5]])
    tf.pow(z, d)
    tf.math.truediv(i, j)
    tf.truncatediv(i, j)
    tf.truncatemod(i, j)
    tf.realdiv(x, y)
    tf.math.floormod(-g, r)
    tf.math.squared_difference(x, v)
    tf.math.squared_difference(z, d)
    tf.math.divide_no_nan(x, [1.0, 0.0, 2.0])
    tf.math.multiply_no_nan(n, [1.0, 0.0, 0.0, 3.0])
    tf.math.xdivy([0.0, 1.0, 2.0], [0.0, 3.0, 2.0] + v)
    tf.math.xdivy(e, e)
    tf.math.reciprocal_no_nan(e)
    tf.clip_by_value(x, -0.5, 0.5)
    tf.clip_by_value(x, clip_value_min=[-0.1, -0.2, -0.3], clip_value_max=0.4)
    tf.clip_by_value(t, 1.0, 3.0)
    tf.clip_by_norm(x, 1.0)
    tf.clip_by_norm(x, 1.5, axes=[1])
    tf.clip_by_norm(x, 1.5, [0])
    tf.clip_by_norm(o, 1.5)
    tf.clip_by_global_norm([x, v], 1.0)[0][1]
    tf.clip_by_global_norm([x, v], 1.0)[0][0]
    tf.clip_by_global_norm([x, v], 9.0)[1]
    tf.linalg.global_norm([x, v])
    tf.where(x > 0, x, y)
    tf.where([True, False, True], x, v)
    tf.where(x > 0, tf.sqrt(x), 0.0)
    tf.where(e > 0, tf.math.log(e), e)
    tf.where(l)
    tf.where(e)
    tf.abs(e)
    tf.sign(e)
    tf.maximum(e, 0.0)
    tf.maximum(0.0, e)
    tf.minimum(t, 3.0)
    tf.maximum(t, t)
    tf.pow(e, 2.0)
    tf.pow(e, 1.0)
    tf.logical_not(l)
    tf.bitwise.invert(i)
    tf.bitwise.left_shift(j, [2, 1, 0])
    tf.bitwise.right_shift(i, 1)
    tf.math.is_non_decreasing(v)
    tf.math.is_strictly_increasing(u)
    tf.cast(x, tf.int32)
    tf.cast(i, tf.float64)
    tf.cast(x, "complex128")
    tf.cast(f, tf.float64)
    tf.stop_gradient(x) * x
    tf.identity(x) + tf.ensure_shape(x, [2, 3])
    tf.saturate_cast(x * 100.0, tf.int8)
    f * 2.0 + tf.sqrt(tf.abs(f))
    """,
)

EXPONENTIAL = cases(
    each("exp sin cos tan sinh cosh tanh atan asinh math.expm1", "x", "z"),
    each("sqrt math.log math.log1p math.rsqrt acos asin atanh", "r", "z"),
    each("acosh math.acosh math.log", "g"),
    each("exp math.log1p tanh math.sigmoid", "f * f"),
    """
    tf.atan2(x, y)
    tf.math.atan2(y=x, x=v)
    tf.math.log(tf.exp(x) + tf.exp(y))
    tf.exp(o) + tf.sin(o)
    tf.math.expm1(e)
    """,
)

ACTIVATIONS = cases(
    each("nn.relu nn.relu6 nn.elu nn.selu nn.softplus nn.softsign nn.silu nn.swish", "3.0 * x"),
    each("nn.sigmoid nn.tanh nn.softmax nn.log_softmax nn.crelu", "3.0 * x"),
    each("sigmoid math.sigmoid math.log_sigmoid math.softplus math.softsign", "20.0 * x"),
    each("nn.relu nn.relu6 nn.elu nn.selu", "e"),
    each("nn.relu nn.elu nn.leaky_relu nn.gelu nn.softmax", "f"),
    """
    tf.nn.relu6(6.0 * e)
    tf.nn.leaky_relu(e, alpha=0.25)
    tf.nn.leaky_relu(x, 0.5)
    tf.nn.leaky_relu(x)
    tf.nn.gelu(f, approximate=True)
    tf.nn.gelu(f, True)
    tf.nn.gelu(x)
    tf.nn.silu(x, beta=2.0)
    tf.nn.silu(x, 0.5)
    tf.nn.softmax(x, axis=0)
    tf.nn.softmax(logits=v)
    tf.math.softmax(x, -2)
    tf.nn.log_softmax(c, axis=-2)
    tf.math.log_softmax(x)
    tf.math.softplus(1000.0 * e)
    tf.math.log_sigmoid(1000.0 * e)
    tf.nn.crelu(x, axis=0)
    tf.nn.bias_add(x, v)
    tf.nn.bias_add(c, [1.0, 2.0, 3.0, 4.0], data_format="N...C")
    tf.nn.bias_add(c, v, "NC..")
    tf.nn.l2_loss(x)
    tf.nn.l2_normalize(x, axis=1)
    tf.nn.l2_normalize(x, [0, 1], 1e-3)
    tf.math.l2_normalize(x)
    tf.math.l2_normalize(o, axis=0, epsilon=1e-2)
    tf.nn.sigmoid_cross_entropy_with_logits(labels=r, logits=x)
    tf.nn.sigmoid_cross_entropy_with_logits(q, 30.0 * x)
    tf.nn.weighted_cross_entropy_with_logits(labels=r, logits=x, pos_weight=2.0)
    tf.nn.weighted_cross_entropy_with_logits(q, x, v)
    tf.nn.softmax_cross_entropy_with_logits(labels=q, logits=x)
    tf.nn.softmax_cross_entropy_with_logits(tf.transpose(q), tf.transpose(x), axis=0)
    tf.nn.softmax_cross_entropy_with_logits(r, x, -1)
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=x)
    tf.nn.sparse_softmax_cross_entropy_with_logits([[1, 0, 3], [2, 2, 1]], c)
    tf.nn.log_poisson_loss(targets=g, log_input=x)
    tf.nn.log_poisson_loss(g, x, True)
    tf.nn.log_poisson_loss(r, x, compute_full_loss=True)
    tf.nn.compute_average_loss(v, global_batch_size=4)
    tf.nn.moments(x, axes=[0])[0]
    tf.nn.moments(x, [0])[1]
    tf.nn.moments(c, axes=[0, 1], keepdims=True)[1]
    tf.nn.weighted_moments(x, [0], r)[1]
    tf.nn.weighted_moments(c, axes=[0, 1], frequency_weights=2.0, keepdims=True)[1]
    tf.nn.sufficient_statistics(x, [1])[1]
    tf.nn.sufficient_statistics(x, [0], shift=v)[2]
    tf.nn.normalize_moments(u[0], v, v * v + 2.0, u[1])[1]
    tf.nn.zero_fraction(e)
    tf.math.zero_fraction(i - 1)
    """,
    each("keras.activations.relu keras.activations.elu keras.activations.selu", "x"),
    each("keras.activations.gelu keras.activations.leaky_relu", "f"),
    each("keras.activations.silu keras.activations.sigmoid", "x"),
    each("keras.activations.softplus keras.activations.softsign keras.activations.tanh", "x"),
    each("keras.activations.exponential keras.activations.linear keras.activations.mish", "x"),
    each("keras.activations.softmax keras.activations.log_softmax", "x", "c, axis=1"),
    each("keras.activations.hard_sigmoid keras.activations.hard_tanh", "3.0 * x"),
    each("keras.activations.hard_silu keras.activations.swish", "3.0 * x"),
    each("keras.activations.relu6 keras.activations.celu", "3.0 * x"),
    each("keras.activations.log_sigmoid keras.activations.glu", "c"),
    """
    tf.keras.activations.relu(x, negative_slope=0.1, max_value=0.5, threshold=0.2)
    tf.keras.activations.elu(x, alpha=0.5)
    """,
    each("keras.losses.mse keras.losses.mae keras.losses.mape keras.losses.msle", "g, r"),
    each("keras.losses.huber keras.losses.poisson", "g, r"),
    each("keras.losses.logcosh", "f, tf.exp(f)"),
    each("keras.losses.kld keras.losses.cosine_similarity", "q + 0.1, r"),
    each("keras.losses.hinge keras.losses.squared_hinge", "[[1.0, -1.0, 1.0]], x"),
    each("keras.losses.categorical_hinge", "[[0.0, 1.0, 0.0]], x"),
    """
    tf.keras.losses.huber(g, r, delta=0.3)
    tf.keras.losses.cosine_similarity(x, y, axis=0)
    tf.keras.losses.binary_crossentropy(q, r)
    tf.keras.losses.binary_crossentropy(q, x, from_logits=True, label_smoothing=0.1)
    tf.keras.losses.categorical_crossentropy(q, r)
    tf.keras.losses.categorical_crossentropy(q, x, from_logits=True)
    tf.keras.losses.categorical_crossentropy(q, r, label_smoothing=0.2, axis=-1)
    tf.keras.losses.sparse_categorical_crossentropy(k, r)
    tf.keras.losses.sparse_categorical_crossentropy(k, x, from_logits=True)
    """,
)

SPECIAL = cases(
    each("math.erf math.erfc math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e", "x"),
    each("math.lgamma math.digamma", "g", "-r", "f * f"),
    each("math.erfinv math.erfcinv math.ndtri", "r"),
    each("math.special.dawsn math.special.fresnel_cos math.special.fresnel_sin", "x"),
    each("math.special.expint math.special.spence", "g"),
    each("math.special.bessel_j0 math.special.bessel_j1", "x"),
    each("math.special.bessel_y0 math.special.bessel_y1 math.special.bessel_k0", "g"),
    each("math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e", "g"),
    each("math.igamma math.igammac", "g, r", "u, g", "a=r, x=g"),
    """
    tf.math.erf(e)
    tf.math.erfc(10.0 * g)
    tf.math.polygamma([1.0, 2.0, 3.0], g)
    tf.math.polygamma(a=2.0 * tf.ones_like(u), x=u)
    tf.math.zeta(tf.stop_gradient(g), r)
    tf.math.zeta(x=3.0 * tf.ones_like(u), q=u)
    tf.math.betainc(tf.stop_gradient(g), tf.stop_gradient(g * g), r)
    tf.math.betainc(a=2.0 * tf.ones_like(u), b=3.0 * tf.ones_like(u), x=u)
    tf.math.lbeta(g)
    tf.math.lbeta(tf.exp(c))
    tf.math.xlogy(x, g)
    tf.math.xlogy(e, [1.0, 0.0, 2.0])
    tf.math.xlogy(o, o)
    tf.math.xlog1py(x, r)
    tf.math.xlog1py(o, o - 1.0)
    tf.math.polyval([x, y, v], r)
    tf.math.polyval(coeffs=[v], x=u)
    """,
)

REDUCTIONS = cases(
    each("reduce_sum reduce_mean reduce_prod reduce_max reduce_min", "c, [0, -1]"),
    each("math.reduce_std math.reduce_variance reduce_logsumexp", "c, [0, -1]"),
    each("math.reduce_euclidean_norm", "x", "c, [0, 2]", "o"),
    each("math.reduce_sum math.reduce_mean math.reduce_prod math.reduce_max", "x, axis=1"),
    each("math.reduce_min math.reduce_logsumexp math.reduce_std", "x, axis=-2"),
    each("reduce_sum reduce_mean reduce_max math.reduce_variance", "c, axis=(1,), keepdims=True"),
    each("reduce_prod reduce_logsumexp math.reduce_std", "c, 1, True"),
    each("reduce_sum reduce_mean reduce_prod math.reduce_variance math.reduce_std", "z, 0"),
    each("reduce_max reduce_min reduce_sum reduce_prod", "t", "i, 0"),
    each("reduce_all reduce_any math.reduce_all math.reduce_any", "l", "l, axis=1, keepdims=True"),
    each("argmax argmin math.argmax", "x", "x, 1", "c, axis=-1"),
    each("norm", "x", "o", "x, axis=1", "c, ord=1, axis=-1, keepdims=True"),
    """
    tf.reduce_sum(input_tensor=x, axis=[], keepdims=False, name="total")
    tf.argmax(input=x, axis=0, output_type=tf.int32)
    tf.argmin(t, output_type=tf.int64)
    tf.reduce_prod([[2.0, 0.0, 4.0]] + 0.0 * x)
    tf.reduce_prod(e)
    tf.reduce_prod(o)
    tf.reduce_max(tf.nn.relu(t))
    tf.reduce_logsumexp(1000.0 * v)
    tf.reduce_mean(f, axis=0)
    tf.math.reduce_std(o)
    tf.math.reduce_std(v[:1])
    tf.math.count_nonzero(e)
    tf.math.count_nonzero(i - 1, axis=1, keepdims=True)
    tf.math.count_nonzero(x, 0, dtype=tf.int32)
    tf.norm(x, "fro", [0, 1])
    tf.norm(x, "fro", axis=(-2, -1), keepdims=True)
    tf.norm(tensor=x, ord=np.inf)
    tf.norm(c, 1, [-2, -1])
    tf.norm(c, np.inf, axis=[0, 1])
    tf.norm(x, 3, 1)
    tf.norm(x, ord=2.5)
    tf.norm(z)
    tf.norm(z, 1, axis=0)
    tf.norm(A, 2, axis=[0, 1])
    tf.norm(e, 1)
    tf.linalg.normalize(x)[0]
    tf.linalg.normalize(x, axis=1)[1]
    tf.linalg.normalize(x, ord=1, axis=0)[0]
    """,
)

SORTED = cases(
    each("sort", "x", "c, 1, 'DESCENDING'", "t", "i, direction='DESCENDING'"),
    each("argsort", "x", "x, 0", "x, axis=-1, direction='DESCENDING'", "t, stable=True"),
    each("math.cumsum math.cumprod math.cumulative_logsumexp", "x", "c, -1"),
    each("math.cumsum math.cumprod", "e", "t, exclusive=True", "t, 0, False, True"),
    each("cumsum math.cumprod math.cumulative_logsumexp", "c, axis=1, exclusive=True"),
    each("cumsum math.cumprod math.cumulative_logsumexp", "c, 2, exclusive=True, reverse=True"),
    """
    tf.cumsum(i, axis=1)
    tf.cumsum(z, reverse=True)
    tf.math.top_k(x, k=2)[0]
    tf.math.top_k(x, 2)[1]
    tf.math.top_k(t)[0]
    tf.nn.top_k(input=t, k=3, sorted=True)[1]
    tf.math.top_k(t, 2)[0]
    tf.math.top_k(i, 2)[0]
    tf.math.in_top_k(k, f, 1)
    tf.nn.in_top_k(targets=k, predictions=f, k=2)
    tf.gather(x, tf.argsort(x, axis=1), batch_dims=1)
    tf.searchsorted(u, v)
    tf.searchsorted([0.0, 1.0, 1.0, 2.0], [1.0, 0.5, 9.0], side="right")
    tf.searchsorted(tf.sort(x), y, out_type=tf.int64)
    tf.math.bincount(s)
    tf.math.bincount(s, minlength=6, maxlength=8)
    tf.stop_gradient(tf.math.bincount(s, weights=w))
    tf.math.bincount(s, maxlength=2)
    tf.histogram_fixed_width(x, [-1.0, 1.0], nbins=4)
    tf.math.invert_permutation(tf.argsort(v))
    tf.math.confusion_matrix([0, 1, 1], [1, 1, 0])
    tf.math.confusion_matrix(labels=[0, 2], predictions=[2, 2], num_classes=4, weights=[2, 3])
    tf.unravel_index(k, [2, 3])
    """,
)

MATRICES = cases(
    each("matmul linalg.matmul", "A, B", "C, B", "S, A, transpose_b=True", "Z, D"),
    each("matmul", "A, B, True", "Z, D, adjoint_a=True", "C, C, transpose_a=True"),
    each("matmul", "x, A, False, True", "i, j, transpose_b=True", "a=x, b=A"),
    each("linalg.matvec", "A, v", "C, v", "x, v", "B, v, transpose_a=True", "Z, z[0]"),
    each("linalg.matvec", "Z, z, adjoint_a=True", "C, [v, v]"),
    each(
        "linalg.det linalg.trace linalg.inv linalg.matrix_transpose linalg.adjoint", "A", "C", "Z"
    ),
    each("linalg.slogdet", "C", "Z").replace(")", ")[1]"),
    each("linalg.logdet linalg.cholesky linalg.expm", "S", "H"),
    each("linalg.sqrtm", "S", "H"),
    each("linalg.solve linalg.triangular_solve", "A, B", "C, [B, B]", "Z, D", "A, B, adjoint=True"),
    each("linalg.triangular_solve", "S, B, lower=False", "S, B, False, True", "Z, D, True, True"),
    each("linalg.eigvalsh", "S", "H"),
    each("tensordot", "x, A, 1", "c, A, [[1], [0]]", "c, T, axes=[[1, 2], [0, 1]]", "v, v, 0"),
    each("linalg.tensordot", "x, y, axes=2", "c, T, axes=(2, 1)"),
    """
    x @ A
    tf.linalg.inv(A, adjoint=True)
    tf.linalg.inv(Z, adjoint=True)
    tf.linalg.matrix_transpose(Z, conjugate=True)
    tf.linalg.slogdet(-A)[0]
    tf.linalg.cholesky_solve(tf.linalg.cholesky(S), B)
    tf.linalg.cholesky_solve(chol=tf.linalg.cholesky(H), rhs=D)
    tf.linalg.solve(matrix=H, rhs=D, adjoint=True)
    tf.linalg.expm(0.3 * A)
    tf.stop_gradient(tf.linalg.logm(H))
    tf.linalg.pinv(S)
    tf.linalg.pinv(B)
    tf.linalg.pinv(x, rcond=1e-6)
    tf.linalg.matrix_rank(S)
    tf.linalg.matrix_rank(C, tol=0.1)
    tf.linalg.lstsq(B, A)
    tf.stop_gradient(tf.linalg.lstsq(x, B[:2], fast=False))
    tf.linalg.lstsq(B, A, l2_regularizer=0.5)
    tf.linalg.eigh(S)[0]
    tf.abs(tf.linalg.eigh(S)[1])
    tf.abs(tf.linalg.eigh(H)[1])
    tf.linalg.eigvalsh(tf.eye(3, dtype=tf.float64) + 0.0 * S)
    tf.sort(tf.math.abs(tf.linalg.eigvals(A)))
    tf.sort(tf.abs(tf.linalg.eig(S)[0]))
    tf.reduce_sum(tf.abs(tf.linalg.eig(S)[1]), 1)
    tf.linalg.svd(B)[0]
    tf.linalg.svd(A, compute_uv=False)
    tf.linalg.svd(x, full_matrices=True, compute_uv=True)[0]
    tf.abs(tf.linalg.svd(A)[1])
    tf.abs(tf.linalg.svd(B)[2])
    tf.linalg.svd(x)[1] * tf.linalg.svd(x)[0] @ tf.transpose(tf.linalg.svd(x)[2])
    tf.linalg.svd(Z, compute_uv=False)
    tf.abs(tf.linalg.qr(A)[0])
    tf.abs(tf.linalg.qr(B)[1])
    tf.stop_gradient(tf.abs(tf.linalg.qr(B, full_matrices=True)[0]))
    tf.abs(tf.linalg.qr(C)[0])
    tf.linalg.band_part(A, 0, -1)
    tf.linalg.band_part(C, 1, 0)
    tf.linalg.band_part(T, num_lower=-1, num_upper=1)
    tf.linalg.diag(v)
    tf.linalg.diag(x)
    tf.linalg.diag(x, k=1)
    tf.linalg.diag(v, k=-1, num_rows=4, num_cols=5)
    tf.linalg.diag(x, k=(-1, 0), num_rows=3, padding_value=0.5)
    tf.linalg.diag(x, k=(0, 1), align="LEFT_RIGHT")
    tf.linalg.diag_part(A)
    tf.linalg.diag_part(C)
    tf.linalg.diag_part(T, k=1)
    tf.linalg.diag_part(T, k=(-1, 1))
    tf.linalg.diag_part(T, k=(-2, 3), padding_value=7.0, align="LEFT_RIGHT")
    tf.linalg.diag_part(T, k=(1, 2), align="LEFT_LEFT")
    tf.linalg.diag_part(T, k=(-2, -1), align="RIGHT_RIGHT")
    tf.linalg.set_diag(A, v)
    tf.linalg.set_diag(C, x)
    tf.linalg.set_diag(T, v, k=1)
    tf.linalg.set_diag(A, [[0.5, 1.5, 0.0], [3.0, 2.0, 1.0]], k=(0, 1), align="LEFT_RIGHT")
    tf.linalg.tensor_diag(v)
    tf.linalg.tensor_diag(x)
    tf.linalg.tensor_diag_part(A)
    tf.linalg.tensor_diag_part(tf.linalg.tensor_diag(x) * 2.0)
    tf.linalg.trace(T)
    tf.linalg.cross(x, y)
    tf.linalg.cross(a=v, b=u)
    tf.einsum("ij,jk->ik", x, A)
    tf.einsum("ij,kj->", x, y)
    tf.einsum("...ij,jk->...ik", C, A)
    tf.einsum("bii->b", C)
    tf.linalg.einsum("i,j->ij", v, w)
    tf.einsum("ij,jk,kl->il", A, S, B, optimize="greedy")
    tf.eye(2, 3, dtype=tf.float64) * x
    tf.linalg.eye(3, batch_shape=[2], dtype=tf.float64) * C
    tf.linalg.tridiagonal_solve([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]] + 0.0 * A, B)
    tf.linalg.tridiagonal_solve(S + 2.0, v)
    tf.linalg.tridiagonal_solve(S, B, transpose_rhs=False, partial_pivoting=True)
    tf.linalg.tridiagonal_solve((v[:2], 3.0 + u, u[:2]), B, diagonals_format="sequence")
    tf.linalg.tridiagonal_solve(S, S, "matrix")
    tf.linalg.tridiagonal_matmul(S, B)
    tf.linalg.tridiagonal_matmul((u, v, u), B, diagonals_format="sequence")
    tf.linalg.tridiagonal_matmul(A, S, "matrix")
    tf.stop_gradient(tf.linalg.eigh_tridiagonal(v, u[:2]))
    tf.stop_gradient(tf.linalg.lu(A)[0])
    tf.stop_gradient(tf.linalg.lu(C)[1])
    tf.stop_gradient(tf.linalg.lu_solve(tf.linalg.lu(A)[0], tf.linalg.lu(A)[1], B))
    tf.linalg.lu_reconstruct(A, [2, 0, 1])
    tf.linalg.lu_matrix_inverse(C, [[2, 0, 1], [0, 1, 2]])
    tf.linalg.lu_solve(A, [2, 0, 1], B)
    """,
)
SHAPES = cases(
    each("reshape", "x, [3, 2]", "c, [-1]", "tensor=c, shape=(2, -1, 2)"),
    each("expand_dims", "v, 0", "x, axis=-1", "input=c, axis=1"),
    each("squeeze", "c[:1]", "c[:1, :, :1], axis=2", "c[:1, :, :1], [0, 2]"),
    each("transpose", "x", "c", "c, [1, 0, 2]", "c, perm=(2, 0, 1)", "z, conjugate=True"),
    each("tile", "v, [2]", "x, multiples=[2, 1]", "x, (1, 2)"),
    each("repeat", "x, 2", "x, 2, axis=1", "v, repeats=[1, 0, 2]", "x, [2, 1], axis=0"),
    each("roll", "v, 1, 0", "x, shift=[1, -1], axis=[0, 1]", "c, -2, 2"),
    each("reverse", "x, [0]", "x, axis=[0, 1]", "c, [-1]"),
    each("concat", "[x, y], 0", "[x, B[:2]], axis=1", "values=[v, u, v], axis=-1"),
    each("stack", "[x, y]", "[x, y], axis=1", "[v, u], -1"),
    each("unstack", "x", "x, axis=1", "c, None, 2"),
    each("split", "x, 3, 1", "w, [1, 2, 3]", "value=c, num_or_size_splits=2, axis=-1").replace(
        ")", ")[1]"
    ),
    each(
        "pad",
        "v, [[1, 2]]",
        "x, [[0, 1], [2, 0]], 'CONSTANT', 7.0",
        "x, [[1, 1], [2, 2]], 'REFLECT'",
    ),
    each(
        "pad", "x, paddings=[[1, 0], [2, 3]], mode='SYMMETRIC'", "v, [[1, 1]], constant_values=2.0"
    ),
    each("broadcast_to", "v, [2, 3]", "x[:, :1], shape=(2, 4)"),
    each("slice", "c, [0, 1, 2], [1, 2, 2]", "x, [0, 1], size=[-1, 2]"),
    each("strided_slice", "c, [0, 0], [2, 3], [1, 2]", "x, [1, -1], [0, -3], [-1, -1]"),
    each("strided_slice", "c, [0, 1], [9, 2], begin_mask=1, end_mask=1, shrink_axis_mask=2"),
    each("strided_slice", "c, [0, 0, 1], [0, 0, 3], ellipsis_mask=1, new_axis_mask=2"),
    each(
        "gather", "A, k", "x, k, axis=1", "v, [[0, 2], [1, 1]]", "params=c, indices=[1, 1], axis=-1"
    ),
    each("gather", "x, [[0, 2], [1, 1]], batch_dims=1", "c, [[1], [2]], axis=2, batch_dims=1"),
    each("gather", "c, [[0, 1, 2], [3, 3, 3]], None, 2, -1").replace(", -1)", ", 1)"),
    each("gather_nd", "x, [[0, 2], [1, 0]]", "x, [[1], [0]]", "c, [[[1, 2, 3]], [[0, 0, 0]]]"),
    each("gather_nd", "c, [[0, 1], [2, 3]], batch_dims=1", "c, [[[0], [1]], [[2], [2]]], 1"),
    each("boolean_mask", "x, l", "c, l", "c, [True, False, True], axis=1", "v, v > 0"),
    each("scatter_nd", "[[1], [1], [0]], v, [4]", "[[0, 1], [2, 0]], v[:2], shape=[3, 2]"),
    each("scatter_nd", "indices=[[1], [0]], updates=x, shape=(3, 3)"),
    each("tensor_scatter_nd_add tensor_scatter_nd_sub", "w, [[1], [1], [4]], v"),
    each(
        "tensor_scatter_nd_update tensor_scatter_nd_max tensor_scatter_nd_min",
        "w, [[3], [1], [4]], v",
    ),
    each("tensor_scatter_nd_max tensor_scatter_nd_min", "t, [[1], [0]], [3.0, 1.0]"),
    each(
        "tensor_scatter_nd_update tensor_scatter_nd_add",
        "x, [[1]], [v]",
        "x, [[0, 1], [1, 2]], u[:2]",
    ),
    each("dynamic_partition", "w, s, 4", "B, [1, 0, 1], num_partitions=2").replace(")", ")[1]"),
    each("meshgrid", "v, u", "v, u, indexing='ij'").replace(")", ")[1]"),
    each("linspace", "v[0], v[1], 5", "start=0.0 * u, stop=u, num=3", "v, u, 4, axis=-1"),
    each("one_hot", "k, 3, dtype=tf.float64", "k, 4, 2.0, -1.0, 0, tf.float64"),
    each("one_hot", "indices=[0, -1, 5], depth=2, axis=1, dtype='float64'"),
    each("sequence_mask", "k", "[1, 3, 2], maxlen=4", "k, 3, tf.float64"),
    each("reverse_sequence", "c, [2, 3], seq_axis=1", "x, [0, 1, 2], seq_axis=0, batch_axis=1"),
    """
    x[0, 1]
    c[:, ::-1, 1:3]
    c[..., 0]
    c[1, :, tf.newaxis]
    x[-1]
    w[::2] - w[1::2]
    x[x > 0]
    tf.boolean_mask(tensor=x, mask=[False, True])
    tf.dynamic_stitch([[0, 2], [1]], [x[:, :2], B[:1]])
    tf.dynamic_stitch([0, [1, 2]], [v[0], u[:2]])
    tf.cast(tf.shape(c)[1], tf.float64) * x
    tf.cast(tf.size(c), tf.float64) * v
    tf.zeros_like(x) + tf.ones_like(v)
    tf.fill([2, 2], v[0])
    tf.range(3.0, dtype=tf.float64) * v
    tf.range(1, 7, delta=2, dtype=tf.int64)
    tf.zeros([2], dtype=tf.float64) + tf.ones((3, 1), tf.float64)
    tf.constant([1.0, 2.0], dtype=tf.float64, shape=[2])
    tf.constant(2.0, shape=[2, 3], dtype=tf.float64) * x
    tf.sort(tf.concat([v, u], 0))[::-1]
    """,
)

SEGMENTS = cases(
    each("math.segment_sum math.segment_mean math.segment_max math.segment_min", "w, s"),
    each("math.segment_prod", "w, s", "B, [0, 0, 2]"),
    each("math.segment_max math.segment_sum", "B, [0, 0, 2]", "[1.0, 3.0, 3.0] * u, [0, 0, 0]"),
    each(
        "math.unsorted_segment_sum math.unsorted_segment_mean", "w, s[::-1], 4", "B, [1, 0, 1], 2"
    ),
    each("math.unsorted_segment_max math.unsorted_segment_min", "t, [1, 0, 0, 1], 2"),
    each("math.unsorted_segment_prod math.unsorted_segment_sqrt_n", "w, s, num_segments=5"),
    """
    tf.math.unsorted_segment_prod([2.0, 0.0, 3.0] * u, [0, 0, 1], 2)
    tf.math.unsorted_segment_sum(data=x, segment_ids=[[0, 1, 0], [2, 2, 0]], num_segments=3)
    tf.nn.embedding_lookup(A, [2, 0, 2])
    tf.nn.embedding_lookup(params=x, ids=[[1], [0]])
    """,
)

SIGNALS = cases(
    each("signal.fft signal.ifft signal.fft2d signal.ifft2d signal.fft3d", "z[tf.newaxis]"),
    each("signal.rfft", "x", "w", "w, fft_length=[6]"),
    each("signal.irfft", "z", "z, [4]", "z, fft_length=[4]"),
    each("signal.rfft2d", "c"),
    each("signal.irfft2d", "z", "z, [2, 4]"),
    each("signal.fftshift signal.ifftshift", "v", "x, axes=1", "x, [0, 1]"),
    """
    tf.abs(tf.signal.fft(tf.cast(x, tf.complex128)))
    tf.stop_gradient(tf.signal.irfft3d(tf.signal.rfft3d(c)))
    tf.signal.rfft2d(c, fft_length=[3, 4])
    tf.signal.frame(w, 3, 2)
    tf.signal.frame(w, frame_length=4, frame_step=3, pad_end=True, pad_value=1.5)
    tf.signal.frame(x, 1, 1, axis=0)
    tf.signal.overlap_and_add(x, 2)
    tf.signal.overlap_and_add(c, frame_step=1)
    tf.signal.hann_window(5, dtype=tf.float64)
    tf.signal.hann_window(4, periodic=False, dtype=tf.float64)
    tf.signal.hamming_window(window_length=6, dtype=tf.float64)
    tf.signal.stft(w, frame_length=4, frame_step=2, window_fn=None)
    """,
)

COMPLEX = cases(
    each("math.real math.imag math.conj math.angle abs math.abs", "z"),
    each("square math.reciprocal reduce_sum", "z"),
    """
    tf.complex(x, y)
    tf.complex(real=v, imag=2.0 * u)
    tf.math.angle(x)
    tf.math.real(x)
    tf.math.conj(x)
    z * d + z / d
    tf.pow(z, 2.0 + 0j)
    tf.matmul(z, D) * 1j
    tf.reduce_prod(z, 1)
    tf.reduce_mean(z)
    tf.transpose(z) @ d
    tf.where(l, z, d)
    tf.gather(z, [1, 1])
    tf.concat([z, d], 0)
    tf.cast(tf.math.real(z), tf.complex128) * d
    tf.einsum("ij,ij->i", z, d)
    tf.linalg.norm(z, axis=1)
    """,
)
CASES = (
    ARITHMETIC
    + EXPONENTIAL
    + ACTIVATIONS
    + SPECIAL
    + REDUCTIONS
    + SORTED
    + MATRICES
    + SHAPES
    + SEGMENTS
    + SIGNALS
    + COMPLEX
)
