"""Operations whose derivative TensorFlow does not know: gradients that come to them are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.nodes import active, paused
from gradwire.tf.recordings import CustomGradient
from gradwire.tf.tensors import Tensor

T = TypeVar("T")


def unregistered(op: str, inputs: Sequence[Any], compute: Callable[[], T]) -> T:
    """The result of ``compute``, one tensor or a tuple of them, without a gradient."""
    nodes = tuple([convert_to_tensor(each)._node for each in inputs])
    with paused():
        result = compute()
    outputs = result if isinstance(result, tuple) else (result,)

    def refused(*upstream: Any) -> Sequence[Any]:
        raise LookupError(f"gradient registry has no entry for: {op}")

    tensors = [each for each in outputs if isinstance(each, Tensor)]
    reached = tensor_of(np.float32(0.0))  # by targets of integers, which have no gradients
    for each in tensors:
        each._beside = reached
    made = tuple([each._node for each in [*tensors, reached]])
    for recorder in active():
        recorder.note_custom_gradient(CustomGradient(nodes, made, refused))
    return result
