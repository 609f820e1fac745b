"""TensorFlow's names: ``tf.``, ``tf.math.``, ``tf.linalg.``, ``tf.nn.`` and ``tf.signal.``."""

from __future__ import annotations

from gradwire_engine.dialects.base import Dialect

TF = Dialect("tf", {"tf.": "tf."}, ignored="name")
_entry = TF.entry


def _both(names: str, operation: str, parameters: str) -> None:
    """Enter functions that stand in ``tf`` and in ``tf.math``."""
    for name in names.split():
        _entry(f"{name} math.{name}", operation or name, parameters)


_both("abs acos acosh asin asinh atan atanh cos cosh exp floor sigmoid sign sin sinh", "", "x")
_both("sqrt square tan tanh negative logical_not round", "", "x")
_both("add subtract multiply divide maximum minimum pow less less_equal", "", "x y")
_both("greater greater_equal equal not_equal logical_and logical_or", "", "x y")
_both("truediv", "divide", "x y")
_entry("realdiv", "divide", "x y")
_entry("truncatemod", "fmod", "x y")
_both("atan2", "", "y:x x:y")
_both("scalar_mul", "multiply", "scalar x:y")
_both("reduce_all", "all", "input_tensor axis=None keepdims=False")
_both("reduce_any", "any", "input_tensor axis=None keepdims=False")
_both("reduce_logsumexp", "logsumexp", "input_tensor axis=None keepdims=False")
_both("reduce_max", "max", "input_tensor axis=None keepdims=False")
_both("reduce_mean", "mean", "input_tensor axis=None keepdims=False")
_both("reduce_min", "min", "input_tensor axis=None keepdims=False")
_both("reduce_prod", "prod", "input_tensor axis=None keepdims=False")
_both("reduce_sum", "sum", "input_tensor axis=None keepdims=False")
_entry("math.reduce_std", "std", "input_tensor axis=None keepdims=False")
_entry("math.reduce_variance", "var", "input_tensor axis=None keepdims=False")
_entry("math.reduce_euclidean_norm", "vector_norm", "input_tensor axis=None keepdims=False")

_entry("math.log math.log1p math.expm1 math.ceil math.rint math.rsqrt math.reciprocal", "", "x")
_entry("math.erf math.erfc math.erfinv math.conj math.log_sigmoid", "", "x")
_entry("math.is_finite", "isfinite", "x")
_entry("math.is_inf", "isinf", "x")
_entry("math.is_nan", "isnan", "x")
_entry("math.xlogy math.xlog1py math.logical_xor", "", "x y")
_entry("math.floordiv", "floor_divide", "x y")
_entry("math.floormod math.mod", "remainder", "x y")
_entry("math.angle math.real math.imag", "", "input")
_entry("complex", "", "real imag")
_entry("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor", "", "x y")
_entry("bitwise.left_shift bitwise.right_shift", "", "x y")
_entry("bitwise.invert", "", "x")

_entry("nn.relu nn.relu6 nn.elu nn.softplus nn.softsign", "", "features")
_entry("math.softsign math.softplus", "", "features")
_entry("nn.sigmoid nn.tanh", "", "x")
_entry("nn.leaky_relu", "", "features alpha:negative_slope=0.2")
_entry("nn.gelu", "", "features approximate=False")
_entry("nn.softmax math.softmax", "softmax", "logits axis=-1")
_entry("nn.log_softmax math.log_softmax", "log_softmax", "logits axis=-1")

_entry("cast", "", "x dtype")
_entry("stop_gradient", "", "input")
_entry("identity", "copy", "input")
_entry("convert_to_tensor", "array", "value dtype=None")
_entry("zeros ones", "", "shape dtype='float64'")
_entry("zeros_like ones_like", "", "input dtype=None")
_entry("fill", "", "dims:shape value:fill_value")
_entry("range", "", "start limit:stop=None delta:step=1 dtype=None")
_entry("linspace", "", "start stop num axis=0")
_entry("concat", "", "values axis")
_entry("stack", "", "values axis=0")
_entry("expand_dims", "", "input axis")
_entry("squeeze", "", "input axis=None")
_entry("reshape", "", "tensor shape")
_entry("tile", "", "input multiples")
_entry("repeat", "", "input repeats axis=None")
_entry("reverse", "flip", "tensor axis")
_entry("roll", "", "input shift axis")
_entry("broadcast_to", "", "input shape")
_entry("meshgrid", "", "args:xi indexing='xy'")
_entry("clip_by_value", "", "t clip_value_min:a_min clip_value_max:a_max")
_entry("where", "", "condition x y")

