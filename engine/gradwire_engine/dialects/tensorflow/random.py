"""TensorFlow's ``tf.random.stateless_…`` and dropout, whose ``seed`` is the key.

Equal seeds give equal numbers, with TensorFlow's distributions, but not TensorFlow's numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

TF.entry("random.split random.experimental.stateless_split", "random.split", "seed:key num=2")
TF.entry("random.fold_in random.experimental.stateless_fold_in", "random.fold_in", "seed:key data")
TF.entry(
    "random.stateless_normal",
    "random.normal",
    "shape seed:key mean:loc=0.0 stddev:scale=1.0 dtype=None",
)
TF.entry("random.stateless_poisson", "random.poisson", "shape seed:key lam dtype='int32'")
TF.entry(
    "random.stateless_binomial",
    "random.binomial",
    "shape seed:key counts:n probs:p output_dtype:dtype='int32'",
)
TF.entry("random.experimental.stateless_shuffle", "random.permutation", "value:x seed:key")
TF.entry("nn.experimental.stateless_dropout", "random.dropout", "x rate seed:key noise_shape=None")


@TF.macro("random.stateless_uniform")
def uniform(
    b: Builder,
    shape: Static,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Static = None,
) -> Any:
    """Numbers evenly from ``minval`` to ``maxval``, 1 by default; integers if ``dtype`` is one."""
    if dtype is not None and dtype_of(dtype).kind in "iu":
        if maxval is None:
            raise BadArgument("stateless_uniform needs maxval for integers")
        return recorded("random.randint")(b, seed, shape, minval, maxval, dtype)
    high = 1.0 if maxval is None else maxval
    return recorded("random.uniform")(b, seed, shape, dtype, minval, high)


@TF.macro("random.stateless_parameterized_truncated_normal")
def parameterized_truncated_normal(
    b: Builder,
    shape: Static,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
) -> Any:
    """Normal numbers between ``minvals`` and ``maxvals``."""
    bounds = [
        recorded("divide")(b, recorded("subtract")(b, bound, means), stddevs)
        for bound in (minvals, maxvals)
    ]
    z = recorded("random.truncated_normal")(b, seed, *bounds, shape)
    return recorded("add")(b, means, recorded("multiply")(b, stddevs, z))


@TF.macro("nn.dropout")
def dropout(b: Builder, x: Any, rate: Any, noise_shape: Static = None, seed: Any = None) -> Any:
    """Elements zeroed with probability ``rate``, the others divided by ``1 - rate``.

    ``seed`` is needed: there is no state to draw another one from.
    """
    if seed is None:
        hint = "seed=7, or an integer variable; equal seeds draw equal numbers"
        raise BadArgument("tf.nn.dropout needs a seed", hint=hint)
    return recorded("random.dropout")(b, seed, x, rate, noise_shape)
