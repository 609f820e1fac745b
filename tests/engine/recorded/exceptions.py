"""Recorded answers that ours differ from, each with the reason."""

#: Expressions of TensorFlow's by reason.
_TENSORFLOW: dict[str, tuple[str, ...]] = {
    "0 where the norm or the deviation is 0: the subgradient of least norm": (
        "tf.norm(o)",
        "tf.math.reduce_euclidean_norm(o)",
        "tf.math.reduce_std(o)",
        "tf.math.reduce_std(v[:1])",
        "tf.math.reduce_std(o + 5.0)",
    ),
    "0, a useful subgradient, where theirs is NaN": (
        "tf.pow(o, 0.0)",
        "tf.pow(o, o)",
        "tf.atan2(o, o)",
        "tf.reduce_logsumexp(o - np.inf)",
    ),
    "an infinite exponent has the slope 1, where theirs is NaN": (
        "tf.reduce_logsumexp([np.inf, 0.0] + o)",
    ),
    "a branch of where that was not taken contributes exactly 0": (
        "tf.where(e > 0, tf.math.log(e), e)",
    ),
    "cumprod is right where an element is 0; theirs divides by it": ("tf.math.cumprod(e)",),
    "at a tie the derivative belongs to the array, as with maximum": (
        "tf.tensor_scatter_nd_max(t, [[1], [0]], [3.0, 1.0])",
        "tf.tensor_scatter_nd_min(t, [[1], [0]], [3.0, 1.0])",
    ),
    "integers add up and multiply in 64 bits": (
        "tf.reduce_sum(i, 0)",
        "tf.reduce_prod(i, 0)",
        "tf.cumsum(i, axis=1)",
    ),
    "what is real of complex matrices has a real dtype": (
        "tf.norm(z)",
        "tf.linalg.norm(z, axis=1)",
        "tf.linalg.slogdet(Z)[1]",
        "tf.linalg.eigvalsh(H)",
    ),
    "they round the constants of the formula to float32": ("tf.nn.leaky_relu(x)", "tf.nn.gelu(x)"),
    "their gradient takes it that labels sum to 1; ours agrees with differences": (
        "tf.nn.softmax_cross_entropy_with_logits(r, x, -1)",
    ),
    "their gradient is not that of differences, with which ours agrees": (
        "tf.math.squared_difference(z, d)",
        "tf.linalg.det(Z)",
        "tf.linalg.sqrtm(H)",
    ),
}
#: Expressions of PyTorch's by reason.
_TORCH: dict[str, tuple[str, ...]] = {
    "where a base is negative its exponent has slope 0, not NaN": ("torch.pow(x, other)",),
    "at a tie the first argument has the derivative": (
        "torch.maximum(tied, other)",
        "torch.minimum(tied, other)",
    ),
    "they round the slope 1/6 to float32": ("F.hardsigmoid(4 * x)",),
    "a logarithm that counts as -100 in the value does so in the slope of the target, too": (
        "F.binary_cross_entropy(torch.detach(u), p)",
    ),
    "at (0, 0) the slopes of xlogy are 0, not NaN": (
        "torch.special.xlogy(u, u)",
        "torch.xlogy(origin, holed)",
    ),
    "indices are integers, whatever they number": (
        "torch.masked.argmax(point, 0)",
        "torch.masked.argmax(point, -1)",
        "torch.masked.argmax(x, 1, mask=mask)",
        "torch.masked.argmin(x, mask=mask)",
    ),
    "only the triangle that is read has a derivative": (
        "torch.linalg.eigh(spd)[0]",
        "torch.linalg.eigvalsh(spd)",
    ),
    "the least subgradient at the origin, not NaN": ("torch.hypot(origin, holed)",),
    "a branch of where that was not taken contributes exactly 0": (
        "torch.where(edge > 0, torch.sqrt(edge), 0.0)",
    ),
    "of nothing but -inf the slopes are 0, not NaN": (
        "torch.logsumexp(nothing, 0)",
        "torch.logaddexp(nothing, nothing)",
        "torch.logcumsumexp(gaps, 1)",
    ),
    "what is not a number has no sign; theirs is 0": ("torch.sign(holes)",),
    "the adjugate is the derivative of a singular matrix, too": ("torch.linalg.det(flat)",),
}
#: Expressions of JAX's by reason.
_JAX: dict[str, tuple[str, ...]] = {
    "at a tie the first argument has the derivative": (
        "jnp.maximum(x, v)",
        "jnp.maximum(e, 0.0)",
        "jnp.minimum(e, 0.0)",
        "jnp.fmax(e, 0.0)",
        "jnp.fmin(e, 0.0)",
    ),
    "a branch of where that was not taken contributes exactly 0": (
        "jnp.where(x > 0, jnp.sqrt(x), 0.0)",
        "jnp.where(e > 0, jnp.log(e), 0.0)",
    ),
    "the slope of abs at 0 is 0": ("jnp.abs(e)", "jnp.linalg.norm(e, 1)"),
    "at 0 the slope of the negative side": ("jax.nn.leaky_relu(e)",),
    "the slope of clip at its bounds is 1": ("jnp.clip(e, -1.0, 1.0)", "lax.clamp(0.0, e, 1.0)"),
    "0 where the norm or the deviation is 0: the subgradient of least norm": (
        "jnp.linalg.norm(e - e)",
        "jnp.std(same)",
        "jnp.std(same, ddof=1)",
        "jnp.arctan2(e, 0.0 * e)",
        "jnp.hypot(e, 0.0 * e)",
    ),
    "at (0, 0) the slopes of powers and of xlogy are 0, not NaN": (
        "jnp.power(edge, edge)",
        "jax.scipy.special.xlogy(edge, edge)",
    ),
    "where a base is negative its exponent has slope 0, not NaN": ("jnp.power(e - 2.0, e + 1.0)",),
    "of nothing but -inf the slopes are 0, not NaN": (
        "jax.nn.logsumexp(nothing)",
        "jnp.logaddexp(nothing, nothing)",
    ),
    "the sign of a complex number turns with it: only along its ray the slope is 0": (
        "jnp.sign(zv)",
    ),
    "the slope is 0 at the bounds, as with hardtanh": (
        "jax.nn.hard_tanh(4 * x)",
        "jax.nn.hard_tanh(e)",
    ),
    "the slope is 1 at the bounds, as with clip": ("jax.nn.sparse_sigmoid(4 * x)",),
    "their gradient is NaN at 1.5; ours agrees with differences": ("jax.scipy.special.spence(w)",),
    "elements equal to the median share the derivative": ("jnp.median(t)", "jnp.median(tied)"),
    "equal elements keep their order also where it falls": ("jnp.sort(t, descending=True)",),
    "of equal elements the first has the derivative": ("lax.cummax(t, 0)",),
    "indices have 64 bits": (
        "jnp.searchsorted(jnp.sort(w), x)",
        'jnp.searchsorted(w, v, side="right")',
        "jnp.digitize(x, w)",
    ),
    "the dtype by default is NumPy's": ("jnp.tri(3)",),
    "they compute the weights of attention in float32": (
        "jax.nn.dot_product_attention(x3[:, :, None], x3[:, ::-1, None], x3[:, ::-1, None] * 2)",
        "jax.nn.dot_product_attention(x3[:, :, None], x3[:, :, None], x3[:, :, None], "
        "is_causal=True)",
    ),
    "only the triangle that is read has a derivative": (
        'jnp.linalg.eigvalsh(s, UPLO="U")',
        'jax.scipy.linalg.solve(s, v, assume_a="pos")',
    ),
    "the derivative of a Cholesky factor is symmetrised": (
        "jax.scipy.linalg.cholesky(s)",
        "jax.scipy.linalg.cholesky(s, lower=True)",
        "jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(s), v)",
    ),
}
#: Why the value or a gradient of an expression differs, by library and text.
EXCEPTIONS: dict[tuple[str, str], str] = {
    (library, text): reason
    for library, reasons in (("jax", _JAX), ("tensorflow", _TENSORFLOW), ("torch", _TORCH))
    for reason, texts in reasons.items()
    for text in texts
}
