"""Noise in networks: dropped elements, relaxed choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import axis_of, flag, lengths
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.networks.losses import one_hot
from gradwire_engine.ops.pointwise.comparison import GreaterEqual
from gradwire_engine.ops.pointwise.selection import zero_unless
from gradwire_engine.ops.random.draws import DOUBLE, gumbels
from gradwire_engine.ops.random.keys import real_parameters, uniforms
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.reductions.reductions import ArgMax

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@macro("random.dropout")
def dropout(b: Builder, key: Any, x: Any, rate: Any = 0.5, noise_shape: Static = None) -> Any:
    """Elements zeroed with probability ``rate``, the others scaled: ``z = x / (1 - rate)``.

    So the expectation is ``x``.  Zeroed elements have derivative 0; at rate 1 all are.  What is
    zeroed is chosen for ``noise_shape``, that of ``x`` by default, and repeated along its axes of
    length 1.  Source: Srivastava et al., "Dropout" (2014).
    """
    x, chance = b.inexact(x), real_parameters(b, "dropout", rate)[0]
    if chance.ndim:
        raise ShapeMismatch(f"dropout needs one rate, got {chance.type}")
    shape = x.type.shape if noise_shape is None else lengths(noise_shape, "noise_shape")
    if broadcast_shapes(shape, x.type.shape) != x.type.shape:
        raise ShapeMismatch(f"dropout cannot repeat {shape} to {x.type.shape}")
    kept = GreaterEqual()(uniforms(b, key, shape, DOUBLE), b.cast(chance, DOUBLE))
    return zero_unless(kept, x / b.cast(1 - chance, x.dtype))


@macro("random.gumbel_softmax")
def gumbel_softmax(
    b: Builder,
    key: Any,
    logits: Any,
    tau: Any = 1.0,
    hard: Static = False,
    axis: Static = -1,
) -> Any:
    """A relaxed choice of class: ``z = softmax((logits + gumbel) / tau)`` along ``axis``.

    With ``hard`` 1 for the class chosen, else 0, and by convention the derivative of the relaxed
    choice (straight-through).  Source: Jang, Gu and Poole, "Categorical reparameterization with
    Gumbel-softmax" (2017).
    """
    x, temperature = real_parameters(b, "gumbel_softmax", logits, tau)
    place = axis_of(axis, x.ndim, "gumbel_softmax")
    noise = b.cast(gumbels(uniforms(b, key, x.type.shape, DOUBLE)), x.dtype)
    z = Softmax((place,))((x + noise) / temperature)
    if not flag(hard, "hard"):
        return z
    chosen = one_hot(b, ArgMax(place)(z), z.type.shape[place], place, z.dtype)
    return chosen + (z - StopGradient()(z))
