"""JAX's names: ``jax.lax.``, ``jax.nn.``, ``jax.ops.``; ``jnp.`` where NumPy's mean otherwise."""

from __future__ import annotations

from gradwire_engine.dialects.base import Dialect

JAX = Dialect(
    "jax",
    {
        "jax.lax.": "jax.lax.",
        "lax.": "jax.lax.",
        "jax.nn.": "jax.nn.",
        "jax.ops.": "jax.ops.",
        "jax.image.": "jax.image.",
        "jax.scipy.ndimage.": "jax.scipy.ndimage.",
        "jax.numpy.": "jax.numpy.",
        "jnp.": "jax.numpy.",
    },
    ignored="precision",
    unprefixed="jax.numpy.",
)
_entry = JAX.entry


def _lax(names: str, operation: str = "", parameters: str | None = None) -> None:
    """Enter functions of ``jax.lax``."""
    _entry(" ".join([f"lax.{name}" for name in names.split()]), operation, parameters)


def _nn(names: str, operation: str = "", parameters: str | None = None) -> None:
    """Enter functions of ``jax.nn``."""
    _entry(" ".join([f"nn.{name}" for name in names.split()]), operation, parameters)


_lax("abs acos acosh asin asinh atan atanh cbrt ceil conj cos cosh digamma erf erfc exp exp2")
_lax("expm1 floor imag log log1p neg real reciprocal rsqrt sign sin sinh sqrt square tan tanh")
_lax("bitwise_and bitwise_not bitwise_or bitwise_xor add sub mul atan2 pow polygamma betainc")
_lax("stop_gradient")
_lax("erf_inv", "erfinv")
_lax("lgamma", "gammaln")
_lax("logistic", "sigmoid")
_lax("bessel_i0e", "i0e")
_lax("bessel_i1e", "i1e")
_lax("igamma", "gammainc", "a:x x:y")
_lax("igammac", "gammaincc", "a:x x:y")
_lax("zeta", "", "x q")
_lax("complex", "", "x:real y:imag")
_lax("is_finite", "isfinite")
_lax("max", "maximum")
_lax("min", "minimum")
_lax("rem", "fmod")
_lax("eq", "equal")
_lax("ne", "not_equal")
_lax("gt", "greater")
_lax("ge", "greater_equal")
_lax("lt", "less")
_lax("le", "less_equal")
_lax("shift_left", "left_shift")
_lax("shift_right_arithmetic", "right_shift")
_lax("integer_pow", "power")
_lax("clamp", "clip", "min x:a max")
_lax("select", "where", "pred:condition on_true:x on_false:y")
_lax("convert_element_type", "astype", "operand:x new_dtype:dtype")

_lax("reduce_sum reduce_prod", "", "operand axes:axis")
_lax("reduce_max reduce_min", "", "operand axes:axis")
_lax("reduce_and", "all", "operand axes:axis")
_lax("reduce_or", "any", "operand axes:axis")
_lax("sort", "", "operand dimension:axis=-1 is_stable:stable=True")
_lax("concatenate", "", "operands dimension:axis")
_lax("stack", "", "operands axis=0")
_lax("unstack", "", "x axis=0")
_lax("tile", "", "operand reps")
_lax("expand_dims", "", "array dimensions:axis")
_lax("squeeze", "", "array dimensions:axis")
_lax("transpose", "", "operand permutation:axes")
_lax("rev", "flip", "operand dimensions:axis")
_lax("full", "", "shape fill_value dtype=None")
_lax("full_like", "", "x:a fill_value dtype=None shape=None")
_lax("batch_matmul", "matmul", "lhs rhs")

_lax("linalg.svd", "svd", "x:a * full_matrices=True compute_uv=True")
_lax("linalg.tridiagonal_solve", "tridiagonal_solve", "dl d du b")

_nn("celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid mish relu relu6")
_nn("selu sigmoid silu soft_sign swish tanh glu log1mexp")
_nn("identity", "copy")
_nn("softplus", "", "x")
_nn("one_hot", "", "x:indices num_classes:depth * dtype='float64' axis=-1")

_SEGMENTS = "data segment_ids num_segments"
_entry("ops.segment_sum ops.segment_max ops.segment_min ops.segment_prod", "", _SEGMENTS)

_entry("image.resize", "resize_image", "image shape method antialias=True")

_entry("numpy.clip", "", "arr min=None max=None")
_entry("numpy.matmul", "", "a b")
_entry("numpy.histogram", "", "a bins=10 range=None weights=None density=False")
_entry("numpy.linalg.matrix_rank", "", "M rtol=None")
_entry("numpy.linalg.pinv", "", "a rtol:rcond=None hermitian=False")
