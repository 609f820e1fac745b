"""Keras's activations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

_entry = TF.entry
_A = "keras.activations."

for _names, _operation, _parameters in (
    ("sigmoid relu6 softplus softsign tanh mish log_sigmoid", "", "x"),
    ("linear", "positive", "x"),
    ("exponential", "exp", "x"),
    ("silu", "silu", "x"),
    ("swish", "silu", "x"),
    ("hard_sigmoid", "hardsigmoid", "x"),
    ("hard_tanh", "hardtanh", "x"),
    ("hard_silu", "hardswish", "x"),
    ("hard_swish", "hardswish", "x"),
    ("elu celu", "", "x alpha=1.0"),
    ("leaky_relu", "", "x negative_slope=0.2"),
    ("gelu", "", "x approximate=False"),
    ("softmax log_softmax glu", "", "x axis=-1"),
):
    for _name in _names.split():
        _entry(_A + _name, _operation or _name, _parameters)


@TF.macro("keras.activations.relu")
def relu(
    b: Builder,
    x: Any,
    negative_slope: Any = 0.0,
    max_value: Any = None,
    threshold: Any = 0.0,
) -> Any:
    """``z = x`` from ``threshold`` to ``max_value``, which is also what greater ones become, else
    ``negative_slope (x - threshold)``.
    """
    plain = isinstance(threshold, int | float) and not threshold
    if plain and max_value is None:
        return recorded("leaky_relu")(b, x, negative_slope)
    x, slope, least = b.promote(x, negative_slope, threshold, rule=inexact_promoted)
    z = recorded("where")(b, x.exceeds(least), x, slope * (x - least))
    return z if max_value is None else recorded("minimum")(b, z, max_value)


@TF.macro(f"{_A}tanh_shrink")
def tanh_shrink(b: Builder, x: Any) -> Any:
    """``z = x - tanh x``."""
    return recorded("subtract")(b, x, recorded("tanh")(b, x))


@TF.macro(f"{_A}soft_shrink")
def soft_shrink(b: Builder, x: Any, threshold: Any = 0.5) -> Any:
    """``z = sign(x) (|x| - threshold)`` where that is beyond 0, else 0."""
    x, least = b.promote(x, threshold, rule=inexact_promoted)
    return x - recorded("clip")(b, x, -least, least)


@TF.macro(f"{_A}hard_shrink")
def hard_shrink(b: Builder, x: Any, threshold: Any = 0.5) -> Any:
    """``z = x`` where ``|x| > threshold``, else 0."""
    beyond = recorded("greater")(b, recorded("absolute")(b, x), threshold)
    return recorded("where")(b, beyond, x, 0)


@TF.macro(f"{_A}threshold")
def threshold(b: Builder, x: Any, threshold: Any, default_value: Any) -> Any:
    """``z = x`` where ``x > threshold``, else ``default_value``."""
    return recorded("where")(b, recorded("greater")(b, x, threshold), x, default_value)


@TF.macro(f"{_A}squareplus")
def squareplus(builder: Builder, x: Any, b: Any = 4) -> Any:
    """``z = (x + sqrt(x² + b)) / 2``.

    Source: Barron, Squareplus: A Softplus-Like Algebraic Rectifier (2021).
    """
    x, bend = builder.promote(x, b, rule=inexact_promoted)
    return (x + recorded("sqrt")(builder, x * x + bend)) / 2


@TF.macro(f"{_A}sparse_plus")
def sparse_plus(b: Builder, x: Any) -> Any:
    """``z = 0`` below -1, ``(x + 1)² / 4`` from there to 1, ``x`` beyond."""
    (x,) = b.promote(x, rule=inexact_promoted)
    curve = recorded("square")(b, recorded("maximum")(b, x, -1) + 1) / 4
    return recorded("where")(b, recorded("less")(b, x, 1), curve, x)


@TF.macro(f"{_A}sparse_sigmoid")
def sparse_sigmoid(b: Builder, x: Any) -> Any:
    """``z = (x + 1) / 2``, but 0 below -1 and 1 above 1."""
    (x,) = b.promote(x, rule=inexact_promoted)
    return recorded("clip")(b, (x + 1) / 2, 0, 1)
