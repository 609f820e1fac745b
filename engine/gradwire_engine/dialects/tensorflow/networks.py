"""TensorFlow's ``tf.nn``: activations, losses, normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("nn.silu")
def silu(b: Builder, features: Any, beta: Any = 1.0) -> Any:
    """Sigmoid linear unit: ``z = x sigmoid(beta x)``."""
    gate = features if beta == 1 else recorded("multiply")(b, beta, features)
    return recorded("multiply")(b, features, recorded("sigmoid")(b, gate))


@TF.macro("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy(b: Builder, labels: Any, logits: Any, pos_weight: Any) -> Any:
    """Cross entropy whose positive labels count ``pos_weight`` times."""
    yes = recorded("softplus")(b, recorded("negative")(b, logits))
    no = recorded("softplus")(b, logits)
    missing = recorded("subtract")(b, 1.0, labels)
    weighted = recorded("multiply")(b, recorded("multiply")(b, pos_weight, labels), yes)
    return recorded("add")(b, weighted, recorded("multiply")(b, missing, no))


@TF.macro("nn.l2_loss")
def l2_loss(b: Builder, t: Any) -> Any:
    """Half the sum of squares: ``z = sum(t²) / 2``."""
    return recorded("divide")(b, recorded("sum")(b, recorded("square")(b, t)), 2)


@TF.macro("nn.l2_normalize math.l2_normalize linalg.l2_normalize")
def l2_normalize(b: Builder, x: Any, axis: Static = None, epsilon: Any = 1e-12) -> Any:
    """``z = x / sqrt(max(sum(x²), epsilon))`` along ``axis``."""
    total = recorded("sum")(b, recorded("square")(b, x), axis, keepdims=True)
    floor = recorded("maximum")(b, total, epsilon)
    return recorded("multiply")(b, x, recorded("rsqrt")(b, floor))


@TF.macro("nn.moments")
def moments(b: Builder, x: Any, axes: Static, shift: Any = None, keepdims: Static = False) -> Any:
    """A list of the mean and the variance over ``axes``."""
    return [recorded(name)(b, x, axes, keepdims=keepdims) for name in ("mean", "var")]
