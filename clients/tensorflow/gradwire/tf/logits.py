"""``sigmoid`` and ``softmax``, whose outputs remember in functions what they were computed from.

Keras's cross-entropies compute from logits where they know them: those of Keras's own activations
always, those of TensorFlow's where the operation is in a graph.
"""

from __future__ import annotations

from typing import Any

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.operations import math, reductions
from gradwire.tf.operations.types import TensorLike
from gradwire.tf.seeds import SEEDS
from gradwire.tf.tensors import Operand, Tensor

_ACTIVATIONS = ("Sigmoid", "Softmax")


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Logistic function: ``z = 1 / (1 + exp(-x))``."""
    logits = _one_tensor(x)
    output = math.sigmoid(logits, name)
    if SEEDS.outer is not None:
        remember(output, logits, "Sigmoid")
    return output


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Exponentials normalised to sum 1 over ``axis``: ``z = exp(x) / sum exp(x)``."""
    tensor = _one_tensor(logits)
    output = reductions.softmax(tensor, axis, name)
    if SEEDS.outer is not None and axis in (None, -1, len(output._lengths()) - 1):
        remember(output, tensor, "Softmax")
    return output


def remember(output: Any, logits: Any, *operations: str) -> Any:
    """An output that cross-entropies take for one of these operations, or of either."""
    if isinstance(output, Tensor) and isinstance(logits, Tensor):  # not ragged, nor an array
        output._logits = operations or _ACTIVATIONS, logits
    return output


def logits_of(output: Tensor, operation: str) -> Tensor | None:
    """The values from which an operation computed an output, if they are remembered."""
    operations, logits = getattr(output, "_logits", ((), None))
    return logits if operation in operations else None


def _one_tensor(value: TensorLike) -> Any:
    return convert_to_tensor(value) if isinstance(value, Operand) else value