_entry("linalg.det linalg.slogdet linalg.cholesky", "", "input")
_entry("linalg.cross", "", "a b")
_entry("linalg.trace", "linalg.trace", "x")
_entry("tensordot linalg.tensordot", "tensordot", "a b axes")

_entry("math.lgamma", "gammaln", "x")
_entry("math.digamma math.ndtri math.erfcinv", "", "x")
_entry("math.zeta", "", "x q")
_entry("math.bessel_i0 math.special.bessel_i0", "i0", "x")
_entry("math.bessel_i0e math.special.bessel_i0e", "i0e", "x")
_entry("math.bessel_i1 math.special.bessel_i1", "i1", "x")
_entry("math.bessel_i1e math.special.bessel_i1e", "i1e", "x")
_entry("math.special.bessel_j0", "j0", "x")
_entry("math.special.bessel_j1", "j1", "x")
_entry("math.special.bessel_y0", "y0", "x")
_entry("math.special.bessel_y1", "y1", "x")
_entry("math.special.bessel_k0", "k0", "x")
_entry("math.special.bessel_k1", "k1", "x")
_entry("math.special.dawsn", "", "x")
_entry("math.divide_no_nan", "", "x y")
_entry("linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals eig eigvals", "", "tensor")
_entry("linalg.expm linalg.logm linalg.sqrtm", "", "input")
_entry("linalg.pinv", "", "a rcond=None")

_entry("nn.sigmoid_cross_entropy_with_logits", "", "labels logits")
_entry("nn.softmax_cross_entropy_with_logits", "", "labels logits axis=-1")
_entry("nn.sparse_softmax_cross_entropy_with_logits", "", "labels logits")

_entry("math.igamma", "gammainc", "a:x x:y")
_entry("math.igammac", "gammaincc", "a:x x:y")
_entry("math.betainc", "", "a b x")
_entry("math.special.spence", "", "x")
_entry("math.special.expint", "expi", "x")
_entry("nn.embedding_lookup", "gather", "params ids")

_entry("signal.dct", "fft.dct", "input type=2 n=None axis=-1 norm=None")
_entry("signal.fft", "fft.fft", "input")
_entry("signal.ifft", "fft.ifft", "input")
_entry("signal.fft2d", "fft.fft2", "input")
_entry("signal.ifft2d", "fft.ifft2", "input")
_entry("signal.rfft2d", "fft.rfft2", "input_tensor fft_length:s=None")
_entry("signal.irfft2d", "fft.irfft2", "input_tensor fft_length:s=None")
_entry("signal.fftshift", "fft.fftshift", "x axes=None")
_entry("signal.ifftshift", "fft.ifftshift", "x axes=None")
_entry("tensor_scatter_nd_add tensor_scatter_nd_sub", "", "tensor indices updates")
_entry("tensor_scatter_nd_max tensor_scatter_nd_min", "", "tensor indices updates")
_entry("tensor_scatter_nd_update", "", "tensor indices updates")

for _kind in ("fft", "ifft", "rfft", "irfft"):
    _lengths = "fft_length:s=None axes=None norm=None"
    _entry(f"signal.{_kind}nd", f"fft.{_kind}n", f"input_tensor {_lengths}")
    _entry(f"{_kind}nd", f"fft.{_kind}n", "input fft_length:s axes")

# Random numbers: the library's distributions, but not its numbers.
_entry("random.split random.experimental.stateless_split", "random.split", "seed:key num=2")
_entry("random.fold_in random.experimental.stateless_fold_in", "random.fold_in", "seed:key data")
_entry(
    "random.stateless_normal",
    "random.normal",
    "shape seed:key mean:loc=0.0 stddev:scale=1.0 dtype=None",
)
_entry("random.stateless_poisson", "random.poisson", "shape seed:key lam dtype='int32'")
_entry(
    "random.stateless_binomial",
    "random.binomial",
    "shape seed:key counts:n probs:p output_dtype:dtype='int32'",
)
_entry("random.experimental.stateless_shuffle", "random.permutation", "value:x seed:key")
_entry("nn.experimental.stateless_dropout", "random.dropout", "x rate seed:key noise_shape=None")
